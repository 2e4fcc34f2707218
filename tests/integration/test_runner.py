"""The runner: claims, failures, splitting, parking, lost races, and leases that pass on."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from pipeline.errors import LostRaceError
from pipeline.runner import RACE_TRIES, SPLIT_AFTER
from storage.database import database
from storage.records.events import Role
from storage.records.runs import FaultKind, Package, PackageState, Stage
from storage.repositories import dead_letters, ledger, positions, stage_controls
from tests.pipeline_support import STAGES, Line, content_fault, passing_fault

pytestmark = pytest.mark.integration

PATIENCE_S = 20.0


@pytest.fixture
def make_line(tmp_path: Path) -> Iterator[Callable[..., Line]]:
    """Makes a line with a policy of one's own."""
    made: list[Line] = []

    def make(**policy: object) -> Line:
        made.append(Line(tmp_path, **policy))
        return made[-1]

    yield make
    for line in made:
        line.close()


@pytest.fixture
def line(make_line: Callable[..., Line]) -> Line:
    """A line as it comes."""
    return make_line()


# ---- the good way ----------------------------------------------------------


def test_a_package_goes_through_all_stages_in_one_call(line: Line) -> None:
    """One claim takes a package from *observe* to done, each stage once and in order."""
    package_id = line.ready("一", "二")
    assert line.runner.advance() == 1
    assert line.package(package_id).state is PackageState.DONE
    assert [stage.applied for stage in line.stages.values()] == [[package_id]] * 4
    assert line.package(package_id).fence == 1
    assert line.runner.held == {}
    assert line.runner.advance() == 0


def test_each_stage_leaves_one_output(line: Line) -> None:
    """The ledger keeps what each stage answered, under the lease that it was done with."""
    package_id = line.ready("一")
    line.runner.advance()
    for stage in STAGES:
        assert ledger.output(package_id, stage) == (1, {"by": 1})


def test_packages_of_a_claim_are_committed_together(line: Line) -> None:
    """Packages of several lanes go through a stage in one transaction."""
    ids = [line.ready(f"第{n}", stream=f"s{n}") for n in range(5)]
    assert line.runner.advance() == 1
    assert line.stages[Stage.MERGE].computed == ids


def test_what_is_begun_is_finished_first(line: Line) -> None:
    """Packages near the end go before those at the start."""
    begun, new = line.ready("一", stream="a"), line.ready("二", stream="b")
    line.rows("UPDATE package SET stage = 'publish' WHERE id = ?", begun)
    order: list[int] = []
    line.stages[Stage.PUBLISH].on_apply = lambda package: order.append(package.id)
    line.runner.advance()
    assert order == [begun, new]


def test_packages_of_a_lane_go_one_after_the_other(line: Line) -> None:
    """The later package of a lane is begun when the earlier one is done."""
    first = line.ready("一", stream="a")
    second = line.ready("二", stream="a")
    order: list[tuple[Stage, int]] = []

    def note(stage: Stage, package: Package) -> None:
        order.append((stage, package.id))

    for stage, work in line.stages.items():
        work.on_apply = partial(note, stage)
    line.runner.advance()
    assert [number for _, number in order] == [first] * 4 + [second] * 4


# ---- filter ----------------------------------------------------------------


def test_the_filter_takes_each_owner_to_its_end(line: Line) -> None:
    """All owners' new events are passed over, batch by batch, and then there is nothing to do."""
    line.receive(*["话"] * 501, owner="a", stream="s")
    line.receive("说", owner="b")
    assert line.runner.filter_events() == 3
    assert line.runner.filter_events() == 0
    assert line.rows("SELECT count(*) FROM event_fate") == [(502,)]


