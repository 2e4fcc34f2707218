"""From when and until when statements hold."""

import itertools
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rules.due import BEIJING, find_due
from pipeline.rules.validity import find_validity
from tests.observer_support import AT

pytestmark = pytest.mark.unit


def day(at_ms: int | None) -> str | None:
    """The Beijing day of a moment."""
    return datetime.fromtimestamp(at_ms / 1000, BEIJING).date().isoformat() if at_ms else None


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("从下个月起报销用新模板", "2026-04-01", None),
        ("4月1日起报销改走新系统", "2026-04-01", None),
        ("自本月15日起执行新标准", "2026-03-15", None),
        ("下周一开始用新系统", "2026-03-09", None),
        ("到6月30日为止都用旧流程", None, "2026-07-01"),
        ("六月底之前所有发布都先停掉", None, "2026-07-01"),
        ("周五前都别发", None, "2026-03-06"),
        ("本周内别打扰我", None, "2026-03-09"),
        ("这个月的报销都走旧流程", None, "2026-04-01"),
        ("下周别安排会议", "2026-03-09", "2026-03-16"),
        ("接下来两周都别给我排早上的会", None, "2026-03-18"),
        ("6月1日到6月30日用临时模板", "2026-06-01", "2026-07-01"),
        ("今天都别找我", None, "2026-03-04"),
        ("Starting next month, use the new template", "2026-04-01", None),
        ("From April 1 all claims go through it", "2026-04-01", None),
        ("As of Monday the stand-up is at 10", "2026-03-09", None),
        ("Use the old one until the end of June", None, "2026-07-01"),
        ("Through June 30 forward his mail", None, "2026-07-01"),
        ("Before Friday don't call me", None, "2026-03-06"),
        ("For the next two weeks reply in English", None, "2026-03-18"),
        ("This week only, cc Lin", None, "2026-03-09"),
        ("From June 1 to June 30 use the blue one", "2026-06-01", "2026-07-01"),
        ("After March 20 use the new form", "2026-03-21", None),
        ("从周一到周五都别打扰我", None, None),
        ("从现在起用新模板", None, None),
        ("From now on use the new one", None, None),
        ("Every Friday from now on send a summary", None, None),
        ("一到周末就挺吵的", None, None),
        ("check the weather for tomorrow", None, None),
    ],
)
def test_first_and_last_days_are_told(text: str, since: str | None, until: str | None) -> None:
    """The first day is in, the end is the first moment that is out, in Beijing days (D2)."""
    validity = find_validity(text, AT)
    assert (day(validity.since), day(validity.until)) == (since, until)


WORDS = [
    "下下", "下", "这", "本", "上", "个", "周", "月", "年", "季度", "末", "底", "初", "内", "前", "后", "起", "到", "从", "至",
    "一", "二", "三十一", "十", "两", "半", "天", "小时", "工作日", "3", "31", "99", "2月30日", "号", "日", "每", "明年", "元旦",
    "点", "半", "下午", "9:75", "周末", "这个", "2026", "0000-00-00", "by", "until", "from", "the", "end of", "rest of", "next",
    "last", "this", "week", "month", "quarter", "year", "friday", "fri", "may", "march", "feb 30", "31st", "in", "within",
    "a couple of", "half an", "business", "days", "hours", "months", "999", "q4", "13/45", "2/3", "eod", "tomorrow", "noon",
    " ", " ", " ", "，", ",",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=8), st.integers(0, 4_000_000_000_000))
def test_any_words_of_time_are_read(words: list[str], said_at: int) -> None:
    """However they are put together, days that no calendar has are simply none."""
    for text in ("".join(words), " ".join(words)):
        due = find_due(text, said_at)
        validity = find_validity(text, said_at)
        assert due is None or due.at_ms >= said_at - 1_000
        assert validity.since is None or validity.until is None or validity.until > validity.since


def test_every_pair_of_time_words_is_read() -> None:
    """No two words together break the reading."""
    for pair in itertools.product(WORDS, repeat=2):
        for text in ("".join(pair), " ".join(pair)):
            find_due(text, AT)
            find_validity(text, AT)
