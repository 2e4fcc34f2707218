"""A ledger with a runner whose stages do as they are told; the database is real."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pipeline.observers.port import ObserverFault
from pipeline.rules.drafting import Bounds
from pipeline.runner import Policy, Runner
from pipeline.stages.contract import Applied
from pipeline.stages.filter import Filter
from pipeline.text.tokenise import Terms
from storage.clock import ManualClock
from storage.database import database, open_database
from storage.migrations.registry import migrate
from storage.records.events import Event, Role
from storage.records.runs import FaultKind, Package, Stage
from storage.repositories import events, ledger
from storage.writer import Writer

STAGES: Final = (Stage.OBSERVE, Stage.MERGE, Stage.INDEX, Stage.PUBLISH)


class SpaceTokenizer:
    """Cuts at spaces: what is found how is no matter here."""

    version = 1

    def warm(self) -> None:
        """Nothing to load."""

    def index(self, text: str, *, at_ms: int | None = None) -> Terms:
        """The words."""
        del at_ms
        return Terms(tuple(text.split()), ())

    def query(self, text: str, *, now_ms: int | None = None) -> Terms:
        """The words."""
        del now_ms
        return Terms(tuple(text.split()), ())


class ScriptedStage:
    """A stage that does nothing, unless the test says what it does."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.computed: list[int] = []
        self.applied: list[int] = []
        self.on_compute: Callable[[Package], object] = lambda _: None
        self.on_apply: Callable[[Package], object] = lambda _: None

    def compute(self, claimed: Sequence[Package]) -> Mapping[int, Any]:
        """Each package's result, or what it raised."""
        made: dict[int, Any] = {}
        for package in claimed:
            self.computed.append(package.id)
            try:
                made[package.id] = self.on_compute(package)
            except Exception as error:  # noqa: BLE001 - as the contract wants it
                made[package.id] = error
        return made

    def apply(self, package: Package, computed: Any, now: int) -> Applied:
        """Note it."""
        del computed, now
        self.on_apply(package)
        self.applied.append(package.id)
        return Applied({"by": package.fence})


class Line:
    """A database with a writer, a clock, four scripted stages and a runner over them."""

    def __init__(self, folder: Path, **policy: Any) -> None:
        self.clock = ManualClock()
        self.database = open_database(folder / "memory.sqlite3")
        migrate(self.clock)
        self.writer = Writer(self.database, folder / "lock")
        self.stages = {stage: ScriptedStage(stage) for stage in STAGES}
        self.jitter = 0.0
        self.policy = Policy(**policy)
        self.runner = self.another()
        self._ids = 0

    def another(self) -> Runner:
        """A second runner on the same ledger, as another worker thread or process has it."""
        filtering = Filter(SpaceTokenizer(), self.clock, Bounds(), batch=500, call_wait_ms=900_000)
        return Runner(
            filtering, self.stages, self.writer, self.clock, self.policy, lambda: self.jitter
        )

    def close(self) -> None:
        """Close what was opened."""
        self.writer.close()
        self.database.close()

    def receive(
        self, *texts: str, owner: str = "local", role: Role = Role.USER, **more: Any
    ) -> None:
        """Store events as ingest does."""
        new = []
        for text in texts:
            self._ids += 1
            kind = "user.message" if role is Role.USER else "executor.observation"
            event = Event(owner, f"e{self._ids}", kind, self._ids, role, text=text, **more)
            new.append(events.NewEvent(event, b"x", "r", self.clock.now_ms()))
        self.writer.call("ingest", lambda: events.insert(new, events.last_seq() + 1))

    def ready(self, *texts: str, **more: Any) -> int:
        """One ready package of these texts; its id."""
        self.receive(*texts, **more)
        self.runner.filter_events()
        self.writer.call("close", lambda: ledger.flush(None))
        return int(self.rows("SELECT max(id) FROM package")[0][0])

    def package(self, package_id: int) -> Package:
        """A package as it stands."""
        found = ledger.get(package_id)
        assert found is not None
        return found

    def claim(self, stage: Stage = Stage.OBSERVE, **more: Any) -> list[Package]:
        """Claim as somebody else would."""
        terms: dict[str, Any] = {"lease_ms": 1_000, "hard_ms": 600_000, "by": "other", "limit": 10}
        wanted = ledger.Claim(stage=stage, now=self.clock.now_ms(), **terms | more)
        return self.writer.call("claim", lambda: ledger.claim(wanted))

    @staticmethod
    def rows(sql: str, *values: object) -> list[Any]:
        """What a query finds."""
        return list(database.execute_sql(sql, values).fetchall())


def content_fault(_: Package) -> object:
    """Fail as a package does that can't be read."""
    raise ValueError("a private text")


def passing_fault(_: Package) -> object:
    """Fail as a model does that does not answer."""
    raise ObserverFault(FaultKind.TRANSIENT, "no answer")
