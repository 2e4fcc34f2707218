"""What new records do to those that stand."""

from dataclasses import replace
from itertools import permutations

import pytest

from pipeline.rules.relating import DISABLED
from pipeline.rules.settling import settle
from storage.records.events import Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    Origin,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)
from tests.observer_support import AT, DAY, record

pytestmark = pytest.mark.unit

KEY = "expense.template"

MOST = 8
"""Conflicts that one change makes by words alone."""


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


# ---- the negation guard -----------------------------------------------------


def said(record_id: str, content: str, **changes: object) -> Record:
    """A preference that the user has stated, without a slot."""
    return record(record_id, content, **{"kind": RecordKind.PREFERENCE, **changes})


POLES = [
    ("我喜欢香菜", "我不喜欢香菜"),
    ("I like cilantro", "I don't like cilantro"),
    ("允许自动上传", "禁止自动上传"),
    ("Allow automatic uploads", "Forbid automatic uploads"),
    ("总是用新模板", "从不用新模板"),
    ("Always use the new template", "Never use the new template"),
    ("喜欢看日出", "喜欢看日落"),
    ("I love watching the sunrise", "I love watching the sunset"),
    ("每天3点备份", "每天4点备份"),
    ("Back up at 3 pm", "Back up at 4 pm"),
]


@pytest.mark.parametrize(("first", "second"), POLES)
def test_opposites_are_never_one_statement(first: str, second: str) -> None:
    """Even under one slot and one value no evidence is merged: the later one replaces (C5)."""
    one = said("r-1", first, key="k", value="v")
    two = said("r-2", second, key="k", value="v", day=1)
    board = stand(one, two)
    assert board["r-1"].status is RecordStatus.SUPERSEDED
    assert board["r-2"].supersedes == ("r-1",)
    assert [span.event_id for span in board["r-2"].evidence] == ["e-r-2"]


@pytest.mark.parametrize(("first", "second"), POLES)
def test_opposites_without_a_slot_are_a_conflict(first: str, second: str) -> None:
    """Without a slot nothing is superseded by itself: both stay, linked (protocol, Who wins)."""
    for arriving in permutations([said("r-1", first), said("r-2", second, day=1)]):
        board = stand(*arriving)
        assert {kept.status for kept in board.values()} == {RecordStatus.ACTIVE}
        assert board["r-1"].conflicts_with == ("r-2",)
        assert board["r-2"].conflicts_with == ("r-1",)


@pytest.mark.parametrize(
    "apart",
    [
        {"subject_id": "other"},
        {"scope": Scope(task="t1")},
        {"scope": Scope(once=True)},
        {"kind": RecordKind.EPISODE},
        {"authority": Authority.EXTERNAL},
        {"valid_from": AT + 30 * DAY},
        {"content": "我不喜欢茴香"},
    ],
    ids=["subject", "scope", "once", "story", "page", "validity", "words"],
)
def test_opposites_of_another_reach_are_no_conflict(apart: dict[str, object]) -> None:
    """An exception, a story, a page and what holds elsewhere contradict nothing (D5, B5)."""
    other = replace(said("r-2", "我不喜欢香菜", day=1), **apart)  # type: ignore[arg-type]
    board = stand(said("r-1", "我喜欢香菜", valid_to=AT + 20 * DAY), other)
    assert all(kept.conflicts_with == () for kept in board.values())


@pytest.mark.parametrize(
    ("names", "keyed"),
    [
        (("给王经理发周报", "给李经理发周报"), False),
        (("Send the report to Alice", "Send the report to Bob"), False),
        (("给王经理发周报", "给李经理发周报"), True),
        (("Send the report to Alice", "Send the report to Bob"), True),
    ],
)
def test_another_name_contradicts_within_a_slot_only(names: tuple[str, str], keyed: bool) -> None:  # noqa: FBT001 - a table's column
    """Both may be true, unless there is one place to be filled; they are never the same (C5)."""
    key = {"key": "weekly_report.recipient", "value": "x"} if keyed else {}
    board = stand(said("r-1", names[0], **key), said("r-2", names[1], day=1, **key))
    assert (board["r-1"].status is RecordStatus.SUPERSEDED) is keyed
    assert all(kept.conflicts_with == () for kept in board.values())


def test_opposites_are_set_against_the_newest_few_only() -> None:
    """A thousand readings of one gauge don't become a million links."""
    readings = [
        said(f"r-{n:02}", f"机房温度是{20 + n}度", kind=RecordKind.RULE, day=n) for n in range(30)
    ]
    board = stand(*readings)
    assert len(board["r-29"].conflicts_with) == MOST
    assert max(len(kept.conflicts_with) for kept in board.values()) <= 2 * MOST


