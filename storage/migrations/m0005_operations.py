"""Long operations that operators ask for.

A migration never changes once it is released, so its statements stand here and not in the models.
"""

from typing import Final

from storage.database import database

_STATEMENTS: Final = (
    """CREATE TABLE "operation" (
        "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        "kind" TEXT NOT NULL,
        "owner" TEXT,
        "state" TEXT NOT NULL,
        "started_at" INTEGER NOT NULL,
        "finished_at" INTEGER,
        "report" TEXT NOT NULL,
        "error" TEXT
    )""",
)


def apply() -> None:
    """Create the table of operations."""
    for statement in _STATEMENTS:
        database.execute_sql(statement)
