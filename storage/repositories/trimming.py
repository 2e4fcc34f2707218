"""Trimming packages and their proposals when some of what they hold is forgotten.

Everything here runs inside a transaction of the writer. What stays holds no word of what goes:
numbers, codes, and the ids of what is still there.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from storage.database import database
from storage.records.knowledge import Proposal, Record
from storage.repositories import records
from storage.repositories.codec import dump, load
from storage.repositories.events import parts

FORGOTTEN: Final = "forgotten"
"""What stands where a reason or an error stood that spoke of something forgotten."""


def take_proposals(gone: Iterable[tuple[int, int]]) -> None:
    """Let proposals go, each by its package and its place."""
    database.connection().executemany(
        "DELETE FROM proposal WHERE package_id = ? AND place = ?", list(gone)
    )


def blank_proposals(rejected: Iterable[tuple[int, int, Proposal]], gone: Collection[str]) -> None:
    """Leave of rejected proposals only their kind, the events that they name, code and reason.

    Args:
        rejected: Each by its package and place, with what it was.
        gone: Ids of events that go, which none may name any more.
    """
    database.connection().executemany(
        "UPDATE proposal SET proposal = ? WHERE package_id = ? AND place = ?",
        [
            (
                dump(
                    {
                        "kind": proposal.kind.value,
                        "content": FORGOTTEN,
                        "evidence": [
                            {"event_id": quote.event_id, "quote": ""}
                            for quote in proposal.evidence
                            if quote.event_id not in gone
                        ],
                    }
                ),
                package_id,
                place,
            )
            for package_id, place, proposal in rejected
        ],
    )


def strip_proposal(
    package_id: int, place: int, supersedes: Sequence[str], record: Record | None
) -> None:
    """Let a proposal name fewer records to replace, and the record that it would become."""
    row = database.execute_sql(
        "SELECT proposal FROM proposal WHERE package_id = ? AND place = ?", (package_id, place)
    ).fetchone()
    proposal = load(row[0])
    proposal["supersedes"] = list(supersedes)
    database.execute_sql(
        "UPDATE proposal SET proposal = ?, record = ? WHERE package_id = ? AND place = ?",
        (dump(proposal), record and dump(records.body(record)), package_id, place),
    )


def give_back_leases(owner: str) -> None:
    """Let nobody who works on an owner's packages write what he has made of them; no failure counts."""
    database.execute_sql(
        "UPDATE package SET state = 'ready', fence = fence + 1, lease_until = NULL"
        " WHERE owner = ? AND state = 'leased'",
        (owner,),
    )


def read_again(package_ids: Collection[int]) -> None:
    """Let packages be observed as they are now: an answer to what they were is not waited for."""
    for package_id in package_ids:
        database.execute_sql("DELETE FROM observer_batch WHERE package_id = ?", (package_id,))
        database.execute_sql(
            "UPDATE package SET fence = fence + 1, next_attempt_at = 0"
            " WHERE id = ? AND state = 'ready' AND stage = 'observe'",
            (package_id,),
        )


def trim_packages(
    owner: str, package_ids: Collection[int], gone: Collection[int], tokens: Mapping[int, int]
) -> None:
    """Take events out of packages, and drop those that were packages of events and hold none now.

    Args:
        owner: Whose.
        package_ids: The packages concerned, whether any of their events go or not.
        gone: The events that go.
        tokens: What each of these counted in its package's input.
    """
    for package_id in package_ids:
        members = database.execute_sql(
            "SELECT seq FROM package_event WHERE package_id = ?", (package_id,)
        ).fetchall()
        going = [seq for (seq,) in members if seq in gone]
        left = sorted(seq for (seq,) in members if seq not in gone)
        database.connection().executemany(
            "DELETE FROM package_event WHERE package_id = ? AND seq = ?",
            [(package_id, seq) for seq in going],
        )
        if going and not left:
            drop_package(package_id)
            continue
        # What a worker said of a package may repeat what stood in it.
        database.execute_sql(
            "UPDATE package SET error = CASE WHEN error IS NULL THEN NULL ELSE ? END,"
            " nothing_kept = CASE WHEN nothing_kept IS NULL THEN NULL ELSE ? END"
            " WHERE id = ? AND owner = ?",
            (FORGOTTEN, FORGOTTEN, package_id, owner),
        )
        if going:
            database.execute_sql(
                "UPDATE package SET events = ?, first_seq = ?, last_seq = ?,"
                " tokens = max(0, tokens - ?), last_at = coalesce((SELECT at FROM event"
                " WHERE seq = ?), last_at) WHERE id = ?",
                (len(left), left[0], left[-1], sum(tokens.get(seq, 0) for seq in going), left[-1],
                 package_id),
            )  # fmt: skip


