"""What new records do to those that stand: repeats, promotion, supersession, conflict.

Pure, and indifferent to the order of arrival: two statements are weighed by what they say, whose
they are and when they were made, not by which was stored first. Only records of one subject touch
each other. Source: mission C5, D5, F3; protocol, Who wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pipeline.rules.board import Board
from pipeline.rules.relating import (
    LIVE,
    TOLD,
    Relation,
    outranks,
    relate,
    rivals,
    same_reach,
    unseats,
)
from pipeline.rules.sources import borne_out_twice, independent, joined, ordered, origins_of
from pipeline.rules.wording import content_words
from storage.records.knowledge import (
    Authority,
    FactClass,
    Record,
    RecordKind,
    RecordStatus,
)

CORRECTABLE: Final = 1_000
"""Active statements that a correction without a slot is held against, the newest first."""

MOST_CONFLICTS: Final = 8
"""Records that one change sets a record against, where words alone say so: the newest ones."""

_SHARED_WORDS: Final = 0.5
# These tell that something is set right, not what.
_MARKS: Final = content_words("correction actually sorry wrong 更正 纠正 不对 错了 其实")


@dataclass(frozen=True, slots=True)
class Settlement:
    """What to store: new records, and those that stood and have changed.

    A changed one carries its next revision. A record stands in at most one of the two. `merged`
    tells of new records that say what stands already which one that is.
    """

    inserts: tuple[Record, ...]
    updates: tuple[Record, ...]
    merged: Mapping[str, str] = field(default_factory=dict)


def settle(new: Sequence[Record], existing: Sequence[Record]) -> Settlement:
    """Weigh `new` records against `existing` ones of the same owner.

    `existing` should hold, of the subjects concerned, whatever the new ones could repeat, replace
    or contradict, with what that is in conflict with; all of a subject's records will do, too. A
    record that is there already, by id, changes nothing.
    """
    board = Board(existing)
    merged: dict[str, str] = {}
    for record in sorted(new, key=lambda record: (record.observed_at, record.id)):
        if record.id in board.records:
            continue
        twin = board.twin(record)
        if twin is None:
            _insert(board, replace(record, evidence=ordered(record.evidence)))
        else:
            merged[record.id] = twin.id
            _repeat(board, twin, record)
    return _settlement(board, merged)


def _settlement(board: Board, merged: Mapping[str, str]) -> Settlement:
    changed = [
        replace(record, revision=before.revision + 1)
        for key, before in sorted(board.before.items())
        if (record := board.records[key]) != before
    ]
    inserts = [record for key, record in board.records.items() if key not in board.before]
    return Settlement(tuple(inserts), tuple(changed), merged)


def _insert(board: Board, record: Record) -> None:
    if _waits_for_days(record) and borne_out_twice(record):
        record = replace(record, status=RecordStatus.ACTIVE)
    board.put(record)
    _replace_named(board, record.id, record.supersedes)
    if record.authority is Authority.USER:
        # New ones dispute nothing yet, confirmed ones may.
        _resolve(board, record.id)
    _weigh(board, record.id)
    record = board.records[record.id]
    waiting = record.status is RecordStatus.CANDIDATE
    named = record.key is not None or record.supersedes
    if record.kind is RecordKind.CORRECTION and not named and not waiting:
        _correct_by_words(board, record)


# ---- repeats ----------------------------------------------------------------


def _repeat(board: Board, twin: Record, new: Record) -> None:
    merged, renewed = _borne_out(twin, new)
    board.put(merged)
    if not renewed:
        return
    _replace_named(board, twin.id, new.supersedes)
    _weigh(board, twin.id)
    if new.authority is Authority.USER:
        _resolve(board, twin.id)


def _borne_out(twin: Record, new: Record) -> tuple[Record, bool]:
    """The standing record with the repeat's evidence, and whether the repeat weighs anything.

    One source told twice stays one source. The user's own word counts as said anew whatever was in
    view, but bears nothing out that it only repeats.
    """
    merged = joined(twin, new)
    if merged.evidence == twin.evidence:
        return twin, False
    told = {origin.event_id for origin in origins_of(twin)}
    said = new.authority is Authority.USER and any(
        origin.event_id not in told for origin in origins_of(new)
    )
    if twin.status not in LIVE or not (said or independent(new, twin)):
        return merged, False
    later = new.observed_at > twin.observed_at
    merged = replace(
        merged,
        observed_at=max(twin.observed_at, new.observed_at),
        authority=_joint_authority(twin, new),
        valid_from=_earliest(twin.valid_from, new.valid_from),
        valid_to=new.valid_to if later else twin.valid_to,
        review_at=max(filter(None, (twin.review_at, new.review_at)), default=None),
    )
    return (replace(merged, status=RecordStatus.ACTIVE) if _promoted(merged, new) else merged), True


def _joint_authority(twin: Record, new: Record) -> Authority:
    if twin.kind in TOLD:
        return min(twin.authority, new.authority)
    return max(twin.authority, new.authority)


def _earliest(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else min(first, second)


def _waits_for_days(record: Record) -> bool:
    """An environment fact holds once two different workdays bear it out (mission F3)."""
    waiting = record.status is RecordStatus.CANDIDATE and record.authority > Authority.EXTERNAL
    return waiting and record.fact_class is FactClass.ENVIRONMENT


def _promoted(merged: Record, new: Record) -> bool:
    if _waits_for_days(merged):
        return borne_out_twice(merged)
    # A candidate that the user then says in so many words; a procedure waits for confirmation.
    waiting = merged.status is RecordStatus.CANDIDATE and merged.kind is not RecordKind.PROCEDURE
    environment = merged.fact_class is FactClass.ENVIRONMENT
    return waiting and not environment and new.status is RecordStatus.ACTIVE


# ---- rivals -----------------------------------------------------------------


def _replace_named(board: Board, record_id: str, named: Sequence[str]) -> None:
    """Carry out what a record says it supersedes, where it may."""
    for name in named:
        record, other = board.records[record_id], board.records.get(name)
        if other is None or other.status not in LIVE or not same_reach(record, other):
            continue
        if unseats(record, other):
            board.supersede(record_id, name)
        else:
            kept = tuple(known for known in record.supersedes if known != name)
            board.put(replace(record, supersedes=kept))
            board.conflict(record_id, name)


def _weigh(board: Board, record_id: str) -> None:
    for other in _rivals(board, board.records[record_id]):
        record = board.records[record_id]
        if record.status not in LIVE:
            return
        match relate(record, board.records[other.id]):
            case Relation.FIRST_WINS:
                board.supersede(record_id, other.id)
            case Relation.SECOND_WINS:
                board.supersede(other.id, record_id)
            case Relation.CONFLICT:
                board.conflict(record_id, other.id)
            case Relation.APART:
                pass


def _rivals(board: Board, record: Record) -> Iterator[Record]:
    """All that fill its slot otherwise, and the newest few that its words oppose."""
    slot = [other for other in board.filling(record) if rivals(record, other)]
    filled = {other.id for other in slot}
    alike = [
        other
        for other in board.worded_like(record)
        if other.id not in filled and rivals(record, other)
    ]
    yield from slot
    yield from alike[:MOST_CONFLICTS]


def _resolve(board: Board, record_id: str) -> None:
    """The user has spoken again on one side of a conflict: the other one yields."""
    for name in board.records[record_id].conflicts_with:
        record, other = board.records[record_id], board.records.get(name)
        if other is None or not outranks(record, other):
            continue
        if rivals(record, other):
            board.supersede(record_id, name)
        else:
            board.reconcile(record_id, name)


def _correct_by_words(board: Board, record: Record) -> None:
    """A correction without a slot replaces the one record that it plainly speaks of."""
    words = content_words(record.content) - _MARKS
    near = [
        other
        for other in board.newest_statements(record.subject_id, CORRECTABLE)
        if other.id != record.id
        and same_reach(record, other)
        and words
        and len(words & content_words(other.content)) >= len(words) * _SHARED_WORDS
    ]
    if len(near) == 1 and outranks(record, near[0]):
        board.supersede(record.id, near[0].id)
        return
    for other in near[:MOST_CONFLICTS]:
        board.conflict(record.id, other.id)
