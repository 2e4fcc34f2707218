"""Packages' contents: their events with their repeats; and packages that carry none."""

from typing import Any

from storage.database import database
from storage.records.events import Priority
from storage.records.runs import Package, PackagedEvent, PackageWork, Stage
from storage.repositories import events
from storage.repositories.codec import dump


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


def task_states(package_id: int) -> frozenset[str]:
    """The states that a package's events give of tasks."""
    rows = database.execute_sql(
        "SELECT DISTINCT json_extract(e.rest, '$.data.state') FROM package_event p"
        " JOIN event e ON e.seq = p.seq WHERE p.package_id = ? AND e.kind = 'task.state'",
        (package_id,),
    )
    return frozenset(row[0] for row in rows.fetchall() if isinstance(row[0], str))


def open_act(owner: str, object_id: str, now: int) -> int:
    """Create the package of a change that somebody asked for; it has been settled already.

    Returns:
        Its id. It is ready for *index* once `settled_act` has noted what it changed.
    """
    return _create(owner, object_id, PackageWork.ACT, Stage.INDEX, now, Priority.HIGH)


def settled_act(package_id: int, *, inserted: list[str], updated: list[str], now: int) -> None:
    """Note which records an act has written, for *index* and *publish* to take up."""
    database.execute_sql(
        "INSERT INTO stage_output (package_id, stage, fence, committed_at, answer)"
        " VALUES (?, 'merge', 0, ?, ?)",
        (package_id, now, dump({"records": inserted, "updated": updated})),
    )


def open_compaction(owner: str, object_id: str, now: int) -> int | None:
    """Create the package that compacts an object, unless one waits already; its id."""
    waiting = database.execute_sql(
        "SELECT 1 FROM package WHERE owner = ? AND lane = ? AND state = 'ready' AND stage = 'merge'"
        " AND work = 'compact' LIMIT 1",
        (owner, _lane(PackageWork.COMPACT, object_id)),
    ).fetchone()
    if waiting:
        return None
    return _create(owner, object_id, PackageWork.COMPACT, Stage.MERGE, now, Priority.LOW)


def _create(
    owner: str, object_id: str, work: PackageWork, stage: Stage, now: int, priority: Priority
) -> int:
    values: tuple[Any, ...] = (
        owner, _lane(work, object_id), object_id, stage.value, int(priority), now, now, work.value,
    )  # fmt: skip
    row = database.execute_sql(
        "INSERT INTO package (owner, lane, object_id, stage, state, priority, attempt, fence,"
        " next_attempt_at, first_seq, last_seq, last_at, events, tokens, opened_at, close_at, work)"
        " VALUES (?,?,?,?,'ready',?,0,0,0,0,0,0,0,0,?,?,?) RETURNING id",
        values,
    ).fetchone()
    return int(row[0])


def _lane(work: PackageWork, object_id: str) -> str:
    """A lane of its own: nobody's confirmation waits behind a task's backlog."""
    return f"{work.value}:{object_id}"