# ---- conflicts that end -----------------------------------------------------


def again(standing: Record, record_id: str, *, day: int, **changes: object) -> Record:
    """The same statement from another event, days later."""
    repeat = replace(standing, id=record_id, revision=1, observed_at=AT + day * DAY,
                     evidence=(Span(f"e-{record_id}", day + 1, 0, 2, "xx"),), origins=(),
                     conflicts_with=(), supersedes=())  # fmt: skip
    return replace(repeat, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("likes", "dislikes"),
    [("我喜欢香菜", "我不喜欢香菜"), ("I like cilantro", "I don't like cilantro")],
)
def test_the_users_newer_word_ends_a_conflict(likes: str, dislikes: str) -> None:
    """Said once more, one side replaces the other, and neither names the other any longer."""
    first, second = said("r-1", likes), said("r-2", dislikes, day=1)
    board = stand(first, second, again(first, "r-3", day=2))
    assert set(board) == {"r-1", "r-2"}
    assert board["r-2"].status is RecordStatus.SUPERSEDED
    assert board["r-1"].supersedes == ("r-2",)
    assert board["r-1"].conflicts_with == board["r-2"].conflicts_with == ()


def test_another_observation_ends_a_conflict_in_a_slot() -> None:
    """Two looks at the same instant differ; the next one decides, and both sides are let go."""
    seen = {"kind": RecordKind.FACT, "authority": Authority.OBSERVATION}
    one, two = old(**seen), new(day=0, **seen)
    board = stand(one, two, again(two, "r-3", day=1))
    assert board["r-old"].status is RecordStatus.SUPERSEDED
    assert board["r-new"].conflicts_with == board["r-old"].conflicts_with == ()


def test_a_weaker_word_ends_no_conflict() -> None:
    """What a machine sees again does not outweigh what the user said (Who wins)."""
    machine = said("r-2", "我不喜欢香菜", day=1, authority=Authority.OBSERVATION)
    board = stand(said("r-1", "我喜欢香菜"), machine, again(machine, "r-3", day=2))
    assert board["r-1"].status is RecordStatus.ACTIVE
    assert board["r-1"].conflicts_with == ("r-2",)


def test_whoever_yields_is_let_go_by_all_it_disputed() -> None:
    """A record replaced over its slot is no longer named by what its words were against."""
    first = said("r-1", "我喜欢香菜", key="food.cilantro")
    against = said("r-2", "我不喜欢香菜", day=1)
    later = said("r-3", "香菜还行", key="food.cilantro", day=2)
    board = stand(first, against, later)
    assert board["r-1"].status is RecordStatus.SUPERSEDED
    assert board["r-1"].conflicts_with == board["r-2"].conflicts_with == ()


def test_the_user_who_affirms_one_of_several_takes_it_out_of_the_correction() -> None:
    """A correction that fitted two is about the other one, once the user repeats the first."""
    rules = [
        record("r-a", "每月提交出差补贴申请给王经理"),
        record("r-b", "每月提交出差补贴申请给李经理"),
    ]
    fix = record("r-fix", "更正：每月提交出差补贴申请", day=1, kind=RecordKind.CORRECTION)
    board = stand(*rules, fix, again(rules[0], "r-3", day=2))
    assert board["r-a"].status is RecordStatus.ACTIVE
    assert board["r-a"].conflicts_with == ()
    assert board["r-fix"].conflicts_with == ("r-b",)


# ---- whose word, and whether it counts --------------------------------------

ENVIRONMENT = {
    "kind": RecordKind.FACT,
    "fact_class": FactClass.ENVIRONMENT,
    "status": RecordStatus.CANDIDATE,
    "authority": Authority.OBSERVATION,
}


