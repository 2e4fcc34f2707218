"""What became of an event, on the wire: ids, codes, reasons and places, and no text but quotes."""

from typing import Annotated, Literal

from pydantic import Field

from socket_gateway.protocol.base import (
    Count,
    Id,
    Model,
    Owned,
    RecordKind,
    RecordStatus,
    Role,
    StageName,
    Time,
)
from socket_gateway.protocol.operators import PackageResult


class FateParams(Owned):
    """Which event."""

    event_id: Id


class FateEvent(Model):
    """The event as it was received; of a forgotten one its id and number alone."""

    id: Id
    seq: Count
    kind: Id | None = None
    role: Role | None = None
    at: Time | None = None
    received_at: Time | None = None
    redactions: Annotated[
        dict[str, int] | None, Field(description="What was removed or broken, by kind.")
    ] = None


class RepeatsResult(Model):
    """The event that its repeats were counted into, and how often it was said."""

    event: Id
    seq: Count
    count: Count
    first_at: Time
    last_at: Time


class PassageResult(Model):
    """The package that it went into: `package.stage` is the next one, unless it is done."""

    package: PackageResult
    committed: Annotated[
        dict[StageName, Time], Field(description="Stages that are done, and when.")
    ]
    parked_at: Annotated[Time | None, Field(description="Since when it is a dead letter.")]


class FateQuote(Model):
    """Words of the event that are quoted; start and end in code points."""

    start: Count
    end: Count
    quote: str


class FateProposal(Model):
    """A proposal that quotes the event, and what was said of it."""

    package_id: Count
    index: Count
    kind: RecordKind
    quotes: Annotated[list[FateQuote], Field(description="Those that stand in the event.")]
    became: Annotated[
        Id | None,
        Field(description="Its record, or the one that says so already; null: not settled."),
    ]
    code: Annotated[str | None, Field(description="Why it was rejected.")]
    reason: str | None


class FateRecord(Model):
    """A record that rests on the event."""

    id: Id
    kind: RecordKind
    subject_id: Id
    status: RecordStatus
    revision: Count
    quotes: list[FateQuote]
    superseded_by: list[Id]
    conflicts_with: list[Id]
    reason: str | None
    indexed: Annotated[bool | None, Field(description="null: the index can't tell.")]


class FateRequest(Model):
    """A confirmation or correction that was made in the event's words."""

    change: Literal["confirm", "correct"]
    record_id: Annotated[Id, Field(description="What was confirmed or set right.")]
    at: Time
    package_id: Count | None


class FateResult(Model):
    """What became of an event and why.

    What follows from a repeat is told of the event that it was counted into.
    """

    event: FateEvent
    fate: Annotated[
        Literal["received", "audit", "packaged", "merged", "waiting", "forgotten"],
        Field(description="What the filter made of it; received: it has not come to it yet."),
    ]
    reason: str | None
    repeats: RepeatsResult | None
    passage: PassageResult | None
    proposals: list[FateProposal]
    unattributed: Annotated[
        dict[str, int],
        Field(description="Rejected proposals of its package that quote nothing, by code."),
    ]
    records: list[FateRecord]
    requests: list[FateRequest]
    indexed: Annotated[
        bool | None,
        Field(description="Whether the index holds it by its own words; null: it can't tell."),
    ]
    index_lag: Annotated[Count, Field(description="How far the index is behind its rows.")]
