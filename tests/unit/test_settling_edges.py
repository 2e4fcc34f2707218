"""Settling where several records meet: who yields to whom, once, and what is then left."""

from dataclasses import replace
from typing import Any

import pytest

from pipeline.rules.settling import CORRECTABLE, MOST_CONFLICTS, Settlement, settle
from storage.records.events import Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    Origin,
    Record,
    RecordKind,
    RecordStatus,
    Span,
)
from tests.observer_support import AT, DAY, record

pytestmark = pytest.mark.unit

KEY = "expense.template"


def rule(record_id: str, content: str = "报销用新模板", **changes: Any) -> Record:
    """A rule about expenses."""
    return record(record_id, content, **changes)


def after(new: Record, *existing: Record) -> dict[str, Record]:
    """What stands once one record has come."""
    made = settle([new], existing)
    return {one.id: one for one in (*existing, *made.inserts, *made.updates)}


def test_who_yields_yields_once() -> None:
    """Replaced by the first that unseats it, a late record is weighed against no other (C5)."""
    users = rule("r-1", "甲模板", key=KEY, day=1)
    seen = rule("r-2", "乙模板", key=KEY, day=2, authority=Authority.OBSERVATION)
    late = rule("r-9", "丙模板", key=KEY, day=-1, authority=Authority.OBSERVATION)
    board = after(late, users, seen)
    assert board["r-9"].status is RecordStatus.SUPERSEDED
    assert (board["r-1"].supersedes, board["r-2"].supersedes) == (("r-9",), ())


def test_everything_that_it_unseats_is_named() -> None:
    """All of one slot that are older and weigh no more, the oldest first."""
    board = after(
        rule("r-9", "丙模板", key=KEY, day=3),
        rule("r-1", "甲模板", key=KEY, day=1, authority=Authority.OBSERVATION),
        rule("r-2", "乙模板", key=KEY, day=2, authority=Authority.VERIFICATION),
    )
    assert board["r-9"].supersedes == ("r-1", "r-2")
    assert {board[name].status for name in ("r-1", "r-2")} == {RecordStatus.SUPERSEDED}


def test_several_new_records_come_in_the_order_of_their_saying() -> None:
    """However they are handed over; of one moment in the order of their ids."""
    new = [rule("r-2", "甲模板", key=KEY, day=2), rule("r-3", "乙模板", key=KEY, day=1),
           rule("r-1", "丙模板", key=KEY, day=2)]  # fmt: skip
    for handed in (new, new[::-1]):
        made = settle(handed, [])
        assert [one.id for one in made.inserts] == ["r-3", "r-1", "r-2"]
        board = {one.id: one for one in made.inserts}
        assert board["r-3"].status is RecordStatus.SUPERSEDED
        assert (board["r-1"].conflicts_with, board["r-2"].conflicts_with) == (("r-2",), ("r-1",))


def test_what_changed_comes_in_its_next_version_in_the_order_of_ids() -> None:
    """Once, whatever was done to it meanwhile; a new record is in its first version."""
    new = rule("r-9", "丙模板", key=KEY, day=3)
    old = rule("r-2", "乙模板", key=KEY, day=2, revision=4, conflicts_with=("r-1",))
    other = rule("r-1", "戊模板", day=1, conflicts_with=("r-2",))
    made = settle([new], [old, other])
    assert [(one.id, one.revision) for one in made.updates] == [("r-1", 2), ("r-2", 5)]
    assert [(one.id, one.revision) for one in made.inserts] == [("r-9", 1)]
    assert made.updates[0].conflicts_with == ()


def test_evidence_is_stored_in_sequence() -> None:
    """In whatever order it was quoted."""
    spans = (Span("e2", 5, 3, 4, "b"), Span("e1", 2, 7, 9, "cd"), Span("e1", 2, 0, 1, "a"))
    made = settle([rule("r-9", evidence=spans)], [])
    assert made.inserts[0].evidence == (spans[2], spans[1], spans[0])


# ---- surroundings -----------------------------------------------------------------


def seen(record_id: str, *days: int, **changes: Any) -> Record:
    """Something that was seen on these days, by different requests."""
    spans = tuple(Span(f"{record_id}-{day}", day + 1, 0, 2, "打印") for day in days)
    origins = tuple(
        Origin(span.event_id, AT + day * DAY, Role.EXECUTOR)
        for day, span in zip(days, spans, strict=True)
    )
    made: dict[str, Any] = {
        "kind": RecordKind.FACT,
        "fact_class": FactClass.ENVIRONMENT,
        "authority": Authority.OBSERVATION,
        "status": RecordStatus.CANDIDATE,
        "evidence": spans,
        "origins": origins,
        "day": max(days),
    }
    return record(record_id, "打印机在三楼", **(made | changes))


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, RecordStatus.ACTIVE),
        ({"authority": Authority.EXTERNAL}, RecordStatus.CANDIDATE),
        ({"authority": Authority.INFERENCE}, RecordStatus.ACTIVE),
        ({"fact_class": FactClass.PROJECT}, RecordStatus.CANDIDATE),
        ({"status": RecordStatus.EXPIRED}, RecordStatus.EXPIRED),
    ],
)
def test_what_two_days_have_shown_holds_at_once(
    changes: dict[str, Any], status: RecordStatus
) -> None:
    """A new record may bring both days along; a page's brings none (F3)."""
    made = settle([seen("r-9", 0, 1, **changes)], [])
    assert made.inserts[0].status is status


