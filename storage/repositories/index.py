"""Index entries: the terms of events and records, in sequence."""

from collections.abc import Collection, Sequence
from typing import Any

from storage.database import database
from storage.records.recall import IndexEntry
from storage.repositories.codec import dump, load
from storage.repositories.events import parts


def append(entries: Sequence[IndexEntry], *, tokenizer: int) -> None:
    """Write entries; their sequence numbers are given here."""
    database.connection().executemany(
        "INSERT INTO index_entry (owner, document, at, fields, gone, tokenizer)"
        " VALUES (?,?,?,?,?,?)",
        [(e.owner, e.document, e.at, dump(e.fields), int(e.gone), tokenizer) for e in entries],
    )


def after(seq: int, limit: int) -> list[IndexEntry]:
    """Entries of all owners above a sequence number."""
    return _entries(
        "SELECT seq, owner, document, at, fields, gone FROM index_entry WHERE seq > ?"
        " ORDER BY seq LIMIT ?",
        (seq, limit),
    )


def tail(owner: str, after_seq: int, limit: int) -> list[IndexEntry]:
    """An owner's newest entries above a sequence number, in sequence, `limit` of them at most."""
    return _entries(
        "SELECT * FROM (SELECT seq, owner, document, at, fields, gone FROM index_entry"
        # The plus keeps SQLite from reading all of the owner's entries: a tail is short.
        " WHERE seq > ? AND +owner = ? ORDER BY seq DESC LIMIT ?) ORDER BY seq",
        (after_seq, owner, limit),
    )


def newest(owner: str, documents: Collection[str]) -> dict[str, IndexEntry]:
    """The newest entry of each of these documents."""
    found: dict[str, IndexEntry] = {}
    for part in parts(sorted(documents)):
        marks = ",".join("?" * len(part))
        entries = _entries(
            "SELECT seq, owner, document, at, fields, gone FROM index_entry WHERE seq IN"  # noqa: S608 - marks only
            f" (SELECT max(seq) FROM index_entry WHERE owner = ? AND document IN ({marks})"
            " GROUP BY document)",
            (owner, *part),
        )
        found.update((entry.document, entry) for entry in entries)
    return found


def last_seq() -> int:
    """The highest sequence number ever given, 0 when there is none."""
    row = database.execute_sql(
        "SELECT seq FROM sqlite_sequence WHERE name = 'index_entry'"
    ).fetchone()
    return int(row[0]) if row else 0


def _entries(sql: str, values: tuple[Any, ...]) -> list[IndexEntry]:
    return [
        IndexEntry(seq, owner, document, at, load(fields), bool(gone))
        for seq, owner, document, at, fields, gone in database.execute_sql(sql, values).fetchall()
    ]
