"""The words of what is forgotten, taken out of the index entries that held them.

Neighbours of an event are found by its words, and what lost words is still found by others: their
entries are made anew. Then every entry that a newer one has replaced goes, since the lexical index
is built from all of them.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from pipeline.errors import LostRaceError
from pipeline.forgetting.traces import Traces
from pipeline.rules.indexing import NEIGHBOURS, EventIndexer, Turns, record_entry
from pipeline.text.tokenise import Tokenizer
from storage.records.events import Event, Fate
from storage.records.forgetting import Forgetting
from storage.records.recall import IndexEntry
from storage.repositories import entries, events, index, intake, records, tombstones
from storage.writer import Writer

BATCH = 100
"""Documents that one transaction writes or drops entries of."""

RACE_TRIES = 20


class Words:
    """Takes words out of index entries.

    Args:
        writer: The process's writer.
        tokenizer: The tokenizer of index and questions.
        traces: Where the terms are noted that the index must not hold any more.
    """

    def __init__(self, writer: Writer, tokenizer: Tokenizer, traces: Traces) -> None:
        self._writer = writer
        self._tokenizer = tokenizer
        self._traces = traces

    def take_out(self, under_way: Forgetting) -> None:
        """Make masked entries anew where something is left of their documents; drop the old ones.

        Raises:
            LostRaceError: The owner's memory changes again and again.
            OSError: The list of what to look for can't be written.
        """
        masked = entries.masked(under_way.owner, under_way.masked_from)
        for documents in _batches(masked):
            self._make_anew(under_way.owner, documents)
        for documents in _batches(masked):
            old = entries.outdated(under_way.owner, documents)
            fields = [(name, text) for _, held in old for name, text in held.items()]
            self._traces.add(
                under_way.id,
                texts=(text for _, text in fields),
                terms=((name, term) for name, text in fields for term in text.split()),
            )
            self._writer.call(
                "erase", partial(entries.drop, [seq for seq, _ in old]), rows=len(old)
            )

    def _make_anew(self, owner: str, documents: Sequence[str]) -> None:
        for _ in range(RACE_TRIES):
            seen = tombstones.count(owner)
            made = self._entries(owner, documents)
            try:
                self._writer.call("erase", partial(self._append, owner, seen, made))
            except LostRaceError:
                continue
            return
        raise LostRaceError("The owner's memory changes again and again.")

    def _append(self, owner: str, seen: int, made: Sequence[IndexEntry]) -> None:
        if tombstones.count(owner) != seen:
            raise LostRaceError
        index.append(made, tokenizer=self._tokenizer.version)

    def _entries(self, owner: str, documents: Sequence[str]) -> list[IndexEntry]:
        newest = index.newest(owner, documents)
        gone = [name for name, entry in newest.items() if entry.gone]
        seqs = [int(name[2:]) for name in gone if name.startswith("e:")]
        fates = intake.fates_of(seqs)
        indexer = EventIndexer(self._tokenizer)
        made = []
        for event in events.by_seqs(owner, seqs):
            match fates.get(event.seq):
                case Fate.PACKAGED | Fate.WAITING:
                    made.append(indexer.entry(event, Turns(_before).before(event)))
                case Fate.MERGED:
                    made.append(indexer.repeat(event))
                case _:
                    pass
        ids = [name[2:] for name in gone if name.startswith("r:")]
        made += [record_entry(record, self._tokenizer) for record in records.by_ids(owner, ids)]
        return made


def _before(event: Event) -> Sequence[Event]:
    if event.stream is None:
        return ()
    return events.before_in_stream(event.owner, event.stream, event.seq, NEIGHBOURS)


def _batches(documents: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(documents), BATCH):
        yield documents[start : start + BATCH]
