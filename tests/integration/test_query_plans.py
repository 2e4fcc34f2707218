"""Integration: what is asked all the time is answered from an index, however much there is."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.database import database
from storage.records.events import Event, Fate, Role
from storage.records.finding import Wanted
from storage.records.knowledge import FactClass, RecordKind, RecordStatus, Scope
from storage.records.packing import FateNote
from storage.repositories import (
    ageing,
    events,
    fates,
    index,
    intake,
    ledger,
    observer_batches,
    positions,
    record_links,
    records,
    rollups,
    usage,
)
from storage.repositories.comparing import comparable
from tests.pipeline_support import Line

pytestmark = pytest.mark.integration


@pytest.fixture
def plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The plans of all reading statements from now on."""
    line = Line(tmp_path)
    found: list[str] = []
    ask = database.execute_sql

    def explained(sql: str, params: Any = None) -> Any:
        if sql.lstrip().upper().startswith("SELECT"):
            steps = ask(f"EXPLAIN QUERY PLAN {sql}", params).fetchall()
            found.extend(f"{step[3]} IN {sql}" for step in steps)
        return ask(sql, params)

    monkeypatch.setattr(database.obj, "execute_sql", explained)
    yield found
    monkeypatch.undo()
    line.close()


def scans(plans: list[str], *tables: str) -> list[str]:
    """Plans that read these tables from end to end."""
    return [plan for plan in plans if any(plan.startswith(f"SCAN {table}") for table in tables)]


BIG = ("event", "e ", "record", "evidence", "index_entry", "package ", "p ", "package_event")


def test_asking_where_things_stand_reads_no_table(plans: list[str]) -> None:
    """Positions, due work and waiting calls are looked up, not counted through."""
    positions.heights("local")
    positions.of("local")
    ledger.due(1)
    ledger.expired(1)
    ledger.has_closable(1)
    intake.behind()
    intake.overdue_calls(1)
    intake.open_packages("local")
    assert plans
    assert scans(plans, *BIG) == []


def test_finding_records_reads_no_table(plans: list[str]) -> None:
    """Recall, merge and publish look records up by subject, kind, slot and statement."""
    records.of_subjects("local", ["a", "b"], [RecordStatus.ACTIVE], limit=10)
    records.of_kinds("local", list(RecordKind), limit=10)
    records.scoped("local", [RecordKind.RULE], limit=10)
    wanted = Wanted(("a", "b"), ("r",), ("n",), (("k", Scope()),), ("s",), 8, 100)
    comparable("local", wanted)
    records.resting_on("local", [1, 2])
    assert scans(plans, *BIG) == []
    assert not [plan for plan in plans if "sqlite_autoindex_record_1 (owner_scope=?)" in plan]


def test_what_is_over_costs_settling_nothing(plans: list[str]) -> None:
    """Slots, statements and opposites are found among what stands, by an index that knows that."""
    wanted = Wanted(("a",), ("r",), ("n",), (("k", Scope()),), ("s",), 8, 100)
    comparable("local", wanted)
    used = "\n".join(plans)
    for index_name in ("record_statement", "record_slot", "record_alike"):
        assert f"USING INDEX {index_name}" in used or f"USING COVERING INDEX {index_name}" in used
    assert "key=? AND reach=? AND status=?" in used
    assert "skeleton=? AND status=?" in used
    assert "normal=? AND status=?" in used


def test_what_is_due_is_found_among_what_is_due(plans: list[str]) -> None:
    """The sweep and compaction ask indexes that hold nothing that is over or rolled up."""
    asked: dict[str, Callable[[], object]] = {
        "record_ending (valid_to>? AND valid_to<?)": lambda: ageing.past_validity(1, 10),
        "record_waiting (owner_scope=? AND observed_at<?)": lambda: ageing.waiting("o", 1, 10),
        "record_waiting (owner_scope>?)": lambda: ageing.next_owner(""),
        "record_kept (kind=? AND fact_class=? AND <expr><?)": lambda: ageing.untold_since(
            RecordKind.FACT, FactClass.PROJECT, 1, 10
        ),
        "record_to_roll (owner_scope=? AND subject_id=?)": lambda: rollups.waiting(
            "o", "s", limit=10
        ),
        "record_owed (owner_scope=?)": lambda: records.owed("o", limit=10),
        "record_owed_of (owner_scope=? AND subject_id=?)": lambda: records.owed("o", "s", limit=10),
        "event_owner_seq (owner=? AND seq>? AND seq<?)": lambda: ageing.newest_at("o", 1, 9, 10),
    }
    for wanted, ask in asked.items():
        plans.clear()
        ask()
        assert any(wanted in plan.split(" IN ")[0] for plan in plans), (wanted, plans)
    plans.clear()
    ageing.untold_since(RecordKind.RULE, None, 1, 10)
    rollups.count("o", "s", limit=10)
    rollups.count("o", "s", kind=RecordKind.EPISODE, limit=10)
    assert all(" INDEX record_" in plan for plan in plans if plan.startswith("SEARCH"))
    assert scans(plans, *BIG) == []
    assert not [plan for plan in plans if "TEMP B-TREE FOR ORDER BY" in plan]


def test_a_tail_is_read_from_its_end(plans: list[str]) -> None:
    """The newest index entries are found by their sequence, not among all of an owner's."""
    index.tail("local", 1_000_000, 10)
    index.after(1_000_000, 10)
    used = [plan for plan in plans if "index_entry" in plan.split(" IN ")[0]]
    assert used
    assert all("rowid>?" in plan for plan in used)


def test_neighbours_are_found_by_sequence(plans: list[str]) -> None:
    """The turns before one are read backwards from it."""
    events.before_in_stream("local", "s", 1_000_000, 2)
    events.after("local", 5, 10)
    events.moments_after("local", 5, 10)
    events.told_before("local", 1_000_000, [Role.EXTERNAL, Role.OBSERVATION], 10)
    events.acts_before("local", 1_000_000, named={"c"}, requests={"q"})
    assert scans(plans, *BIG) == []


def test_what_models_cost_and_hold_is_looked_up(plans: list[str]) -> None:
    """The day's tokens, the backlog and a package's batch are asked for each second or package."""
    usage.spent_since(1)
    usage.of_package(1)
    observer_batches.unsent(1, 10)
    observer_batches.entry(1)
    observer_batches.of_batch("b")
    observer_batches.tokens_out()
    observer_batches.out()
    assert scans(plans, *BIG, "observer_usage") == []


def test_tracing_an_event_reads_no_table(plans: list[str]) -> None:
    """What became of an event, and what replaced a record, is looked up by number, package and subject."""
    known = Event("local", "e1", "user.message", 1, Role.USER)
    events.insert([events.NewEvent(known, b"x", "r", 1)], 1)
    intake.write_fates("local", [FateNote(1, Fate.MERGED, "again", into_seq=1)])
    assert fates.of("local", "e1").fate is Fate.MERGED
    record_links.superseding("local", "a", ["r1", "r2"])
    assert scans(plans, *BIG, "r ") == []
