"""A text's terms, for the index and for questions alike: the one tokenizer of both.

Source: spec: design, Chinese; data README, What that taught; mission C6.
"""

import re
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

from pipeline.text import dates, english, identifiers, numerals, stop_words
from pipeline.text.calendar_terms import day_of, day_terms
from pipeline.text.normalise import fold
from pipeline.text.segmenter import Segmenter, select_engine

__all__ = ["TOKENIZER_VERSION", "BilingualTokenizer", "Terms", "Tokenizer", "select_engine"]

TOKENIZER_VERSION = 1
"""Grows with every change that gives any text other terms: an index of another version is rebuilt."""

_MAX_WORD = 64
_FEW_TERMS = 2
# Below this many content words a text keeps its function words: "I am Li Lei".
_SHORT_TEXT = 12

# What both engines cut alike; rarer hanzi they treat differently.
_DICTIONARY_HAN = "\u4e00-\u9fd5"
# Scripts written without spaces: rarer hanzi, kana, Thai, Lao, Burmese, Khmer.
_SPACELESS = (
    f"{_DICTIONARY_HAN}\u9fd6-\u9fff\u3005-\u3007\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
)
_TOKEN = re.compile(
    f"(?P<spaceless>[{_SPACELESS}]+)"
    "|(?P<english>[a-z]+(?:['’][a-z]+)?)"
    "|(?P<flag>[\U0001f1e6-\U0001f1ff]{2})"
    "|(?P<symbol>[\u2190-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff])"
    f"|(?P<other>[^\\W{_SPACELESS}a-z_]+)"
)
_RARE = re.compile(f"[^{_DICTIONARY_HAN}]")
_HAN_RUN = re.compile(f"[{_DICTIONARY_HAN}]+")
_CONTRACTION = re.compile("['’].*")
_COUNTED = re.compile(f"(?<![0-9.])[0-9]{{1,12}}[{numerals.MEASURES}]")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


class Terms(NamedTuple):
    """A text's terms, each of letters, digits and `_` alone.

    `words` repeat as often as the text does (term frequency). `ids` are its exact identifiers,
    whole and in parts, its emoji, and the dates that it names itself, which are as exact.
    """

    words: tuple[str, ...]
    ids: tuple[str, ...]


class Tokenizer(Protocol):
    """What index and questions share: the same version on both sides, or nothing is found."""

    version: int

    def index(self, text: str, *, at_ms: int | None = None) -> Terms:
        """Return the terms under which a text is found; `at_ms` is when it was said."""
        ...

    def query(self, text: str, *, now_ms: int | None = None) -> Terms:
        """Return the terms to look for; `now_ms` is what "yesterday" counts from."""
        ...

    def warm(self) -> None:
        """Load the dictionaries, which otherwise happens at first use."""
        ...


class BilingualTokenizer:
    """Chinese and English, mixed as people write them.

    Thread-safe; takes any `str` without raising, in time linear in its length.

    Args:
        cache_dir: A folder for the parsed dictionary of the pure Python engine.
    """

    version = TOKENIZER_VERSION

    def __init__(self, cache_dir: Path | None = None) -> None:
        self._engine: Segmenter = select_engine(cache_dir)

    def warm(self) -> None:
        """Load the segmenter's dictionary and the conversion tables."""
        self.index("預熱 warming")

    def index(self, text: str, *, at_ms: int | None = None) -> Terms:
        """Return the terms of `text`, with the terms of its day in Beijing."""
        today = day_of(at_ms)
        cut = self._cut(text, today)
        words = [word for word in cut.words if word not in stop_words.ENGLISH]
        if len(words) < _SHORT_TEXT:
            words = cut.words
        day = day_terms(today) if today else ()
        return Terms((*words, *cut.singles, *cut.bigrams, *cut.dates, *day), tuple(cut.ids))

    def query(self, text: str, *, now_ms: int | None = None) -> Terms:
        """Return the terms of a question without its function words, while others remain."""
        cut = self._cut(text, day_of(now_ms))
        return Terms((*_telling(cut), *cut.dates), tuple(cut.ids))

    def _cut(self, text: str, today: date | None) -> "_Cut":
        text = numerals.to_figures(_THOUSANDS.sub("", fold(text)))
        text, when = dates.extract(text, today)
        counted = [match[0] for match in _COUNTED.finditer(text)]
        text, ids, parts = identifiers.extract(text)
        cut = _Cut([*map(english.stem, parts), *counted], [], [], when, [*ids, *when])
        for match in _TOKEN.finditer(text.lower()):
            self._sort(match, cut)
        return cut

    def _sort(self, match: re.Match[str], cut: "_Cut") -> None:
        """Put one token's terms where they belong."""
        token = match[0]
        if match.lastgroup == "spaceless":
            self._cut_spaceless(token, cut)
        elif match.lastgroup == "english":
            cut.words.append(english.stem(_CONTRACTION.sub("", token)[:_MAX_WORD]))
        elif match.lastgroup == "other":
            cut.words.append(token[:_MAX_WORD])
        else:
            symbol = "".join(f"u{ord(char):x}" for char in token)
            cut.words.append(symbol)
            cut.ids.append(symbol)

    def _cut_spaceless(self, run: str, cut: "_Cut") -> None:
        for match in _HAN_RUN.finditer(run):
            for word in self._engine.cut(match[0]):
                (cut.words if len(word) > 1 else cut.singles).append(word)
        cut.singles.extend(_RARE.findall(run))
        cut.bigrams.extend(map("".join, pairwise(run)))


class _Cut(NamedTuple):
    """A text cut up: what texts and questions choose their terms from."""

    words: list[str]
    singles: list[str]
    bigrams: list[str]
    dates: list[str]
    ids: list[str]


def _telling(cut: _Cut) -> list[str]:
    """Return a question's content terms; where they are few, each hanzi alone as well."""
    words = [word for word in cut.words if word not in stop_words.ALL]
    singles = [char for char in cut.singles if char not in stop_words.ALL]
    if len({*words, *singles, *cut.dates, *cut.ids}) < _FEW_TERMS:
        chars = dict.fromkeys("".join(cut.bigrams))
        singles += [char for char in chars if char not in {*singles, *stop_words.ALL}]
    telling = [*words, *singles, *_telling_bigrams(cut)]
    if telling or cut.dates or cut.ids:
        return telling
    return [*cut.words, *cut.singles, *cut.bigrams]


def _telling_bigrams(cut: _Cut) -> list[str]:
    words = frozenset(cut.words)
    return [
        pair
        for pair in cut.bigrams
        if pair not in stop_words.ALL and (pair in words or stop_words.PARTICLES.isdisjoint(pair))
    ]
