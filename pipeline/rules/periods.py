"""The periods that a text names, in Chinese and English, where they stand and when they are.

Nothing here reads a clock: words of last year name days of last year.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from pipeline.rules import spans
from pipeline.rules.chinese_days import CHINESE, Resolve
from pipeline.rules.english_days import ENGLISH

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """Code points `start` to `end` of a text name the time from `first` to just before `after`.

    Local times without a zone; a moment has the two equal.
    """

    start: int
    end: int
    first: datetime
    after: datetime

    @property
    def whole_days(self) -> int:
        """How many days it lasts, 0 for a moment."""
        return (self.after - self.first) // _DAY


def names_time(text: str) -> bool:
    """Whether a text may name a time at all. `text` is simplified and in lower case."""
    return _TIME.search(text) is not None


def periods(text: str, said: datetime) -> list[Period]:
    """What a text names, in the order of its words. `text` is simplified and in lower case.

    What comes again and again (每周五, every Friday) is no period.

    >>> [(p.first.day, p.after.day) for p in periods("周五前, or by may 2", datetime(2026, 3, 3))]
    [(6, 7), (2, 3)]
    """
    found: list[Period] = []
    if not names_time(text):
        return found
    for period in sorted(_found(text, said), key=lambda period: (period.start, -period.end)):
        if not found or period.start >= found[-1].end:
            found.append(period)
    return [period for period in found if not _recurs(text, period)]


def _found(text: str, said: datetime) -> Iterator[Period]:
    latin = _LATIN.search(text) is not None
    for pattern, resolve in (
        *_BOTH,
        *(() if text.isascii() else _CHINESE),
        *(_ENGLISH if latin else ()),
    ):
        for match in pattern.finditer(text):
            try:
                first, after = resolve(match, said)
            except (ValueError, OverflowError):
                # The text names a day that no calendar has, such as 2月30日.
                continue
            yield Period(match.start(), match.end(), first, after)


def _recurs(text: str, period: Period) -> bool:
    before = text[max(period.start - _NEAR, 0) : period.start]
    after = text[period.end : period.end + 6]
    return _EACH.search(before) is not None or _RANGE.match(after) is not None


def _iso(match: re.Match[str], _said: datetime) -> spans.Span:
    return spans.days(datetime(int(match[1]), int(match[2]), int(match[3])))  # noqa: DTZ001 - local


_NEAR = 20
_EACH = re.compile(
    r"每(?:个|逢|到)?(?:周|月|年|星期)?$|(?:周|星期|礼拜)[一二三四五六]\s?(?:到|至|~|-|—)\s?$"
    r"|\b(?:every|each|per)(?: \w{1,6})? $|day\s?(?:to|through|-|–)\s?$"
)
_RANGE = re.compile(r"\s?(?:到|至|~|-|—)\s?(?:周|星期)[一二三四五六日天]")
_ISO = r"(?<!\d)(\d{4})\s?[-/年.]\s?(\d{1,2})\s?[-/月.]\s?(\d{1,2})(?!\d)日?"
_LATIN = re.compile(r"[a-z]{2}|q[1-4]")
_TIME = re.compile(
    r"[天日周月年号后内晚早底末旦]|星期|礼拜|节|钟|五一|国庆|圣诞|季度|\d[:：/.-]\d|\d\s?[点时]"
    r"|\b(?:today|tonight|tomorrow|yesterday|days?"
    r"|weeks?|months?|quarters?|years?|hours?|minutes?|eo[dwmqy]|cob|noon|mornings?|afternoons?"
    r"|evenings?|weekends?|close of business"
    r"|[a-z]{2,6}day|mon|tues?|wed|thu|thurs?|fri|sat|sun|jan\w{0,24}|feb\w{0,24}|mar(?:ch)?|apr\w{0,24}|may"
    r"|june?|july?|aug\w{0,24}|sep\w{0,24}|oct\w{0,24}|nov\w{0,24}"
    r"|dec\w{0,24}|christmas|the \d{1,2}(?:st|nd|rd|th)|\d{1,2} ?[ap]\.?m)\b|q[1-4](?![a-z0-9])|[点时]"
)
_Rows = tuple[tuple[re.Pattern[str], Resolve], ...]


def _compiled(rows: tuple[tuple[str, Resolve], ...]) -> _Rows:
    return tuple((re.compile(pattern), resolve) for pattern, resolve in rows)


_BOTH = _compiled(((_ISO, _iso),))
_CHINESE = _compiled(CHINESE)
_ENGLISH = _compiled(ENGLISH)
