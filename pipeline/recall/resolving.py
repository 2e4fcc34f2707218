"""Resolving: from found documents to the records and events that may be told.

Permission and validity stand here, before any rank counts (mission E2).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.recall.source import RecallSource
from storage.records.events import Event
from storage.records.knowledge import Record, RecordKind, RecordStatus

_PAST = frozenset({RecordStatus.SUPERSEDED, RecordStatus.EXPIRED, RecordStatus.ARCHIVED})


@dataclass(frozen=True, slots=True)
class Resolved:
    """What stands behind documents.

    `homes` maps each document that may be told to the one that answers for it: a record for itself
    and for the events that it quotes, an event for itself where no record holds it. `lapsed` are
    the records that matched but hold no longer.
    """

    records: Mapping[str, Record]
    events: Mapping[int, Event]
    homes: Mapping[str, str]
    lapsed: tuple[Record, ...]


def is_past(record: Record, now_ms: int) -> bool:
    """Whether a record holds no longer, by its status or by its validity.

    A commitment holds until it is kept or taken back: its time being over makes it overdue.
    """
    if record.status in _PAST:
        return True
    over = record.valid_to is not None and record.valid_to <= now_ms
    return over and record.kind is not RecordKind.COMMITMENT


def resolve(
    source: RecallSource,
    owner: str,
    found: Sequence[str],
    *,
    named: Sequence[str] = (),
    now_ms: int,
    past: bool,
) -> Resolved:
    """Read what documents stand for, and find each one's home.

    Args:
        source: The store.
        owner: Whose memory; whatever belongs to another is left out.
        found: What matched the question, best first: an event that several records quote goes to
            the best of them.
        named: What concerns its objects without having matched.
        now_ms: When validity is judged.
        past: Whether records that hold no longer may be told.
    """
    rows = _Rows(source, owner)
    documents = dict.fromkeys([*found, *named])
    rows.read_records(name[2:] for name in documents if name.startswith("r:"))
    seqs = {int(name[2:]) for name in documents if name.startswith("e:")}
    seqs |= {seq for cue in rows.cues() for seq in _seqs(cue)}
    rows.read_events(seqs)
    finder = _Homes(rows, found, now_ms=now_ms, past=past)
    homes = {name: home for name in documents if (home := finder.home(name)) is not None}
    return Resolved(rows.records, rows.events, homes, tuple(finder.lapsed.values()))


@dataclass(slots=True)
class _Rows:
    source: RecallSource
    owner: str
    records: dict[str, Record] = field(default_factory=dict)
    events: dict[int, Event] = field(default_factory=dict)
    holders: dict[int, list[Record]] = field(default_factory=dict)

    def read_records(self, ids: Iterable[str]) -> None:
        wanted = set(ids) - self.records.keys()
        if wanted:
            read = self.source.records(self.owner, wanted)
            self.records |= {r.id: r for r in read if r.owner_scope == self.owner}

    def read_events(self, seqs: Collection[int]) -> None:
        if not seqs:
            return
        read = self.source.events(self.owner, seqs)
        self.events |= {event.seq: event for event in read if event.owner == self.owner}
        resting = self.source.resting_on(self.owner, seqs)
        self.read_records(name for names in resting.values() for name in names)
        for seq, names in resting.items():
            known = (self.records[name] for name in names if name in self.records)
            # A cue leads to evidence and is none (mission D1).
            self.holders[seq] = [r for r in known if r.kind is not RecordKind.CUE]

    def cues(self) -> list[Record]:
        return [record for record in self.records.values() if record.kind is RecordKind.CUE]


class _Homes:
    def __init__(self, rows: _Rows, found: Sequence[str], *, now_ms: int, past: bool) -> None:
        self._rows = rows
        self._order = {name: rank for rank, name in enumerate(found)}
        self._now_ms = now_ms
        self._past = past
        self.lapsed: dict[str, Record] = {}

    def home(self, document: str) -> str | None:
        if document.startswith("e:"):
            return self._of_event(int(document[2:]))
        record = self._rows.records.get(document[2:])
        if record is None or not self._holds(record):
            return None
        if record.kind is not RecordKind.CUE:
            return document
        return next(filter(None, map(self._of_event, _seqs(record))), None)

    def _of_event(self, seq: int) -> str | None:
        if seq not in self._rows.events:
            return None
        holders = self._rows.holders.get(seq, [])
        if valid := [record for record in holders if self._holds(record)]:
            return f"r:{min(valid, key=self._preference).id}"
        # What an outdated record was met for must not come back as its raw event; an event that
        # was met for something else that it says still may.
        outdated = any(f"r:{record.id}" in self._order for record in holders)
        return None if outdated else f"e:{seq}"

    def _holds(self, record: Record) -> bool:
        if self._past or not is_past(record, self._now_ms):
            return True
        if f"r:{record.id}" in self._order:
            self.lapsed[record.id] = record
        return False

    def _preference(self, record: Record) -> tuple[bool, int, int, int, str]:
        return (
            is_past(record, self._now_ms),
            self._order.get(f"r:{record.id}", len(self._order)),
            -record.authority,
            -record.observed_at,
            record.id,
        )


def _seqs(record: Record) -> list[int]:
    return [span.seq for span in record.evidence]
