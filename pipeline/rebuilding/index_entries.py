"""Index entries made anew from events and records, and told apart from those that are stored."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pipeline.rules.indexing import EventIndexer, Turns, event_document, record_entry
from pipeline.text.tokenise import Tokenizer
from storage.records.events import Event, Fate
from storage.records.recall import IndexEntry
from storage.repositories import events, index, intake, records, tombstones

BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class Found:
    """Some documents: entries that are to be written, and how many were looked at and what they are.

    `newest` holds the sequence number of each such document's newest entry when it was compared.
    """

    entries: Sequence[IndexEntry]
    newest: Mapping[str, int]
    counts: dict[str, int]


def differing(owner: str, tokenizer: Tokenizer) -> Iterator[Found]:
    """Look at every document of an owner, some hundreds at a time."""
    yield from _of_events(owner, tokenizer)
    yield from _of_records(owner, tokenizer)


def append(owner: str, found: Found, *, forgotten: int, tokenizer: Tokenizer) -> bool:
    """Write what differed; runs in the writer.

    What has got another entry since it was compared has it from newer facts, and keeps it.

    Returns:
        Whether it was done: not if the owner has had something forgotten since `forgotten` was
        read (see `tombstones.count`), since it may be among these words.
    """
    if tombstones.count(owner) != forgotten:
        return False
    stored = index.newest(owner, [entry.document for entry in found.entries])
    seqs = {name: entry.seq for name, entry in stored.items()}
    unchanged = [
        entry
        for entry in found.entries
        if seqs.get(entry.document) == found.newest.get(entry.document)
    ]
    index.append(unchanged, tokenizer=tokenizer.version)
    return True


def _of_events(owner: str, tokenizer: Tokenizer) -> Iterator[Found]:
    turns = Turns()
    seen, upto = 0, intake.filtered(owner)
    while batch := events.between(owner, seen, upto, BATCH):
        known = intake.fates_of([event.seq for event in batch])
        indexer = EventIndexer(tokenizer)
        made = []
        for event in batch:
            before = turns.before(event)
            made.append(_entry(event, known.get(event.seq), before, indexer))
        yield _compared(owner, made)
        seen = batch[-1].seq


def _entry(
    event: Event, fate: Fate | None, before: Sequence[Event], indexer: EventIndexer
) -> IndexEntry:
    match fate:
        case Fate.PACKAGED | Fate.WAITING:
            return indexer.entry(event, before)
        case Fate.MERGED:
            return indexer.repeat(event)
        case _:
            return IndexEntry(0, event.owner, event_document(event.seq), 0, gone=True)


def _of_records(owner: str, tokenizer: Tokenizer) -> Iterator[Found]:
    after = ""
    while batch := records.listing(owner, after=after, limit=BATCH):
        yield _compared(owner, [record_entry(record, tokenizer) for record in batch])
        after = batch[-1].id


def _compared(owner: str, made: list[IndexEntry]) -> Found:
    stored = index.newest(owner, [entry.document for entry in made])
    wrong = []
    counts = {"same": 0, "changed": 0, "added": 0, "removed": 0}
    for entry in made:
        present = stored.get(entry.document)
        if present is None or present.gone:
            outcome = "same" if entry.gone else "added"
        elif entry.gone:
            outcome = "removed"
        else:
            outcome = "same" if present.fields == entry.fields else "changed"
        counts[outcome] += 1
        if outcome != "same":
            wrong.append(entry)
    newest = {entry.document: entry.seq for entry in stored.values()}
    return Found(wrong, newest, counts)