def test_one_day_is_not_two() -> None:
    """Seen twice on one day it waits."""
    spans = tuple(Span(f"e{n}", n, 0, 2, "打印") for n in (1, 2))
    origins = tuple(Origin(f"e{n}", AT + n, Role.EXECUTOR) for n in (1, 2))
    made = settle([seen("r-9", 0, evidence=spans, origins=origins)], [])
    assert made.inserts[0].status is RecordStatus.CANDIDATE


# ---- repeats -----------------------------------------------------------------------


def test_a_repeat_takes_the_earliest_beginning_and_the_latest_end() -> None:
    """Which of the two came later decides the end; an open beginning stays open (D2)."""
    standing = rule("r-1", day=1, valid_from=AT, valid_to=AT + 9 * DAY, review_at=AT + DAY)
    later = rule("r-9", day=2, valid_from=AT - DAY, valid_to=AT + 5 * DAY, review_at=AT + 3 * DAY)
    made = settle([later], [standing])
    assert made.merged == {"r-9": "r-1"}
    (kept,) = made.updates
    assert (kept.valid_from, kept.valid_to) == (AT - DAY, AT + 5 * DAY)
    assert (kept.review_at, kept.observed_at) == (AT + 3 * DAY, AT + 2 * DAY)
    assert kept.revision == 2


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [(None, None, None), (AT + DAY, None, AT + DAY), (None, AT + DAY, AT + DAY), (AT + DAY, AT, AT + DAY)],
)  # fmt: skip
def test_a_repeat_keeps_the_later_review(
    first: int | None, second: int | None, kept: int | None
) -> None:
    """Whoever says a thing again puts off its check, and brings none forward."""
    standing = rule("r-1", review_at=first)
    (made,) = settle([rule("r-9", day=1, review_at=second)], [standing]).updates
    assert made.review_at == kept


# ---- corrections without a slot --------------------------------------------------------


def correction(record_id: str, content: str, **changes: Any) -> Record:
    """A correction that names neither a slot nor a record."""
    return record(record_id, content, **({"kind": RecordKind.CORRECTION, "day": 5} | changes))


@pytest.mark.parametrize(
    ("content", "old"),
    [
        ("更正：会议室在四楼大厅", "会议室在三楼大厅"),
        ("Correction: the quarterly review is on Monday", "the quarterly review is on Friday"),
    ],
)
def test_a_correction_replaces_the_one_record_that_it_speaks_of(content: str, old: str) -> None:
    """By half of its words, those aside that tell that something is set right (D5)."""
    board = after(correction("r-9", content), rule("r-1", old), rule("r-2", "报销用新模板"))
    assert board["r-1"].status is RecordStatus.SUPERSEDED
    assert board["r-9"].supersedes == ("r-1",)
    assert board["r-2"].status is RecordStatus.ACTIVE


@pytest.mark.parametrize(
    "changes",
    [{"key": KEY}, {"supersedes": ("r-7",)}, {"kind": RecordKind.RULE}],
    ids=["a slot", "a record named", "no correction"],
)
def test_only_a_correction_that_names_nothing_looks_for_its_record(changes: dict[str, Any]) -> None:
    """A slot, or a record that is named, tells which one is meant."""
    board = after(
        correction("r-9", "更正：会议室在四楼大厅", **changes), rule("r-1", "会议室在三楼大厅")
    )
    assert board["r-1"] == rule("r-1", "会议室在三楼大厅")


def test_a_correction_of_words_alone_is_about_none() -> None:
    """Without a word that tells what, it speaks of nothing at hand."""
    standing = rule("r-1", "更正：不对")
    made = settle([correction("r-9", "错了")], [standing])
    assert made == Settlement((correction("r-9", "错了"),), ())


def test_a_correction_disputes_the_newest_that_it_could_mean() -> None:
    """Of several it replaces none: both sides are shown, of the newest few (D3)."""
    many = [rule(f"r-{n:02}", f"会议室在三楼大厅 {n}", day=-n) for n in range(MOST_CONFLICTS + 2)]
    board = after(correction("new", "更正：会议室在四楼大厅"), *many)
    assert board["new"].conflicts_with == tuple(f"r-{n:02}" for n in range(MOST_CONFLICTS))
    assert board["r-00"].conflicts_with == ("new",)
    assert all(board[f"r-{n:02}"] == many[n] for n in (MOST_CONFLICTS, MOST_CONFLICTS + 1))


def test_only_so_many_statements_are_held_against_a_correction() -> None:
    """A bound on the work, itself counted: what lies far back is not looked at."""
    filler = [rule(f"f-{n:04}", f"第{n}号柜子归档", day=2) for n in range(CORRECTABLE - 1)]
    old = rule("r-1", "会议室在三楼大厅", day=1)
    new = correction("r-9", "更正：会议室在四楼大厅")
    assert after(new, old, *filler)["r-1"] == old
    assert after(new, old, *filler[1:])["r-1"].status is RecordStatus.SUPERSEDED


def test_a_page_s_candidate_is_not_unseated_by_what_is_named() -> None:
    """What a new record names is only replaced where it weighs no more than that record."""
    named = rule("r-1", "甲模板", day=1)
    weak = rule("r-9", "乙模板", day=2, authority=Authority.OBSERVATION, supersedes=("r-1", "r-7"))
    board = after(weak, named)
    assert (board["r-9"].supersedes, board["r-9"].conflicts_with) == (("r-7",), ("r-1",))
    assert board["r-1"].conflicts_with == ("r-9",)
    assert board["r-1"].status is RecordStatus.ACTIVE
    assert replace(board["r-1"], conflicts_with=(), revision=1) == named
