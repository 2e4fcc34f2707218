"""What calls of a model have cost, and which packages a model reads as part of a batch.

A migration never changes once it is released, so its statements stand here and not in the models.
"""

from typing import Final

from storage.database import database

_STATEMENTS: Final = (
    """CREATE TABLE "observer_usage" (
        "package_id" INTEGER NOT NULL,
        "fence" INTEGER NOT NULL,
        "attempt" INTEGER NOT NULL,
        "at" INTEGER NOT NULL,
        "model" TEXT NOT NULL,
        "stop_reason" TEXT NOT NULL,
        "batch_id" TEXT,
        "input_tokens" INTEGER NOT NULL,
        "output_tokens" INTEGER NOT NULL,
        "cache_read_tokens" INTEGER NOT NULL,
        "cache_write_tokens" INTEGER NOT NULL,
        PRIMARY KEY ("package_id", "fence")
    ) WITHOUT ROWID""",
    """CREATE INDEX "observer_usage_at" ON "observer_usage" ("at")""",
    """CREATE TABLE "observer_batch" (
        "package_id" INTEGER NOT NULL PRIMARY KEY,
        "fence" INTEGER NOT NULL,
        "batch_id" TEXT NOT NULL,
        "sent_at" INTEGER NOT NULL,
        "tokens" INTEGER NOT NULL
    )""",
    """CREATE INDEX "observer_batch_batch_id" ON "observer_batch" ("batch_id")""",
)


def apply() -> None:
    """Create both tables."""
    for statement in _STATEMENTS:
        database.execute_sql(statement)
