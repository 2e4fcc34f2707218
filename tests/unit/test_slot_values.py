"""What a statement fills its slot with, and whose thing it speaks of."""

import pytest

from pipeline.rules.slot_values import possessor, slot_value

pytestmark = pytest.mark.unit

_VALUES = [
    ("identity.name", "叫我小林就行", "小林"),
    ("identity.name", "我叫王小明，做财务", "王小明"),
    ("identity.name", "我的名字是王小明。", "王小明"),
    ("identity.name", "Call me Bob Li", "Bob Li"),
    ("identity.name", "my name's Ann", "Ann"),
    ("identity.residence", "我住在杭州", "杭州"),
    ("identity.residence", "我上个月搬到上海了", "上海"),
    ("identity.residence", "常驻北京市工作", "北京"),
    ("identity.residence", "I live in New York now", "New York"),
    ("identity.residence", "We moved to Berlin.", "Berlin"),
    ("identity.hometown", "我老家在成都", "成都"),
    ("identity.hometown", "我来自成都", "成都"),
    ("identity.hometown", "my hometown is Leeds", "Leeds"),
    ("identity.employer", "I work at Acme Corp", "Acme Corp"),
    ("food.allergy", "我对花生严重过敏", "花生"),
    ("food.allergy", "I'm allergic to peanuts and milk", "peanuts"),
    ("communication.language", "请用英文回复", "英文"),
    ("communication.language", "reply in Chinese please", "Chinese"),
    ("expense.template", "报销都用 BX-2026 模板", "BX-2026"),
    ("expense.template", "use the BX-2026 template", "BX-2026"),
    ("expense.template", "模板叫「差旅新版」", "差旅新版"),
    ("expense.template", 'it is called "Travel 2"', "Travel 2"),
    ("meeting.location", "会议在 3-204", "3-204"),
    ("repository.branch", "仓库的分支是 release/2.1", "release/2.1"),
    ("email.address", "邮箱是 w@x.example", "w@x.example"),
    ("a.b.version", "版本为 2.4.1", "2.4.1"),
]


@pytest.mark.parametrize(("key", "text", "value"), _VALUES)
def test_a_plain_value_is_taken_verbatim(key: str, text: str, value: str) -> None:
    """A name, a place, an id: what makes two wordings one statement (D5)."""
    assert slot_value(key, text) == value


_NONE: list[tuple[str | None, str]] = [
    (None, "我住在杭州"),
    ("identity.residence", "我不住在杭州"),
    ("identity.residence", "I don’t live in Berlin"),
    ("identity.residence", "I live in a small town"),
    ("identity.residence", "我喜欢杭州"),
    ("expense.template", "别再用 BX-2025 模板"),
    ("expense.template", "没用 BX-2025 模板"),
    ("expense.template", "never use BX-2025"),
    ("expense.template", "报销都用新模板"),
    ("expense.template", "use the new template"),
    ("expense.deadline", "截止日是 BX-2026"),
    ("expense", "报销都用 BX-2026 模板"),
    ("template", "报销"),
    ("unknown.slot", "它是 BX-2026"),
]


@pytest.mark.parametrize(("key", "text"), _NONE)
def test_a_vague_or_denied_value_is_none(key: str | None, text: str) -> None:
    """A new template may be any; what is denied fills nothing (D5)."""
    assert slot_value(key, text) is None


def test_an_aspect_alone_may_be_exact() -> None:
    """The last part of a key decides."""
    assert slot_value("template", "用 BX-2026") == "BX-2026"


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("王磊的邮箱地址是 w@x.example", "王磊"),
        ("我朋友的邮箱是 w@x.example", "朋友"),
        ("Alice's desk is on floor 3", "alice"),
        ("Bob’s new laptop was stolen", "bob"),
        ("我的邮箱地址是 w@x.example", None),
        ("我们的邮箱是 w@x.example", None),
        ("邮箱地址是 w@x.example", None),
        ("the desk is on floor 3", None),
        ("Alice's desk", None),
    ],
)
def test_a_thing_of_somebody_else_is_theirs(text: str, who: str | None) -> None:
    """Several people's things fill slots of their own; the speaker's own need no name."""
    assert possessor(text) == who
