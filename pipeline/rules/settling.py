"""What new records do to those that stand: repeats, promotion, supersession, conflict.

Pure, and indifferent to the order of arrival: two statements are weighed by what they say, whose
they are and when they were made, not by which was stored first.
Source: mission C5, D5, F3; protocol, Who wins.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto

from pipeline.rules.due import BEIJING
from pipeline.rules.wording import content_words, normalised
from storage.records.knowledge import (
    Authority,
    FactClass,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)

DISABLED = "disabled"
"""The reason of a record that only the user brings back (spec: protocol, Who wins)."""

MAX_EVIDENCE = 32
"""Spans that a record keeps. Each version holds them all, so that without a bound a statement
repeated for years would cost the square of its repeats."""

_LIVE = frozenset({RecordStatus.CANDIDATE, RecordStatus.ACTIVE})
_TOLD = frozenset({RecordKind.EPISODE, RecordKind.CUE})
_OWN_KIND = frozenset({RecordKind.COMMITMENT, RecordKind.PROCEDURE})
_DAY_STARTS = timedelta(hours=3, minutes=30)
_SHARED_WORDS = 0.5
# These tell that something is set right, not what.
_MARKS = content_words("correction actually sorry wrong 更正 纠正 不对 错了 其实")


@dataclass(frozen=True, slots=True)
class Settlement:
    """What to store: new records, and those that stood and have changed.

    A changed one carries its next revision. A record stands in at most one of the two.
    """

    inserts: tuple[Record, ...]
    updates: tuple[Record, ...]


class Relation(Enum):
    """What two statements about the same slot are to each other."""

    APART = auto()
    FIRST_WINS = auto()
    SECOND_WINS = auto()
    CONFLICT = auto()


def settle(new: Sequence[Record], existing: Sequence[Record]) -> Settlement:
    """Weigh `new` records against `existing` ones of the same owner.

    `existing` should hold every record of the subjects concerned, whatever its status. A record
    that is there already, by id, changes nothing.
    """
    board = _Board(existing)
    for record in sorted(new, key=lambda record: (record.observed_at, record.id)):
        if record.id not in board.records:
            _place(board, record)
    return board.settlement()


def workday(at_ms: int) -> str:
    """The workday of a moment: 03:30 to 03:29:59 Beijing time (mission F2), as an ISO date.

    >>> workday(1_700_000_000_000)
    '2023-11-15'
    """
    return (datetime.fromtimestamp(at_ms / 1000, BEIJING) - _DAY_STARTS).date().isoformat()


def relate(first: Record, second: Record) -> Relation:
    """How two records with a slot weigh against each other (spec: protocol, Who wins).

    The same answer whichever is asked first, turned round.
    """
    if not _same_slot(first, second):
        return Relation.APART
    if (first.status is RecordStatus.CANDIDATE) is not (second.status is RecordStatus.CANDIDATE):
        # Seen on one day only, it does not yet unseat what holds (mission F3).
        return Relation.CONFLICT
    if first.observed_at == second.observed_at:
        return Relation.CONFLICT
    if first.observed_at > second.observed_at:
        return Relation.FIRST_WINS if first.authority >= second.authority else Relation.CONFLICT
    return Relation.SECOND_WINS if second.authority >= first.authority else Relation.CONFLICT


class _Board:
    """The records under consideration; what changes is noted."""

    def __init__(self, existing: Iterable[Record]) -> None:
        self.records = {record.id: record for record in existing}
        self._before = dict(self.records)

    def live(self) -> Iterator[Record]:
        return iter([record for record in self.records.values() if record.status in _LIVE])

    def put(self, record: Record) -> None:
        self.records[record.id] = record

    def supersede(self, winner: str, loser: str) -> None:
        older, newer = self.records[loser], self.records[winner]
        self.put(replace(older, status=RecordStatus.SUPERSEDED))
        self.put(replace(newer, supersedes=_joined(newer.supersedes, loser)))

    def conflict(self, one: str, other: str) -> None:
        for here, there in ((one, other), (other, one)):
            record = self.records[here]
            self.put(replace(record, conflicts_with=_joined(record.conflicts_with, there)))

    def settlement(self) -> Settlement:
        inserts = [r for key, r in self.records.items() if key not in self._before]
        changed = [
            replace(record, revision=before.revision + 1)
            for key, before in self._before.items()
            if (record := self.records[key]) != before
        ]
        return Settlement(tuple(inserts), tuple(changed))


def _place(board: _Board, record: Record) -> None:
    twin = next((other for other in board.records.values() if _same_statement(record, other)), None)
    if twin is not None:
        record = _borne_out(twin, record)
        board.put(record)
        if record.status is not twin.status:
            _weigh(board, record)
        return
    board.put(record)
    _replace_named(board, record)
    _weigh(board, record)
    if record.kind is RecordKind.CORRECTION and record.key is None and not record.supersedes:
        _correct_by_words(board, record)


def _same_statement(new: Record, other: Record) -> bool:
    """A repeat of what stands, or of what was disabled: that is not brought back by tidying."""
    disabled = other.status is RecordStatus.ARCHIVED and other.reason == DISABLED
    if other.status not in _LIVE and not disabled:
        return False
    if (new.subject_id, new.kind, new.scope) != (other.subject_id, other.kind, other.scope):
        return False
    if normalised(new.content) == normalised(other.content):
        return True
    valued = new.key is not None and new.value is not None
    return valued and (new.key, new.value) == (other.key, other.value)


def _borne_out(twin: Record, new: Record) -> Record:
    """The standing record with the repeat's evidence: one source told twice stays one source."""
    fresh = tuple(span for span in new.evidence if span not in twin.evidence)
    if not fresh:
        return twin
    told = {span.event_id for span in twin.evidence}
    independent = any(span.event_id not in told for span in fresh)
    merged = replace(twin, evidence=_bounded(twin.evidence + fresh))
    if twin.status not in _LIVE or not independent:
        return merged
    return replace(
        merged,
        observed_at=max(twin.observed_at, new.observed_at),
        authority=_joint_authority(twin, new),
        status=RecordStatus.ACTIVE if _promoted(twin, new) else twin.status,
        review_at=new.review_at if new.observed_at >= twin.observed_at else twin.review_at,
    )


