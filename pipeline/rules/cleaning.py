"""Cleaning events: everything of them that may hold a secret goes through the redactor at once.

Most events hold none, and then come out as the very objects that went in: copying each would cost
more than looking at it (mission B6; spec: protocol, Frames and ids).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pipeline.text.redaction import RedactionItem, Redactor
from storage.records.events import Event

_USUAL: Final = frozenset(
    {
        "local", "user.message", "user.correction", "supervisor.reply", "supervisor.decision",
        "supervisor.commitment", "pi.report", "executor.receipt", "executor.observation",
        "executor.artifact", "executor.call", "verification.result", "task.state", "schedule.due",
        "external.content",
    }
)  # fmt: skip
"""The owner and the kinds that nearly all events have (spec: protocol, Events): no secret to find."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """An event as it may be kept, what it has lost, and the id field that can't be kept at all."""

    event: Event
    redactions: Mapping[str, int] = field(default_factory=dict)
    secret_id: str | None = None


def clean(events: Sequence[Event], redactor: Redactor) -> list[Cleaned]:
    """Redact text, data and names of events, and look into their ids.

    Ids are looked up and shown, so one that holds a secret can't be cleaned, only refused.
    """
    made = [Cleaned(event) for event in events]
    together = ["\n".join((event.text, *_names(event))) for event in events]
    suspects = redactor.suspects(together)
    # A secret's name can condemn a value of any form, so data always takes the whole way.
    suspects.update(place for place, event in enumerate(events) if event.data is not None)
    closer = sorted(suspects)
    redacted = _redacted([events[place] for place in closer], redactor)
    for place, cleaned in zip(closer, redacted, strict=True):
        made[place] = cleaned
    return made


def _redacted(events: Sequence[Event], redactor: Redactor) -> list[Cleaned]:
    """Events that are worth a closer look."""
    items = [item for event in events for item in _items(event)]
    results = iter(redactor.redact_batch(items))
    cleaned = []
    for event in events:
        text = next(results)
        names = next(results)
        data = next(results) if event.data is not None else None
        counts = Counter(text.counts) + Counter(data.counts if data else ())
        if counts:
            event = replace(event, text=text.value, data=data.value if data else None)  # type: ignore[arg-type]  # noqa: PLW2901 - a text stays a text, an object an object
        cleaned.append(
            _names_cleaned(event, redactor, counts) if names.counts else Cleaned(event, counts)
        )
    return cleaned


def _names(event: Event) -> Iterator[str]:
    """Ids and names: what stands around a text."""
    yield event.id
    yield from (word for word in (event.owner, event.kind) if word not in _USUAL)
    for value in (event.stream, event.speaker, event.ref, event.task_id, event.request_id):
        if value is not None:
            yield value
    for ref in event.objects:
        yield ref.id
        yield ref.title or ""
    yield from event.causes
    yield from event.recalled


def _items(event: Event) -> Iterator[RedactionItem]:
    """Text, names and ids as one text, and data where there is any."""
    yield RedactionItem(event.text, by_model=event.role.by_model)
    yield RedactionItem("\n".join(_names(event)), by_model=event.role.by_model)
    if event.data is not None:
        yield RedactionItem(event.data, by_model=event.role.by_model)  # type: ignore[arg-type]  # JSON, by the protocol


def _names_cleaned(event: Event, redactor: Redactor, counts: Counter[str]) -> Cleaned:
    """The rare event whose names or ids hold something: each is looked at alone."""

    def redacted(value: str | None) -> str | None:
        if value is None:
            return None
        (found,) = redactor.redact_many([value], by_model=[event.role.by_model])
        counts.update(found.counts)
        return found.text

    for name, ids in _ids(event).items():
        for place, one in enumerate(ids):
            if redacted(one) != one:
                return Cleaned(event, counts, secret_id=name.format(place))
    titled: Any = tuple(replace(ref, title=redacted(ref.title)) for ref in event.objects)
    kept = replace(
        event,
        stream=redacted(event.stream),
        speaker=redacted(event.speaker),
        ref=redacted(event.ref),
        objects=titled,
    )
    return Cleaned(kept, counts)


def _ids(event: Event) -> Mapping[str, Sequence[str]]:
    return {
        "id": [event.id],
        "owner": [event.owner],
        "kind": [event.kind],
        "task.id": [event.task_id] if event.task_id is not None else [],
        "request_id": [event.request_id] if event.request_id is not None else [],
        "objects[{}].id": [ref.id for ref in event.objects],
        "causes[{}]": event.causes,
        "recalled[{}]": event.recalled,
    }
