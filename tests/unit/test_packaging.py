"""Packaging: which package an event goes into, and when a package closes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.rules.drafting import Bounds, Plan
from pipeline.rules.filtering import classify
from pipeline.rules.grouping import INSTANT_EVENTS, is_call, may_answer, split_at, whole
from pipeline.rules.packaging import Packer
from pipeline.text.budget import estimate_tokens
from storage.records.events import Event, Fate, ObjectRef, Priority, Role
from storage.records.packing import DraftPackage, FiledEvent, WaitingCall

pytestmark = pytest.mark.unit

NOW = 1_767_225_600_000
MINUTE = 60_000
CALL_WAIT = 15 * MINUTE

BOUNDS = Bounds()


@dataclass
class Kept:
    """One package as the store would have it after any number of passes."""

    draft: DraftPackage
    events: dict[int, int] = field(default_factory=dict)
    """Sequence numbers with how often each was seen."""
    first_at: dict[int, int] = field(default_factory=dict)
    last_at: dict[int, int] = field(default_factory=dict)
    unanswered: set[int] = field(default_factory=set)


class Ledger:
    """What passes leave behind, kept as the store keeps it: for the rules there is no other."""

    def __init__(self, bounds: Bounds = BOUNDS) -> None:
        self.bounds = bounds
        self.packages: list[Kept] = []
        self.waiting: dict[int, WaitingCall] = {}
        self.fates: dict[int, tuple[Fate, str]] = {}
        self.log: dict[int, Event] = {}

    def run(self, events: Iterable[Event], *, now: int = NOW) -> Plan:
        """One pass of the filter."""
        events = list(events)
        filed = self._filed()
        self.log |= {event.seq: event for event in events}
        packer = Packer(
            [self._reopened(kept) for kept in self.packages if kept.draft.closed_by is None],
            [(call, self.log[call.seq]) for _, call in sorted(self.waiting.items())],
            filed=filed,
            bounds=self.bounds,
            now=now,
            tokens=estimate_tokens,
        )
        for event in events:
            packer.add(event, classify(event))
        packer.release_overdue(now - CALL_WAIT)
        plan = packer.finish()
        self._write(plan)
        return plan

    @staticmethod
    def _reopened(kept: Kept) -> DraftPackage:
        # The store forgets what only a pass knows.
        draft = kept.draft
        return replace(
            draft, known=dict(draft.known), urgent=False, added=[], repeated={},
            instants={draft.last_at},
        )  # fmt: skip

    def _filed(self) -> list[FiledEvent]:
        return [
            FiledEvent(
                self.log[seq], fate, reason, self.package_of(seq),
                any(seq in kept.unanswered for kept in self.packages),
            )
            for seq, (fate, reason) in self.fates.items()
            if fate is not Fate.WAITING and (is_call(self.log[seq]) or may_answer(self.log[seq]))
        ]  # fmt: skip

    def _write(self, plan: Plan) -> None:
        for seq in plan.ended:
            del self.waiting[seq]
        for call in plan.waiting:
            assert call.seq not in self.waiting
            self.waiting[call.seq] = call
        for package in plan.packages:
            kept = self._kept(package)
            for draft in package.added:
                assert draft.seq not in kept.events
                kept.events[draft.seq] = draft.count
                kept.first_at[draft.seq] = draft.first_at
                kept.last_at[draft.seq] = draft.last_at
                if draft.unanswered:
                    kept.unanswered.add(draft.seq)
            for seq, draft in package.repeated.items():
                kept.events[seq] += draft.count
                kept.first_at[seq] = min(kept.first_at[seq], draft.first_at)
                kept.last_at[seq] = max(kept.last_at[seq], draft.last_at)
        for note in plan.notes:
            self.fates[note.seq] = (note.fate, note.reason)

    def _kept(self, package: DraftPackage) -> Kept:
        if package.id is None:
            package.id = len(self.packages)
            self.packages.append(Kept(package))
        kept = self.packages[package.id]
        kept.draft = package
        return kept

    def close_by_age(self, now: int) -> None:
        """What the sweeper does with open packages whose time is over."""
        for kept in self.packages:
            if kept.draft.closed_by is None and kept.draft.close_at <= now:
                kept.draft.closed_by = "age"

    @property
    def sizes(self) -> list[int]:
        """Effective events of each package, in order."""
        return [len(kept.events) for kept in self.packages]

    def package_of(self, seq: int) -> int | None:
        """The package that holds an event as itself."""
        return next((n for n, kept in enumerate(self.packages) if seq in kept.events), None)


def event(seq: int, text: str = "", *, role: Role = Role.USER, **more: Any) -> Event:
    """An event; its time is its number unless said."""
    kinds = {Role.USER: "user.message", Role.EXECUTOR: "executor.receipt",
             Role.OBSERVATION: "executor.observation", Role.RUNTIME: "task.state"}  # fmt: skip
    made: dict[str, Any] = {
        "owner": "local",
        "id": f"e{seq}",
        "kind": kinds.get(role, "external.content"),
        "at": NOW + seq,
        "received_at": NOW,
    }
    return Event(role=role, seq=seq, text=text or f"第{seq}件事 item {seq}", **made | more)


def call(seq: int, **more: Any) -> Event:
    """A call that is worth keeping."""
    return event(seq, "提交报销单 submit", role=Role.EXECUTOR, kind="executor.call", **more)


def failure(seq: int, **more: Any) -> Event:
    """A receipt that is worth keeping."""
    return event(seq, f"提交失败 failed {seq}x", role=Role.EXECUTOR, data={"ok": False}, **more)


# ---- bounds ----------------------------------------------------------------


def test_twenty_events_are_a_package() -> None:
    """The 20th event closes a package, the 21st opens another."""
    ledger = Ledger()
    ledger.run(event(n) for n in range(1, 42))
    assert ledger.sizes == [20, 20, 1]
    assert [kept.draft.closed_by for kept in ledger.packages] == ["size", "size", None]


def test_events_join_the_package_that_is_open() -> None:
    """A lane's package goes on from pass to pass until it is full."""
    ledger = Ledger()
    for n in range(1, 21):
        ledger.run([event(n)])
    assert ledger.sizes == [20]
    assert ledger.packages[0].draft.closed_by == "size"


