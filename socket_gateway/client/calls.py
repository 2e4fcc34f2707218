"""Every method as a call: its name, its params and the model of its result.

The blocking and the asyncio client make the same calls and differ only in how they send them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from socket_gateway import protocol
from socket_gateway.client.errors import ServiceError
from socket_gateway.client.wire import Json
from storage.errors import ErrorCode

Result = TypeVar("Result", bound=BaseModel)
EventLike = protocol.Event | Mapping[str, Any]
"""An event as its model, or as the JSON object that goes over the wire."""


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """One request, and what its result is read as."""

    method: str
    params: Json
    result: type[Result]

    def read(self, result: Json) -> Result:
        """The result as its model; fields that a newer service adds are left out.

        Raises:
            ServiceError: The result lacks what this client needs: the two don't fit together.
        """
        try:
            return self.result.model_validate(result, extra="ignore")
        except ValidationError as error:
            fields = {".".join(map(str, fault["loc"])) for fault in error.errors()}
            raise ServiceError(
                ErrorCode.INTERNAL,
                f"The result of {self.method} doesn't fit this client ({', '.join(sorted(fields))});"
                " use a client of the service's version.",
            ) from None


def _given(**params: Any) -> Json:
    return {name: value for name, value in params.items() if value is not None}


def _plain(event: EventLike) -> Mapping[str, Any]:
    if isinstance(event, BaseModel):
        return event.model_dump(mode="json", exclude_unset=True)
    return event


def health() -> Call[protocol.HealthResult]:
    """How the service is."""
    return Call("health", {}, protocol.HealthResult)


def ingest(events: Sequence[EventLike], owner: str) -> Call[protocol.IngestResult]:
    """Make events durable, all or none."""
    params = {"owner": owner, "events": [_plain(event) for event in events]}
    return Call("memory.events.ingest", params, protocol.IngestResult)


def positions(owner: str) -> Call[protocol.PositionsResult]:
    """How far an owner's events have come."""
    return Call("memory.positions", {"owner": owner}, protocol.PositionsResult)


def evidence(
    record_id: str | None,
    event_ids: Sequence[str] | None,
    owner: str,
    offset: int | None,
    limit: int | None,
) -> Call[protocol.EvidenceResult]:
    """Verbatim evidence of a record, or of events."""
    ids = None if event_ids is None else list(event_ids)
    params = _given(record_id=record_id, event_ids=ids, owner=owner, offset=offset, limit=limit)
    return Call("memory.evidence.get", params, protocol.EvidenceResult)


def recall(params: protocol.RecallParams) -> Call[protocol.RecallResult]:
    """Ask memory a question."""
    plain = params.model_dump(mode="json", exclude_none=True, exclude_unset=True)
    return Call("memory.continuity.recall", plain, protocol.RecallResult)


def snapshot(owner: str, object_id: str | None) -> Call[protocol.SnapshotResult]:
    """The published snapshot of an object, or the owner's core."""
    return Call("snapshot.get", _given(owner=owner, object=object_id), protocol.SnapshotResult)


def record(record_id: str, owner: str) -> Call[protocol.RecordResult]:
    """One record."""
    params = {"record_id": record_id, "owner": owner}
    return Call("memory.record.get", params, protocol.RecordResult)


def records(params: protocol.RecordListParams) -> Call[protocol.RecordListResult]:
    """A page of records."""
    plain = params.model_dump(mode="json", exclude_none=True)
    return Call("memory.record.list", plain, protocol.RecordListResult)


def record_history(record_id: str, owner: str) -> Call[protocol.RecordListResult]:
    """Every version of a record."""
    params = {"record_id": record_id, "owner": owner}
    return Call("memory.record.history", params, protocol.RecordListResult)


def confirm(params: protocol.ConfirmParams) -> Call[protocol.ConfirmResult]:
    """Let a record hold, on the user's own words."""
    return Call("memory.record.confirm", params.model_dump(mode="json"), protocol.ConfirmResult)


def correct(params: protocol.CorrectParams) -> Call[protocol.CorrectResult]:
    """Set a record right, in the user's own words."""
    return Call("memory.record.correct", params.model_dump(mode="json"), protocol.CorrectResult)


def put_object(params: protocol.ObjectPutParams) -> Call[protocol.ObjectResult]:
    """Create or change an object."""
    plain = params.model_dump(mode="json", exclude_none=True)
    return Call("memory.object.put", plain, protocol.ObjectResult)


def get_object(object_id: str, owner: str) -> Call[protocol.ObjectResult]:
    """One object."""
    return Call("memory.object.get", {"id": object_id, "owner": owner}, protocol.ObjectResult)


