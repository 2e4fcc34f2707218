"""What became of an event, put together from everything that holds a trace of it.

Each look-up goes by an index: by sequence number, by package, by record.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from storage.database import database
from storage.errors import NotFoundError
from storage.records.events import Event, Fate
from storage.records.fates import EventFate, Passage, Quoting, Repeats, Resting
from storage.records.knowledge import Change, JournalEntry, Record
from storage.records.runs import Package, PackageState, PackageWork, Stage
from storage.repositories import dead_letters, events, journal, ledger, proposals, records
from storage.repositories.record_links import superseding


def of(owner: str, event_id: str) -> EventFate:
    """What became of an event.

    Raises:
        NotFoundError: The owner has none of that id.
    """
    found = events.by_ids(owner, [event_id])
    if not found:
        raise NotFoundError("There is no event of that id for this owner.")
    event = found[0]
    row = database.execute_sql(
        "SELECT fate, reason, package_id, into_seq FROM event_fate WHERE seq = ?", (event.seq,)
    ).fetchone()
    # What follows from a repeat follows from the event that it was counted into.
    into = events.by_seqs(owner, [row[3]]) if row and row[3] else []
    counted = into[0] if into else event
    package = ledger.get(row[2]) if row and row[2] else None
    told = EventFate(event, counted)
    if row:
        told = replace(told, fate=Fate(row[0]), reason=row[1])
    if package is not None:
        told = replace(told, passage=_passage(package), repeats=_repeats(package, counted))
    return _with_memory(told, package)


def _passage(package: Package) -> Passage:
    rows = database.execute_sql(
        "SELECT stage, committed_at FROM stage_output WHERE package_id = ?", (package.id,)
    )
    committed = {Stage(stage): at for stage, at in rows.fetchall()}
    dead = package.state is PackageState.DEAD
    return Passage(package, committed, dead_letters.parked_at(package.id) if dead else None)


def _repeats(package: Package, counted: Event) -> Repeats | None:
    row = database.execute_sql(
        "SELECT count, first_at, last_at FROM package_event"
        " WHERE package_id = ? AND seq = ? AND count > 1",
        (package.id, counted.seq),
    ).fetchone()
    return Repeats(*row) if row else None


# ---- what memory holds of it -------------------------------------------------


def _with_memory(told: EventFate, package: Package | None) -> EventFate:
    """The same with the proposals, records and requests that quote the event."""
    counted = told.counted
    seqs = [counted.seq]
    resting = records.by_ids(
        counted.owner,
        {name for names in records.resting_on(counted.owner, seqs).values() for name in names},
    )
    known = {record.id for record in resting}
    others = _makers(resting)
    works = [package, *others] if package is not None else others
    quoting = [item for work in works for item in _quoting(work, counted, known)]
    missing = {item.became for item in quoting if item.became} - known
    return replace(
        told,
        proposals=tuple(quoting),
        unattributed=_unattributed(package),
        records=tuple(_linked([*resting, *records.by_ids(counted.owner, missing)])),
        requests=tuple(_requests(resting, {item.package_id for item in quoting}, counted)),
    )


def _makers(resting: Sequence[Record]) -> list[Package]:
    """The packages without events that have made these records: requests and compactions."""
    numbers = {record.package_id for record in resting if record.package_id is not None}
    found = (ledger.get(number) for number in sorted(numbers))
    return [work for work in found if work is not None and work.work is not PackageWork.EVENTS]


def _quoting(work: Package, counted: Event, known: Collection[str]) -> list[Quoting]:
    """The proposals of a package that quote the event, each with what settling made of it."""
    merged = ledger.output(work.id, Stage.MERGE)
    settled = merged[1] if merged is not None and merged[1] is not None else {}
    stands = {name: name for name in (*known, *settled.get("records", ()))}
    stands |= settled.get("merged", {})
    return [
        Quoting(work.id, proposal, verdict, stands.get(verdict.record_id or ""))
        for proposal, verdict in proposals.verdicts(work.id)
        if any(quote.event_id == counted.id for quote in proposal.evidence)
    ]


def _unattributed(package: Package | None) -> dict[str, int]:
    judged = proposals.verdicts(package.id) if package is not None else []
    return dict(
        Counter(
            verdict.code.value
            for proposal, verdict in judged
            if verdict.code is not None and not proposal.evidence
        )
    )


def _linked(found: Sequence[Record]) -> list[Resting]:
    replaced: dict[str, list[str]] = {}
    for subject in {record.subject_id for record in found}:
        about = [record for record in found if record.subject_id == subject]
        ids = [record.id for record in about]
        replaced |= superseding(about[0].owner_scope, subject, ids)
    return [Resting(record, tuple(replaced.get(record.id, ()))) for record in found]


def _requests(
    resting: Sequence[Record], quoting: Collection[int], counted: Event
) -> list[JournalEntry]:
    """The confirmations and corrections that were made in the event's words, in order."""
    confirmed = (
        entry
        for record in resting
        for entry in journal.of_record(record.owner_scope, record.id)
        if entry.change is Change.CONFIRM and entry.body.get("event_id") == counted.id
    )
    # Only a correction is settled with the record that it was asked of.
    corrected = (
        entry
        for package_id in quoting
        for entry in journal.of_package(package_id)
        if entry.change is Change.SETTLE and entry.record_id is not None
    )
    return sorted((*confirmed, *corrected), key=lambda entry: entry.seq)