@pytest.mark.parametrize(
    "text", ["报销单要先贴发票再签字" * 30, "the claim needs a receipt first " * 30]
)
def test_tokens_close_a_package(text: str) -> None:
    """A package takes no event that would lead it over its input budget."""
    ledger = Ledger()
    ledger.run(event(n, f"{n} {text}") for n in range(1, 30))
    each = estimate_tokens(f"9 {text}")
    assert all(kept.draft.tokens <= BOUNDS.tokens for kept in ledger.packages)
    assert max(ledger.sizes) in {BOUNDS.tokens // each, BOUNDS.tokens // each - 1}


def test_data_counts_as_input() -> None:
    """An event's data weighs as its text does."""
    heavy = {"rows": ["行" * 100] * 10}
    ledger = Ledger()
    ledger.run(event(n, data=heavy) for n in range(1, 9))
    assert len(ledger.packages) > 1


def test_one_event_over_the_budget_is_a_package_alone() -> None:
    """An event that is too large for any package still goes into one, alone, closed at once."""
    ledger = Ledger()
    ledger.run([event(1), event(2, "长" * 20_000), event(3)])
    assert ledger.sizes == [1, 1, 1]
    assert ledger.packages[1].draft.closed_by == "size"


def test_a_package_is_to_close_thirty_seconds_after_it_opened() -> None:
    """Its age counts from the pass that opened it, not from its newest event."""
    ledger = Ledger()
    ledger.run([event(1)])
    ledger.run([event(2)], now=NOW + 20_000)
    (kept,) = ledger.packages
    assert (kept.draft.opened_at, kept.draft.close_at) == (NOW, NOW + 30_000)


# ---- lanes and priority ----------------------------------------------------

_LANES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a task": ({"task_id": "t", "objects": (ObjectRef("o"),), "stream": "s"}, "task:t", "o"),
    "an object": ({"objects": (ObjectRef("o"), ObjectRef("p")), "stream": "s"}, "object:o", "o"),
    "a stream": ({"stream": "s"}, "stream:s", "@owner"),
    "nothing": ({}, "role:user", "@owner"),
}


@pytest.mark.parametrize(("named", "lane", "subject"), _LANES.values(), ids=_LANES)
def test_a_lane_is_the_nearest_name(named: dict[str, Any], lane: str, subject: str) -> None:
    """A task's events are one lane, else the first object's, else a stream's, else a role's."""
    ledger = Ledger()
    ledger.run([event(1, **named)])
    draft = ledger.packages[0].draft
    assert (draft.lane, draft.object_id, draft.task_id) == (lane, subject, named.get("task_id"))


def test_lanes_do_not_fill_each_other() -> None:
    """Events of two lanes make two packages, each in sequence."""
    ledger = Ledger()
    ledger.run(event(n, stream=f"s{n % 2}") for n in range(1, 31))
    assert ledger.sizes == [15, 15]
    assert [list(kept.events) for kept in ledger.packages] == [
        list(range(1, 31, 2)),
        list(range(2, 31, 2)),
    ]


def test_a_package_is_as_urgent_as_its_most_urgent_event() -> None:
    """Priority orders packages; one urgent event lifts all of its package."""
    ledger = Ledger()
    ledger.run([event(1, priority=Priority.LOW), event(2, priority=Priority.URGENT), event(3)])
    assert ledger.packages[0].draft.priority is Priority.URGENT
    low = Ledger()
    low.run([event(1, priority=Priority.LOW)])
    assert low.packages[0].draft.priority is Priority.LOW


# ---- urgent closings -------------------------------------------------------

