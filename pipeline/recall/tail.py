"""The tail: index entries that are committed but that the follower has not reached yet.

Recall looks through it in Python, so that what has been acknowledged is found at once
(spec: design, "The lexical index").
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from storage.records.recall import IndexEntry
from storage.search_index import FIELDS, IndexQuery, ScoredDocument, indexed_fields

CAP = 2_000
"""Entries looked through at most, so that a follower far behind can't slow every recall."""

# Tantivy's own constants: its scores and these are compared with each other.
_K1 = 1.2
_B = 0.75

_Fields = Mapping[str, Counter[str]]


class Tail:
    """The newest entries of one owner above the index's position; the newest of a document holds.

    Attributes:
        documents: Every document that the tail says something of. What the index still holds of
            these is out of date.
    """

    def __init__(self, entries: Sequence[IndexEntry]) -> None:
        newest = {entry.document: entry for entry in entries}
        self.documents = frozenset(newest)
        held = [entry for entry in newest.values() if not entry.gone]
        self._texts = {
            name: [(f" {text} ", entry) for entry in held if (text := entry.fields.get(name))]
            for name in FIELDS
            if name != "context"
        }

    def search(
        self,
        query: IndexQuery,
        documents: int,
        frequencies: Callable[[Collection[str], str], Mapping[str, int]],
    ) -> list[ScoredDocument]:
        """Score what meets the question by its own fields, by BM25 as the index scores its own.

        Neighbouring turns add to a score but don't bring an entry in before it is followed.

        Args:
            query: As put to the index.
            documents: How many documents the index holds.
            frequencies: The index's document frequencies of terms in a field.

        Returns:
            Documents with scores above 0, in no order.
        """
        met = self._meeting(query)
        split = {document: _split(entry) for document, entry in met.items()}
        scores: defaultdict[str, float] = defaultdict(float)
        for name, terms in query.terms.items():
            weight = query.weights.get(name, 1.0)
            known = frequencies(terms, name) if met else {}
            for document, score in _bm25(split, name, known, documents).items():
                scores[document] += weight * score
        return [ScoredDocument(name, scores[name], entry.at) for name, entry in met.items()]

    def _meeting(self, query: IndexQuery) -> dict[str, IndexEntry]:
        met: dict[str, IndexEntry] = {}
        for name, texts in self._texts.items():
            # Splitting every entry costs ten times as much as looking for a word between spaces.
            terms = [f" {term} " for term in query.terms.get(name, ())]
            for text, entry in texts if terms else ():
                for term in terms:
                    if term in text:
                        met[entry.document] = entry
                        break
        return met


def _split(entry: IndexEntry) -> _Fields:
    return {name: Counter(text.split()) for name, text in indexed_fields(entry).items()}


def _bm25(
    split: Mapping[str, _Fields], name: str, known: Mapping[str, int], documents: int
) -> dict[str, float]:
    """Score one field of the entries for the terms of `known`, which holds their frequencies."""
    held = {document: fields[name] for document, fields in split.items() if name in fields}
    lengths = {document: counts.total() for document, counts in held.items()}
    # Tantivy doesn't tell its mean length; that of the entries at hand stands in for it.
    mean = sum(lengths.values()) / max(1, len(lengths))
    scores: dict[str, float] = dict.fromkeys(held, 0.0)
    for term, indexed in known.items():
        holders = [document for document, counts in held.items() if term in counts]
        rarity = _rarity(indexed + len(holders), documents + len(held))
        for document in holders:
            count = held[document][term]
            damping = _K1 * (1 - _B + _B * lengths[document] / mean)
            scores[document] += rarity * count * (_K1 + 1) / (count + damping)
    return scores


def _rarity(frequency: int, total: int) -> float:
    # The index counts deleted documents' terms until they are merged away, so it may exceed.
    spare = max(0, total - frequency)
    return math.log(1 + (spare + 0.5) / (frequency + 0.5))
