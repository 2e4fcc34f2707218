"""Index entries of what is forgotten: which were masked, which are out of date, which terms are left."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from storage.database import database
from storage.records.recall import IndexEntry
from storage.repositories import index
from storage.repositories.codec import load
from storage.repositories.events import parts

_BATCH: Final = 2_000


def masked(owner: str, after: int) -> list[str]:
    """The documents of an owner that have been taken out above a sequence number."""
    rows = database.execute_sql(
        "SELECT DISTINCT document FROM index_entry WHERE seq > ? AND gone = 1 AND owner = ?",
        (after, owner),
    )
    return sorted(row[0] for row in rows.fetchall())


def outdated(owner: str, documents: Collection[str]) -> list[tuple[int, dict[str, str]]]:
    """The entries of these documents that newer ones have replaced: sequence number and fields."""
    found: list[tuple[int, dict[str, str]]] = []
    for part in parts(sorted(documents)):
        marks = ",".join("?" * len(part))
        rows = database.execute_sql(
            "SELECT e.seq, e.fields FROM index_entry e WHERE e.owner = ?"  # noqa: S608 - marks only
            f" AND e.document IN ({marks}) AND e.seq < (SELECT max(n.seq) FROM index_entry n"
            " WHERE n.owner = e.owner AND n.document = e.document)",
            (owner, *part),
        )
        found += [(seq, load(fields)) for seq, fields in rows.fetchall()]
    return found


def drop(seqs: Iterable[int]) -> None:
    """Let entries go that newer ones have replaced; runs inside a transaction of the writer."""
    database.connection().executemany(
        "DELETE FROM index_entry WHERE seq = ?", [(seq,) for seq in seqs]
    )


def everything() -> Iterator[Sequence[IndexEntry]]:
    """All entries of all owners, in sequence."""
    after = 0
    while found := index.after(after, _BATCH):
        yield found
        after = found[-1].seq
