"""The composition root: where settings, clock, database, observer and queue meet.

`Core` is what every process that opens the database has; `WorkerRuntime` adds what a consumer
needs. The gateway builds its own on `Core`.
"""

import logging
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from playhouse.cysqlite_ext import CySqliteDatabase

from pipeline.maintenance.ageing import Ageing
from pipeline.observers.port import Observer
from pipeline.observers.registry import Parts, make_observer
from pipeline.rules.aging import Kept
from pipeline.rules.drafting import Bounds
from pipeline.rules.reviewing import ReviewTimes
from pipeline.runner import Policy, Runner, Work
from pipeline.settings import Settings
from pipeline.stages.contract import StageWork
from pipeline.stages.filter import Filter
from pipeline.stages.index import Index
from pipeline.stages.merge import Merge
from pipeline.stages.observe import Observe
from pipeline.stages.publish import Publish
from pipeline.sweeper import Sweeper, Ticker, Waits
from pipeline.text.redaction import Redactor
from pipeline.text.tokenise import BilingualTokenizer
from storage.clock import Clock, FileClock, SystemClock
from storage.database import open_database
from storage.errors import UnavailableError
from storage.faults import faults, kill_once, kill_this_process
from storage.migrations.registry import migrate
from storage.records.knowledge import FactClass, RecordKind
from storage.records.runs import Stage
from storage.writer import Writer

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Core:
    """The opened memory database with its one writer, and the clock of all product time."""

    settings: Settings
    clock: Clock
    database: CySqliteDatabase
    writer: Writer

    def close(self) -> None:
        """Commit what waits and close."""
        self.writer.close()
        self.database.close()


def make_clock(settings: Settings) -> Clock:
    """The clock that the settings name."""
    return FileClock(settings.clock.file) if settings.clock.file else SystemClock()


def arm_faults(settings: Settings) -> None:
    """Arm the fault points that the settings name, each as `point` or `point:nth pass`."""
    named = settings.faults.kill_at
    if not named:
        return
    folder = settings.faults.once_folder
    for part in named.split(","):
        point, _, nth = part.partition(":")
        action = partial(kill_once, folder / point) if folder else kill_this_process
        faults.arm(point, nth=int(nth or 1), action=action)
    log.warning("the process will kill itself at %s", named)


def open_core(
    settings: Settings, deliver: Callable[[Callable[[], None]], object] | None = None
) -> Core:
    """Open the memory database, bring it up to date and start its writer.

    Args:
        settings: Where it lies.
        deliver: How the writer's results get back; see `Writer`.

    Raises:
        ForeignDatabaseError: The database is not this service's.
        OldSqliteError: The SQLite library is too old.
        UnavailableError: The file can't be opened.
    """
    try:
        settings.paths.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(
            f"{settings.paths.state} can't be made: {error.strerror}. Set DESKPAW_STATE_DIR to a"
            " folder of your own."
        ) from error
    clock = make_clock(settings)
    database = open_database(settings.paths.database)
    migrate(clock)
    arm_faults(settings)
    lock = settings.paths.write_lock
    writer = Writer(database, lock, deliver) if deliver else Writer(database, lock)
    return Core(settings, clock, database, writer)


def make_policy(settings: Settings, observer: Observer) -> Policy:
    """Leases and attempts as the settings and the observer have them."""
    bounds = settings.pipeline
    return Policy(
        lease_ms=bounds.lease_ms,
        hard_ms=bounds.lease_hard_ms,
        attempts=bounds.attempts,
        backoff_ms=bounds.backoff_ms,
        cap_ms=bounds.backoff_cap_ms,
        batch=observer.batch,
        concurrency=settings.observer.concurrency,
        observes=observer.ready,
    )


def make_redactor(settings: Settings) -> Redactor:
    """The redactor that the settings ask for."""
    return Redactor(cache_dir=settings.paths.cache / "kingfisher", phones=settings.redaction.phones)


