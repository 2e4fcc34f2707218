"""What a rule finds: a span of text and the kind of secret in it."""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """The kinds of secret that an answer counts. Closed: a new one is a protocol change."""

    PASSWORD = "password"  # noqa: S105 - the name of a kind
    CODE = "code"
    TOKEN = "token"  # noqa: S105 - the name of a kind
    KEY = "key"
    COOKIE = "cookie"
    RECOVERY_PHRASE = "recovery_phrase"
    ID_NUMBER = "id_number"
    BANK_CARD = "bank_card"
    PHONE = "phone"
    REASONING = "reasoning"

    @property
    def marker(self) -> str:
        """What stands in the text in place of a secret of this kind."""
        return f"[redacted:{self.value}]"


class Span(NamedTuple):
    """Code points `start` to `end` (exclusive) of a text hold a secret of `kind`."""

    start: int
    end: int
    kind: Kind


MARKER = re.compile(r"\[redacted:(?:" + "|".join(Kind) + r")\]")

# A private-use character: no rule matches it, so that a marker is a wall for every rule.
WALL = "\ue000"


def wall_off_markers(text: str) -> str:
    """Put `WALL` characters in place of earlier markers; the length stays."""
    if "[redacted:" not in text:
        return text
    return MARKER.sub(lambda found: WALL * len(found[0]), text)


def merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the spans in order, overlapping ones joined under the kind of the longest."""
    ordered = sorted(spans)
    if not ordered:
        return
    current, longest = ordered[0], ordered[0]
    for span in ordered[1:]:
        if span.start >= current.end:
            yield current
            current, longest = span, span
            continue
        if span.end - span.start > longest.end - longest.start:
            longest = span
        current = Span(current.start, max(current.end, span.end), longest.kind)
    yield current
