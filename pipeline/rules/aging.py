"""How records end without a new word: their time is over, nobody bore them out, or long untold.

Pure. The sweep finds what is due and writes what these rules make of it; a replay does the same
from the journal. Nothing here erases, and nothing here ends a commitment (mission D7, F3).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pipeline.rules.relating import DISABLED, LIVE
from pipeline.rules.reviewing import DAY_MS
from storage.records.knowledge import Change, FactClass, Record, RecordKind, RecordStatus

RETENTION: Final = "retention"
"""The reason of a record that has stood for longer than its kind is kept."""

VALIDITY: Final = "validity"
"""The reason of a record whose `valid_to` has passed."""

WAIT_MS: Final = 3 * DAY_MS
"""How long a fact waits as a candidate to be borne out (mission F3)."""

REASONS: Final = {VALIDITY: Change.EXPIRE, DISABLED: Change.ARCHIVE, RETENTION: Change.ARCHIVE}
"""What each reason does, as the journal has it."""

_ENDS: Final = {Change.EXPIRE: RecordStatus.EXPIRED, Change.ARCHIVE: RecordStatus.ARCHIVED}


@dataclass(frozen=True, slots=True)
class Kept:
    """How many days records of one kind, and of a fact's class, are kept untold."""

    kind: RecordKind
    fact_class: FactClass | None
    days: int


def ends(record: Record, reason: str, *, now_ms: int, newest_ms: int, kept: Kept | None) -> bool:
    """Whether a record ends for this reason.

    Args:
        record: As it stands.
        reason: One of `REASONS`.
        now_ms: The clock's time.
        newest_ms: When the newest of what the owner has seen, and what is organized, was observed:
            a candidate's age is told by that, so that a replay of last year disables nothing.
        kept: How long its kind is kept; of matter for retention alone.
    """
    if record.status not in LIVE or record.kind is RecordKind.COMMITMENT:
        return False
    if reason == VALIDITY:
        return record.valid_to is not None and record.valid_to <= now_ms
    if reason == DISABLED:
        # Drafts, and what binds in words that are not the user's, wait for the user's word instead.
        waiting = record.status is RecordStatus.CANDIDATE and record.kind is RecordKind.FACT
        return waiting and min(newest_ms, now_ms) - record.observed_at >= WAIT_MS
    if (
        kept is None
        or not kept.days
        or (record.kind, record.fact_class) != (kept.kind, kept.fact_class)
    ):
        return False
    return max(record.observed_at, record.recorded_at) + kept.days * DAY_MS <= now_ms


def ended(record: Record, disputed: Sequence[Record], change: Change, reason: str) -> list[Record]:
    """A record that ends, and those that it was in conflict with, each in its next version.

    Args:
        record: As it stands.
        disputed: The records that its `conflicts_with` names, as far as there are any.
        change: Whether it expires or is archived.
        reason: A code, kept with the record.
    """
    over = replace(
        record,
        status=_ENDS[change],
        reason=reason,
        conflicts_with=(),
        revision=record.revision + 1,
    )
    released = [
        replace(
            other,
            conflicts_with=tuple(name for name in other.conflicts_with if name != record.id),
            revision=other.revision + 1,
        )
        for other in disputed
        if record.id in other.conflicts_with
    ]
    return [over, *released]
