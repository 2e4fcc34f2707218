"""What new records do to those that stand."""

from dataclasses import replace
from itertools import permutations

import pytest

from pipeline.rules.settling import DISABLED, settle, workday
from storage.records.knowledge import (
    Authority,
    FactClass,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)
from tests.observer_support import AT, DAY, record

pytestmark = pytest.mark.unit

KEY = "expense.template"


def old(**changes: object) -> Record:
    """The statement that was made first."""
    return record("r-old", "报销用旧模板 the old template", **{"key": KEY, **changes})


def new(**changes: object) -> Record:
    """A statement about the same slot, a day later."""
    return record("r-new", "报销用新模板 the new template", **{"key": KEY, "day": 1, **changes})


def stand(*records: Record) -> dict[str, Record]:
    """What stands after the records have arrived one by one."""
    board: dict[str, Record] = {}
    for arriving in records:
        settlement = settle([arriving], list(board.values()))
        board |= {kept.id: kept for kept in (*settlement.inserts, *settlement.updates)}
    return board


def test_a_new_record_is_inserted_and_known_ones_stay_as_they_are() -> None:
    """Nothing is touched that has nothing to do with what is new."""
    other = record("r-other", "另一条规则")
    settlement = settle([new()], [other])
    assert (settlement.inserts, settlement.updates) == ((new(),), ())


def test_the_same_record_again_changes_nothing() -> None:
    """A stage that runs twice has the effect of one run (mission A6)."""
    settlement = settle([new()], [new()])
    assert (settlement.inserts, settlement.updates) == ((), ())


def test_a_later_statement_supersedes() -> None:
    """Same subject, key and scope, later and of no less authority: it replaces, linked (C5)."""
    board = stand(old(), new())
    assert board["r-old"].status is RecordStatus.SUPERSEDED
    assert board["r-new"].status is RecordStatus.ACTIVE
    assert board["r-new"].supersedes == ("r-old",)
    assert board["r-old"].revision == 2


def test_the_order_of_arrival_does_not_decide() -> None:
    """A late result never overrides what was said after it (mission A5)."""
    forward, backward = stand(old(), new()), stand(new(), old())
    assert {key: kept.status for key, kept in forward.items()} == {
        key: kept.status for key, kept in backward.items()
    }
    assert backward["r-new"].supersedes == ("r-old",)


def test_three_statements_leave_the_newest_in_any_order() -> None:
    """However three statements of one slot arrive, the newest alone is active."""
    newest = record("r-newest", "报销用第三版模板", key=KEY, day=2)
    for arrival in permutations([old(), new(), newest]):
        active = [
            kept.id for kept in stand(*arrival).values() if kept.status is RecordStatus.ACTIVE
        ]
        assert active == ["r-newest"]


@pytest.mark.parametrize(
    "weak",
    [
        {"authority": Authority.INFERENCE},
        {"day": 0},
    ],
    ids=["lower authority", "same instant"],
)
def test_what_can_t_be_settled_is_a_conflict(weak: dict[str, object]) -> None:
    """A weaker or simultaneous statement leaves both standing, each naming the other (C5)."""
    board = stand(old(), new(**weak))
    assert {kept.status for kept in board.values()} == {RecordStatus.ACTIVE}
    assert board["r-old"].conflicts_with == ("r-new",)
    assert board["r-new"].conflicts_with == ("r-old",)


@pytest.mark.parametrize(
    "apart",
    [
        {"subject_id": "other"},
        {"key": "expense.deadline"},
        {"key": None},
        {"scope": Scope(task="t1")},
        {"scope": Scope(once=True)},
        {"valid_from": AT + 30 * DAY},
    ],
    ids=["subject", "key", "no key", "scope", "once", "validity"],
)
def test_only_the_same_reach_supersedes(apart: dict[str, object]) -> None:
    """Another subject, slot, scope or time replaces nothing, and neither does an exception (D5)."""
    board = stand(old(valid_to=AT + 20 * DAY), new(**apart))
    assert {kept.status for kept in board.values()} == {RecordStatus.ACTIVE}
    assert all(kept.conflicts_with == () for kept in board.values())


def test_validities_that_share_a_moment_overlap() -> None:
    """Two validities with a common moment are about the same time."""
    board = stand(old(valid_to=AT + 20 * DAY), new(valid_from=AT + 10 * DAY))
    assert board["r-old"].status is RecordStatus.SUPERSEDED


def test_a_promise_is_not_replaced_by_a_rule() -> None:
    """A commitment that touches a slot is still owed (mission D7)."""
    board = stand(old(kind=RecordKind.COMMITMENT), new())
    assert board["r-old"].status is RecordStatus.ACTIVE


def test_the_same_content_is_one_record_with_more_evidence() -> None:
    """What is said again is borne out, not stored again (mission C5)."""
    again = replace(new(day=2), id="r-again", evidence=(Span("e9", 9, 0, 2, "报销"),))
    board = stand(new(), again)
    assert list(board) == ["r-new"]
    assert [span.event_id for span in board["r-new"].evidence] == ["e-r-new", "e9"]
    assert board["r-new"].observed_at == AT + 2 * DAY