@pytest.mark.parametrize(
    ("role", "more", "status"),
    [
        (Role.OBSERVATION, {}, RecordStatus.ACTIVE),
        (Role.USER, {}, RecordStatus.ACTIVE),
        (Role.SUPERVISOR, {}, RecordStatus.CANDIDATE),
        (Role.EXTERNAL, {}, RecordStatus.CANDIDATE),
        (Role.OBSERVATION, {"chain": ("q:q1",)}, RecordStatus.CANDIDATE),
        (Role.OBSERVATION, {"recalled": ("r-1",)}, RecordStatus.CANDIDATE),
    ],
    ids=["observed", "said", "restated", "page", "same request", "in view"],
)
@pytest.mark.parametrize("content", ["打印机在三楼", "The printer is on the third floor"])
def test_only_independent_evidence_promotes(
    content: str, role: Role, more: dict[str, tuple[str, ...]], status: RecordStatus
) -> None:
    """A second workday counts if it is no echo of the first (F3; protocol, Events)."""
    first = record("r-1", content, **ENVIRONMENT)
    first = replace(first, origins=(Origin("e-r-1", AT, Role.OBSERVATION, ("q:q1",)),))
    second = again(first, "r-2", day=1)
    second = replace(second, origins=(Origin("e-r-2", AT + DAY, role, **more),))
    board = stand(first, second)
    assert board["r-1"].status is status
    assert "e-r-2" in [span.event_id for span in board["r-1"].evidence]
    renewed = status is RecordStatus.ACTIVE
    assert board["r-1"].observed_at == (AT + DAY if renewed else AT)


def test_two_days_in_one_package_are_two_days() -> None:
    """A replayed log brings both looks at once: the fact holds from the start."""
    both = record("r-1", "打印机在三楼", **ENVIRONMENT)
    both = replace(
        both,
        evidence=(Span("e1", 1, 0, 2, "打印"), Span("e2", 2, 0, 2, "打印")),
        origins=(
            Origin("e1", AT, Role.OBSERVATION),
            Origin("e2", AT + DAY, Role.OBSERVATION),
        ),
    )
    assert stand(both)["r-1"].status is RecordStatus.ACTIVE


def test_promotion_unseats_what_held_before() -> None:
    """Once it holds, an observation replaces the older one in its slot (F3)."""
    before = record("r-1", "打印机在三楼", **{**ENVIRONMENT, "status": RecordStatus.ACTIVE},
                    key="printer.location")  # fmt: skip
    moved = record("r-2", "打印机在五楼", **ENVIRONMENT, key="printer.location", day=1)
    board = stand(before, moved)
    assert board["r-1"].conflicts_with == ("r-2",)
    board = stand(before, moved, again(moved, "r-3", day=2))
    assert board["r-1"].status is RecordStatus.SUPERSEDED
    assert board["r-2"].status is RecordStatus.ACTIVE
    assert board["r-1"].conflicts_with == board["r-2"].conflicts_with == ()


def test_what_holds_and_is_newer_replaces_a_candidate() -> None:
    """A candidate does not unseat; it can be unseated by a later statement."""
    candidate = old(status=RecordStatus.CANDIDATE)
    assert stand(candidate, new())["r-old"].status is RecordStatus.SUPERSEDED


def test_the_users_own_word_counts_anew_whatever_was_in_view() -> None:
    """Who repeats a rule that was shown has still said it: it is as new as the repeat."""
    rule = new()
    repeat = again(rule, "r-3", day=5)
    repeat = replace(repeat, origins=(Origin("e-r-3", AT, Role.USER, (), ("r-new",)),))
    assert stand(rule, repeat)["r-new"].observed_at == AT + 5 * DAY


def test_what_a_user_says_and_a_model_concludes_stay_two_records() -> None:
    """The labels differ, so no evidence is merged; nor do two that agree dispute (D5)."""
    promise = {"kind": RecordKind.COMMITMENT, "key": "k"}
    board = stand(
        record("r-1", "周五前交报告", **promise),
        record("r-2", "周五前交报告", authority=Authority.INFERENCE, day=1, **promise),
    )
    assert {kept.authority for kept in board.values()} == {Authority.USER, Authority.INFERENCE}
    assert all(kept.conflicts_with == () for kept in board.values())


def test_a_repeat_of_the_same_event_changes_nothing_that_counts() -> None:
    """The same source again leaves time, authority and status as they are (C5)."""
    rule = new()
    repeat = replace(rule, id="r-3", observed_at=AT + 9 * DAY,
                     evidence=(Span("e-r-new", 1, 3, 5, "新模"),))  # fmt: skip
    assert stand(rule, repeat)["r-new"].observed_at == rule.observed_at


def test_a_procedure_stays_a_candidate_however_often_it_is_told() -> None:
    """A skill is approved by the user and by nothing else (mission D6, F4)."""
    draft = record("r-1", "先导出再上传", kind=RecordKind.PROCEDURE, status=RecordStatus.CANDIDATE)
    board = stand(draft, again(draft, "r-2", day=1), again(draft, "r-3", day=9))
    assert board["r-1"].status is RecordStatus.CANDIDATE


