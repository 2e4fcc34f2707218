"""What to search files for, to see that a text is in none of them any more, and the search itself.

A text is cut into short pieces, none with a character that JSON escapes: so neither an escape nor
the end of a database page hides what is left of it, and what is left is found though the text was
partly overwritten.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ahocorasick_rs import BytesAhoCorasick, Implementation

PIECE: Final = 24
"""Bytes of a piece, or a little less: no character is cut."""

LEAST: Final = 6
"""Bytes of the shortest piece: less would stand anywhere."""

LONG: Final = 12
"""Bytes from which on a piece tells something: shorter ones are taken only where a text has no other."""

MOST_OF_ONE: Final = 400
"""Pieces of one text at most; of a longer one every second, or third, piece is taken."""

_ESCAPED: Final = re.compile(r'[\x00-\x1f"\\\x7f\u2028\u2029]+')
_WORD: Final = re.compile(r"\w")


def pieces(text: str) -> list[bytes]:
    """The pieces of a text, as UTF-8; none of what is too short to be told from other text.

    >>> [piece.decode() for piece in pieces('以后报销都用新模板，"周五"前交')]
    ['以后报销都用新模', '报销都用新模板，']
    >>> [piece.decode() for piece in pieces("张伟")], pieces("ok")
    (['张伟'], [])
    """
    found: list[bytes] = []
    for run in _ESCAPED.split(text):
        found += [piece for piece in _cut(run.strip()) if _telling(piece)]
    found = [piece for piece in found if len(piece) >= LONG] or found
    return found[:: max(1, -(-len(found) // MOST_OF_ONE))]


def _cut(run: str) -> Iterator[bytes]:
    content = run.encode("utf-8", "surrogatepass")
    start = 0
    while len(content) - start > PIECE:
        end = start + PIECE
        while _inside(content, end):
            end -= 1
        yield content[start:end]
        start = end
    if start:
        # The last piece reaches back, so that it is no shorter than the others.
        start = len(content) - PIECE
        while _inside(content, start):
            start += 1
    yield content[start:]


def _inside(content: bytes, at: int) -> bool:
    """Whether a cut there would go through a character."""
    return content[at] & 0xC0 == 0x80  # noqa: PLR2004 - what UTF-8 continues a character with


def _telling(piece: bytes) -> bool:
    return len(piece) >= LEAST and bool(_WORD.search(piece.decode("utf-8", "replace")))


class Finder:
    """Looks for pieces in bytes, all of them at once.

    Args:
        wanted: What is looked for; a piece is told by its place in here.
    """

    def __init__(self, wanted: Sequence[bytes]) -> None:
        self.wanted = wanted
        self._automaton = (
            # The dense form finds no faster here and takes many times the memory.
            BytesAhoCorasick(list(wanted), implementation=Implementation.ContiguousNFA)
            if wanted
            else None
        )

    def places(self, content: bytes) -> Iterable[tuple[int, int]]:
        """Each find, by the piece's place in `wanted` and the place in the content."""
        if self._automaton is None:
            return ()
        found = self._automaton.find_matches_as_indexes(content, overlapping=True)
        return [(which, start) for which, start, _ in found]

    def found(self, content: bytes) -> frozenset[int]:
        """Which pieces the content holds."""
        return frozenset(which for which, _ in self.places(content))
