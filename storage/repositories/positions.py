"""Positions: how far an owner's events have come, worked out from cursor and ledger."""

from dataclasses import replace
from typing import Final

from storage.database import database
from storage.records.events import Positions
from storage.repositories import dead_letters, events

_UNDER_WAY: Final = "state IN ('open', 'ready', 'leased')"
_UNSETTLED: Final = "'observe', 'merge'"
_UNPUBLISHED: Final = "'observe', 'merge', 'index', 'publish'"


def heights(owner: str) -> Positions:
    """Received, organized and published alone: what every ingest answers, so it counts nothing."""
    row = database.execute_sql(
        "SELECT received, filtered FROM owner WHERE owner = ?", (owner,)
    ).fetchone()
    if row is None:
        return Positions()
    received, filtered = row
    unsettled = _lowest(owner, _UNSETTLED)
    unpublished = _lowest(owner, _UNPUBLISHED)
    return Positions(
        received=received,
        organized=_below(owner, filtered, unsettled),
        published=_below(owner, filtered, unpublished),
    )


def of(owner: str) -> Positions:
    """How far an owner's events have come (spec: protocol, Positions)."""
    return replace(heights(owner), backlog=_backlog(owner), dead=dead_letters.count(owner))


def _lowest(owner: str, stages: str) -> int | None:
    """The lowest sequence in packages at these stages, or in calls that wait for their result."""
    row = database.execute_sql(
        f"SELECT min(first_seq) FROM package WHERE owner = ? AND stage IN ({stages}) AND {_UNDER_WAY}",  # noqa: S608 - constants
        (owner,),
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


def _backlog(owner: str) -> int:
    """Events that are neither published, nor audited, nor parked."""
    unseen = database.execute_sql(
        "SELECT count(*) FROM event WHERE owner = ? AND seq >"
        " (SELECT filtered FROM owner WHERE owner = ?)",
        (owner, owner),
    ).fetchone()
    packaged = database.execute_sql(
        f"SELECT coalesce(sum(events), 0) FROM package WHERE owner = ? AND {_UNDER_WAY}",  # noqa: S608 - columns only
        (owner,),
    ).fetchone()
    waiting = database.execute_sql(
        "SELECT count(*) FROM waiting_call WHERE owner = ?", (owner,)
    ).fetchone()
    return int(unseen[0] + packaged[0] + waiting[0])


def overall() -> Positions:
    """Positions over all owners: what health shows."""
    received = events.last_seq()
    unfiltered = database.execute_sql(
        "SELECT min((SELECT min(seq) FROM event e WHERE e.owner = o.owner AND e.seq > o.filtered))"
        " FROM owner o WHERE o.received > o.filtered"
    ).fetchone()[0]
    waiting = database.execute_sql("SELECT min(seq) FROM waiting_call").fetchone()[0]
    lowest = {
        stages: database.execute_sql(
            f"SELECT min(first_seq) FROM package WHERE {_UNDER_WAY} AND stage IN ({stages})"  # noqa: S608 - constants
        ).fetchone()[0]
        for stages in (_UNSETTLED, _UNPUBLISHED)
    }
    backlog = sum(_backlog(owner) for owner in owners())
    return Positions(
        received=received,
        organized=_height(received, unfiltered, waiting, lowest[_UNSETTLED]),
        published=_height(received, unfiltered, waiting, lowest[_UNPUBLISHED]),
        backlog=backlog,
        dead=dead_letters.count(),
    )


def owners() -> list[str]:
    """Every owner that has events."""
    rows = database.execute_sql("SELECT owner FROM owner ORDER BY owner").fetchall()
    return [row[0] for row in rows]


def _height(received: int, *under_way: int | None) -> int:
    found = [seq for seq in under_way if seq is not None]
    return min(found) - 1 if found else received
