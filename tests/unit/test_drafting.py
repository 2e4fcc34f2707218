"""Drafts: what a package becomes with each event, and the note of what became of the event."""

from typing import Any

import pytest

from pipeline.rules.drafting import Bounds, Drafts
from pipeline.rules.filtering import Classification
from pipeline.rules.grouping import Member
from storage.records.events import Event, Fate, ObjectRef, Priority, Role
from storage.records.packing import DraftEvent, DraftPackage, FateNote

pytestmark = pytest.mark.unit

NOW = 1_767_225_600_000
BOUNDS = Bounds(age_ms=5_000, events=3, tokens=10)
KEPT = Classification(audit=False, reason="user")
SEEN = Classification(audit=False, reason="observation", signature="s")


def event(seq: int, text: str = "x", **more: Any) -> Event:
    """An event of the lane `task:t`; its time is its number."""
    made: dict[str, Any] = {"owner": "local", "id": f"e{seq}", "kind": "user.message",
                            "role": Role.USER, "task_id": "t"}  # fmt: skip
    return Event(seq=seq, at=seq, text=text, **(made | more))


def drafts(*open_packages: DraftPackage, bounds: Bounds = BOUNDS) -> Drafts:
    """Drafts over packages that take events; a text's tokens are its code points."""
    return Drafts(open_packages, bounds, NOW, len)


def package(**changes: Any) -> DraftPackage:
    """An open package of the lane that earlier passes have written on."""
    made: dict[str, Any] = {
        "owner": "local", "lane": "task:t", "object_id": "o", "task_id": "t",
        "priority": Priority.LOW, "opened_at": 1, "close_at": 2, "id": 7,
    }  # fmt: skip
    return DraftPackage(**(made | changes))


def member(of: Event, verdict: Classification = KEPT, tokens: int = 1, **more: Any) -> Member:
    """An event on its way into a package."""
    return Member(of, verdict, tokens, **more)


# ---- opening and appending -------------------------------------------------------


def test_a_package_opens_for_its_first_event() -> None:
    """Owner, object and task are the event's, its age counts from now, and nothing is in it yet."""
    made = drafts()
    opened = made.open("task:t", event(4, objects=(ObjectRef("expense"), ObjectRef("b"))))
    assert opened == DraftPackage(
        owner="local", lane="task:t", object_id="expense", task_id="t", priority=Priority.LOW,
        opened_at=NOW, close_at=NOW + 5_000, first_seq=4,
    )  # fmt: skip
    assert made.current == {"task:t": opened}
    assert made.touched == []


def test_an_event_leaves_its_trace_in_its_package() -> None:
    """Its place, time, weight, haste and signature: all that the next events are held against."""
    made = drafts()
    opened = made.open("task:t", event(4))
    urgent = Classification(audit=False, reason="task_done", signature="s", urgent=True)
    made.append(opened, member(event(4), urgent, 2, unanswered=True))
    assert opened.added == [DraftEvent(4, 4, 4, 1, "s", unanswered=True)]
    assert (opened.events, opened.tokens, opened.known) == (1, 2, {"s": 4})
    assert (opened.first_seq, opened.last_seq, opened.last_at) == (4, 4, 4)
    assert (opened.instants, opened.urgent, opened.priority) == ({4}, True, Priority.HIGH)
    assert made.touched == [opened]
    assert made.notes == {4: FateNote(4, Fate.PACKAGED, "task_done", opened)}


def test_a_package_grows_by_each_event() -> None:
    """Counts add up, the range widens, and an event without a signature is known by none."""
    made = drafts()
    opened = made.open("task:t", event(5))
    made.append(opened, member(event(5), SEEN, 2))
    made.append(opened, member(event(3), KEPT, 4))
    assert [draft.seq for draft in opened.added] == [5, 3]
    assert (opened.events, opened.tokens, opened.known) == (2, 6, {"s": 5})
    assert (opened.first_seq, opened.last_seq, opened.last_at) == (3, 5, 3)
    assert opened.instants == {5, 3}
    assert made.touched == [opened]


@pytest.mark.parametrize(
    ("before", "own", "urgent", "after"),
    [
        (Priority.LOW, Priority.NORMAL, False, Priority.NORMAL),
        (Priority.NORMAL, Priority.LOW, False, Priority.NORMAL),
        (Priority.LOW, Priority.NORMAL, True, Priority.HIGH),
        (Priority.LOW, Priority.URGENT, True, Priority.URGENT),
        (Priority.URGENT, Priority.LOW, True, Priority.URGENT),
    ],
)
def test_a_package_is_as_early_as_its_earliest_event(
    before: Priority, own: Priority, after: Priority, *, urgent: bool
) -> None:
    """Its most urgent event lifts it, a hasty one to high at least, and none lowers it (C2)."""
    made, draft = drafts(), package(priority=before)
    verdict = Classification(audit=False, reason="user", urgent=urgent)
    made.append(draft, member(event(1, priority=own), verdict))
    assert (draft.priority, draft.urgent) == (after, urgent)


def test_a_hasty_package_stays_so() -> None:
    """What comes behind a correction does not take its haste away."""
    made, draft = drafts(), package(urgent=True)
    made.append(draft, member(event(1)))
    assert draft.urgent


