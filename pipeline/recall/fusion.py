"""Reciprocal rank fusion: several rankings into one, with no scale shared between them.

Source: mission E2 and G1 (`1 / (k + rank)`, ties broken by id).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

K = 60
"""How gently ranks fall off; the value of the paper that introduced the method."""


def ranked(scores: Mapping[str, float]) -> list[str]:
    """The ids with a score above 0, the highest first, ties by id.

    >>> ranked({"b": 1.5, "a": 1.5, "c": 2.0, "d": 0.0})
    ['c', 'a', 'b']
    """
    scored = [name for name, score in scores.items() if score > 0]
    return sorted(scored, key=lambda name: (-scores[name], name))


def fuse(rankings: Iterable[tuple[Sequence[str], float]], *, k: int = K) -> list[tuple[str, float]]:
    """Fuse rankings (ids, best first, and the ranking's weight) into ids with scores.

    A ranking gives each of its ids `weight / (k + rank)`, its first id having rank 1. An id that
    stands twice in one ranking counts at its best place; a ranking of weight 0 adds nothing and
    brings in nothing.

    Returns:
        Ids with scores above 0, the highest first, ties by id.

    >>> fuse([(["a", "b"], 1.0), (["b"], 1.0)], k=1)
    [('b', 0.8333333333333333), ('a', 0.5)]
    >>> fuse([(["b"], 1.0), (["a"], 1.0)], k=1)
    [('a', 0.5), ('b', 0.5)]
    """
    totals: defaultdict[str, float] = defaultdict(float)
    for names, weight in rankings:
        for rank, name in enumerate(dict.fromkeys(names), start=1):
            totals[name] += weight / (k + rank)
    return [(name, totals[name]) for name in ranked(totals)]
