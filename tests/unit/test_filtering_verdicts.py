"""What the filter says of an event in full: reason, signature, haste, and what a repeat becomes."""

from typing import Any

import pytest

from pipeline.rules.filtering import Classification, classify, effective, ordinary_action
from storage.records.events import Role
from tests.observer_support import Said, event_of

pytestmark = pytest.mark.unit


def did(text: str, kind: str = "executor.receipt", **data: Any) -> Said:
    """Something that an executor reports."""
    return Said(text, Role.EXECUTOR, kind, data=data or None)


def state(name: str, text: str = "") -> Said:
    """A change of a task's state."""
    return Said(text, Role.RUNTIME, "task.state", {"state": name})


def verdict(said: Said, number: int = 0) -> Classification:
    """What the filter says of it."""
    return classify(event_of(said, number=number))


_KEPT: dict[str, tuple[Said, str, bool]] = {
    "a correction by kind": (Said("用旧模板", kind="user.correction"), "user", True),
    "a correction by its words": (Said("不对，用旧模板"), "user", True),
    "a user's message": (Said("用旧模板"), "user", False),
    "a user's state": (Said("完成了", Role.USER, "task.state", {"state": "done"}), "user", False),
    "a user's data alone": (Said("", data={"选择": "甲"}), "user", False),
    "blocked": (state("blocked", "等审批"), "task_blocked", True),
    "done": (state("done"), "task_done", True),
    "failed": (state("failed", "it broke"), "task_failed", True),
    "cancelled": (state("cancelled"), "task_cancelled", True),
    "a supervisor": (Said("I'll do it", Role.SUPERVISOR, "supervisor.reply"), "supervisor", False),
    "a supervisor's receipt": (Said("已点击", Role.SUPERVISOR, "executor.receipt"), "supervisor", False),
    "a call": (did("提交报销单", "executor.call", action="submit_claim"), "call", False),
    "a call in words": (did("submit the claim", "executor.call"), "call", False),
    "an artifact": (did("报告 v1", "executor.artifact"), "artifact", False),
    "an artifact called error": (did("error report v1", "executor.artifact"), "artifact", False),
    "a schedule": (Said("到点了", Role.SCHEDULE, "schedule.due"), "schedule", False),
}  # fmt: skip


@pytest.mark.parametrize(("said", "reason", "urgent"), _KEPT.values(), ids=_KEPT)
def test_what_is_kept_alone_has_no_signature(said: Said, reason: str, *, urgent: bool) -> None:
    """What people say, calls, artifacts and final states are each themselves, however alike (C1, C2)."""
    assert verdict(said) == Classification(audit=False, reason=reason, urgent=urgent)


_AUDIT: dict[str, tuple[Said, str]] = {
    "nothing": (Said(" \n"), "empty"),
    "nothing, with empty data": (Said("", Role.EXECUTOR, "executor.receipt", {}), "empty"),
    "the words of an edited document": (Said("用新模板", kind="record.edit"), "record_edit"),
    "queued": (state("queued"), "task_progress"),
    "running": (state("running", "  "), "task_progress"),
    "a click to come": (did("x", "executor.call", action="click"), "ordinary_action"),
    "a click's receipt": (did("成功点击", ok=True), "ordinary_action"),
    "no change": (did(" 页面无变化。 ", "executor.observation"), "no_change"),
    "no change in English": (did("the screen is unchanged", "executor.observation"), "no_change"),
}


@pytest.mark.parametrize(("said", "reason"), _AUDIT.values(), ids=_AUDIT)
def test_what_goes_to_audit_says_why(said: Said, reason: str) -> None:
    """The reason is stable: it is what a trace shows for ever (C1)."""
    assert verdict(said) == Classification(audit=True, reason=reason)
    assert not effective(event_of(said))


_MERGED: dict[str, tuple[Said, str, bool]] = {
    "a page": (Said("任何文字", Role.EXTERNAL, "external.content"), "external", False),
    "an empty page": (Said("", Role.EXTERNAL, "external.content"), "external", False),
    "a page that claims a state": (
        Said("", Role.EXTERNAL, "task.state", {"state": "done"}), "external", False,
    ),
    "queued, with words": (state("queued", "排第三"), "task_state", False),
    "running, with words": (state("running", "half done"), "task_state", False),
    "any other state": (state("paused"), "task_state", False),
    "a state without a name": (Said("停了", Role.RUNTIME, "task.state"), "task_state", False),
    "a receipt that failed": (did("提交", ok=False), "error", False),
    "a receipt that tells of an error": (did("提交时报错"), "error", False),
    "the same in English": (did("could not: permission denied"), "error", False),
    "a click that failed": (did("已点击「保存」", ok=False, action="click"), "error", False),
    "a receipt": (did("提交成功", ok=True), "receipt", True),
    "a receipt that counts no errors": (did("0 errors, no failures: 没有错误", ok=True), "receipt", True),
    "an observation": (did("页面有三行", "executor.observation"), "observation", False),
    "an observed error": (did("页面报错", "executor.observation"), "error", False),
    "an observed error in English": (did("request timed out", "executor.observation"), "error", False),
    "an unknown kind": (did("看到窗口", "executor.other"), "observation", False),
    "a report": (did("一半完成", "pi.report"), "report", False),
    "a report of an error": (did("upload failed", "pi.report"), "report", False),
    "a check": (did("状态为待审", "verification.result"), "verification", False),
}  # fmt: skip