@pytest.mark.parametrize(
    ("text", "data", "tokens"),
    [("报销单", None, 3), ("ab", {"甲": 1}, 2 + len(str({"甲": 1}))), ("ab", {}, 2), ("", None, 0)],
)
def test_an_event_weighs_its_text_and_its_data(
    text: str, data: dict[str, object] | None, tokens: int
) -> None:
    """An input budget is spent by both."""
    of = event(1, text, data=data)
    assert drafts().member(of, KEPT) == Member(of, KEPT, tokens, unanswered=False)
    assert drafts().member(of, KEPT, unanswered=True).unanswered


# ---- room --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "tokens", "full"), [(2, 9, False), (3, 0, True), (4, 0, True), (0, 10, True)]
)
def test_a_package_is_full_at_either_bound(events: int, tokens: int, *, full: bool) -> None:
    """At the bound it takes nothing more (C2)."""
    assert drafts().is_full(package(events=events, tokens=tokens)) is full


@pytest.mark.parametrize(
    ("events", "tokens", "sizes", "most", "fits"),
    [
        (1, 0, [1, 1], None, True),
        (2, 0, [1, 1], None, False),
        (2, 0, [1, 1], 4, True),
        (2, 0, [1, 1, 1], 4, False),
        (0, 6, [2, 2], None, True),
        (0, 6, [2, 3], None, False),
        (0, 6, [2, 3], 9, False),
    ],
)
def test_events_fit_up_to_the_bounds(
    events: int, tokens: int, sizes: list[int], most: int | None, *, fits: bool
) -> None:
    """Another bound of events may be given; that of tokens is a model's, and holds (H5)."""
    members = [member(event(n), tokens=size) for n, size in enumerate(sizes, 1)]
    assert drafts().fits(package(events=events, tokens=tokens), members, most) is fits


def test_an_open_package_is_found_by_its_id() -> None:
    """Among those that still take events; one that is closed is not held any more."""
    first, second = package(), package(lane="task:u", id=8)
    made = drafts(first, second)
    assert (made.held(7), made.held(8), made.held(9)) == (first, second, None)
    made.close("task:u", "size")
    assert made.held(8) is None


def test_a_closed_package_is_written_with_its_reason() -> None:
    """Its lane is free for the next one."""
    draft = package()
    made = drafts(draft)
    made.close("task:t", "urgent")
    assert (draft.closed_by, made.current, made.touched) == ("urgent", {}, [draft])


# ---- repeats -------------------------------------------------------------------------


def test_a_repeat_of_this_pass_widens_its_first() -> None:
    """Counted, with first and last time, and noted as merged into the first (C1)."""
    made = drafts()
    opened = made.open("task:t", event(5))
    made.append(opened, member(event(5), SEEN))
    made.count_repeat(opened, [member(event(9), SEEN)])
    made.count_repeat(opened, [member(event(2), SEEN)])
    assert opened.added == [DraftEvent(5, 2, 9, 3, "s")]
    assert (opened.repeated, opened.events) == ({}, 1)
    assert made.notes[9] == FateNote(9, Fate.MERGED, "repeat", opened, 5)
    assert made.notes[2] == FateNote(2, Fate.MERGED, "repeat", opened, 5)


def test_a_repeat_of_an_earlier_pass_is_counted_beside_it() -> None:
    """The first is written already: what is to be added to it is kept apart."""
    draft = package(known={"s": 5, "t": 6}, events=2)
    made = drafts(draft)
    for seq in (9, 8, 11):
        made.count_repeat(draft, [member(event(seq), SEEN)])
    assert draft.repeated == {5: DraftEvent(5, 8, 11, 3)}
    assert (draft.added, made.touched) == ([], [draft])


def test_the_call_of_a_repeat_goes_to_audit() -> None:
    """Only what came of it is counted."""
    draft = package(known={"s": 5})
    made = drafts(draft)
    made.count_repeat(draft, [member(event(8)), member(event(9), SEEN)])
    assert made.notes == {
        8: FateNote(8, Fate.AUDIT, "call_of_a_repeat"),
        9: FateNote(9, Fate.MERGED, "repeat", draft, 5),
    }


def test_a_repeated_success_goes_to_audit_and_changes_nothing() -> None:
    """It is not even counted: the package is left as it was (C1)."""
    draft = package(known={"s": 5})
    made = drafts(draft)
    success = Classification(audit=False, reason="receipt", signature="s", repeat_audit=True)
    made.count_repeat(draft, [member(event(8)), member(event(9), success)])
    assert made.notes == {
        8: FateNote(8, Fate.AUDIT, "call_of_a_repeat"),
        9: FateNote(9, Fate.AUDIT, "repeated_success"),
    }
    assert (draft.repeated, made.touched) == ({}, [])


def test_a_later_note_takes_the_place_of_an_earlier_one() -> None:
    """Each event has one fate."""
    made = drafts()
    made.note(FateNote(3, Fate.WAITING, "call_without_result"))
    made.audit(event(3), "ordinary_action")
    assert made.notes == {3: FateNote(3, Fate.AUDIT, "ordinary_action")}
