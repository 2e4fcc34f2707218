"""The asyncio client: many requests under way on one connection, answered in their order."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from socket_gateway import protocol
from socket_gateway.client import calls
from socket_gateway.client.calls import Call, EventLike, Result
from socket_gateway.client.pipelining import Pipeline
from socket_gateway.client.repeating import Ports, Repeating, RetryPolicy
from socket_gateway.client.wire import Json
from socket_gateway.socket_path import check_length


class AsyncMemoryClient:
    """A client for one event loop that pipelines calls on one connection.

    Every method raises `ServiceError` when the service answers with an error, and
    `NotReachableError` when none answers; both only after the attempts of the policy. A
    connection that is lost fails the calls under way on it, each of which is then repeated or
    not by its own rule.

    Args:
        path: The service's socket.
        policy: How long a call goes on trying.
        ports: Time and chance.
        in_flight: Requests under way at once; more wait for their turn.

    Raises:
        SocketPathError: No socket can stand at a path of that length.
    """

    def __init__(
        self,
        path: Path,
        *,
        policy: RetryPolicy | None = None,
        ports: Ports | None = None,
        in_flight: int = 32,
    ) -> None:
        check_length(path)
        self.path = path
        self._policy = policy or RetryPolicy()
        self._ports = ports or Ports()
        self._turns = asyncio.Semaphore(in_flight)
        self._connecting = asyncio.Lock()
        self._pipeline: Pipeline | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; calls under way on it fail. The next call makes a new one."""
        pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None:
            await pipeline.close()

    async def call(self, method: str, params: Json | None = None) -> Json:
        """Send any method with its params as they are; gives the result as JSON.

        Raises:
            ServiceError: The service answered with an error.
            NotReachableError: No service answered.
        """
        rule = Repeating(method, self._policy, self._ports)
        return await rule.asynchronous()(self._attempt, method, params or {})

    async def run(self, call: Call[Result]) -> Result:
        """Make a call of `socket_gateway.client.calls`."""
        return call.read(await self.call(call.method, call.params))

    async def _attempt(self, method: str, params: Json) -> Json:
        async with self._turns:
            pipeline = await self._connected()
            return await pipeline.ask(method, params, self._policy.answer_s)

    async def _connected(self) -> Pipeline:
        async with self._connecting:
            if self._pipeline is None or not self._pipeline.is_open:
                await self.close()
                self._pipeline = await Pipeline.open(self.path)
            return self._pipeline

    # ---- the methods of the service

    async def health(self) -> protocol.HealthResult:
        """How the service is."""
        return await self.run(calls.health())

    async def ingest(
        self, events: Sequence[EventLike], owner: str = "local"
    ) -> protocol.IngestResult:
        """Make events durable, all or none; they are on disk when this returns."""
        return await self.run(calls.ingest(events, owner))

    async def positions(self, owner: str = "local") -> protocol.PositionsResult:
        """How far an owner's events have come."""
        return await self.run(calls.positions(owner))

    async def evidence(
        self,
        record_id: str | None = None,
        event_ids: Sequence[str] | None = None,
        owner: str = "local",
        *,
        offset: int | None = None,
        limit: int | None = None,
    ) -> protocol.EvidenceResult:
        """Verbatim evidence of a record, or of events; `offset` and `limit` in code points."""
        return await self.run(calls.evidence(record_id, event_ids, owner, offset, limit))

    async def recall(
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
        return await self.run(calls.recall(params))

    async def snapshot(
        self, owner: str = "local", object_id: str | None = None
    ) -> protocol.SnapshotResult:
        """The published snapshot of an object, or the owner's core."""
        return await self.run(calls.snapshot(owner, object_id))

    async def record(self, record_id: str, owner: str = "local") -> protocol.RecordResult:
        """One record."""
        return await self.run(calls.record(record_id, owner))

    async def records(self, params: protocol.RecordListParams) -> protocol.RecordListResult:
        """A page of records."""
        return await self.run(calls.records(params))

    async def record_history(
        self, record_id: str, owner: str = "local"
    ) -> protocol.RecordListResult:
        """Every version of a record, oldest first."""
        return await self.run(calls.record_history(record_id, owner))

    async def confirm(self, params: protocol.ConfirmParams) -> protocol.ConfirmResult:
        """Let a record hold, on the user's own words."""
        return await self.run(calls.confirm(params))

    async def correct(self, params: protocol.CorrectParams) -> protocol.CorrectResult:
        """Set a record right, in the user's own words."""
        return await self.run(calls.correct(params))

    async def put_object(self, params: protocol.ObjectPutParams) -> protocol.ObjectResult:
        """Create or change an object."""
        return await self.run(calls.put_object(params))

    async def get_object(self, object_id: str, owner: str = "local") -> protocol.ObjectResult:
        """One object."""
        return await self.run(calls.get_object(object_id, owner))

    async def objects(self, params: protocol.ObjectListParams) -> protocol.ObjectListResult:
        """A page of objects."""
        return await self.run(calls.objects(params))

    async def export(self, params: protocol.ExportParams) -> protocol.ExportResult:
        """A page of an owner's memory as documents."""
        return await self.run(calls.export(params))

    async def take_in(self, params: protocol.ImportParams) -> protocol.ImportResult:
        """Take documents in, or tell what would become of them."""
        return await self.run(calls.take_in(params))

    async def forget(self, params: protocol.ForgetParams) -> protocol.ForgetResult:
        """Forget; unless `dry_run` is false only tell what would go."""
        return await self.run(calls.forget(params))

    async def forget_status(
        self, forget_id: str, owner: str = "local"
    ) -> protocol.ForgetStatusResult:
        """How far a forgetting has come."""
        return await self.run(calls.forget_status(forget_id, owner))

    async def claim(self, params: protocol.ClaimParams) -> protocol.ClaimResult:
        """Lease packages to an outside worker."""
        return await self.run(calls.claim(params))

    async def commit(self, params: protocol.CommitParams) -> protocol.CommitResult:
        """Hand in proposals for a leased package."""
        return await self.run(calls.commit(params))

    async def fail(self, params: protocol.FailParams) -> protocol.FailResult:
        """Give a leased package back."""
        return await self.run(calls.fail(params))

    async def status(self) -> protocol.StatusResult:
        """What an operator looks at first."""
        return await self.run(calls.status())

    async def flush(self, owner: str | None = None) -> protocol.FlushResult:
        """Close open packages at once; without an owner everybody's."""
        return await self.run(calls.flush(owner))

    async def fate(self, event_id: str, owner: str = "local") -> protocol.FateResult:
        """What became of an event, and why."""
        return await self.run(calls.fate(event_id, owner))

    async def packages(
        self, state: protocol.PackageState | None = None, after: int = 0, limit: int = 50
    ) -> protocol.PackageListResult:
        """A page of the ledger."""
        return await self.run(calls.packages(state, after, limit))

    async def dead_letters(self, after: int = 0, limit: int = 50) -> protocol.DeadListResult:
        """A page of parked packages and why they were parked."""
        return await self.run(calls.dead_letters(after, limit))

    async def requeue(self, ids: Sequence[int] | None = None) -> protocol.ChangedResult:
        """Put dead letters back to work; without ids all of them."""
        return await self.run(calls.requeue(ids))

    async def discard(self, ids: Sequence[int]) -> protocol.ChangedResult:
        """Give dead letters up. Their events stay."""
        return await self.run(calls.discard(ids))

    async def pause(self, stage: protocol.StageName) -> protocol.PausedResult:
        """Stop a stage from being claimed."""
        return await self.run(calls.pause(stage))

    async def resume(self, stage: protocol.StageName) -> protocol.PausedResult:
        """Let a paused stage go on."""
        return await self.run(calls.resume(stage))

    async def rebuild(
        self, owner: str | None = None, *, dry_run: bool = False
    ) -> protocol.OperationResult:
        """Begin to make records, index and snapshots anew; `operation` tells how it stands."""
        return await self.run(calls.rebuild(owner, dry_run=dry_run))

    async def reindex(self, owner: str | None = None) -> protocol.OperationResult:
        """Begin to make the index anew."""
        return await self.run(calls.reindex(owner))

    async def rebuild_snapshots(self, owner: str | None = None) -> protocol.OperationResult:
        """Begin to make snapshots anew."""
        return await self.run(calls.rebuild_snapshots(owner))

    async def operation(self, operation_id: int) -> protocol.OperationResult:
        """How a long operation stands."""
        return await self.run(calls.operation(operation_id))
