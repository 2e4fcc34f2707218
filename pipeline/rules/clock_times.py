"""Times of day as people say them, in Chinese and English."""

import re
from datetime import time

from pipeline.text.numerals import value_of

_NOON = 12
_DAY_STARTS = 7
_MIDNIGHT = 24
_HOUR = 60
_AFTERNOON = frozenset({"下午", "傍晚", "晚上", "今晚", "明晚", "晚", "午后", "pm", "p.m.", "p.m"})
_PARTS = {
    "早上": time(12), "上午": time(12), "中午": time(12), "下午": time(18), "傍晚": time(19),
    "下班": time(18), "morning": time(12), "noon": time(12), "afternoon": time(18),
}  # fmt: skip
"""When a part of a day is over."""

# 一点 alone is mostly "a little".
_HALVES = "早上|上午|中午|下午|午后|傍晚|晚上|今晚|明晚|今早|明早|早|晚"
_N = r"(\d{1,2}|(?!一点(?!半|整|钟|\s?前|之前|[一二三四五]))[一二两三四五六七八九十]{1,3})"
_CLOCK = re.compile(
    rf"({_HALVES})?\s?(?<![\d.第有]){_N}[点时](?!候|间|候|建议|意见|想法|说明|要求|内容)"
    r"(?:整|钟)?(半|[一三]刻|[0-5]?\d|[一二三四五]?十[一二三四五六七八九]?)?"
    r"|\b(1[0-2]|0?[1-9])(?::([0-5]\d))?\s?([ap]\.?m\b\.?)"
    rf"|({_HALVES})?\s?(?<![\d:：])([01]?\d|2[0-3])[:：]([0-5]\d)(?![\d:：])"
)
_PART = re.compile("|".join(_PARTS))
_QUARTERS = {"一刻": 15, "三刻": 45}


def clock_time(text: str, from_hour: int = _DAY_STARTS) -> time | None:
    """The first time of day that a text names on a clock, or None.

    An hour of which no half of the day is said is the next such hour from `from_hour` on.

    >>> clock_time("下午三点半"), clock_time("at 9:45"), clock_time("by 5pm")
    (datetime.time(15, 30), datetime.time(9, 45), datetime.time(17, 0))
    """
    match = _CLOCK.search(text)
    if match is None:
        return None
    half = match[1] or match[6] or match[7]
    word = match[2] or match[4] or match[8]
    hour = _figure(word)
    told = half is not None or word.startswith("0")
    minute = _minute(match[3] or match[5] or match[9])
    if hour < _NOON and (half in _AFTERNOON or (not told and 0 < hour < from_hour)):
        hour += _NOON
    if half and half.startswith("a") and hour == _NOON:
        hour = 0
    return time(hour, minute) if hour < _MIDNIGHT and minute < _HOUR else None


def part_of_day(text: str) -> time | None:
    """When the first part of a day that a text names is over, or None.

    >>> part_of_day("明天上午"), part_of_day("tomorrow afternoon")
    (datetime.time(12, 0), datetime.time(18, 0))
    """
    match = _PART.search(text)
    return _PARTS[match.group()] if match else None


def _figure(word: str) -> int:
    return int(word) if word.isdecimal() else value_of(word) or 0


def _minute(word: str | None) -> int:
    if word is None:
        return 0
    if word == "半":
        return 30
    return _QUARTERS.get(word) or _figure(word)
