"""Tables of phrasings, and looking a sentence up in them.

A row names the words of which one must occur before its pattern is tried at all: most sentences
hold none, and these tables are looked into for every event there is.
"""

import re
from collections.abc import Iterator
from functools import cached_property

from pipeline.rules.wording import has_han, simplified

_LATIN = re.compile(r"[a-z]{1,40}(?:'[a-z]{1,40}){0,4}")
_LETTERS = re.compile(r"[a-z]{1,40}")


class Phrase:
    """A text as the tables see it: simplified, in lower case, with straight apostrophes."""

    def __init__(self, plain: str) -> None:
        self.plain = plain
        """Simplified, its case kept; every position agrees with `low`."""

    @cached_property
    def low(self) -> str:
        """What the patterns look at."""
        return lowered(self.plain)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Its Latin words, those with an apostrophe also in parts."""
        words = frozenset(_LATIN.findall(self.low))
        return words | frozenset(_LETTERS.findall(self.low)) if "'" in self.low else words

    @cached_property
    def han(self) -> bool:
        """Whether it holds Chinese characters."""
        return has_han(self.plain)


class Table:
    r"""Rows of the Latin words or Chinese stems of which one is needed, and a pattern.

    >>> wishes = Table(("喜欢", "我喜欢"), ("like love", r"\bi (?:like|love)\b"))
    >>> [wishes.find(phrase_of(text)) is not None for text in ("I like tea", "我喜歡茶", "tea")]
    [True, True, False]
    """

    def __init__(self, *rows: tuple[str, str]) -> None:
        self.patterns = tuple(re.compile(pattern) for _, pattern in rows)
        self._words: dict[str, int] = {}
        stems: dict[str, int] = {}
        for number, (needed, _) in enumerate(rows):
            for word in needed.split():
                index = self._words if word.isascii() else stems
                index[word] = index.get(word, 0) | 1 << number
        self._stems = tuple(stems.items())

    def find(self, phrase: Phrase) -> re.Match[str] | None:
        """Where the first row that matches does so, or None."""
        return next(self.matches(phrase), None) if self._wanted(phrase) else None

    def matches(self, phrase: Phrase) -> Iterator[re.Match[str]]:
        """Where each row that matches does so, in the order of the rows."""
        wanted = self._wanted(phrase)
        number = 0
        while wanted:
            if wanted & 1:
                match = self.patterns[number].search(phrase.low)
                if match is not None:
                    yield match
            wanted >>= 1
            number += 1

    def hidden(self, phrase: Phrase) -> list[str]:
        """Patterns that match although none of their words occurs: a fault of the table."""
        wanted = self._wanted(phrase)
        return [
            pattern.pattern
            for number, pattern in enumerate(self.patterns)
            if not wanted >> number & 1 and pattern.search(phrase.low)
        ]

    def _wanted(self, phrase: Phrase) -> int:
        """The rows worth trying, as bits."""
        wanted = 0
        for word in self._words.keys() & phrase.vocabulary:
            wanted |= self._words[word]
        if phrase.han:
            low = phrase.low
            for stem, rows in self._stems:
                if stem in low:
                    wanted |= rows
        return wanted


def phrase_of(text: str) -> Phrase:
    """A text, simplified, ready for the tables."""
    return Phrase(simplified(text))


def lowered(text: str) -> str:
    """Lower case and straight apostrophes, every position kept.

    >>> lowered("Don’t İ")
    "don't İ"
    """
    low = text.lower()
    if len(low) != len(text):
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return low.replace("’", "'") if "’" in low else low