def test_a_candidate_that_the_user_then_says_holds() -> None:
    """What was put in words of somebody else is active once the user uses them."""
    unheard = record("r-1", "Use the new template", status=RecordStatus.CANDIDATE)
    heard = again(unheard, "r-2", day=1, status=RecordStatus.ACTIVE)
    assert stand(unheard, heard)["r-1"].status is RecordStatus.ACTIVE


def test_what_was_disabled_stays_so_in_other_words_of_the_same_value() -> None:
    """A slot's disabled value is not brought back by another way of putting it (F3)."""
    filled = {"key": "printer.location", "value": "3F", **ENVIRONMENT}
    gone = record("r-1", "打印机在三楼", **{**filled, "status": RecordStatus.ARCHIVED},
                  reason=DISABLED)  # fmt: skip
    other = record("r-2", "打印机的位置是3楼", day=4, **filled)
    board = stand(gone, other)
    assert set(board) == {"r-1"}
    assert board["r-1"].status is RecordStatus.ARCHIVED


def test_what_was_archived_for_its_age_can_be_said_again() -> None:
    """Retention is no verdict: told anew, it is a new record."""
    gone = new(status=RecordStatus.ARCHIVED, reason="retention")
    board = stand(gone, again(gone, "r-3", day=4, status=RecordStatus.ACTIVE, reason=None))
    assert board["r-3"].status is RecordStatus.ACTIVE


# ---- validity ---------------------------------------------------------------


def test_a_repeat_moves_the_end_of_what_holds() -> None:
    """Said again until later, it holds until later; said again without an end, it holds on."""
    until = new(valid_to=AT + 10 * DAY)
    longer = again(until, "r-3", day=5, valid_to=AT + 20 * DAY)
    assert stand(until, longer)["r-new"].valid_to == AT + 20 * DAY
    assert stand(until, again(until, "r-3", day=5, valid_to=None))["r-new"].valid_to is None
    assert stand(longer, again(longer, "r-4", day=1, valid_to=None))["r-3"].valid_to is not None


def test_the_same_words_of_another_time_are_another_record() -> None:
    """Two validities that don't meet are two statements."""
    january = new(valid_to=AT + 10 * DAY)
    march = again(january, "r-3", day=5, valid_from=AT + 60 * DAY, valid_to=AT + 90 * DAY)
    assert set(stand(january, march)) == {"r-new", "r-3"}


def test_the_later_review_is_kept() -> None:
    """A repeat is a look of its own: what was to be checked in May is checked after it."""
    rule = new(review_at=AT + 30 * DAY)
    assert stand(rule, again(rule, "r-3", day=5, review_at=AT + 9 * DAY))["r-new"].review_at == (
        AT + 30 * DAY
    )
    later = stand(rule, again(rule, "r-3", day=5, review_at=AT + 40 * DAY))
    assert later["r-new"].review_at == AT + 40 * DAY


# ---- what is told of it -----------------------------------------------------


def test_a_settlement_names_what_a_repeat_went_into() -> None:
    """Nothing that was accepted disappears: it says in which record it is."""
    rule = new()
    settlement = settle([again(rule, "r-3", day=5)], [rule])
    assert dict(settlement.merged) == {"r-3": "r-new"}


def test_a_named_record_yields_to_a_repeat_too() -> None:
    """What a repeated statement says it supersedes is superseded by the one that stands."""
    rule, other = new(key=None), record("r-x", "用蓝色的表格")
    repeat = again(rule, "r-3", day=5, supersedes=("r-x",))
    board = stand(rule, other, repeat)
    assert board["r-x"].status is RecordStatus.SUPERSEDED
    assert board["r-new"].supersedes == ("r-x",)


def test_a_roll_up_is_nobodys_repeat() -> None:
    """Two stories in the same words that roll up different records stay two."""
    story = record("r-1", "目标：备份；操作：上传", kind=RecordKind.EPISODE)
    rolled = again(story, "r-2", day=1, links=("r-8", "r-9"))
    other = again(story, "r-3", day=2, links=("r-6", "r-7"))
    assert set(stand(story, rolled, other)) == {"r-1", "r-2", "r-3"}


def test_settling_is_the_same_in_any_split() -> None:
    """Whether records come in one package or in several, the same stands (mission A6)."""
    made = [
        old(),
        new(),
        said("r-1", "我喜欢香菜"),
        said("r-2", "我不喜欢香菜", day=1),
        said("r-3", "每天3点备份"),
        said("r-4", "每天4点备份", day=2),
    ]
    one_by_one = stand(*made)
    at_once = {kept.id: kept for kept in settle(made, []).inserts}
    assert {key: replace(kept, revision=1) for key, kept in one_by_one.items()} == at_once