@pytest.mark.parametrize(("said", "reason", "repeat_audit"), _MERGED.values(), ids=_MERGED)
def test_what_may_repeat_has_a_signature(said: Said, reason: str, *, repeat_audit: bool) -> None:
    """Only a success is worth nothing the second time; all others are counted (C1)."""
    found = verdict(said)
    assert found == Classification(
        audit=False, reason=reason, signature=found.signature, repeat_audit=repeat_audit
    )
    assert found.signature == verdict(said, number=5).signature
    assert found.signature is not None


# ---- what makes a repeat ---------------------------------------------------------


_NUMBERS = [
    ("有 3 条提醒", "有 4 条提醒"),
    ("3 alerts on this page", "4 alerts on this page"),
]


@pytest.mark.parametrize(("first", "second"), _NUMBERS)
@pytest.mark.parametrize(
    ("kind", "data", "same"),
    [
        ("executor.observation", {}, False),
        ("pi.report", {}, False),
        ("verification.result", {"passed": True}, False),
        ("executor.receipt", {"ok": False}, True),
        ("executor.receipt", {"ok": True}, True),
    ],
)
def test_figures_count_in_what_was_seen_and_not_in_what_was_done(
    first: str, second: str, kind: str, data: dict[str, Any], *, same: bool
) -> None:
    """A changed number on a screen is news; in an error or a receipt it is the next try's (C1)."""
    assert (verdict(did(first, kind, **data)).signature == verdict(did(second, kind, **data)).signature) is same  # fmt: skip


@pytest.mark.parametrize("role", [Role.EXTERNAL, Role.OBSERVATION])
@pytest.mark.parametrize(("first", "second"), _NUMBERS)
def test_figures_count_in_pages_too(first: str, second: str, role: Role) -> None:
    """What a page or a screen shows is told by its figures."""
    one, two = (Said(text, role, "external.content") for text in (first, second))
    assert verdict(one).signature != verdict(two).signature


@pytest.mark.parametrize(("first", "second"), [("排第 3", "排第 4"), ("3 in line", "4 in line")])
def test_figures_of_a_state_are_progress(first: str, second: str) -> None:
    """A task that moves up in a queue is still queued."""
    assert verdict(state("queued", first)).signature == verdict(state("queued", second)).signature


_SEEN = did(
    "看到窗口 window", "executor.observation", action="look", ok=True, passed=True, state="s"
)
_OTHERWISE: dict[str, Said] = {
    "another kind": did("看到窗口 window", "executor.other", action="look", ok=True, passed=True, state="s"),
    "another role": Said("看到窗口 window", Role.OBSERVATION, "executor.observation", _SEEN.data),
    "another object": Said("看到窗口 window", Role.EXECUTOR, "executor.observation", _SEEN.data, objects=()),
    "another action": did("看到窗口 window", "executor.observation", action="x", ok=True, passed=True, state="s"),
    "another outcome": did("看到窗口 window", "executor.observation", action="look", ok=None, passed=True, state="s"),
    "another result": did("看到窗口 window", "executor.observation", action="look", ok=True, passed=False, state="s"),
    "another state": did("看到窗口 window", "executor.observation", action="look", ok=True, passed=True, state="t"),
    "other words": did("看到弹窗 popup", "executor.observation", action="look", ok=True, passed=True, state="s"),
}  # fmt: skip


@pytest.mark.parametrize("said", _OTHERWISE.values(), ids=_OTHERWISE)
def test_each_of_these_tells_two_events_apart(said: Said) -> None:
    """Who, about what, what was done, how it ended, and what was said (C1)."""
    assert verdict(said).signature != verdict(_SEEN).signature


@pytest.mark.parametrize("name", ["action", "state"])
@pytest.mark.parametrize(("one", "two"), [("第 3 次重试", "第 4 次重试"), ("retry 3", "retry 4")])
def test_named_facts_count_as_they_stand(name: str, one: str, two: str) -> None:
    """An action and a state are names: no part of one is masked."""
    first, second = (did("看到", "executor.observation", **{name: each}) for each in (one, two))
    assert verdict(first).signature != verdict(second).signature


