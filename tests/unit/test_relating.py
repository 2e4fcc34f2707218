"""What two records are to each other, whichever is asked first."""

from typing import Any

import pytest

from pipeline.rules.board import Board
from pipeline.rules.relating import (
    DISABLED,
    Relation,
    comparable,
    overlap,
    relate,
    rivals,
    same_statement,
)
from storage.records.knowledge import (
    Authority,
    FactClass,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
)
from tests.observer_support import AT, DAY, record

pytestmark = pytest.mark.unit

TURNED = {
    Relation.FIRST_WINS: Relation.SECOND_WINS,
    Relation.SECOND_WINS: Relation.FIRST_WINS,
    Relation.CONFLICT: Relation.CONFLICT,
    Relation.APART: Relation.APART,
}


def slot(content: str, **more: Any) -> Record:
    """A statement that fills the slot."""
    return record(f"r-{content}", content, **{"key": "k", **more})


@pytest.mark.parametrize(
    ("first", "second", "relation"),
    [
        (slot("蓝色"), slot("绿色", day=1), Relation.SECOND_WINS),
        (slot("蓝色"), slot("绿色"), Relation.CONFLICT),
        (slot("blue"), slot("green", day=1, authority=Authority.OBSERVATION), Relation.CONFLICT),
        (
            slot("blue", authority=Authority.VERIFICATION),
            slot("green", day=1, authority=Authority.USER),
            Relation.SECOND_WINS,
        ),
        (
            slot("蓝色", status=RecordStatus.CANDIDATE),
            slot("绿色", day=1, status=RecordStatus.CANDIDATE),
            Relation.SECOND_WINS,
        ),
        (slot("蓝色"), slot("绿色", day=1, status=RecordStatus.CANDIDATE), Relation.CONFLICT),
        (slot("蓝色", status=RecordStatus.CANDIDATE), slot("绿色", day=1), Relation.SECOND_WINS),
        (slot("蓝色"), slot("绿色", day=1, authority=Authority.EXTERNAL), Relation.APART),
        (slot("蓝色"), slot("绿色", day=1, key="other"), Relation.APART),
        (slot("模板甲"), slot("模板乙", day=1, key=None), Relation.APART),
        (slot("用蓝色"), slot("不用蓝色", day=1, key=None), Relation.CONFLICT),
        (slot("用蓝色"), slot("不用蓝色", day=1, key="other"), Relation.APART),
        (slot("用蓝色", key=None), slot("不用蓝色", day=1, key=None), Relation.CONFLICT),
        (slot("蓝色"), slot("蓝色。", day=1), Relation.APART),
        (slot("蓝色", value="blue"), slot("颜色是蓝的", value="blue", day=1), Relation.APART),
        (slot("用蓝色", value="b"), slot("不用蓝色", value="b", day=1), Relation.SECOND_WINS),
        (slot("蓝色", scope=Scope(once=True)), slot("绿色", day=1), Relation.APART),
        (slot("蓝色", scope=Scope(objects=("a",))), slot("绿色", day=1), Relation.APART),
        (
            slot("蓝色", scope=Scope(objects=("a", "b"))),
            slot("绿色", day=1, scope=Scope(objects=("b", "a"))),
            Relation.SECOND_WINS,
        ),
    ],
)
def test_how_two_weigh_is_the_same_both_ways(
    first: Record, second: Record, relation: Relation
) -> None:
    """Later and no weaker wins in one slot; opposites without one dispute; the rest is apart."""
    assert relate(first, second) is relation
    assert relate(second, first) is TURNED[relation]
    assert rivals(first, second) is (relation is not Relation.APART)


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        ((None, None), (None, None), True),
        ((None, 5), (5, None), False),
        ((5, None), (None, 5), False),
        ((None, 6), (5, None), True),
        ((5, None), (None, 6), True),
        ((0, 4), (4, 9), False),
        ((4, 9), (0, 4), False),
        ((0, 5), (4, 9), True),
    ],
)
def test_validities_meet_if_they_share_a_moment(
    first: tuple[int | None, int | None],
    second: tuple[int | None, int | None],
    meet: bool,  # noqa: FBT001 - a table's column
) -> None:
    """The end is exclusive, and what is not said is open."""
    one = record("r-1", "x", valid_from=first[0], valid_to=first[1])
    two = record("r-2", "x", valid_from=second[0], valid_to=second[1])
    assert overlap(one, two) is meet


@pytest.mark.parametrize(
    ("first", "second", "compare"),
    [
        (RecordKind.RULE, RecordKind.PREFERENCE, True),
        (RecordKind.RULE, RecordKind.CORRECTION, True),
        (RecordKind.FACT, RecordKind.RULE, True),
        (RecordKind.COMMITMENT, RecordKind.COMMITMENT, True),
        (RecordKind.COMMITMENT, RecordKind.CORRECTION, True),
        (RecordKind.PROCEDURE, RecordKind.PROCEDURE, True),
        (RecordKind.COMMITMENT, RecordKind.RULE, False),
        (RecordKind.PROCEDURE, RecordKind.FACT, False),
        (RecordKind.COMMITMENT, RecordKind.PROCEDURE, False),
        (RecordKind.EPISODE, RecordKind.EPISODE, False),
        (RecordKind.CUE, RecordKind.CORRECTION, False),
    ],
)
def test_kinds_that_can_contradict(
    first: RecordKind,
    second: RecordKind,
    compare: bool,  # noqa: FBT001 - a table's column
) -> None:
    """Statements do; a promise or a way of doing only its own kind or a correction; stories never."""
    assert comparable(first, second) is compare
    assert comparable(second, first) is compare


