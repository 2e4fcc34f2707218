"""Forgetting: what is under way of it, and what must not come back.

A migration never changes once it is released, so its statements stand here and not in the models.
"""

from typing import Final

from storage.database import database

_STATEMENTS: Final = (
    # Counts an owner's forgettings: what was worked out before one must not be written after it.
    """ALTER TABLE "owner" ADD COLUMN "forgotten" INTEGER NOT NULL DEFAULT 0""",
    """CREATE TABLE "tombstone" (
        "owner" TEXT NOT NULL,
        "kind" TEXT NOT NULL,
        "digest" BLOB NOT NULL,
        "seq" INTEGER,
        PRIMARY KEY ("owner", "kind", "digest")
    ) WITHOUT ROWID""",
    """CREATE TABLE "forgetting" (
        "id" TEXT NOT NULL PRIMARY KEY,
        "owner" TEXT NOT NULL,
        "state" TEXT NOT NULL,
        "step" TEXT NOT NULL,
        "object_id" TEXT,
        "counts" TEXT NOT NULL,
        "remaining" TEXT NOT NULL,
        "masked_from" INTEGER NOT NULL,
        "attempt" INTEGER NOT NULL,
        "next_attempt_at" INTEGER NOT NULL,
        "requested_at" INTEGER NOT NULL,
        "finished_at" INTEGER
    )""",
    """CREATE INDEX forgetting_under_way ON forgetting (requested_at) WHERE state != 'done'""",
    """CREATE TABLE "forgetting_part" (
        "forgetting_id" TEXT NOT NULL,
        "place" INTEGER NOT NULL,
        "records" TEXT NOT NULL,
        "seqs" TEXT NOT NULL,
        PRIMARY KEY ("forgetting_id", "place")
    )""",
    # A document's entries are looked up to be erased, and to be made anew.
    """CREATE INDEX "index_entry_owner_document" ON "index_entry" ("owner", "document")""",
)


def apply() -> None:
    """Create the tables of forgetting."""
    for statement in _STATEMENTS:
        database.execute_sql(statement)
