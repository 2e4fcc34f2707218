"""Terms of what is forgotten, looked up in the lexical index: it keeps no plain bytes to search for."""

from collections.abc import Collection, Iterable
from typing import Final

from storage.repositories import entries
from storage.search_index import SearchIndex

_CONTEXT: Final = "context"
_WORDS: Final = "words"


class BlindIndexError(Exception):
    """The index does not even hold what it should: its silence says nothing."""


def left_over(index: SearchIndex, terms: Collection[tuple[str, str]]) -> int:
    """How many of these terms the index holds though no entry does.

    Args:
        index: Written anew from the entries.
        terms: Each with the field that it stood in; the words of a field `words` are searched in
            `context`, too.

    Raises:
        BlindIndexError: A term that must be there is not.
        DamagedIndexError: The index can't be read.
    """
    _check_sight(index)
    held = {pair for pair in _spread(terms) if _frequency(index, *pair)}
    for found in entries.everything():
        if not held:
            break
        for entry in found:
            for field in {field for field, _ in held}:
                texts = {entry.fields.get(field, "")}
                if field == _CONTEXT:
                    texts.add(entry.fields.get(_WORDS, ""))
                words = {word for text in texts for word in text.split()}
                held -= {(field, word) for word in words}
    return len(held)


def _spread(terms: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    found = set(terms)
    return found | {(_CONTEXT, term) for field, term in found if field == _WORDS}


def _check_sight(index: SearchIndex) -> None:
    """A control: a word that some entry holds has to be found."""
    for found in entries.everything():
        for entry in found:
            words = entry.fields.get(_WORDS, "").split()
            if words and not entry.gone and entry.seq <= index.position:
                if not _frequency(index, _WORDS, words[0]):
                    raise BlindIndexError
                return


def _frequency(index: SearchIndex, field: str, term: str) -> int:
    return index.document_frequencies([term], field)[term]
