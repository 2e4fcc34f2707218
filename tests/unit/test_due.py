"""Days and times told in words."""

from datetime import datetime

import pytest

from pipeline.rules.due import BEIJING, find_due
from tests.observer_support import AT

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("今晚交", "2026-03-03"),
        ("明天给你", "2026-03-04"),
        ("大后天", "2026-03-06"),
        ("周五前", "2026-03-06"),
        ("周一开会", "2026-03-09"),
        ("下周三", "2026-03-11"),
        ("本月底", "2026-03-31"),
        ("下个月底", "2026-04-30"),
        ("20号", "2026-03-20"),
        ("2号", "2026-04-02"),
        ("下个月5号", "2026-04-05"),
        ("3 月 12 日前", "2026-03-12"),
        ("2027年1月2日", "2027-01-02"),
        ("三天后", "2026-03-06"),
        ("两周内", "2026-03-17"),
        ("tomorrow", "2026-03-04"),
        ("the day after tomorrow", "2026-03-05"),
        ("by Friday", "2026-03-06"),
        ("next Monday", "2026-03-09"),
        ("March 5th", "2026-03-05"),
        ("5 April", "2026-04-05"),
        ("in two weeks", "2026-03-17"),
        ("end of the month", "2026-03-31"),
        ("2026-03-20", "2026-03-20"),
        ("下周三之前要交", "2026-03-11"),
        ("下下周一", "2026-03-16"),
        ("二十号前", "2026-03-20"),
        ("三月五号", "2026-03-05"),
        ("六月底", "2026-06-30"),
        ("年底前", "2026-12-31"),
        ("季度末", "2026-03-31"),
        ("下周前", "2026-03-08"),
        ("周末前", "2026-03-06"),
        ("三个工作日内", "2026-03-06"),
        ("两个小时后", "2026-03-03"),
        ("下班前", "2026-03-03"),
        ("把周一会议的纪要周五前发你", "2026-03-06"),
        ("明年三月", "2027-03-31"),
        ("by thurs", "2026-03-05"),
        ("Friday next week", "2026-03-13"),
        ("by end of next week", "2026-03-13"),
        ("by the 20th", "2026-03-20"),
        ("on the 5th of next month", "2026-04-05"),
        ("within three business days", "2026-03-06"),
        ("in two hours", "2026-03-03"),
        ("by EOD Friday", "2026-03-06"),
        ("by 6/3", "2026-06-03"),
        ("before June", "2026-05-31"),
        ("by the end of Q2", "2026-06-30"),
        ("by month end", "2026-03-31"),
        ("send Monday's notes by Friday", "2026-03-06"),
        ("Jan 5, 2027", "2027-01-05"),
    ],
)
def test_a_day_is_told_from_when_it_was_said(text: str, day: str) -> None:
    """Relative days count from the event's own time, in Beijing days (mission F2)."""
    due = find_due(text, AT)
    assert due is not None
    assert due.day == day


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("明天下午3点", "15:00:00"),
        ("明早八点半", "08:30:00"),
        ("tomorrow 3pm", "15:00:00"),
        ("tomorrow at 09:45", "09:45:00"),
        ("tomorrow", "23:59:59"),
        ("明天上午", "12:00:00"),
        ("tomorrow afternoon", "18:00:00"),
        ("明天三点半", "15:30:00"),
        ("tomorrow at noon", "12:00:00"),
        ("半小时后", "09:36:40"),
    ],
)
def test_a_time_of_day_is_kept_and_a_day_lasts_to_its_end(text: str, clock: str) -> None:
    """Without a time the last second of the day is meant."""
    due = find_due(text, AT)
    assert due is not None
    assert datetime.fromtimestamp(due.at_ms / 1000, BEIJING).strftime("%H:%M:%S") == clock


@pytest.mark.parametrize(
    "text",
    [
        "2月30日", "我在3号楼", "3楼", "soon", "改天吧", "2026-13-40", "每周五交", "every Friday", "on Fridays",
        "周一到周五", "快一点", "昨天", "yesterday", "上周五", "last Friday", "第二点建议", "in the week",
    ],
)  # fmt: skip
def test_what_is_no_day_gives_none(text: str) -> None:
    """Days that no calendar has, house numbers and vague words are no due days."""
    assert find_due(text, AT) is None
