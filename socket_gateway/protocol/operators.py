"""Health and what operators see, on the wire."""

from typing import Annotated, Literal

from pydantic import Field

from socket_gateway.protocol.base import Count, Id, Model, PackageState, Priority, StageName, Time
from socket_gateway.protocol.events import PositionsResult


class QueueResult(Model):
    """The queue of wake-ups. Its file may be lost; `replaced` counts how often it was."""

    depth: Count
    scheduled: Count
    oldest_ms: Annotated[Count, Field(description="Age of the oldest due package; 0: none.")]
    consumer_seen_ms: Annotated[
        Count | None, Field(description="Since the consumer's last beat; null: never seen.")
    ]
    replaced: Count


class HealthResult(Model):
    """How the service is; never ok while something is refused or stuck."""

    status: Literal["ok", "degraded", "failing"]
    reasons: list[str]
    version: str
    uptime_ms: Count
    database: Annotated[str | None, Field(description="The database's path.")] = None
    queue: QueueResult | None = None
    positions: PositionsResult | None = None
    dead: Count = 0
    index_lag: Count = 0
    disk_free: Annotated[Count | None, Field(description="Bytes.")] = None


class StatusResult(Model):
    """What an operator looks at first."""

    health: HealthResult
    stages: Annotated[dict[str, dict[str, int]], Field(description="Packages by stage, state.")]
    paused: dict[str, Time]
    connections: dict[str, int]
    owners: list[Id]


class PackageListParams(Model):
    """Which packages; `after` is a package id of an earlier page."""

    state: PackageState | None = None
    after: Count = 0
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class PackageResult(Model):
    """A package's row in the ledger."""

    id: Count
    owner: Id
    lane: str
    object: Id
    task: Id | None
    stage: StageName
    state: PackageState
    attempt: Count
    token: Count
    priority: Priority
    events: Count
    first_seq: Count
    last_seq: Count
    opened_at: Time
    lease_until: Time | None
    next_attempt_at: Time
    error: str | None
    nothing: str | None
    closed_by: Annotated[
        str | None, Field(description="What made it ready, such as age or flush; null: still open.")
    ]
    work: Annotated[
        Literal["events", "compact", "act"],
        Field(description="What it is made of; an act is a change that somebody asked for."),
    ]


class PackageListResult(Model):
    """A page of packages."""

    items: list[PackageResult]
    next: Count | None


class PageParams(Model):
    """Which page; `after` is the id of the last item seen."""

    after: Count = 0
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class DeadLetterResult(Model):
    """A parked package and why."""

    package: PackageResult
    error: str
    parked_at: Time
    event_ids: list[Id]


class DeadListResult(Model):
    """A page of dead letters."""

    items: list[DeadLetterResult]
    next: Count | None


class RequeueParams(Model):
    """Which dead letters go back to work; absent: all."""

    ids: Annotated[list[Count] | None, Field(min_length=1, max_length=200)] = None


class DiscardParams(Model):
    """Which dead letters are given up. Their events stay."""

    ids: Annotated[list[Count], Field(min_length=1, max_length=200)]


class ChangedResult(Model):
    """The packages that were changed."""

    ids: list[Count]


class StageParams(Model):
    """Which stage."""

    stage: StageName


class PausedResult(Model):
    """The paused stages, each with when it was paused."""

    paused: dict[str, Time]


class FlushParams(Model):
    """Whose open packages are closed at once; absent: everybody's."""

    owner: Id | None = None


class FlushResult(Model):
    """How many packages were closed."""

    closed: Count


class RebuildParams(Model):
    """Whose memory is made anew; absent: everybody's. With `dry_run` it is only compared."""

    owner: Id | None = None
    dry_run: bool = False


class OperationParams(Model):
    """Which operation."""

    operation_id: Count


class OperationResult(Model):
    """A long operation. `report` counts by part what is the same, changed, added or removed."""

    operation_id: Count
    kind: Literal["rebuild", "reindex", "snapshots"]
    owner: Id | None
    state: Literal["running", "done", "failed"]
    started_at: Time
    finished_at: Time | None
    report: dict[str, dict[str, Count]]
    error: str | None
