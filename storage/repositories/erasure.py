"""Taking rows away: what a forgetting leaves of events, records, objects and recalls.

Everything here runs inside a transaction of the writer. What stays holds no word of what goes:
numbers, codes, and the ids of what is still there.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from storage.database import database
from storage.records.events import Event, Fate
from storage.records.finding import Forms
from storage.records.knowledge import Change, JournalEntry, Record
from storage.repositories import journal, objects, records, tombstones, trimming
from storage.repositories.codec import dump, load
from storage.repositories.events import parts

_TITLES: Final = 1_000
"""Events of an object that are asked for its title, the newest first."""

# ---- events --------------------------------------------------------------------


def take_events(owner: str, gone: Sequence[Event]) -> None:
    """Let events go whole; what is left is that their sequence numbers were given."""
    seqs = [(event.seq,) for event in gone]
    connection = database.connection()
    connection.executemany("DELETE FROM event WHERE seq = ?", seqs)
    connection.executemany("DELETE FROM waiting_call WHERE seq = ?", seqs)
    connection.executemany(
        "DELETE FROM event_object WHERE owner = ? AND object_id = ? AND seq = ?",
        [(owner, ref.id, event.seq) for event in gone for ref in event.objects],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO event_fate (seq, owner, fate, reason, package_id, into_seq)"
        " VALUES (?,?,?,?,NULL,NULL)",
        [(event.seq, owner, Fate.FORGOTTEN.value, trimming.FORGOTTEN) for event in gone],
    )
    tombstones.write_events(owner, [(event.id, event.seq) for event in gone])
    # Where nothing is left to be filtered, nobody has to look for it.
    database.execute_sql(
        "UPDATE owner SET filtered = received WHERE owner = ? AND NOT EXISTS"
        " (SELECT 1 FROM event e WHERE e.owner = owner.owner AND e.seq > owner.filtered)",
        (owner,),
    )


def cover_event(owner: str, event: Event, text: str, rest: Mapping[str, Any]) -> None:
    """Overwrite words of an event; nothing sent under its id is the same content any more."""
    database.execute_sql(
        "UPDATE event SET text = ?, rest = ?, hash = x'' WHERE seq = ?",
        (text, dump(dict(rest)), event.seq),
    )
    tombstones.write_events(owner, [(event.id, event.seq)])


# ---- records -------------------------------------------------------------------


def take_records(owner: str, ids: Collection[str]) -> None:
    """Let records go, with their versions, their evidence and what the journal says of them."""
    named = [(owner, record_id) for record_id in ids]
    connection = database.connection()
    for statement in (
        "DELETE FROM record WHERE owner_scope = ? AND id = ?",
        "DELETE FROM record_version WHERE owner_scope = ? AND record_id = ?",
        "DELETE FROM evidence WHERE owner_scope = ? AND record_id = ?",
        "DELETE FROM record_change WHERE owner = ? AND record_id = ?",
    ):
        connection.executemany(statement, named)
    for part in parts(sorted(ids)):
        database.execute_sql(
            "UPDATE record SET rolled_by = NULL WHERE owner_scope = ? AND rolled_by IN"  # noqa: S608 - marks only
            f" ({_marks(part)})",
            (owner, *part),
        )
    tombstones.write_records(owner, ids)


def take_versions(owner: str, stale: Iterable[tuple[str, int]]) -> None:
    """Let versions go, each by record and revision."""
    database.connection().executemany(
        "DELETE FROM record_version WHERE owner_scope = ? AND record_id = ? AND revision = ?",
        [(owner, record_id, revision) for record_id, revision in stale],
    )


def change_records(
    owner: str,
    changed: Sequence[Record],
    subjects: Collection[str],
    *,
    gone: Collection[str],
    now: int,
    forms: Callable[[Record], Forms],
) -> None:
    """Write what stays in its new version, and from where the journal goes on for each subject.

    What had led to the records as they stand can't be told any more, so a replay begins with their
    versions.

    Args:
        owner: Whose.
        changed: Records in their new versions.
        subjects: All whose records change or go; each one's revision grows by one.
        gone: Ids of events and records that no entry may name.
        now: Epoch milliseconds.
        forms: What a record is found by (see `records.write`).
    """
    revisions = {subject: objects.bump(owner, subject, now) for subject in sorted(subjects)}
    by_subject: dict[str, list[Record]] = {}
    for record in changed:
        by_subject.setdefault(record.subject_id, []).append(record)
    for subject, found in by_subject.items():
        records.write(
            [replace(record, object_revision=revisions[subject]) for record in found], forms=forms
        )
    for subject, revision in revisions.items():
        _forget_entries(owner, subject, gone)
        journal.append(
            JournalEntry(
                owner, subject, revision, Change.VERSIONS, now, body=_standing(owner, subject)
            )
        )


def _standing(owner: str, subject: str) -> dict[str, int]:
    rows = database.execute_sql(
        "SELECT id, revision FROM record WHERE owner_scope = ? AND subject_id = ?",
        (owner, subject),
    )
    return dict(rows.fetchall())


def _forget_entries(owner: str, subject: str, gone: Collection[str]) -> None:
    """Drop earlier standings of a subject, and entries that name what goes."""
    rows = database.execute_sql(
        "SELECT seq, change, body FROM record_change WHERE owner = ? AND subject_id = ?"
        " AND change != 'settle'",
        (owner, subject),
    ).fetchall()
    dropped = [
        (seq,)
        for seq, change, body in rows
        if change == Change.VERSIONS.value or _names(load(body), gone)
    ]
    database.connection().executemany("DELETE FROM record_change WHERE seq = ?", dropped)


def _names(value: Any, gone: Collection[str]) -> bool:
    if isinstance(value, dict):
        return any(name in gone or _names(item, gone) for name, item in value.items())
    if isinstance(value, list):
        return any(_names(item, gone) for item in value)
    return isinstance(value, str) and value in gone


# ---- objects and recalls ---------------------------------------------------------


def take_object(owner: str, object_id: str) -> None:
    """Let an object's own row go, and what else is kept under its name, where nothing names it."""
    named = database.execute_sql(
        "SELECT 1 FROM event_object WHERE owner = ? AND object_id = ? UNION ALL"
        " SELECT 1 FROM record WHERE owner_scope = ? AND subject_id = ? LIMIT 1",
        (owner, object_id, owner, object_id),
    ).fetchone()
    if named:
        # Somebody has spoken of it since; what it was called before goes all the same.
        database.execute_sql(
            "UPDATE object SET title = id, revision = revision + 1 WHERE owner = ? AND id = ?",
            (owner, object_id),
        )
        return
    packages = database.execute_sql(
        "SELECT id FROM package WHERE owner = ? AND object_id = ? AND work != 'events'",
        (owner, object_id),
    ).fetchall()
    for (package_id,) in packages:
        trimming.drop_package(package_id)
    for statement in (
        "DELETE FROM snapshot WHERE owner = ? AND object_id = ?",
        "DELETE FROM record_change WHERE owner = ? AND subject_id = ?",
        "DELETE FROM object WHERE owner = ? AND id = ?",
    ):
        database.execute_sql(statement, (owner, object_id))