# ---- the edges --------------------------------------------------------------


def test_one_who_comes_back_with_a_conflict_wins_it_on_the_users_word() -> None:
    """What the user confirms replaces what was set against it, without a slot too."""
    against = said("r-2", "我不喜欢香菜", conflicts_with=("r-1",))
    back = said("r-1", "我喜欢香菜", day=1, conflicts_with=("r-2",))
    settlement = settle([back], [against])
    assert settlement.updates[0].status is RecordStatus.SUPERSEDED
    assert settlement.inserts[0].supersedes == ("r-2",)
    weak = replace(back, authority=Authority.OBSERVATION)
    assert settle([weak], [replace(against, authority=Authority.OBSERVATION)]).updates == ()


def test_an_echo_carries_out_nothing() -> None:
    """A restatement that says it supersedes something changes no more than the evidence."""
    rule, other = new(key=None), record("r-x", "用蓝色的表格")
    echo = again(rule, "r-3", day=5, supersedes=("r-x",), authority=Authority.OBSERVATION)
    echo = replace(echo, origins=(Origin("e-r-3", AT, Role.SUPERVISOR),))
    board = stand(rule, other, echo)
    assert board["r-x"].status is RecordStatus.ACTIVE
    assert board["r-new"].observed_at == rule.observed_at


def test_the_same_words_of_the_same_event_write_nothing() -> None:
    """No version is made of a record that nothing has changed."""
    rule = new()
    assert settle([replace(rule, id="r-3")], [rule]).updates == ()


def test_a_rival_that_is_not_there_is_no_hindrance() -> None:
    """A conflict with a record that was forgotten is passed over."""
    rule = new(conflicts_with=("r-gone",))
    board = {kept.id: kept for kept in settle([again(rule, "r-3", day=5)], [rule]).updates}
    assert board["r-new"].observed_at == AT + 5 * DAY
    later = record("r-later", "报销用第三版模板", key=KEY, day=9)
    (gone,) = settle([later], [rule]).updates
    assert (gone.status, gone.conflicts_with) == (RecordStatus.SUPERSEDED, ())


@pytest.mark.parametrize(
    ("first", "second", "joint"),
    [(None, 5, None), (5, None, None), (7, 5, 5), (5, 7, 5)],
)
def test_it_holds_from_the_earliest_that_was_said(
    first: int | None, second: int | None, joint: int | None
) -> None:
    """A repeat that says less of the beginning narrows nothing; none said is from ever."""
    rule = new(valid_from=first)
    assert stand(rule, again(rule, "r-3", day=5, valid_from=second))["r-new"].valid_from == joint


def test_a_late_or_simultaneous_repeat_moves_no_end() -> None:
    """Only what was said after it changes until when a statement holds."""
    rule = new(valid_to=AT + 10 * DAY)
    for day in (0, 1):
        repeat = again(rule, "r-3", day=day, valid_to=AT + 20 * DAY)
        assert stand(rule, repeat)["r-new"].valid_to == AT + 10 * DAY


def test_a_statement_weighs_its_strongest_teller_and_a_story_its_weakest() -> None:
    """What the user says too is the user's word; what a machine tells too is no more the user's."""
    fact = new(authority=Authority.OBSERVATION)
    repeat = again(fact, "r-3", day=5, authority=Authority.USER)
    assert stand(fact, repeat)["r-new"].authority is Authority.USER
    assert stand(repeat, again(fact, "r-4", day=6))["r-3"].authority is Authority.USER
    story = new(kind=RecordKind.EPISODE, key=None)
    told = again(story, "r-3", day=5, authority=Authority.OBSERVATION)
    assert stand(story, told)["r-new"].authority is Authority.OBSERVATION


def test_machines_alone_end_no_conflict_of_words() -> None:
    """Two readings dispute each other without a slot: another reading does not decide (protocol)."""
    one = said("r-1", "机房温度是20度", authority=Authority.OBSERVATION)
    two = said("r-2", "机房温度是30度", authority=Authority.OBSERVATION, day=1)
    board = stand(one, two, again(two, "r-3", day=2))
    assert board["r-1"].status is RecordStatus.ACTIVE
    assert board["r-1"].conflicts_with == ("r-2",)


