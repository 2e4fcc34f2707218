"""Records that may be due to end, found by indexes that hold nothing that is over.

Each condition repeats its index's words (migration 6) and names it: other indexes would serve, but
read through what is over, and nothing due must cost nothing.
"""

from collections.abc import Sequence
from typing import Any, Final

from storage.database import database
from storage.records.knowledge import FactClass, RecordKind

Name = tuple[str, str]
"""Owner and id of a record."""

_ENDING: Final = "INDEXED BY record_ending WHERE valid_to IS NOT NULL AND status IN ('active', 'candidate') AND kind <> 'commitment'"
_WAITING: Final = "INDEXED BY record_waiting WHERE status = 'candidate' AND kind = 'fact'"
_KEPT: Final = (
    "INDEXED BY record_kept WHERE status IN ('active', 'candidate') AND kind <> 'commitment'"
)


def past_validity(now: int, limit: int) -> list[Name]:
    """Live records whose validity is over, those first that ended first."""
    return _names(
        f"SELECT owner_scope, id FROM record {_ENDING} AND valid_to <= ?"  # noqa: S608 - constants
        " ORDER BY valid_to LIMIT ?",
        (now, limit),
    )


def untold_since(
    kind: RecordKind, fact_class: FactClass | None, before: int, limit: int
) -> list[Name]:
    """Live records of a kind, and a fact's class, that nothing has told or recorded since then."""
    return _names(
        f"SELECT owner_scope, id FROM record {_KEPT} AND kind = ? AND fact_class IS ?"  # noqa: S608 - constants
        " AND max(observed_at, recorded_at) <= ?"
        " ORDER BY max(observed_at, recorded_at) LIMIT ?",
        (kind.value, fact_class, before, limit),
    )


def waiting(owner: str, before: int, limit: int) -> list[Name]:
    """An owner's facts that were observed by then and wait to be borne out, the oldest first."""
    return _names(
        f"SELECT owner_scope, id FROM record {_WAITING} AND owner_scope = ?"  # noqa: S608 - constants
        " AND observed_at <= ? ORDER BY observed_at LIMIT ?",
        (owner, before, limit),
    )


def next_owner(after: str) -> str | None:
    """The first owner behind this one who has a fact that waits."""
    row = database.execute_sql(
        f"SELECT owner_scope FROM record {_WAITING} AND owner_scope > ?"  # noqa: S608 - constants
        " ORDER BY owner_scope LIMIT 1",
        (after,),
    ).fetchone()
    return row[0] if row else None


def newest_at(owner: str, after: int, upto: int, limit: int) -> tuple[int | None, int]:
    """When the newest of some events of an owner was observed, and the last one's sequence.

    Args:
        owner: Whose.
        after: Only events above this sequence number,
        upto: and at or below this one,
        limit: and so many at most.

    Returns:
        The greatest `at`, None without events; and how far was looked.
    """
    row = database.execute_sql(
        "SELECT max(at), max(seq), count(*) FROM (SELECT at, seq FROM event"
        " WHERE owner = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?)",
        (owner, after, upto, limit),
    ).fetchone()
    newest, last, number = row
    return newest, last if number == limit else upto


def _names(sql: str, values: Sequence[Any]) -> list[Name]:
    return [(row[0], row[1]) for row in database.execute_sql(sql, values).fetchall()]