def test_two_filters_at_once_do_nothing_twice(line: Line) -> None:
    """Whoever comes second loses the race, looks again, and every event has one fate."""
    line.receive(*[f"第{n}句" for n in range(300)], stream="s")
    other = line.another()
    both = [threading.Thread(target=runner.filter_events) for runner in (line.runner, other)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join(PATIENCE_S)
    assert line.rows("SELECT count(*), count(DISTINCT seq) FROM event_fate") == [(300, 300)]
    assert line.rows("SELECT sum(events) FROM package") == [(300,)]


def test_a_package_that_closes_meanwhile_takes_no_more(line: Line) -> None:
    """A pass that was worked out for an open package is lost once that package has closed."""
    line.receive("一", stream="s")
    line.runner.filter_events()
    line.receive("二", stream="s")
    computed = line.runner._filter.compute("local")
    assert computed is not None
    line.writer.call("close", lambda: ledger.flush(None))
    with pytest.raises(LostRaceError):
        line.writer.call("filter", lambda: line.runner._filter.apply(computed))
    line.runner.filter_events()
    assert line.rows("SELECT events FROM package ORDER BY id") == [(1,), (1,)]


# ---- failures --------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("moment", ["compute", "apply"])
def test_a_failure_keeps_the_package_at_its_stage(line: Line, stage: Stage, moment: str) -> None:
    """Whatever fails where, the package waits there with one more attempt, and then goes on."""
    line.jitter = 0.5
    package_id = line.ready("一")
    setattr(line.stages[stage], f"on_{moment}", content_fault)
    line.runner.advance()
    found = line.package(package_id)
    assert (found.stage, found.state, found.attempt) == (stage, PackageState.READY, 1)
    assert found.next_attempt_at == line.clock.now_ms() + 1_001
    assert line.stages[stage].applied == []

    setattr(line.stages[stage], f"on_{moment}", lambda _: None)
    assert line.runner.advance() == 0
    line.clock.advance(1_001)
    line.runner.advance()
    assert line.package(package_id).state is PackageState.DONE
    assert [work.applied for work in line.stages.values()] == [[package_id]] * 4


def test_one_package_fails_and_the_others_of_its_claim_go_on(line: Line) -> None:
    """In apply as in compute a failure is one package's own, and leaves nothing of it behind."""
    bad, good = line.ready("坏", stream="a"), line.ready("好", stream="b")

    def apply(package: Package) -> None:
        database.execute_sql("INSERT INTO stage_control VALUES (?, 1)", (f"trace {package.id}",))
        if package.id == bad:
            raise ValueError("a private text")

    line.stages[Stage.MERGE].on_apply = apply
    line.runner.advance()
    assert line.package(good).state is PackageState.DONE
    assert line.package(bad).stage is Stage.MERGE
    assert line.rows("SELECT stage FROM stage_control") == [(f"trace {good}",)]


def test_a_failures_text_is_not_kept(line: Line, caplog: pytest.LogCaptureFixture) -> None:
    """Type and place of an unforeseen error are kept and logged, none of its words."""
    package_id = line.ready("一")
    line.stages[Stage.OBSERVE].on_compute = content_fault
    line.runner.advance()
    error = line.package(package_id).error
    assert error is not None
    assert error.startswith("ValueError in content_fault")
    assert "private" not in error + caplog.text


def test_the_wait_doubles_up_to_a_cap_with_full_jitter(
    make_line: Callable[..., Line],
) -> None:
    """Waits are 2 s times 2ⁿ, capped at 10 min, times a random number up to one."""
    line = make_line()
    line.jitter = 1.0
    waits = [line.runner.backoff(n) for n in range(12)]
    assert waits == [min(600_000, 2_000 * 2**n) + 1 for n in range(12)]
    assert line.runner.backoff(10_000) == 600_001
    line.jitter = 0.25
    assert line.runner.backoff(3) == 4_001
    line.jitter = 0.0
    assert line.runner.backoff(9) == 1


def test_who_asks_for_more_time_gets_it(line: Line) -> None:
    """A wait that the failing side asked for is kept where it is longer."""
    line.jitter = 1.0
    line.ready("一")
    (package,) = line.claim()
    due = line.runner.fail(package, ValueError(), retry_after_ms=90_000)
    assert due == line.clock.now_ms() + 90_000
    line.clock.advance(90_000)
    (package,) = line.claim()
    assert line.runner.fail(package, ValueError(), retry_after_ms=1) == line.clock.now_ms() + 4_001


def _try_until_it_rests(line: Line, most: int = 60) -> None:
    for _ in range(most):
        line.runner.advance()
        line.clock.advance(700_000)


@pytest.mark.parametrize("fault", [content_fault, passing_fault])
def test_a_single_event_that_always_fails_is_parked(
    make_line: Callable[..., Line], fault: Callable[[Package], object]
) -> None:
    """After its last attempt a package is dead, with its error, and is not tried again."""
    line = make_line(attempts=8)
    package_id = line.ready("坏的")
    line.stages[Stage.OBSERVE].on_compute = fault
    _try_until_it_rests(line)
    found = line.package(package_id)
    assert (found.state, found.attempt) == (PackageState.DEAD, 8)
    assert found.error
    assert line.stages[Stage.OBSERVE].computed == [package_id] * 8
    assert positions.of("local").dead == 1
    assert positions.of("local").published == 1


def test_a_success_forgets_earlier_failures(make_line: Callable[..., Line]) -> None:
    """Failures count for the stage at which they were; the next stage begins at none."""
    line = make_line(attempts=3)
    package_id = line.ready("一")
    for stage in (Stage.OBSERVE, Stage.MERGE):
        line.stages[stage].on_compute = passing_fault
        for _ in range(2):
            line.runner.advance()
            line.clock.advance(700_000)
        line.stages[stage].on_compute = lambda _: None
    line.runner.advance()
    assert line.package(package_id).state is PackageState.DONE


def test_a_requeued_package_has_all_its_attempts_again(make_line: Callable[..., Line]) -> None:
    """Requeueing zeroes the count, and what failed before can go its way."""
    line = make_line(attempts=2)
    package_id = line.ready("坏的")
    line.stages[Stage.OBSERVE].on_compute = content_fault
    _try_until_it_rests(line, 3)
    assert line.package(package_id).state is PackageState.DEAD
    line.writer.call("operator", lambda: dead_letters.requeue([package_id]))
    line.runner.advance()
    assert line.package(package_id).attempt == 1
    line.stages[Stage.OBSERVE].on_compute = lambda _: None
    line.clock.advance(700_000)
    line.runner.advance()
    assert line.package(package_id).state is PackageState.DONE


# ---- a poison event --------------------------------------------------------


def _poisoned_by(text: str) -> Callable[[Package], object]:
    def compute(package: Package) -> object:
        found = Line.rows(
            "SELECT 1 FROM package_event p JOIN event e USING (seq)"
            " WHERE p.package_id = ? AND e.text = ?",
            package.id,
            text,
        )
        if found:
            raise ValueError
        return None

    return compute


@pytest.mark.parametrize("stage", [Stage.OBSERVE, Stage.MERGE])
@pytest.mark.parametrize("place", [0, 7, 12])
def test_a_poison_event_is_split_off_and_the_rest_goes_on(
    line: Line, stage: Stage, place: int
) -> None:
    """One event that can't be digested ends alone as a dead letter; all others are published."""
    texts = [f"第{n}句" for n in range(13)]
    texts[place] = "毒 poison"
    line.ready(*texts)
    line.stages[stage].on_compute = _poisoned_by("毒 poison")
    _try_until_it_rests(line)

    dead = ledger.listing([PackageState.DEAD], after=0, limit=10)
    assert [ledger.event_ids(package.id) for package in dead] == [(f"e{place + 1}",)]
    assert positions.of("local").dead == 1
    assert positions.of("local").published == 13
    held = line.rows("SELECT seq FROM package_event ORDER BY seq")
    assert [seq for (seq,) in held] == list(range(1, 14))
    unplaced = line.rows(
        "SELECT count(*) FROM event_fate f LEFT JOIN package p ON p.id = f.package_id"
        " WHERE p.id IS NULL"
    )
    assert unplaced == [(0,)]


def test_the_halves_of_a_split_begin_with_one_failure(line: Line) -> None:
    """A half needs fewer faults than the whole to be split again, so the search ends in time."""
    line.ready("一", "二", "三", "四")
    for _ in range(SPLIT_AFTER):
        line.clock.advance(700_000)
        (package,) = line.claim()
        line.runner.fail(package, ValueError())
    assert line.rows("SELECT events, attempt, state FROM package ORDER BY id") == [
        (2, 1, "ready"),
        (2, 1, "ready"),
    ]


def test_repeats_go_with_their_event_when_a_package_is_split(line: Line) -> None:
    """A repeat stays told as part of the package that its first occurrence is in."""
    seen = ["连接超时", "磁盘已满", "连接超时", "磁盘已满", "连接超时"]
    line.ready(*seen, role=Role.OBSERVATION, stream="s")
    (package,) = line.claim()
    line.writer.call("fail", lambda: ledger.split(package, at=1, attempt=1, next_attempt_at=0))
    fates = dict(line.rows("SELECT seq, package_id FROM event_fate"))
    held = dict(line.rows("SELECT seq, package_id FROM package_event"))
    assert held.keys() == {1, 2}
    assert held[1] != held[2]
    assert fates == {1: held[1], 2: held[2], 3: held[1], 4: held[2], 5: held[1]}


def test_what_belongs_together_is_parked_together(line: Line) -> None:
    """A poison event takes its own pair along, and nothing else."""
    line.receive("一")
    line.receive("毒 poison", request_id="q")
    line.receive("二", request_id="q")
    line.ready("三")
    line.stages[Stage.OBSERVE].on_compute = _poisoned_by("毒 poison")
    _try_until_it_rests(line)
    (dead,) = ledger.listing([PackageState.DEAD], after=0, limit=10)
    assert ledger.event_ids(dead.id) == ("e2", "e3")
    assert positions.of("local").published == 4


def test_a_passing_fault_splits_nothing(make_line: Callable[..., Line]) -> None:
    """A model that doesn't answer says nothing about the package."""
    line = make_line(attempts=SPLIT_AFTER + 3)
    package_id = line.ready("一", "二")
    line.stages[Stage.OBSERVE].on_compute = passing_fault
    _try_until_it_rests(line, SPLIT_AFTER + 1)
    assert line.package(package_id).events == 2


def test_late_stages_split_nothing(line: Line) -> None:
    """Once records are settled there is no single event to blame."""
    package_id = line.ready("一", "二")
    line.stages[Stage.PUBLISH].on_compute = content_fault
    _try_until_it_rests(line)
    found = line.package(package_id)
    assert (found.state, found.stage, found.events) == (PackageState.DEAD, Stage.PUBLISH, 2)


def test_a_split_leaves_no_output_of_its_package(line: Line) -> None:
    """What the whole package had committed at *observe* is gone with it; the halves do it anew."""
    line.ready("一", "二")
    line.stages[Stage.MERGE].on_compute = _poisoned_by("二")
    _try_until_it_rests(line)
    outputs = line.rows("SELECT DISTINCT package_id FROM stage_output")
    packages = line.rows("SELECT id FROM package")
    assert set(outputs) <= set(packages)


def test_a_lost_lease_splits_nothing(line: Line) -> None:
    """Whoever holds a package no longer can't take it apart."""
    package_id = line.ready("一", "二")
    (mine,) = line.claim()
    line.writer.call("fail", lambda: ledger.release(mine))
    (theirs,) = line.claim()
    assert (
        line.writer.call("fail", lambda: ledger.split(mine, at=1, attempt=1, next_attempt_at=0))
        == ()
    )
    assert line.package(package_id).fence == theirs.fence


# ---- races and leases ------------------------------------------------------


def test_a_lost_race_is_worked_out_again_at_once(line: Line) -> None:
    """What was computed from something that has changed is computed anew, without a failure."""
    package_id = line.ready("一")
    tries: list[int] = []

    def lose_twice(_: Package) -> None:
        tries.append(1)
        if len(tries) <= 2:
            raise LostRaceError

    line.stages[Stage.MERGE].on_apply = lose_twice
    line.runner.advance()
    assert line.stages[Stage.MERGE].computed == [package_id] * 3
    assert line.package(package_id).state is PackageState.DONE


def test_a_race_that_is_always_lost_is_left_for_later(line: Line) -> None:
    """After some tries in a row the package waits; that is a passing fault and splits nothing."""
    package_id = line.ready("一", "二")

    def lose(_: Package) -> None:
        raise LostRaceError

    line.stages[Stage.MERGE].on_apply = lose
    line.runner.advance()
    found = line.package(package_id)
    assert (found.stage, found.state, found.attempt) == (Stage.MERGE, PackageState.READY, 1)
    assert len(line.stages[Stage.MERGE].computed) == RACE_TRIES
    assert line.rows("SELECT fault FROM package") == [(FaultKind.TRANSIENT.value,)]


def test_an_old_lease_changes_nothing(line: Line) -> None:
    """A package that passed to another while it was computed is not touched by the first."""
    package_id = line.ready("一")

    def pass_on(package: Package) -> None:
        line.writer.call("fail", lambda: ledger.release(package))
        line.claim()

    line.stages[Stage.OBSERVE].on_compute = pass_on
    line.runner.advance()
    found = line.package(package_id)
    assert (found.stage, found.state, found.fence) == (Stage.OBSERVE, PackageState.LEASED, 2)
    assert line.stages[Stage.OBSERVE].applied == []
    assert ledger.output(package_id, Stage.OBSERVE) is None


@pytest.mark.parametrize("change", ["release", "back_off", "park", "advance"])
def test_every_change_names_its_fence(line: Line, change: str) -> None:
    """With a fence that has moved on no change of the ledger takes effect."""
    package_id = line.ready("一")
    (mine,) = line.claim()
    line.writer.call("fail", lambda: ledger.release(mine))
    (theirs,) = line.claim()
    now = line.clock.now_ms()
    old: dict[str, Callable[[], object]] = {
        "release": lambda: ledger.release(mine),
        "back_off": lambda: ledger.back_off(
            mine, next_attempt_at=now, kind=FaultKind.CONTENT, error="x"
        ),
        "park": lambda: ledger.park(mine, now=now, kind=FaultKind.CONTENT, error="x"),
        "advance": lambda: ledger.advance(mine, now=now),
    }
    assert not line.writer.call("fail", old[change])
    assert line.package(package_id) == theirs


def test_fences_only_grow(line: Line) -> None:
    """Each claim of a package has a higher token than every one before."""
    line.ready("一")
    fences = []
    for _ in range(5):
        (package,) = line.claim()
        fences.append(package.fence)
        line.writer.call("fail", partial(ledger.release, package))
    assert fences == [1, 2, 3, 4, 5]


def test_no_lease_goes_past_its_hard_end(line: Line) -> None:
    """Whoever asks for a longer lease than there is gets the longest there is."""
    line.ready("一")
    (package,) = line.claim(lease_ms=9_000, hard_ms=5_000)
    assert package.lease_until == line.clock.now_ms() + 5_000


def test_concurrency_bounds_the_built_in_observer(make_line: Callable[..., Line]) -> None:
    """While as many observations are alive as allowed, a second worker observes nothing more."""
    line = make_line(concurrency=1, batch=1)
    first, second = line.ready("一", stream="a"), line.ready("二", stream="b")
    seen: list[int] = []

    def work_beside(package: Package) -> None:
        if package.id == first:
            line.another().advance()
            seen.extend(line.stages[Stage.OBSERVE].computed)

    line.stages[Stage.OBSERVE].on_compute = work_beside
    line.runner.advance()
    assert seen == [first]
    assert line.package(second).state is PackageState.DONE


def test_outside_workers_do_not_count_as_built_in_ones(line: Line) -> None:
    """A package that an outside worker holds keeps the built-in observer from nothing."""
    line.ready("一", stream="a")
    line.claim()
    other = line.ready("二", stream="b")
    line.runner.advance()
    assert line.package(other).state is PackageState.DONE


def test_what_is_under_work_is_known_to_the_ticker(line: Line) -> None:
    """While stages work, the runner tells which leases to renew; afterwards it holds none."""
    package_id = line.ready("一")
    held: list[dict[int, int]] = []
    line.stages[Stage.MERGE].on_compute = lambda _: held.append(dict(line.runner.held))
    line.runner.advance()
    assert held == [{package_id: 1}]
    assert line.runner.held == {}


# ---- pausing ---------------------------------------------------------------


def test_a_pause_under_way_gives_packages_back(line: Line) -> None:
    """A stage that is paused while packages come near it holds them without a failure."""
    package_id = line.ready("一")

    def pause(_: Package) -> None:
        line.writer.call("operator", lambda: stage_controls.pause(Stage.INDEX, 1))

    line.stages[Stage.MERGE].on_compute = pause
    line.runner.advance()
    found = line.package(package_id)
    assert (found.stage, found.state, found.attempt) == (Stage.INDEX, PackageState.READY, 0)
    assert line.runner.advance() == 0
    line.writer.call("operator", lambda: stage_controls.resume(Stage.INDEX))
    line.runner.advance()
    assert line.package(package_id).state is PackageState.DONE


# ---- the disk --------------------------------------------------------------


def test_a_disk_that_stays_full_costs_no_attempts(line: Line) -> None:
    """However often there is no room, no failure is counted, and with room the work goes on."""
    package_id = line.ready("一", "二")

    def grow(_: Package) -> None:
        database.execute_sql("PRAGMA max_page_count = 1")
        database.execute_sql("INSERT INTO stage_control VALUES (?, 1)", ("大" * 100_000,))

    line.stages[Stage.MERGE].on_apply = grow
    for _ in range(20):
        line.runner.advance()
        line.clock.advance(700_000)
        found = line.package(package_id)
        assert (found.stage, found.state) == (Stage.MERGE, PackageState.READY)
        assert found.attempt == 0

    line.stages[Stage.MERGE].on_apply = lambda _: database.execute_sql(
        "PRAGMA max_page_count = 1000000"
    )
    line.runner.advance()
    assert line.package(package_id).state is PackageState.DONE
