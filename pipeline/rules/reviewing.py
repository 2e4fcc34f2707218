"""When a record is to be looked at again, and how one is shown whose time for that has come.

A review changes nothing of a record: past it, what is told is that it has to be checked. What a
kind's time is comes from the settings; a time that was given stays (mission D5, D7).
"""

from dataclasses import dataclass
from typing import Final

from pipeline.rules.due import find_due
from storage.records.knowledge import Record, RecordKind

DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class ReviewTimes:
    """Days after which each kind is looked at again; 0 is never.

    Of facts each class has its own. A story is about what was, and a commitment has its day.
    """

    environment: int = 14
    project: int = 90
    profile: int = 365
    preference: int = 365
    rule: int = 365
    correction: int = 365
    procedure: int = 180

    def days(self, record: Record) -> int:
        """The days for a record of this kind and class."""
        name = record.fact_class if record.kind is RecordKind.FACT else record.kind
        return int(getattr(self, str(name), 0))


def review_at(record: Record, times: ReviewTimes) -> int | None:
    """When a record is to be looked at again: as it was given, else by its kind.

    A commitment's time is the day that it is due; one without a day has none. Epoch milliseconds.
    """
    if record.review_at is not None:
        return record.review_at
    if record.kind is RecordKind.COMMITMENT:
        return _due(record)
    days = times.days(record)
    return record.observed_at + days * DAY_MS if days else None


def _due(record: Record) -> int | None:
    if record.valid_to is not None:
        return record.valid_to
    due = find_due(record.content, record.observed_at)
    return due.at_ms if due else None


def overdue(record: Record, now_ms: int) -> bool:
    """Whether a commitment's day has passed; it holds on until it is kept or taken back."""
    return record.due_at is not None and record.due_at <= now_ms


def needs_check(record: Record, now_ms: int) -> bool:
    """Whether a record must not be told as it was then: its review time has come.

    >>> from storage.records.knowledge import Authority, FactClass, RecordStatus
    >>> fact = Record("r", "o", "s", RecordKind.FACT, "x", 0, 0, RecordStatus.ACTIVE,
    ...     Authority.OBSERVATION, fact_class=FactClass.ENVIRONMENT, review_at=5)
    >>> needs_check(fact, 4), needs_check(fact, 5)
    (False, True)
    """
    later = record.kind is not RecordKind.COMMITMENT
    return later and record.review_at is not None and record.review_at <= now_ms
