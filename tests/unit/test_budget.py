"""Token estimates and cuts by them (spec: design, Token budgets)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.budget import cut_to_tokens, estimate_tokens

pytestmark = pytest.mark.unit

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("记" * 10, 16),
        ("𠀀" * 10, 37),
        ("，" * 10, 20),
        ("7" * 10, 10),
        ("!" * 10, 10),
        ("A" * 10, 10),
        ("a" * 9, 3),
        ("ab1", 3),
        ("a1 a", 3),
        (" " * 100, 15),
        ("\n", 1),
        ("记住 ok", 5),
    ],
)
def test_each_kind_of_character_has_its_cost(text: str, tokens: int) -> None:
    """Costs are per character, by kind, and the sum is rounded up once."""
    assert estimate_tokens(text) == tokens


def test_a_letter_costs_more_in_a_word_mixed_with_digits_wherever_the_digit_is() -> None:
    """A digit anywhere in a word makes each of its small letters a token."""
    assert estimate_tokens("abc1") == estimate_tokens("1abc") == 4
    assert estimate_tokens("aB1c") == 4
    assert estimate_tokens("abc-1") == 3


@given(st.text(st.characters()), st.integers(0, 60))
def test_a_cut_is_a_prefix_within_the_limit(text: str, limit: int) -> None:
    """Whatever the text, its cut begins it and costs no more than allowed."""
    cut = cut_to_tokens(text, limit)
    assert text.startswith(cut)
    assert estimate_tokens(cut) <= limit


@given(st.text("记住ab1 "), st.integers(0, 20))
def test_a_cut_is_the_longest_one(text: str, limit: int) -> None:
    """One more character would not have fit."""
    cut = cut_to_tokens(text, limit)
    assert cut == text or estimate_tokens(text[: len(cut) + 1]) > limit


@pytest.mark.parametrize("unit", [FAMILY, "e\u0301", "👍🏽", "🇨🇳", "❤\ufe0f", "\ud83d\ude00", "ก็"])
def test_a_cut_never_splits_what_is_seen_as_one_character(unit: str) -> None:
    """Joined emoji, flags, accents and surrogate pairs go whole or not at all."""
    text = unit * 4
    whole = {unit * n for n in range(5)}
    assert {cut_to_tokens(text, limit) for limit in range(estimate_tokens(text) + 1)} == whole


def test_no_budget_leaves_nothing() -> None:
    """A limit of zero or less gives the empty text."""
    assert cut_to_tokens("记住", 0) == cut_to_tokens("remember", -1) == ""


def test_a_text_within_its_budget_stays_whole() -> None:
    """Nothing is cut that fits."""
    assert cut_to_tokens("记住 this", 100) == "记住 this"
