"""A second set of the record tables, in this thread's connection alone and in memory.

While it is open, whatever reads or writes records on this connection does so there: records are
made anew by the very code that made them, and readers and writers elsewhere see nothing of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from storage.database import database
from storage.repositories import objects

_TABLES: Final = ("record", "record_version", "evidence")
_COLUMNS: Final = {
    "record": "id, owner_scope, subject_id, kind, content, normal, skeleton, reach, key, fact_class,"
    " scoped, observed_at, recorded_at, status, authority, revision, object_revision, valid_from,"
    " valid_to, rest, package_id, rolled_by, due_at",
    "record_version": "owner_scope, record_id, revision, recorded_at, body",
    "evidence": 'owner_scope, record_id, seq, start, "end", event_id, quote',
}
"""Named, since a column that a migration adds stands in another place in an older file."""


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a subject's records, table by table, in the order of `_COLUMNS`."""

    tables: tuple[tuple[str, tuple[tuple[Any, ...], ...]], ...]


@contextmanager
def scratch() -> Iterator[None]:
    """Shadow the record tables with empty ones that no other connection sees."""
    try:
        for table in _TABLES:
            for statement in _shadowing(table):
                database.execute_sql(statement)
        yield
    finally:
        for table in _TABLES:
            database.execute_sql(f'DROP TABLE IF EXISTS temp."{table}"')


def _shadowing(table: str) -> Iterator[str]:
    rows = database.execute_sql(
        "SELECT type, name, sql FROM main.sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL"
        " ORDER BY type DESC",
        (table,),
    )
    for kind, name, sql in rows.fetchall():
        if kind == "table":
            yield sql.replace("CREATE TABLE", "CREATE TEMP TABLE", 1)
        else:
            start = sql.index(" ON ")
            yield f'CREATE INDEX temp."{name}"{sql[start:]}'


@contextmanager
def reading() -> Iterator[None]:
    """One view of the database for all reads within: writes go to the shadows only."""
    with database.atomic(lock_type="DEFERRED"):
        yield


def clear() -> None:
    """Empty the shadows."""
    for table in _TABLES:
        database.execute_sql(f'DELETE FROM temp."{table}"')  # noqa: S608 - names of ours


def changed(owner: str, subject: str) -> dict[str, int]:
    """How many records of a subject differ between the shadows and what is stored.

    Returns:
        `same`, `changed`, `added` (in the shadows only) and `removed` (stored only).
    """
    stored = _digests("main", owner, subject)
    made = _digests("temp", owner, subject)
    both = stored.keys() & made.keys()
    same = sum(stored[key] == made[key] for key in both)
    return {
        "same": same,
        "changed": len(both) - same,
        "added": len(made.keys() - both),
        "removed": len(stored.keys() - both),
    }


def _digests(schema: str, owner: str, subject: str) -> dict[str, tuple[Any, ...]]:
    """Every record of a subject with all that is stored of it, by id."""
    found: dict[str, list[Any]] = {}
    for table, rows in _of(schema, owner, subject).tables:
        at = _COLUMNS[table].split(", ").index("id" if table == "record" else "record_id")
        for row in rows:
            found.setdefault(row[at], []).append((table, row))
    return {key: tuple(parts) for key, parts in found.items()}


def made(owner: str, subject: str) -> Rows:
    """The rows of a subject's records in the shadows."""
    return _of("temp", owner, subject)


def _of(schema: str, owner: str, subject: str) -> Rows:
    tables: list[tuple[str, tuple[tuple[Any, ...], ...]]] = []
    for table, columns in _COLUMNS.items():
        rows = database.execute_sql(
            f"SELECT {columns} FROM {schema}.{table} WHERE {_about(schema, table)} ORDER BY"  # noqa: S608 - names of ours
            f" {columns}",
            (owner, owner, subject) if table != "record" else (owner, subject),
        )
        tables.append((table, tuple(tuple(row) for row in rows.fetchall())))
    return Rows(tuple(tables))


def _about(schema: str, table: str) -> str:
    if table == "record":
        return "owner_scope = ? AND subject_id = ?"
    return (
        f"owner_scope = ? AND record_id IN (SELECT id FROM {schema}.record"  # noqa: S608 - names of ours
        " WHERE owner_scope = ? AND subject_id = ?)"
    )


def replace_stored(owner: str, subject: str, rows: Rows, *, expected_revision: int) -> bool:
    """Put these rows in the place of what is stored of a subject; runs in the writer.

    Returns:
        Whether it was done: not if the subject has changed since `expected_revision`.
    """
    if objects.revision(owner, subject) != expected_revision:
        return False
    connection = database.connection()
    made_ids = dict(rows.tables)["record"]
    for table in reversed(_TABLES):
        _delete(owner, subject, table)
        if table != "record":
            # A record's row may be lost while the rest of it is still there.
            connection.executemany(
                f"DELETE FROM main.{table} WHERE owner_scope = ? AND record_id = ?",  # noqa: S608 - names of ours
                [(owner, row[0]) for row in made_ids],
            )
    for table, found in rows.tables:
        marks = ",".join("?" * len(_COLUMNS[table].split(", ")))
        connection.executemany(
            f"INSERT INTO main.{table} ({_COLUMNS[table]}) VALUES ({marks})",  # noqa: S608 - names of ours
            found,
        )
    return True


def _delete(owner: str, subject: str, table: str) -> None:
    values = (owner, owner, subject) if table != "record" else (owner, subject)
    database.execute_sql(f"DELETE FROM main.{table} WHERE {_about('main', table)}", values)  # noqa: S608 - names of ours


def load_versions(owner: str, revisions: Mapping[str, int]) -> list[str]:
    """Take stored versions over into the shadows, with all that came before them.

    Args:
        owner: Whose.
        revisions: Up to which revision, by record id.

    Returns:
        The body of each of those versions, as JSON.
    """
    bodies = []
    for record_id, revision in sorted(revisions.items()):
        where = "owner_scope = ? AND record_id = ? AND revision"
        columns = _COLUMNS["record_version"]
        database.execute_sql(
            f"INSERT OR REPLACE INTO temp.record_version ({columns}) SELECT {columns}"  # noqa: S608 - names of ours
            f" FROM main.record_version WHERE {where} <= ?",
            (owner, record_id, revision),
        )
        row = database.execute_sql(
            f"SELECT body FROM main.record_version WHERE {where} = ?",  # noqa: S608 - names of ours
            (owner, record_id, revision),
        ).fetchone()
        if row is not None:
            bodies.append(row[0])
    return bodies
