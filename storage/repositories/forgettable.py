"""What there is to forget: reads that make a selection out, and find what hangs together with it."""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from storage.database import database
from storage.records.events import OWNER_OBJECT, Event
from storage.records.knowledge import Proposal, Record
from storage.repositories import proposals, records
from storage.repositories.codec import load
from storage.repositories.events import parts

_BATCH: Final = 5_000


@contextmanager
def reading() -> Iterator[None]:
    """One view of the database for all reads within."""
    with database.atomic(lock_type="DEFERRED"):
        yield


@dataclass(frozen=True, slots=True)
class StoredProposal:
    """A proposal as it is stored; `record` is what it would become, None where it was rejected."""

    package_id: int
    place: int
    proposal: Proposal
    record: Record | None
    record_id: str | None


# ---- what a selection means ----------------------------------------------------


def events_before(owner: str, before: int) -> list[int]:
    """An owner's events that happened before a time."""
    return [seq for seq, at, _ in _all_events(owner, "at") if at < before]


def events_of_tasks(owner: str, tasks: Collection[str]) -> dict[str, list[int]]:
    """An owner's events of these tasks, by task; a task without any is left out."""
    found: dict[str, list[int]] = {}
    for seq, _, rest in _all_events(owner, "rest LIKE '%\"task_id\":%'"):
        task = str(load(rest).get("task_id")) if rest else ""
        if task in tasks:
            found.setdefault(task, []).append(seq)
    return found


def events_of_object(owner: str, object_id: str) -> list[int]:
    """An owner's events that name an object, wherever; of the owner's own, those that name none."""
    wanted = None if object_id == OWNER_OBJECT else object_id
    found = []
    for seq, _, rest in _all_events(owner, "rest"):
        named = [name for name, *_ in load(rest).get("objects", ())]
        if (wanted in named) if wanted else not named:
            found.append(seq)
    return found


def _all_events(owner: str, looked_at: str) -> Iterator[tuple[int, int, str]]:
    """Sequence number, time and rest of all events of an owner, some thousands a query."""
    where = looked_at if " " in looked_at else "1"
    rest = "''" if looked_at == "at" else "rest"
    after = 0
    while True:
        rows = database.execute_sql(
            f"SELECT seq, at, CASE WHEN {where} THEN {rest} END FROM event"  # noqa: S608 - conditions of ours only
            " WHERE owner = ? AND seq > ? ORDER BY seq LIMIT ?",
            (owner, after, _BATCH),
        ).fetchall()
        if not rows:
            return
        yield from rows
        after = rows[-1][0]


def records_of_object(owner: str, object_id: str) -> list[str]:
    """The ids of the records about an object, and of those that hold only with it."""
    rows = database.execute_sql(
        "SELECT id FROM record WHERE owner_scope = ? AND subject_id = ?", (owner, object_id)
    )
    found = [row[0] for row in rows.fetchall()]
    return list(dict.fromkeys([*found, *_scoped(owner, "objects", {object_id})]))


def records_of_tasks(owner: str, tasks: Collection[str]) -> list[str]:
    """The ids of the records that hold only in these tasks."""
    return _scoped(owner, "task", tasks)


def _scoped(owner: str, name: str, wanted: Collection[str]) -> list[str]:
    rows = database.execute_sql(
        "SELECT id, rest FROM record WHERE owner_scope = ? AND scoped = 1", (owner,)
    )
    found = []
    for record_id, rest in rows.fetchall():
        held = load(rest).get("scope", {}).get(name, ())
        if not set([held] if isinstance(held, str) else held).isdisjoint(wanted):
            found.append(record_id)
    return found


def sourceless_before(owner: str, before: int) -> list[str]:
    """The ids of records that rest on no event of this memory and were observed before a time."""
    rows = database.execute_sql(
        "SELECT id FROM record r WHERE owner_scope = ? AND observed_at < ? AND NOT EXISTS"
        " (SELECT 1 FROM evidence e WHERE e.owner_scope = r.owner_scope AND e.record_id = r.id"
        " AND e.seq > 0)",
        (owner, before),
    )
    return [row[0] for row in rows.fetchall()]


# ---- what hangs together --------------------------------------------------------


