"""Long operations: begun at once, worked off one after the other, looked up by their id."""

import logging
from collections.abc import Collection
from functools import partial
from typing import Any, Final

from pipeline.rebuilding.rebuild import Part
from pipeline.runner import describe
from socket_gateway import protocol
from socket_gateway.handlers.services import Services
from storage.errors import MemoryServiceError
from storage.repositories import operations
from storage.repositories.operations import Operation

Json = dict[str, Any]

log = logging.getLogger(__name__)

_EVERYTHING: Final = tuple(Part)


class Operations:
    """Serves `ops.rebuild`, `ops.reindex`, `ops.snapshot.rebuild` and `ops.operation.get`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def rebuild(self, params: protocol.RebuildParams) -> Json:
        """Serve `ops.rebuild`."""
        return await self._begin("rebuild", _EVERYTHING, params)

    async def reindex(self, params: protocol.RebuildParams) -> Json:
        """Serve `ops.reindex`."""
        return await self._begin("reindex", (Part.INDEX,), params)

    async def snapshots(self, params: protocol.RebuildParams) -> Json:
        """Serve `ops.snapshot.rebuild`."""
        return await self._begin("snapshots", (Part.SNAPSHOTS,), params)

    async def get(self, params: protocol.OperationParams) -> Json:
        """Serve `ops.operation.get`.

        Raises:
            NotFoundError: There is no operation of that id.
        """
        return _shape(await self._services.read(operations.get, params.operation_id))

    async def _begin(
        self, kind: str, parts: Collection[Part], params: protocol.RebuildParams
    ) -> Json:
        services = self._services
        begun = await services.write(
            "operation", operations.start, kind, params.owner, services.now()
        )
        services.loop.run_in_executor(
            services.operations, partial(self._work_off, begun, parts, dry_run=params.dry_run)
        )
        return _shape(begun)

    def _work_off(self, begun: Operation, parts: Collection[Part], *, dry_run: bool) -> None:
        """Do it; whatever goes wrong is told by the operation, and logged without text."""
        error = None
        try:
            told = self._services.rebuild.run(
                parts, begun.owner, dry_run=dry_run, told=partial(self._report, begun.id)
            )
            self._report(begun.id, told)
            failed = told.get(Part.RECORDS, {}).get("failed", 0)
            if failed:
                error = f"{failed} objects could not be made anew and stand as they did."
        except MemoryServiceError as fault:
            error = fault.message
        except BaseException as fault:  # noqa: BLE001 - the operation has to end, whatever happens
            error = describe(fault)
            log.error("operation %d failed: %s", begun.id, error)  # noqa: TRY400 - a trace could hold text
        writer = self._services.core.writer
        now = self._services.now()
        writer.call("operation", partial(operations.finish, begun.id, now, error=error))

    def _report(self, operation_id: int, told: Json) -> None:
        self._services.core.writer.call("operation", partial(operations.report, operation_id, told))


def _shape(found: Operation) -> Json:
    return {
        "operation_id": found.id,
        "kind": found.kind,
        "owner": found.owner,
        "state": found.state.value,
        "started_at": found.started_at,
        "finished_at": found.finished_at,
        "report": found.report,
        "error": found.error,
    }
