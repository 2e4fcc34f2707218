"""Every method of the service: its name, what it takes and gives."""

from typing import Any, Final

from socket_gateway.protocol.base import Empty, Model, Owned
from socket_gateway.protocol.events import (
    EvidenceParams,
    EvidenceResult,
    IngestParams,
    IngestResult,
    PositionsResult,
)
from socket_gateway.protocol.fates import FateParams, FateResult
from socket_gateway.protocol.forgetting import (
    ForgetParams,
    ForgetResult,
    ForgetStatusParams,
    ForgetStatusResult,
)
from socket_gateway.protocol.observation import (
    ClaimParams,
    ClaimResult,
    CommitParams,
    CommitResult,
    FailParams,
    FailResult,
)
from socket_gateway.protocol.operators import (
    ChangedResult,
    DeadListResult,
    DiscardParams,
    FlushParams,
    FlushResult,
    HealthResult,
    OperationParams,
    OperationResult,
    PackageListParams,
    PackageListResult,
    PageParams,
    PausedResult,
    RebuildParams,
    RequeueParams,
    StageParams,
    StatusResult,
)
from socket_gateway.protocol.recall import RecallParams, RecallResult
from socket_gateway.protocol.records import (
    ConfirmParams,
    ConfirmResult,
    CorrectParams,
    CorrectResult,
    ObjectListParams,
    ObjectListResult,
    ObjectParams,
    ObjectPutParams,
    ObjectResult,
    RecordListParams,
    RecordListResult,
    RecordParams,
    RecordResult,
    SnapshotParams,
    SnapshotResult,
)
from socket_gateway.protocol.transfer import (
    ExportParams,
    ExportResult,
    ImportParams,
    ImportResult,
)


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
        Method(
            "memory.record.confirm", ConfirmParams, ConfirmResult,
            "Lets a record hold, on the user's own words.",
        ),
        Method(
            "memory.record.correct", CorrectParams, CorrectResult,
            "Sets a record right, in the user's own words.",
        ),
        Method("memory.object.put", ObjectPutParams, ObjectResult, "Creates or changes an object."),
        Method("memory.object.get", ObjectParams, ObjectResult, "One object."),
        Method("memory.object.list", ObjectListParams, ObjectListResult, "Objects, by id."),
        Method(
            "memory.forget", ForgetParams, ForgetResult,
            "Forgets; unless `dry_run` is false it only tells what would go.",
        ),
        Method(
            "memory.forget.status", ForgetStatusParams, ForgetStatusResult,
            "How far a forgetting has come.",
        ),
        Method(
            "memory.export", ExportParams, ExportResult,
            "A page of an owner's memory as Markdown documents.",
        ),
        Method(
            "memory.import", ImportParams, ImportResult,
            "Takes documents in, edits of them too; first only tells what would become of them.",
        ),
        Method("ops.status", Empty, StatusResult, "Health, stages, connections, owners."),
        Method(
            "ops.rebuild", RebuildParams, OperationResult,
            "Makes records, index and snapshots anew from events and recorded proposals.",
        ),
        Method("ops.reindex", RebuildParams, OperationResult, "Makes the index anew."),
        Method("ops.snapshot.rebuild", RebuildParams, OperationResult, "Makes snapshots anew."),
        Method("ops.operation.get", OperationParams, OperationResult, "A long operation's state."),
        Method("ops.flush", FlushParams, FlushResult, "Closes open packages at once."),
        Method("ops.fate", FateParams, FateResult, "What became of an event, and why."),
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
