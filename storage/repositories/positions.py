"""Positions: how far an owner's events have come, worked out from cursor and ledger."""

from dataclasses import replace
from typing import Final

from storage.database import database
from storage.records.events import Positions
from storage.repositories import dead_letters, events

_UNDER_WAY: Final = "work = 'events' AND state IN ('open', 'ready', 'leased')"
_UNSETTLED: Final = "'observe', 'merge'"
_UNPUBLISHED: Final = "'observe', 'merge', 'index', 'publish'"


def _first(stages: str, whose: str = "") -> str:
    return (
        f"(SELECT min(first_seq) FROM package WHERE {whose} stage IN ({stages}) AND {_UNDER_WAY})"  # noqa: S608 - constants
    )


_HEIGHTS: Final = (
    "SELECT received, filtered,"  # noqa: S608 - constants
    f" {_first(_UNSETTLED, 'owner = o.owner AND')}, {_first(_UNPUBLISHED, 'owner = o.owner AND')},"
    " (SELECT min(seq) FROM waiting_call w WHERE w.owner = o.owner)"
    " FROM owner o WHERE owner = ?"
)


def heights(owner: str) -> Positions:
    """Received, organized and published alone: what every ingest answers, so it is one query.

    Below the lowest sequence that is under way everything is done, whoever's it is.
    """
    row = database.execute_sql(_HEIGHTS, (owner,)).fetchone()
    if row is None:
        return Positions()
    received, filtered, unsettled, unpublished, waiting = row
    return Positions(
        received=received,
        organized=_height(filtered, unsettled, waiting),
        published=_height(filtered, unsettled, unpublished, waiting),
    )


def of(owner: str) -> Positions:
    """How far an owner's events have come (spec: protocol, Positions)."""
    return replace(heights(owner), backlog=_backlog(owner), dead=dead_letters.count(owner))


def _backlog(owner: str) -> int:
    """Events that are neither published, nor audited, nor parked."""
    unseen = database.execute_sql(
        "SELECT count(*) FROM event WHERE owner = ? AND seq >"
        " (SELECT filtered FROM owner WHERE owner = ?)",
        (owner, owner),
    ).fetchone()
    packaged = database.execute_sql(
        "SELECT count(*) FROM package p JOIN event_fate f ON f.package_id = p.id"  # noqa: S608 - constants
        f" WHERE p.owner = ? AND p.{_UNDER_WAY}",
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
    unsettled, unpublished = database.execute_sql(
        f"SELECT {_first(_UNSETTLED)}, {_first(_UNPUBLISHED)}"
    ).fetchone()
    unseen = database.execute_sql(
        "SELECT coalesce(sum((SELECT count(*) FROM event e WHERE e.owner = o.owner"
        " AND e.seq > o.filtered)), 0) FROM owner o WHERE o.received > o.filtered"
    ).fetchone()[0]
    packaged, calls = database.execute_sql(
        f"SELECT (SELECT coalesce(sum(events), 0) FROM package WHERE {_UNDER_WAY}),"  # noqa: S608 - constants
        " (SELECT count(*) FROM waiting_call)"
    ).fetchone()
    return Positions(
        received=received,
        organized=_height(received, unfiltered, waiting, unsettled),
        published=_height(received, unfiltered, waiting, unsettled, unpublished),
        backlog=unseen + packaged + calls,
        dead=dead_letters.count(),
    )


def owners() -> list[str]:
    """The owners that have events, the first thousand by name."""
    rows = database.execute_sql(
        "SELECT owner FROM owner WHERE received > 0 ORDER BY owner LIMIT 1000"
    ).fetchall()
    return [row[0] for row in rows]


def _height(otherwise: int, *under_way: int | None) -> int:
    found = [seq for seq in under_way if seq is not None]
    return min(found) - 1 if found else otherwise