_URGENT: dict[str, Callable[[int], Event]] = {
    "a correction in Chinese": lambda n: event(n, "不对，应该用新模板"),
    "a correction in English": lambda n: event(n, "That's wrong, use the new template"),
    "a correction by kind": lambda n: event(n, "新模板", kind="user.correction"),
    "done": lambda n: event(n, "完成", role=Role.RUNTIME, data={"state": "done"}),
    "failed": lambda n: event(n, "", role=Role.RUNTIME, data={"state": "failed"}),
    "cancelled": lambda n: event(n, "", role=Role.RUNTIME, data={"state": "cancelled"}),
    "blocked": lambda n: event(n, "等待验证码", role=Role.RUNTIME, data={"state": "blocked"}),
}


@pytest.mark.parametrize("urgent", _URGENT.values(), ids=_URGENT)
def test_urgent_events_close_their_package(urgent: Callable[[int], Event]) -> None:
    """It closes with the urgent event in it; what follows opens another, ahead of its time."""
    ledger = Ledger()
    named: dict[str, Any] = {"task_id": "t"}
    ledger.run([event(1, **named), replace(urgent(2), **named), event(3, **named)])
    assert ledger.sizes == [2, 1]
    first, second = (kept.draft for kept in ledger.packages)
    assert (first.closed_by, first.priority) == ("urgent", Priority.HIGH)
    assert second.closed_by is None


def test_an_urgent_event_closes_at_the_end_of_its_pass() -> None:
    """Nothing needs to follow."""
    ledger = Ledger()
    ledger.run([event(1), event(2, "不对，应该用新模板")])
    assert ledger.packages[0].draft.closed_by == "urgent"


@pytest.mark.parametrize("state", ["queued", "running"])
def test_progress_is_not_urgent(state: str) -> None:
    """A task that merely runs closes nothing."""
    ledger = Ledger()
    ledger.run([event(1, "开始", role=Role.RUNTIME, data={"state": state})])
    assert [kept.draft.closed_by for kept in ledger.packages] == [None]


# ---- the same instant ------------------------------------------------------


def test_events_of_one_instant_stay_together() -> None:
    """An instant's group goes over 20 together; what is before it goes early, the next begins anew."""
    ledger = Ledger()
    group = [event(n, at=NOW) for n in range(10, 40)]
    before = [event(n, at=NOW - 1) for n in range(1, 10)]
    ledger.run([*before, *group, event(40, at=NOW + 1)])
    assert ledger.sizes == [9, 30, 1]


def test_an_instant_goes_on_in_the_package_that_has_it() -> None:
    """What comes in a later pass joins its instant, also over 20."""
    ledger = Ledger()
    ledger.run([event(n, at=NOW + n) for n in range(1, 16)])
    ledger.run([event(n, at=NOW + 15) for n in range(16, 26)])
    assert ledger.sizes == [25]


@pytest.mark.parametrize(
    "text", ["报销单要先贴发票再签字" * 40, "the claim needs a receipt first " * 40]
)
def test_an_instant_obeys_the_input_budget(text: str) -> None:
    """200 long events of one instant are no package: a model's input has a hard limit (H5)."""
    ledger = Ledger()
    ledger.run(event(n, f"{n} {text}", at=NOW) for n in range(1, 101))
    assert len(ledger.packages) > 1
    assert all(kept.draft.tokens <= BOUNDS.tokens for kept in ledger.packages)
    assert sum(ledger.sizes) == 100


def test_an_instant_begins_a_package_rather_than_being_parted() -> None:
    """With room for half of it, the package closes early and the instant goes whole (G3)."""
    ledger = Ledger()
    long = "一" * 800
    before = [event(n, long, at=NOW + n) for n in range(1, 4)]
    group = [event(n, long, at=NOW + 9) for n in range(4, 7)]
    ledger.run([*before, *group])
    assert ledger.sizes == [3, 3]


@pytest.mark.parametrize("size", [1, 3, 5, 6])
def test_a_pass_parts_no_instant(size: int) -> None:
    """A pass goes on behind its bound for the rest of the instants that it has begun, lane by lane."""
    named: dict[str, Any] = {"stream": "a"}
    other: dict[str, Any] = {"stream": "b"}
    events = [
        event(1, at=NOW, **named), event(2, at=NOW + 1, **other), event(3, at=NOW, **named),
        event(4, at=NOW + 1, **other), event(5, at=NOW + 2, **named), event(6, at=NOW + 2, **other),
    ]  # fmt: skip
    assert whole(events, size) == {1: 4, 3: 4, 5: 5, 6: 6}[size]
    assert whole(events[:1], 1) == 1
    assert whole([], 5) == 0


def test_an_instants_group_has_an_end() -> None:
    """Not even events of one instant make a package of more than 200."""
    ledger = Ledger()
    ledger.run(event(n, at=NOW) for n in range(1, 451))
    assert ledger.sizes == [200, 200, 50]


