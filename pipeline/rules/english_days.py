"""The days that English words name, counted from when they were said.

Patterns work on text in lower case.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from pipeline.rules import spans
from pipeline.rules.spans import Span

Resolve = Callable[[re.Match[str], datetime], Span]

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)day"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_FULL_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "a couple of": 2, "a few": 3, "half an": 0.5, "half a": 0.5,
}  # fmt: skip
_COUNT = rf"(?:\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_AWAY = {"next": 1, "following": 1, "coming": 0, "this": 0, "the": 0, "last": -1, "current": 0}
_NAMED = {
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "eod": 0,
    "cob": 0, "end of day": 0, "end of the day": 0, "close of business": 0, "tomorrow": 1,
    "the day after tomorrow": 2, "yesterday": -1, "last night": -1,
}  # fmt: skip
_HOLIDAYS = {"christmas": (12, 25), "new year's eve": (12, 31), "new year's day": (1, 1)}
_SHORT = {"w": "week", "m": "month", "q": "quarter", "y": "year"}
_MARKS = "by on before until till through from after is to due starting"


def _behind(words: str) -> str:
    """A pattern for standing right behind one of these words."""
    return "(?:" + "|".join(rf"(?<=\b{word} )" for word in words.split()) + ")"


def _weekday(match: re.Match[str], said: datetime) -> Span:
    lead, name, later = match["lead"], match["day"], match["later"]
    number = _DAYS.index(name[:3])
    if later or lead in {"next", "following", "last"}:
        return spans.weekday(said, number, -1 if lead == "last" else 1)
    return spans.weekday(said, number, None)


def _named(match: re.Match[str], said: datetime) -> Span:
    return spans.day_from(said, _NAMED[match.group()])


def _weekend(match: re.Match[str], said: datetime) -> Span:
    return spans.days(spans.weekday(said, 5, _AWAY[match[1] or "this"])[0], 2)


def _unit(match: re.Match[str], said: datetime) -> Span:
    part = {"end": "end", "middle": "middle", "rest": "rest"}.get(match["part"] or "", "")
    if match["part"] in {"start", "beginning"}:
        part = "start"
    return _part_of(said, match["unit"], _AWAY[match["lead"] or "the"], part)


def _short_end(match: re.Match[str], said: datetime) -> Span:
    return _part_of(said, _SHORT[match[1] or (match[2] or "")[:1]], 0, "end")


def _part_of(said: datetime, unit: str, away: int, part: str) -> Span:
    if part == "rest":
        return spans.midnight(said), _part_of(said, unit, away, "")[1]
    match unit:
        case "week":
            return _part_of_week(said, away, part)
        case "month":
            return spans.month(said.year, said.month + away, part)
        case "quarter":
            return spans.quarter(said.year, (said.month - 1) // 3 + 1 + away, part)
        case _:
            return spans.year(said.year + away, part)


def _part_of_week(said: datetime, away: int, part: str) -> Span:
    whole = spans.week(said, away)
    if part == "start":
        return spans.days(whole[0])
    return spans.week_end(said, away) if part == "end" else whole


def _month_number(word: str) -> int:
    return _MONTHS.index(word[:3]) + 1


def _date(match: re.Match[str], said: datetime) -> Span:
    word, day = (match["m1"], match["d1"]) if match["m1"] else (match["m2"], match["d2"])
    year = match["y1"] or match["y2"]
    return spans.date_in(said, _month_number(word), int(day), int(year) if year else None)


def _month(match: re.Match[str], said: datetime) -> Span:
    number = _month_number(match["m"])
    year = int(match["y"]) if match["y"] else spans.nearest_month(said, number)
    part = match["part"] or match["of"] or ""
    return spans.month(year, number, {"beginning": "start"}.get(part, part))


def _quarter(match: re.Match[str], said: datetime) -> Span:
    return spans.quarter(said.year, int(match["q"]), "end" if match["of"] else "")


def _slashed(match: re.Match[str], said: datetime) -> Span:
    return spans.date_in(said, int(match[1]), int(match[2]))


def _day_of_month(match: re.Match[str], said: datetime) -> Span:
    day = int(match["d"])
    if match["away"]:
        away = spans.month(said.year, said.month + _AWAY[match["away"]])[0]
        return spans.days(away.replace(day=day))
    return spans.next_day_of_month(said, day)


def _later(match: re.Match[str], said: datetime) -> Span:
    count = _count(match["n"] or match["n2"])
    if match["work"] or match["work2"]:
        return spans.after_workdays(said, round(count))
    return spans.after(said, count, (match["unit"] or match["unit2"]).removesuffix("s"))


def _stretch(match: re.Match[str], said: datetime) -> Span:
    until = spans.after(said, _count(match["n"]), match["unit"].removesuffix("s"))[0]
    return spans.midnight(said), until + timedelta(days=1)


def _count(word: str) -> float:
    return int(word) if word.isdecimal() else _COUNTS[word]


def _holiday(match: re.Match[str], said: datetime) -> Span:
    return spans.date_in(said, *_HOLIDAYS[match.group()])


ENGLISH: tuple[tuple[str, Resolve], ...] = (
    (
        (rf"\b(?P<m1>{_MONTH})\.? (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:%]| (?:times|people|days"
            r"|items))"
        r"(?:,? (?P<y1>20\d\d)\b)?"
        rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m2>{_MONTH})\b(?:,? (?P<y2>20\d\d)\b)?"),
        _date,
    ),
    (
        (rf"\b(?:{'|'.join(sorted(_NAMED, key=len, reverse=True))})\b"
        rf"(?! (?:on |of )?(?:{_DAY}|tomorrow|{_MONTH}))"),
        _named,
    ),
    (
        (rf"\b(?:(?P<lead>next|this|last|coming|following) )?(?P<day>{_DAY})\b"
        rf"(?!\s?(?:to|through|-|–|and) {_DAY})(?P<later>,? (?:of )?next week\b)?"),
        _weekday,
    ),
    (
        (rf"{_behind('by on before until till')}(?:(?P<lead>next|this) )?"
        rf"(?P<day>{'|'.join(_DAYS)}|tues|thurs?)\b(?P<later> next week\b)?"),
        _weekday,
    ),
    (r"\b(?:(next|this|the|coming) )?weekend\b", _weekend),
    (
        (r"\b(?:the )?(?P<part>end|middle|start|beginning|rest) of "
        r"(?:(?P<lead>this|next|the|last|current|following) )?(?P<unit>week|month|quarter|year)\b"),
        _unit,
    ),
    (
        (r"\b(?P<part>(?!))?(?P<lead>this|next|last|current|following) (?P<unit>week|month|quarter"
            r"|year)\b(?!['’]s)"),
        _unit,
    ),
    (r"\beo([wmqy])\b|\b(week|month|quarter|year)(?:['’]s)?[- ]end\b", _short_end),
    (
        (r"\b(?:(?P<of>end|middle|start|beginning) of |(?P<part>early|mid|late)[- ]|"
        rf"{_behind('in by until till from through during before starting of next this for')})"
        rf"(?P<m>{_FULL_MONTH})\b(?: (?P<y>20\d\d)\b)?(?! ?\d)"),
        _month,
    ),
    # Chinese says Q3 too, with its own words right beside it.
    (r"(?<![a-z0-9])(?:the )?(?P<of>end of )?q(?P<q>[1-4])(?![a-z0-9])", _quarter),
    (rf"{_behind('by on before until till due from')}(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])\b(?!/)", _slashed),
    (
        (rf"(?:{_behind(_MARKS)}|^)the (?P<d>\d{{1,2}})(?:st|nd|rd|th)\b(?: of (?P<away>this|next"
            r"|the) month\b)?"
        r"(?! (?:floor|time|century|street|row|line|page|item|one|of (?!this|next|the month)))"),
        _day_of_month,
    ),
    (
        (rf"\b(?:in|within) (?:the next )?(?P<n>{_COUNT}) (?P<work>(?:business|working|work) )?"
        r"(?P<unit>minute|hour|day|week|month|year)s?\b"
        rf"|\b(?P<n2>{_COUNT}) (?P<work2>(?:business|working) )?(?P<unit2>minute|hour|day|week|month"
            r"|year)s?"
        r" (?:from now|later)\b"),
        _later,
    ),
    (rf"\bfor (?:the next|another) (?P<n>{_COUNT}) (?P<unit>day|week|month|year)s?\b", _stretch),
    ("|".join(_HOLIDAYS), _holiday),
)  # fmt: skip
"""Patterns and what they name. A match that no calendar has raises ValueError."""
