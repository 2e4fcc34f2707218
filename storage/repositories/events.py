"""Events: looked up by id, written in groups, read by sequence."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from storage.database import database
from storage.records.events import Event, ObjectKind, ObjectRef, Priority, Role
from storage.repositories.codec import dump, load
from storage.tables import EventRow

_COLUMNS = "seq, owner, id, kind, at, role, stream, priority, text, rest, received_at"
_RECEIVED = (
    "INSERT INTO owner (owner, received, filtered, memory_version, settled) VALUES (?, ?, 0, 0, 0)"
    " ON CONFLICT (owner) DO UPDATE SET received = excluded.received"
)
_IN_LIMIT = 500
"""Values in one `IN` list; above it a statement is compiled anew for hardly any gain."""


@dataclass(frozen=True, slots=True)
class StoredIdentity:
    """What decides whether an id that comes again is a duplicate or a conflict.

    A forgotten one is a duplicate, whatever comes under its id.
    """

    seq: int
    hash: bytes
    redactor: str
    forgotten: bool = False


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A redacted event ready to be written, with its canonical hash.

    Sequence and time are given beside the event, which most often is the very object that came in:
    copying it for each would cost more than writing it.
    """

    event: Event
    hash: bytes
    redactor: str
    received_at: int
    redactions: Mapping[str, int] = field(default_factory=dict)


def identities(owner: str, ids: Sequence[str]) -> dict[str, StoredIdentity]:
    """What is stored under these ids of an owner; ids that are new are left out."""
    found: dict[str, StoredIdentity] = {}
    for part in parts(ids):
        marks = ",".join("?" * len(part))
        rows = database.execute_sql(
            f"SELECT id, seq, hash, redactor FROM event WHERE owner = ? AND id IN ({marks})",  # noqa: S608 - marks only
            (owner, *part),
        )
        for event_id, seq, digest, redactor in rows.fetchall():
            found[event_id] = StoredIdentity(seq, bytes(digest), redactor)
    return found


def last_seq() -> int:
    """The highest sequence number ever given, 0 when there is none."""
    row = database.execute_sql("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    return int(row[0]) if row else 0


def insert(new: Sequence[NewEvent], first_seq: int) -> None:
    """Write events under consecutive sequence numbers, and move their owners' received position.

    `executemany` with rows of our own: peewee's `insert_many` is nine times slower, and this is
    the one path where it shows (spec: design, Group commit).
    """
    database.connection().executemany(
        f"INSERT INTO event ({_COLUMNS}, hash, redactor) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",  # noqa: S608 - columns only
        [_row(item, seq) for seq, item in enumerate(new, first_seq)],
    )
    newest = {item.event.owner: seq for seq, item in enumerate(new, first_seq)}
    for owner, seq in newest.items():
        database.execute_sql(_RECEIVED, (owner, seq))


def _row(item: NewEvent, seq: int) -> tuple[Any, ...]:
    event = item.event
    rest: dict[str, Any] = {}
    for name in ("speaker", "ref", "task_id", "task_version", "request_id", "expires_at"):
        value = getattr(event, name)
        if value is not None:
            rest[name] = value
    if event.objects:
        rest["objects"] = [[o.id, o.kind.value if o.kind else None, o.title] for o in event.objects]
    for name in ("causes", "recalled"):
        if getattr(event, name):
            rest[name] = list(getattr(event, name))
    if event.data is not None:
        rest["data"] = event.data
    if item.redactions:
        rest["redactions"] = item.redactions
    return (
        seq, event.owner, event.id, event.kind, event.at, event.role.value, event.stream,
        int(event.priority), event.text, dump(rest) if rest else "{}", item.received_at, item.hash, item.redactor,
    )  # fmt: skip


def _event(row: Sequence[Any]) -> Event:
    seq, owner, event_id, kind, at, role, stream, priority, text, rest, received_at = row
    more = load(rest)
    return Event(
        owner=owner,
        id=event_id,
        kind=kind,
        at=at,
        role=Role(role),
        seq=seq,
        text=text,
        data=more.get("data"),
        stream=stream,
        speaker=more.get("speaker"),
        ref=more.get("ref"),
        objects=tuple(
            ObjectRef(name, ObjectKind(of) if of else None, title)
            for name, of, title in more.get("objects", ())
        ),
        task_id=more.get("task_id"),
        task_version=more.get("task_version"),
        request_id=more.get("request_id"),
        causes=tuple(more.get("causes", ())),
        priority=Priority(priority),
        recalled=tuple(more.get("recalled", ())),
        expires_at=more.get("expires_at"),
        received_at=received_at,
        redactions=more.get("redactions", {}),
    )


def after(owner: str, seq: int, limit: int) -> list[Event]:
    """An owner's events above a sequence number, in sequence."""
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM event WHERE owner = ? AND seq > ? ORDER BY seq LIMIT ?",  # noqa: S608 - columns only
        (owner, seq, limit),
    )
    return [_event(row) for row in rows.fetchall()]


