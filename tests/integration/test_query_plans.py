"""Integration: what is asked all the time is answered from an index, however much there is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.database import database
from storage.records.knowledge import RecordKind, RecordStatus
from storage.repositories import events, index, intake, ledger, positions, records
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
    records.comparable("local", ["a"], ids=["r"], keys=["k"], normals=["n"], all_active=True)
    records.resting_on("local", [1, 2])
    assert scans(plans, *BIG) == []
    assert not [plan for plan in plans if "sqlite_autoindex_record_1 (owner_scope=?)" in plan]


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
    assert scans(plans, *BIG) == []
