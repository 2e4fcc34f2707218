"""Exact identifiers: numbers of papers, versions, paths, addresses, file names, hashes.

They are cut out before words are, whole and in parts, so that `BX-2024-001` is found as itself,
by `2024-001`, and by `001`. Source: spec: design, Chinese; data README, What that taught.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

_MAX_LENGTH = 96
_MAX_PARTS = 32
_MIN_NUMBER = 3
_BLOB = re.compile(
    r"[A-Za-z][A-Za-z0-9+.]{1,15}://[!-~]+"
    r"|(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[-._/\\:@#+~=&?%][A-Za-z0-9]++)++"
    r"|(?<![A-Za-z0-9])[A-Za-z]*+[0-9][A-Za-z0-9]*+"
    r"|(?<![A-Za-z0-9])[A-Z]*+[a-z]++[A-Z][A-Za-z]*+"
)
_PIECE = re.compile(r"[A-Za-z0-9]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LETTERS_ONLY = re.compile(r"[A-Za-z]+(?:[-/:&+][A-Za-z]+)*")
_CAMEL = re.compile(r"[a-z][A-Z]")
# Also a word as a whole, since the next one may write it in small letters.
_CAMEL_WORD = re.compile(r"(?<![A-Za-z])[A-Z]*+[a-z]++[A-Z][A-Za-z]*+")
_VERSION = re.compile(r"[vV](?=[0-9])")
_NUMBER = re.compile(r"[0-9]+")


def extract(text: str) -> tuple[str, list[str], list[str]]:
    """Take the identifiers out of a folded text whose case is still as written.

    Returns:
        The text with a space where an identifier stood; the canonical identifiers, whole and in
        parts; and the parts again, with repeats, as words.

    >>> extract("报销单BX-2024-001")
    ('报销单 ', ['bx_2024_001', 'bx_2024', '2024_001', 'bx', '2024', '001'], ['bx', '2024', '001'])
    """
    ids: dict[str, None] = {}
    words: list[str] = []

    def take(match: re.Match[str]) -> str:
        blob = match[0]
        parts = list(_parts(blob))
        if not parts:
            return " "
        words.extend(parts)
        words.extend(piece.lower()[:_MAX_LENGTH] for piece in _CAMEL_WORD.findall(blob))
        if _is_identifier(blob):
            ids.update(dict.fromkeys(_forms(blob, parts)))
        return " "

    return _BLOB.sub(take, text), list(ids), words


def _is_identifier(blob: str) -> bool:
    """Whether a cut-out is a name of something, not an ordinary compound (well-known, and/or)."""
    if _NUMBER.fullmatch(blob):
        return len(blob) >= _MIN_NUMBER
    return not _LETTERS_ONLY.fullmatch(blob) or bool(_CAMEL.search(blob))


def _parts(blob: str) -> Iterator[str]:
    for match in _PART.finditer(blob):
        yield match[0].lower()[:_MAX_LENGTH]


def _forms(blob: str, parts: list[str]) -> Iterator[str]:
    """Yield the whole, its neighbouring pieces in pairs, its pieces and their parts."""
    pieces = [piece.lower() for piece in _PIECE.findall(_VERSION.sub("", blob, count=1))]
    yield "_".join(pieces)[:_MAX_LENGTH]
    pieces = pieces[:_MAX_PARTS]
    for left, right in pairwise(pieces):
        yield f"{left}_{right}"[:_MAX_LENGTH]
    for part in (*pieces, *parts[:_MAX_PARTS]):
        if len(part) > 1:
            yield part[:_MAX_LENGTH]
