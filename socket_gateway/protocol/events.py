"""Events on the wire: taking them in, where they stand, and their verbatim text."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, JsonValue, model_validator

from socket_gateway.protocol.base import (
    MAX_CAUSES,
    MAX_DATA_BYTES,
    MAX_EVENTS,
    MAX_OBJECTS,
    MAX_TEXT,
    Count,
    GivenTime,
    Id,
    Model,
    ObjectId,
    ObjectKind,
    Owned,
    Priority,
    Role,
    Time,
)

_IMPORT_KIND: Final = "record.edit"


def _check_kind(value: str) -> str:
    """An import's own events go to audit, so that nobody's words may pass for one."""
    if value == _IMPORT_KIND:
        raise ValueError("is reserved for the edits that an import takes; choose another kind")
    return value


class Source(Model):
    """Where an event comes from. What it is worth as evidence follows from the role."""

    role: Role
    stream: Annotated[
        Id | None, Field(description="Conversation or channel; neighbours are before and after.")
    ] = None
    speaker: Id | None = None
    ref: Annotated[
        str | None, Field(max_length=2_000, description="A reference; no permission to read it.")
    ] = None


class ObjectName(Model):
    """An object that an event is about; unknown ones are created."""

    id: ObjectId
    kind: ObjectKind | None = None
    title: Annotated[str | None, Field(max_length=200)] = None


class TaskVersion(Model):
    """A task at a version."""

    id: Id
    version: Count


class Event(Model):
    """One event, immutable once accepted."""

    # Lists come from factories: pydantic copies a literal default deeply, for every event.

    v: Literal[1]
    id: Annotated[Id, Field(description="Unique for the owner; the same id is the same event.")]
    kind: Annotated[
        Id,
        Field(description="Such as `user.message`; an open set. `record.edit` is reserved."),
        AfterValidator(_check_kind),
    ]
    at: GivenTime
    source: Source
    objects: Annotated[
        list[ObjectName], Field(max_length=MAX_OBJECTS, description="The first is primary.")
    ] = Field(default_factory=list)
    task: TaskVersion | None = None
    request_id: Id | None = None
    causes: Annotated[list[Id], Field(max_length=MAX_CAUSES)] = Field(default_factory=list)
    priority: Priority = "normal"
    text: Annotated[str, Field(max_length=MAX_TEXT, description="In Unicode code points.")] = ""
    data: Annotated[
        dict[str, JsonValue] | None, Field(description=f"At most {MAX_DATA_BYTES} bytes as JSON.")
    ] = None
    recalled: Annotated[
        list[Id], Field(max_length=200, description="Records that the speaker had in context.")
    ] = Field(default_factory=list)
    expires_at: GivenTime | None = None


class IngestParams(Owned):
    """Events to make durable: all of them, or none."""

    events: Annotated[list[Event], Field(min_length=1, max_length=MAX_EVENTS)]


class Accepted(Model):
    """What became of one event."""

    id: Id
    seq: Count
    duplicate: bool
    redactor_changed: bool | None = None
    forgotten: Annotated[
        bool | None, Field(description="It was forgotten, and nothing of it is stored again.")
    ] = None
    redactions: Annotated[
        dict[str, int] | None, Field(description="What was removed or broken, by kind.")
    ] = None


class Heights(Model):
    """Sequence numbers up to which an owner's events have come."""

    received: Count
    organized: Count
    published: Count


class IngestResult(Model):
    """Receipts in the order of the events; every one is on disk."""

    accepted: list[Accepted]
    position: Heights


class PositionsResult(Heights):
    """Positions, with what is under way and what is parked."""

    backlog: Count
    dead: Count


class EvidenceParams(Owned):
    """Which evidence: what a record rests on, or events."""

    record_id: Id | None = None
    event_ids: Annotated[list[Id] | None, Field(min_length=1, max_length=200)] = None
    offset: Annotated[int, Field(ge=0, le=MAX_TEXT, description="In code points.")] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_TEXT, description="In code points.")] = MAX_TEXT

    @model_validator(mode="after")
    def _one_of_both(self) -> "EvidenceParams":
        if (self.record_id is None) == (self.event_ids is None):
            raise ValueError("name record_id or event_ids, one of both")
        return self


class EvidenceEvent(Model):
    """A part of an event's verbatim text, as it was kept."""

    id: Id
    seq: Count
    kind: Id
    role: Role
    at: Time
    text: str
    next_offset: Count | None


class SpanResult(Model):
    """The exact words that a record rests on; start and end in code points of the whole text."""

    record_id: Id
    event: Id
    start: Count
    end: Count
    quote: str


class EvidenceResult(Model):
    """Verbatim evidence, each span checked now against its event's text."""

    events: list[EvidenceEvent]
    spans: list[SpanResult]
    missing: Annotated[
        list[Id],
        Field(
            description="Events that this owner doesn't have, or that no longer give the words that"
            " the record rested on."
        ),
    ]
