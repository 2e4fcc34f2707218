"""The records under consideration: how they are found, in which order, and how they change."""

from typing import Any

import pytest

from pipeline.rules.board import ALIKE, Board
from pipeline.rules.relating import DISABLED
from storage.records.knowledge import Authority, FactClass, Record, RecordKind, RecordStatus
from tests.observer_support import record

pytestmark = pytest.mark.unit

KEY = "expense.template"


def ids(records: list[Record]) -> list[str]:
    """Their ids."""
    return [one.id for one in records]


def rule(record_id: str, content: str = "报销用新模板", **changes: Any) -> Record:
    """A rule about expenses."""
    return record(record_id, content, **changes)


# ---- finding --------------------------------------------------------------------


def test_a_twin_is_what_holds_before_what_was_disabled_and_the_newest_of_those() -> None:
    """A repeat belongs to one record, and always to the same (C5, D5)."""
    disabled = rule("r-1", day=9, status=RecordStatus.ARCHIVED, reason=DISABLED)
    older, newer, tied = rule("r-2", day=1), rule("r-4", day=2), rule("r-3", day=2)
    new = rule("r-9", "报销用新模板。", day=3)
    found = [
        Board(standing).twin(new)
        for standing in ([], [disabled], [disabled, older], [older, newer], [newer, tied, older])
    ]
    assert [one and one.id for one in found] == [None, "r-1", "r-2", "r-4", "r-3"]


@pytest.mark.parametrize(
    "standing",
    [
        rule("r-1", "报销用旧模板"),
        rule("r-1", subject_id="other"),
        rule("r-1", kind=RecordKind.PREFERENCE),
        rule("r-1", status=RecordStatus.SUPERSEDED),
        rule("r-1", authority=Authority.EXTERNAL),
    ],
)
def test_another_statement_is_no_twin(standing: Record) -> None:
    """Other words, subject, kind or voice, or what holds no longer."""
    assert Board([standing]).twin(rule("r-9")) is None


def test_a_twin_is_found_by_its_slot_and_value_too() -> None:
    """In other words of the same value (D5)."""
    standing = rule("r-1", "use BX-2 for expenses", key=KEY, value="BX-2")
    same = rule("r-9", "报销都用 BX-2", key=KEY, value="BX-2")
    other = rule("r-8", "报销都用 BX-3", key=KEY, value="BX-3")
    board = Board([standing])
    assert board.twin(same) == standing
    assert board.twin(other) is None


def test_a_record_is_not_its_own_twin() -> None:
    """What stands already repeats nothing."""
    standing = rule("r-1", key=KEY)
    board = Board([standing])
    assert board.twin(standing) is None
    assert board.filling(standing) == []
    assert board.worded_like(standing) == []


def test_a_slot_is_filled_by_what_holds_and_what_waits_the_oldest_first() -> None:
    """Of the subject, whatever it says; ties in the order of their ids."""
    board = Board(
        [
            rule("r-3", "甲", key=KEY, day=2),
            rule("r-2", "乙", key=KEY, day=1, status=RecordStatus.CANDIDATE),
            rule("r-1", "丙", key=KEY, day=2),
            rule("r-4", "丁", key=KEY, status=RecordStatus.SUPERSEDED),
            rule("r-5", "戊", key="expense.deadline"),
            rule("r-6", "己", key=KEY, subject_id="other"),
            rule("r-7", "庚"),
        ]
    )
    assert ids(board.filling(rule("r-9", "辛", key=KEY))) == ["r-2", "r-1", "r-3"]
    assert board.filling(rule("r-9", "庚")) == []


