"""Standing records that new ones could repeat, replace or contradict, found by their forms."""

from collections.abc import Collection, Iterator
from typing import Any, Final

from storage.database import database
from storage.records.finding import Wanted
from storage.records.knowledge import Record
from storage.repositories import records
from storage.repositories.codec import digest, reach

DISABLED_LIMIT: Final = 200
"""Archived records of a slot among which a disabled one of the same value is looked for."""


def comparable(owner: str, wanted: Wanted, *, more: int = 0) -> list[Record]:
    """The records of these subjects that new ones could repeat, replace or contradict.

    Args:
        owner: Whose.
        wanted: What is looked for.
        more: How many more of the newest to read, where others than the stored may stand in between.
    """
    found: set[str] = set()
    for where, values in _ways(wanted, more):
        rows = database.execute_sql(
            f"SELECT id FROM record WHERE owner_scope = ? AND {where}",  # noqa: S608 - conditions of ours only
            (owner, *values),
        )
        found.update(row[0] for row in rows.fetchall())
    return records.by_ids(owner, found)


def _ways(wanted: Wanted, more: int) -> Iterator[tuple[str, list[Any]]]:
    """Conditions that an index serves each; an OR of them would read every record of the owner."""
    about = f"subject_id IN ({_marks(wanted.subjects)})"
    digests = [digest(text) for text in wanted.normals]
    yield f"id IN ({_marks(wanted.ids)}) AND +{about}", [*wanted.ids, *wanted.subjects]
    yield (
        f"{about} AND normal IN ({_marks(digests)}) AND status IN ('active', 'candidate', 'archived')",
        [*wanted.subjects, *digests],
    )
    newest = "ORDER BY observed_at DESC, id LIMIT ?"
    for subject in wanted.subjects:
        for key, scope in wanted.slots:
            slot = [subject, key, reach(scope)]
            where = "subject_id = ? AND key = ? AND reach = ?"
            yield f"{where} AND status IN ('active', 'candidate')", slot
            yield f"{where} AND status = 'archived' {newest}", [*slot, DISABLED_LIMIT + more]
        for skeleton in wanted.skeletons:
            alike = "subject_id = ? AND skeleton <> '' AND skeleton = ?"
            for status in ("active", "candidate"):
                values = [subject, digest(skeleton), status, wanted.alike + more]
                yield f"{alike} AND status = ? {newest}", values
        if wanted.statements:
            claims = "subject_id = ? AND status = 'active' AND +kind NOT IN ('episode', 'cue')"
            yield f"{claims} {newest}", [subject, wanted.statements + more]


def _marks(values: Collection[Any]) -> str:
    return ",".join("?" * len(values))
