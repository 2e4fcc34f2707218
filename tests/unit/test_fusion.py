"""Reciprocal rank fusion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.recall.fusion import K, fuse, ranked

pytestmark = pytest.mark.unit

NAMES = st.sampled_from(["e:1", "e:2", "e:10", "r:a", "r:报销"])
RANKINGS = st.lists(st.tuples(st.lists(NAMES), st.sampled_from([0.1, 0.5, 1.0])), max_size=4)


def test_a_rank_counts_one_over_sixty_and_itself() -> None:
    """The first of one ranking scores 1/61, the second 1/62."""
    assert K == 60
    assert fuse([(["a", "b"], 1.0)]) == [("a", 1 / 61), ("b", 1 / 62)]


def test_what_two_channels_find_is_ahead_of_what_one_finds() -> None:
    """Agreement beats a single first place."""
    assert [name for name, _ in fuse([(["a", "b"], 1.0), (["c", "b"], 1.0)])] == ["b", "a", "c"]


def test_zero_scores_are_left_out_and_ties_go_by_id() -> None:
    """A document without any lexical score is no candidate."""
    assert ranked({"r:b": 1.0, "r:a": 1.0, "e:1": 0.0}) == ["r:a", "r:b"]


def test_a_channel_without_weight_brings_nothing_in() -> None:
    """Weight 0 switches a channel off."""
    assert fuse([(["a"], 0.0), (["b"], 1.0)]) == [("b", 1 / 61)]


@given(RANKINGS)
def test_the_order_of_the_rankings_does_not_matter(rankings: list[tuple[list[str], float]]) -> None:
    """Fusing is symmetric, holds every id once, and is sorted by score, then id."""
    fused = fuse(rankings)
    swapped = fuse(reversed(rankings))

    assert {name for name, _ in fused} == {name for names, _ in rankings for name in names}
    assert dict(fused) == pytest.approx(dict(swapped))
    assert fused == sorted(fused, key=lambda pair: (-pair[1], pair[0]))


@given(RANKINGS, NAMES)
def test_naming_an_id_once_more_never_lowers_it(
    rankings: list[tuple[list[str], float]], name: str
) -> None:
    """One more channel that finds an id gives it a better score."""
    before = dict(fuse(rankings)).get(name, 0.0)
    assert dict(fuse([*rankings, ([name], 1.0)]))[name] > before