def test_an_instant_is_not_parted_by_an_urgent_event() -> None:
    """What happened at the same moment as a correction goes with it."""
    ledger = Ledger()
    ledger.run([event(1, "不对，应该用新模板", at=NOW), event(2, at=NOW), event(3, at=NOW + 1)])
    assert ledger.sizes == [2, 1]


def test_an_instant_is_not_parted_by_a_pair() -> None:
    """A result that came at the instant of the last event stays with it, and so does its call."""
    ledger = Ledger()
    named: dict[str, Any] = {"task_id": "t"}
    ledger.run(
        [
            call(1, at=NOW, request_id="q", **named),
            *[event(n, at=NOW + n, **named) for n in range(2, 22)],
            failure(22, at=NOW + 21, request_id="q", **named),
        ]
    )
    assert ledger.sizes == [19, 3]


# ---- calls and results -----------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({"request_id": "q"}, {"request_id": "q"}),
        ({}, {"causes": ("e1",)}),
        ({"request_id": "q"}, {"causes": ("x", "e1")}),
        ({"request_id": "q"}, {"request_id": "other", "causes": ("e1",)}),
    ],
    ids=["request", "cause", "one of several causes", "cause before request"],
)
@pytest.mark.parametrize("apart", [False, True], ids=["one pass", "two passes"])
def test_a_result_finds_its_call(asked: Any, answer: Any, *, apart: bool) -> None:
    """By a shared request id or by its causes a result is joined to its call, in any pass."""
    ledger = Ledger()
    passes = [[call(1, **asked)], [failure(2, **answer)]]
    for events in passes if apart else [[one for some in passes for one in some]]:
        ledger.run(events)
    assert ledger.sizes == [2]
    assert not ledger.waiting
    assert {ledger.fates[seq][0] for seq in (1, 2)} == {Fate.PACKAGED}


def test_a_named_cause_counts_before_a_shared_request() -> None:
    """Of two waiting calls of one request the result belongs to the one that it names."""
    ledger = Ledger()
    ledger.run(
        [
            call(1, request_id="q"),
            call(2, request_id="q"),
            failure(3, request_id="q", causes=("e2",)),
        ]
    )
    assert list(ledger.waiting) == [1]
    assert ledger.package_of(2) == ledger.package_of(3)


def test_a_call_waits_outside_of_packages() -> None:
    """A call counts in no package while it waits, and events go on past it."""
    ledger = Ledger()
    ledger.run([call(1, request_id="q"), *[event(n) for n in range(2, 42)]])
    assert ledger.sizes == [20, 20]
    assert list(ledger.waiting) == [1]
    assert ledger.fates[1] == (Fate.WAITING, "call_without_result")


def test_a_pair_goes_into_the_calls_lane() -> None:
    """A result that names no task still goes where its call belongs."""
    ledger = Ledger()
    ledger.run([call(1, request_id="q", task_id="t"), failure(2, request_id="q")])
    assert [kept.draft.lane for kept in ledger.packages] == ["task:t"]


def test_a_pair_that_does_not_fit_closes_the_package_early() -> None:
    """With room for one, both go into the next package."""
    ledger = Ledger()
    named: dict[str, Any] = {"task_id": "t"}
    ledger.run(
        [
            call(1, request_id="q", **named),
            *[event(n, **named) for n in range(2, 21)],
            failure(21, request_id="q", **named),
        ]
    )
    assert ledger.sizes == [19, 2]


def test_another_requests_result_is_not_taken() -> None:
    """Two calls under way each get their own result."""
    ledger = Ledger()
    ledger.run([call(1, request_id="a"), call(2, request_id="b"), failure(3, request_id="b")])
    assert list(ledger.waiting) == [1]
    assert ledger.package_of(2) == ledger.package_of(3)


@pytest.mark.parametrize("role", [Role.USER, Role.SUPERVISOR, Role.EXTERNAL, Role.RUNTIME])
def test_only_who_acts_can_answer_a_call(role: Role) -> None:
    """What a user or a page says under a call's request id is not its result."""
    ledger = Ledger()
    ledger.run([call(1, request_id="q"), event(2, role=role, request_id="q", kind="user.message")])
    assert list(ledger.waiting) == [1]


def test_an_ordinary_pair_is_audit() -> None:
    """A click and its receipt both go to audit, however they come."""
    ledger = Ledger()
    click = event(1, "点击", role=Role.EXECUTOR, kind="executor.call", request_id="q")
    done = event(2, "", role=Role.EXECUTOR, data={"ok": True, "action": "click"}, request_id="q")
    ledger.run([click])
    ledger.run([done])
    assert ledger.packages == []
    assert {ledger.fates[seq][0] for seq in (1, 2)} == {Fate.AUDIT}
    assert not ledger.waiting


