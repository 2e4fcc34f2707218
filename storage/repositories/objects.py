"""Objects: what memory is about, with a revision each."""

from collections.abc import Collection
from dataclasses import replace

from storage.database import database
from storage.errors import RevisionConflictError
from storage.records.events import OWNER_OBJECT, ObjectKind, ObjectRef
from storage.records.knowledge import MemoryObject, ObjectState
from storage.tables import ObjectRow


def ensure(owner: str, refs: Collection[ObjectRef], now: int) -> None:
    """Create the objects that events name and nobody has put yet (spec: protocol, Owners)."""
    for ref in refs:
        reserved = ref.id == OWNER_OBJECT
        kind = ObjectKind.DOMAIN if reserved else ref.kind or ObjectKind.PROJECT
        database.execute_sql(
            "INSERT OR IGNORE INTO object (owner, id, kind, title, state, revision, created_at,"
            " updated_at) VALUES (?,?,?,?,'active',1,?,?)",
            (owner, ref.id, kind.value, ref.title or ref.id, now, now),
        )


def put(wanted: MemoryObject, *, expected_revision: int | None, now: int) -> MemoryObject:
    """Create or change an object.

    Args:
        wanted: Its kind, title and state; revision and times are not looked at.
        expected_revision: The revision that the caller has seen; 0 or None for a new object.
        now: Epoch milliseconds.

    Raises:
        RevisionConflictError: The object is at another revision; `details` names both.
    """
    current = find(wanted.owner, wanted.id)
    at = current.revision if current else 0
    if (expected_revision or 0) != at:
        raise RevisionConflictError(details={"expected": expected_revision or 0, "current": at})
    stored = replace(
        wanted, revision=at + 1, updated_at=now, created_at=current.created_at if current else now
    )
    ObjectRow.insert(
        owner=stored.owner,
        id=stored.id,
        kind=stored.kind.value,
        title=stored.title,
        state=stored.state.value,
        revision=stored.revision,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    ).on_conflict_replace().execute()
    return stored


def find(owner: str, object_id: str) -> MemoryObject | None:
    """One object, or None."""
    row = ObjectRow.get_or_none(ObjectRow.owner == owner, ObjectRow.id == object_id)
    return _object(row) if row else None


def revision(owner: str, object_id: str) -> int:
    """An object's revision, 0 while there is none."""
    row = database.execute_sql(
        "SELECT revision FROM object WHERE owner = ? AND id = ?", (owner, object_id)
    ).fetchone()
    return int(row[0]) if row else 0


def listing(
    owner: str, *, kind: ObjectKind | None, state: ObjectState | None, after: str, limit: int
) -> list[MemoryObject]:
    """An owner's objects above an id, in order of id."""
    query = ObjectRow.select().where(ObjectRow.owner == owner, ObjectRow.id > after)
    if kind is not None:
        query = query.where(ObjectRow.kind == kind.value)
    if state is not None:
        query = query.where(ObjectRow.state == state.value)
    return [_object(row) for row in query.order_by(ObjectRow.id).limit(limit)]


def known(owner: str, ids: Collection[str]) -> frozenset[str]:
    """Which of these objects an owner has."""
    marks = ",".join("?" * len(ids))
    rows = database.execute_sql(
        f"SELECT id FROM object WHERE owner = ? AND id IN ({marks})",  # noqa: S608 - marks only
        (owner, *ids),
    )
    return frozenset(row[0] for row in rows.fetchall())


def bump(owner: str, object_id: str, now: int) -> int:
    """Count a change to an object's records; its new revision."""
    ensure(owner, [ObjectRef(object_id)], now)
    row = database.execute_sql(
        "UPDATE object SET revision = revision + 1, updated_at = ? WHERE owner = ? AND id = ?"
        " RETURNING revision",
        (now, owner, object_id),
    ).fetchone()
    return int(row[0])


def _object(row: ObjectRow) -> MemoryObject:
    return MemoryObject(
        owner=row.owner,
        id=row.id,
        kind=ObjectKind(row.kind),
        title=row.title,
        state=ObjectState(row.state),
        revision=row.revision,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