_SAME: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "spaces and case": ("Window  Open\n", {}, "window open", {}),
    "the order of names": ("窗口", {"甲": 1, "b": 2}, "窗口", {"b": 2, "甲": 1}),
    "a span in Chinese data": ("", {"说明": "耗时 12 毫秒"}, "", {"说明": "耗时 980 毫秒"}),
    "a span in English data": ("", {"note": "took 1.2s"}, "", {"note": "took 3.4s"}),
    "a place at any depth": ("a", {"n": [{"甲": [{"X": 1, "乙": 2}]}]}, "a", {"n": [{"甲": [{"X": 9, "乙": 2}]}]}),
    "a volatile name in any case": ("a", {"TimeStamp": 1, "b": 1}, "a", {"TimeStamp": 2, "b": 1}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "data", "other", "others"), _SAME.values(), ids=_SAME)
def test_what_differs_at_each_look_is_left_out_of_data_too(
    text: str, data: dict[str, Any], other: str, others: dict[str, Any]
) -> None:
    """The same sight is the same however its data is ordered, timed and placed (C1)."""
    one, two = (
        did(text, "executor.observation", **data),
        did(other, "executor.observation", **others),
    )
    assert verdict(one).signature == verdict(two).signature


_DIFFERENT: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "what a name holds": ("a", {"甲": "b"}, "a", {"甲": "c"}),
    "under which name": ("a", {"甲": "b"}, "a", {"乙": "b"}),
    "text or data": ("甲", {}, "", {"x": "甲"}),
    "something volatile inside": ("a", {"甲": {"n": 1, "x": 1}}, "a", {"甲": {"n": 2, "x": 1}}),
    "a list's order": ("a", {"行": ["甲", "乙"]}, "a", {"行": ["乙", "甲"]}),
}


@pytest.mark.parametrize(("text", "data", "other", "others"), _DIFFERENT.values(), ids=_DIFFERENT)
def test_what_data_says_is_part_of_the_sight(
    text: str, data: dict[str, Any], other: str, others: dict[str, Any]
) -> None:
    """A changed value must reach memory, at whatever depth it stands (C1)."""
    one, two = (
        did(text, "executor.observation", **data),
        did(other, "executor.observation", **others),
    )
    assert verdict(one).signature != verdict(two).signature


@pytest.mark.parametrize(
    ("kept", "other"),
    [
        ("上传 BX-2024-001", "上传 BX-2024-002"),
        ("HTTP 404", "HTTP 503"),
        ("状态码：1", "状态码：2"),
    ],
)
def test_ids_and_codes_tell_errors_apart(kept: str, other: str) -> None:
    """Of an error's figures those stay that say which error it is; the rest of the text may move."""
    one, two = (did(f"{text} 失败, line {n}", ok=False) for n, text in enumerate((kept, other)))
    again = did(f"{kept} 失败, line 77", ok=False)
    assert verdict(one).signature == verdict(again).signature != verdict(two).signature


# ---- ordinary actions ---------------------------------------------------------------


_ACTIONS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "a name": ("提交", {"action": "Click"}, True),
    "a name of several words": ("提交", {"action": "mouse.move_to"}, True),
    "a Chinese name": ("提交", {"action": "双击"}, True),
    "one strange word": ("点击", {"action": "click_pay"}, False),
    "a name without words": ("点击", {"action": "42"}, False),
    "a blank name": ("点击保存", {"action": "  "}, True),
    "a name that is no text": ("点击保存", {"action": 7}, True),
    "no name, a small step": ("clicked OK", {}, True),
    "a small step with words before": ("已经双击图标", {}, True),
    "a step told later": ("报告里点击", {}, False),
    "no name, something done": ("uploaded the file", {}, False),
    "a word that begins like one": ("clickable area found", {}, False),
    "the longest short text": ("点击" + "保" * 78, {}, True),
    "a long text": ("点击" + "保" * 79, {}, False),
    "the longest in English": ("clicked " + "o" * 72, {}, True),
    "a long one in English": ("clicked " + "o" * 73, {}, False),
}


@pytest.mark.parametrize(("text", "data", "ordinary"), _ACTIONS.values(), ids=_ACTIONS)
def test_an_action_s_name_counts_before_its_words(
    text: str, data: dict[str, Any], *, ordinary: bool
) -> None:
    """Each word of a name must be a small step; without a name a short text must begin with one."""
    assert ordinary_action(event_of(did(text, "executor.call", **data))) is ordinary