@pytest.mark.parametrize(
    ("new", "like"),
    [
        ("我喜欢吃香菜", "我不喜欢吃香菜"),
        ("每天三点备份", "每天4点备份"),
        ("Allow uploads to the server", "Forbid uploads to the server"),
    ],
)
def test_what_is_worded_like_it_is_found_the_newest_first(new: str, like: str) -> None:
    """Polarity and value aside; of the subject, as far as it holds or waits."""
    board = Board(
        [
            rule("r-3", like, day=1),
            rule("r-2", like, day=2, status=RecordStatus.CANDIDATE),
            rule("r-1", like, day=1),
            rule("r-4", like, subject_id="other"),
            rule("r-5", like, status=RecordStatus.EXPIRED),
            rule("r-6", f"{like} 以及别的事情 and something else"),
            rule("r-7", "会议室要提前预订"),
        ]
    )
    assert ids(board.worded_like(rule("r-9", new))) == ["r-2", "r-1", "r-3"]


def test_what_says_next_to_nothing_is_worded_like_nothing() -> None:
    """Two words of one sign share their form by chance."""
    assert Board([rule("r-1", "不")]).worded_like(rule("r-9", "没")) == []


def test_only_so_many_are_worded_like_it() -> None:
    """A bound on the work: the newest of them."""
    many = [rule(f"r-{n}", "我不喜欢吃香菜", day=n) for n in range(ALIKE + 3)]
    found = Board(many).worded_like(rule("new", "我喜欢吃香菜"))
    assert ids(found) == [f"r-{n}" for n in range(ALIKE + 2, 2, -1)]


def test_the_newest_statements_claim_something() -> None:
    """Active ones of the subject; stories and cues claim nothing."""
    board = Board(
        [
            rule("r-2", day=1),
            rule("r-1", day=1),
            rule("r-3", day=3, kind=RecordKind.FACT, fact_class=FactClass.PROJECT),
            rule("r-4", day=4, kind=RecordKind.EPISODE),
            rule("r-5", day=5, kind=RecordKind.CUE),
            rule("r-6", day=6, status=RecordStatus.CANDIDATE),
            rule("r-7", day=7, subject_id="other"),
        ]
    )
    assert ids(board.newest_statements("expense", 9)) == ["r-3", "r-1", "r-2"]
    assert ids(board.newest_statements("expense", 2)) == ["r-3", "r-1"]


def test_what_is_put_is_found_by_the_next() -> None:
    """A record that came in this settlement is held against like any other, once."""
    board = Board([])
    first = rule("r-1", key=KEY)
    board.put(first)
    board.put(rule("r-1", key=KEY, day=1))
    assert board.twin(rule("r-9")) == rule("r-1", key=KEY, day=1)
    assert ids(board.filling(rule("r-9", "x", key=KEY))) == ["r-1"]
    assert (board.before, list(board.records)) == ({}, ["r-1"])


# ---- changing ---------------------------------------------------------------------


def test_whoever_replaces_names_what_it_replaced_once() -> None:
    """And the loser is in conflict with nothing any more, at hand or not (D3)."""
    board = Board(
        [
            rule("new", supersedes=("r-0",)),
            rule("old", conflicts_with=("other", "gone")),
            rule("other", conflicts_with=("x", "old")),
        ]
    )
    for _ in range(2):
        board.supersede("new", "old")
    old, other = board.records["old"], board.records["other"]
    assert board.records["new"].supersedes == ("r-0", "old")
    assert (old.status, old.conflicts_with) == (RecordStatus.SUPERSEDED, ())
    assert (other.status, other.conflicts_with) == (RecordStatus.ACTIVE, ("x",))
    assert board.before["old"].status is RecordStatus.ACTIVE


def test_a_conflict_is_named_on_both_sides_once() -> None:
    """Both stand."""
    board = Board([rule("a", conflicts_with=("x",)), rule("b")])
    board.conflict("a", "b")
    board.conflict("b", "a")
    assert board.records["a"].conflicts_with == ("x", "b")
    assert board.records["b"].conflicts_with == ("a",)


def test_a_conflict_ends_on_both_sides() -> None:
    """Where one side is not at hand, on the other; what else they dispute stays."""
    board = Board([rule("a", conflicts_with=("b", "c")), rule("b", conflicts_with=("a",))])
    board.reconcile("a", "b")
    board.reconcile("c", "a")
    assert board.records["a"].conflicts_with == ()
    assert board.records["b"].conflicts_with == ()