def take_titles(owner: str, gone: Collection[tuple[str, str]]) -> None:
    """Let objects be called by another name where the one they have, id and title, goes.

    It is the newest title that an event still gives, or else the object's id.
    """
    for object_id, title in sorted(gone):
        rows = database.execute_sql(
            "SELECT e.rest FROM event_object o JOIN event e ON e.seq = o.seq WHERE o.owner = ?"
            " AND o.object_id = ? ORDER BY o.seq DESC LIMIT ?",
            (owner, object_id, _TITLES),
        ).fetchall()
        given = (ref for (rest,) in rows for ref in load(rest).get("objects", ()))
        titles = [told for name, _, told in given if name == object_id and told]
        if title not in titles:
            database.execute_sql(
                "UPDATE object SET title = ?, revision = revision + 1"
                " WHERE owner = ? AND id = ? AND title = ?",
                (titles[0] if titles else object_id, owner, object_id, title),
            )


def sections(
    owner: str, object_ids: Collection[str]
) -> Iterator[tuple[str, tuple[Mapping[str, Any], ...]]]:
    """What is published of these objects, of those that have a snapshot."""
    for part in parts(sorted(object_ids)):
        rows = database.execute_sql(
            "SELECT object_id, sections FROM snapshot WHERE owner = ?"  # noqa: S608 - marks only
            f" AND object_id IN ({_marks(part)})",
            (owner, *part),
        )
        yield from [(name, tuple(load(text))) for name, text in rows.fetchall()]


def recall_keys(owner: str) -> list[tuple[str, str]]:
    """An owner's stored recall requests: each one's id, and its state."""
    rows = database.execute_sql(
        "SELECT request_id, state FROM recall_request WHERE owner = ?", (owner,)
    )
    return [(request_id, state) for request_id, state in rows.fetchall()]


def recall_texts(owner: str, ids: Sequence[str]) -> Iterable[tuple[str, str, str]]:
    """Stored recall requests: id, params and result as JSON text, the result empty while pending."""
    for part in parts(ids):
        rows = database.execute_sql(
            "SELECT request_id, params, coalesce(result, '') FROM recall_request WHERE owner = ?"  # noqa: S608 - marks only
            f" AND request_id IN ({_marks(part)})",
            (owner, *part),
        )
        yield from rows.fetchall()


def take_recalls(owner: str, ids: Iterable[str]) -> None:
    """Let stored recall requests go; asked again they are new."""
    database.connection().executemany(
        "DELETE FROM recall_request WHERE owner = ? AND request_id = ?",
        [(owner, request_id) for request_id in ids],
    )


def _marks(values: Collection[Any]) -> str:
    return ",".join("?" * len(values))
