"""The days that Chinese words name, counted from when they were said.

Patterns work on text whose Traditional characters are folded.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from pipeline.rules import spans
from pipeline.rules.spans import Span
from pipeline.text.numerals import value_of

Resolve = Callable[[re.Match[str], datetime], Span]

_N = r"(\d{1,3}|[一二两三四五六七八九十]{1,3})"
_WEEKDAYS = "一二三四五六日天"
_AWAY = {
    "下下": 2,
    "下": 1,
    "这": 0,
    "本": 0,
    "当": 0,
    "今": 0,
    "上": -1,
    "明": 1,
    "后": 2,
    "去": -1,
}
_NAMED = {
    "大后天": 3, "后天": 2, "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "今晨": 0, "明天": 1, "明日": 1,
    "明早": 1, "明晚": 1, "明晨": 1, "昨天": -1, "昨日": -1, "昨晚": -1, "前天": -2,
}  # fmt: skip
_PARTS = {
    "底": "end", "末": "end", "初": "start", "中": "middle",
    "上旬": "early", "中旬": "mid", "下旬": "late",
}  # fmt: skip
_UNITS = {
    "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day", "周": "week",
    "星期": "week", "礼拜": "week", "月": "month", "年": "year",
}  # fmt: skip
_HOLIDAYS = {"元旦": (1, 1), "五一": (5, 1), "劳动节": (5, 1), "国庆": (10, 1), "圣诞": (12, 25)}


def _number(word: str) -> int:
    value = int(word) if word.isdecimal() else value_of(word)
    if value is None:
        raise ValueError(word)
    return value


def _year(match: re.Match[str], said: datetime) -> int | None:
    if match["year"]:
        return int(match["year"])
    return said.year + _AWAY[match["away"]] if match["away"] else None


def _date(match: re.Match[str], said: datetime) -> Span:
    return spans.date_in(said, _number(match["m"]), _number(match["d"]), _year(match, said))


def _month(match: re.Match[str], said: datetime) -> Span:
    number = _number(match["m"])
    if not 1 <= number <= 12:  # noqa: PLR2004 - months
        raise ValueError(number)
    year = _year(match, said) or spans.nearest_month(said, number)
    return spans.month(year, number, _PARTS.get(match["part"] or "", ""))


def _named(match: re.Match[str], said: datetime) -> Span:
    return spans.day_from(said, _NAMED[match.group()])


def _weekday(match: re.Match[str], said: datetime) -> Span:
    number = min(_WEEKDAYS.index(match[2]), 6)
    return spans.weekday(said, number, _AWAY[match[1]] if match[1] else None)


def _weekend(match: re.Match[str], said: datetime) -> Span:
    saturday = spans.weekday(said, 5, _AWAY[match[1] or "这"])[0]
    return spans.days(saturday, 2)


def _week(match: re.Match[str], said: datetime) -> Span:
    return spans.week(said, _AWAY[match[1]])


def _relative_month(match: re.Match[str], said: datetime) -> Span:
    away = _AWAY[match[1]] if match[1] else 0
    return spans.month(said.year, said.month + away, _PARTS.get(match[2] or "", ""))


def _quarter(match: re.Match[str], said: datetime) -> Span:
    away, named, part = match.groups()
    number = _number(named) if named else (said.month - 1) // 3 + 1 + _AWAY[(away or "本")[0]]
    return spans.quarter(said.year, number, _PARTS.get(part or "", ""))


def _relative_year(match: re.Match[str], said: datetime) -> Span:
    year = int(match[2]) if match[2] else said.year + _AWAY[match[1] or "今"]
    return spans.year(year, _PARTS.get(match[3] or "", ""))


def _day_of_month(match: re.Match[str], said: datetime) -> Span:
    day = _number(match[2])
    if match[1]:
        away = _AWAY[match[1].removesuffix("月").removesuffix("个")]
        return spans.days(spans.month(said.year, said.month + away)[0].replace(day=day))
    return spans.next_day_of_month(said, day)


def _later(match: re.Match[str], said: datetime) -> Span:
    count = 0.5 if match["half"] else _number(match["n"]) + (0.5 if match["more"] else 0)
    unit = _UNITS[match["unit"]]
    if match["work"]:
        return spans.after_workdays(said, round(count))
    return spans.after(said, count, unit)


def _stretch(match: re.Match[str], said: datetime) -> Span:
    until = spans.after(said, _number(match[1]), _UNITS[match[2]])[0]
    return spans.midnight(said), until + timedelta(days=1)


def _holiday(match: re.Match[str], said: datetime) -> Span:
    return spans.date_in(said, *_HOLIDAYS[match.group()])


# 周报 and 月报 are reports, and 下周报销 is what is claimed next week.
_REPORT = r"报(?![销名税到])"
_OF_YEAR = r"(?:(?P<away>[明今去])年|(?P<year>\d{4})\s?年)?\s?"

CHINESE: tuple[tuple[str, Resolve], ...] = (
    (
        (rf"{_OF_YEAR}(?<![\d个第一二三四五六七八九十])(?P<m>\d{{1,2}}"
            rf"|[一二三四五六七八九十]{{1,3}})\s?月\s?"
        r"(?P<d>\d{1,2}(?!\d)|[一二三四五六七八九十]{1,3}(?=[日号]))\s?(?:[日号]"
            r"|(?![个人张份件条元块万千家%.]))"),
        _date,
    ),
    (
        (rf"{_OF_YEAR}(?<![\d个第一二三四五六七八九十])(?P<m>\d{{1,2}}"
            rf"|[一二三四五六七八九十]{{1,3}})\s?月份?"
        r"(?P<part>[底末初]|[上中下]旬)?(?![\d日号])"),
        _month,
    ),
    ("|".join(_NAMED), _named),
    (rf"(下下|[下这本上])?个?(?:周|星期|礼拜)([{_WEEKDAYS}])(?![次个遍趟回年期岁点])", _weekday),
    (r"(下下|[下这本上])?个?(?:周末|星期末)", _weekend),
    (rf"(下下|[下这本上])个?(?:周|星期|礼拜)(?![{_WEEKDAYS}末]|{_REPORT})", _week),
    (
        (r"(下下|[下这本当上])个?月([底末初中]旬?|[上下]旬)?"
        rf"(?![\d一二三四五六七八九十]|{_REPORT})"),
        _relative_month,
    ),
    (r"(?<![每\d个一二三四五六七八九十])()月([底末初])", _relative_month),
    (r"(?:(下|本|这个?|上)|第?([一二三四1-4]))季度([末底初])?", _quarter),
    (r"(?<![四换当每])()()季度?(末)", _quarter),
    (r"(?:([明今后])年|(\d{4})年)([底末初])?(?!\s?[\d一二三四五六七八九十]{1,2}\s?月)", _relative_year),
    (r"(?<![每\d一二三今明后去往])()()年([底末])", _relative_year),
    (
        (r"(?<![\d月第])(下个?月|[这本]个?月)?\s?(\d{1,2}|[一二三四五六七八九十]{1,3})\s?"
        r"(?:号(?![楼线店机院房车码门桌柜员])|日(?![元本圆]))"),
        _day_of_month,
    ),
    (
        (rf"(?:(?P<half>半)个?|(?P<n>{_N[1:-1]})\s?个?(?P<more>半)?)(?P<work>工作)?"
        r"(?P<unit>分钟|小时|钟头|天|日|周|星期|礼拜|月|年)(?:之|以)?(?:后|内)"),
        _later,
    ),
    (rf"(?:接下来|未来|今后)(?:的)?这?{_N}个?(天|周|星期|礼拜|月)", _stretch),
    ("|".join(_HOLIDAYS), _holiday),
)  # fmt: skip
"""Patterns and what they name. A match that no calendar has raises ValueError."""
