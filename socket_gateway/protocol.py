"""The wire, as models: every method's params and result, and nothing else.

`docs/protocol.md` is generated from these, so what a field says here is what its readers learn.
Knows neither pipeline nor storage: clients import it.
"""

import unicodedata
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

MAX_ID: Final = 200
OWNER_OBJECT: Final = "@owner"
MAX_EVENTS: Final = 200
MAX_TEXT: Final = 32_000
MAX_PURPOSE: Final = 200
MAX_DATA_BYTES: Final = 65_536
MAX_OBJECTS: Final = 16
MAX_CAUSES: Final = 32
MAX_INT: Final = 2**63 - 1


def _is_control(char: str) -> bool:
    return unicodedata.category(char) == "Cc"


def _check_id(value: str) -> str:
    """Ids are compared after NFC, so they are kept that way."""
    if value.isascii() and value.isprintable():
        return value
    found = unicodedata.normalize("NFC", value)
    if any(_is_control(char) for char in found):
        raise ValueError("must hold no control characters")
    if len(found) > MAX_ID:
        raise ValueError(f"must have at most {MAX_ID} characters, composed (NFC)")
    return found


def _check_object_id(value: str) -> str:
    if value.startswith("@") and value != OWNER_OBJECT:
        raise ValueError("ids that begin with @ are reserved; choose another")
    return value


Id = Annotated[str, Field(min_length=1, max_length=MAX_ID), AfterValidator(_check_id)]
ObjectId = Annotated[Id, AfterValidator(_check_object_id)]
Owner = Annotated[Id, Field(description="Whose memory.")]
Time = Annotated[int, Field(ge=0, le=MAX_INT, description="Milliseconds since 1970 UTC.")]
Count = Annotated[int, Field(ge=0, le=MAX_INT)]

Role = Literal[
    "user", "supervisor", "executor", "observation", "verification", "runtime", "schedule",
    "external",
]  # fmt: skip
ObjectKind = Literal["domain", "project", "asset", "process", "schedule", "run"]
ObjectState = Literal["active", "dormant", "done"]
Priority = Literal["urgent", "high", "normal", "low"]
RecordKind = Literal[
    "commitment", "episode", "fact", "preference", "rule", "correction", "procedure", "cue"
]
RecordStatus = Literal["candidate", "active", "superseded", "expired", "archived"]
StageName = Literal["filter", "observe", "merge", "index", "publish"]
PackageState = Literal["open", "ready", "leased", "done", "dead"]


class Model(BaseModel):
    """What all wire models have in common: strict values, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Owned(Model):
    """Params that belong to one owner."""

    owner: Owner = "local"


class Empty(Model):
    """No params."""


# ---- events ----------------------------------------------------------------


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
    kind: Annotated[Id, Field(description="Such as `user.message`; an open set.")]
    at: Time
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
    expires_at: Time | None = None


class IngestParams(Owned):
    """Events to make durable: all of them, or none."""

    events: Annotated[list[Event], Field(min_length=1, max_length=MAX_EVENTS)]


class Accepted(Model):
    """What became of one event."""

    id: Id
    seq: Count
    duplicate: bool
    redactor_changed: bool | None = None
    redactions: Annotated[
        dict[str, int] | None, Field(description="What was removed, by kind.")
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
    """Verbatim evidence; `missing` names what this owner doesn't have."""

    events: list[EvidenceEvent]
    spans: list[SpanResult]
    missing: list[Id]


# ---- observation by an outside worker --------------------------------------


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
    known: Annotated[list["RecordResult"], Field(description="Records of that object.")]
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


# ---- records, objects, snapshots -------------------------------------------


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
    authority: Literal["external", "inference", "observation", "verification", "user"]
    revision: Count
    object_revision: Annotated[Count, Field(description="What expected_revision compares with.")]
    observed_at: Time
    recorded_at: Time
    source_refs: list[SpanResult]
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
    reason: str | None = None


class RecordParams(Owned):
    """One record."""

    record_id: Id


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


# ---- recall ----------------------------------------------------------------


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
    expires_at: Time | None = None
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


class HitResult(Model):
    """A record or an event, with why it was found."""

    record: RecordResult | None = None
    event: HitEvent | None = None
    score: float
    reasons: list[Literal["object", "binding", "id", "keyword", "cue", "meaning", "recent"]]
    evidence: list[HitEvidence]


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


# ---- health and operators --------------------------------------------------


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


ClaimedPackage.model_rebuild()


class Method:
    """One method: its name, what it takes and gives, and a sentence about it."""

    __slots__ = ("about", "name", "params", "result")

    def __init__(self, name: str, params: type[Model], result: type[Model], about: str) -> None:
        self.name = name
        self.params = params
        self.result = result
        self.about = about


METHODS: Final[dict[str, Method]] = {
    method.name: method
    for method in (
        Method("health", Empty, HealthResult, "How the service is."),
        Method(
            "memory.events.ingest", IngestParams, IngestResult,
            "Makes events durable. The answer comes after the fsync.",
        ),
        Method(
            "memory.positions", Owned, PositionsResult,
            "How far an owner's events have come.",
        ),
        Method(
            "memory.evidence.get", EvidenceParams, EvidenceResult,
            "The verbatim text, and the exact spans that a record rests on.",
        ),
        Method(
            "memory.observation.claim", ClaimParams, ClaimResult,
            "Leases packages to an outside worker.",
        ),
        Method(
            "memory.observation.commit", CommitParams, CommitResult,
            "Hands in a worker's proposals; the program judges each.",
        ),
        Method(
            "memory.observation.fail", FailParams, FailResult,
            "Gives a package back; it backs off, is split, or is parked.",
        ),
        Method(
            "memory.continuity.recall", RecallParams, RecallResult,
            "Asks memory a question, for 75 ms of the caller's time at most.",
        ),
        Method("snapshot.get", SnapshotParams, SnapshotResult, "The published snapshot."),
        Method("memory.record.get", RecordParams, RecordResult, "One record."),
        Method("memory.record.list", RecordListParams, RecordListResult, "Records, by id."),
        Method(
            "memory.record.history", RecordParams, RecordListResult,
            "Every version of a record, oldest first.",
        ),
        Method("memory.object.put", ObjectPutParams, ObjectResult, "Creates or changes an object."),
        Method("memory.object.get", ObjectParams, ObjectResult, "One object."),
        Method("memory.object.list", ObjectListParams, ObjectListResult, "Objects, by id."),
        Method("ops.status", Empty, StatusResult, "Health, stages, connections, owners."),
        Method("ops.flush", FlushParams, FlushResult, "Closes open packages at once."),
        Method("ops.packages", PackageListParams, PackageListResult, "The ledger, by package id."),
        Method("ops.dead.list", PageParams, DeadListResult, "Parked packages and why."),
        Method("ops.dead.requeue", RequeueParams, ChangedResult, "Puts dead letters back to work."),
        Method("ops.dead.discard", DiscardParams, ChangedResult, "Gives dead letters up."),
        Method("ops.stage.pause", StageParams, PausedResult, "Stops a stage from being claimed."),
        Method("ops.stage.resume", StageParams, PausedResult, "Lets a paused stage go on."),
    )
}  # fmt: skip
"""Every method of the service, by name."""

Json = dict[str, Any]
"""A JSON object as the client gets it."""
