"""What operators see and do: the ledger, dead letters, pausing stages, flushing."""

import asyncio
from typing import Any

from pipeline.runner import Work
from socket_gateway import protocol, shapes
from socket_gateway.handlers.health import Health
from socket_gateway.handlers.memory import page
from socket_gateway.handlers.services import Services, told
from storage.errors import NotFoundError
from storage.records.runs import DeadLetter, PackageState, Stage
from storage.repositories import dead_letters, ledger, positions, stage_controls

Json = dict[str, Any]


class Operators:
    """Serves `ops.*`."""

    def __init__(self, services: Services, health: Health) -> None:
        self._services = services
        self._health = health

    async def status(self, params: protocol.Empty) -> Json:
        """Serve `ops.status`."""
        health = await self._health(params)
        ledger_view = await self._services.read(_ledger_view)
        return {"health": health, "connections": self._health.connections(), **ledger_view}

    async def flush(self, params: protocol.FlushParams) -> Json:
        """Serve `ops.flush`: what is received is filtered first, so that it is closed too."""
        services = self._services
        await services.loop.run_in_executor(services.slow, told, self._filter_all)
        closed = await services.write("close", ledger.flush, params.owner)
        services.wake(Work.ADVANCE)
        return {"closed": closed}

    def _filter_all(self) -> None:
        while self._services.runner.filter_events():
            pass

    def packages(self, params: protocol.PackageListParams) -> "asyncio.Future[Json]":
        """Serve `ops.packages`."""
        return self._services.read(_packages, params)

    def dead(self, params: protocol.PageParams) -> "asyncio.Future[Json]":
        """Serve `ops.dead.list`."""
        return self._services.read(_dead, params)

    async def requeue(self, params: protocol.RequeueParams) -> Json:
        """Serve `ops.dead.requeue`.

        Raises:
            NotFoundError: One of the ids is no dead letter; nothing was changed.
        """
        changed = await self._services.write("operator", _requeue, params.ids)
        self._services.wake(Work.ADVANCE)
        return {"ids": changed}

    def discard(self, params: protocol.DiscardParams) -> "asyncio.Future[Json]":
        """Serve `ops.dead.discard`.

        Raises:
            NotFoundError: One of the ids is no dead letter; nothing was changed.
        """
        return self._services.write("operator", _discard, params.ids)

    def pause(self, params: protocol.StageParams) -> "asyncio.Future[Json]":
        """Serve `ops.stage.pause`."""
        return self._services.write("operator", _pause, Stage(params.stage), self._services.now())

    async def resume(self, params: protocol.StageParams) -> Json:
        """Serve `ops.stage.resume`."""
        answer = await self._services.write("operator", _resume, Stage(params.stage))
        self._services.wake(Work.FILTER)
        return answer


def _ledger_view() -> Json:
    return {
        "stages": ledger.counts(),
        "paused": stage_controls.paused(),
        "owners": positions.owners(),
    }


def _packages(params: protocol.PackageListParams) -> Json:
    states = [PackageState(params.state)] if params.state else list(PackageState)
    found = ledger.listing(states, after=params.after, limit=params.limit + 1)
    return page([shapes.package(item) for item in found], params.limit)


def _dead(params: protocol.PageParams) -> Json:
    found = ledger.listing([PackageState.DEAD], after=params.after, limit=params.limit + 1)
    letters = [
        DeadLetter(
            package,
            package.error or "",
            dead_letters.parked_at(package.id),
            ledger.event_ids(package.id),
        )
        for package in found[: params.limit]
    ]
    more = len(found) > params.limit
    return {
        "items": [shapes.dead_letter(letter) for letter in letters],
        "next": letters[-1].package.id if more else None,
    }


def _requeue(ids: list[int] | None) -> list[int]:
    if ids is not None:
        _check_dead(ids)
    return dead_letters.requeue(ids)


def _discard(ids: list[int]) -> Json:
    _check_dead(ids)
    return {"ids": dead_letters.discard(ids)}


def _check_dead(ids: list[int]) -> None:
    """All or nothing: an id that is no dead letter is a mistake worth stopping at."""
    for package_id in ids:
        package = ledger.get(package_id)
        if package is None or package.state is not PackageState.DEAD:
            raise NotFoundError(
                f"Package {package_id} is no dead letter; nothing was changed.",
                details={"package_id": package_id},
            )


def _pause(stage: Stage, now: int) -> Json:
    stage_controls.pause(stage, now)
    return {"paused": stage_controls.paused()}


def _resume(stage: Stage) -> Json:
    stage_controls.resume(stage)
    return {"paused": stage_controls.paused()}
