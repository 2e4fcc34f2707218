"""Which words make a day the first or the last one that a statement holds for, and which do not."""

from datetime import datetime

import pytest

from pipeline.rules.due import BEIJING
from pipeline.rules.validity import Validity, find_validity, holds_for_a_time
from tests.observer_support import AT

pytestmark = pytest.mark.unit


def day(at_ms: int | None) -> str | None:
    """The Beijing day of a midnight."""
    if at_ms is None:
        return None
    moment = datetime.fromtimestamp(at_ms / 1000, BEIJING)
    assert (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat()


_BOUNDED = [
    ("从4月1日起用新模板", "2026-04-01", None),
    ("4月1日往后都用新的", "2026-04-01", None),
    ("4月1日这批起用新模板", "2026-04-01", None),
    ("打今年4月起走新系统", "2026-04-01", None),
    ("自下周一起先走新系统", "2026-03-09", None),
    ("下周一到下周五别打扰我", "2026-03-09", None),
    ("4月1日至4月30日都走旧流程", "2026-04-01", "2026-05-01"),
    ("从4月1日到4月30日走旧流程", "2026-04-01", "2026-05-01"),
    ("从4月1日起，到4月30日为止用临时的", "2026-04-01", "2026-05-01"),
    ("从4月1日起，4月30日前都用临时的", "2026-04-01", "2026-04-30"),
    ("从4月30日起，到4月1日为止用临时的", "2026-04-30", None),
    ("从4月1日起，到4月1日前都用临时的", "2026-04-01", None),
    ("到3月2日为止都用旧的", None, None),
    ("到今天为止都用旧的", None, "2026-03-04"),
    ("截至6月30日都走旧流程", None, "2026-07-01"),
    ("截止到6月30日都走旧流程", None, "2026-07-01"),
    ("有效期至6月30日，请遵守", None, "2026-07-01"),
    ("一直持续到6月30日，请遵守", None, "2026-07-01"),
    ("直到周五前都别催我", None, "2026-03-06"),
    ("到周五前都别发", None, "2026-03-06"),
    ("周五前都别发", None, "2026-03-06"),
    ("周五之前请别发", None, "2026-03-06"),
    ("周五前，就先用旧的", None, "2026-03-06"),
    ("月底前都别发", None, "2026-04-01"),
    ("到月底都别发", None, "2026-04-01"),
    ("到月底之前都别发", None, "2026-04-01"),
    ("今年末前都别发", None, "2027-01-01"),
    ("下个月前都别发", None, "2026-04-01"),
    ("starting April 1 use the new one", "2026-04-01", None),
    ("starting from April 1 use the new one", "2026-04-01", None),
    ("effective on April 1 use it", "2026-04-01", None),
    ("beginning in June use it", "2026-06-01", None),
    ("use it from April 1 through June 30", "2026-04-01", "2026-07-01"),
    ("from April 1 until the end of June use it", "2026-04-01", "2026-07-01"),
    ("from April 1 to the 20th of May use it", "2026-04-01", "2026-05-21"),
    ("after Friday use the new one", "2026-03-07", None),
    ("after the 20th use it", "2026-03-21", None),
    ("until Friday use the old one", None, "2026-03-07"),
    ("until before Friday use the old one", None, "2026-03-06"),
    ("till tomorrow use the old one", None, "2026-03-05"),
    ("up to June 30 use the old one", None, "2026-07-01"),
    ("valid to June 30 only", None, "2026-07-01"),
    ("it ends on June 30, only then", None, "2026-07-01"),
    ("expires on June 30, until then use it", None, "2026-07-01"),
    ("before the 20th don't send", None, "2026-03-20"),
    ("before June don't send", None, "2026-06-01"),
]


@pytest.mark.parametrize(("text", "since", "until"), _BOUNDED)
def test_a_first_or_last_day_is_named(text: str, since: str | None, until: str | None) -> None:
    """起, 到 and 前, from, until and before: the last day is in, what is before a day ends with it (D2).

    An end that lies behind its beginning, or is over, is none.
    """
    found = find_validity(text, AT)
    assert (day(found.since), day(found.until)) == (since, until)
    assert (found.bare, found.one_day) == (False, False)


_BARE = [
    ("本周都走旧流程", None, "2026-03-09", False),
    ("本周内先走旧流程", None, "2026-03-09", False),
    ("这个月的报销都走旧流程", None, "2026-04-01", False),
    ("下个月的报销都走旧流程", "2026-04-01", "2026-05-01", False),
    ("本季度一律走旧流程", None, "2026-04-01", False),
    ("今年都用旧的", None, "2027-01-01", False),
    ("明年一律用新的", "2027-01-01", "2028-01-01", False),
    ("后年只用新的", "2028-01-01", "2029-01-01", False),
    ("接下来三天请别打扰", None, "2026-03-07", False),
    ("未来两周统一用旧的", None, "2026-03-18", False),
    ("当月不用审批", None, "2026-04-01", False),
    ("明天都别找我", "2026-03-04", "2026-03-05", True),
    ("明天一整天都别找我", "2026-03-04", "2026-03-05", True),
    ("明天别找我", "2026-03-04", "2026-03-05", True),
    ("大后天先别找我", "2026-03-06", "2026-03-07", True),
    ("今天全天别找我", None, "2026-03-04", True),
    ("this week don't send", None, "2026-03-09", False),
    ("next week don't send", "2026-03-09", "2026-03-16", False),
    ("just this week", None, "2026-03-09", False),
    ("for the rest of the week reply in English", None, "2026-03-09", False),
    ("during June reply in English", "2026-06-01", "2026-07-01", False),
    ("for another 3 days use it", None, "2026-03-07", False),
    ("today only, cc Lin", None, "2026-03-04", True),
    ("only today cc Lin", None, "2026-03-04", True),
    ("all day tomorrow don't call", "2026-03-04", "2026-03-05", True),
    ("tomorrow all day don't call", "2026-03-04", "2026-03-05", True),
    ("for Friday only", "2026-03-06", "2026-03-07", True),
]


@pytest.mark.parametrize(("text", "since", "until", "one_day"), _BARE)
def test_a_stretch_is_named(text: str, since: str | None, until: str, *, one_day: bool) -> None:
    """It holds through that time, from now where it has begun; told apart from a last day (D2)."""
    found = find_validity(text, AT)
    assert (day(found.since), day(found.until)) == (since, until)
    assert (found.bare, found.one_day) == (True, one_day)


_NEITHER = [
    "报销用新模板",
    "以后都用新模板",
    "一到周五就忙，请别打扰",
    "等到周五别催我",
    "每到周五都别催我",
    "周五前提交",
    "本周走旧流程",
    "下个月提交",
    "明天找我",
    "周五都别找我",
    "上周都用旧的",
    "use the new template",
    "within two weeks reply",
    "tomorrow don't call",
    "every Friday only",
    "last week only",
    "from Monday to Friday reply",
    "on Friday",
]


@pytest.mark.parametrize("text", _NEITHER)
def test_a_day_that_is_merely_named_bounds_nothing(text: str) -> None:
    """When something is due, or happens, is no time for which a statement holds (D2)."""
    assert find_validity(text, AT) == Validity()


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("从周五起", True),
        ("周五提交", False),
        ("从新开始", False),
        ("from friday", True),
        ("friday", False),
        ("use it only", False),
    ],
)
def test_a_text_without_both_signs_needs_no_closer_look(text: str, may: bool) -> None:  # noqa: FBT001 - a table's column
    """A time and a word that bounds: most texts lack one of them."""
    assert holds_for_a_time(text) is may
