"""Published snapshots, and the owner's memory version."""

from dataclasses import dataclass

from storage.database import database
from storage.records.knowledge import Snapshot
from storage.repositories.codec import dump, load
from storage.tables import SnapshotRow


@dataclass(frozen=True, slots=True)
class NewSnapshot:
    """A snapshot to publish. `based_on` is the owner's settle count that it was made from."""

    snapshot: Snapshot
    based_on: int


def settled(owner: str) -> int:
    """How many times records of an owner have been settled."""
    row = database.execute_sql("SELECT settled FROM owner WHERE owner = ?", (owner,)).fetchone()
    return int(row[0]) if row else 0


def count_settling(owner: str) -> int:
    """Count one settling; the new number."""
    row = database.execute_sql(
        "INSERT INTO owner (owner, received, filtered, memory_version, settled)"
        " VALUES (?,0,0,0,1) ON CONFLICT (owner) DO UPDATE SET settled = settled + 1"
        " RETURNING settled",
        (owner,),
    ).fetchone()
    return int(row[0])


def publish(new: NewSnapshot) -> bool:
    """Publish a snapshot, if it says something new and is not older than what is published.

    Returns:
        Whether it was published; the owner's memory version has then grown by one.
    """
    made = new.snapshot
    current = database.execute_sql(
        "SELECT hash, based_on FROM snapshot WHERE owner = ? AND object_id = ?",
        (made.owner, made.object_id),
    ).fetchone()
    if current is not None and current[1] > new.based_on:
        return False
    if current is not None and current[0] == made.hash:
        # It says the same, and newer: what was worked out before this must not replace it later.
        database.execute_sql(
            "UPDATE snapshot SET based_on = ? WHERE owner = ? AND object_id = ?",
            (new.based_on, made.owner, made.object_id),
        )
        return False
    if current is None and not made.sections:
        return False
    version = database.execute_sql(
        "UPDATE owner SET memory_version = memory_version + 1 WHERE owner = ?"
        " RETURNING memory_version",
        (made.owner,),
    ).fetchone()[0]
    SnapshotRow.insert(
        owner=made.owner,
        object_id=made.object_id,
        version=version,
        based_on=new.based_on,
        published_at=made.published_at,
        hash=made.hash,
        sections=dump(made.sections),
        tokens=made.tokens,
    ).on_conflict_replace().execute()
    return True


def get(owner: str, object_id: str) -> Snapshot | None:
    """The published snapshot of an object, or None while there is none."""
    row = SnapshotRow.get_or_none(SnapshotRow.owner == owner, SnapshotRow.object_id == object_id)
    if row is None:
        return None
    return Snapshot(
        owner=row.owner,
        object_id=row.object_id,
        version=row.version,
        published_at=row.published_at,
        hash=row.hash,
        sections=tuple(load(row.sections)),
        tokens=row.tokens,
    )


def subjects(owner: str | None = None) -> list[tuple[str, str]]:
    """Owners and objects that have a snapshot or a record, of one owner or of all."""
    where = "" if owner is None else " WHERE owner = ?"
    rows = database.execute_sql(
        f"SELECT owner, object_id FROM snapshot{where}"  # noqa: S608 - columns only
        f" UNION SELECT owner, subject_id FROM record_change{where} ORDER BY 1, 2",
        () if owner is None else (owner, owner),
    )
    return [(row[0], row[1]) for row in rows.fetchall()]


def memory_version(owner: str) -> int:
    """The owner's memory version: it grows by one with each publish."""
    row = database.execute_sql(
        "SELECT memory_version FROM owner WHERE owner = ?", (owner,)
    ).fetchone()
    return int(row[0]) if row else 0
