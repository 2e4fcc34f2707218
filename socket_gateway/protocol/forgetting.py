"""Forgetting on the wire: a preview of what would go, the deed, and how far it has come."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from socket_gateway.protocol.base import (
    MAX_PURPOSE,
    Count,
    GivenTime,
    Id,
    Model,
    ObjectId,
    Owned,
    RecordKind,
    Time,
)

MAX_NAMED = 200
MAX_SHOWN = 200

Named = Annotated[list[Id], Field(min_length=1, max_length=MAX_NAMED)]


class ForgetSelect(Model):
    """What is to be forgotten: all that any of these selects, as it stands when it is asked."""

    record_ids: Annotated[
        Named | None,
        Field(
            description="Records, with the words that they quote unless another record rests on"
            " them."
        ),
    ] = None
    event_ids: Annotated[Named | None, Field(description="Events, whole.")] = None
    object: Annotated[
        ObjectId | None,
        Field(
            description="An object with its records, and all events that name it; of @owner the"
            " events that name none."
        ),
    ] = None
    before: Annotated[
        GivenTime | None, Field(description="All events that happened before this.")
    ] = None
    task_ids: Annotated[
        Named | None, Field(description="All events of these tasks, and records scoped to them.")
    ] = None

    @model_validator(mode="after")
    def _anything(self) -> "ForgetSelect":
        if all(value is None for _, value in self):
            raise ValueError("name what is to be forgotten")
        return self


class ForgetParams(Owned):
    """What to forget. With `dry_run`, which is the default, only what would go is told."""

    select: ForgetSelect
    dry_run: bool = True
    reason: Annotated[
        str | None,
        Field(
            max_length=MAX_PURPOSE,
            description="For whoever reads the request; never stored, since it may repeat what is"
            " to go.",
        ),
    ] = None


class ForgetCounts(Model):
    """How much goes, and how much changes because of it."""

    events: Annotated[Count, Field(description="Events that go whole.")] = 0
    spans: Annotated[Count, Field(description="Places in other events that are overwritten.")] = 0
    records: Annotated[Count, Field(description="Records that go.")] = 0
    changed: Annotated[
        Count, Field(description="Records that stay on other sources, or name fewer records.")
    ] = 0
    proposals: Annotated[Count, Field(description="Proposals, rejected ones too.")] = 0
    recalls: Annotated[Count, Field(description="Stored recall requests that told of it.")] = 0
    objects: Annotated[Count, Field(description="Objects whose own row goes.")] = 0


class ForgottenRecord(Model):
    """A record that would go."""

    id: Id
    kind: RecordKind
    subject_id: Id
    content: str
    why: Annotated[
        Literal["selected", "source", "roll_up"],
        Field(description="It was selected, its words come from what goes, or it rolls that up."),
    ]


class ForgottenPlace(Model):
    """Words of an event, in code points of its text."""

    start: Count
    end: Count


class ForgottenEvent(Model):
    """An event that would go whole, or lose the words at these places."""

    id: Id
    seq: Count
    kind: Id
    at: Time
    text: Annotated[str, Field(description="What would go of it, the first 200 characters.")]
    places: list[ForgottenPlace] | None = None


class ChangedRecord(Model):
    """A record that would stay, as it would be."""

    id: Id
    kind: RecordKind
    subject_id: Id
    content: str


class ForgetPreview(Model):
    """What would go, and what would stay with less; the first 200 of each."""

    records: list[ForgottenRecord]
    events: list[ForgottenEvent]
    changed: list[ChangedRecord]
    holders: Annotated[
        list[Id],
        Field(
            description="Records that rest on words of selected ones, which stay therefore; select"
            " these too, or the events, to have the words go."
        ),
    ]
    truncated: bool


class ForgetResult(Model):
    """A preview; or, with `dry_run: false`, what has gone and what is still to be erased."""

    dry_run: bool
    counts: ForgetCounts
    preview: ForgetPreview | None = None
    forget_id: Id | None = None
    state: Literal["erasing", "done", "blocked"] | None = None
    remaining: list[str] | None = None


class ForgetStatusParams(Owned):
    """Which forgetting."""

    forget_id: Id


class ForgetStatusResult(Model):
    """How far a forgetting has come. Only `done` promises that no byte is left in any file."""

    forget_id: Id
    state: Annotated[
        Literal["erasing", "done", "blocked"],
        Field(description="`blocked`: something stands in the way, and it is tried again."),
    ]
    counts: ForgetCounts
    remaining: Annotated[
        list[str], Field(description="What is still to be done, or what stands in the way.")
    ]
    requested_at: Time
    finished_at: Time | None
    next_attempt_at: Time | None