def _bounded(evidence: tuple[Span, ...]) -> tuple[Span, ...]:
    """What was said a thousand times rests on the first time and the newest ones."""
    if len(evidence) <= MAX_EVIDENCE:
        return evidence
    return (evidence[0], *evidence[1 - MAX_EVIDENCE :])


def _joint_authority(twin: Record, new: Record) -> Authority:
    if twin.kind in _TOLD:
        return min(twin.authority, new.authority)
    return max(twin.authority, new.authority)


def _promoted(twin: Record, new: Record) -> bool:
    """An environment fact holds once two different workdays bear it out (mission F3)."""
    waiting = twin.status is RecordStatus.CANDIDATE and twin.fact_class is FactClass.ENVIRONMENT
    return waiting and workday(twin.observed_at) != workday(new.observed_at)


def _replace_named(board: _Board, record: Record) -> None:
    """Carry out what the record says it supersedes, where it may."""
    for named in record.supersedes:
        other = board.records.get(named)
        if other is None or other.status not in _LIVE or not _same_reach(record, other):
            continue
        stronger = record.authority >= other.authority
        if record.observed_at > other.observed_at and stronger:
            board.supersede(record.id, named)
        else:
            board.put(replace(record, supersedes=_without(record.supersedes, named)))
            record = board.records[record.id]
            board.conflict(record.id, named)


def _weigh(board: _Board, record: Record) -> None:
    for other in board.live():
        if other.id == record.id or board.records[record.id].status not in _LIVE:
            continue
        match relate(board.records[record.id], other):
            case Relation.FIRST_WINS:
                board.supersede(record.id, other.id)
            case Relation.SECOND_WINS:
                board.supersede(other.id, record.id)
            case Relation.CONFLICT:
                board.conflict(record.id, other.id)
            case Relation.APART:
                pass


def _correct_by_words(board: _Board, record: Record) -> None:
    """A correction without a slot replaces the one record that it plainly speaks of."""
    words = content_words(record.content) - _MARKS
    near = [
        other
        for other in board.live()
        if other.id != record.id
        and other.kind not in _TOLD
        and other.status is RecordStatus.ACTIVE
        and _same_reach(record, other)
        and words
        and len(words & content_words(other.content)) >= len(words) * _SHARED_WORDS
    ]
    replaceable = [
        other
        for other in near
        if record.observed_at > other.observed_at and record.authority >= other.authority
    ]
    if len(near) == 1 and replaceable:
        board.supersede(record.id, near[0].id)
        return
    for other in near:
        board.conflict(record.id, other.id)


def _same_slot(first: Record, second: Record) -> bool:
    if first.key is None or first.key != second.key or not _comparable(first.kind, second.kind):
        return False
    return _same_reach(first, second)


def _comparable(first: RecordKind, second: RecordKind) -> bool:
    """Statements compare with each other; a promise, or a way of doing, with its own kind."""
    kinds = {first, second}
    if kinds & _TOLD:
        return False
    return len(kinds - {RecordKind.CORRECTION}) <= 1 or not kinds & _OWN_KIND


def _same_reach(first: Record, second: Record) -> bool:
    """Same subject, same scope, overlapping validity; an exception reaches nothing else."""
    if first.subject_id != second.subject_id or _reach(first.scope) != _reach(second.scope):
        return False
    return not first.scope.once and not second.scope.once and _overlap(first, second)


def _reach(scope: Scope) -> tuple[frozenset[str], str | None]:
    return frozenset(scope.objects), scope.task


def _overlap(first: Record, second: Record) -> bool:
    """Whether two validities (end exclusive, open where unsaid) share a moment."""
    return _begins_before_end(first, second) and _begins_before_end(second, first)


def _begins_before_end(first: Record, second: Record) -> bool:
    start, end = first.valid_from, second.valid_to
    return start is None or end is None or start < end


def _joined(ids: tuple[str, ...], new: str) -> tuple[str, ...]:
    return ids if new in ids else (*ids, new)


def _without(ids: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(known for known in ids if known != gone)
