"""Stretches of days by the calendar: where each begins and which moment is the first behind it."""

from datetime import datetime

import pytest

from pipeline.rules import spans
from pipeline.rules.spans import Span

pytestmark = pytest.mark.unit

SAID = datetime(2026, 3, 3, 9, 6, 40)  # noqa: DTZ001 - local, as all spans are
"""A Tuesday."""


def shown(span: Span) -> str:
    """`first..after` as dates; with times where they are no midnights."""
    first, after = (f"{moment:%Y-%m-%d %H:%M:%S}".removesuffix(" 00:00:00") for moment in span)
    return f"{first}..{after}"


def at(year: int, month: int, day: int, hour: int = 0) -> datetime:
    """A local moment."""
    return datetime(year, month, day, hour)  # noqa: DTZ001 - local


_SPANS: dict[str, tuple[Span, str]] = {
    "a day": (spans.days(SAID), "2026-03-03..2026-03-04"),
    "three days": (spans.days(SAID, 3), "2026-03-03..2026-03-06"),
    "a day ahead": (spans.day_from(SAID, 2), "2026-03-05..2026-03-06"),
    "a day ago": (spans.day_from(SAID, -3), "2026-02-28..2026-03-01"),
    "this week": (spans.week(SAID), "2026-03-02..2026-03-09"),
    "next week": (spans.week(SAID, 1), "2026-03-09..2026-03-16"),
    "last week": (spans.week(SAID, -1), "2026-02-23..2026-03-02"),
    "a week told on its Monday": (spans.week(at(2026, 3, 2)), "2026-03-02..2026-03-09"),
    "a week told on its Sunday": (spans.week(at(2026, 3, 8, 23)), "2026-03-02..2026-03-09"),
    "the end of this week": (spans.week_end(SAID), "2026-03-06..2026-03-07"),
    "the end of next week": (spans.week_end(SAID, 1), "2026-03-13..2026-03-14"),
    "Friday of this week": (spans.weekday(SAID, 4, 0), "2026-03-06..2026-03-07"),
    "Monday of this week": (spans.weekday(SAID, 0, 0), "2026-03-02..2026-03-03"),
    "Monday of last week": (spans.weekday(SAID, 0, -1), "2026-02-23..2026-02-24"),
    "the next Friday": (spans.weekday(SAID, 4, None), "2026-03-06..2026-03-07"),
    "the next Monday": (spans.weekday(SAID, 0, None), "2026-03-09..2026-03-10"),
    "the next Tuesday is today": (spans.weekday(SAID, 1, None), "2026-03-03..2026-03-04"),
    "a month": (spans.month(2026, 2), "2026-02-01..2026-03-01"),
    "a leap month": (spans.month(2028, 2), "2028-02-01..2028-03-01"),
    "a month's end": (spans.month(2026, 4, "end"), "2026-04-30..2026-05-01"),
    "a month's start": (spans.month(2026, 4, "start"), "2026-04-01..2026-04-06"),
    "a month's middle": (spans.month(2026, 4, "middle"), "2026-04-15..2026-04-16"),
    "a month's first ten days": (spans.month(2026, 5, "early"), "2026-05-01..2026-05-11"),
    "a month's second ten days": (spans.month(2026, 5, "mid"), "2026-05-11..2026-05-21"),
    "a month's last days": (spans.month(2026, 5, "late"), "2026-05-21..2026-06-01"),
    "the last days of February": (spans.month(2026, 2, "late"), "2026-02-21..2026-03-01"),
    "December": (spans.month(2026, 12), "2026-12-01..2027-01-01"),
    "the month behind December": (spans.month(2026, 13), "2027-01-01..2027-02-01"),
    "the month before January": (spans.month(2026, 0), "2025-12-01..2026-01-01"),
    "two years of months on": (spans.month(2026, 25), "2028-01-01..2028-02-01"),
    "a quarter": (spans.quarter(2026, 2), "2026-04-01..2026-07-01"),
    "the first quarter": (spans.quarter(2026, 1), "2026-01-01..2026-04-01"),
    "a quarter's end": (spans.quarter(2026, 2, "end"), "2026-06-30..2026-07-01"),
    "a quarter's start": (spans.quarter(2026, 2, "start"), "2026-04-01..2026-04-06"),
    "a quarter's middle": (spans.quarter(2026, 2, "middle"), "2026-05-15..2026-05-16"),
    "next year's first quarter": (spans.quarter(2026, 5), "2027-01-01..2027-04-01"),
    "last year's last quarter": (spans.quarter(2026, 0), "2025-10-01..2026-01-01"),
    "a year": (spans.year(2026), "2026-01-01..2027-01-01"),
    "a year's end": (spans.year(2026, "end"), "2026-12-31..2027-01-01"),
    "a year's start": (spans.year(2026, "start"), "2026-01-01..2026-01-06"),
    "a year's middle": (spans.year(2026, "middle"), "2026-06-30..2026-07-01"),
    "a date": (spans.date_in(SAID, 5, 2), "2026-05-02..2026-05-03"),
    "a date of a year": (spans.date_in(SAID, 5, 2, 2030), "2030-05-02..2030-05-03"),
    "a date just past": (spans.date_in(SAID, 3, 2), "2026-03-02..2026-03-03"),
    "a date half a year past": (spans.date_in(at(2026, 11, 3), 5, 4), "2026-05-04..2026-05-05"),
    "a date longer past": (spans.date_in(at(2026, 11, 3), 5, 3), "2027-05-03..2027-05-04"),
    "the next 20th": (spans.next_day_of_month(SAID, 20), "2026-03-20..2026-03-21"),
    "the next 3rd is today": (spans.next_day_of_month(SAID, 3), "2026-03-03..2026-03-04"),
    "the next 2nd": (spans.next_day_of_month(SAID, 2), "2026-04-02..2026-04-03"),
    "the next 2nd of a new year": (
        spans.next_day_of_month(at(2026, 12, 9), 2), "2027-01-02..2027-01-03",
    ),
    "three workdays": (spans.after_workdays(SAID, 3), "2026-03-06..2026-03-07"),
    "four workdays over a week's end": (spans.after_workdays(SAID, 4), "2026-03-09..2026-03-10"),
    "one workday from a Saturday": (spans.after_workdays(at(2026, 3, 7, 5), 1), "2026-03-09..2026-03-10"),
    "no workday": (spans.after_workdays(SAID, 0), "2026-03-03..2026-03-04"),
    "half an hour": (spans.after(SAID, 0.5, "hour"), "2026-03-03 09:36:40..2026-03-03 09:36:40"),
    "ten minutes": (spans.after(SAID, 10, "minute"), "2026-03-03 09:16:40..2026-03-03 09:16:40"),
    "two days": (spans.after(SAID, 2, "day"), "2026-03-05..2026-03-06"),
    "two weeks": (spans.after(SAID, 2, "week"), "2026-03-17..2026-03-18"),
    "one and a half weeks": (spans.after(SAID, 1.5, "week"), "2026-03-13..2026-03-14"),
    "two months": (spans.after(SAID, 2, "month"), "2026-05-03..2026-05-04"),
    "a month from the 31st": (spans.after(at(2026, 1, 31), 1, "month"), "2026-02-28..2026-03-01"),
    "half a month": (spans.after(SAID, 0.5, "month"), "2026-03-18..2026-03-19"),
    "half a year": (spans.after(SAID, 0.5, "year"), "2026-09-03..2026-09-04"),
    "two years": (spans.after(SAID, 2, "year"), "2028-03-03..2028-03-04"),
}  # fmt: skip


