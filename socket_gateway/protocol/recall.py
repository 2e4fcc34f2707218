"""Recall on the wire: a question and its four different answers."""

from typing import Annotated, Literal

from pydantic import Field

from socket_gateway.protocol.base import (
    MAX_OBJECTS,
    MAX_PURPOSE,
    MAX_TEXT,
    Count,
    GivenTime,
    Id,
    Model,
    Owned,
    RecordStatus,
    Role,
    Time,
)
from socket_gateway.protocol.records import Authority, RecordResult


class Budget(Model):
    """How much a recall may bring back."""

    items: Annotated[int, Field(ge=1, le=100)] = 10
    tokens: Annotated[int, Field(ge=1, le=32_000)] = 2_000


class RecallParams(Owned):
    """A recall request; the same request id is the same request for ever."""

    request_id: Id
    query: Annotated[str, Field(max_length=MAX_TEXT)]
    objects: Annotated[list[Id], Field(max_length=MAX_OBJECTS)] = Field(default_factory=list)
    task: Id | None = None
    purpose: Annotated[str | None, Field(max_length=MAX_PURPOSE)] = None
    budget: Budget = Budget()
    intent_version: Count | None = None
    expires_at: GivenTime | None = None
    include_past: bool = False
    wait_ms: Annotated[int, Field(ge=0, le=75)] = 75


class HitEvidence(Model):
    """Verbatim words behind a hit."""

    event: Id
    quote: str
    at: Time
    role: Role


class HitEvent(Model):
    """An event that no record holds yet."""

    id: Id
    seq: Count
    kind: Id
    role: Role
    at: Time
    text: str


class RivalResult(Model):
    """The other side of a conflict: both stand until one is settled."""

    record_id: Id
    content: str
    status: RecordStatus
    authority: Authority
    observed_at: Time


class HitResult(Model):
    """A record or an event, with why it was found."""

    record: RecordResult | None = None
    event: HitEvent | None = None
    score: float
    reasons: list[Literal["object", "binding", "id", "keyword", "cue", "meaning", "recent"]]
    evidence: list[HitEvidence]
    conflicts: Annotated[
        list[RivalResult] | None, Field(description="What contradicts the record and stands too.")
    ] = None
    recheck: Annotated[
        bool,
        Field(description="Its review time has come: check it before telling it as what is so."),
    ] = False
    overdue: Annotated[bool, Field(description="A commitment whose day has passed.")] = False


class RecallResult(Model):
    """Four different answers, and `pending`, which is none of them."""

    request_id: Id
    state: Literal["pending", "complete", "not_found", "unavailable", "expired"]
    memory_version: Count
    index_lag: Count
    binding: list[HitResult]
    hits: list[HitResult]
    gaps: list[str]
    truncated: bool
    expired: Literal["request", "intent", "records"] | None = None