def objects(params: protocol.ObjectListParams) -> Call[protocol.ObjectListResult]:
    """A page of objects."""
    plain = params.model_dump(mode="json", exclude_none=True)
    return Call("memory.object.list", plain, protocol.ObjectListResult)


def export(params: protocol.ExportParams) -> Call[protocol.ExportResult]:
    """A page of an owner's memory as documents."""
    plain = params.model_dump(mode="json", exclude_none=True)
    return Call("memory.export", plain, protocol.ExportResult)


def take_in(params: protocol.ImportParams) -> Call[protocol.ImportResult]:
    """Take documents in, or tell what would become of them."""
    return Call("memory.import", params.model_dump(mode="json"), protocol.ImportResult)


def forget(params: protocol.ForgetParams) -> Call[protocol.ForgetResult]:
    """Forget, or tell what would go."""
    plain = params.model_dump(mode="json", exclude_none=True)
    return Call("memory.forget", plain, protocol.ForgetResult)


def forget_status(forget_id: str, owner: str) -> Call[protocol.ForgetStatusResult]:
    """How far a forgetting has come."""
    params = {"forget_id": forget_id, "owner": owner}
    return Call("memory.forget.status", params, protocol.ForgetStatusResult)


def claim(params: protocol.ClaimParams) -> Call[protocol.ClaimResult]:
    """Lease packages."""
    plain = params.model_dump(mode="json", exclude_none=True)
    return Call("memory.observation.claim", plain, protocol.ClaimResult)


def commit(params: protocol.CommitParams) -> Call[protocol.CommitResult]:
    """Hand in proposals for a leased package."""
    plain = params.model_dump(mode="json", exclude_none=True)
    return Call("memory.observation.commit", plain, protocol.CommitResult)


def fail(params: protocol.FailParams) -> Call[protocol.FailResult]:
    """Give a leased package back."""
    plain = params.model_dump(mode="json", exclude_none=True)
    return Call("memory.observation.fail", plain, protocol.FailResult)


def status() -> Call[protocol.StatusResult]:
    """What an operator looks at first."""
    return Call("ops.status", {}, protocol.StatusResult)


def flush(owner: str | None) -> Call[protocol.FlushResult]:
    """Close open packages at once."""
    return Call("ops.flush", _given(owner=owner), protocol.FlushResult)


def fate(event_id: str, owner: str) -> Call[protocol.FateResult]:
    """What became of an event, and why."""
    return Call("ops.fate", {"event_id": event_id, "owner": owner}, protocol.FateResult)


def packages(state: str | None, after: int, limit: int) -> Call[protocol.PackageListResult]:
    """A page of the ledger."""
    params = _given(state=state, after=after, limit=limit)
    return Call("ops.packages", params, protocol.PackageListResult)


def dead_letters(after: int, limit: int) -> Call[protocol.DeadListResult]:
    """A page of parked packages."""
    return Call("ops.dead.list", {"after": after, "limit": limit}, protocol.DeadListResult)


def requeue(ids: Sequence[int] | None) -> Call[protocol.ChangedResult]:
    """Put dead letters back to work; None: all of them."""
    params = _given(ids=None if ids is None else list(ids))
    return Call("ops.dead.requeue", params, protocol.ChangedResult)


def discard(ids: Sequence[int]) -> Call[protocol.ChangedResult]:
    """Give dead letters up."""
    return Call("ops.dead.discard", {"ids": list(ids)}, protocol.ChangedResult)


def pause(stage: str) -> Call[protocol.PausedResult]:
    """Stop a stage from being claimed."""
    return Call("ops.stage.pause", {"stage": stage}, protocol.PausedResult)


def resume(stage: str) -> Call[protocol.PausedResult]:
    """Let a paused stage go on."""
    return Call("ops.stage.resume", {"stage": stage}, protocol.PausedResult)


def rebuild(owner: str | None, *, dry_run: bool) -> Call[protocol.OperationResult]:
    """Make records, index and snapshots anew."""
    params = _given(owner=owner, dry_run=dry_run or None)
    return Call("ops.rebuild", params, protocol.OperationResult)


def reindex(owner: str | None) -> Call[protocol.OperationResult]:
    """Make the index anew."""
    return Call("ops.reindex", _given(owner=owner), protocol.OperationResult)


def rebuild_snapshots(owner: str | None) -> Call[protocol.OperationResult]:
    """Make snapshots anew."""
    return Call("ops.snapshot.rebuild", _given(owner=owner), protocol.OperationResult)


def operation(operation_id: int) -> Call[protocol.OperationResult]:
    """How a long operation stands."""
    params = {"operation_id": operation_id}
    return Call("ops.operation.get", params, protocol.OperationResult)
