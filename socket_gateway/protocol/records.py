"""Records, objects and snapshots on the wire."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from socket_gateway.protocol.base import (
    Count,
    Id,
    Model,
    ObjectKind,
    ObjectState,
    Owned,
    RecordKind,
    RecordStatus,
    Time,
)
from socket_gateway.protocol.events import SpanResult

Authority = Literal["external", "inference", "observation", "verification", "user"]


class ScopeResult(Model):
    """Where a record holds."""

    objects: list[Id]
    task: Id | None
    once: bool


class RecordResult(Model):
    """A unit of memory."""

    id: Id
    owner_scope: Id
    subject_id: Id
    kind: RecordKind
    content: str
    status: RecordStatus
    authority: Authority
    revision: Count
    object_revision: Annotated[Count, Field(description="What expected_revision compares with.")]
    observed_at: Time
    recorded_at: Time
    source_refs: Annotated[
        list[SpanResult], Field(description="Checked now, each against its event's text.")
    ]
    missing_evidence: Annotated[
        list[Id] | None,
        Field(description="Events that no longer give the words that the record rested on."),
    ] = None
    key: str | None = None
    value: str | None = None
    fact_class: Annotated[str | None, Field(alias="class")] = None
    profile_kind: str | None = None
    scope: ScopeResult | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    review_at: Time | None = None
    supersedes: list[Id] | None = None
    conflicts_with: list[Id] | None = None
    conditions: list[str] | None = None
    steps: list[str] | None = None
    failure: list[str] | None = None
    verify: list[str] | None = None
    cues: list[str] | None = None
    links: Annotated[
        list[Id] | None, Field(description="Records that this one rolls up; they stay as they are.")
    ] = None
    reason: str | None = None


class RecordParams(Owned):
    """One record."""

    record_id: Id


class UserRequest(Model):
    """Where the user asks for it."""

    event_id: Annotated[Id, Field(description="An event whose role is user.")]
    quote: Annotated[
        str,
        Field(min_length=1, max_length=2_000, description="The user's own words, verbatim."),
    ]


class ConfirmParams(Owned):
    """A record that the user lets hold, in so many words."""

    record_id: Id
    expected_revision: Annotated[Count, Field(description="The record's object_revision.")]
    user_request: UserRequest


class CorrectParams(ConfirmParams):
    """A record that the user sets right; `content` holds instead, in the user's words."""

    content: Annotated[str, Field(min_length=1, max_length=600)]


class StandingResult(Model):
    """A record's id, and its status once a request was carried out."""

    record_id: Id
    status: RecordStatus


class ConfirmResult(Model):
    """The confirmed record as the confirmation left it, and what has yielded to it."""

    record: RecordResult
    superseded: list[Id]


class CorrectResult(Model):
    """The record that holds now, and the one that it was made of."""

    record: RecordResult
    corrected: StandingResult


class RecordListParams(Owned):
    """Which records; `after` is a record id of an earlier page."""

    object: Id | None = None
    kind: RecordKind | None = None
    status: RecordStatus | None = None
    after: Id | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class RecordListResult(Model):
    """A page of records; `next` is the `after` of the page behind it."""

    items: list[RecordResult]
    next: Id | None


class ObjectParams(Owned):
    """One object."""

    id: Id


class ObjectPutParams(Owned):
    """An object to create or change."""

    id: Id
    kind: ObjectKind = "project"
    title: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    state: ObjectState = "active"
    expected_revision: Annotated[Count, Field(description="0 for a new object.")] = 0


class ObjectListParams(Owned):
    """Which objects; `after` is an object id of an earlier page."""

    kind: ObjectKind | None = None
    state: ObjectState | None = None
    after: Id | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ObjectResult(Model):
    """What memory is about."""

    id: Id
    kind: ObjectKind
    title: str
    state: ObjectState
    revision: Count
    created_at: Time
    updated_at: Time


class ObjectListResult(Model):
    """A page of objects; `next` is the `after` of the page behind it."""

    items: list[ObjectResult]
    next: Id | None


class SnapshotParams(Owned):
    """Whose snapshot; without an object the owner's core."""

    object: Id | None = None


class SnapshotResult(Model):
    """A published view; `sections` is empty with version 0 while nothing is published."""

    version: Count
    published_at: Time | None
    hash: str | None
    tokens: Count
    sections: list[dict[str, JsonValue]]
