"""Dates, weekdays and times in one form, whatever the language they were written in.

Days have the terms of `calendar_terms`; a time of day is `h07` and `t0730` on a clock of twelve
hours, since people leave the half of the day out. Source: spec: design, Chinese.
"""

import re
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from pipeline.text import relative_dates
from pipeline.text.calendar_terms import date_terms, year_term

_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
]  # fmt: skip
_SHORT_MONTHS = [month[:3] for month in _MONTHS]
# Modal verb and month: told apart by what stands beside it.
_AMBIGUOUS = frozenset({"may", *_SHORT_MONTHS, "sept"})

_START = r"(?<![A-Za-z0-9_./\\-])"
_END = r"(?![A-Za-z0-9_/\\-]|\.[0-9])"
_YEAR = "((?:19|20)[0-9]{2})"
_ORDINAL = "(?:st|nd|rd|th)?"
_NUMERIC = re.compile(
    rf"{_START}{_YEAR}([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}})(?:[Tt](?=[0-9]{{2}}:)|{_END})"
)
_COMPACT = re.compile(rf"{_START}{_YEAR}([01][0-9])([0-3][0-9]){_END}")
_CHINESE = re.compile(rf"(?<![0-9.])(?:{_YEAR}年)?([0-9]{{1,2}})月份?(?:([0-9]{{1,2}})[日号])?")
_CHINESE_YEAR = re.compile(rf"(?<![0-9.]){_YEAR}年")
_LONE_YEAR = re.compile(rf"{_START}{_YEAR}{_END}")
_ENGLISH = re.compile(
    rf"(?:{_START}([0-9]{{1,2}}){_ORDINAL} (?:of )?)?"
    r"(?:(?<![A-Za-z])(in|since|until|till|last|next|this|during|of|early|late|mid|by|from|every) )?"
    rf"{_START}({'|'.join([*_MONTHS, 'sept', *_SHORT_MONTHS])})(?![A-Za-z0-9_-])\.?"
    rf"(?: ([0-9]{{1,2}}){_ORDINAL}(?![A-Za-z0-9:]))?(?:,? (?:of )?{_YEAR}(?![0-9]))?",
    re.IGNORECASE,
)
_ENGLISH_WEEKDAY = re.compile(
    rf"{_START}(?:(last|this|next) )?({'|'.join(_WEEKDAYS)})s?(?![A-Za-z0-9_])", re.IGNORECASE
)
_CHINESE_WEEKDAY = re.compile(
    "(上上|上|这|本|下下|下)?个?(?:周|星期|礼拜)([一二三四五六日天1-6])(?![次个遍趟回0-9气边])"
)
_WEEKS_AWAY = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_CLOCK = re.compile(
    rf"{_START}([01]?[0-9]|2[0-4]):([0-5][0-9])(?::[0-5][0-9](?:\.[0-9]{{1,9}})?)?"
    r"(?:Z|(?:\+|-)[0-9]{2}:?[0-9]{2}| ?[APap][Mm])?(?![A-Za-z0-9:])"
)
_ENGLISH_HOUR = re.compile(rf"{_START}(1[0-2]|0?[1-9]) ?(?:[ap]m|o'clock)(?![a-z])", re.IGNORECASE)
_CHINESE_HOUR = re.compile(
    "(?<![0-9.])([01]?[0-9]|2[0-4])点(?:钟|整|(半)|([13])刻|([0-5]?[0-9])(?:分|(?![0-9.个])))?"
)
_QUARTER = 15


class _Rule(NamedTuple):
    """What a pattern's match means. `keep` leaves the words themselves in the text."""

    pattern: re.Pattern[str]
    terms: Callable[[re.Match[str], date | None], list[str]]
    keep: bool


def _number(group: str | None) -> int | None:
    return int(group) if group else None


def _numeric(match: re.Match[str], _: date | None) -> list[str]:
    return date_terms(int(match[1]), int(match[3]), int(match[4]))


