"""Stretches of days by the calendar: a day, a week, parts of months, quarters and years.

A span runs from its first midnight to the midnight after it, in local time without a zone; a moment
is a span of no length.
"""

import calendar
from datetime import datetime, time, timedelta

Span = tuple[datetime, datetime]
"""Start, and the first moment that no longer belongs to it."""

_HALF_YEAR = timedelta(days=183)
_WORKDAYS = 5
_EARLY = 5
_TENTHS = (1, 11, 21)
_MONTHS_A_QUARTER = 3
_MONTHS_A_YEAR = 12


def midnight(moment: datetime) -> datetime:
    """The start of a moment's day."""
    return datetime.combine(moment.date(), time())


def days(first: datetime, count: int = 1) -> Span:
    """That many days from the start of the first one."""
    start = midnight(first)
    return start, start + timedelta(days=count)


def day_from(said: datetime, away: int) -> Span:
    """The day that many days from the one of `said`."""
    return days(said + timedelta(days=away))


def week(said: datetime, away: int = 0) -> Span:
    """The week, Monday to Sunday, that many weeks from the one of `said`."""
    return days(said + timedelta(weeks=away, days=-said.weekday()), 7)


def weekday(said: datetime, number: int, away: int | None) -> Span:
    """A weekday (Monday is 0) of the week that many weeks away; the next one where None."""
    day = week(said, away or 0)[0] + timedelta(days=number)
    if away is None and day < midnight(said):
        day += timedelta(weeks=1)
    return days(day)


def week_end(said: datetime, away: int = 0) -> Span:
    """The last working day of a week."""
    return days(week(said, away)[0] + timedelta(days=_WORKDAYS - 1))


def month(year: int, number: int, part: str = "") -> Span:
    """A month, or its "end", "start", "middle", "early", "mid" or "late" part.

    `number` may lie outside 1 to 12 and then counts on into other years.

    Raises:
        ValueError: There is no such year.
    """
    first = datetime(year + (number - 1) // 12, (number - 1) % 12 + 1, 1)  # noqa: DTZ001 - local
    length = calendar.monthrange(first.year, first.month)[1]
    match part:
        case "end":
            return days(first.replace(day=length))
        case "start":
            return days(first, _EARLY)
        case "middle":
            return days(first.replace(day=15))
        case "early" | "mid" | "late":
            begin = _TENTHS[("early", "mid", "late").index(part)]
            return days(first.replace(day=begin), 10 if part != "late" else length - begin + 1)
        case _:
            return days(first, length)


def quarter(year: int, number: int, part: str = "") -> Span:
    """A quarter, or its "end", "start" or "middle". `number` may lie outside 1 to 4."""
    last = number * _MONTHS_A_QUARTER
    first = last - _MONTHS_A_QUARTER + 1
    if part:
        return month(year, {"end": last, "start": first, "middle": first + 1}[part], part)
    return month(year, first)[0], month(year, last)[1]


def year(number: int, part: str = "") -> Span:
    """A year, or its "end", "start" or "middle", which is the end of June.

    Raises:
        ValueError: There is no such year.
    """
    if part == "middle":
        return month(number, _MONTHS_A_YEAR // 2, "end")
    if part:
        return month(number, _MONTHS_A_YEAR if part == "end" else 1, part)
    return month(number, 1)[0], month(number, _MONTHS_A_YEAR)[1]


def nearest_month(said: datetime, number: int) -> int:
    """The year of a month that is named without one: over for half a year means the next.

    >>> nearest_month(datetime(2026, 3, 3), 1), nearest_month(datetime(2026, 11, 3), 1)
    (2026, 2027)
    """
    ended = month(said.year, number)[1]
    return said.year if ended >= said - _HALF_YEAR else said.year + 1


def date_in(said: datetime, number: int, day: int, year_said: int | None = None) -> Span:
    """A day of a month, in the nearest such year where none is said.

    Raises:
        ValueError: No calendar has that day.
    """
    if year_said is not None:
        return days(datetime(year_said, number, day))  # noqa: DTZ001 - local
    day_of_year = datetime(said.year, number, day)  # noqa: DTZ001 - local
    if day_of_year < midnight(said) - _HALF_YEAR:
        day_of_year = datetime(said.year + 1, number, day)  # noqa: DTZ001 - local
    return days(day_of_year)


def next_day_of_month(said: datetime, day: int) -> Span:
    """The next day with that number, today included.

    Raises:
        ValueError: The month that it falls into has no such day.
    """
    away = 0 if day >= said.day else 1
    return days(month(said.year, said.month + away)[0].replace(day=day))


def after_workdays(said: datetime, count: int) -> Span:
    """The day on which that many working days (Monday to Friday) are over."""
    day = midnight(said)
    while count > 0:
        day += timedelta(days=1)
        count -= day.weekday() < _WORKDAYS
    return days(day)


def after(said: datetime, count: float, unit: str) -> Span:
    """What is that many minutes, hours, days, weeks, months or years away.

    Minutes and hours give a moment, the others a day.

    Raises:
        OverflowError: It lies beyond the calendar.
        ValueError: The same.
    """
    if unit in {"minute", "hour"}:
        moment = said + timedelta(**{f"{unit}s": count})
        return moment, moment
    if unit in {"day", "week"}:
        return days(said + timedelta(days=round(count * (7 if unit == "week" else 1))))
    months = round(count * (_MONTHS_A_YEAR if unit == "year" else 1))
    if months == 0:
        return days(said + timedelta(days=15))
    there = month(said.year, said.month + months)[0]
    last = calendar.monthrange(there.year, there.month)[1]
    return days(there.replace(day=min(said.day, last)))