STANDING = record("r-1", "报销用新模板", key="k", value="v")


@pytest.mark.parametrize(
    ("new", "same"),
    [
        ({}, True),
        ({"content": "报销用新模板。"}, True),
        ({"content": "新模板用于报销"}, True),
        ({"content": "新模板用于报销", "value": "w"}, False),
        ({"content": "新模板用于报销", "value": None}, False),
        ({"content": "新模板用于报销", "key": None}, False),
        ({"content": "报销不用新模板"}, False),
        ({"subject_id": "other"}, False),
        ({"kind": RecordKind.PREFERENCE}, False),
        ({"scope": Scope(task="t")}, False),
        ({"valid_from": AT + DAY}, False),
        ({"authority": Authority.VERIFICATION}, True),
        ({"authority": Authority.INFERENCE}, False),
        ({"authority": Authority.EXTERNAL}, False),
        ({"links": ("r-9",)}, False),
        ({"fact_class": FactClass.ENVIRONMENT}, False),
        ({"fact_class": FactClass.PROJECT}, True),
    ],
)
def test_what_is_the_same_statement(new: dict[str, Any], same: bool) -> None:  # noqa: FBT001 - a table's column
    """The same words, or slot and value, of the same kind, reach, time and kind of voice (C5, D5)."""
    standing = record("r-1", "报销用新模板", key="k", value="v", valid_to=AT + DAY)
    made = record("r-2", **{"content": "报销用新模板", "key": "k", "value": "v", **new})
    assert same_statement(made, standing) is same


def test_a_model_and_a_page_are_two_voices() -> None:
    """What neither of them has seen is not for that the same."""
    one = record("r-1", "x", authority=Authority.INFERENCE)
    assert not same_statement(record("r-2", "x", authority=Authority.EXTERNAL), one)
    assert same_statement(record("r-2", "x", authority=Authority.INFERENCE), one)


@pytest.mark.parametrize(
    ("standing", "met"),
    [
        ({}, True),
        ({"status": RecordStatus.CANDIDATE}, True),
        ({"status": RecordStatus.ARCHIVED, "reason": DISABLED}, True),
        ({"status": RecordStatus.ARCHIVED, "reason": "retention"}, False),
        ({"status": RecordStatus.EXPIRED, "reason": DISABLED}, False),
        ({"status": RecordStatus.SUPERSEDED}, False),
        ({"links": ("r-9",)}, False),
    ],
)
def test_what_a_repeat_belongs_to(standing: dict[str, Any], met: bool) -> None:  # noqa: FBT001 - a table's column
    """What holds, waits or was disabled; what is over is said anew."""
    assert same_statement(record("r-2", "报销"), record("r-1", "报销", **standing)) is met


# ---- the board --------------------------------------------------------------


def test_the_board_finds_by_form_and_subject() -> None:
    """Slot, words and opposites are looked up within a subject, live ones, in a set order."""
    here = [
        record("r-1", "用蓝色", key="k", day=1),
        record("r-2", "用蓝色", key="k", day=3),
        record("r-3", "不用蓝色", day=2),
        record("r-4", "用蓝色", key="k", status=RecordStatus.SUPERSEDED),
    ]
    board = Board([*here, record("r-5", "用蓝色", key="k", subject_id="other")])
    new = record("r-6", "用蓝色", key="k", day=9)
    board.put(new)
    assert [found.id for found in board.filling(new)] == ["r-1", "r-2"]
    assert [found.id for found in board.worded_like(new)] == ["r-2", "r-3", "r-1"]
    twin = board.twin(new)
    assert twin is not None
    assert twin.id == "r-2"
    assert board.twin(record("r-7", "用绿色")) is None


def test_of_many_that_are_worded_alike_the_newest_are_found() -> None:
    """A bound, so that a gauge read ten thousand times costs no more than one read a few times."""
    board = Board([record(f"r-{n}", f"温度是{n}度上下", day=n) for n in range(37)])
    found = board.worded_like(record("r-new", "温度是99度上下"))
    assert [one.id for one in found] == [f"r-{n}" for n in range(36, 4, -1)]


def test_newest_statements_are_active_and_claim_something() -> None:
    """A correction is held against these, the newest first, by id where they are as new."""
    board = Board(
        [
            record("r-b", "甲", day=1),
            record("r-a", "乙", day=1),
            record("r-c", "丙", day=2),
            record("r-d", "丁", day=3, kind=RecordKind.EPISODE),
            record("r-e", "戊", day=3, kind=RecordKind.CUE),
            record("r-f", "己", day=3, status=RecordStatus.CANDIDATE),
            record("r-g", "庚", day=3, subject_id="other"),
        ]
    )
    newest = board.newest_statements("expense", 9)
    assert [found.id for found in newest] == ["r-c", "r-a", "r-b"]
    assert board.newest_statements("expense", 2) == newest[:2]
