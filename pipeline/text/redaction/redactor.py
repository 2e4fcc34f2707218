"""Removing secrets and hidden reasoning from text and JSON, before anything is kept."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pipeline.text.redaction import suspicion
from pipeline.text.redaction.detection import rule_spans
from pipeline.text.redaction.folding import DISGUISED, Folded, fold, lowered
from pipeline.text.redaction.json_tree import JsonValue, TreeWalk
from pipeline.text.redaction.scanner import SCANNER_VERSION, SecretScanner
from pipeline.text.redaction.spans import WALL, Kind, Span, merged, wall_off_markers

REDACTOR_VERSION = f"2+kingfisher-{SCANNER_VERSION}"
"""Changes whenever the rules change; stored, so that a later reader knows what was looked for."""

# So odd that hardly a vendor's pattern reaches from one text into the next; where one does, both are
# looked at alone. Wider ones cost more than the texts: scanning takes time by the character.
_SEPARATOR = "\n" + "\x1f" * 24 + "\n"
# Each pass only adds markers; what one removal uncovers is rare and found in the next.
_MOST_PASSES = 8

_NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text as it may be kept, and how many secrets of each kind it has lost."""

    text: str
    counts: Mapping[str, int] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class RedactionItem:
    """A text or a JSON tree; `by_model`: a model wrote it (roles supervisor, executor)."""

    value: JsonValue
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class RedactedItem:
    """A `RedactionItem`'s value as it may be kept, the very same object when untouched."""

    value: JsonValue
    counts: Mapping[str, int]


class Redactor:
    """Finds secrets by Kingfisher's rules and by its own, and puts markers in their place.

    A text's result depends on that text alone, not on what else is in the call. Redacting
    again changes nothing. Safe to share between threads once made (mission B6; design,
    invariant 4).
    """

    def __init__(
        self, *, cache_dir: Path | None = None, phones: Literal["keep", "redact"] = "keep"
    ) -> None:
        """Load the rules.

        Args:
            cache_dir: An owner-only folder for the compiled rules; without it they are
                compiled anew in each process, which takes seconds.
            phones: Whether phone numbers are kept or removed.
        """
        self._scanner = SecretScanner(cache_dir)
        self._phones = phones == "redact"

    @property
    def version(self) -> str:
        """`REDACTOR_VERSION` and the policy: two redactors of one version agree on any text."""
        return f"{REDACTOR_VERSION}+phones-{'redact' if self._phones else 'keep'}"

    def redact_many(self, texts: Sequence[str], *, by_model: Sequence[bool]) -> list[Redacted]:
        """Redact texts in one go; one result a text, in order.

        Raises:
            ValueError: `texts` and `by_model` differ in length.
        """
        if len(texts) != len(by_model):
            raise ValueError("Give one by_model flag for each text.")
        return self._redact_texts(texts, by_model)

    def redact_batch(self, items: Sequence[RedactionItem]) -> list[RedactedItem]:
        """Redact texts and JSON trees in one go; one result an item, in order.

        In a tree its strings and keys are redacted, and what stands under a secret's name.
        """
        texts: list[str] = []
        by_model: list[bool] = []
        ends: list[int] = []
        named: list[Mapping[str, int]] = []
        for item in items:
            named.append(_collect(item, texts))
            by_model.extend([item.by_model] * (len(texts) - len(by_model)))
            ends.append(len(texts))
        redacted = self._redact_texts(texts, by_model)
        starts = [0, *ends]
        return [
            _rebuilt(item, redacted[start:end], counts)
            for item, start, end, counts in zip(items, starts, ends, named, strict=False)
        ]

    def suspects(self, texts: Sequence[str]) -> set[int]:
        """The indexes of texts that need to be redacted at all; the others hold nothing.

        A few microseconds a text: one look at all of them together.
        """
        return self._suspects(texts)

    def has_secret(self, text: str, *, by_model: bool = False) -> bool:
        """Whether the text, an id for instance, holds anything that would be removed."""
        return bool(self._redact_texts([text], [by_model])[0].counts)

    def _redact_texts(self, texts: Sequence[str], by_model: Sequence[bool]) -> list[Redacted]:
        results = [Redacted(text, _NOTHING) for text in texts]
        for index in self._suspects(texts):
            results[index] = self._redact_one(texts[index], by_model=by_model[index])
        return results

    def _suspects(self, texts: Sequence[str]) -> set[int]:
        """The indexes of texts worth a closer look, from one look at all of them joined."""
        joined = suspicion.join(texts)
        if DISGUISED.search(joined):
            texts = [fold(text).text for text in texts]
            joined = suspicion.join(texts)
        low = lowered(joined)
        return suspicion.suspects(texts, low) | self._scanned(texts)

    def _scanned(self, texts: Sequence[str]) -> set[int]:
        starts = list(accumulate((len(text) + len(_SEPARATOR) for text in texts), initial=0))
        found: set[int] = set()
        for span in self._scanner.scan(_SEPARATOR.join(texts)):
            first = bisect_right(starts, span.start) - 1
            last = bisect_right(starts, span.end - 1) - 1
            found.update(range(first, last + 1))
        return found

    def _redact_one(self, text: str, *, by_model: bool) -> Redacted:
        counts: Counter[str] = Counter()
        for _ in range(_MOST_PASSES):
            spans = self._spans(text, by_model=by_model)
            if not spans:
                break
            counts.update(span.kind.value for span in spans)
            text = _with_markers(text, spans)
        return Redacted(text, dict(counts))

    def _spans(self, text: str, *, by_model: bool) -> list[Span]:
        folded = fold(text)
        plain = wall_off_markers(folded.text)
        rules = rule_spans(plain, lowered(plain), by_model=by_model, phones=self._phones)
        spans = (*self._scanner.scan(plain), *rules)
        return [
            _unfolded(span, folded)
            for span in merged(span for span in spans if not _is_done(span, plain))
        ]


def _collect(item: RedactionItem, texts: list[str]) -> Mapping[str, int]:
    """Add the item's strings to `texts`; give what their names alone condemn."""
    if isinstance(item.value, str):
        texts.append(item.value)
        return _NOTHING

    walk = TreeWalk(_into(texts), by_model=item.by_model)
    walk.walk(item.value)
    return walk.counts


def _into(texts: list[str]) -> Callable[[str], str]:
    def keep(text: str) -> str:
        texts.append(text)
        return text

    return keep


def _rebuilt(
    item: RedactionItem, redacted: Sequence[Redacted], named: Mapping[str, int]
) -> RedactedItem:
    if not named and not any(each.counts for each in redacted):
        return RedactedItem(item.value, _NOTHING)
    counts = Counter(named)
    for each in redacted:
        counts.update(each.counts)
    if isinstance(item.value, str):
        return RedactedItem(redacted[0].text, dict(counts))
    following = iter(redacted)
    walk = TreeWalk(lambda _: next(following).text, by_model=item.by_model)
    return RedactedItem(walk.walk(item.value), dict(counts))


def _is_done(span: Span, text: str) -> bool:
    """Whether an earlier marker is (part of) what a rule took for a secret."""
    return span.kind is not Kind.REASONING and WALL in text[span.start : span.end]


def _unfolded(span: Span, folded: Folded) -> Span:
    if folded.offsets is None:
        return span
    # The last character's own place plus one: invisible characters after it stay outside.
    end = folded.offsets[span.end - 1] + 1
    return Span(folded.offsets[span.start], end, span.kind)


def _with_markers(text: str, spans: Sequence[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for span in spans:
        pieces += (text[position : span.start], span.kind.marker)
        position = span.end
    pieces.append(text[position:])
    return "".join(pieces)
