"""What of an event or a record goes into the lexical index, field by field."""

from collections.abc import Callable, Sequence

from pipeline.text.budget import estimate_tokens
from pipeline.text.calendar_terms import day_of, day_terms
from pipeline.text.tokenise import Terms, Tokenizer
from storage.records.events import Event
from storage.records.knowledge import Record
from storage.records.recall import IndexEntry

SHORT_TURN = 200
"""Estimated tokens up to which a turn is found by the turns before it too.

They help short turns and hurt long ones (docs/benchmarks.md).
"""

NEIGHBOURS = 2
"""Earlier turns of the stream. Later ones gained a point on one set, lost five on another, and would
mean that a new turn rewrites the entries of those before it."""

NEARBY = 1_000
"""Sequence numbers of all owners within which a turn of the stream counts as a neighbour."""


def event_document(seq: int) -> str:
    """The document id of an event."""
    return f"e:{seq}"


def record_document(record_id: str) -> str:
    """The document id of a record."""
    return f"r:{record_id}"


class Turns:
    """The turns before each event in its stream, as events come by in sequence.

    Args:
        load: The newest turns of a stream before an event, oldest first, asked once a stream;
            without it streams begin with the first event that comes by.
    """

    def __init__(self, load: Callable[[Event], Sequence[Event]] = lambda _event: ()) -> None:
        self._load = load
        self._recent: dict[str, list[Event]] = {}

    def before(self, event: Event) -> Sequence[Event]:
        """The turns before this one, at most `NEIGHBOURS`; it becomes one of the next one's."""
        if event.stream is None:
            return ()
        if event.stream not in self._recent:
            self._recent[event.stream] = list(self._load(event))
        turns = self._recent[event.stream]
        before = tuple(turn for turn in turns if event.seq - turn.seq < NEARBY)
        turns.append(event)
        del turns[:-NEIGHBOURS]
        return before


class EventIndexer:
    """Makes the entries of events, each text cut once however many neighbours it has.

    Args:
        tokenizer: The tokenizer of index and questions.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._cut: dict[int, Terms] = {}

    def entry(self, event: Event, before: Sequence[Event]) -> IndexEntry:
        """The entry of an event.

        Args:
            event: The event.
            before: The turns before it in the stream, in sequence; used for short turns alone.
        """
        own, names = self._terms(event), self._names(event)
        fields = {
            "words": " ".join((*own.words, *names.words)),
            "ids": " ".join(dict.fromkeys((*own.ids, *names.ids))),
        }
        if before and estimate_tokens(event.text) <= SHORT_TURN:
            near = [turn for turn in before if estimate_tokens(turn.text) <= SHORT_TURN]
            fields["context"] = " ".join(word for turn in near for word in self._said(turn))
        return _entry(event.owner, event_document(event.seq), event.at, fields)

    def repeat(self, event: Event) -> IndexEntry:
        """The entry of a repeat: found by its ids, but not by the words it shares with the first.

        A thousand repeats of one error would otherwise fill every answer about it.
        """
        ids = dict.fromkeys((*self._terms(event).ids, *self._names(event).ids))
        return _entry(event.owner, event_document(event.seq), event.at, {"ids": " ".join(ids)})

    def _terms(self, event: Event) -> Terms:
        if event.seq not in self._cut:
            self._cut[event.seq] = self._tokenizer.index(event.text, at_ms=event.at)
        return self._cut[event.seq]

    def _said(self, turn: Event) -> list[str]:
        """A turn's words without its day, which the turn behind it has of its own."""
        day = day_of(turn.at)
        own_day = frozenset(day_terms(day)) if day else frozenset()
        return [word for word in self._terms(turn).words if word not in own_day]

    def _names(self, event: Event) -> Terms:
        titles = [ref.title or ref.id for ref in event.objects]
        named = [part for part in (event.speaker, *titles, event.ref) if part]
        return self._tokenizer.index("\n".join(named)) if named else Terms((), ())


def record_entry(record: Record, tokenizer: Tokenizer) -> IndexEntry:
    """The index entry of a record, whatever its status: recall judges validity, not the index."""
    parts = [record.content, record.value or "", record.subject_id, *record.conditions]
    parts += [*record.steps, *record.failure, *record.verify]
    own = tokenizer.index("\n".join(parts), at_ms=record.observed_at)
    cues = tokenizer.index("\n".join(record.cues))
    fields = {
        "words": " ".join(own.words),
        "ids": " ".join(own.ids),
        "cues": " ".join(cues.words),
    }
    return _entry(record.owner_scope, record_document(record.id), record.observed_at, fields)


def _entry(owner: str, document: str, at: int, fields: dict[str, str]) -> IndexEntry:
    kept = {name: terms for name, terms in fields.items() if terms}
    return IndexEntry(0, owner, document, at, kept)