def test_a_call_is_given_up_after_fifteen_minutes() -> None:
    """It then goes to a package marked unanswered, which closes at once; a click goes to audit."""
    ledger = Ledger()
    click = event(2, "点击", role=Role.EXECUTOR, kind="executor.call", request_id="c")
    ledger.run([call(1, request_id="q"), click])
    ledger.run([], now=NOW + CALL_WAIT - 1)
    assert len(ledger.waiting) == 2
    ledger.run([], now=NOW + CALL_WAIT)
    (kept,) = ledger.packages
    assert (list(kept.events), kept.unanswered, kept.draft.closed_by) == ([1], {1}, "unanswered")
    assert ledger.fates[2][0] is Fate.AUDIT
    assert not ledger.waiting


@pytest.mark.parametrize(
    "answer", [{"request_id": "q"}, {"causes": ("e1",)}], ids=["request", "cause"]
)
def test_a_result_that_comes_too_late_follows_its_call(answer: Any) -> None:
    """Its call was given up: it goes into the call's lane and is marked late (A5)."""
    ledger = Ledger()
    ledger.run([call(1, request_id="q", task_id="t")])
    ledger.run([], now=NOW + CALL_WAIT)
    ledger.run([failure(2, **answer)], now=NOW + CALL_WAIT + 1)
    assert ledger.sizes == [1, 1]
    assert ledger.fates[2] == (Fate.PACKAGED, "late_result")
    assert [kept.draft.lane for kept in ledger.packages] == ["task:t", "task:t"]


def test_a_late_result_reaches_no_other_task() -> None:
    """A result that names a task stays with that task, whatever call it names (A5)."""
    ledger = Ledger()
    ledger.run([call(1, request_id="q", task_id="t")])
    ledger.run([], now=NOW + CALL_WAIT)
    ledger.run([failure(2, request_id="q", task_id="u")], now=NOW + CALL_WAIT + 1)
    assert [kept.draft.lane for kept in ledger.packages] == ["task:t", "task:u"]


def test_a_further_result_follows_its_call() -> None:
    """A call's second result goes beside it, and is late for nothing."""
    ledger = Ledger()
    ledger.run([call(1, request_id="q", task_id="t"), failure(2, request_id="q")])
    ledger.run(
        [event(3, "权限不足 denied", role=Role.EXECUTOR, data={"ok": False}, request_id="q")]
    )
    assert ledger.sizes == [3]
    assert ledger.fates[3] == (Fate.PACKAGED, "error")


_LATE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "by its request": ({"request_id": "q"}, {"request_id": "q"}),
    "by its cause": ({}, {"causes": ("e2",)}),
}


@pytest.mark.parametrize(("asked", "answer"), _LATE.values(), ids=_LATE)
@pytest.mark.parametrize("apart", [False, True], ids=["one pass", "two passes"])
def test_a_call_behind_its_result_joins_it(asked: Any, answer: Any, *, apart: bool) -> None:
    """Its result is there: it waits for nothing, and goes where the result is while that is open."""
    ledger = Ledger()
    first, second = failure(1, at=NOW + 9, **answer), call(2, at=NOW + 1, task_id="t", **asked)
    for events in [[first], [second]] if apart else [[first, second]]:
        ledger.run(events)
    assert ledger.sizes == [2]
    assert not ledger.waiting
    assert ledger.fates[2] == (Fate.PACKAGED, "call")


@pytest.mark.parametrize(("asked", "answer"), _LATE.values(), ids=_LATE)
def test_a_call_behind_a_closed_result_goes_without_waiting(asked: Any, answer: Any) -> None:
    """Where its result has gone already, a call is told of in its own lane, and marked late."""
    ledger = Ledger()
    ledger.run([failure(1, at=NOW + 9, **answer)])
    ledger.close_by_age(NOW + 30_000)
    ledger.run([call(2, at=NOW + 1, task_id="t", **asked)], now=NOW + 40_000)
    assert [list(kept.events) for kept in ledger.packages] == [[1], [2]]
    assert ledger.fates[2] == (Fate.PACKAGED, "late_call")
    assert ledger.packages[1].unanswered == set()
    assert not ledger.waiting


def test_a_full_package_takes_no_late_call() -> None:
    """A result's package that has its 20 takes no more: the bound holds for a call, too."""
    ledger = Ledger()
    named: dict[str, Any] = {"task_id": "t"}
    before = [event(n, at=NOW + n, **named) for n in range(1, 20)]
    ledger.run([*before, failure(20, at=NOW + 90, request_id="q", **named)])
    ledger.run([call(21, at=NOW + 21, request_id="q", **named)])
    assert ledger.sizes == [20, 1]
    assert ledger.fates[21] == (Fate.PACKAGED, "late_call")


@pytest.mark.parametrize("apart", [False, True], ids=["one pass", "two passes"])
def test_the_call_of_an_ordinary_receipt_goes_to_audit_behind_it(*, apart: bool) -> None:
    """A click is no memory in whatever order it and its receipt come (C1)."""
    ledger = Ledger()
    done = event(1, "", role=Role.EXECUTOR, data={"ok": True, "action": "click"}, request_id="q")
    click = event(2, "点击", role=Role.EXECUTOR, kind="executor.call", at=NOW, request_id="q")
    for events in [[done], [click]] if apart else [[done, click]]:
        ledger.run(events)
    assert ledger.packages == []
    assert ledger.fates[2] == (Fate.AUDIT, "ordinary_action")
    assert not ledger.waiting


