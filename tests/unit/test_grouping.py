"""What a pass keeps together: groups of an instant, calls with their results, cuts."""

from typing import Any

import pytest

from pipeline.rules.filtering import Classification
from pipeline.rules.grouping import Filed, Group, Member, is_call, may_answer, split_at, whole
from storage.records.events import Event, Fate, ObjectRef, Role
from storage.records.packing import FiledEvent

pytestmark = pytest.mark.unit


def event(seq: int, **more: Any) -> Event:
    """An executor's receipt; its time is its number unless said."""
    made: dict[str, Any] = {
        "owner": "local", "id": f"e{seq}", "kind": "executor.receipt", "at": seq,
        "role": Role.EXECUTOR, "text": "提交 submit", "objects": (ObjectRef("o"),),
    }  # fmt: skip
    return Event(seq=seq, **(made | more))


def call(seq: int, **more: Any) -> Event:
    """A call."""
    return event(seq, kind="executor.call", **more)


def filed(of: Event) -> FiledEvent:
    """An event that earlier passes have dealt with."""
    return FiledEvent(of, Fate.PACKAGED, "call")


def member(of: Event, signature: str | None = None) -> Member:
    """An event on its way into a package."""
    return Member(of, Classification(audit=False, reason="x", signature=signature), 1)


# ---- who calls and who answers ---------------------------------------------------


@pytest.mark.parametrize("role", list(Role))
def test_who_may_call_and_who_may_answer(role: Role) -> None:
    """A kind is a caller's word: a user's or a page's is no call, and only who acts answers (B5)."""
    calls = role not in {Role.USER, Role.EXTERNAL}
    acts = role in {Role.EXECUTOR, Role.OBSERVATION, Role.VERIFICATION}
    assert is_call(call(1, role=role)) is calls
    assert not is_call(event(1, role=role))
    assert may_answer(event(1, role=role)) is acts
    assert may_answer(call(1, role=role)) is False


# ---- groups --------------------------------------------------------------------------


def test_a_group_shares_any_of_its_instants() -> None:
    """A pair has two moments, and either one keeps what else happened then."""
    group = Group("task:t")
    group.add([member(event(1)), member(event(5))])
    assert [group.shares([member(event(9, at=at))]) for at in (1, 5, 3)] == [True, True, False]
    assert group.shares([member(event(8, at=3)), member(event(9, at=5))])


def test_a_group_tells_a_repeat_by_what_came_last() -> None:
    """A call's result is what repeats; the call's own words say nothing of that."""
    group = Group("task:t")
    group.add([member(event(1)), member(event(2), "s")])
    assert group.repeats_one([member(event(3), "s")])
    assert group.repeats_one([member(event(3)), member(event(4), "s")])
    assert not group.repeats_one([member(event(3), "s"), member(event(4), "t")])
    assert not group.repeats_one([member(event(3))])


def test_a_group_holds_what_it_keeps_and_what_it_counts() -> None:
    """In the order they came, repeats apart."""
    group = Group("task:t")
    pair, single, again = [member(event(1)), member(event(2), "s")], [member(event(3))], [member(event(4), "s")]  # fmt: skip
    group.add(pair)
    group.add(single)
    group.repeats.append(again)
    assert group.members == [*pair, *single]
    assert [group.holds(event(seq)) for seq in range(1, 6)] == [True, True, True, True, False]


# ---- passes -------------------------------------------------------------------------


_LANES = {"a": (ObjectRef("a"),), "b": (ObjectRef("b"),)}


@pytest.mark.parametrize(
    ("lanes", "times", "size", "taken"),
    [
        ("aaaa", [1, 2, 3, 4], 2, 2),
        ("aaaa", [1, 2, 2, 3], 2, 3),
        ("aaaa", [1, 2, 2, 2], 2, 4),
        ("abab", [1, 2, 2, 2], 2, 4),
        ("abba", [1, 2, 9, 1], 2, 4),
        ("abba", [1, 2, 1, 8], 2, 2),
        ("aabb", [1, 2, 7, 7], 2, 2),
        ("abbb", [1, 5, 1, 5], 1, 1),
        ("abab", [1, 5, 1, 5], 1, 4),
        ("aaaa", [1, 1, 1, 1], 9, 4),
        ("", [], 3, 0),
        ("aaaa", [1, 1, 2, 2], 0, 0),
    ],
)
def test_a_pass_ends_where_no_instant_of_a_lane_goes_on(
    lanes: str, times: list[int], size: int, taken: int
) -> None:
    """What it takes for one instant may begin another, which it then takes whole, too (G3)."""
    events = [
        event(seq, at=at, objects=_LANES[lane])
        for seq, (lane, at) in enumerate(zip(lanes, times, strict=True), 1)
    ]
    assert whole(events, size) == taken


