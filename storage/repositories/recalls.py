"""Recall requests: the same id is the same request, and its result is kept."""

from dataclasses import dataclass
from typing import Any

from storage.database import database
from storage.errors import StaleError
from storage.repositories import tombstones
from storage.repositories.codec import dump, load
from storage.tables import RecallRequestRow


@dataclass(frozen=True, slots=True)
class StoredRecall:
    """A recall request as it stands; `result` is the wire form of its result, None while pending.

    `forgotten` is the owner's count of forgettings that a new result was found under.
    """

    owner: str
    request_id: str
    params: dict[str, Any]
    params_hash: bytes
    state: str
    result: dict[str, Any] | None
    forgotten: int | None = None


def find(owner: str, request_id: str) -> StoredRecall | None:
    """The request of that id, or None."""
    row = RecallRequestRow.get_or_none(
        RecallRequestRow.owner == owner, RecallRequestRow.request_id == request_id
    )
    return _stored(row) if row else None


def pending() -> list[StoredRecall]:
    """Requests that have no result yet, oldest first."""
    rows = RecallRequestRow.select().where(RecallRequestRow.state == "pending")
    return [_stored(row) for row in rows.order_by(RecallRequestRow.created_at)]


def write(stored: StoredRecall, now: int) -> bool:
    """Keep a request, with its result once there is one.

    Returns:
        Whether it was kept: not if its id stands for another request by now.

    Raises:
        StaleError: Something was forgotten since the result was found, which may tell of it.
    """
    if stored.forgotten is not None and tombstones.count(stored.owner) != stored.forgotten:
        raise StaleError(details={"moved": "memory"})
    known = find(stored.owner, stored.request_id)
    if known is not None and known.params_hash != stored.params_hash:
        return False
    if known is not None and known.result is not None and stored.result is None:
        # The result was there first; that the request is pending is no longer true.
        return True
    done = stored.result is not None
    row = {
        "owner": stored.owner,
        "request_id": stored.request_id,
        "params": dump(stored.params),
        "params_hash": stored.params_hash,
        "state": stored.state,
        "result": dump(stored.result) if done else None,
        "created_at": now,
        "finished_at": now if done else None,
    }
    RecallRequestRow.insert(**row).on_conflict(
        conflict_target=[RecallRequestRow.owner, RecallRequestRow.request_id],
        update={name: row[name] for name in ("state", "result", "finished_at")},
    ).execute()
    return True


def any_before(when: int) -> bool:
    """Whether there are requests older than that."""
    return RecallRequestRow.select().where(RecallRequestRow.created_at < when).exists()


def forget_before(when: int) -> int:
    """Drop requests older than that, answered or not; how many there were."""
    return int(RecallRequestRow.delete().where(RecallRequestRow.created_at < when).execute())


def _stored(row: RecallRequestRow) -> StoredRecall:
    return StoredRecall(
        owner=row.owner,
        request_id=row.request_id,
        params=load(row.params),
        params_hash=bytes(row.params_hash),
        state=row.state,
        result=load(row.result) if row.result else None,
    )


def intent_version(owner: str) -> int | None:
    """The newest intent version that a recall of the owner has named, None when none has."""
    row = database.execute_sql(
        "SELECT intent_version FROM owner WHERE owner = ?", (owner,)
    ).fetchone()
    return row[0] if row else None


def raise_intent(owner: str, version: int) -> None:
    """Note an intent version that a request has named; the newest one counts."""
    database.execute_sql(
        "INSERT INTO owner (owner, received, filtered, memory_version, settled, intent_version)"
        " VALUES (?,0,0,0,0,?) ON CONFLICT (owner) DO UPDATE"
        " SET intent_version = max(coalesce(intent_version, 0), excluded.intent_version)",
        (owner, version),
    )
