"""Positions: how far an owner's events have come, worked out from cursor and ledger."""

from typing import Final

from storage.database import database
from storage.records.events import Positions
from storage.repositories import dead_letters

_UNDER_WAY: Final = "state IN ('open', 'ready', 'leased')"


def of(owner: str) -> Positions:
    """How far an owner's events have come (spec: protocol, Positions)."""
    row = database.execute_sql(
        "SELECT received, filtered FROM owner WHERE owner = ?", (owner,)
    ).fetchone()
    if row is None:
        return Positions()
    received, filtered = row
    unsettled = _lowest(owner, ("observe", "merge"))
    unpublished = _lowest(owner, ("observe", "merge", "index", "publish"))
    return Positions(
        received=received,
        organized=_below(owner, filtered, unsettled),
        published=_below(owner, filtered, unpublished),
        backlog=_backlog(owner, filtered),
        dead=dead_letters.count(owner),
    )


def _lowest(owner: str, stages: tuple[str, ...]) -> int | None:
    """The lowest sequence in packages at these stages, or in calls that wait for their result."""
    marks = ",".join("?" * len(stages))
    row = database.execute_sql(
        f"SELECT min(first_seq) FROM package WHERE owner = ? AND stage IN ({marks}) AND {_UNDER_WAY}",  # noqa: S608 - marks only
        (owner, *stages),
    ).fetchone()
    waiting = database.execute_sql(
        "SELECT min(seq) FROM waiting_call WHERE owner = ?", (owner,)
    ).fetchone()
    found = [value for value in (row[0], waiting[0]) if value is not None]
    return min(found) if found else None


def _below(owner: str, filtered: int, lowest: int | None) -> int:
    """The owner's highest sequence that the filter has passed and that is below `lowest`."""
    if lowest is None:
        return filtered
    row = database.execute_sql(
        "SELECT max(seq) FROM event WHERE owner = ? AND seq < ?", (owner, min(lowest, filtered + 1))
    ).fetchone()
    return int(row[0] or 0)


def _backlog(owner: str, filtered: int) -> int:
    row = database.execute_sql(
        "SELECT (SELECT count(*) FROM event WHERE owner = ? AND seq > ?)"  # noqa: S608 - columns only
        f" + (SELECT coalesce(sum(events), 0) FROM package WHERE owner = ? AND {_UNDER_WAY})"
        " + (SELECT count(*) FROM waiting_call WHERE owner = ?)",
        (owner, filtered, owner, owner),
    ).fetchone()
    return int(row[0])
