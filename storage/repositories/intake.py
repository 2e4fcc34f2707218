"""What the filter reads and writes: cursors, open packages, calls that wait, fates."""

from collections.abc import Collection, Sequence

from storage.database import database
from storage.records.events import Fate, Priority
from storage.records.packing import DraftPackage, FateNote, WaitingCall
from storage.repositories.events import parts
from storage.tables import (
    OwnerRow,
    PackageRow,
    WaitingCallRow,
)


def behind() -> list[tuple[str, int]]:
    """Owners with events that the filter has not seen, and how far it came with each."""
    rows = database.execute_sql("SELECT owner, filtered FROM owner WHERE received > filtered")
    return [(owner, filtered) for owner, filtered in rows.fetchall()]


def owners() -> list[str]:
    """Everybody who has a memory here, by name."""
    rows = database.execute_sql("SELECT owner FROM owner ORDER BY owner")
    return [row[0] for row in rows.fetchall()]


def fates_of(seqs: Sequence[int]) -> dict[int, Fate]:
    """What the filter made of these events."""
    found: dict[int, Fate] = {}
    for part in parts(seqs):
        rows = database.execute_sql(
            f"SELECT seq, fate FROM event_fate WHERE seq IN ({','.join('?' * len(part))})",  # noqa: S608 - marks only
            tuple(part),
        )
        found.update((seq, Fate(fate)) for seq, fate in rows.fetchall())
    return found


def homes_of(seqs: Sequence[int]) -> dict[int, tuple[Fate, str, int | None, bool]]:
    """Where the filter has put these: fate, reason, package, and whether as a call without result."""
    found: dict[int, tuple[Fate, str, int | None, bool]] = {}
    for part in parts(seqs):
        rows = database.execute_sql(
            "SELECT f.seq, f.fate, f.reason, f.package_id, p.unanswered FROM event_fate f"  # noqa: S608 - marks only
            " LEFT JOIN package_event p ON p.package_id = f.package_id AND p.seq = f.seq"
            f" WHERE f.seq IN ({','.join('?' * len(part))})",
            tuple(part),
        )
        for seq, fate, reason, package_id, unanswered in rows.fetchall():
            found[seq] = (Fate(fate), reason, package_id, bool(unanswered))
    return found


def filtered(owner: str) -> int:
    """How far the filter came with an owner."""
    row = database.execute_sql("SELECT filtered FROM owner WHERE owner = ?", (owner,)).fetchone()
    return int(row[0]) if row else 0


def received(owner: str) -> int:
    """The highest sequence number that was given to an event of an owner."""
    row = database.execute_sql("SELECT received FROM owner WHERE owner = ?", (owner,)).fetchone()
    return int(row[0]) if row else 0


def move_cursor(owner: str, *, seen: int, to: int) -> bool:
    """Move the filter's cursor, if it still stands where the caller saw it."""
    changed = (
        OwnerRow.update({OwnerRow.filtered: to})
        .where(OwnerRow.owner == owner, OwnerRow.filtered == seen)
        .execute()
    )
    return bool(changed)


def open_packages(owner: str) -> list[DraftPackage]:
    """An owner's packages that still take events."""
    found = {}
    for row in PackageRow.select().where(PackageRow.owner == owner, PackageRow.state == "open"):
        found[row.id] = DraftPackage(
            owner=owner,
            lane=row.lane,
            object_id=row.object_id,
            task_id=row.task_id,
            priority=Priority(row.priority),
            opened_at=row.opened_at,
            close_at=row.close_at,
            id=row.id,
            events=row.events,
            tokens=row.tokens,
            first_seq=row.first_seq,
            last_seq=row.last_seq,
            last_at=row.last_at,
            instants={row.last_at},
        )
    if found:
        marks = ",".join("?" * len(found))
        signed = database.execute_sql(
            "SELECT package_id, signature, seq FROM package_event"  # noqa: S608 - marks only
            f" WHERE package_id IN ({marks}) AND signature IS NOT NULL",
            tuple(found),
        )
        for package_id, signature, seq in signed.fetchall():
            found[package_id].known[signature] = seq
    return list(found.values())


def still_open(packages: Sequence[DraftPackage]) -> bool:
    """Whether every one of these that is stored still takes events."""
    ids = [package.id for package in packages if package.id is not None]
    if not ids:
        return True
    number = PackageRow.select().where(PackageRow.id.in_(ids), PackageRow.state == "open").count()
    return bool(number == len(ids))


