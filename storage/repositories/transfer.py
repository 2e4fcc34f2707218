"""What export lists and import stores: whole records and objects, as another memory had them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from storage.database import database
from storage.records.finding import Forms
from storage.records.knowledge import (
    Change,
    JournalEntry,
    MemoryObject,
    Record,
    RecordKind,
    RecordStatus,
)
from storage.records.transfer import Listed
from storage.repositories import journal, objects, records, snapshots
from storage.repositories.events import parts
from storage.tables import ObjectRow

FormsOf = Callable[[Record], Forms]


# ---- listing ---------------------------------------------------------------


def listed(owner: str, subject: str, *, limit: int, offset: int) -> list[Listed]:
    """An object's records as lines of a list, in order of kind and id."""
    rows = database.execute_sql(
        "SELECT id, kind, status, content, observed_at FROM record"
        " WHERE owner_scope = ? AND subject_id = ? ORDER BY kind, id LIMIT ? OFFSET ?",
        (owner, subject, limit, offset),
    )
    return [
        Listed(record_id, RecordKind(kind), RecordStatus(status), content, observed_at)
        for record_id, kind, status, content, observed_at in rows.fetchall()
    ]


def counted(owner: str, subjects: Sequence[str]) -> dict[str, int]:
    """How many records an owner has about each of these; those without any are left out."""
    found: dict[str, int] = {}
    for part in parts(subjects):
        marks = ",".join("?" * len(part))
        rows = database.execute_sql(
            "SELECT subject_id, count(*) FROM record WHERE owner_scope = ?"  # noqa: S608 - marks only
            f" AND subject_id IN ({marks}) GROUP BY subject_id",
            (owner, *part),
        )
        found.update(rows.fetchall())
    return found


# ---- storing ---------------------------------------------------------------


def restore_object(found: MemoryObject) -> None:
    """Write an object that is not known yet, at the revision that it had elsewhere."""
    ObjectRow.insert(
        owner=found.owner,
        id=found.id,
        kind=found.kind.value,
        title=found.title,
        state=found.state.value,
        revision=max(1, found.revision),
        created_at=found.created_at,
        updated_at=found.updated_at,
    ).execute()


def store(
    owner: str, new: Sequence[Record], changed: Sequence[Record], at: int, *, forms: FormsOf
) -> None:
    """Write records; each subject's revision grows by one, with an entry of all its versions.

    A new record keeps the object revision that it had elsewhere, and its object's grows to that at
    least: so a document that was exported there still names the record's version.

    Args:
        owner: Whose.
        new: Records that are not known yet.
        changed: Known ones, in their next versions.
        at: Epoch milliseconds.
        forms: What a record is found by (see `records.write`).
    """
    written = (*new, *changed)
    if not written:
        return
    revisions = {
        subject: _grown(owner, subject, new, at)
        for subject in sorted({record.subject_id for record in written})
    }
    moved = [replace(r, object_revision=revisions[r.subject_id]) for r in changed]
    records.write([*new, *moved], forms=forms)
    _roll_up(owner, new)
    for subject, revision in revisions.items():
        _note_versions(owner, subject, revision, at)
    snapshots.count_settling(owner)


def _grown(owner: str, subject: str, new: Sequence[Record], at: int) -> int:
    """An object's next revision, not below what its new records had elsewhere."""
    revision = objects.bump(owner, subject, at)
    known = max((r.object_revision for r in new if r.subject_id == subject), default=0)
    if known <= revision:
        return revision
    database.execute_sql(
        "UPDATE object SET revision = ? WHERE owner = ? AND id = ?", (known, owner, subject)
    )
    return known


def _roll_up(owner: str, new: Sequence[Record]) -> None:
    """Let records know what rolls them up, where that came in before them."""
    for subject in sorted({record.subject_id for record in new}):
        names = [record.id for record in new if record.subject_id == subject]
        for part in parts(names):
            database.execute_sql(
                "UPDATE record SET rolled_by = r.id FROM record r, json_each(r.rest, '$.links') l"  # noqa: S608 - marks only
                " WHERE r.owner_scope = ? AND r.subject_id = ? AND r.rolled_by = r.id"
                " AND record.owner_scope = r.owner_scope AND record.id = l.value"
                f" AND record.rolled_by IS NULL AND record.id IN ({','.join('?' * len(part))})",
                (owner, subject, *part),
            )


def _note_versions(owner: str, subject: str, revision: int, at: int) -> None:
    """Note where all records of a subject stand; earlier such notes are emptied.

    Nothing before the newest note is ever replayed, and each is as long as the subject has records:
    kept, they would grow with the square of what is imported.
    """
    database.execute_sql(
        "UPDATE record_change SET body = '{}' WHERE owner = ? AND subject_id = ? AND change = ?",
        (owner, subject, Change.VERSIONS.value),
    )
    rows = database.execute_sql(
        "SELECT id, revision FROM record WHERE owner_scope = ? AND subject_id = ?",
        (owner, subject),
    )
    body = dict(rows.fetchall())
    journal.append(JournalEntry(owner, subject, revision, Change.VERSIONS, at, body=body))


# ---- looking ---------------------------------------------------------------


def versions(owner: str, ids: Collection[str]) -> dict[str, tuple[int, int]]:
    """Revision and object revision of the records that an owner has of these."""
    found: dict[str, tuple[int, int]] = {}
    for part in parts(sorted(ids)):
        marks = ",".join("?" * len(part))
        rows = database.execute_sql(
            "SELECT id, revision, object_revision FROM record WHERE owner_scope = ?"  # noqa: S608 - marks only
            f" AND id IN ({marks})",
            (owner, *part),
        )
        found.update((row[0], (row[1], row[2])) for row in rows.fetchall())
    return found
