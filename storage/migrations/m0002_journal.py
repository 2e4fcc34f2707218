"""The journal of record changes, and packages that carry no events.

A migration never changes once it is released, so its statements stand here and not in the models.
"""

from typing import Final

from storage.database import database

# Positions are about events: packages without any must not hold them back.
_STATEMENTS: Final = (
    """ALTER TABLE "package" ADD COLUMN "work" TEXT NOT NULL DEFAULT 'events'""",
    """DROP INDEX package_under_way""",
    """CREATE INDEX package_under_way ON package (owner, stage, first_seq)
    WHERE work = 'events' AND state IN ('open', 'ready', 'leased')""",
    """CREATE TABLE "record_change" (
        "seq" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        "owner" TEXT NOT NULL,
        "subject_id" TEXT NOT NULL,
        "object_revision" INTEGER NOT NULL,
        "change" TEXT NOT NULL,
        "at" INTEGER NOT NULL,
        "package_id" INTEGER,
        "record_id" TEXT,
        "body" TEXT NOT NULL
    )""",
    """CREATE INDEX "record_change_owner_subject_id_seq"
    ON "record_change" ("owner", "subject_id", "seq")""",
    """CREATE INDEX "record_change_owner_record_id" ON "record_change" ("owner", "record_id")""",
    """CREATE INDEX "record_change_package_id" ON "record_change" ("package_id")""",
)


def apply() -> None:
    """Create the journal, and tell packages apart by their work."""
    for statement in _STATEMENTS:
        database.execute_sql(statement)