def test_a_correction_that_finds_nothing_stands_alone() -> None:
    """It disputes neither itself nor what only tells, waits, or is about something else."""
    words = "每月二十五日提交出差补贴申请"
    others = [
        record("r-story", words, kind=RecordKind.EPISODE),
        record("r-draft", words, status=RecordStatus.CANDIDATE),
        record("r-over", words, status=RecordStatus.EXPIRED),
        record("r-far", words, subject_id="other"),
    ]
    fix = record("r-fix", "更正：每月二十日提交出差补贴申请", day=1, kind=RecordKind.CORRECTION)
    board = stand(*others, fix)
    assert board["r-fix"].supersedes == board["r-fix"].conflicts_with == ()


def test_a_correction_disputes_the_newest_few_of_many() -> None:
    """A correction that would fit a hundred rules is set against few of them."""
    rules = [record(f"r-{n:02}", f"每月提交出差补贴申请给{n}号窗口", day=n) for n in range(20)]
    fix = record("r-fix", "更正：每月提交出差补贴申请", day=30, kind=RecordKind.CORRECTION)
    assert stand(*rules, fix)["r-fix"].conflicts_with == tuple(
        f"r-{n:02}" for n in range(19, 19 - MOST, -1)
    )


def test_a_correction_that_is_weaker_or_older_only_disputes() -> None:
    """It replaces what it may outrank, and nothing else (Who wins)."""
    rule = record("r-rule", "每月二十五日提交出差补贴申请", day=5)
    fix = record("r-fix", "更正：每月二十日提交出差补贴申请", day=1, kind=RecordKind.CORRECTION)
    board = stand(rule, fix)
    assert board["r-rule"].status is RecordStatus.ACTIVE
    assert board["r-fix"].conflicts_with == ("r-rule",)


def test_what_holds_takes_a_repeat_before_what_was_disabled() -> None:
    """With both in store, and of several the newest, the evidence goes where it counts."""
    gone = record("r-0", "报销用新模板", status=RecordStatus.ARCHIVED, reason=DISABLED, day=9)
    holds = record("r-1", "报销用新模板", day=1)
    newer = record("r-2", "报销用新模板", scope=Scope(task="t"), day=2)
    repeat = again(holds, "r-3", day=5)
    assert dict(settle([repeat], [gone, holds, newer]).merged) == {"r-3": "r-1"}


def test_a_slot_of_one_task_is_not_that_of_another() -> None:
    """The scope decides which of the fillings is replaced."""
    here, there = old(scope=Scope(task="t1")), replace(old(scope=Scope(task="t2")), id="r-t2")
    board = stand(here, there, new(scope=Scope(task="t2")))
    assert board["r-old"].status is RecordStatus.ACTIVE
    assert board["r-t2"].status is RecordStatus.SUPERSEDED


def test_a_late_repeat_of_the_older_side_ends_no_conflict() -> None:
    """What the user said before the other side does not answer it (A5)."""
    first, second = said("r-1", "我喜欢香菜"), said("r-2", "我不喜欢香菜", day=3)
    board = stand(first, second, again(first, "r-3", day=1))
    assert board["r-2"].status is RecordStatus.ACTIVE
    assert board["r-1"].conflicts_with == ("r-2",)


def test_what_is_named_and_out_of_reach_is_left_alone() -> None:
    """An unknown record, one that is over, and one of another reach are not superseded (C5)."""
    others = [
        record("r-over", "用旧模板", status=RecordStatus.EXPIRED),
        record("r-far", "用旧模板", subject_id="other"),
        record("r-once", "用旧模板", scope=Scope(once=True)),
    ]
    named = new(key=None, supersedes=("r-none", "r-over", "r-far", "r-once"))
    settlement = settle([named], others)
    assert settlement.updates == ()
    assert settlement.inserts[0].conflicts_with == ()


def test_a_page_beside_two_looks_keeps_a_fact_waiting() -> None:
    """Text of others among its evidence is enough to leave a fact unconfirmed (B5)."""
    mixed = record("r-1", "打印机在三楼", **{**ENVIRONMENT, "authority": Authority.EXTERNAL})
    mixed = replace(
        mixed,
        evidence=(Span("e1", 1, 0, 2, "打印"), Span("e2", 2, 0, 2, "打印")),
        origins=(
            Origin("e1", AT, Role.OBSERVATION),
            Origin("e2", AT + DAY, Role.OBSERVATION),
        ),
    )
    assert stand(mixed)["r-1"].status is RecordStatus.CANDIDATE
