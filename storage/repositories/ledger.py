"""The ledger: what is under way, who holds it until when, and what failed.

Every change of a leased package names its fence; a fence that has moved on changes nothing
(spec: design, invariant 2). All functions that write run inside a transaction of the writer.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.database import database
from storage.records.events import Priority
from storage.records.runs import FaultKind, Package, PackageState, PackageWork, Stage
from storage.repositories import stage_controls
from storage.repositories.codec import dump, load

_COLUMNS: Final = (
    "id, owner, lane, object_id, stage, state, attempt, fence, priority, first_seq, last_seq,"
    " events, opened_at, lease_until, next_attempt_at, task_id, error, nothing_kept, closed_by,"
    " work"
)

AGING_MS: Final = 60_000
CANDIDATES: Final = 200
"""Packages of one priority that a claim chooses among."""


def _package(row: Sequence[Any]) -> Package:
    (
        number, owner, lane, object_id, stage, state, attempt, fence, priority, first_seq, last_seq,
        events, opened_at, lease_until, next_attempt_at, task_id, error, nothing, closed_by,
        work,
    ) = row  # fmt: skip
    return Package(
        id=number,
        owner=owner,
        lane=lane,
        object_id=object_id,
        stage=Stage(stage),
        state=PackageState(state),
        attempt=attempt,
        fence=fence,
        priority=Priority(priority),
        first_seq=first_seq,
        last_seq=last_seq,
        events=events,
        opened_at=opened_at,
        lease_until=lease_until,
        next_attempt_at=next_attempt_at,
        task_id=task_id,
        error=error,
        nothing=nothing,
        closed_by=closed_by,
        work=PackageWork(work),
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim asks for. Times are epoch milliseconds, `lease_ms` and `hard_ms` durations.

    `by` names the kind of worker, and `concurrency` bounds the alive leases that this kind has at
    the stage; None leaves them unbounded. `apart` asks for packages of different objects too, as an
    outside worker gets them.
    """

    stage: Stage
    now: int
    lease_ms: int
    hard_ms: int
    by: str
    limit: int = 1
    concurrency: int | None = None
    owner: str | None = None
    apart: bool = False


def claim(wanted: Claim) -> list[Package]:
    """Lease due packages of a stage, by priority and age, one of a lane at a time.

    A package gains a rank with each minute that it waits, so that nothing is stepped over for good.
    One that has failed before is claimed alone: should it take its worker down, it takes no other
    package with it.

    Returns:
        The packages with their new fence; none when nothing is due, the stage is paused, or its
        concurrency is used up.
    """
    if stage_controls.is_paused(wanted.stage):
        return []
    if wanted.concurrency is not None and _alive(wanted) > (wanted.concurrency - 1) * wanted.limit:
        return []
    chosen = _choose(wanted)
    if not chosen:
        return []
    marks = ",".join("?" * len(chosen))
    rows = database.execute_sql(
        "UPDATE package SET state = 'leased', fence = fence + 1, lease_until = ?, lease_end = ?,"  # noqa: S608 - marks only
        f" observer = ? WHERE id IN ({marks}) RETURNING {_COLUMNS}",
        (
            wanted.now + min(wanted.lease_ms, wanted.hard_ms), wanted.now + wanted.hard_ms,
            wanted.by, *chosen,
        ),
    ).fetchall()  # fmt: skip
    return sorted((_package(row) for row in rows), key=lambda found: (found.priority, found.id))


def _choose(wanted: Claim) -> list[int]:
    """The ids of the packages to lease, out of the oldest due ones of each priority."""
    ranked = []
    for priority in Priority:
        for number, owner, lane, object_id, attempt, opened_at in _candidates(wanted, priority):
            waited = max(0, wanted.now - opened_at) // AGING_MS
            alone = {(owner, "lane", lane)}
            if wanted.apart:
                alone.add((owner, "object", object_id))
            ranked.append((max(0, priority - waited), number, alone, attempt))
    chosen: list[int] = []
    taken: set[tuple[str, str, str]] = set()
    for _, number, alone, attempt in sorted(ranked, key=lambda found: found[:2]):
        if alone & taken or (attempt and chosen):
            continue
        chosen.append(number)
        taken |= alone
        if attempt or len(chosen) == wanted.limit:
            break
    return chosen


