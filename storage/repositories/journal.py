"""The journal: every change to records goes through here, with its entry, in one transaction.

From it and the recorded proposals the records can be made anew (mission A2; issue: rebuild).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from storage.database import database
from storage.records.finding import Forms
from storage.records.knowledge import Change, JournalEntry, Record
from storage.repositories import objects, records, snapshots
from storage.repositories.codec import dump, load

_COLUMNS: Final = "owner, subject_id, object_revision, change, at, seq, package_id, record_id, body"


@dataclass(frozen=True, slots=True)
class Cause:
    """What changed records: the kind of change, its package or its record, and the details.

    `body` holds no text of the user.
    """

    change: Change
    at: int
    package_id: int | None = None
    record_id: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)


def write(
    owner: str, changed: Sequence[Record], cause: Cause, *, forms: Callable[[Record], Forms]
) -> None:
    """Write records in their new versions; each subject's revision grows by one, with an entry.

    Args:
        owner: Whose.
        changed: New records and new versions of known ones.
        cause: Why.
        forms: What a record is found by (see `records.write`).
    """
    if not changed:
        return
    revisions = {
        subject: objects.bump(owner, subject, cause.at)
        for subject in sorted({record.subject_id for record in changed})
    }
    records.write(
        [replace(record, object_revision=revisions[record.subject_id]) for record in changed],
        forms=forms,
    )
    for subject, revision in revisions.items():
        append(
            JournalEntry(
                owner,
                subject,
                revision,
                cause.change,
                cause.at,
                package_id=cause.package_id,
                record_id=cause.record_id,
                body=cause.body,
            )
        )
    snapshots.count_settling(owner)


def append(entry: JournalEntry) -> None:
    """Note a change; its number is given here."""
    database.execute_sql(
        "INSERT INTO record_change (owner, subject_id, object_revision, change, at, package_id,"
        " record_id, body) VALUES (?,?,?,?,?,?,?,?)",
        (
            entry.owner, entry.subject_id, entry.object_revision, entry.change.value, entry.at,
            entry.package_id, entry.record_id, dump(dict(entry.body)),
        ),
    )  # fmt: skip


def of_subject(owner: str, subject: str) -> list[JournalEntry]:
    """A subject's entries in order, from the last `versions` entry on."""
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM record_change WHERE owner = ? AND subject_id = ? AND seq >="  # noqa: S608 - columns only
        " coalesce((SELECT max(seq) FROM record_change WHERE owner = ? AND subject_id = ?"
        " AND change = 'versions'), 0) ORDER BY seq",
        (owner, subject, owner, subject),
    )
    return [_entry(row) for row in rows.fetchall()]


def of_package(package_id: int) -> list[JournalEntry]:
    """What a package's proposals have changed."""
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM record_change WHERE package_id = ? ORDER BY seq",  # noqa: S608 - columns only
        (package_id,),
    )
    return [_entry(row) for row in rows.fetchall()]


def of_record(owner: str, record_id: str) -> list[JournalEntry]:
    """The entries that name a record."""
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM record_change WHERE owner = ? AND record_id = ? ORDER BY seq",  # noqa: S608 - columns only
        (owner, record_id),
    )
    return [_entry(row) for row in rows.fetchall()]


def subjects(owner: str | None = None) -> list[tuple[str, str]]:
    """Owners and subjects whose records the journal tells of, of one owner or of all."""
    where = "" if owner is None else " WHERE owner = ?"
    rows = database.execute_sql(
        f"SELECT DISTINCT owner, subject_id FROM record_change{where} ORDER BY owner, subject_id",  # noqa: S608 - columns only
        () if owner is None else (owner,),
    )
    return [(row[0], row[1]) for row in rows.fetchall()]


def _entry(row: Sequence[Any]) -> JournalEntry:
    owner, subject, revision, change, at, seq, package_id, record_id, body = row
    return JournalEntry(
        owner, subject, revision, Change(change), at, seq, package_id, record_id, load(body)
    )
