"""The runner: claims packages, computes a stage, and commits its output with the ledger row.

It alone opens transactions and moves the ledger. A package goes on to its next stage in the same
call, so that the queue's polling is paid once (spec: design, Facts behind the choices).
"""

import logging
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Final

from pipeline.errors import LostRaceError
from pipeline.observers.port import ObserverFault
from pipeline.rules.grouping import split_at
from pipeline.stages.contract import StageWork
from pipeline.stages.filter import Filter
from storage.clock import Clock
from storage.database import as_service_error, database, is_refusal
from storage.errors import DiskFullError, MemoryServiceError, UnavailableError
from storage.records.runs import FaultKind, Package, Stage
from storage.repositories import intake, ledger, packages, stage_controls
from storage.writer import Writer

log = logging.getLogger(__name__)

RACE_TRIES: Final = 20
"""How often lost races are tried again at once; a twentieth loss is left to the next wake-up."""

_PAIR: Final = 2
SPLIT_AFTER: Final = 3
"""Content faults after which a package of several events is split to find the poison event."""

MAX_PASSES: Final = 4
MAX_CLAIMS: Final = 4
"""How much a call does before it comes back: a drain waits for it."""

BUILT_IN: Final = "built-in"


class Work(StrEnum):
    """What a wake-up asks for."""

    FILTER = "filter"
    ADVANCE = "advance"


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Policy:
    """Leases and attempts. Durations in milliseconds.

    `batch` is how many packages a claim takes at once, `concurrency` how many observations may be
    under way; while `observes` says no, nothing is claimed for the observer.
    """

    lease_ms: int = 60_000
    hard_ms: int = 600_000
    attempts: int = 8
    backoff_ms: int = 2_000
    cap_ms: int = 600_000
    batch: int = 32
    concurrency: int = 1
    observes: Callable[[], bool] = _always