def _candidates(wanted: Claim, priority: Priority) -> list[tuple[Any, ...]]:
    same = "q.lane = p.lane OR q.object_id = p.object_id" if wanted.apart else "q.lane = p.lane"
    owner = "AND p.owner = ?" if wanted.owner is not None else ""
    values: list[Any] = [wanted.stage.value, int(priority), wanted.now]
    if wanted.owner is not None:
        values.append(wanted.owner)
    rows = database.execute_sql(
        "SELECT p.id, p.owner, p.lane, p.object_id, p.attempt, p.opened_at FROM package p"  # noqa: S608 - names of ours only
        " WHERE p.state = 'ready' AND p.stage = ? AND p.priority = ? AND p.next_attempt_at <= ?"
        f" {owner} AND NOT EXISTS (SELECT 1 FROM package q WHERE q.state = 'leased'"
        f" AND q.owner = p.owner AND ({same})) ORDER BY p.id LIMIT ?",
        (*values, CANDIDATES),
    )
    return list(rows.fetchall())


def _alive(wanted: Claim) -> int:
    row = database.execute_sql(
        "SELECT count(*) FROM package WHERE state = 'leased' AND stage = ? AND observer = ?",
        (wanted.stage.value, wanted.by),
    ).fetchone()
    return int(row[0])


def due(now: int) -> list[Stage]:
    """The stages that have a package ready to be claimed."""
    rows = database.execute_sql(
        "SELECT DISTINCT stage FROM package WHERE state = 'ready' AND next_attempt_at <= ?", (now,)
    )
    return [Stage(stage) for (stage,) in rows.fetchall()]


