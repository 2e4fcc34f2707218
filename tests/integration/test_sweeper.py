"""The sweeper and its ticker: what decides what is done next, with the queue or without."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.runner import Policy, Work
from pipeline.sweeper import Sweeper, Ticker, Waits
from storage.errors import MemoryServiceError
from storage.records.runs import PackageState, Stage
from storage.repositories import ledger, recalls, stage_controls
from storage.repositories.recalls import StoredRecall
from tests.pipeline_support import Line

pytestmark = pytest.mark.integration

PATIENCE_S = 20.0


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    """A line with short leases."""
    made = Line(tmp_path, lease_ms=60_000, hard_ms=600_000)
    yield made
    made.close()


def sweep(line: Line, **policy: Any) -> list[Work]:
    """One look at the ledger; what it wakes."""
    woken: list[Work] = []
    sweeper = Sweeper(
        line.runner, line.writer, line.clock, woken.append,
        policy=Policy(**policy) if policy else line.policy, waits=Waits(), age=lambda _now: 0,
    )  # fmt: skip
    sweeper.sweep()
    return woken


def test_nothing_to_do_wakes_nobody_and_writes_nothing(line: Line) -> None:
    """An idle service is left alone by its sweeper."""
    line.ready("一")
    line.runner.advance()
    before = line.rows("PRAGMA data_version")
    assert sweep(line) == []
    assert line.rows("PRAGMA data_version") == before


def test_new_events_wake_the_filter(line: Line) -> None:
    """Events whose wake-up was lost are found a second later."""
    line.receive("一")
    assert sweep(line) == [Work.FILTER]


def test_a_due_package_wakes_the_worker(line: Line) -> None:
    """A ready package is found, one that waits for its next attempt only when it is due."""
    line.ready("一")
    assert sweep(line) == [Work.ADVANCE]
    (package,) = line.claim(lease_ms=60_000)
    assert sweep(line) == []
    line.runner.fail(package, ValueError(), retry_after_ms=5_000)
    assert sweep(line) == []
    line.clock.advance(5_000)
    assert sweep(line) == [Work.ADVANCE]


def test_an_overdue_call_wakes_the_filter(line: Line) -> None:
    """A call that has waited for 15 minutes is looked after without a new event."""
    line.receive("提交")
    line.rows("UPDATE event SET kind = 'executor.call', role = 'executor'")
    line.runner.filter_events()
    line.clock.advance(899_999)
    assert sweep(line) == []
    line.clock.advance(1)
    assert sweep(line) == [Work.FILTER]


@pytest.mark.parametrize("stage", [Stage.OBSERVE, Stage.MERGE])
def test_a_paused_stage_wakes_nobody(line: Line, stage: Stage) -> None:
    """Packages at a paused stage are not due; resumed, they are."""
    package_id = line.ready("一")
    line.rows("UPDATE package SET stage = ? WHERE id = ?", stage.value, package_id)
    line.writer.call("operator", lambda: stage_controls.pause(stage, 1))
    assert sweep(line) == []
    line.writer.call("operator", lambda: stage_controls.resume(stage))
    assert sweep(line) == [Work.ADVANCE]


def test_outside_work_wakes_nobody(line: Line) -> None:
    """Under an outside observer a package at *observe* waits for it, later stages do not."""
    package_id = line.ready("一")
    assert sweep(line, observes=lambda: False) == []
    line.rows("UPDATE package SET stage = 'merge' WHERE id = ?", package_id)
    assert sweep(line, observes=lambda: False) == [Work.ADVANCE]


# ---- closing by age --------------------------------------------------------


def test_packages_close_when_their_time_is_over(line: Line) -> None:
    """30 s after it was opened a package is ready, at the same look."""
    line.receive("一")
    line.runner.filter_events()
    line.clock.advance(29_999)
    assert sweep(line) == []
    line.clock.advance(1)
    assert sweep(line) == [Work.ADVANCE]
    assert line.rows("SELECT state, closed_by FROM package") == [("ready", "age")]


def test_a_clock_set_back_closes_nothing_early_and_loses_nothing(line: Line) -> None:
    """With the clock an hour back packages wait, and go on when their time has come again."""
    line.receive("一")
    line.runner.filter_events()
    line.clock.advance(-3_600_000)
    assert sweep(line) == []
    line.clock.advance(3_600_000 + 30_000)
    assert sweep(line) == [Work.ADVANCE]


# ---- leases ----------------------------------------------------------------


def test_an_expired_lease_is_taken_back(line: Line) -> None:
    """A package whose worker did not come back is ready again, with a failure counted."""
    package_id = line.ready("一")
    line.claim(lease_ms=60_000)
    line.clock.advance(60_000)
    sweep(line)
    assert line.package(package_id).state is PackageState.LEASED
    line.clock.advance(1)
    sweep(line)
    found = line.package(package_id)
    assert (found.state, found.attempt) == (PackageState.READY, 1)
    assert found.error is not None
    assert found.error.startswith("LeaseExpiredError")


def test_leases_under_work_are_renewed_up_to_their_hard_end(line: Line) -> None:
    """A runner's own leases are lengthened while it works, but none lives for ever."""
    package_id = line.ready("一")
    (package,) = line.claim(lease_ms=60_000, hard_ms=150_000)
    line.runner.held[package.id] = package.fence
    began = line.clock.now_ms()
    ends = []
    for _ in range(8):
        line.clock.advance(20_000)
        sweep(line)
        until = line.package(package_id).lease_until
        if until is None:
            break
        ends.append(until - began)
    assert max(ends) == 150_000
    assert ends == sorted(ends)
    assert line.package(package_id).state is PackageState.READY