def between(owner: str, after_seq: int, upto: int, limit: int) -> list[Event]:
    """An owner's events above one sequence number and up to another, in sequence."""
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM event WHERE owner = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",  # noqa: S608 - columns only
        (owner, after_seq, upto, limit),
    )
    return [_event(row) for row in rows.fetchall()]


def by_seqs(owner: str, seqs: Collection[int]) -> list[Event]:
    """An owner's events of these sequence numbers, in sequence."""
    return _select(owner, "seq", sorted(seqs))


def by_ids(owner: str, ids: Collection[str]) -> list[Event]:
    """An owner's events of these ids, in sequence; unknown ids are left out."""
    return _select(owner, "id", sorted(ids))


def _select(owner: str, column: str, values: Sequence[Any]) -> list[Event]:
    found: list[Event] = []
    for part in parts(values):
        marks = ",".join("?" * len(part))
        rows = database.execute_sql(
            f"SELECT {_COLUMNS} FROM event WHERE owner = ? AND {column} IN ({marks})",  # noqa: S608 - names of ours only
            (owner, *part),
        )
        found += [_event(row) for row in rows.fetchall()]
    return sorted(found, key=lambda event: event.seq)


def before_in_stream(owner: str, stream: str, seq: int, limit: int) -> list[Event]:
    """The newest events of a stream below a sequence number, oldest first.

    Only the last thousand events of the owner are looked through: a neighbour is near.
    """
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM event WHERE owner = ? AND seq < ? AND seq > ? AND stream = ?"  # noqa: S608 - columns only
        " ORDER BY seq DESC LIMIT ?",
        (owner, seq, seq - 1_000, stream, limit),
    )
    return [_event(row) for row in reversed(rows.fetchall())]


def moments_after(owner: str, seq: int, limit: int) -> list[int]:
    """When the owner's first events above a sequence number happened, in sequence."""
    rows = database.execute_sql(
        "SELECT at FROM event WHERE owner = ? AND seq > ? ORDER BY seq LIMIT ?", (owner, seq, limit)
    )
    return [row[0] for row in rows.fetchall()]


def acts_before(
    owner: str, seq: int, *, named: AbstractSet[str], requests: AbstractSet[str]
) -> list[Event]:
    """Calls and results at or below a sequence number that name these ids or share these requests.

    Only the last thousand events of the owner are looked through, as for neighbours.
    """
    if not named and not requests:
        return []
    rows = database.execute_sql(
        "SELECT seq, rest FROM event WHERE owner = ? AND seq <= ? AND seq > ?"
        " AND role IN ('executor', 'observation', 'verification', 'supervisor', 'runtime')"
        " AND (instr(rest, '\"request_id\"') OR instr(rest, '\"causes\"'))",
        (owner, seq, seq - 1_000),
    )
    wanted = []
    for found, rest in rows.fetchall():
        more = load(rest)
        if more.get("request_id") in requests or not named.isdisjoint(more.get("causes", ())):
            wanted.append(found)
    return by_seqs(owner, wanted)


def told_before(owner: str, seq: int, roles: Collection[Role], limit: int) -> list[Event]:
    """The newest texts of these roles at or below a sequence number, oldest first.

    Only the last thousand events of the owner are looked through, as for neighbours.
    """
    marks = ",".join("?" * len(roles))
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM event WHERE owner = ? AND seq <= ? AND seq > ?"  # noqa: S608 - columns and marks only
        f" AND role IN ({marks}) ORDER BY seq DESC LIMIT ?",
        (owner, seq, seq - 1_000, *(role.value for role in sorted(roles)), limit),
    )
    return [_event(row) for row in reversed(rows.fetchall())]


def count(owner: str) -> int:
    """How many events an owner has."""
    return int(EventRow.select().where(EventRow.owner == owner).count())


def parts(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Cut values into lists that one `IN` takes."""
    for start in range(0, len(values), _IN_LIMIT):
        yield values[start : start + _IN_LIMIT]
