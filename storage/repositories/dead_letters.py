"""Dead letters: packages that failed for good, until an operator decides."""

from collections.abc import Collection

from storage.database import database


def parked_at(package_id: int) -> int:
    """When a package became a dead letter."""
    row = database.execute_sql(
        "SELECT parked_at FROM package WHERE id = ?", (package_id,)
    ).fetchone()
    return int(row[0] or 0)


def requeue(ids: Collection[int] | None) -> list[int]:
    """Make dead letters ready again with no failures counted; None means all of them."""
    chosen, values = _these(ids)
    rows = database.execute_sql(
        "UPDATE package SET state = 'ready', attempt = 0, next_attempt_at = 0, parked_at = NULL,"  # noqa: S608 - marks only
        f" error = NULL, fault = NULL WHERE state = 'dead'{chosen} RETURNING id",
        values,
    )
    return sorted(row[0] for row in rows.fetchall())


def discard(ids: Collection[int]) -> list[int]:
    """Give dead letters up: their events stay, nothing is made of them."""
    chosen, values = _these(ids)
    rows = database.execute_sql(
        "UPDATE package SET state = 'done', nothing_kept = 'discarded by an operator'"  # noqa: S608 - marks only
        f" WHERE state = 'dead'{chosen} RETURNING id",
        values,
    )
    return sorted(row[0] for row in rows.fetchall())


def _these(ids: Collection[int] | None) -> tuple[str, tuple[int, ...]]:
    if ids is None:
        return "", ()
    return f" AND id IN ({','.join('?' * len(ids))})", tuple(ids)


def count(owner: str | None = None) -> int:
    """How many events are parked in dead letters, repeats among them."""
    where = "" if owner is None else " AND p.owner = ?"
    row = database.execute_sql(
        "SELECT count(*) FROM package p JOIN event_fate f ON f.package_id = p.id"  # noqa: S608 - columns only
        f" WHERE p.state = 'dead'{where}",
        () if owner is None else (owner,),
    ).fetchone()
    return int(row[0])
