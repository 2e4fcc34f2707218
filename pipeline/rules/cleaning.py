"""Cleaning events: what nobody may read again is removed, what forges a speaker is broken.

Invisible characters go first, so that secrets are looked for in what is kept; then secrets and hidden
reasoning; then, in what the user has not written, forged marks. Most events hold nothing of all this,
and then come out as the very objects that went in: copying each would cost more than looking at it
(mission B5, B6; spec: protocol, Frames and ids).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pipeline.text import neutralise
from pipeline.text.neutralise import NEUTRALISER_VERSION
from pipeline.text.redaction import RedactionItem, Redactor
from storage.records.events import Event, Role

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
    """An event as it may be kept, what was done to it, and the id field that can't be kept at all.

    `redactions` counts by kind: the redactor's, and `hidden` and `marker` of `neutralise`.
    """

    event: Event
    redactions: Mapping[str, int] = field(default_factory=dict)
    secret_id: str | None = None


def rules_version(redactor: Redactor) -> str:
    """The version of all that `clean` does: two events cleaned under one version compare as they are."""
    return f"{redactor.version}+neutral-{NEUTRALISER_VERSION}"


def clean(events: Sequence[Event], redactor: Redactor) -> list[Cleaned]:
    """Clean text, data and names of events, and look into their ids.

    Ids are looked up and shown, so one that holds a secret can't be cleaned, only refused. An event
    that was cleaned comes out the same again.
    """
    made = [Cleaned(event) for event in events]
    read = [_read(event) for event in events]
    if neutralise.may_hide(read):
        made = [_neutralised(one, by_user=True) for one in made]
        read = [_read(one.event) for one in made]
    suspects = redactor.suspects(read)
    # A secret's name can condemn a value of any form, so data always takes the whole way.
    suspects.update(place for place, one in enumerate(made) if one.event.data is not None)
    closer = sorted(suspects)
    redacted = _redacted([made[place].event for place in closer], redactor)
    for place, found in zip(closer, redacted, strict=True):
        made[place] = _joined(made[place], found)
    return _unforged(made, read)


def _read(event: Event) -> str:
    """All that is read of an event."""
    return "\n".join((event.text, *_names(event), *neutralise.strings(event.data)))


def _joined(before: Cleaned, after: Cleaned) -> Cleaned:
    if not before.redactions:
        return after
    return replace(after, redactions=Counter(before.redactions) + Counter(after.redactions))


# ---- invisible characters and forged marks -----------------------------------


def _unforged(made: list[Cleaned], read: Sequence[str]) -> list[Cleaned]:
    """Break the marks in what the user has not written."""
    others = [place for place, one in enumerate(made) if one.event.role is not Role.USER]
    if others and neutralise.may_forge([read[place] for place in others]):
        for place in others:
            made[place] = _neutralised(made[place], by_user=False)
    # Where something was cut out, what stood apart may now stand together.
    for place, one in enumerate(made):
        if one.redactions:
            made[place] = _neutralised(one, by_user=one.event.role is Role.USER)
    return made


def _neutralised(one: Cleaned, *, by_user: bool) -> Cleaned:
    counts: Counter[str] = Counter()

    def text(given: str) -> str:
        found = neutralise.neutralised(given, by_user=by_user)
        counts.update(found.counts)
        return found.text

    event = one.event
    named: dict[str, Any] = {
        "text": text(event.text),
        "data": event.data and neutralise.tree(event.data, text),
        "speaker": event.speaker and text(event.speaker),
        "ref": event.ref and text(event.ref),
        "objects": tuple(
            replace(ref, title=ref.title and text(ref.title)) for ref in event.objects
        ),
    }
    if not counts:
        return one
    return Cleaned(replace(event, **named), Counter(one.redactions) + counts, one.secret_id)


# ---- secrets -------------------------------------------------------------------


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


def _ids(event: Event) -> Mapping[str, Sequence[str | None]]:
    return {
        "id": [event.id],
        "owner": [event.owner],
        "kind": [event.kind],
        "task.id": [event.task_id],
        "request_id": [event.request_id],
        "objects[{}].id": [ref.id for ref in event.objects],
        "causes[{}]": event.causes,
        "recalled[{}]": event.recalled,
    }