def drop_package(package_id: int) -> None:
    """Let a package go, with all that the ledger and the journal know of it."""
    for table, column in (
        ("stage_output", "package_id"),
        ("proposal", "package_id"),
        ("record_change", "package_id"),
        ("package", "id"),
    ):
        database.execute_sql(f"DELETE FROM {table} WHERE {column} = ?", (package_id,))  # noqa: S608 - names of ours
    database.execute_sql(
        "UPDATE event_fate SET package_id = NULL WHERE package_id = ?", (package_id,)
    )


def forget_signatures(seqs: Iterable[int]) -> None:
    """Drop the digests that repeats of these events would be told by."""
    database.connection().executemany(
        "UPDATE package_event SET signature = NULL WHERE seq = ?"
        " AND package_id = (SELECT package_id FROM event_fate WHERE event_fate.seq = ?)",
        [(seq, seq) for seq in seqs],
    )


def count_again(seqs: Iterable[int]) -> None:
    """Count the repeats of these events anew, with the times of those that are left."""
    for seq in seqs:
        database.execute_sql(
            "UPDATE package_event SET (count, first_at, last_at) ="
            " (SELECT count(*), min(e.at), max(e.at) FROM event e WHERE e.seq = package_event.seq"
            " OR e.seq IN (SELECT f.seq FROM event_fate f WHERE"
            " f.package_id = package_event.package_id AND f.into_seq = package_event.seq))"
            " WHERE seq = ? AND package_id = (SELECT package_id FROM event_fate WHERE seq = ?)",
            (seq, seq),
        )


def scrub_outputs(package_ids: Collection[int], gone: Collection[str], places: set[Any]) -> None:
    """Let no stage's stored answer name records that go or speak of proposals that went.

    Args:
        package_ids: The packages whose answers are looked at.
        gone: Ids of records that go.
        places: Package and place of each proposal that went.
    """
    for part in parts(sorted(package_ids)):
        rows = database.execute_sql(
            "SELECT package_id, stage, answer FROM stage_output WHERE answer IS NOT NULL"  # noqa: S608 - marks only
            f" AND stage IN ('observe', 'merge') AND package_id IN ({_marks(part)})",
            tuple(part),
        ).fetchall()
        for package_id, stage, answer in rows:
            before = load(answer)
            after = _scrubbed(before, gone, {place for of, place in places if of == package_id})
            if after != before:
                database.execute_sql(
                    "UPDATE stage_output SET answer = ? WHERE package_id = ? AND stage = ?",
                    (dump(after), package_id, stage),
                )


def _scrubbed(value: Any, gone: Collection[str], places: Collection[int]) -> Any:
    """An answer without ids that go and without items about places that went."""
    if isinstance(value, dict):
        kept = {
            name: _scrubbed(item, gone, places)
            for name, item in value.items()
            if name not in gone and not (isinstance(item, str) and item in gone)
        }
        if places and "digest" in kept:
            # What was handed in can't be told by it any more: it was more than there is.
            kept["digest"] = FORGOTTEN
        return kept
    if isinstance(value, list):
        return [
            _scrubbed(item, gone, places)
            for item in value
            if not (isinstance(item, str) and item in gone)
            and not (isinstance(item, dict) and item.get("index") in places)
        ]
    return value


def _marks(values: Collection[Any]) -> str:
    return ",".join("?" * len(values))
