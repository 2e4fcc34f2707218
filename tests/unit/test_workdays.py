"""Workdays: 03:30 to 03:29:59 Beijing time."""

import pytest

from pipeline.rules.workdays import workday

pytestmark = pytest.mark.unit


def test_a_workday_begins_at_half_past_three_in_beijing() -> None:
    """03:29:59 belongs to the day before (mission F2)."""
    half_past_three = 1_772_566_200_000
    assert workday(half_past_three - 1) == "2026-03-03"
    assert workday(half_past_three) == "2026-03-04"
