"""Tombstones: what an owner has had forgotten, so that it does not come back.

A tombstone holds no content: a digest of an id, and of an event the sequence number that it had.
Functions that write run inside a transaction of the writer.
"""

from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from typing import Any, Final

from storage.database import database
from storage.repositories.events import parts

_EVENT: Final = "event"
_RECORD: Final = "record"
_PERSON: Final = b"tombstone"


def write_events(owner: str, gone: Iterable[tuple[str, int]]) -> None:
    """Let these events, each by id and sequence number, not come back."""
    _write(owner, _EVENT, gone)


def write_records(owner: str, gone: Iterable[str]) -> None:
    """Let records of these ids not come back."""
    _write(owner, _RECORD, ((record_id, None) for record_id in gone))


def _write(owner: str, kind: str, gone: Iterable[tuple[str, int | None]]) -> None:
    database.connection().executemany(
        "INSERT OR IGNORE INTO tombstone (owner, kind, digest, seq) VALUES (?,?,?,?)",
        [(owner, kind, _digest(name), seq) for name, seq in gone],
    )


def any_of(owner: str) -> bool:
    """Whether an owner has had anything forgotten."""
    return count(owner) > 0


def count(owner: str) -> int:
    """How many transactions have forgotten something of an owner.

    What was worked out before one of them must not be written after it: whoever works something
    out reads this first, and compares when it writes.
    """
    row = database.execute_sql("SELECT forgotten FROM owner WHERE owner = ?", (owner,)).fetchone()
    return int(row[0]) if row else 0


def add_to_count(owner: str) -> int:
    """Count one more; the new number."""
    row = database.execute_sql(
        "INSERT INTO owner (owner, received, filtered, memory_version, settled, forgotten)"
        " VALUES (?,0,0,0,0,1) ON CONFLICT (owner) DO UPDATE SET forgotten = forgotten + 1"
        " RETURNING forgotten",
        (owner,),
    ).fetchone()
    return int(row[0])


def forgotten_events(owner: str, ids: Collection[str]) -> dict[str, int]:
    """Which of these event ids an owner has had forgotten, each with its sequence number."""
    return {name: int(seq or 0) for name, seq in _found(owner, _EVENT, ids).items()}


def forgotten_records(owner: str, ids: Collection[str]) -> frozenset[str]:
    """Which of these record ids an owner has had forgotten."""
    return frozenset(_found(owner, _RECORD, ids))


def _found(owner: str, kind: str, ids: Collection[str]) -> dict[str, Any]:
    by_digest = {_digest(name): name for name in ids}
    found: dict[str, Any] = {}
    for part in parts(list(by_digest)):
        rows = database.execute_sql(
            "SELECT digest, seq FROM tombstone WHERE owner = ? AND kind = ?"  # noqa: S608 - marks only
            f" AND digest IN ({','.join('?' * len(part))})",
            (owner, kind, *part),
        )
        found.update((by_digest[bytes(digest)], seq) for digest, seq in rows.fetchall())
    return found


def everything(owner: str, after: bytes, limit: int) -> Sequence[tuple[str, bytes, int | None]]:
    """An owner's tombstones above a digest, as a backup or an export carries them on."""
    rows = database.execute_sql(
        "SELECT kind, digest, seq FROM tombstone WHERE owner = ? AND digest > ?"
        " ORDER BY digest LIMIT ?",
        (owner, after, limit),
    )
    return [(kind, bytes(digest), seq) for kind, digest, seq in rows.fetchall()]


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16, person=_PERSON).digest()