def test_one_source_told_twice_is_one_source() -> None:
    """A second span of the same event adds no weight (mission C5)."""
    fact = {"kind": RecordKind.FACT, "fact_class": FactClass.ENVIRONMENT}
    first = new(status=RecordStatus.CANDIDATE, **fact)
    again = replace(first, id="r-again", observed_at=AT + 5 * DAY)
    again = replace(again, evidence=(Span("e-r-new", 1, 0, 2, "报销"),))
    board = stand(first, again)
    assert board["r-new"].status is RecordStatus.CANDIDATE
    assert board["r-new"].observed_at == first.observed_at


@pytest.mark.parametrize(
    ("days", "status"), [(0, RecordStatus.CANDIDATE), (1, RecordStatus.ACTIVE)]
)
def test_surroundings_hold_after_two_workdays(days: int, status: RecordStatus) -> None:
    """An environment fact is a candidate until another workday bears it out (mission F3)."""
    seen = new(
        kind=RecordKind.FACT,
        fact_class=FactClass.ENVIRONMENT,
        status=RecordStatus.CANDIDATE,
        authority=Authority.OBSERVATION,
    )
    again = replace(
        seen,
        id="r-again",
        observed_at=seen.observed_at + days * DAY + 1,
        evidence=(Span("e9", 9, 0, 2, "报销"),),
    )
    assert stand(seen, again)["r-new"].status is status


def test_a_candidate_does_not_unseat_what_holds() -> None:
    """Something seen on one day is a conflict with what is established, no replacement (F3)."""
    board = stand(old(), new(status=RecordStatus.CANDIDATE))
    assert board["r-old"].status is RecordStatus.ACTIVE
    assert board["r-old"].conflicts_with == ("r-new",)


def test_tidying_brings_nothing_disabled_back() -> None:
    """A disabled record takes the new evidence and stays disabled (mission F3)."""
    disabled = new(status=RecordStatus.ARCHIVED, reason=DISABLED)
    again = replace(new(day=3), id="r-again", evidence=(Span("e9", 9, 0, 2, "报销"),))
    settlement = settle([again], [disabled])
    assert settlement.inserts == ()
    assert [kept.status for kept in settlement.updates] == [RecordStatus.ARCHIVED]


def test_a_superseded_statement_can_be_made_anew() -> None:
    """Going back to the old way is a new statement, not a repeat of the old record."""
    back = replace(old(day=2), id="r-back", evidence=(Span("e9", 9, 0, 2, "报销"),))
    board = stand(old(), new(), back)
    assert [key for key, kept in board.items() if kept.status is RecordStatus.ACTIVE] == ["r-back"]


@pytest.mark.parametrize(
    ("rule", "correction"),
    [
        ("每月二十五日提交出差补贴申请", "更正：每月二十日提交出差补贴申请"),
        (
            "Travel allowances are filed on the 25th",
            "Correction: file travel allowances on the 20th",
        ),
    ],
    ids=["zh", "en"],
)
def test_a_correction_without_a_slot_finds_its_record_by_its_words(
    rule: str, correction: str
) -> None:
    """With one record that shares half its words a correction replaces that one."""
    corrected = record("r-fix", correction, day=1, kind=RecordKind.CORRECTION)
    board = stand(record("r-rule", rule), corrected)
    assert board["r-rule"].status is RecordStatus.SUPERSEDED
    assert board["r-fix"].supersedes == ("r-rule",)


def test_a_correction_that_fits_several_replaces_none() -> None:
    """Between two candidates a correction is kept and linked to both."""
    rules = [
        record("r-a", "每月提交出差补贴申请给王经理"),
        record("r-b", "每月提交出差补贴申请给李经理"),
    ]
    fix = record("r-fix", "更正：每月提交出差补贴申请", day=1, kind=RecordKind.CORRECTION)
    board = stand(*rules, fix)
    assert {kept.status for kept in board.values()} == {RecordStatus.ACTIVE}
    assert set(board["r-fix"].conflicts_with) == {"r-a", "r-b"}


def test_a_named_record_is_replaced_only_by_a_later_equal() -> None:
    """What a record says it supersedes is checked again against what stands now (A5)."""
    late = new(key=None, supersedes=("r-old",), authority=Authority.OBSERVATION)
    board = stand(old(), late)
    assert board["r-old"].status is RecordStatus.ACTIVE
    assert board["r-new"].supersedes == ()
    assert board["r-new"].conflicts_with == ("r-old",)


def test_a_workday_begins_at_half_past_three_in_beijing() -> None:
    """03:29:59 belongs to the day before (mission F2)."""
    half_past_three = 1_772_566_200_000
    assert workday(half_past_three - 1) == "2026-03-03"
    assert workday(half_past_three) == "2026-03-04"
