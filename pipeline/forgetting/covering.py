"""Words of an event that stays, overwritten: in its text, and in copies that the rest of it holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pipeline.rules import forgetting
from pipeline.rules.forgetting import Place
from pipeline.rules.locating import locate
from storage.records.events import Event
from storage.records.knowledge import Proposal
from storage.repositories import forgettable

_LEAST_COPY: Final = 4
"""Code points from which on copies of overwritten words, or of a part of them, go, too."""


@dataclass(frozen=True, slots=True)
class Covered:
    """An event that stays, with some of its words overwritten, wherever they stand in it."""

    event: Event
    places: tuple[Place, ...]
    text: str
    rest: Mapping[str, Any]

    @property
    def titles(self) -> frozenset[tuple[str, str]]:
        """Objects with the titles that the event gives them no more."""
        kept = {name for name, _, title in self.rest.get("objects", ()) if title}
        return frozenset(
            (ref.id, ref.title) for ref in self.event.objects if ref.title and ref.id not in kept
        )


def cover(event: Event, places: Sequence[Place]) -> Covered | None:
    """The event with these words overwritten; None where there are none."""
    inside = tuple((start, min(end, len(event.text))) for start, end in places)
    words = [event.text[start:end] for start, end in inside]
    if not any(words):
        return None
    copies = sorted((word for word in words if len(word) >= _LEAST_COPY), key=len, reverse=True)
    rest = forgettable.rest_of(event.seq)
    for name in ("data", "speaker", "ref"):
        if name in rest:
            rest[name] = _without_copies(rest[name], copies, parts=name == "data")
    if "objects" in rest:
        rest["objects"] = [
            [name, kind, title if title == _without_copies(title, copies) else None]
            for name, kind, title in rest["objects"]
        ]
    return Covered(event, inside, forgetting.covered(event.text, inside), rest)


def _without_copies(value: Any, copies: Sequence[str], *, parts: bool = False) -> Any:
    """The value without copies; `parts`: without texts that are a part of one, too."""
    if isinstance(value, str):
        if parts and len(value) >= _LEAST_COPY and any(value in copy for copy in copies):
            return forgetting.FILLER * len(value)
        for copy in copies:
            value = value.replace(copy, forgetting.FILLER * len(copy))
        return value
    if isinstance(value, list):
        return [_without_copies(item, copies, parts=parts) for item in value]
    if isinstance(value, dict):
        return {name: _without_copies(item, copies, parts=parts) for name, item in value.items()}
    return value


def quotes(proposal: Proposal, item: Covered) -> bool:
    """Whether a proposal quotes words of an event that are overwritten."""
    for quote in proposal.evidence:
        if quote.event_id != item.event.id:
            continue
        at = locate(quote.quote, item.event.text)
        if at is None or forgetting.overlap(at, item.places):
            return True
    return False


def strings(value: Any) -> Iterator[str]:
    """Every text in an event's data, the names of its fields too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from strings(item)