def waiting_calls(
    owner: str, *, answered: Collection[str], requests: Collection[str], overdue: int
) -> list[WaitingCall]:
    """An owner's waiting calls that a pass has to do with.

    Args:
        owner: Whose.
        answered: Event ids that new events name as their causes.
        requests: Request ids that new events carry.
        overdue: Those that have waited since before this time, a few hundred of them at once.
    """
    ways: list[tuple[str, list[object]]] = [("since <= ? ORDER BY seq LIMIT 200", [overdue])]
    for column, wanted in (("event_id", answered), ("request_id", requests)):
        ways += [
            (f"{column} IN ({','.join('?' * len(part))})", list(part))
            for part in parts(sorted(wanted))
        ]
    found: dict[int, WaitingCall] = {}
    for where, values in ways:
        rows = database.execute_sql(
            "SELECT seq, lane, event_id, request_id, since FROM waiting_call"  # noqa: S608 - conditions of ours only
            f" WHERE owner = ? AND {where}",
            (owner, *values),
        )
        found.update((row[0], WaitingCall(*row)) for row in rows.fetchall())
    return [found[seq] for seq in sorted(found)]


def overdue_calls(before: int) -> list[str]:
    """Owners with a call that has waited since before that time."""
    rows = database.execute_sql(
        "SELECT DISTINCT owner FROM waiting_call WHERE since <= ?", (before,)
    )
    return [row[0] for row in rows.fetchall()]


def write_packages(packages: Sequence[DraftPackage]) -> None:
    """Create or update packages with what was added to them."""
    for package in packages:
        if package.id is None:
            package.id = _create(package)
        else:
            _update(package)
        connection = database.connection()
        connection.executemany(
            "INSERT INTO package_event (package_id, seq, count, first_at, last_at, signature,"
            " unanswered) VALUES (?,?,?,?,?,?,?)",
            [
                (package.id, e.seq, e.count, e.first_at, e.last_at, e.signature, int(e.unanswered))
                for e in package.added
            ],
        )
        connection.executemany(
            "UPDATE package_event SET count = count + ?, first_at = min(first_at, ?),"
            " last_at = max(last_at, ?) WHERE package_id = ? AND seq = ?",
            [(e.count, e.first_at, e.last_at, package.id, e.seq)
             for e in package.repeated.values()],
        )  # fmt: skip


def _create(package: DraftPackage) -> int:
    row = database.execute_sql(
        "INSERT INTO package (owner, lane, object_id, task_id, stage, state, priority, attempt,"
        " fence, next_attempt_at, first_seq, last_seq, last_at, events, tokens, opened_at,"
        " close_at, closed_by)"
        " VALUES (?,?,?,?,'observe',?,?,0,0,0,?,?,?,?,?,?,?,?) RETURNING id",
        (
            package.owner, package.lane, package.object_id, package.task_id,
            "ready" if package.closed_by else "open", int(package.priority), package.first_seq,
            package.last_seq, package.last_at, package.events, package.tokens, package.opened_at,
            package.close_at, package.closed_by,
        ),
    ).fetchone()  # fmt: skip
    return int(row[0])


def _update(package: DraftPackage) -> None:
    database.execute_sql(
        "UPDATE package SET state = ?, priority = ?, first_seq = ?, last_seq = ?, last_at = ?,"
        " events = ?, tokens = ?, closed_by = ? WHERE id = ?",
        (
            "ready" if package.closed_by else "open", int(package.priority), package.first_seq,
            package.last_seq, package.last_at, package.events, package.tokens, package.closed_by,
            package.id,
        ),
    )  # fmt: skip


def write_fates(owner: str, notes: Sequence[FateNote]) -> None:
    """Note what became of events; packages must have been written before."""
    database.connection().executemany(
        "INSERT OR REPLACE INTO event_fate (seq, owner, fate, reason, package_id, into_seq)"
        " VALUES (?,?,?,?,?,?)",
        [
            (n.seq, owner, n.fate.value, n.reason, n.package.id if n.package else None, n.into_seq)
            for n in notes
        ],
    )


def write_objects(owner: str, rows: Sequence[tuple[str, int, int]]) -> None:
    """Note which objects events belong to: object id, sequence, place (0 is primary)."""
    database.connection().executemany(
        "INSERT OR IGNORE INTO event_object (owner, object_id, seq, place) VALUES (?,?,?,?)",
        [(owner, *row) for row in rows],
    )


def naming(owner: str, object_id: str, limit: int) -> list[int]:
    """The sequence numbers of the first events that name an object, in sequence."""
    rows = database.execute_sql(
        "SELECT seq FROM event_object WHERE owner = ? AND object_id = ? ORDER BY seq LIMIT ?",
        (owner, object_id, limit),
    )
    return [row[0] for row in rows.fetchall()]


def await_results(owner: str, calls: Sequence[WaitingCall]) -> None:
    """Let calls wait for their results."""
    for call in calls:
        WaitingCallRow.insert(
            seq=call.seq,
            owner=owner,
            lane=call.lane,
            event_id=call.event_id,
            request_id=call.request_id,
            since=call.since,
        ).execute()


def end_waiting(seqs: Sequence[int]) -> int:
    """Let calls wait no longer; how many of them were still waiting."""
    if not seqs:
        return 0
    return int(WaitingCallRow.delete().where(WaitingCallRow.seq.in_(list(seqs))).execute())