def repeats_of(seqs: Collection[int]) -> list[int]:
    """The events that were counted into these, as repeats of the same words."""
    return _numbers(
        "SELECT r.seq FROM event_fate f JOIN event_fate r"
        " ON r.package_id = f.package_id AND r.into_seq = f.seq WHERE f.seq IN ({})",
        seqs,
    )


def counted_into(seqs: Collection[int]) -> list[int]:
    """The events that these were counted into."""
    return _numbers(
        "SELECT DISTINCT into_seq FROM event_fate WHERE into_seq IS NOT NULL AND seq IN ({})", seqs
    )


def packages_of(seqs: Collection[int]) -> list[int]:
    """The packages that these events came into."""
    return _numbers(
        "SELECT DISTINCT package_id FROM event_fate WHERE package_id IS NOT NULL AND seq IN ({})",
        seqs,
    )


@dataclass(frozen=True, slots=True)
class Acts:
    """What the user has confirmed or set right in words of some events."""

    records: frozenset[str]
    subjects: frozenset[str]
    packages: frozenset[int]


def acts_naming(owner: str, event_ids: Collection[str]) -> Acts:
    """Confirmations and corrections that were asked for in the words of these events."""
    if not event_ids:
        return Acts(frozenset(), frozenset(), frozenset())
    rows = database.execute_sql(
        "SELECT record_id, subject_id, NULL, body FROM record_change WHERE owner = ?"
        " AND change = 'confirm' UNION ALL"
        " SELECT c.record_id, c.subject_id, c.package_id, p.proposal FROM record_change c"
        " JOIN proposal p ON p.package_id = c.package_id"
        " WHERE c.owner = ? AND c.change = 'settle' AND c.record_id IS NOT NULL",
        (owner, owner),
    ).fetchall()
    found = [
        (record_id, subject, package_id)
        for record_id, subject, package_id, told in rows
        if not _named(load(told)).isdisjoint(event_ids)
    ]
    made = {number for _, _, number in found if number is not None}
    settled = {stored.record_id for stored in proposals_of(made) if stored.record_id}
    return Acts(
        frozenset({record_id for record_id, _, _ in found} | settled),
        frozenset(subject for _, subject, _ in found),
        frozenset(made),
    )


def _named(told: dict[str, Any]) -> set[str]:
    quoted = {quote["event_id"] for quote in told.get("evidence", ())}
    return quoted | ({told["event_id"]} if "event_id" in told else set())


def settled_by(package_ids: Collection[int]) -> list[str]:
    """The ids of the records that *merge* has written for these packages."""
    found: list[str] = []
    for part in parts(sorted(package_ids)):
        rows = database.execute_sql(
            "SELECT answer FROM stage_output WHERE stage = 'merge' AND answer IS NOT NULL"  # noqa: S608 - marks only
            f" AND package_id IN ({_marks(part)})",
            tuple(part),
        )
        for (answer,) in rows.fetchall():
            told = load(answer)
            found += [*told["records"], *told["updated"]]
    return found


def versions(owner: str, ids: Collection[str]) -> dict[str, list[Record]]:
    """Every version of these records, oldest first, by record."""
    found: dict[str, list[Record]] = {}
    for part in parts(sorted(ids)):
        rows = database.execute_sql(
            "SELECT record_id, body FROM record_version WHERE owner_scope = ?"  # noqa: S608 - marks only
            f" AND record_id IN ({_marks(part)}) ORDER BY record_id, revision",
            (owner, *part),
        )
        for record_id, body in rows.fetchall():
            found.setdefault(record_id, []).append(records.from_stored(body))
    return found


def roll_ups_of(owner: str, ids: Collection[str]) -> list[str]:
    """The records that roll any of these up."""
    found: dict[str, None] = {}
    for part in parts(sorted(ids)):
        rows = database.execute_sql(
            "SELECT DISTINCT rolled_by FROM record WHERE owner_scope = ?"  # noqa: S608 - marks only
            f" AND rolled_by IS NOT NULL AND rolled_by <> id AND id IN ({_marks(part)})",
            (owner, *part),
        )
        found |= dict.fromkeys(row[0] for row in rows.fetchall())
    return list(found)


