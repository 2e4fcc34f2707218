"""When records are looked at again, and which of them are overdue."""

from typing import Any

import pytest

from pipeline.rules.reviewing import ReviewTimes, needs_check, overdue, review_at
from storage.records.knowledge import FactClass, Record, RecordKind
from tests.observer_support import AT, DAY, record

pytestmark = pytest.mark.unit

TIMES = ReviewTimes()


def made(kind: RecordKind, content: str = "报告在共享盘", **more: Any) -> Record:
    """A record of a kind."""
    return record("r", content, kind=kind, **more)


def fact(fact_class: FactClass, **more: Any) -> Record:
    """A fact of a class."""
    return made(RecordKind.FACT, fact_class=fact_class, **more)


@pytest.mark.parametrize(
    ("one", "days"),
    [
        (fact(FactClass.ENVIRONMENT), 14),
        (fact(FactClass.PROJECT), 90),
        (fact(FactClass.PROFILE), 365),
        (made(RecordKind.PREFERENCE), 365),
        (made(RecordKind.RULE), 365),
        (made(RecordKind.CORRECTION), 365),
        (made(RecordKind.PROCEDURE), 180),
    ],
    ids=lambda given: str(given) if isinstance(given, int) else given.kind,
)
def test_each_kind_has_its_time(one: Record, days: int) -> None:
    """What surrounds us is looked at soon, current work later, what a person is like last (D7)."""
    assert review_at(one, TIMES) == AT + days * DAY


@pytest.mark.parametrize("kind", [RecordKind.EPISODE, RecordKind.CUE])
def test_what_was_is_not_looked_at_again(kind: RecordKind) -> None:
    """A story stays true, and a cue claims nothing."""
    assert review_at(made(kind), TIMES) is None


def test_a_time_that_was_given_stays() -> None:
    """The kind's time is for records that come without one."""
    assert review_at(made(RecordKind.RULE, review_at=7), TIMES) == 7
    assert review_at(made(RecordKind.COMMITMENT, review_at=7, valid_to=9), TIMES) == 7


def test_zero_days_are_never() -> None:
    """A setting can switch the review of a kind off."""
    assert review_at(made(RecordKind.RULE), ReviewTimes(rule=0)) is None


@pytest.mark.parametrize(
    ("content", "days"),
    [("周五前交报告", 3), ("I will send the report by Friday", 3), ("我会交报告", None)],
)
def test_a_commitment_is_looked_at_when_it_is_due(content: str, days: int | None) -> None:
    """Its day is what its words name, told from when they were said (2026-03-03, a Tuesday)."""
    due = review_at(made(RecordKind.COMMITMENT, content), TIMES)
    if days is None:
        assert due is None
    else:
        assert due is not None
        assert (due - AT) // DAY == days


def test_a_commitments_validity_is_its_day() -> None:
    """Where a proposal gives an end and no review, that is when it is due."""
    assert review_at(made(RecordKind.COMMITMENT, valid_to=AT + 5), TIMES) == AT + 5


@pytest.mark.parametrize("past", [0, 1])
def test_past_its_time_a_record_needs_a_check(past: int) -> None:
    """From its review time on, and not a millisecond before (D5)."""
    state = fact(FactClass.ENVIRONMENT, review_at=AT)
    assert needs_check(state, AT + past)
    assert not needs_check(state, AT - 1)
    assert not needs_check(fact(FactClass.ENVIRONMENT), AT + past)


def test_a_commitment_past_its_day_is_overdue_and_not_to_be_checked() -> None:
    """It is owed, not doubtful; one without a day is never late."""
    promise = made(RecordKind.COMMITMENT, review_at=AT)
    assert overdue(promise, AT)
    assert not overdue(promise, AT - 1)
    assert not needs_check(promise, AT)
    assert overdue(made(RecordKind.COMMITMENT, valid_to=AT), AT)
    assert not overdue(made(RecordKind.COMMITMENT), AT)
    assert not overdue(made(RecordKind.RULE, review_at=AT), AT)
