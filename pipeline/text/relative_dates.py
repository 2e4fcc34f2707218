"""Dates that are told from the day of speaking: 昨天, 上周三, three weeks ago, last Tuesday.

Source: spec: design, Chinese.
"""

import re
from datetime import date

from pipeline.text.calendar_terms import (
    day_terms,
    shifted_days,
    shifted_months,
    week_term,
    weekday_term,
    year_term,
)

_DAYS = {
    "大前天": -3, "前天": -2, "前晚": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "今天": 0, "今日": 0,
    "今晚": 0, "今早": 0, "明天": 1, "明日": 1, "明晚": 1, "明早": 1, "后天": 2, "大后天": 3,
    "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0,
    "this morning": 0, "this afternoon": 0, "this evening": 0, "day after tomorrow": 2,
    "tomorrow": 1,
}  # fmt: skip
_WEEKS = {
    "上周": -1, "上个星期": -1, "上星期": -1, "这周": 0, "本周": 0, "这个星期": 0, "这星期": 0,
    "下周": 1, "下个星期": 1, "下星期": 1, "last week": -1, "this week": 0, "next week": 1,
}  # fmt: skip
_MONTHS = {
    "上个月": -1, "上月": -1, "这个月": 0, "本月": 0, "下个月": 1, "下月": 1, "last month": -1,
    "this month": 0, "next month": 1,
}  # fmt: skip
_YEARS = {
    "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "last year": -1, "this year": 0,
    "next year": 1,
}  # fmt: skip
_UNITS = (
    {word: ("day", n) for word, n in _DAYS.items()}
    | {word: ("week", n) for word, n in _WEEKS.items()}
    | {word: ("month", n) for word, n in _MONTHS.items()}
    | {word: ("year", n) for word, n in _YEARS.items()}
)
_ENGLISH = sorted((word for word in _UNITS if word.isascii()), key=len, reverse=True)
_CHINESE = sorted((word for word in _UNITS if not word.isascii()), key=len, reverse=True)

WORD = re.compile(
    rf"{'|'.join(_CHINESE)}|(?<![A-Za-z0-9_])(?:{'|'.join(_ENGLISH)})(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
AGO = re.compile(
    r"(?<![0-9.])([0-9]{1,3}|一)个?(天|日|周|星期|月|年)(以?之?前|以?之?后)"
    r"|(?<![A-Za-z0-9.])([0-9]{1,3}|an?|one|two|three|four|five|six|seven) "
    r"(day|week|month|year)s? ago(?![A-Za-z])",
    re.IGNORECASE,
)
_COUNTS = {"一": 1, "a": 1, "an": 1} | {
    word: n for n, word in enumerate(["one", "two", "three", "four", "five", "six", "seven"], 1)
}
_MEASURES = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "月": "month", "年": "year",
}  # fmt: skip


def word_terms(match: re.Match[str], today: date | None) -> list[str]:
    """Return the terms of a `WORD` match; none without a day to count from."""
    if today is None:
        return []
    unit, count = _UNITS[match[0].lower()]
    return _week_or_other(today, unit, count)


def _week_or_other(today: date, unit: str, count: int) -> list[str]:
    if unit != "week":
        return _shifted(today, unit, count)
    day = shifted_days(today, 7 * count)
    return [week_term(day)] if day else []


def ago_terms(match: re.Match[str], today: date | None) -> list[str]:
    """Return the terms of an `AGO` match; none without a day to count from."""
    if today is None:
        return []
    number = (match[1] or match[4]).lower()
    count = _COUNTS.get(number) or int(number)
    unit = _MEASURES.get(match[2] or "") or match[5].lower()
    forward = match[3] is not None and match[3].endswith("后")
    return _shifted(today, unit, count if forward else -count)


def _shifted(today: date, unit: str, count: int) -> list[str]:
    if unit == "month":
        return shifted_months(today, count)
    if unit == "year":
        return [year_term(today.year + count)] if 0 < today.year + count < 10**4 else []
    day = shifted_days(today, count * (7 if unit == "week" else 1))
    return day_terms(day) if day else []


def weekday_of_week(weekday: int, weeks: int | None, today: date | None) -> list[str]:
    """Return the terms of a weekday, 1 to 7, in the week that is `weeks` from this one.

    >>> weekday_of_week(3, -1, date(2024, 5, 2))[0]
    'd20240424'
    >>> weekday_of_week(3, None, date(2024, 5, 2))
    ['w3']
    """
    if weeks is None or today is None:
        return [weekday_term(weekday)]
    day = shifted_days(today, 7 * weeks + weekday - today.isoweekday())
    return day_terms(day) if day else [weekday_term(weekday)]


def nearest_weekday(weekday: int, word: str | None, today: date | None) -> list[str]:
    """Return the terms of "last/this/next <weekday>": the closest such day before or after today.

    >>> nearest_weekday(2, "last", date(2024, 5, 2))[0]
    'd20240430'
    """
    if word is None or today is None:
        return [weekday_term(weekday)]
    ahead = (weekday - today.isoweekday()) % 7
    days = {"last": ahead - 7, "this": ahead, "next": ahead or 7}[word.lower()]
    day = shifted_days(today, days)
    return day_terms(day) if day else [weekday_term(weekday)]
