"""How records end without a new word: over, borne out by nobody, or long untold."""

from dataclasses import replace
from typing import Any

import pytest

from pipeline.rules.aging import RETENTION, VALIDITY, Kept, ended, ends
from pipeline.rules.relating import DISABLED
from storage.records.knowledge import Change, FactClass, Record, RecordKind, RecordStatus
from tests.observer_support import AT, DAY, record

pytestmark = pytest.mark.unit

FACTS = Kept(RecordKind.FACT, FactClass.ENVIRONMENT, 30)


def over(one: Record, reason: str, now: int, *, newest: int = 0, kept: Kept = FACTS) -> bool:
    """Whether a record ends."""
    return ends(one, reason, now_ms=now, newest_ms=newest, kept=kept)


def candidate(**more: Any) -> Record:
    """An environment fact that was seen on one day."""
    return record("r", "打印机在三楼", **{"kind": RecordKind.FACT, "status": RecordStatus.CANDIDATE,
                  "fact_class": FactClass.ENVIRONMENT, **more})  # fmt: skip


# ---- validity ---------------------------------------------------------------


def test_what_is_valid_until_a_moment_ends_at_it() -> None:
    """The end is exclusive, by the clock (D2)."""
    rule = record("r", "本月用旧模板", valid_to=AT + 10)
    assert not over(rule, VALIDITY, AT + 9)
    assert over(rule, VALIDITY, AT + 10)
    assert not over(record("r", "用旧模板"), VALIDITY, AT + 10)


# ---- candidates -------------------------------------------------------------


def test_a_candidate_that_nobody_bears_out_for_three_days_is_disabled() -> None:
    """Its age is told by the owner's newest observation (F3; protocol, Who wins)."""
    assert not over(candidate(), DISABLED, AT + 99 * DAY, newest=AT + 3 * DAY - 1)
    assert over(candidate(), DISABLED, AT + 99 * DAY, newest=AT + 3 * DAY)


def test_a_replay_of_last_year_disables_nothing_by_the_clock() -> None:
    """A year later by the clock, but the newest that was observed is of the same day."""
    assert not over(candidate(), DISABLED, AT + 365 * DAY, newest=AT + 1)


def test_an_observation_from_the_future_ages_nothing() -> None:
    """No age is greater than the clock's: a wrong `at` can't disable what is fresh."""
    assert not over(candidate(), DISABLED, AT + 1, newest=AT + 99 * DAY)


@pytest.mark.parametrize(
    "other",
    [
        {"status": RecordStatus.ACTIVE},
        {"kind": RecordKind.PROCEDURE, "fact_class": None},
        {"kind": RecordKind.RULE, "fact_class": None},
    ],
    ids=["holds", "procedure", "rule"],
)
def test_only_waiting_facts_are_disabled(other: dict[str, Any]) -> None:
    """What holds has been borne out; a skill's draft, or a rule, waits for the user's word (D6)."""
    assert not over(candidate(**other), DISABLED, AT + 99 * DAY, newest=AT + 99 * DAY)


# ---- retention --------------------------------------------------------------


def test_retention_counts_from_the_last_word_or_the_recording() -> None:
    """A replay of last year is kept as long as if it had been told today (D7)."""
    told = candidate(status=RecordStatus.ACTIVE, observed_at=AT, recorded_at=AT)
    assert not over(told, RETENTION, AT + 30 * DAY - 1)
    assert over(told, RETENTION, AT + 30 * DAY)
    assert not over(replace(told, recorded_at=AT + 1), RETENTION, AT + 30 * DAY)
    assert not over(replace(told, observed_at=AT + 1), RETENTION, AT + 30 * DAY)


@pytest.mark.parametrize(
    "kept",
    [
        Kept(RecordKind.FACT, FactClass.ENVIRONMENT, 0),
        Kept(RecordKind.FACT, FactClass.PROFILE, 1),
        Kept(RecordKind.RULE, None, 1),
    ],
    ids=["for ever", "another class", "another kind"],
)
def test_retention_is_by_kind(kept: Kept) -> None:
    """0 is for ever, and the days of one kind touch no other."""
    assert not over(candidate(), RETENTION, AT + 999 * DAY, kept=kept)


# ---- what never ends --------------------------------------------------------


@pytest.mark.parametrize("reason", [VALIDITY, DISABLED, RETENTION])
@pytest.mark.parametrize("status", [RecordStatus.ACTIVE, RecordStatus.CANDIDATE])
def test_nothing_ends_a_commitment(reason: str, status: RecordStatus) -> None:
    """What is promised is owed until it is kept or taken back (D7)."""
    promise = record("r", "周五前交报告", kind=RecordKind.COMMITMENT, valid_to=AT, status=status)
    kept = Kept(RecordKind.COMMITMENT, None, 1)
    assert not over(promise, reason, AT + 999 * DAY, newest=AT + 999 * DAY, kept=kept)


@pytest.mark.parametrize("reason", [VALIDITY, DISABLED, RETENTION])
@pytest.mark.parametrize(
    "status", [RecordStatus.SUPERSEDED, RecordStatus.EXPIRED, RecordStatus.ARCHIVED]
)
def test_what_is_over_does_not_end_again(reason: str, status: RecordStatus) -> None:
    """A record has one end, and keeps its reason."""
    gone = candidate(status=status, valid_to=AT)
    assert not over(gone, reason, AT + 999 * DAY, newest=AT + 999 * DAY)


# ---- the end ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "status"),
    [(Change.EXPIRE, RecordStatus.EXPIRED), (Change.ARCHIVE, RecordStatus.ARCHIVED)],
)
def test_an_end_is_a_version_with_a_reason(change: Change, status: RecordStatus) -> None:
    """Status and reason change and nothing of what was said; the journal needs no more."""
    one = candidate(revision=3)
    assert ended(one, [], change, "why") == [replace(one, status=status, reason="why", revision=4)]


def test_whoever_ends_is_let_go_by_those_it_was_against() -> None:
    """Both sides of its conflicts are rid of it; others stay as they are (C5)."""
    one = candidate(conflicts_with=("r-2", "r-gone"))
    against = record("r-2", "打印机在五楼", conflicts_with=("r", "r-9"), revision=2)
    stranger = record("r-3", "打印机在一楼", conflicts_with=("r-9",))
    over, released = ended(one, [against, stranger], Change.ARCHIVE, DISABLED)
    assert over.conflicts_with == ()
    assert released == replace(against, conflicts_with=("r-9",), revision=3)