def naming(owner: str, subjects: Collection[str], ids: Collection[str]) -> list[str]:
    """The records of these subjects that name any of these as superseded, disputed or rolled up."""
    wanted = set(ids)
    found = []
    for subject in sorted(subjects):
        rows = database.execute_sql(
            "SELECT id, rest FROM record WHERE owner_scope = ? AND subject_id = ? AND"
            " (instr(rest, '\"supersedes\"') OR instr(rest, '\"conflicts_with\"')"
            " OR instr(rest, '\"links\"'))",
            (owner, subject),
        )
        for record_id, rest in rows.fetchall():
            told = load(rest)
            lists = (told.get(name, ()) for name in ("supersedes", "conflicts_with", "links"))
            if any(name in wanted for named in lists for name in named):
                found.append(record_id)
    return found


def spans_on(owner: str, seqs: Collection[int]) -> list[tuple[str, int, int, int]]:
    """Who quotes these events where: record id, sequence number, start and end."""
    found: list[tuple[str, int, int, int]] = []
    for part in parts(sorted(seqs)):
        rows = database.execute_sql(
            'SELECT record_id, seq, start, "end" FROM evidence'  # noqa: S608 - marks only
            f" WHERE seq IN ({_marks(part)}) AND owner_scope = ?",
            (*part, owner),
        )
        found += [(name, seq, start, end) for name, seq, start, end in rows.fetchall()]
    return found


def proposals_of(package_ids: Collection[int]) -> list[StoredProposal]:
    """What was proposed for these packages, whatever became of it."""
    found: list[StoredProposal] = []
    for part in parts(sorted(package_ids)):
        rows = database.execute_sql(
            "SELECT package_id, place, proposal, record, record_id FROM proposal"  # noqa: S608 - marks only
            f" WHERE package_id IN ({_marks(part)}) ORDER BY package_id, place",
            tuple(part),
        )
        found += [_proposal(row) for row in rows.fetchall()]
    return found


def unsettled(owner: str) -> list[int]:
    """An owner's packages that have proposals which *merge* has not settled yet."""
    rows = database.execute_sql(
        "SELECT id FROM package WHERE owner = ? AND stage = 'merge'"
        " AND state IN ('ready', 'leased', 'dead')",
        (owner,),
    )
    return [row[0] for row in rows.fetchall()]


def next_in_stream(event: Event, limit: int, reach: int) -> list[int]:
    """The next events of an event's stream, as far as they are near; the nearest first."""
    rows = database.execute_sql(
        "SELECT seq FROM event WHERE owner = ? AND seq > ? AND seq < ? AND stream = ?"
        " ORDER BY seq LIMIT ?",
        (event.owner, event.seq, event.seq + reach, event.stream, limit),
    )
    return [row[0] for row in rows.fetchall()]


def rest_of(seq: int) -> dict[str, Any]:
    """What of an event stands in no column of its own."""
    row = database.execute_sql("SELECT rest FROM event WHERE seq = ?", (seq,)).fetchone()
    found: dict[str, Any] = json.loads(row[0]) if row else {}
    return found


def package_words(package_ids: Collection[int]) -> list[str]:
    """What workers have said of these packages: why they failed, why nothing was kept."""
    found: list[str] = []
    for part in parts(sorted(package_ids)):
        rows = database.execute_sql(
            f"SELECT error, nothing_kept FROM package WHERE id IN ({_marks(part)})",  # noqa: S608 - marks only
            tuple(part),
        )
        found += [text for row in rows.fetchall() for text in row if text]
    return found


def _proposal(row: Sequence[Any]) -> StoredProposal:
    package_id, place, proposal, record, record_id = row
    return StoredProposal(
        package_id,
        place,
        proposals.from_stored(proposal),
        records.from_stored(record) if record else None,
        record_id,
    )


def _numbers(sql: str, values: Collection[int]) -> list[int]:
    """The numbers that a query with one `IN ({})` finds."""
    found: list[int] = []
    for part in parts(sorted(values)):
        rows = database.execute_sql(sql.format(_marks(part)), tuple(part))
        found += [row[0] for row in rows.fetchall()]
    return found


def _marks(values: Collection[Any]) -> str:
    return ",".join("?" * len(values))
