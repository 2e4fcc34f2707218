"""Candidates: what each channel finds for a question, as rankings of documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.recall.tail import Tail
from pipeline.text.tokenise import Terms
from storage.records.recall import Reason
from storage.search_index import IndexQuery, ScoredDocument, SearchIndex, best_first

MAX_TERMS = 40
"""A question's terms beyond this many only cost time; the rarest stay."""
_COMMON_SHARE = 0.05
_COMMON = 5_000
"""A term in more documents than this, and than their share, is common. Small memories have none."""
_ENOUGH = 4


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each thing counts. The defaults are measured; one set of them for all data.

    `context`, `ids` and `cues` multiply a field's BM25 against the main text's 1; the others
    multiply a channel's share in the fusion against the keyword channel's 1. Recency is no channel:
    as one it cost MRR at any weight; it only decides between equal scores.
    """

    context: float = 1.0
    ids: float = 1.0
    cues: float = 1.0
    by_id: float = 1.0
    by_cue: float = 0.5
    by_object: float = 0.5


@dataclass(frozen=True, slots=True)
class Channel:
    """One way of finding: documents, best first, and whether there may be more of them."""

    documents: Sequence[str]
    cut: bool


def gather(
    index: SearchIndex, tail: Tail, owner: str, terms: Terms, weights: Weights, depth: int
) -> dict[Reason, Channel]:
    """Search the index and the tail beside it, once a channel.

    Args:
        index: Holds what the follower has reached.
        tail: Holds what it has not, and masks the index where it knows better.
        owner: Whose documents alone are found.
        terms: The question's.
        weights: How much each field counts.
        depth: Documents a channel at most.

    Raises:
        DamagedIndexError: The index can't be read.
    """
    words, ids = _telling(index, terms.words), whole_ids(terms.ids)[:MAX_TERMS]
    queries = {
        Reason.KEYWORD: IndexQuery(
            {"words": words, "context": words, "cues": words, "ids": ids},
            {"context": weights.context, "cues": weights.cues, "ids": weights.ids},
        ),
        Reason.ID: IndexQuery({"ids": ids}),
        Reason.CUE: IndexQuery({"cues": words}),
    }
    scored = {
        reason: _search(index, tail, owner, query, depth) for reason, query in queries.items()
    }
    order = {hit.document: rank for rank, hit in enumerate(scored[Reason.KEYWORD])}
    return {
        reason: Channel([hit.document for hit in _ties_by(order, hits)], len(hits) >= depth)
        for reason, hits in scored.items()
    }


def whole_ids(ids: Sequence[str]) -> tuple[str, ...]:
    """A question's identifiers without their parts.

    A document is indexed under an identifier's parts too, so a part that is asked for alone is
    found; asked for as a part of something longer it would find that one's relatives.

    >>> whole_ids(["bx_2024_001", "bx_2024", "2024_001", "bx", "2024", "001", "v2"])
    ('bx_2024_001', 'v2')
    """
    # Each is held against each, and a question may be 32,000 signs that are an identifier each.
    some = tuple(dict.fromkeys(ids))[: 8 * MAX_TERMS]
    return tuple(
        one
        for one in some
        if not any(one != other and f"_{one}_" in f"_{other}_" for other in some)
    )


def _search(
    index: SearchIndex, tail: Tail, owner: str, query: IndexQuery, depth: int
) -> list[ScoredDocument]:
    found = index.search(owner, query, depth)
    if len(found) == depth and not tail.documents.isdisjoint(hit.document for hit in found):
        # What the tail masks must not push others out.
        found = index.search(owner, query, depth + len(tail.documents))
    hits = [hit for hit in found if hit.document not in tail.documents]
    hits += tail.search(query, index.documents, index.document_frequencies)
    return sorted(hits, key=best_first)[:depth]


def _ties_by(order: Mapping[str, int], hits: Sequence[ScoredDocument]) -> list[ScoredDocument]:
    # An identifier that everything carries tells nothing: there the whole question decides.
    last = len(order)
    return sorted(hits, key=lambda hit: (-round(hit.score, 3), order.get(hit.document, last)))


def _telling(index: SearchIndex, terms: Sequence[str]) -> tuple[str, ...]:
    """Leave out terms that cost more than they tell: the commonest, while enough others remain."""
    unique = tuple(dict.fromkeys(terms))
    if len(unique) <= _ENOUGH:
        return unique
    frequencies = index.document_frequencies(unique)
    common = max(_COMMON, int(index.documents * _COMMON_SHARE))
    # What the index doesn't know may still stand in the tail, but must not fill all the places.
    known = sorted((t for t in unique if frequencies[t]), key=lambda term: frequencies[term])
    kept = [t for n, t in enumerate(known) if n < _ENOUGH or frequencies[t] <= common]
    return tuple((kept + [t for t in unique if not frequencies[t]])[:MAX_TERMS])