def _plain(match: re.Match[str], _: date | None) -> list[str]:
    return date_terms(_number(match[1]), int(match[2]), _number(match[3]))


def _year(match: re.Match[str], _: date | None) -> list[str]:
    return [year_term(int(match[1]))]


def _english(match: re.Match[str], _: date | None) -> list[str]:
    day, lead, name, day_after, year = match.groups()
    name = name.lower()
    if name in _AMBIGUOUS and not (day or day_after or year or (name == "may" and lead)):
        return []
    month = _SHORT_MONTHS.index(name[:3]) + 1
    return date_terms(_number(year), month, _number(day or day_after))


def _english_weekday(match: re.Match[str], today: date | None) -> list[str]:
    weekday = _WEEKDAYS.index(match[2].lower()) + 1
    return relative_dates.nearest_weekday(weekday, match[1], today)


def _chinese_weekday(match: re.Match[str], today: date | None) -> list[str]:
    weekday = "一二三四五六日".find(match[2]) + 1 or (7 if match[2] == "天" else int(match[2]))
    weeks = _WEEKS_AWAY[match[1]] if match[1] else None
    return relative_dates.weekday_of_week(weekday, weeks, today)


def _clock(match: re.Match[str], _: date | None) -> list[str]:
    return _time_terms(int(match[1]), int(match[2]))


def _hour(match: re.Match[str], _: date | None) -> list[str]:
    return _time_terms(int(match[1]), None)


def _chinese_hour(match: re.Match[str], _: date | None) -> list[str]:
    hour, half, quarters, minutes = match.groups()
    minute = 2 * _QUARTER if half else _number(minutes)
    return _time_terms(int(hour), int(quarters) * _QUARTER if quarters else minute)


def _time_terms(hour: int, minute: int | None) -> list[str]:
    terms = [f"h{hour % 12:02}"]
    return terms if minute is None else [*terms, f"t{hour % 12:02}{minute:02}"]


_RULES = (
    _Rule(relative_dates.AGO, relative_dates.ago_terms, keep=True),
    _Rule(_CHINESE_WEEKDAY, _chinese_weekday, keep=False),
    _Rule(_ENGLISH_WEEKDAY, _english_weekday, keep=False),
    _Rule(relative_dates.WORD, relative_dates.word_terms, keep=True),
    _Rule(_NUMERIC, _numeric, keep=False),
    _Rule(_COMPACT, _plain, keep=True),
    _Rule(_CHINESE, _plain, keep=False),
    _Rule(_CHINESE_YEAR, _year, keep=False),
    _Rule(_ENGLISH, _english, keep=False),
    _Rule(_LONE_YEAR, _year, keep=True),
    _Rule(_CLOCK, _clock, keep=False),
    _Rule(_ENGLISH_HOUR, _hour, keep=False),
    _Rule(_CHINESE_HOUR, _chinese_hour, keep=False),
)


def extract(text: str, today: date | None) -> tuple[str, list[str]]:
    """Take the dates and times out of a text.

    Args:
        text: Folded text, its Chinese numerals already in figures.
        today: The day that "yesterday" and 上周三 are counted from; None leaves them unresolved.

    Returns:
        The text with a space where a date stood (relative words stay, being words too), and the
        canonical terms without repeats.

    >>> extract("5月2号去体检", None)
    (' 去体检', ['d0502', 'm05'])
    >>> extract("I may go on May 2nd, 2024", None)
    ('I may go on  ', ['d20240502', 'd0502', 'm05', 'y2024'])
    """
    found: dict[str, None] = {}
    for rule in _RULES:
        if rule.pattern.search(text):
            text = rule.pattern.sub(_collector(rule, today, found), text)
    return text, list(found)


def _collector(
    rule: _Rule, today: date | None, found: dict[str, None]
) -> Callable[[re.Match[str]], str]:
    def collect(match: re.Match[str]) -> str:
        terms = rule.terms(match, today)
        found.update(dict.fromkeys(terms))
        return " " if terms and not rule.keep else match[0]

    return collect
