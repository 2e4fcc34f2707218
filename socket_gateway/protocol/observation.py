"""Observation by an outside worker, on the wire."""

from typing import Annotated

from pydantic import Field, JsonValue

from socket_gateway.protocol.base import Count, Id, Model, PackageState, Priority, Role, Time
from socket_gateway.protocol.records import RecordResult


class ClaimParams(Model):
    """A worker asks for packages of different objects."""

    worker: Annotated[Id, Field(description="A name for logs; it decides nothing.")]
    max: Annotated[int, Field(ge=1, le=32)] = 1
    lease_ms: Annotated[int, Field(ge=1_000, le=600_000)] = 60_000
    owner: Annotated[Id | None, Field(description="Only this owner's; absent: anyone's.")] = None


class ClaimedEvent(Model):
    """An event of a package, with its repeats."""

    seq: Count
    id: Id
    kind: Id
    at: Time
    role: Role
    text: str
    data: dict[str, JsonValue] | None = None
    speaker: str | None = None
    recalled: list[Id] | None = None
    count: Count
    first_at: Time
    last_at: Time
    unanswered: bool | None = None


class ClaimedPackage(Model):
    """A leased package: what its observer may see."""

    id: Count
    owner: Id
    token: Annotated[Count, Field(description="The lease's fence; name it in commit and fail.")]
    attempt: Count
    lease_until: Time
    object: Id
    task: Id | None
    priority: Priority
    events: list[ClaimedEvent]
    known: Annotated[list[RecordResult], Field(description="Records of that object.")]
    budget: Count


class ClaimResult(Model):
    """Leased packages; an empty list when there is nothing."""

    packages: list[ClaimedPackage]


class CommitParams(Model):
    """A worker's proposals for a package, each judged on its own."""

    package_id: Count
    token: Count
    proposals: Annotated[
        list[dict[str, JsonValue]], Field(max_length=200, description="See Proposal.")
    ]
    nothing_worth_keeping: Annotated[str | None, Field(max_length=600)] = None


class AcceptedProposal(Model):
    """A proposal that becomes a record when it is settled."""

    index: Count
    record_id: Id


class RejectedProposal(Model):
    """A proposal that does not take effect."""

    index: Count
    code: str
    reason: str


class CommitResult(Model):
    """What validation said; the same commit again gets the same answer."""

    state: PackageState
    accepted: list[AcceptedProposal]
    rejected: list[RejectedProposal]


class FailParams(Model):
    """A worker gives a package back."""

    package_id: Count
    token: Count
    error: Annotated[str, Field(min_length=1, max_length=600, description="Kept redacted.")]
    retry_after_ms: Annotated[int | None, Field(ge=0, le=86_400_000)] = None


class FailResult(Model):
    """What becomes of the package; `next_attempt_at` is null when it was parked or split."""

    state: PackageState
    next_attempt_at: Time | None
