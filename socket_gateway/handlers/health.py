"""`health`: how the service is, and never ok while something is refused or stuck."""

import os
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from pipeline.observers.registry import Parts, account_of
from pipeline.rules.workdays import BEIJING
from socket_gateway import protocol
from socket_gateway.handlers.services import Services
from socket_gateway.limits import Counters
from storage.clock import SystemClock
from storage.repositories import forgetting, ledger, observer_batches, positions, stage_controls

Json = dict[str, Any]

CONSUMER_SILENCE_MS: Final = 5_000
STUCK_MS: Final = 120_000
INDEX_LAG: Final = 10_000
DISK_FREE: Final = 64 * 1024 * 1024


class Health:
    """Serves `health` from the first moment on; until the services are there it says `warming`.

    Args:
        version: The release.
        uptime_ms: Milliseconds since the process began.
        counters: The socket server's.
    """

    def __init__(
        self, version: str, uptime_ms: Callable[[], int], counters: Callable[[], Counters]
    ) -> None:
        self._version = version
        self._uptime_ms = uptime_ms
        self._counters = counters
        self._services: Services | None = None

    def ready(self, services: Services) -> None:
        """Look at the services from now on."""
        self._services = services

    async def __call__(self, params: protocol.Empty) -> Json:
        """Serve `health`."""
        del params
        services = self._services
        base = {"version": self._version, "uptime_ms": self._uptime_ms()}
        if services is None:
            return {"status": "degraded", "reasons": ["warming"], "dead": 0, "index_lag": 0, **base}
        looked = await services.read(_look, services)
        failing, reasons = _judge(looked, services)
        status = "failing" if failing else "degraded" if reasons else "ok"
        return {"status": status, "reasons": reasons + _notes(looked, services), **base, **looked}

    def connections(self) -> dict[str, int]:
        """The socket's counters."""
        counters = self._counters()
        return {name: int(getattr(counters, name)) for name in counters.__slots__}


def _look(services: Services) -> Json:
    settings = services.core.settings
    depth, scheduled, replaced = services.queue_state()
    at = positions.overall()
    now = services.now()
    oldest = ledger.oldest_due(now)
    return {
        "database": str(settings.paths.database),
        "queue": {
            "depth": depth,
            "scheduled": scheduled,
            "oldest_ms": 0 if oldest is None else max(0, now - oldest),
            "consumer_seen_ms": _consumer_seen_ms(services),
            "replaced": replaced,
        },
        "positions": {
            "received": at.received,
            "organized": at.organized,
            "published": at.published,
            "backlog": at.backlog,
            "dead": at.dead,
        },
        "dead": at.dead,
        "index_lag": services.follower.lag,
        "disk_free": _disk_free(settings.paths.state),
        "paused": sorted(stage_controls.paused()),
        "budget_until": _budget_until(services),
        "in_batches": observer_batches.out(),
        "forgetting": forgetting.under_way(),
    }


def _consumer_seen_ms(services: Services) -> int | None:
    """How long ago a consumer touched its beat: a file's time is the machine's, not the product's."""
    try:
        beat = services.core.settings.paths.consumer_beat.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return None
    return max(0, SystemClock().now_ms() - beat)


def _budget_until(services: Services) -> int | None:
    """Until when the model's budget is spent, None while some of it is left or no model is asked."""
    core = services.core
    if core.settings.observer.kind != "anthropic":
        return None
    return account_of(Parts(core.settings, core.clock, core.writer)).spent_until()


def _disk_free(path: os.PathLike[str]) -> int:
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


def _notes(looked: Json, services: Services) -> list[str]:
    """What is worth knowing though nothing is wrong with it now."""
    notes = []
    replaced = looked["queue"]["replaced"]
    if replaced:
        notes.append(f"the queue file was lost and made anew {replaced} times; no work was")
    if services.core.settings.clock.file is not None:
        notes.append("time comes from a file")
    if services.index_rebuilt is not None:
        notes.append(f"the index was built anew: {services.index_rebuilt}")
    erasing = [found for found in looked.pop("forgetting") if not found.remaining]
    if erasing:
        notes.append(f"still erasing what was forgotten: {len(erasing)} requests")
    waiting = looked.pop("in_batches")
    if waiting:
        notes.append(f"{waiting} packages wait for a message batch")
    return notes


def _held_up(looked: Json) -> list[str]:
    """What somebody, or a bound, keeps from going on."""
    reasons = [f"stage {stage} is paused" for stage in looked.pop("paused")]
    reasons += [
        f"forgetting {found.id} is blocked: {'; '.join(found.remaining)}"
        for found in looked["forgetting"]
        if found.remaining
    ]
    until = looked.pop("budget_until")
    if until is not None:
        at = datetime.fromtimestamp(until / 1000, BEIJING).isoformat(timespec="minutes")
        reasons.append(f"observer budget spent until {at}")
    return reasons


def _judge(looked: Json, services: Services) -> tuple[bool, list[str]]:
    """Whether the service fails at what it is for, and all that isn't as it should be."""
    queue = looked["queue"]
    seen = queue["consumer_seen_ms"]
    reasons = []
    writer = services.core.writer
    fault = writer.fault if writer.alive else "the writing thread has ended; restart the service"
    if fault is not None:
        reasons.append(f"writes are refused: {fault}")
    if looked["disk_free"] < DISK_FREE:
        reasons.append(f"only {looked['disk_free']} bytes are free on the disk")
    if seen is None or seen > CONSUMER_SILENCE_MS:
        reasons.append("no consumer is at work: start one, or look at its log")
    if queue["oldest_ms"] > STUCK_MS:
        reasons.append(f"a package has waited for {queue['oldest_ms'] // 1000} s")
    if looked["dead"]:
        reasons.append(f"{looked['dead']} events are parked: see ops.dead.list")
    reasons += _held_up(looked)
    if services.follower.fault is not None:
        reasons.append(f"the index can't follow: {services.follower.fault}")
    if looked["index_lag"] > INDEX_LAG:
        reasons.append(f"the index is {looked['index_lag']} entries behind")
    return fault is not None, reasons
