"""Migrations: numbered, forward only, each recorded in the transaction that applies it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from storage.clock import ManualClock
from storage.database import database, open_database
from storage.migrations import registry
from storage.migrations.registry import MIGRATIONS, NewerDatabaseError, migrate
from storage.tables import TABLES

pytestmark = pytest.mark.integration


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """An opened database without tables."""
    found = tmp_path / "memory.sqlite3"
    open_database(found)
    yield found
    database.close()


def applied() -> list[tuple[int, str]]:
    """What the database remembers."""
    rows = database.execute_sql("SELECT number, name FROM migration ORDER BY number").fetchall()
    return [tuple(row) for row in rows]


@pytest.mark.usefixtures("path")
def test_a_new_database_gets_every_migration_once() -> None:
    """The first call applies all in order and names them, the next finds nothing to do."""
    names = [name for _, name, _ in MIGRATIONS]
    assert migrate(ManualClock()) == names
    assert migrate(ManualClock()) == []
    assert applied() == [(number, name) for number, name, _ in MIGRATIONS]


@pytest.mark.usefixtures("path")
def test_all_tables_are_there_afterwards() -> None:
    """Every table that the code knows can be read after migrating."""
    migrate(ManualClock())
    for table in TABLES:
        assert table.select().count() == 0


def test_numbers_grow_and_are_unique() -> None:
    """Migrations are numbered upwards from 1 without a gap."""
    assert [number for number, _, _ in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


@pytest.mark.usefixtures("path")
def test_a_failing_migration_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration and its record are one transaction; the next start tries it again."""
    migrate(ManualClock())

    def half() -> None:
        database.execute_sql("CREATE TABLE half (x)")
        raise ArithmeticError

    number = len(MIGRATIONS) + 1
    monkeypatch.setattr(registry, "MIGRATIONS", (*MIGRATIONS, (number, "half", half)))
    with pytest.raises(ArithmeticError):
        migrate(ManualClock())
    assert "half" not in database.get_tables()
    assert len(applied()) == len(MIGRATIONS)

    whole = (number, "half", lambda: database.execute_sql("CREATE TABLE half (x)"))
    monkeypatch.setattr(registry, "MIGRATIONS", (*MIGRATIONS, whole))
    assert migrate(ManualClock()) == ["half"]
    assert "half" in database.get_tables()


@pytest.mark.usefixtures("path")
def test_a_newer_database_is_refused() -> None:
    """A database that a newer release has migrated is not touched by an older one."""
    migrate(ManualClock())
    database.execute_sql("INSERT INTO migration VALUES (999, 'from the future', 1)")
    with pytest.raises(NewerDatabaseError, match="999"):
        migrate(ManualClock())


@pytest.mark.usefixtures("path")
def test_several_at_once_apply_each_migration_once() -> None:
    """Two processes that start together do not migrate twice, and none of them fails."""

    def run(_: int) -> list[str]:
        try:
            return migrate(ManualClock())
        finally:
            database.close()

    with ThreadPoolExecutor(4) as starting:
        results = list(starting.map(run, range(4)))
    assert sorted(name for names in results for name in names) == sorted(
        name for _, name, _ in MIGRATIONS
    )