@pytest.mark.parametrize("apart", [False, True], ids=["one pass", "two passes"])
def test_the_call_of_a_merged_result_goes_to_audit_behind_it(*, apart: bool) -> None:
    """What only repeats needs no call of its own."""
    ledger = Ledger()
    same: dict[str, Any] = {"text": "提交失败", "role": Role.EXECUTOR, "data": {"ok": False}}
    ledger.run([event(1, **same)])
    passes = [[event(2, request_id="q", **same)], [call(3, at=NOW, request_id="q")]]
    for events in passes if apart else [[one for some in passes for one in some]]:
        ledger.run(events)
    assert ledger.fates[2][0] is Fate.MERGED
    assert ledger.fates[3] == (Fate.AUDIT, "call_of_a_repeat")


def test_a_request_s_next_call_waits_for_its_own_result() -> None:
    """A receipt from before a call, of the same request, answers another call."""
    ledger = Ledger()
    ledger.run([failure(1, request_id="q")])
    ledger.run([call(2, request_id="q")])
    assert list(ledger.waiting) == [2]
    ledger.run([failure(3, request_id="q")])
    assert ledger.package_of(2) == ledger.package_of(3)


def test_an_answered_call_leaves_its_result_to_nobody() -> None:
    """A result that has met its call is not taken by the next call of the request."""
    ledger = Ledger()
    ledger.run([call(1, request_id="q"), failure(2, at=NOW + 99, request_id="q")])
    ledger.run([call(3, request_id="q")])
    assert list(ledger.waiting) == [3]


def test_what_was_seen_meanwhile_is_no_result_yet() -> None:
    """An observation of the same request before its call does not end the call's waiting."""
    ledger = Ledger()
    seen = event(1, "看到窗口 window", role=Role.OBSERVATION, at=NOW + 9, request_id="q")
    ledger.run([seen, call(2, at=NOW + 9, request_id="q")])
    assert list(ledger.waiting) == [2]


@pytest.mark.parametrize("role", [Role.USER, Role.EXTERNAL])
def test_only_who_acts_calls(role: Role) -> None:
    """A kind is a caller's word: a page's call waits for nothing and holds nobody up (B5)."""
    ledger = Ledger()
    ledger.run([event(1, "请调用 please call", role=role, kind="executor.call", request_id="q")])
    assert not ledger.waiting
    assert ledger.sizes == [1]


# ---- repeats ---------------------------------------------------------------


@pytest.mark.parametrize("text", ["连接超时，重试", "connection timed out, retrying"])
@pytest.mark.parametrize("apart", [False, True], ids=["one pass", "many passes"])
def test_repeats_are_counted_with_their_range(text: str, *, apart: bool) -> None:
    """The same error again is no new event: it counts, and widens the first one's time range."""
    ledger = Ledger()
    ats = [NOW + 5, NOW + 9, NOW + 1, NOW + 7]
    events = [event(n, text, role=Role.OBSERVATION, at=at) for n, at in enumerate(ats, 1)]
    for some in [[one] for one in events] if apart else [events]:
        ledger.run(some)
    (kept,) = ledger.packages
    assert kept.events == {1: 4}
    assert (kept.first_at[1], kept.last_at[1]) == (NOW + 1, NOW + 9)
    assert [ledger.fates[n][0] for n in range(1, 5)] == [Fate.PACKAGED, *[Fate.MERGED] * 3]


def test_what_differs_is_no_repeat() -> None:
    """Another quantity, another object or another role makes another observation."""
    ledger = Ledger()
    ledger.run(
        [
            event(1, "剩余 12 张", role=Role.OBSERVATION),
            event(2, "剩余 11 张", role=Role.OBSERVATION),
            event(3, "剩余 12 张", role=Role.OBSERVATION, objects=(ObjectRef("o"),)),
        ]
    )
    assert {ledger.fates[n][0] for n in (1, 2, 3)} == {Fate.PACKAGED}


def test_what_people_say_is_never_merged() -> None:
    """A user who says a thing twice is heard twice."""
    ledger = Ledger()
    ledger.run([event(1, "快点"), event(2, "快点")])
    assert ledger.sizes == [2]


def test_a_repeat_of_a_closed_package_begins_anew() -> None:
    """What is under way is not changed any more."""
    ledger = Ledger()
    ledger.run([event(1, "连接超时", role=Role.OBSERVATION)])
    ledger.close_by_age(NOW + 30_000)
    ledger.run([event(2, "连接超时", role=Role.OBSERVATION)], now=NOW + 30_000)
    assert [kept.events for kept in ledger.packages] == [{1: 1}, {2: 1}]


