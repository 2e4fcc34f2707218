"""Workdays: what happened at night belongs to the day before (mission F2)."""

from datetime import datetime, timedelta, timezone

BEIJING = timezone(timedelta(hours=8), "Asia/Shanghai")
"""The time zone of workdays and of all days that people name (mission F2)."""

DAY_STARTS = timedelta(hours=3, minutes=30)


def workday(at_ms: int) -> str:
    """The workday of a moment: 03:30 to 03:29:59 Beijing time, as an ISO date.

    >>> workday(1_700_000_000_000)
    '2023-11-15'
    """
    return (datetime.fromtimestamp(at_ms / 1000, BEIJING) - DAY_STARTS).date().isoformat()
