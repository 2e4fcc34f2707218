"""Times of day as people say them."""

from datetime import time

import pytest

from pipeline.rules.clock_times import clock_time, part_of_day

pytestmark = pytest.mark.unit

_CLOCKS = [
    ("下午三点", "15:00"),
    ("下午三点半", "15:30"),
    ("下午3点一刻", "15:15"),
    ("下午3点三刻", "15:45"),
    ("晚上十点二十", "22:20"),
    ("晚上10点05分", "22:05"),
    ("晚上8点整", "20:00"),
    ("今晚8时", "20:00"),
    ("傍晚6点钟", "18:00"),
    ("上午十点十五", "10:15"),
    ("早上七点四十五", "07:45"),
    ("早八点", "08:00"),
    ("明早九点", "09:00"),
    ("中午12点", "12:00"),
    ("中午12点半", "12:30"),
    ("下午12点", "12:00"),
    ("午后2点", "14:00"),
    ("15点", "15:00"),
    ("23点59", "23:59"),
    ("0点", "00:00"),
    ("七点", "07:00"),
    ("六点", "18:00"),
    ("十二点", "12:00"),
    ("一点半", "13:30"),
    ("一点整", "13:00"),
    ("一点前", "13:00"),
    ("两点", "14:00"),
    ("5pm", "17:00"),
    ("5 p.m.", "17:00"),
    ("5:45 pm", "17:45"),
    ("12 pm", "12:00"),
    ("12am", "00:00"),
    ("12:10 a.m.", "00:10"),
    ("5am", "05:00"),
    ("10 am", "10:00"),
    ("at 9:45", "09:45"),
    ("at 6:45", "18:45"),
    ("at 06:45", "06:45"),
    ("at 7:00", "07:00"),
    ("at 00:15", "00:15"),
    ("at 0:15", "00:15"),
    ("at 23:59", "23:59"),
    ("下午 3：30", "15:30"),
    ("晚上9:05", "21:05"),
    ("先看 9:45 再看 10:45", "09:45"),
]


@pytest.mark.parametrize(("text", "clock"), _CLOCKS)
def test_a_clock_is_read(text: str, clock: str) -> None:
    """With its half of the day where one is said, else the next such hour from seven on (D7)."""
    assert clock_time(text) == time.fromisoformat(clock)


@pytest.mark.parametrize(
    "text",
    [
        "明天",
        "tomorrow",
        "快一点",
        "有三点建议",
        "第二点",
        "三点意见",
        "3.5点",
        "三点候补",
        "那时候",
        "三时间",
        "25点",
        "24:30",
        "9:75",
        "13pm",
        "1:2:3",
        "at 12:30:15",
        "一点",
    ],
)
def test_what_is_no_clock_gives_none(text: str) -> None:
    """Points of a list, a little more, and hours that no clock has are no times of day."""
    assert clock_time(text) is None


@pytest.mark.parametrize(
    ("text", "from_hour", "clock"),
    [
        ("三点", 2, "03:00"),
        ("三点", 3, "03:00"),
        ("三点", 4, "15:00"),
        ("at 9:30", 10, "21:30"),
        ("at 9:30", 9, "09:30"),
        ("上午九点", 20, "09:00"),
        ("at 09:30", 20, "09:30"),
        ("0点", 20, "00:00"),
        ("12点", 20, "12:00"),
    ],
)
def test_an_hour_without_its_half_is_the_next_one(text: str, from_hour: int, clock: str) -> None:
    """Counted from the hour that is given; a half that is said, or a leading nought, decides."""
    assert clock_time(text, from_hour) == time.fromisoformat(clock)


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("明天早上", "12:00"),
        ("明天上午", "12:00"),
        ("中午", "12:00"),
        ("下午", "18:00"),
        ("傍晚", "19:00"),
        ("下班前", "18:00"),
        ("tomorrow morning", "12:00"),
        ("at noon", "12:00"),
        ("in the afternoon", "18:00"),
        ("上午或者下午", "12:00"),
    ],
)
def test_a_part_of_a_day_is_over_at_its_end(text: str, over: str) -> None:
    """The first that is named counts."""
    assert part_of_day(text) == time.fromisoformat(over)


@pytest.mark.parametrize("text", ["明天", "tomorrow", "晚上"])
def test_no_part_of_a_day_gives_none(text: str) -> None:
    """An evening lasts to the day's end, like a day without any part."""
    assert part_of_day(text) is None