class Runner:
    """Works packages off.

    Args:
        filtering: The filter, for events that are in no package yet.
        stages: The work of each stage.
        writer: The process's writer.
        clock: When leases end and attempts are due.
        policy: Leases and attempts.
        jitter: A random number in [0, 1) for each backoff.
    """

    def __init__(
        self,
        filtering: Filter,
        stages: Mapping[Stage, StageWork],
        writer: Writer,
        clock: Clock,
        policy: Policy,
        jitter: Callable[[], float],
    ) -> None:
        self._filter = filtering
        self._stages = stages
        self._writer = writer
        self._clock = clock
        self._policy = policy
        self._jitter = jitter
        self._guard = threading.Lock()
        self._filtering: set[str] = set()
        self.held: dict[int, int] = {}
        """Packages under work here, by id, with their fence: what the ticker renews."""

    # ---- filter ------------------------------------------------------------

    def filter_events(self) -> int:
        """Pass over all owners' new events, a few times each; how many passes there were.

        Bounded, so that a task ends soon after it is asked to: call again while it did something.
        """
        if self._is_paused(Stage.FILTER):
            return 0
        now = self._clock.now_ms()
        owners = dict.fromkeys([owner for owner, _ in intake.behind()])
        owners |= dict.fromkeys(self._filter.overdue_owners(now))
        return sum(self._filter_owner(owner) for owner in owners)

    def _filter_owner(self, owner: str) -> int:
        """Pass over one owner's events, unless another thread of this process is at it."""
        with self._guard:
            if owner in self._filtering:
                return 0
            self._filtering.add(owner)
        try:
            return self._passes(owner)
        finally:
            with self._guard:
                self._filtering.discard(owner)

    def _passes(self, owner: str) -> int:
        passes = lost = 0
        while lost < RACE_TRIES and passes < MAX_PASSES:
            work = self._filter.compute(owner)
            if work is None:
                return passes
            try:
                self._writer.call(
                    "filter", partial(self._filter.apply, work), rows=len(work.events)
                )
                passes += 1
            except LostRaceError:
                lost += 1
        return passes

    def _is_paused(self, stage: Stage) -> bool:
        return stage_controls.is_paused(stage)

    # ---- packages ----------------------------------------------------------

    def advance(self) -> int:
        """Work off packages that are due, a few claims of them; how many claims there were.

        Bounded, so that a task ends soon after it is asked to: call again while it did something.
        """
        claims = 0
        while claims < MAX_CLAIMS and (claimed := self._claim_any()):
            claims += 1
            try:
                self._run(claimed)
            finally:
                self._let_go(claimed)
        return claims

    def _let_go(self, claimed: Sequence[Package]) -> None:
        """Renew these no longer, unless another thread holds them by now."""
        for package in claimed:
            if self.held.get(package.id) == package.fence:
                del self.held[package.id]

    def _claim_any(self) -> list[Package]:
        """Claim from the last stage backwards, so that what is begun gets finished first."""
        due = ledger.due(self._clock.now_ms())
        for stage in reversed(Stage):
            if stage not in due or (stage is Stage.OBSERVE and not self._policy.observes()):
                continue
            claimed = self._claim(stage)
            if claimed:
                return claimed
        return []

    def _claim(self, stage: Stage) -> list[Package]:
        wanted = ledger.Claim(
            stage=stage,
            now=self._clock.now_ms(),
            lease_ms=self._policy.lease_ms,
            hard_ms=self._policy.hard_ms,
            limit=self._policy.batch,
            by=BUILT_IN,
            concurrency=self._policy.concurrency if stage is Stage.OBSERVE else None,
        )
        claimed = self._writer.call("claim", lambda: ledger.claim(wanted))
        self.held.update({package.id: package.fence for package in claimed})
        return claimed

    def _run(self, claimed: Sequence[Package]) -> None:
        """Take packages of one stage through it and all that follow."""
        under_way = list(claimed)
        while under_way:
            stage = under_way[0].stage
            if self._is_paused(stage):
                self._writer.call("fail", partial(_release, under_way))
                return
            under_way = self._run_stage(stage, under_way)

    def _run_stage(self, stage: Stage, claimed: Sequence[Package]) -> list[Package]:
        work = self._stages[stage]
        after: list[Package] = []
        left = list(claimed)
        for _ in range(RACE_TRIES):
            computed = work.compute(left)
            sound = [p for p in left if not isinstance(computed[p.id], Exception)]
            for package in left:
                if isinstance(computed[package.id], Exception):
                    self.fail(package, computed[package.id])
            if not sound:
                return after
            done, left, failed = self._commit(work, sound, computed)
            after += done
            for package, error in failed:
                self.fail(package, error)
            if not left:
                return after
        for package in left:
            self.fail(package, LostRaceError("The object changed again and again."))
        return after

    def _commit(
        self, work: StageWork, sound: Sequence[Package], computed: Mapping[int, Any]
    ) -> tuple[list[Package], list[Package], list[tuple[Package, Exception]]]:
        """One transaction for all of them: each package's output with its ledger row.

        Returns:
            The packages that go on, those that lost a race, and those that failed.
        """
        try:
            outcomes = self._writer.call(
                work.stage.value,
                lambda: [self._apply(work, p, computed[p.id]) for p in sound],
                rows=len(sound),
            )
        except MemoryServiceError as error:
            return [], [], [(package, error) for package in sound]
        on: list[Package] = []
        lost: list[Package] = []
        failed: list[tuple[Package, Exception]] = []
        for package, outcome in zip(sound, outcomes, strict=True):
            if isinstance(outcome, LostRaceError):
                lost.append(package)
            elif isinstance(outcome, Exception):
                failed.append((package, outcome))
            elif outcome is not None and outcome.stage is not package.stage:
                on.append(outcome)
        return on, lost, failed

    def _apply(
        self, work: StageWork, package: Package, computed: Any
    ) -> Package | Exception | None:
        """Apply one package in a savepoint; None when its lease has passed to another."""
        if not ledger.holds(package):
            log.info("package %d: lease passed on, nothing changed", package.id)
            return None
        now = self._clock.now_ms()
        try:
            with database.savepoint():
                applied = work.apply(package, computed, now)
                return ledger.advance(
                    package, now=now, answer=applied.answer, nothing=applied.nothing
                )
        except Exception as error:
            if is_refusal(error):
                raise
            # Told to the ledger; the other packages go on.
            return error

    # ---- failure -----------------------------------------------------------

    def fail(
        self, package: Package, error: Exception, *, retry_after_ms: int | None = None
    ) -> int | None:
        """Note a failure: back off, split to find the poison event, or park.

        Args:
            package: A leased package.
            error: What it failed with; type and place are kept, never its text.
            retry_after_ms: A wait that whoever failed has asked for; the error's own when not given.

        Returns:
            When the next attempt is due, epoch milliseconds; 0 when it was parked or split; None
            when the lease has passed to another, and then nothing was changed.
        """
        if is_refusal(error):
            error = as_service_error(error)
        kind = fault_kind(error)
        now = self._clock.now_ms()
        if retry_after_ms is None and isinstance(error, MemoryServiceError):
            retry_after_ms = error.retry_after_ms
        wait = max(self.backoff(package.attempt), retry_after_ms or 0)
        outcome, due = self._decide(package, error, kind, now=now, wait=wait)
        changed = self._writer.call("fail", outcome.write)
        if not changed:
            log.info("package %d: lease passed on, nothing changed", package.id)
            return None
        # What it failed with stands in the ledger: a worker's words are the user's text.
        log.warning("package %d: %s (%s); %s", package.id, type(error).__name__, kind, outcome.told)
        return due

    def _decide(
        self, package: Package, error: Exception, kind: FaultKind, *, now: int, wait: int
    ) -> tuple["_Outcome", int]:
        """What becomes of a package that has failed, and when it is due again."""
        told = describe(error)
        if isinstance(error, DiskFullError | UnavailableError):
            # No package's fault: it comes back however long the disk stays full.
            release = partial(ledger.release, package, next_attempt_at=now + wait)
            return _Outcome(f"given back for {wait} ms", release), now + wait
        failures = package.attempt + 1
        if kind is FaultKind.CONTENT and failures >= SPLIT_AFTER:
            at = self._splits_at(package)
            if at is not None:
                split = partial(ledger.split, package, at=at, attempt=1, next_attempt_at=now)
                return _Outcome("split in two", split), 0
        if failures >= self._policy.attempts:
            park = partial(ledger.park, package, now=now, kind=kind, error=told)
            return _Outcome("parked as a dead letter", park), 0
        back_off = partial(
            ledger.back_off, package, next_attempt_at=now + wait, kind=kind, error=told
        )
        return _Outcome(f"next attempt in {wait} ms", back_off), now + wait

    def _splits_at(self, package: Package) -> int | None:
        """Where a package may be split; None where it holds together, or has had its effect."""
        if package.events < _PAIR or package.stage not in {Stage.OBSERVE, Stage.MERGE}:
            return None
        return split_at([item.event for item in packages.events_of(package)])

    def backoff(self, failures: int) -> int:
        """Milliseconds to wait after so many failures: exponential, capped, full jitter."""
        ceiling = min(self._policy.cap_ms, self._policy.backoff_ms * 2 ** min(failures, 30))
        return int(ceiling * self._jitter()) + 1


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What becomes of a package that has failed: in words, and as the write that is true when done."""

    told: str
    write: Callable[[], object]


def _release(claimed: Sequence[Package]) -> None:
    for package in claimed:
        ledger.release(package)


def fault_kind(error: Exception) -> FaultKind:
    """Whether trying again as it is may help."""
    if isinstance(error, ObserverFault):
        return error.kind
    passing = isinstance(error, LostRaceError) or (
        isinstance(error, MemoryServiceError) and error.code.retryable
    )
    return FaultKind.TRANSIENT if passing else FaultKind.CONTENT


def describe(error: BaseException) -> str:
    """An error's type and place; its own text only where the service has written it."""
    if isinstance(error, MemoryServiceError):
        return f"{type(error).__name__}: {error.message}"
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
