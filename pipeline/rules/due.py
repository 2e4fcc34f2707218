"""When something is due: days and times in Chinese and English, told from when it was said.

Days are Beijing days (mission F2). Nothing here reads a clock: a statement of last year resolves
to days of last year.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone

from pipeline.rules.wording import simplified

BEIJING = timezone(timedelta(hours=8), "Asia/Shanghai")

_END_OF_DAY = time(23, 59, 59)
_HALF_YEAR = timedelta(days=183)
_NUMERALS = "零一二三四五六七八九十"
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_ENGLISH_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ENGLISH_MONTHS = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "两": 2}
_NAMED = {
    "今天": 0, "今晚": 0, "今日": 0, "明天": 1, "明早": 1, "明晚": 1, "明日": 1, "后天": 2, "大后天": 3,
    "today": 0, "tonight": 0, "tomorrow": 1, "the day after tomorrow": 2,
}  # fmt: skip

_DAY_WORD = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)day"
_MONTH_WORD = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
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
    return datetime.fromtimestamp(at_ms / 1000, BEIJING).date()


def find_due(text: str, said_at: int) -> Due | None:
    """The first day that a text names, or None. `said_at` is epoch milliseconds.

    A day that is over when it is named without a year means the next such day.

    >>> find_due("周五下午3点前交报告", 1_700_000_000_000).day
    '2023-11-17'
    >>> find_due("by next Monday", 1_700_000_000_000).day
    '2023-11-20'
    """
    plain = simplified(text).lower()
    today = beijing_day(said_at)
    found: tuple[int, date] | None = None
    for pattern, resolve in _TABLE:
        match = pattern.search(plain)
        if match is None or (found is not None and found[0] <= match.start()):
            continue
        day = _resolved(resolve, match, today)
        if day is not None:
            found = (match.start(), day)
    if found is None:
        return None
    moment = datetime.combine(found[1], _time_of_day(plain), BEIJING)
    return Due(day=found[1].isoformat(), at_ms=int(moment.timestamp()) * 1000)


def _resolved(
    resolve: "Callable[[re.Match[str], date], date]", match: re.Match[str], today: date
) -> date | None:
    try:
        return resolve(match, today)
    except (ValueError, OverflowError):
        # The text names a day that no calendar has, such as 2月30日.
        return None


def _iso(match: re.Match[str], _today: date) -> date:
    return date(int(match[1]), int(match[2]), int(match[3]))


def _month_day(match: re.Match[str], today: date) -> date:
    return _nearest(today, int(match[1]), int(match[2]))


def _english_date(match: re.Match[str], today: date) -> date:
    word, day = (match[1], match[2]) if match[1] else (match[4], match[3])
    month = _ENGLISH_MONTHS.index(word[:3]) + 1
    return _nearest(today, month, int(day))


def _nearest(today: date, month: int, day: int) -> date:
    this_year = date(today.year, month, day)
    return this_year if this_year >= today - _HALF_YEAR else date(today.year + 1, month, day)


def _named(match: re.Match[str], today: date) -> date:
    return today + timedelta(days=_NAMED[match.group()])


def _chinese_weekday(match: re.Match[str], today: date) -> date:
    monday = today - timedelta(days=today.weekday())
    day = monday + timedelta(days=_WEEKDAYS[match[2]])
    weeks = len(match[1] or "") if (match[1] or "").startswith("下") else 0
    if weeks or match[1]:
        return day + timedelta(weeks=weeks)
    return day if day >= today else day + timedelta(weeks=1)


def _english_weekday(match: re.Match[str], today: date) -> date:
    weekday = _ENGLISH_DAYS.index(match[2][:3])
    if (match[1] or "").strip() == "next":
        monday = today - timedelta(days=today.weekday())
        return monday + timedelta(weeks=1, days=weekday)
    return today + timedelta(days=(weekday - today.weekday()) % 7)


def _month_end(match: re.Match[str], today: date) -> date:
    later = match.group().startswith("下") or "next" in match.group()
    year, month = _next_month(today) if later else (today.year, today.month)
    return date(year, month, calendar.monthrange(year, month)[1])


def _week_end(match: re.Match[str], today: date) -> date:
    weeks = 1 if match.group().startswith("下") or "next" in match.group() else 0
    return today - timedelta(days=today.weekday()) + timedelta(weeks=weeks, days=4)


def _day_of_month(match: re.Match[str], today: date) -> date:
    day = int(match[2])
    if match[1]:
        year, month = _next_month(today)
        return date(year, month, day)
    if day >= today.day:
        return today.replace(day=day)
    year, month = _next_month(today)
    return date(year, month, day)


def _next_month(today: date) -> tuple[int, int]:
    return (today.year + today.month // 12, today.month % 12 + 1)


def _in_days(match: re.Match[str], today: date) -> date:
    return today + timedelta(days=_count(match[1] or match[2]))


def _in_weeks(match: re.Match[str], today: date) -> date:
    return today + timedelta(weeks=_count(match[1] or match[2]))


def _count(word: str) -> int:
    if word.isdecimal():
        return int(word)
    return _COUNTS[word] if word in _COUNTS else _NUMERALS.index(word)


_HOUR = re.compile(
    r"(早上|上午|中午|下午|傍晚|晚上|今晚|明晚)?\s?(\d{1,2}|[一二两三四五六七八九十])[点时](半|\d{1,2})?"
    r"|\b(\d{1,2})(?::([0-5]\d))?\s?(am|pm)\b|\b([01]?\d|2[0-3]):([0-5]\d)\b"
)
_NOON = 12
_AFTERNOON = frozenset({"下午", "傍晚", "晚上", "今晚", "明晚", "pm"})
_MIDNIGHT = 24


def _time_of_day(text: str) -> time:
    match = _HOUR.search(text)
    if match is None:
        return _END_OF_DAY
    half = match[1] or match[6]
    hour = _count(match[2] or match[4] or match[7])
    minute = 30 if match[3] == "半" else int(match[3] or match[5] or match[8] or 0)
    if half in _AFTERNOON and hour < _NOON:
        hour += _NOON
    if half == "am" and hour == _NOON:
        hour = 0
    return time(hour, minute) if hour < _MIDNIGHT and minute < 60 else _END_OF_DAY  # noqa: PLR2004


_TABLE: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], date]], ...] = tuple(
    (re.compile(pattern), resolve)
    for pattern, resolve in (
        (r"(?<!\d)(\d{4})\s?[-/年.]\s?(\d{1,2})\s?[-/月.]\s?(\d{1,2})(?!\d)", _iso),
        (r"(?<![\d年])(\d{1,2})\s?月\s?(\d{1,2})\s?[日号]?", _month_day),
        (
            (
                rf"\b{_MONTH_WORD}\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
                rf"|\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH_WORD}\b"
            ),
            _english_date,
        ),
        (r"大后天|今天|今晚|今日|明天|明早|明晚|明日|(?<!大)后天", _named),
        (r"\b(?:the day after tomorrow|today|tonight|tomorrow)\b", _named),
        (r"(这|本|下{1,2})?(?:个)?(?:周|星期|礼拜)([一二三四五六日天])", _chinese_weekday),
        (rf"\b(next |this |on |by |before )?({_DAY_WORD})\b", _english_weekday),
        (r"(?:下个?月|本月|这个月|月)(?:底|末)|\bend of (?:the|this|next) month\b", _month_end),
        (r"(?:下个?周|本周|这周)(?:内|末前)|\bend of (?:the|this|next) week\b", _week_end),
        (r"(?<![\d月 ])(下个?月)?\s?(\d{1,2})\s?[号日](?![楼线店机])", _day_of_month),
        (
            (
                r"(\d{1,3}|[一二两三四五六七八九十])天(?:后|内|之内|以内)"
                r"|\b(?:in|within) (\d{1,3}|a|one|two|three) days?\b"
            ),
            _in_days,
        ),
        (
            (
                r"(\d{1,2}|[一二两三四])(?:个)?(?:周|星期)(?:后|内|之内|以内)"
                r"|\b(?:in|within) (\d{1,2}|a|one|two|three) weeks?\b"
            ),
            _in_weeks,
        ),
    )
)
