"""Texts that are made to cost more than they hold: cost stays in step with their length."""

import pytest

from pipeline.rules.validating import MAX_QUOTE, validate
from pipeline.text.invisible import visible
from pipeline.text.neutralise import tree
from storage.records.events import Role
from storage.records.knowledge import Proposal, Quote, RecordKind, RejectionCode
from tests.observer_support import Said, package_of

pytestmark = pytest.mark.unit

LONGEST = 32_000


@pytest.mark.parametrize("seen", ["a", "款"], ids=["en", "zh"])
def test_a_mark_at_each_character_does_not_read_the_line_for_each(seen: str) -> None:
    """Sixteen thousand direction marks in one line took the writer twenty seconds."""
    text = f"{seen}\u200f" * (LONGEST // 2)
    assert visible(text * 4) == (seen * LONGEST * 2, LONGEST * 2)


def test_direction_marks_stay_where_a_line_runs_from_right_to_left() -> None:
    """Each line is judged alone, the first, the last and an empty one too."""
    text = "\u200fpay\n\u200fשלום 付款\u200f\n\n付款\u200f\nعقد\u200f"
    assert visible(text) == ("pay\n\u200fשלום 付款\u200f\n\n付款\nعقد\u200f", 2)


def test_thousands_of_names_that_become_one_are_numbered() -> None:
    """Every value is kept under a name of its own, and none grows longer than its number."""
    hidden = ["\u200b" * (1 + n // 500) + "\u2060" * (1 + n % 500) for n in range(20_000)]
    made = tree({name: n for n, name in enumerate(hidden)}, lambda text: visible(text)[0])
    assert list(made.values()) == list(range(20_000))
    assert max(map(len, made)) <= len("#20000")
    assert tree(made, lambda text: visible(text)[0]) == made


def test_a_name_that_looks_numbered_is_not_written_over() -> None:
    """A later name that equals a number given out already gets the next one."""
    assert tree({"付款": 1, "付\u200b款": 2, "付款#1": 3}, lambda text: visible(text)[0]) == {
        "付款": 1, "付款#1": 2, "付款#1#1": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "word", ["以后报销都用新模板，", "always use the new template, "], ids=["zh", "en"]
)
@pytest.mark.parametrize("over", [0, 1])
def test_a_quote_has_a_length(word: str, over: int) -> None:
    """A record of thirty-two whole events would fit into no document of an export."""
    text = (word * LONGEST)[:LONGEST]
    proposal = Proposal(
        RecordKind.RULE, word.strip("，, "), (Quote("e0", text[: MAX_QUOTE + over]),)
    )
    (found,) = validate(
        [proposal],
        package_of([Said(text, Role.USER)]),
        objects=frozenset(),
        has_secret=lambda _: False,
        now_ms=0,
    )
    assert (found.code is RejectionCode.TOO_LONG) is bool(over), found
