"""What merging and ageing find records by.

A migration never changes once it is released, so its statements stand here and not in the models.
"""

from typing import Final

from storage.database import database

# Statements that are over must cost nothing, however many there are: hence status in each index.
_STATEMENTS: Final = (
    """ALTER TABLE "record" ADD COLUMN "skeleton" TEXT NOT NULL DEFAULT ''""",
    """ALTER TABLE "record" ADD COLUMN "reach" TEXT NOT NULL DEFAULT ''""",
    """ALTER TABLE "record" ADD COLUMN "rolled_by" TEXT""",
    """ALTER TABLE "record" ADD COLUMN "due_at" INTEGER""",
    """DROP INDEX "record_owner_scope_subject_id_key" """,
    """DROP INDEX "record_owner_scope_subject_id_normal" """,
    """CREATE INDEX record_statement ON record (owner_scope, subject_id, normal, status)""",
    """CREATE INDEX record_slot
    ON record (owner_scope, subject_id, key, reach, status, observed_at) WHERE key IS NOT NULL""",
    """CREATE INDEX record_alike
    ON record (owner_scope, subject_id, skeleton, status, observed_at) WHERE skeleton <> ''""",
    """CREATE INDEX record_to_roll ON record (owner_scope, subject_id, observed_at)
    WHERE rolled_by IS NULL AND status = 'active' AND kind <> 'cue' AND authority > 0""",
    """CREATE INDEX record_owed ON record (owner_scope, due_at, observed_at DESC)
    WHERE kind = 'commitment' AND status = 'active'""",
    """CREATE INDEX record_owed_of
    ON record (owner_scope, subject_id, due_at, observed_at DESC)
    WHERE kind = 'commitment' AND status = 'active'""",
    """CREATE INDEX record_ending ON record (valid_to)
    WHERE valid_to IS NOT NULL AND status IN ('active', 'candidate') AND kind <> 'commitment'""",
    """CREATE INDEX record_waiting ON record (owner_scope, observed_at)
    WHERE status = 'candidate' AND kind = 'fact'""",
    """CREATE INDEX record_kept ON record (kind, fact_class, max(observed_at, recorded_at))
    WHERE status IN ('active', 'candidate') AND kind <> 'commitment'""",
)


def apply() -> None:
    """Add the columns and indexes."""
    for statement in _STATEMENTS:
        database.execute_sql(statement)
