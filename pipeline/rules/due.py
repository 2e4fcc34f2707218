"""When something is due: days and times in Chinese and English, told from when it was said.

Days are Beijing days (mission F2). Nothing here reads a clock: a statement of last year resolves
to days of last year.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone

from pipeline.rules.clock_times import clock_time, part_of_day
from pipeline.rules.periods import Period, periods
from pipeline.rules.wording import simplified

BEIJING = timezone(timedelta(hours=8), "Asia/Shanghai")

_END_OF_DAY = time(23, 59, 59)
_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)
_NEAR = 16
"""Code points around a day's name within which a time of day belongs to it."""

_DEADLINE_AFTER = re.compile(
    r"[早上中下午傍晚班底点半整钟\d:：一二三四五六七八九十两\s]{0,9}"
    r"(?:前(?!台|面|端|后|任|一)|之前|以前|之内|以内|内(?!部|容|存)|截止)"
)
_STRICTLY_AFTER = re.compile(r"\s?(?:之前|以前|前)(?!台|面|端)")
_DEADLINE_BEFORE = re.compile(
    r"\b(?:by|before|until|till|due|no later than|deadline is)(?: on)?(?: the)? ?$"
)
_STRICTLY_BEFORE = re.compile(r"\bbefore(?: the)? ?$")
_TODAY = re.compile(
    r"(?:下班|午饭|中午|下午|晚上|天黑)(?:之)?前|(?<![天早一二三四五六日])(?:下午|晚上)(?!班|好|茶"
    r"|餐)"
)


@dataclass(frozen=True, slots=True)
class Due:
    """A day (ISO, Beijing) and the last moment of what was named, in epoch milliseconds."""

    day: str
    at_ms: int


def beijing_day(at_ms: int) -> date:
    """The Beijing calendar day of a moment.

    >>> beijing_day(1_700_000_000_000).isoformat()
    '2023-11-15'
    """
    return local_time(at_ms).date()


def local_time(at_ms: int) -> datetime:
    """The moment on a Beijing clock, without its zone."""
    return datetime.fromtimestamp(at_ms // 1000, BEIJING).replace(tzinfo=None)


def epoch_ms(local: datetime) -> int:
    """The moment that a Beijing clock shows, in epoch milliseconds.

    >>> epoch_ms(local_time(1_700_000_000_000))
    1700000000000
    """
    return int(local.replace(tzinfo=BEIJING).timestamp()) * 1000


def find_due(text: str, said_at: int) -> Due | None:
    """The day by which a text says that something is due, or None. `said_at` is epoch milliseconds.

    A day that a text names as a limit (前, by) counts before one that it merely names. What is
    over, and what comes again and again (每周五), is no due day.

    >>> find_due("周五下午3点前交报告", 1_700_000_000_000).day
    '2023-11-17'
    >>> find_due("by next Monday", 1_700_000_000_000).day
    '2023-11-20'
    """
    plain = simplified(text).lower()
    said = local_time(said_at)
    named = [period for period in periods(plain, said) if period.after > said]
    chosen = _limit(plain, named) or next(iter(named), None)
    moment = _last_moment(plain, chosen) if chosen else _today_at(plain, said)
    if moment is None or moment < said:
        return None
    return Due(day=moment.date().isoformat(), at_ms=epoch_ms(moment))


def _limit(text: str, named: Iterable[Period]) -> Period | None:
    for period in named:
        if _DEADLINE_AFTER.match(text, period.end) or _DEADLINE_BEFORE.search(
            text, max(period.start - _NEAR, 0), period.start
        ):
            return period
    return None


def _last_moment(text: str, period: Period) -> datetime:
    if period.first == period.after:
        return period.first
    if period.whole_days == 1:
        near = text[max(period.start - _NEAR, 0) : period.end + _NEAR]
        clock = clock_time(near) or part_of_day(near[-_NEAR - period.end + period.start :] + near)
        return datetime.combine(period.first.date(), clock or _END_OF_DAY)
    before = _STRICTLY_AFTER.match(text, period.end) or _STRICTLY_BEFORE.search(
        text, max(period.start - _NEAR, 0), period.start
    )
    return (period.first if before else period.after) - _SECOND


def _today_at(text: str, said: datetime) -> datetime | None:
    """A time of day alone is the next such time; a part of a day is today's."""
    clock = clock_time(text, from_hour=said.hour)
    if clock is not None:
        today = datetime.combine(said.date(), clock)
        return today if today >= said else today + _DAY
    return datetime.combine(said.date(), _END_OF_DAY) if _TODAY.search(text) else None