# ---- calls and results of earlier passes ----------------------------------------------


def test_a_result_finds_its_call_by_cause_before_request() -> None:
    """A named cause is the caller's own word; a request may hold several calls."""
    known = Filed([filed(call(1, request_id="q")), filed(call(2, request_id="q"))])
    found = [
        known.call_of(event(5, causes=("e1",), request_id="q")),
        known.call_of(event(5, causes=("e9", "e2", "e1"))),
        known.call_of(event(5, request_id="q")),
        known.call_of(event(5, request_id="r")),
        known.call_of(event(5)),
    ]
    assert [one and one.event.id for one in found] == ["e1", "e2", "e2", None, None]


def test_a_call_finds_the_result_that_names_it() -> None:
    """Whatever the clocks say: who names a cause has seen it."""
    known = Filed([filed(event(4, at=1, causes=("e9", "e5")))])
    found = known.result_of(call(5, at=100))
    assert found is not None
    assert found.event.id == "e4"
    assert known.result_of(call(6)) is None


@pytest.mark.parametrize(
    ("at", "kind", "found"),
    [
        (7, "executor.receipt", True),
        (8, "executor.receipt", True),
        (6, "executor.receipt", False),
        (8, "executor.observation", False),
    ],
)
def test_a_receipt_of_the_same_request_is_a_call_s_when_it_is_no_older(
    at: int, kind: str, *, found: bool
) -> None:
    """What happened before the call answers another; what was merely seen answers none."""
    known = Filed([filed(event(4, at=at, kind=kind, request_id="q"))])
    assert (known.result_of(call(5, at=7, request_id="q")) is not None) is found
    assert known.result_of(call(5, at=7, request_id="r")) is None
    assert known.result_of(call(5, at=7)) is None


def test_a_result_that_has_its_call_is_free_for_no_other() -> None:
    """In whatever order the two are told: one call, one result."""
    asked, answer = call(1, request_id="q"), event(2, request_id="q")
    for earlier in ([filed(asked), filed(answer)], [filed(answer), filed(asked)]):
        assert Filed(earlier).result_of(call(3, at=1, request_id="q")) is None


def test_a_call_that_is_noted_takes_the_free_result_of_its_request() -> None:
    """The next call of that request waits for its own."""
    known = Filed([filed(event(2, request_id="q"))])
    assert known.result_of(call(3, at=1, request_id="q")) is not None
    known.note_call(filed(call(3, at=1, request_id="q")))
    assert known.result_of(call(4, at=1, request_id="q")) is None


def test_the_newest_of_a_request_counts() -> None:
    """Filed in any order, they count by their sequence."""
    calls = [filed(call(2, request_id="q")), filed(call(1, request_id="q"))]
    found = Filed(calls).call_of(event(5, request_id="q"))
    assert found is not None
    assert found.event.id == "e2"


# ---- cuts ----------------------------------------------------------------------------


_CUTS: dict[str, tuple[list[Event], int | None]] = {
    "nothing": ([], None),
    "one": ([event(1)], None),
    "two": ([event(1), event(2)], 1),
    "an even number": ([event(n) for n in range(1, 5)], 2),
    "an odd number, the earlier of two": ([event(n) for n in range(1, 4)], 1),
    "an instant in the middle": ([event(1), event(2, at=7), event(3, at=7), event(4, at=9)], 1),
    "a pair by request in the middle": (
        [event(1), event(2, request_id="q"), event(3, request_id="q"), event(4)], 1,
    ),
    "a pair by cause in the middle": ([event(1), event(2), event(3, causes=("e2",)), event(4)], 1),
    "a pair over all": ([event(1), event(2), event(3, causes=("e1",))], None),
    "a cause before all of them": ([event(1), event(2, causes=("e0",))], 1),
    "two requests": ([event(1, request_id="q"), event(2, request_id="r")], 1),
}  # fmt: skip


@pytest.mark.parametrize(("events", "place"), _CUTS.values(), ids=_CUTS)
def test_a_cut_goes_nearest_to_the_middle_through_nothing(
    events: list[Event], place: int | None
) -> None:
    """Through no instant, no request, and between nothing and what it names (G3)."""
    assert split_at(events) == place
