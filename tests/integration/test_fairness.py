"""Integration: nothing waits for ever, and nothing old is crowded out of view."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import LostRaceError
from pipeline.recall.store import StoredMemory
from pipeline.rules.drafting import Bounds
from pipeline.rules.forms import forms_of
from pipeline.stages.filter import Filter
from pipeline.stages.publish import Publish
from storage.records.events import OWNER_OBJECT, Priority, Role
from storage.records.knowledge import FactClass, Record, RecordKind, Scope
from storage.repositories import records
from tests.observer_support import record
from tests.pipeline_support import Line, SpaceTokenizer

pytestmark = pytest.mark.integration

MINUTE = 60_000


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    """A ledger over scripted stages."""
    made = Line(tmp_path)
    yield made
    made.close()


def claim_one(line: Line) -> int:
    """The package that a claim takes; it is then worked off."""
    (package,) = line.claim(limit=1)
    line.rows("UPDATE package SET state = 'done' WHERE id = ?", package.id)
    return package.id


# ---- claims ----------------------------------------------------------------


def test_a_low_package_is_claimed_in_the_end(line: Line) -> None:
    """However many urgent ones keep coming, a package gains a rank a minute (mission B3)."""
    low = line.ready("不急 no hurry", stream="low", priority=Priority.LOW)
    waited = 0
    while True:
        line.ready("急 hurry", stream=f"s{waited}", priority=Priority.HIGH)
        if claim_one(line) == low:
            break
        line.clock.advance(MINUTE)
        waited += 1
    assert 0 < waited <= Priority.LOW


def test_fresh_packages_go_by_priority(line: Line) -> None:
    """Within a minute of each other, the more urgent one goes first."""
    low = line.ready("不急", stream="a", priority=Priority.LOW)
    high = line.ready("hurry", stream="b", priority=Priority.HIGH)
    assert [claim_one(line), claim_one(line)] == [high, low]


def test_what_has_failed_is_claimed_alone(line: Line) -> None:
    """A package that may take its worker down takes no other one with it."""
    failed, *_ = [line.ready(f"第{n}", stream=f"s{n}") for n in range(3)]
    line.rows("UPDATE package SET attempt = 1 WHERE id = ?", failed)
    sizes = [len(line.claim()) for _ in range(2)]
    assert sorted(sizes) == [1, 2]


def test_a_flood_in_one_lane_holds_up_no_other(line: Line) -> None:
    """While a lane's package is out, the next claim goes to another lane."""
    for n in range(5):
        line.ready(f"洪水 {n}", stream="flood")
    other = line.ready("a quiet word", stream="quiet")
    line.claim(limit=1)
    assert other in [package.id for package in line.claim()]


# ---- the filter ------------------------------------------------------------


def test_two_passes_release_a_call_once(line: Line) -> None:
    """Of two workers that both find a call overdue, the second finds that it was too late."""
    line.receive("打开网页 open the page", role=Role.EXECUTOR, task_id="t1")
    line.rows("UPDATE event SET kind = 'executor.call'")
    line.runner.filter_events()
    line.clock.advance(16 * MINUTE)
    filtering = Filter(SpaceTokenizer(), line.clock, Bounds(), batch=10, call_wait_ms=15 * MINUTE)
    first, second = filtering.compute("local"), filtering.compute("local")
    assert first is not None
    assert second is not None
    line.writer.call("filter", lambda: filtering.apply(first))
    with pytest.raises(LostRaceError):
        line.writer.call("filter", lambda: filtering.apply(second))
    assert line.rows("SELECT count(*), count(DISTINCT seq) FROM package_event") == [(1, 1)]


# ---- what is kept in view --------------------------------------------------


def keep(line: Line, *kept: Record) -> None:
    """Store records as *merge* does."""
    line.writer.call("merge", lambda: records.write(kept, forms=forms_of))


def project_fact(number: int) -> Record:
    """A fact newer than anything else."""
    made = record(f"f{number:04}", f"进展 step {number}", day=number + 10, kind=RecordKind.FACT)
    return replace(made, fact_class=FactClass.PROJECT)


def test_newer_facts_crowd_nothing_out_of_the_core(line: Line) -> None:
    """An old rule and an open commitment stay in the core after hundreds of newer facts (D7, E4)."""
    rule = record("r1", "以后都用中文回复", subject_id=OWNER_OBJECT)
    promise = record("c1", "I will send the contract", kind=RecordKind.COMMITMENT)
    keep(line, rule, promise, *map(project_fact, range(300)))
    core = Publish(line.clock, object_tokens=2_000, core_tokens=1_000).of_owner("local")
    sections: Any = core.sections
    shown = {item["record_id"] for section in sections for item in section["items"]}
    assert shown == {"r1", "c1"}


def test_rules_of_other_objects_crowd_out_no_binding_one(line: Line) -> None:
    """An owner-wide rule binds after hundreds of newer ones of other objects (E2)."""
    everywhere = record("r1", "Never pay without asking", subject_id=OWNER_OBJECT)
    here = record("r2", "三月用新模板", scope=Scope(objects=("march",)), subject_id="elsewhere")
    others = [
        record(f"o{n:04}", f"第{n}条", day=n + 1, subject_id=f"other-{n}") for n in range(600)
    ]
    keep(line, everywhere, here, *others)
    found = StoredMemory().binding("local", ["march"], None, line.clock.now_ms() * 2)
    assert {rule.id for rule in found} == {"r1", "r2"}