@pytest.mark.parametrize("text", ["文件已保存", "file saved"])
def test_repeated_success_goes_to_audit(text: str) -> None:
    """The first receipt of a success is kept, the same again is not counted but audited."""
    ledger = Ledger()
    ledger.run(event(n, text, role=Role.EXECUTOR, data={"ok": True}) for n in (1, 2, 3))
    (kept,) = ledger.packages
    assert kept.events == {1: 1}
    assert ledger.fates[3] == (Fate.AUDIT, "repeated_success")


def test_the_call_of_a_repeat_goes_to_audit() -> None:
    """When a result only repeats, its call adds nothing."""
    ledger = Ledger()
    same: dict[str, Any] = {
        "text": "提交失败",
        "role": Role.EXECUTOR,
        "data": {"ok": False},
        "task_id": "t",
    }
    ledger.run(
        [
            call(1, request_id="a", task_id="t"),
            event(2, request_id="a", **same),
            call(3, request_id="b", task_id="t"),
            event(4, request_id="b", **same),
        ]
    )
    (kept,) = ledger.packages
    assert kept.events == {1: 1, 2: 2}
    assert ledger.fates[3] == (Fate.AUDIT, "call_of_a_repeat")


# ---- splitting -------------------------------------------------------------

_CUTS: dict[str, tuple[list[Event], int | None]] = {
    "in the middle": ([event(n) for n in range(1, 7)], 3),
    "of two": ([event(1), event(2)], 1),
    "one alone": ([event(1)], None),
    "beside an instant": ([event(1), *[event(n, at=NOW) for n in range(2, 7)]], 1),
    "an instant": ([event(n, at=NOW) for n in range(1, 7)], None),
    "a pair": ([call(1, request_id="q"), failure(2, request_id="q")], None),
    "a pair by its cause": ([call(1), failure(2, causes=("e1",))], None),
    "behind a pair": ([call(1, request_id="q"), failure(2, request_id="q"), event(3)], 2),
    "a pair around": ([call(1, request_id="q"), event(2), failure(3, request_id="q")], None),
}


@pytest.mark.parametrize(("events", "place"), _CUTS.values(), ids=_CUTS)
def test_a_package_is_cut_where_nothing_is_parted(events: list[Event], place: int | None) -> None:
    """A split goes nearest to the middle, but through no pair and no instant."""
    assert split_at(events) == place


# ---- whatever comes --------------------------------------------------------

_OBJECTS = st.sampled_from([(), (ObjectRef("o"),), (ObjectRef("p"),)])
_TASKS = st.sampled_from([None, "t", "u"])
_REQUESTS = st.sampled_from(["q1", "q2", "q3"])


@st.composite
def _event(draw: st.DrawFn) -> dict[str, Any]:
    what = draw(st.sampled_from(sorted(_MAKE)))
    made: dict[str, Any] = {"what": what, "objects": draw(_OBJECTS), "task_id": draw(_TASKS)}
    if what in {"call", "result", "click"}:
        made["request_id"] = draw(_REQUESTS)
    if what in {"seen", "said"}:
        made["n"] = draw(st.integers(0, 3))
    made["step"] = draw(st.sampled_from([0, 0, 1, 7]))
    return made


_WORDS = ["你好", "不对，用新的", "hello", "x"]

_MAKE: dict[str, Callable[..., Event]] = {
    "call": lambda seq, _, **more: call(seq, **more),
    "result": lambda seq, _, **more: failure(seq, **more),
    "click": lambda seq, _, **more: event(
        seq, "点击", role=Role.EXECUTOR, kind="executor.call", **more
    ),
    "seen": lambda seq, n, **more: event(
        seq, f"看到窗口{'甲乙丙丁'[n]}", role=Role.OBSERVATION, **more
    ),
    "state": lambda seq, _, **more: event(
        seq, role=Role.RUNTIME, data={"state": "blocked"}, **more
    ),
    "long": lambda seq, _, **more: event(seq, "长" * 1_500, **more),
    "said": lambda seq, n, **more: event(seq, _WORDS[n], **more),
}


def _made(draft: dict[str, Any], seq: int, at: int) -> Event:
    more = {name: value for name, value in draft.items() if name not in {"step", "what", "n"}}
    return _MAKE[draft["what"]](seq, draft.get("n", 0), at=at, **more)


@st.composite
def _sequences(draw: st.DrawFn) -> tuple[list[Event], list[int]]:
    drafts = draw(st.lists(_event(), min_size=1, max_size=70))
    at = NOW
    events = []
    for seq, draft in enumerate(drafts, 1):
        at += draft["step"]
        events.append(_made(draft, seq, at))
    cuts = draw(st.lists(st.integers(1, len(events)), max_size=6))
    return events, sorted({*cuts, len(events)})


def _passes(events: Sequence[Event], cuts: Sequence[int]) -> Ledger:
    ledger = Ledger(Bounds(events=5, tokens=6_000))
    start = 0
    for cut in cuts:
        ledger.run(events[start:cut])
        start = cut
    return ledger


