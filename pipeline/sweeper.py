"""The ticker and its sweeper: what makes the ledger, not the queue, decide what is done next.

Each second one read of due work, then wake-ups. Expired leases are given back, packages close by
age, leases under work here are renewed (spec: design, Periodic work).
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipeline.runner import Policy, Runner, Work, describe
from storage.clock import Clock
from storage.errors import MemoryServiceError
from storage.records.runs import Package, Stage
from storage.repositories import intake, ledger, recalls, stage_controls
from storage.writer import Writer

log = logging.getLogger(__name__)

TICK_S: Final = 1.0
TIDY_MS: Final = 3_600_000


class LeaseExpiredError(MemoryServiceError):
    """The worker did not come back before its lease ended."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long, in milliseconds, a call waits for its result, and a recall's result is kept."""

    call_ms: int = 900_000
    recall_ms: int = 7 * 86_400_000


class Sweeper:
    """Finds lost and due work.

    Args:
        runner: Whose leases are renewed, and who notes failures.
        writer: The process's writer.
        clock: What is due.
        wake: Called with what there is to do.
        policy: The runner's.
        waits: How long things are waited for and kept.
        age: Given the time: ends the records that are due to end.
    """

    def __init__(  # noqa: PLR0913 - one for each thing that a tick looks after
        self,
        runner: Runner,
        writer: Writer,
        clock: Clock,
        wake: Callable[[Work], None],
        *,
        policy: Policy,
        waits: Waits,
        age: Callable[[int], object],
    ) -> None:
        self._runner = runner
        self._writer = writer
        self._clock = clock
        self._wake = wake
        self._policy = policy
        self._waits = waits
        self._age = age
        self._next_tidy = 0

    def sweep(self) -> None:
        """One look at the ledger. Writes only where there is something to write."""
        now = self._clock.now_ms()
        self._renew(now)
        for package in ledger.expired(now):
            self._give_back(package)
        if ledger.has_closable(now):
            self._writer.call("close", lambda: ledger.close_due(now))
        if intake.behind() or intake.overdue_calls(now - self._waits.call_ms):
            self._wake(Work.FILTER)
        due = set(ledger.due(now))
        if Stage.OBSERVE in due and not self._policy.observes():
            due.discard(Stage.OBSERVE)
        if due - {Stage(stage) for stage in stage_controls.paused()}:
            self._wake(Work.ADVANCE)
        self._tidy(now)
        self._age(now)

    def _give_back(self, package: Package) -> None:
        try:
            self._runner.fail(package, LeaseExpiredError())
        except Exception as error:  # noqa: BLE001 - one package must not keep the others waiting
            log.error("package %d: not given back: %s", package.id, describe(error))  # noqa: TRY400 - a trace could hold text

    def _tidy(self, now: int) -> None:
        """Once an hour drop recall results that are past their time."""
        if now < self._next_tidy:
            return
        self._next_tidy = now + TIDY_MS
        oldest = now - self._waits.recall_ms
        if recalls.any_before(oldest):
            self._writer.call("recall", lambda: recalls.forget_before(oldest))

    def _renew(self, now: int) -> None:
        held = list(self._runner.held.items())
        if held and ledger.any_near_end(held, now + self._policy.lease_ms // 2):
            self._writer.call(
                "renew", lambda: ledger.renew(held, until=now + self._policy.lease_ms)
            )


class Ticker:
    """One thread that sweeps each second and touches a file that says the consumer is alive."""

    def __init__(self, sweeper: Sweeper, beat: Path, stop: threading.Event) -> None:
        self._sweeper = sweeper
        self._beat = beat
        self._stop = stop
        self._thread = threading.Thread(target=self._run, name="ticker", daemon=True)

    def start(self) -> None:
        """Begin ticking."""
        self._thread.start()

    def join(self) -> None:
        """Wait until the thread has seen the stop event."""
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._beat.touch(mode=0o600)
                self._sweeper.sweep()
            except Exception as error:  # noqa: BLE001 - one bad second must not end all later ones
                log.error("a sweep failed: %s", describe(error))  # noqa: TRY400 - a trace could hold text
            self._stop.wait(TICK_S)
