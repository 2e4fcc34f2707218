"""The blocking client: one connection, one request at a time, safe to share between threads."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from socket_gateway import protocol
from socket_gateway.client import calls
from socket_gateway.client.calls import Call, EventLike, Result
from socket_gateway.client.connection import Connection
from socket_gateway.client.errors import ServiceError
from socket_gateway.client.repeating import Ports, Repeating, RetryPolicy
from socket_gateway.client.wire import Json, decode, encode
from socket_gateway.socket_path import check_length


class MemoryClient:
    """A client that keeps one connection and makes a new one when it is lost.

    Every method raises `ServiceError` when the service answers with an error, and
    `NotReachableError` when none answers; both only after the attempts of the policy. A lock
    lets one request through at a time, so threads may share a client.

    Args:
        path: The service's socket.
        policy: How long a call goes on trying.
        ports: Time and chance.

    Raises:
        SocketPathError: No socket can stand at a path of that length.
    """

    def __init__(
        self, path: Path, *, policy: RetryPolicy | None = None, ports: Ports | None = None
    ) -> None:
        check_length(path)
        self.path = path
        self._policy = policy or RetryPolicy()
        self._ports = ports or Ports()
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._last_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. The next call makes a new one."""
        with self._lock:
            self._drop()

    def call(self, method: str, params: Json | None = None) -> Json:
        """Send any method with its params as they are; gives the result as JSON.

        Raises:
            ServiceError: The service answered with an error.
            NotReachableError: No service answered.
        """
        rule = Repeating(method, self._policy, self._ports)
        return rule.blocking()(self._attempt, method, params or {})

    def run(self, call: Call[Result]) -> Result:
        """Make a call of `socket_gateway.client.calls`."""
        return call.read(self.call(call.method, call.params))

    def _attempt(self, method: str, params: Json) -> Json:
        with self._lock:
            self._last_id += 1
            line = encode(self._last_id, method, params)
            try:
                return decode(self._connected().ask(line, self._policy.answer_s), self._last_id)
            except ServiceError as error:
                if error.ends_connection:
                    self._drop()
                raise
            except BaseException:
                # An answer that nobody waits for any more must not meet the next request.
                self._drop()
                raise

    def _connected(self) -> Connection:
        if self._connection is not None and not self._connection.is_usable():
            self._drop()
        if self._connection is None:
            self._connection = Connection(self.path, self._policy.answer_s)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # ---- the methods of the service

    def health(self) -> protocol.HealthResult:
        """How the service is."""
        return self.run(calls.health())

    def ingest(self, events: Sequence[EventLike], owner: str = "local") -> protocol.IngestResult:
        """Make events durable, all or none; they are on disk when this returns."""
        return self.run(calls.ingest(events, owner))

    def positions(self, owner: str = "local") -> protocol.PositionsResult:
        """How far an owner's events have come."""
        return self.run(calls.positions(owner))

    def evidence(
        self,
        record_id: str | None = None,
        event_ids: Sequence[str] | None = None,
        owner: str = "local",
        *,
        offset: int | None = None,
        limit: int | None = None,
    ) -> protocol.EvidenceResult:
        """Verbatim evidence of a record, or of events; `offset` and `limit` in code points."""
        return self.run(calls.evidence(record_id, event_ids, owner, offset, limit))

    def recall(
        self, query: str, owner: str = "local", *, request_id: str | None = None, **more: Any
    ) -> protocol.RecallResult:
        """Ask memory a question, for 75 ms of the caller's time at most.

        Args:
            query: The question.
            owner: Whose memory.
            request_id: The same id is the same question for ever; absent: a new one.
            more: Other fields of `RecallParams`, such as `objects`, `budget`, `include_past`.

        Raises:
            pydantic.ValidationError: A field doesn't fit.
        """
        chosen = request_id or self._ports.new_id()
        params = protocol.RecallParams(request_id=chosen, query=query, owner=owner, **more)
        return self.run(calls.recall(params))

    def snapshot(
        self, owner: str = "local", object_id: str | None = None
    ) -> protocol.SnapshotResult:
        """The published snapshot of an object, or the owner's core."""
        return self.run(calls.snapshot(owner, object_id))

    def record(self, record_id: str, owner: str = "local") -> protocol.RecordResult:
        """One record."""
        return self.run(calls.record(record_id, owner))

    def records(self, params: protocol.RecordListParams) -> protocol.RecordListResult:
        """A page of records."""
        return self.run(calls.records(params))

    def record_history(self, record_id: str, owner: str = "local") -> protocol.RecordListResult:
        """Every version of a record, oldest first."""
        return self.run(calls.record_history(record_id, owner))

    def confirm(self, params: protocol.ConfirmParams) -> protocol.ConfirmResult:
        """Let a record hold, on the user's own words."""
        return self.run(calls.confirm(params))

    def correct(self, params: protocol.CorrectParams) -> protocol.CorrectResult:
        """Set a record right, in the user's own words."""
        return self.run(calls.correct(params))

    def put_object(self, params: protocol.ObjectPutParams) -> protocol.ObjectResult:
        """Create or change an object."""
        return self.run(calls.put_object(params))

    def get_object(self, object_id: str, owner: str = "local") -> protocol.ObjectResult:
        """One object."""
        return self.run(calls.get_object(object_id, owner))

    def objects(self, params: protocol.ObjectListParams) -> protocol.ObjectListResult:
        """A page of objects."""
        return self.run(calls.objects(params))

    def export(self, params: protocol.ExportParams) -> protocol.ExportResult:
        """A page of an owner's memory as documents."""
        return self.run(calls.export(params))

    def take_in(self, params: protocol.ImportParams) -> protocol.ImportResult:
        """Take documents in, or tell what would become of them."""
        return self.run(calls.take_in(params))

    def forget(self, params: protocol.ForgetParams) -> protocol.ForgetResult:
        """Forget; unless `dry_run` is false only tell what would go."""
        return self.run(calls.forget(params))

    def forget_status(self, forget_id: str, owner: str = "local") -> protocol.ForgetStatusResult:
        """How far a forgetting has come."""
        return self.run(calls.forget_status(forget_id, owner))

    def claim(self, params: protocol.ClaimParams) -> protocol.ClaimResult:
        """Lease packages to an outside worker."""
        return self.run(calls.claim(params))

    def commit(self, params: protocol.CommitParams) -> protocol.CommitResult:
        """Hand in proposals for a leased package."""
        return self.run(calls.commit(params))

    def fail(self, params: protocol.FailParams) -> protocol.FailResult:
        """Give a leased package back."""
        return self.run(calls.fail(params))

    def status(self) -> protocol.StatusResult:
        """What an operator looks at first."""
        return self.run(calls.status())

    def flush(self, owner: str | None = None) -> protocol.FlushResult:
        """Close open packages at once; without an owner everybody's."""
        return self.run(calls.flush(owner))

    def fate(self, event_id: str, owner: str = "local") -> protocol.FateResult:
        """What became of an event, and why."""
        return self.run(calls.fate(event_id, owner))

    def packages(
        self, state: protocol.PackageState | None = None, after: int = 0, limit: int = 50
    ) -> protocol.PackageListResult:
        """A page of the ledger."""
        return self.run(calls.packages(state, after, limit))

    def dead_letters(self, after: int = 0, limit: int = 50) -> protocol.DeadListResult:
        """A page of parked packages and why they were parked."""
        return self.run(calls.dead_letters(after, limit))

    def requeue(self, ids: Sequence[int] | None = None) -> protocol.ChangedResult:
        """Put dead letters back to work; without ids all of them."""
        return self.run(calls.requeue(ids))

    def discard(self, ids: Sequence[int]) -> protocol.ChangedResult:
        """Give dead letters up. Their events stay."""
        return self.run(calls.discard(ids))

    def pause(self, stage: protocol.StageName) -> protocol.PausedResult:
        """Stop a stage from being claimed."""
        return self.run(calls.pause(stage))

    def resume(self, stage: protocol.StageName) -> protocol.PausedResult:
        """Let a paused stage go on."""
        return self.run(calls.resume(stage))

    def rebuild(
        self, owner: str | None = None, *, dry_run: bool = False
    ) -> protocol.OperationResult:
        """Begin to make records, index and snapshots anew; `operation` tells how it stands."""
        return self.run(calls.rebuild(owner, dry_run=dry_run))

    def reindex(self, owner: str | None = None) -> protocol.OperationResult:
        """Begin to make the index anew."""
        return self.run(calls.reindex(owner))

    def rebuild_snapshots(self, owner: str | None = None) -> protocol.OperationResult:
        """Begin to make snapshots anew."""
        return self.run(calls.rebuild_snapshots(owner))

    def operation(self, operation_id: int) -> protocol.OperationResult:
        """How a long operation stands."""
        return self.run(calls.operation(operation_id))
