"""What is asked of the lexical index, and how Tantivy is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from tantivy import Occur, Query, Schema

from storage.records.recall import IndexEntry

FIELDS = ("words", "context", "cues", "ids")
"""An entry's fields, each a string of terms with spaces between; `context` is searched with `words`."""


class ScoredDocument(NamedTuple):
    """A document (`e:<seq>` or `r:<record id>`), its BM25 score (above 0), and its entry's time."""

    document: str
    score: float
    at: int


def best_first(hit: ScoredDocument) -> tuple[float, int, str]:
    """The sort key of hits: the highest score, of equal ones the newest, then by document.

    >>> a, b, c = (ScoredDocument("e:1", 2.0, 5), ScoredDocument("e:2", 2.0, 6),
    ...            ScoredDocument("e:3", 3.0, 1))
    >>> [hit.document for hit in sorted([a, b, c], key=best_first)]
    ['e:3', 'e:2', 'e:1']
    """
    return -hit.score, -hit.at, hit.document


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """Any of these terms: field name to terms, and what a field's score is multiplied by (1)."""

    terms: Mapping[str, Sequence[str]]
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


def indexed_fields(entry: IndexEntry) -> dict[str, str]:
    """The fields of an entry as they are searched; empty and unknown ones are left out.

    `context` takes in the entry's own `words`: a question whose words stand partly in a short turn
    and partly in the turns before it then finds that turn first (measured; the rows need not hold
    the words twice).

    >>> indexed_fields(IndexEntry(1, "local", "e:1", 0, {"words": "a b", "context": "c"}))
    {'words': 'a b', 'context': 'a b c'}
    """
    fields = {name: entry.fields.get(name, "") for name in FIELDS}
    fields["context"] = f"{fields['words']} {fields['context']}".strip()
    return {name: terms for name, terms in fields.items() if terms}


def to_tantivy(schema: Schema, query: IndexQuery, owner: str | None) -> Query | None:
    """Tantivy's form of a query, or None where no term is left.

    The owner must match and adds nothing to the score. Without one (the index knows no other) the
    query is a plain union of terms, which Tantivy cuts short once the best are known.
    """
    clauses = [
        (Occur.Should, _clause(schema, name, term, query.weights.get(name, 1.0)))
        for name, terms in query.terms.items()
        for term in dict.fromkeys(terms)
    ]
    if not clauses:
        return None
    union = Query.boolean_query(clauses)
    if owner is None:
        return union
    mine = Query.const_score_query(Query.term_query(schema, "owner", owner), 0.0)
    return Query.boolean_query([(Occur.Must, mine), (Occur.Must, union)])


def _clause(schema: Schema, name: str, term: str, weight: float) -> Query:
    query = Query.term_query(schema, name, term, index_option="freq")
    return query if weight == 1.0 else Query.boost_query(query, weight)
