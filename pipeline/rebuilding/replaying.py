"""Records made anew: a subject's journal, replayed by the rules that wrote it (mission A2)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pipeline.acting import acting
from pipeline.maintenance import ageing
from pipeline.rules.confirming import Confirmation
from pipeline.rules.forms import forms_of
from pipeline.stages import merge
from storage.records.knowledge import Change, JournalEntry, Record
from storage.repositories import events, journal, proposals, records, scratch

Changed = Sequence[Record]


def replay(owner: str, subject: str) -> None:
    """Make a subject's records anew in the scratch tables, which must be open and empty."""
    for entry in journal.of_subject(owner, subject):
        changed = _REPLAYED[entry.change](entry)
        records.write(changed, forms=forms_of)


def _settled(entry: JournalEntry) -> Changed:
    """What a package's proposals do to the records as they stand."""
    if entry.package_id is None:
        return ()
    new = [
        record
        for record in proposals.accepted(entry.package_id)
        if record.subject_id == entry.subject_id
    ]
    found = merge.settle(entry.owner, new)
    return _at(entry, (*found.inserts, *found.updates))


def _confirmed(entry: JournalEntry) -> Changed:
    """What the user's confirmation does to them, in the words that the entry points at."""
    if entry.record_id is None:
        return ()
    (event,) = events.by_ids(entry.owner, [entry.body["event_id"]])
    confirmation = Confirmation.from_body(entry.record_id, entry.body, event)
    return _at(entry, acting.confirm(entry.owner, confirmation).updates)


def _ended(entry: JournalEntry) -> Changed:
    """What the end of a record does."""
    if entry.record_id is None:
        return ()
    reason = entry.body["reason"]
    return _at(entry, ageing.ended(entry.owner, entry.record_id, entry.change, reason))


def _versions(entry: JournalEntry) -> Changed:
    """The records as a forgetting or an import has left them."""
    bodies = scratch.load_versions(entry.owner, entry.body)
    return [records.from_stored(body) for body in bodies]


def _at(entry: JournalEntry, changed: Changed) -> Changed:
    return [replace(record, object_revision=entry.object_revision) for record in changed]


_REPLAYED: Final[Mapping[Change, Callable[[JournalEntry], Changed]]] = {
    Change.SETTLE: _settled,
    Change.CONFIRM: _confirmed,
    Change.EXPIRE: _ended,
    Change.ARCHIVE: _ended,
    Change.VERSIONS: _versions,
}
