"""The negation guard: what shares its words and is not the same statement."""

import pytest

from pipeline.rules.forms import forms_of
from pipeline.rules.negation import differ, opposed, stance
from storage.records.knowledge import RecordKind, Scope
from tests.observer_support import record

pytestmark = pytest.mark.unit

OPPOSITES = [
    ("我喜欢香菜", "我不喜欢香菜"),
    ("I like cilantro", "I don't like cilantro"),
    ("I like coffee", "I hate coffee"),
    ("我喜歡香菜", "我不喜歡香菜"),
    ("喜欢加班", "讨厌加班"),
    ("允许自动上传", "禁止自动上传"),
    ("允许自动上传", "不允许自动上传"),
    ("Allow uploads", "Forbid uploads"),
    ("Uploads are allowed", "Uploads are not allowed"),
    ("总是用新模板", "从不用新模板"),
    ("Always use the new template", "Never use the new template"),
    ("Use the new template", "Don’t use the new template"),
    ("报销用新模板", "报销别用新模板"),
    ("报销用新模板", "报销用旧模板"),
    ("Expense claims use the new form", "Expense claims use the old form"),
    ("喜欢看日出", "喜欢看日落"),
    ("I love watching the sunrise", "I love watching the sunset"),
    ("打开自动更新", "关闭自动更新"),
    ("Turn automatic updates on", "Turn automatic updates off"),
    ("早上开会", "晚上开会"),
    ("深色主题", "浅色主题"),
    ("附件不超过100元", "附件超过100元"),
    ("We deploy on Fridays", "We never deploy on Fridays"),
]
"""The same words but for a negation or one side of a pair."""

OTHER_QUANTITIES = [
    ("每天3点备份", "每天4点备份"),
    ("每天三点备份", "每天四点备份"),
    ("Back up at 3 pm", "Back up at 4 pm"),
    ("Back up at 15:00", "Back up at 16:00"),
    ("会议室在3楼", "会议室在4楼"),
    ("预算3,000元", "预算4,000元"),
    ("周一开例会", "周二开例会"),
    ("The meeting is on Monday", "The meeting is on Tuesday"),
]
"""The same words but for a figure with its unit, or one of a set."""

OTHER_NAMES = [
    ("给王经理发周报", "给李经理发周报"),
    ("Send the report to Alice", "Send the report to Bob"),
    ("第1张发票算差旅费", "第2张发票算差旅费"),
    ("项目1的周报用模板1", "项目2的周报用模板2"),
    ("Close ticket BX-2024-001", "Close ticket BX-2024-002"),
]
"""The same words but for who or which is meant: both may be true."""

SAME = [
    ("报销用新模板", "报销用新模板"),
    ("我喜欢香菜", "我很喜欢香菜"),
    ("不得不加班", "必须加班"),
    ("不讨厌香菜", "喜欢香菜"),
    ("别忘了交报告", "交报告"),
    ("Don't forget to file the report", "Please file the report"),
    ("预算3000元", "预算三千元"),
    ("预算3,000元", "预算3000.0元"),
    ("报销用新模板", "Use the new template for the reimbursement"),
    ("禁止不登录就上传", "登录就上传"),
    ("Always lock the screen", "Lock the screen every time"),
]
"""What neither negation nor figure tells apart."""


@pytest.mark.parametrize(("first", "second"), [*OPPOSITES, *OTHER_QUANTITIES, *OTHER_NAMES])
def test_what_shares_its_words_is_not_the_same(first: str, second: str) -> None:
    """Polarity, a side, a figure or a name makes another statement, whichever comes first."""
    assert differ(first, second)
    assert differ(second, first)


@pytest.mark.parametrize(("first", "second"), [*OPPOSITES, *OTHER_QUANTITIES])
def test_opposites_and_other_quantities_contradict(first: str, second: str) -> None:
    """Of two statements in the same words only one can hold, so they are found to be opposed."""
    assert opposed(first, second)
    assert opposed(second, first)
    assert stance(first).skeleton == stance(second).skeleton


@pytest.mark.parametrize(("first", "second"), OTHER_NAMES)
def test_other_names_contradict_nothing(first: str, second: str) -> None:
    """A report can go to two people: that is no conflict, unless a slot says that there is one."""
    assert not opposed(first, second)


@pytest.mark.parametrize(("first", "second"), SAME)
def test_two_ways_of_saying_a_thing_do_not_differ(first: str, second: str) -> None:
    """Degree, duty and double negation leave a statement what it is."""
    assert not differ(first, second)
    assert not opposed(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("允许用旧模板", "禁止用新模板"),
        ("Allow the old template", "Forbid the new template"),
        ("早上不吃药", "晚上吃药"),
    ],
)
def test_turned_twice_is_no_opposite(first: str, second: str) -> None:
    """Not the one and the other go together: they differ and don't contradict."""
    assert differ(first, second)
    assert not opposed(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("特别的模板", "特的模板"),
        ("别人用新模板", "用新模板"),
        ("无论如何先问我", "先问我"),
        ("非常重要", "重要"),
        ("It is no problem to ask", "It is a problem to ask"),
    ],
)
def test_words_that_merely_contain_a_negation_negate_nothing(first: str, second: str) -> None:
    """特别, 别人 and 无论 are words of their own, and so is *no problem*."""
    assert not stance(first).negated
    assert not opposed(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("我喜欢早上开会", "会议安排在晚上比较好"),
        ("I prefer meetings in the morning", "Put the meetings into the evening"),
        ("例会在周一", "每到周二就开例会"),
        ("预算是3000元", "我们能花4000元"),
        ("The budget is 3000 dollars", "We can spend 4000 dollars"),
        ("发给王经理的周报", "周报由李经理来收"),
        ("Alice 负责周报", "周报归 Bob 负责"),
        ("用模板2做周报", "周报模板是模板3"),
    ],
)
def test_two_ways_of_putting_it_differ_in_what_both_mention(first: str, second: str) -> None:
    """In other words altogether a side, a figure or a name still tells them apart."""
    assert differ(first, second)
    assert differ(second, first)
    assert not opposed(first, second)


def test_a_plural_and_a_third_person_are_the_same_words() -> None:
    """Uses and use, templates and template; glass is no plural, and bus is short."""
    assert opposed("He uses templates", "He never use template")
    assert stance("the glass bus").skeleton == "glass bus"
    assert stance("reports").skeleton == stance("report").skeleton


def test_a_unit_belongs_to_its_figure() -> None:
    """Three o'clock and three times don't contradict; half past does to the full hour."""
    assert not opposed("每天3点备份", "每天4次备份")
    assert not opposed("budget of 3000 dollars", "budget of 4000 yuan")
    assert opposed("budget of 3000 dollars", "budget of 4000 dollars")


@pytest.mark.parametrize("text", ["", "不要", "要", "不", "no", "。。。", "3点", "的了吧"])
def test_next_to_nothing_resembles_nothing(text: str) -> None:
    """What is only negation, figure or filler shares no words with anything."""
    assert stance(text).skeleton == ""
    assert not opposed(text, "别")


def test_a_story_an_exception_and_a_page_oppose_nothing() -> None:
    """They are kept under no skeleton, so that nobody finds them as an opposite (D5, B5)."""
    rule = record("r", "报销用新模板")
    assert forms_of(rule).skeleton
    assert not forms_of(record("r", "报销用新模板", kind=RecordKind.EPISODE)).skeleton
    assert not forms_of(record("r", "报销用新模板", scope=Scope(once=True))).skeleton
