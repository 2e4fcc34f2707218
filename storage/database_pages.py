"""The pages of the database file, looked at as bytes: where nothing is kept, nothing shall stand.

`secure_delete` overwrites what is deleted, where it stands. But when a full page of a B-tree is
split, cells are copied to another page, and the copies that are left behind lie in what has become
unused room: nobody deletes them, and they outlive the row. Measured on rows like ours, one text in
fifty was still to be read in the file after its deletion. `VACUUM` would help, at the price of
writing the whole file while everybody waits (docs/adr).

Overwriting unused room changes nothing that SQLite looks at. It is safe while no connection writes
and the write-ahead log is empty, so that the file holds every page as it stands; `storage.quiet`
sees to that. The file's format: https://sqlite.org/fileformat2.html
"""

import os
import struct
from collections.abc import Iterable, Iterator
from typing import Final

PAGE_ONE_HEADER: Final = 100
"""Bytes of the file's own header, at the start of its first page."""

_INTERIOR: Final = frozenset({2, 5})
_LEAF: Final = frozenset({10, 13})
_SIZE_OF: Final = {**dict.fromkeys(_INTERIOR, 12), **dict.fromkeys(_LEAF, 8)}
_LARGEST: Final = 65_536
_MOST_PAGES: Final = 1 << 25
"""In a larger file the first byte of another kind of page could look like that of a B-tree's."""


def page_size(descriptor: int) -> int:
    """The size of a page of this file, in bytes."""
    (size,) = struct.unpack(">H", os.pread(descriptor, 2, 16))
    return _LARGEST if size == 1 else int(size)


def unused(page: bytes, *, first: bool = False) -> tuple[int, int] | None:
    """Where in a page of a B-tree nothing is kept, between its cells' places and its cells.

    Args:
        page: The whole page.
        first: Whether it is the file's first one, which begins with the file's header.

    Returns:
        Start and end, or None where it is no page of a B-tree, or has no such room.
    """
    at = PAGE_ONE_HEADER if first else 0
    header = _SIZE_OF.get(page[at])
    if header is None:
        return None
    cells, content = struct.unpack_from(">HH", page, at + 3)
    start, end = at + header + 2 * cells, content or _LARGEST
    if not start < end <= len(page):
        return None
    places = struct.unpack_from(f">{cells}H", page, at + header)
    return None if any(place < end for place in places) else (start, end)


def littered(descriptor: int) -> Iterator[int]:
    """The numbers, from 1, of the pages in whose unused room something stands."""
    size = page_size(descriptor)
    number = 0
    while page := os.pread(descriptor, size, number * size):
        number += 1
        if len(page) == size and _litter(page, first=number == 1):
            yield number


def clear(descriptor: int, numbers: Iterable[int]) -> int:
    """Overwrite the unused room of these pages with zeros; how many there was something to overwrite in.

    Only while nobody writes, and the write-ahead log is empty.
    """
    size = page_size(descriptor)
    if os.fstat(descriptor).st_size // size >= _MOST_PAGES:
        return 0
    cleared = 0
    for number in numbers:
        page = os.pread(descriptor, size, (number - 1) * size)
        found = _litter(page, first=number == 1) if len(page) == size else None
        if found is not None:
            start, end = found
            os.pwrite(descriptor, bytes(end - start), (number - 1) * size + start)
            cleared += 1
    os.fsync(descriptor)
    return cleared


def _litter(page: bytes, *, first: bool) -> tuple[int, int] | None:
    found = unused(page, first=first)
    return found if found is not None and any(page[found[0] : found[1]]) else None
