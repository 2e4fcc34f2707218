"""What of an object's records is not rolled up yet: what a compaction takes, the oldest first."""

from typing import Any, Final

from storage.database import database
from storage.records.knowledge import Record, RecordKind
from storage.repositories import records

# Another index would serve, too, but reads what is rolled up already.
_WAITING: Final = (
    "FROM record INDEXED BY record_to_roll WHERE owner_scope = ? AND subject_id = ? AND rolled_by IS NULL"
    " AND status = 'active' AND kind <> 'cue' AND authority > 0"
)


def waiting(owner: str, subject: str, *, limit: int) -> list[Record]:
    """The oldest active records that are told by no roll-up; cues and pages' words never are."""
    rows = database.execute_sql(
        f"SELECT id {_WAITING} ORDER BY observed_at, id LIMIT ?",
        (owner, subject, limit),
    )
    order = [row[0] for row in rows.fetchall()]
    found = {record.id: record for record in records.by_ids(owner, order)}
    return [found[record_id] for record_id in order]


def count(owner: str, subject: str, *, kind: RecordKind | None = None, limit: int) -> int:
    """How many there are, of one kind or of all, counted up to `limit`."""
    narrow, values = "", [owner, subject]
    if kind is not None:
        narrow, values = " AND kind = ?", [*values, kind.value]
    given: list[Any] = [*values, limit]
    row = database.execute_sql(
        f"SELECT count(*) FROM (SELECT 1 {_WAITING}{narrow} LIMIT ?)",  # noqa: S608 - constants
        given,
    ).fetchone()
    return int(row[0])