@given(_sequences())
@settings(max_examples=150, deadline=None)
def test_every_event_has_one_fate_and_bounds_hold(case: tuple[list[Event], list[int]]) -> None:
    """However events are cut into passes: one fate each, pairs whole, packages bounded."""
    events, cuts = case
    ledger = _passes(events, cuts)

    assert ledger.fates.keys() == {one.seq for one in events}
    held = [seq for kept in ledger.packages for seq in kept.events]
    assert len(held) == len(set(held))
    packaged = {seq for seq, (fate, _) in ledger.fates.items() if fate is Fate.PACKAGED}
    assert set(held) == packaged
    merged = sum(1 for fate, _ in ledger.fates.values() if fate is Fate.MERGED)
    counted = sum(count - 1 for kept in ledger.packages for count in kept.events.values())
    assert counted == merged
    assert {seq for seq, (fate, _) in ledger.fates.items() if fate is Fate.WAITING} == set(
        ledger.waiting
    )
    for kept in ledger.packages:
        _check_bounds(ledger, kept)


def _check_bounds(ledger: Ledger, kept: Kept) -> None:
    draft = kept.draft
    events = [ledger.log[seq] for seq in kept.events]
    assert draft.events == len(events)
    assert (draft.first_seq, draft.last_seq) == (min(kept.events), max(kept.events))
    assert len(events) <= INSTANT_EVENTS
    unit = 2 if any(map(is_call, events)) else 1
    assert draft.tokens <= ledger.bounds.tokens or len(events) <= unit
    for n, one in enumerate(events):
        if n >= ledger.bounds.events:
            # Only an instant's group, with the calls that belong to it, leads over the bound.
            before = {other.at for other in events[:n]}
            pair = [
                other for other in events if one.request_id and other.request_id == one.request_id
            ]
            assert any(member.at in before for member in [one, *pair])


@given(_sequences())
@settings(max_examples=150, deadline=None)
def test_no_call_is_parted_from_its_result(case: tuple[list[Event], list[int]]) -> None:
    """Where both were received, a call and the result that ended its waiting share one package."""
    events, cuts = case
    ledger = _passes(events, cuts)
    for asked in events:
        if ledger.fates[asked.seq] != (Fate.PACKAGED, "call"):
            continue
        package = ledger.package_of(asked.seq)
        assert package is not None
        beside = [ledger.log[seq] for seq in ledger.packages[package].events]
        assert any(may_answer(other) and other.request_id == asked.request_id for other in beside)


@given(_sequences())
@settings(max_examples=150, deadline=None)
def test_what_is_audit_waiting_or_kept_does_not_depend_on_passes(
    case: tuple[list[Event], list[int]],
) -> None:
    """Passes may close packages at other places, but never decide what is kept at all.

    Which of two equal observations is the first and which the repeat may differ, since a package
    that closed with its pass takes no more of them; what people said, audit and waiting may not.
    """
    events, cuts = case
    whole, parted = _passes(events, [len(events)]), _passes(events, cuts)
    mergeable = {one.seq for one in events if classify(one).signature is not None}
    paired = {one.seq for one in events if one.kind == "executor.call"}
    for seq in whole.fates.keys() - mergeable - paired:
        assert whole.fates[seq] == parted.fates[seq]
    assert whole.waiting.keys() == parted.waiting.keys()
    for seq in mergeable:
        kept = {Fate.PACKAGED, Fate.MERGED}
        assert (whole.fates[seq][0] in kept) == (parted.fates[seq][0] in kept)


@given(_sequences(), st.integers(1, 12))
@settings(max_examples=150, deadline=None)
def test_no_instant_is_parted(case: tuple[list[Event], list[int]], size: int) -> None:
    """Passes of any size, cut as the filter cuts them: neighbours of a lane and moment share a package."""
    events = [one for one in case[0] if not is_call(one) and not one.text.startswith("长")]
    ledger = Ledger(Bounds(events=5, tokens=6_000))
    rest = events
    while rest:
        taken = whole(rest, size)
        ledger.run(rest[:taken])
        rest = rest[taken:]
    lanes: dict[str, list[Event]] = {}
    for one in events:
        if ledger.fates[one.seq][0] is Fate.PACKAGED:
            lanes.setdefault(one.lane, []).append(one)
    for members in lanes.values():
        for one, other in pairwise(members):
            if one.at == other.at:
                assert ledger.package_of(one.seq) == ledger.package_of(other.seq)


@given(_sequences())
@settings(max_examples=100, deadline=None)
def test_a_cut_parts_nothing_that_belongs_together(case: tuple[list[Event], list[int]]) -> None:
    """Wherever a package is cut, both halves have events and no result names a call before it."""
    events, _ = case
    place = split_at(events)
    if place is None:
        return
    before, after = events[:place], events[place:]
    assert before
    assert after
    assert before[-1].at != after[0].at
    assert not {one.request_id for one in before} & {one.request_id for one in after} - {None}