def oldest_due(now: int) -> int | None:
    """Since when the longest waiting of the due packages could have been claimed."""
    row = database.execute_sql(
        "SELECT min(max(next_attempt_at, opened_at)) FROM package"
        " WHERE state = 'ready' AND next_attempt_at <= ?",
        (now,),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def holds(package: Package) -> bool:
    """Whether this claim of the package is still the one that counts."""
    row = database.execute_sql(
        "SELECT 1 FROM package WHERE id = ? AND fence = ? AND stage = ? AND state = 'leased'",
        (package.id, package.fence, package.stage.value),
    ).fetchone()
    return row is not None


def advance(
    package: Package, *, now: int, answer: object = None, nothing: str | None = None
) -> Package | None:
    """Move a leased package past its stage and note the stage's output.

    Returns:
        The package at its next stage, still leased, or done after the last one; None when the
        lease has passed to another, and then nothing was changed.
    """
    after = package.stage.next
    state = PackageState.LEASED if after else PackageState.DONE
    rows = database.execute_sql(
        "UPDATE package SET stage = ?, state = ?, attempt = 0, error = NULL, fault = NULL,"  # noqa: S608 - columns only
        " nothing_kept = coalesce(?, nothing_kept)"
        f" WHERE id = ? AND fence = ? AND stage = ? AND state = 'leased' RETURNING {_COLUMNS}",
        (
            (after or package.stage).value,
            state.value,
            nothing,
            package.id,
            package.fence,
            package.stage.value,
        ),
    ).fetchall()
    if not rows:
        return None
    database.execute_sql(
        "INSERT INTO stage_output (package_id, stage, fence, committed_at, answer)"
        " VALUES (?,?,?,?,?)",
        (
            package.id, package.stage.value, package.fence, now,
            None if answer is None else dump(answer),
        ),
    )  # fmt: skip
    return _package(rows[0])


def release(package: Package, *, next_attempt_at: int = 0) -> bool:
    """Give a leased package back without a failure."""
    return _guarded(package, "state = 'ready', lease_until = NULL, next_attempt_at = ?",
                    next_attempt_at)  # fmt: skip


def back_off(package: Package, *, next_attempt_at: int, kind: FaultKind, error: str) -> bool:
    """Note a failure and let the package wait for its next attempt."""
    return _guarded(
        package,
        "state = 'ready', lease_until = NULL, attempt = attempt + 1, next_attempt_at = ?,"
        " fault = ?, error = ?",
        next_attempt_at, kind.value, error,
    )  # fmt: skip


def park(package: Package, *, now: int, kind: FaultKind, error: str) -> bool:
    """Make a package a dead letter: an operator sees it and nothing waits for it."""
    return _guarded(
        package,
        "state = 'dead', lease_until = NULL, attempt = attempt + 1, parked_at = ?, fault = ?,"
        " error = ?",
        now, kind.value, error,
    )  # fmt: skip


def _guarded(package: Package, change: str, *values: object) -> bool:
    cursor = database.execute_sql(
        f"UPDATE package SET {change} WHERE id = ? AND fence = ? AND stage = ?"  # noqa: S608 - columns only
        " AND state = 'leased'",
        (*values, package.id, package.fence, package.stage.value),
    )
    return bool(cursor.rowcount)


def renew(held: Collection[tuple[int, int]], *, until: int) -> None:
    """Lengthen leases, each named by package and fence, but never past its hard end."""
    for package_id, fence in held:
        database.execute_sql(
            "UPDATE package SET lease_until = min(?, lease_end)"
            " WHERE id = ? AND fence = ? AND state = 'leased'",
            (until, package_id, fence),
        )


def any_near_end(held: Collection[tuple[int, int]], before: int) -> bool:
    """Whether a lease of these, each named by package and fence, ends before that time."""
    marks = ",".join("?" * len(held))
    return bool(
        database.execute_sql(
            f"SELECT 1 FROM package WHERE id IN ({marks}) AND state = 'leased'"  # noqa: S608 - marks only
            " AND lease_until < min(?, lease_end) LIMIT 1",
            (*[package_id for package_id, _ in held], before),
        ).fetchone()
    )


def expired(now: int) -> list[Package]:
    """Leased packages whose time is over."""
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM package WHERE state = 'leased' AND lease_until < ?",  # noqa: S608 - columns only
        (now,),
    )
    return [_package(row) for row in rows.fetchall()]


def close_due(now: int) -> int:
    """Make ready the open packages whose 30 seconds are over; how many there were."""
    cursor = database.execute_sql(
        "UPDATE package SET state = 'ready', closed_by = 'age'"
        " WHERE state = 'open' AND close_at <= ?",
        (now,),
    )
    return int(cursor.rowcount)


def has_closable(now: int) -> bool:
    """Whether an open package's time is over."""
    return bool(
        database.execute_sql(
            "SELECT 1 FROM package WHERE state = 'open' AND close_at <= ? LIMIT 1", (now,)
        ).fetchone()
    )


def flush(owner: str | None) -> int:
    """Make ready every open package, of one owner or of all; how many there were."""
    where = "" if owner is None else " AND owner = ?"
    cursor = database.execute_sql(
        f"UPDATE package SET state = 'ready', closed_by = 'flush' WHERE state = 'open'{where}",  # noqa: S608 - columns only
        () if owner is None else (owner,),
    )
    return int(cursor.rowcount)


def split(package: Package, *, at: int, attempt: int, next_attempt_at: int) -> tuple[int, ...]:
    """Put a package's events into two new ones, so that a poison event ends up alone.

    The old package's row goes: its events are all in the new ones, and no stage had an effect.

    Args:
        package: A leased package of at least two events at *observe* or *merge*.
        at: How many events the first half takes.
        attempt: The failures that the halves begin with.
        next_attempt_at: When they may be tried.

    Returns:
        The ids of the two packages, none if the lease has passed to another.
    """
    if not holds(package):
        return ()
    rows = database.execute_sql(
        "SELECT seq FROM package_event WHERE package_id = ? ORDER BY seq", (package.id,)
    ).fetchall()
    seqs = [row[0] for row in rows]
    made = tuple(
        _take_half(package.id, half, attempt, next_attempt_at) for half in (seqs[:at], seqs[at:])
    )
    for table in ("proposal", "stage_output"):
        database.execute_sql(f"DELETE FROM {table} WHERE package_id = ?", (package.id,))  # noqa: S608 - names of ours
    database.execute_sql("DELETE FROM package WHERE id = ?", (package.id,))
    return made