def make_observe(core: Core, redactor: Redactor) -> Observe:
    """The *observe* stage with the configured observer."""
    settings = core.settings
    return Observe(
        make_observer(Parts(settings, core.clock, core.writer)),
        # Proposals are written by models, so hidden reasoning may stand in them unclosed.
        partial(redactor.has_secret, by_model=True),
        core.clock,
        budget=settings.pipeline.package_tokens,
        review=make_review_times(settings),
    )


def make_review_times(settings: Settings) -> ReviewTimes:
    """After how long records of each kind are looked at again."""
    days = settings.review
    return ReviewTimes(
        environment=days.environment_days,
        project=days.project_days,
        profile=days.profile_days,
        preference=days.preference_days,
        rule=days.rule_days,
        correction=days.correction_days,
        procedure=days.procedure_days,
    )


def make_ageing(core: Core) -> Ageing:
    """The ageing sweep, with how long the settings keep each kind."""
    days = core.settings.retention
    classes = {
        FactClass.ENVIRONMENT: days.environment_days,
        FactClass.PROJECT: days.project_days,
        FactClass.PROFILE: days.profile_days,
    }
    kinds = {
        RecordKind.PREFERENCE: days.preference_days,
        RecordKind.RULE: days.rule_days,
        RecordKind.CORRECTION: days.correction_days,
        RecordKind.PROCEDURE: days.procedure_days,
        RecordKind.EPISODE: days.episode_days,
        RecordKind.CUE: days.cue_days,
    }
    kept = [Kept(RecordKind.FACT, fact_class, number) for fact_class, number in classes.items()]
    kept += [Kept(kind, None, number) for kind, number in kinds.items()]
    return Ageing(core.writer, kept, days.sweep_ms)


def make_publish(core: Core) -> Publish:
    """The *publish* stage with the budgets that the settings name."""
    return Publish(
        core.clock,
        object_tokens=core.settings.snapshot.object_tokens,
        core_tokens=core.settings.snapshot.core_tokens,
    )


def make_runner(core: Core, tokenizer: BilingualTokenizer, observe: Observe) -> Runner:
    """The runner with its filter and stages."""
    settings = core.settings
    bounds = settings.pipeline
    filtering = Filter(
        tokenizer,
        core.clock,
        Bounds(bounds.package_age_ms, bounds.package_events, bounds.package_tokens),
        batch=bounds.filter_batch,
        call_wait_ms=bounds.call_wait_ms,
    )
    publish = make_publish(core)
    stages: dict[Stage, StageWork] = {
        work.stage: work for work in (observe, Merge(core.clock), Index(tokenizer), publish)
    }
    # Jitter spreads retries; nothing secret hangs on it.
    jitter = random.random
    policy = make_policy(settings, observe.observer)
    return Runner(filtering, stages, core.writer, core.clock, policy, jitter)


class WorkerRuntime:
    """What a consumer process runs on: built in its start-up hook, closed in its shutdown hook.

    Args:
        settings: The process's settings.
        wake: Puts a wake-up on the queue.
    """

    def __init__(self, settings: Settings, wake: Callable[[Work], None]) -> None:
        self.core = open_core(settings)
        self._stop = threading.Event()
        tokenizer = BilingualTokenizer(settings.paths.cache)
        observe = make_observe(self.core, make_redactor(settings))
        self.runner = make_runner(self.core, tokenizer, observe)
        sweeper = Sweeper(
            self.runner,
            self.core.writer,
            self.core.clock,
            wake,
            policy=make_policy(settings, observe.observer),
            waits=Waits(settings.pipeline.call_wait_ms, settings.recall.keep_ms),
            age=make_ageing(self.core).sweep,
        )
        self._ticker = Ticker(sweeper, settings.paths.consumer_beat, self._stop)
        self._ticker.start()
        log.info("worker ready: observer %s", observe.observer.name)

    def close(self) -> None:
        """Stop ticking, commit what waits and close the database."""
        self._stop.set()
        self._ticker.join()
        self.core.close()