@pytest.mark.parametrize(("span", "wanted"), _SPANS.values(), ids=_SPANS)
def test_a_stretch_runs_from_midnight_to_midnight(span: Span, wanted: str) -> None:
    """The first moment is in, the last one out; hours and minutes name a moment (D2)."""
    assert shown(span) == wanted


def test_a_month_over_for_half_a_year_is_next_year_s() -> None:
    """Named without a year it is the nearest one, the past half year included."""
    said = at(2026, 11, 3)
    assert [spans.nearest_month(said, number) for number in (3, 4, 5, 10, 12)] == [
        2027, 2027, 2026, 2026, 2026,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("month", "day", "year"), [(2, 30, None), (13, 1, None), (2, 29, 2026), (0, 1, 2026)]
)
def test_a_day_that_no_calendar_has_is_refused(month: int, day: int, year: int | None) -> None:
    """Whoever names one means something else, and hears of it."""
    with pytest.raises(ValueError, match=r"day|month"):
        spans.date_in(SAID, month, day, year)


def test_what_lies_beyond_the_calendar_is_refused() -> None:
    """Years have four figures, wherever a count leads."""
    with pytest.raises((OverflowError, ValueError)):
        spans.after(SAID, 9_000, "year")
    with pytest.raises(OverflowError):
        spans.after(SAID, 4_000_000, "day")
    with pytest.raises(ValueError, match="day"):
        spans.next_day_of_month(SAID, 32)