def test_a_lease_with_time_left_is_not_written(line: Line) -> None:
    """A lease is renewed when half of it is over, not with every look."""
    package_id = line.ready("一")
    (package,) = line.claim(lease_ms=60_000, hard_ms=600_000)
    line.runner.held[package.id] = package.fence
    line.clock.advance(10_000)
    sweep(line)
    assert line.package(package_id).lease_until == package.lease_until
    line.clock.advance(25_000)
    sweep(line)
    assert line.package(package_id).lease_until == line.clock.now_ms() + 60_000


def test_another_workers_lease_is_not_renewed(line: Line) -> None:
    """A package that has passed on is not kept alive by whoever had it before."""
    package_id = line.ready("一")
    (mine,) = line.claim(lease_ms=60_000)
    line.runner.held[mine.id] = mine.fence
    line.writer.call("fail", lambda: ledger.release(mine))
    (theirs,) = line.claim(lease_ms=60_000)
    line.clock.advance(50_000)
    sweep(line)
    assert line.package(package_id).lease_until == theirs.lease_until


def test_a_day_forward_brings_everything_back(line: Line) -> None:
    """After a jump of the clock no lease is left alive, and the work is done."""
    ids = [line.ready("一", stream=f"s{n}") for n in range(3)]
    line.claim(lease_ms=60_000, hard_ms=600_000)
    line.clock.advance(86_400_000)
    sweep(line)
    line.clock.advance(700_000)
    line.runner.advance()
    assert {line.package(package_id).state for package_id in ids} == {PackageState.DONE}


# ---- tidying ----------------------------------------------------------------


def test_old_recall_results_are_dropped_once_an_hour(line: Line) -> None:
    """A request goes a week after it was made, answered or not; newer ones stay."""

    def keep(request_id: str, state: str) -> None:
        result = None if state == "pending" else {"state": state}
        stored = StoredRecall("local", request_id, {}, b"x", state, result)
        now = line.clock.now_ms()
        line.writer.call("recall", lambda: recalls.write(stored, now))

    keep("old", "complete")
    keep("waiting", "pending")
    line.clock.advance(7 * 86_400_000)
    keep("new", "complete")
    line.clock.advance(1)
    sweep(line)
    kept = line.rows("SELECT request_id FROM recall_request ORDER BY request_id")
    assert kept == [("new",)]


# ---- the ticker ------------------------------------------------------------


class _Ticks(threading.Event):
    """A stop signal that comes after some waits, without anybody waiting."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.left = most

    def wait(self, timeout: float | None = None) -> bool:
        """Count a wait."""
        assert timeout is not None
        self.left -= 1
        if self.left <= 0:
            self.set()
        return self.is_set()


class _Sweeps:
    """A sweeper that fails at first."""

    def __init__(self) -> None:
        self.count = 0

    def sweep(self) -> None:
        """Count, and fail the first two times."""
        self.count += 1
        if self.count <= 2:
            raise MemoryServiceError("the database was away")


def test_a_failing_sweep_ends_no_later_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The ticker goes on after a bad second, says so, and touches its beat each time."""
    sweeps: Any = _Sweeps()
    beat = tmp_path / "beat"
    ticker = Ticker(sweeps, beat, _Ticks(5))
    ticker.start()
    ticker.join()
    assert sweeps.count == 5
    assert beat.stat().st_mode & 0o777 == 0o600
    assert caplog.text.count("a sweep failed") == 2
