"""The canonical terms of days, months and years, by which a date is found however it was written.

A day is `d20240502`, `d0502`, `m05`, `y2024`, `w4` (Thursday) and its week, `k2024_18`.
Source: spec: design, Chinese; data README, What that taught.
"""

from datetime import UTC, date, datetime, timedelta, timezone

BEIJING = timezone(timedelta(hours=8))


def day_of(at_ms: int | None) -> date | None:
    """Return the day in Beijing of a time in epoch milliseconds, None where no calendar has it.

    >>> day_of(1714608000000)
    datetime.date(2024, 5, 2)
    """
    if at_ms is None:
        return None
    try:
        return datetime.fromtimestamp(at_ms // 1000, UTC).astimezone(BEIJING).date()
    except (OverflowError, ValueError, OSError):
        return None


def day_terms(day: date) -> list[str]:
    """Return every canonical term of one day.

    >>> day_terms(date(2024, 5, 2))
    ['d20240502', 'd0502', 'm05', 'y2024', 'w4', 'k2024_18']
    """
    return [
        *date_terms(day.year, day.month, day.day),
        weekday_term(day.isoweekday()),
        week_term(day),
    ]


def date_terms(year: int | None, month: int, day: int | None) -> list[str]:
    """Return the terms of a date that may lack its year or its day; none when it can't be one.

    >>> date_terms(None, 5, 2), date_terms(2024, 5, None), date_terms(2023, 2, 29)
    (['d0502', 'm05'], ['m05', 'y2024'], [])
    """
    if not _exists(year, month, day):
        return []
    terms = [f"m{month:02}"]
    if day is not None:
        terms.insert(0, f"d{month:02}{day:02}")
    if year is None:
        return terms
    if day is not None:
        terms.insert(0, f"d{year:04}{month:02}{day:02}")
    return [*terms, year_term(year)]


def _exists(year: int | None, month: int, day: int | None) -> bool:
    leap_year = 2000
    try:
        date(leap_year if year is None else year, month, 1 if day is None else day)
    except ValueError:
        return False
    return True


def year_term(year: int) -> str:
    """Return a year's term.

    >>> year_term(2024)
    'y2024'
    """
    return f"y{year:04}"


def weekday_term(weekday: int) -> str:
    """Return the term of a weekday, counted from Monday = 1.

    >>> weekday_term(7)
    'w7'
    """
    return f"w{weekday}"


def week_term(day: date) -> str:
    """Return the term of the ISO week that holds `day`.

    >>> week_term(date(2024, 12, 30))
    'k2025_01'
    """
    year, week, _ = day.isocalendar()
    return f"k{year:04}_{week:02}"


def shifted_days(day: date, days: int) -> date | None:
    """Return the date some days away, None beyond the calendar."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def shifted_months(day: date, months: int) -> list[str]:
    """Return the terms of the month some months away; none beyond the calendar.

    >>> shifted_months(date(2024, 1, 31), -1)
    ['m12', 'y2023']
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date_terms(year, month + 1, None)
