"""Which migrations there are, and how a database is brought up to date."""

from collections.abc import Callable
from typing import Final

from peewee import fn

from storage.clock import Clock
from storage.database import database
from storage.errors import MemoryServiceError
from storage.migrations import (
    m0001_first_tables,
    m0002_journal,
    m0003_observer_usage,
    m0004_forgetting,
    m0005_operations,
    m0006_merging,
)
from storage.tables import Migration

MIGRATIONS: Final[tuple[tuple[int, str, Callable[[], None]], ...]] = (
    (1, "first_tables", m0001_first_tables.apply),
    (2, "journal", m0002_journal.apply),
    (3, "observer_usage", m0003_observer_usage.apply),
    (4, "forgetting", m0004_forgetting.apply),
    (5, "operations", m0005_operations.apply),
    (6, "merging", m0006_merging.apply),
)


class NewerDatabaseError(MemoryServiceError):
    """The database was written by a newer release; install that release again."""


def migrate(clock: Clock) -> list[str]:
    """Apply what is missing, each migration in one transaction with its record.

    Safe in several processes at once: the write lock lets one apply, the others find it done.

    Returns:
        The names of the migrations that were applied.

    Raises:
        NewerDatabaseError: The database knows migrations that this release doesn't.
    """
    applied = []
    for number, name, apply in MIGRATIONS:
        with database.atomic(lock_type="IMMEDIATE"):
            if Migration.select().where(Migration.number == number).exists():
                continue
            apply()
            Migration.create(number=number, name=name, applied_at=clock.now_ms())
            applied.append(name)
    newest = Migration.select(fn.MAX(Migration.number)).scalar()
    if newest > MIGRATIONS[-1][0]:
        raise NewerDatabaseError(
            f"The database has migration {newest}, this release knows {MIGRATIONS[-1][0]}."
            " Install the release that wrote it, or restore a backup made by this one."
        )
    return applied
