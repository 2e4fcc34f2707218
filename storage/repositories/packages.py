"""Packages' contents: their events with their repeats."""

from storage.database import database
from storage.records.runs import Package, PackagedEvent
from storage.repositories import events


def events_of(package: Package) -> list[PackagedEvent]:
    """A package's events in sequence, each with how often it was repeated."""
    rows = database.execute_sql(
        "SELECT seq, count, first_at, last_at, unanswered FROM package_event"
        " WHERE package_id = ? ORDER BY seq",
        (package.id,),
    ).fetchall()
    found = {event.seq: event for event in events.by_seqs(package.owner, [row[0] for row in rows])}
    return [
        PackagedEvent(found[seq], count, first_at, last_at, bool(unanswered))
        for seq, count, first_at, last_at, unanswered in rows
    ]