def _take_half(package_id: int, half: Sequence[int], attempt: int, next_attempt_at: int) -> int:
    """Move these events of a package, and the fates that go with them, into one of its own."""
    copied = database.execute_sql(
        "INSERT INTO package (owner, lane, object_id, task_id, stage, state, priority, attempt,"
        " fence, next_attempt_at, first_seq, last_seq, last_at, events, tokens, opened_at,"
        " close_at, closed_by)"
        " SELECT owner, lane, object_id, task_id, 'observe', 'ready', priority, ?, fence, ?, ?,"
        " ?, last_at, ?, tokens / 2, opened_at, close_at, 'split' FROM package WHERE id = ?"
        " RETURNING id",
        (attempt, next_attempt_at, half[0], half[-1], len(half), package_id),
    ).fetchone()
    made = int(copied[0])
    values = (made, package_id, half[0], half[-1])
    database.execute_sql(
        "UPDATE package_event SET package_id = ? WHERE package_id = ? AND seq BETWEEN ? AND ?",
        values,
    )
    database.execute_sql(
        "UPDATE event_fate SET package_id = ? WHERE package_id = ?"
        " AND coalesce(into_seq, seq) BETWEEN ? AND ?",
        values,
    )
    return made


def get(package_id: int) -> Package | None:
    """One package."""
    row = database.execute_sql(
        f"SELECT {_COLUMNS} FROM package WHERE id = ?",  # noqa: S608 - columns only
        (package_id,),
    ).fetchone()
    return _package(row) if row else None


def was_given(package_id: int) -> bool:
    """Whether a package has ever had that id, though a split may have taken its row away."""
    row = database.execute_sql("SELECT seq FROM sqlite_sequence WHERE name = 'package'").fetchone()
    return row is not None and 0 < package_id <= row[0]


def output(package_id: int, stage: Stage) -> tuple[int, Any] | None:
    """The fence and the answer that a stage's output was committed with."""
    row = database.execute_sql(
        "SELECT fence, answer FROM stage_output WHERE package_id = ? AND stage = ?",
        (package_id, stage.value),
    ).fetchone()
    return (row[0], load(row[1]) if row[1] else None) if row else None


def listing(states: Collection[PackageState], *, after: int, limit: int) -> list[Package]:
    """Packages in any of these states, above an id, in order of id."""
    marks = ",".join("?" * len(states))
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM package WHERE state IN ({marks}) AND id > ? ORDER BY id LIMIT ?",  # noqa: S608 - marks only
        (*[state.value for state in states], after, limit),
    )
    return [_package(row) for row in rows.fetchall()]


def counts() -> dict[str, dict[str, int]]:
    """How many packages there are, by stage and state; the done ones by state alone."""
    rows = database.execute_sql(
        "SELECT stage, state, count(*) FROM package GROUP BY stage, state"
    ).fetchall()
    found: dict[str, dict[str, int]] = {}
    for stage, state, number in rows:
        found.setdefault(stage, {})[state] = number
    return found


def event_ids(package_id: int) -> tuple[str, ...]:
    """The ids of a package's events, in sequence."""
    rows = database.execute_sql(
        "SELECT e.id FROM package_event p JOIN event e ON e.seq = p.seq"
        " WHERE p.package_id = ? ORDER BY p.seq",
        (package_id,),
    )
    return tuple(row[0] for row in rows.fetchall())


def touched_records(package_id: int) -> list[str]:
    """The ids of the records that *merge* has written for a package."""
    merged = output(package_id, Stage.MERGE)
    if merged is None or merged[1] is None:
        return []
    return [*merged[1]["records"], *merged[1]["updated"]]
