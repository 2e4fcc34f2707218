"""What two records are to each other: the same statement, rivals for one place, or apart.

Pure, and the same answer whichever is asked first. Source: mission C5, D5; protocol, Who wins.
"""

from enum import Enum, auto
from typing import Final

from pipeline.rules import negation
from pipeline.rules.wording import normalised
from storage.records.knowledge import Authority, FactClass, Record, RecordKind, RecordStatus, Scope

DISABLED: Final = "disabled"
"""The reason of a record that only the user brings back (spec: protocol, Who wins)."""

LIVE: Final = frozenset({RecordStatus.CANDIDATE, RecordStatus.ACTIVE})
TOLD: Final = frozenset({RecordKind.EPISODE, RecordKind.CUE})
"""Kinds that tell what was, and claim nothing that could be contradicted."""

_OWN_KIND: Final = frozenset({RecordKind.COMMITMENT, RecordKind.PROCEDURE})


class Relation(Enum):
    """What two statements are to each other."""

    APART = auto()
    FIRST_WINS = auto()
    SECOND_WINS = auto()
    CONFLICT = auto()


def relate(first: Record, second: Record) -> Relation:
    """How two records weigh against each other (spec: protocol, Who wins).

    In one slot the later of no less authority wins. Without a slot nothing is superseded
    automatically: opposites are then a conflict, and both stay.
    """
    if not rivals(first, second):
        return Relation.APART
    if not _same_slot(first, second):
        return Relation.CONFLICT
    if unseats(first, second):
        return Relation.FIRST_WINS
    return Relation.SECOND_WINS if unseats(second, first) else Relation.CONFLICT


def unseats(first: Record, second: Record) -> bool:
    """A candidate, seen on one day only, does not yet unseat what holds (mission F3)."""
    waiting = first.status is RecordStatus.CANDIDATE and second.status is RecordStatus.ACTIVE
    return outranks(first, second) and not waiting


def outranks(first: Record, second: Record) -> bool:
    """Whether the first was said later than the second, on no less authority."""
    return first.observed_at > second.observed_at and first.authority >= second.authority


def rivals(first: Record, second: Record) -> bool:
    """Whether both can't hold: another filling of one slot, or the opposite in the same words."""
    if Authority.EXTERNAL in {first.authority, second.authority}:
        # What a page says neither unseats nor disputes what anybody has said (mission B5).
        return False
    if not comparable(first.kind, second.kind) or not same_reach(first, second):
        return False
    if _same_slot(first, second):
        return not _agree(first, second)
    if first.key is not None and second.key is not None:
        return False
    return negation.opposed(first.content, second.content)


def same_statement(new: Record, standing: Record) -> bool:
    """Whether `new` says what stands already, or what was disabled: tidying brings that not back.

    What a user has said and what a model has concluded keep their own records (mission D5); so does
    what waits for a second day, which a user's word does not (F3). A roll-up is about what it rolls
    up.
    """
    if not is_met(standing) or new.links or standing.links:
        return False
    if (new.subject_id, new.kind, new.scope) != (
        standing.subject_id,
        standing.kind,
        standing.scope,
    ):
        return False
    if _voice(new) is not _voice(standing) or _is_seen(new) is not _is_seen(standing):
        return False
    return overlap(new, standing) and _agree(new, standing)


def is_met(record: Record) -> bool:
    """Whether a repeat of what it says belongs to it."""
    disabled = record.status is RecordStatus.ARCHIVED and record.reason == DISABLED
    return record.status in LIVE or disabled


def _voice(record: Record) -> Authority:
    """A page's, a model's, or of somebody who was there."""
    return min(record.authority, Authority.OBSERVATION)


def _is_seen(record: Record) -> bool:
    return record.fact_class is FactClass.ENVIRONMENT


def _agree(first: Record, second: Record) -> bool:
    """Whether two records say the same, in the same words or of the same value."""
    if normalised(first.content) == normalised(second.content):
        return True
    valued = first.key is not None and first.value is not None
    same = valued and (first.key, first.value) == (second.key, second.value)
    return same and not negation.differ(first.content, second.content)


def _same_slot(first: Record, second: Record) -> bool:
    return first.key is not None and first.key == second.key


def comparable(first: RecordKind, second: RecordKind) -> bool:
    """Statements compare with each other; a promise, or a way of doing, with its own kind."""
    kinds = {first, second}
    if kinds & TOLD:
        return False
    return len(kinds - {RecordKind.CORRECTION}) <= 1 or not kinds & _OWN_KIND


def same_reach(first: Record, second: Record) -> bool:
    """Same subject, same scope, overlapping validity; an exception reaches nothing else."""
    if first.subject_id != second.subject_id or _reach(first.scope) != _reach(second.scope):
        return False
    return not first.scope.once and not second.scope.once and overlap(first, second)


def _reach(scope: Scope) -> tuple[frozenset[str], str | None]:
    return frozenset(scope.objects), scope.task


def overlap(first: Record, second: Record) -> bool:
    """Whether two validities (end exclusive, open where unsaid) share a moment."""
    return _begins_before_end(first, second) and _begins_before_end(second, first)


def _begins_before_end(first: Record, second: Record) -> bool:
    start, end = first.valid_from, second.valid_to
    return start is None or end is None or start < end
