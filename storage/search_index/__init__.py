"""The lexical index: index entries in, scored documents out. Nothing else imports tantivy."""

from storage.search_index.errors import DamagedIndexError, IndexWriteError
from storage.search_index.index import SearchIndex
from storage.search_index.queries import (
    FIELDS,
    IndexQuery,
    ScoredDocument,
    best_first,
    indexed_fields,
)

__all__ = [
    "FIELDS",
    "DamagedIndexError",
    "IndexQuery",
    "IndexWriteError",
    "ScoredDocument",
    "SearchIndex",
    "best_first",
    "indexed_fields",
]
