"""The days that English words name, counted from when they were said."""

from datetime import datetime

import pytest

from pipeline.rules.periods import Period, periods
from pipeline.rules.wording import simplified

pytestmark = pytest.mark.unit

SAID = datetime(2026, 3, 3, 9, 6, 40)  # noqa: DTZ001 - local, as all periods are
"""A Tuesday."""


def read(text: str) -> list[tuple[str, str]]:
    """The words that name a time, and the first moment of it with the first one behind it."""
    plain = simplified(text).lower()
    return [(plain[found.start : found.end], shown(found)) for found in periods(plain, SAID)]


def shown(period: Period) -> str:
    """`first..after` as dates; with times where they are no midnights."""
    moments = (f"{moment:%Y-%m-%d %H:%M:%S}" for moment in (period.first, period.after))
    return "..".join(moment.removesuffix(" 00:00:00") for moment in moments)


_DAYS = [
    ("on March 5", "march 5", "2026-03-05..2026-03-06"),
    ("by Mar. 5th, 2027", "mar. 5th, 2027", "2027-03-05..2027-03-06"),
    ("on 5 April", "5 april", "2026-04-05..2026-04-06"),
    ("the 5th of April 2027", "5th of april 2027", "2027-04-05..2027-04-06"),
    ("by March 2nd", "march 2nd", "2026-03-02..2026-03-03"),
    ("due today", "today", "2026-03-03..2026-03-04"),
    ("tonight", "tonight", "2026-03-03..2026-03-04"),
    ("this morning", "this morning", "2026-03-03..2026-03-04"),
    ("this afternoon", "this afternoon", "2026-03-03..2026-03-04"),
    ("this evening", "this evening", "2026-03-03..2026-03-04"),
    ("by EOD", "eod", "2026-03-03..2026-03-04"),
    ("by COB", "cob", "2026-03-03..2026-03-04"),
    ("by end of day", "end of day", "2026-03-03..2026-03-04"),
    ("by the end of the day", "end of the day", "2026-03-03..2026-03-04"),
    ("before close of business", "close of business", "2026-03-03..2026-03-04"),
    ("tomorrow", "tomorrow", "2026-03-04..2026-03-05"),
    ("the day after tomorrow", "the day after tomorrow", "2026-03-05..2026-03-06"),
    ("yesterday", "yesterday", "2026-03-02..2026-03-03"),
    ("tomorrow on Friday", "friday", "2026-03-06..2026-03-07"),
    ("EOD Friday", "friday", "2026-03-06..2026-03-07"),
    ("EOD of June", "june", "2026-06-01..2026-07-01"),
    ("this evening of tomorrow", "tomorrow", "2026-03-04..2026-03-05"),
    ("next Monday", "next monday", "2026-03-09..2026-03-10"),
    ("this Tuesday", "this tuesday", "2026-03-03..2026-03-04"),
    ("this Monday", "this monday", "2026-03-09..2026-03-10"),
    ("last Friday", "last friday", "2026-02-27..2026-02-28"),
    ("coming Friday", "coming friday", "2026-03-06..2026-03-07"),
    ("following Friday", "following friday", "2026-03-13..2026-03-14"),
    ("on Friday", "friday", "2026-03-06..2026-03-07"),
    ("a Tuesday", "tuesday", "2026-03-03..2026-03-04"),
    ("Monday, next week", "monday, next week", "2026-03-09..2026-03-10"),
    ("Friday of next week", "friday of next week", "2026-03-13..2026-03-14"),
    ("Saturday", "saturday", "2026-03-07..2026-03-08"),
    ("on Thursday", "thursday", "2026-03-05..2026-03-06"),
    ("Wednesday and Friday", "friday", "2026-03-06..2026-03-07"),
    ("by thurs", "thurs", "2026-03-05..2026-03-06"),
    ("on fri", "fri", "2026-03-06..2026-03-07"),
    ("by next tue", "next tue", "2026-03-10..2026-03-11"),
    ("by this tues", "this tues", "2026-03-03..2026-03-04"),
    ("before sat next week", "sat next week", "2026-03-14..2026-03-15"),
    ("until sun", "sun", "2026-03-08..2026-03-09"),
    ("till wed", "wed", "2026-03-04..2026-03-05"),
    ("I wed on monday", "monday", "2026-03-09..2026-03-10"),
    ("at the weekend", "the weekend", "2026-03-07..2026-03-09"),
    ("this weekend", "this weekend", "2026-03-07..2026-03-09"),
    ("next weekend", "next weekend", "2026-03-14..2026-03-16"),
    ("the coming weekend", "coming weekend", "2026-03-07..2026-03-09"),
    ("end of the week", "end of the week", "2026-03-06..2026-03-07"),
    ("middle of this week", "middle of this week", "2026-03-02..2026-03-09"),
    ("start of next week", "start of next week", "2026-03-09..2026-03-10"),
    ("beginning of the month", "beginning of the month", "2026-03-01..2026-03-06"),
    ("rest of the week", "rest of the week", "2026-03-03..2026-03-09"),
    ("rest of the month", "rest of the month", "2026-03-03..2026-04-01"),
    ("the middle of the month", "the middle of the month", "2026-03-15..2026-03-16"),
    ("end of last month", "end of last month", "2026-02-28..2026-03-01"),
    ("end of the quarter", "end of the quarter", "2026-03-31..2026-04-01"),
    ("rest of the year", "rest of the year", "2026-03-03..2027-01-01"),
    ("the start of the year", "the start of the year", "2026-01-01..2026-01-06"),
    ("end of current year", "end of current year", "2026-12-31..2027-01-01"),
    ("middle of next quarter", "middle of next quarter", "2026-05-15..2026-05-16"),
    ("start of next quarter", "start of next quarter", "2026-04-01..2026-04-06"),
    ("end of following week", "end of following week", "2026-03-13..2026-03-14"),
    ("next week", "next week", "2026-03-09..2026-03-16"),
    ("this month", "this month", "2026-03-01..2026-04-01"),
    ("last quarter", "last quarter", "2025-10-01..2026-01-01"),
    ("following year", "following year", "2027-01-01..2028-01-01"),
    ("current month", "current month", "2026-03-01..2026-04-01"),
    ("by EOW", "eow", "2026-03-06..2026-03-07"),
    ("by EOM", "eom", "2026-03-31..2026-04-01"),
    ("by EOQ", "eoq", "2026-03-31..2026-04-01"),
    ("by EOY", "eoy", "2026-12-31..2027-01-01"),
    ("by week end", "week end", "2026-03-06..2026-03-07"),
    ("at month's end", "month's end", "2026-03-31..2026-04-01"),
    ("by quarter-end", "quarter-end", "2026-03-31..2026-04-01"),
    ("by year end", "year end", "2026-12-31..2027-01-01"),
    ("end of June", "end of june", "2026-06-30..2026-07-01"),
    ("early March", "early march", "2026-03-01..2026-03-11"),
    ("mid-May", "mid-may", "2026-05-11..2026-05-21"),
    ("late December", "late december", "2026-12-21..2027-01-01"),
    ("beginning of June 2027", "beginning of june 2027", "2027-06-01..2027-06-06"),
    ("start of june", "start of june", "2026-06-01..2026-06-06"),
    ("middle of April", "middle of april", "2026-04-15..2026-04-16"),
    ("in June", "june", "2026-06-01..2026-07-01"),
    ("by December", "december", "2026-12-01..2027-01-01"),
    ("next May", "may", "2026-05-01..2026-06-01"),
    ("in May 5", "may 5", "2026-05-05..2026-05-06"),
    ("for August", "august", "2026-08-01..2026-09-01"),
    ("during September 2027", "september 2027", "2027-09-01..2027-10-01"),
    ("in june 12th", "june 12th", "2026-06-12..2026-06-13"),
    ("Q3", "q3", "2026-07-01..2026-10-01"),
    ("end of Q2", "end of q2", "2026-06-30..2026-07-01"),
    ("the end of q1", "the end of q1", "2026-03-31..2026-04-01"),
    ("by 6/3", "6/3", "2026-06-03..2026-06-04"),
    ("due 12/31", "12/31", "2026-12-31..2027-01-01"),
    ("before 09/05", "09/05", "2026-09-05..2026-09-06"),
    ("by the 20th", "the 20th", "2026-03-20..2026-03-21"),
    ("the 3rd is fine", "the 3rd", "2026-03-03..2026-03-04"),
    ("on the 5th of next month", "the 5th of next month", "2026-04-05..2026-04-06"),
    ("until the 5th of the month", "the 5th of the month", "2026-03-05..2026-03-06"),
    ("by the 6th of this month", "the 6th of this month", "2026-03-06..2026-03-07"),
    ("the 1st of July", "1st of july", "2026-07-01..2026-07-02"),
    ("due the 31st", "the 31st", "2026-03-31..2026-04-01"),
    ("in 10 minutes", "in 10 minutes", "2026-03-03 09:16:40..2026-03-03 09:16:40"),
    ("in half an hour", "in half an hour", "2026-03-03 09:36:40..2026-03-03 09:36:40"),
    ("in an hour", "in an hour", "2026-03-03 10:06:40..2026-03-03 10:06:40"),
    ("within the next 2 days", "within the next 2 days", "2026-03-05..2026-03-06"),
    ("within three business days", "within three business days", "2026-03-06..2026-03-07"),
    ("in 2 working days", "in 2 working days", "2026-03-05..2026-03-06"),
    ("a couple of weeks later", "a couple of weeks later", "2026-03-17..2026-03-18"),
    ("a few days from now", "a few days from now", "2026-03-06..2026-03-07"),
    ("two business days later", "two business days later", "2026-03-05..2026-03-06"),
    ("in half a year", "in half a year", "2026-09-03..2026-09-04"),
    ("in 1 month", "in 1 month", "2026-04-03..2026-04-04"),
    ("in two years", "in two years", "2028-03-03..2028-03-04"),
    ("in ten days", "in ten days", "2026-03-13..2026-03-14"),
    ("for the next two weeks", "for the next two weeks", "2026-03-03..2026-03-18"),
    ("for another 3 days", "for another 3 days", "2026-03-03..2026-03-07"),
    ("for the next ten months", "for the next ten months", "2026-03-03..2027-01-04"),
    ("christmas", "christmas", "2026-12-25..2026-12-26"),
    ("on new year's eve", "new year's eve", "2026-12-31..2027-01-01"),
    ("new year's day", "new year's day", "2026-01-01..2026-01-02"),
    ("2026-03-20", "2026-03-20", "2026-03-20..2026-03-21"),
    ("2026/3/20", "2026/3/20", "2026-03-20..2026-03-21"),
    ("2026.3.20", "2026.3.20", "2026-03-20..2026-03-21"),
]


@pytest.mark.parametrize(("text", "words", "time"), _DAYS)
def test_words_name_days(text: str, words: str, time: str) -> None:
    """Just these words, and the days that a person would take them for on that Tuesday (D2, D7)."""
    assert read(text) == [(words, time)]


@pytest.mark.parametrize(
    "text",
    [
        "call at March 5:30",
        "March 5 people",
        "March 5 times",
        "May 5 items",
        "May 5 days",
        "Wednesday to Friday",
        "Tuesday through Friday",
        "may I go on",
        "fri 5",
        "next week's plan",
        "this year’s plan",
        "from 1/2/3",
        "on 0/5",
        "on 13/5",
        "the 2nd floor",
        "the 21st century",
        "due the 32nd",
        "every Friday",
        "each Monday",
        "per June",
        "Monday to Friday",
        "2026-02-30",
        "12026-03-20",
    ],
)
def test_what_only_looks_like_a_day_is_none(text: str) -> None:
    """What comes again and again, what no calendar has, and other things of that name."""
    assert read(text) == []
