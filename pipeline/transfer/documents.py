"""An owner's memory as a stream of documents: one a record, one an object, and lists that link them.

Read page by page behind a cursor, so that no export needs more memory than one page. A cursor also
tells where the owner's settlings stood when the export began: records that change meanwhile could
come out at different moments, and the last page says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import Final

from pipeline.projections import markdown
from pipeline.rules.naming import file_name
from storage.records.knowledge import MemoryObject, Record
from storage.repositories import objects, records, snapshots, transfer

PAGE_CHARACTERS: Final = 400_000
"""A page ends behind the document that fills it; a client and a board hold a few such pages."""

LISTED: Final = 1_000
"""Lines of one list; the rest stands in further ones."""

_RECORDS_AT_ONCE: Final = 100


class Phase(StrEnum):
    """What an export gives first and last."""

    RECORDS = "records"
    OBJECTS = "objects"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins: behind the record or object `after`, or at the next `part` of its list.

    `settled` is the owner's count of settlings when the first page was read.
    """

    phase: Phase
    after: str
    part: int
    settled: int


@dataclass(frozen=True, slots=True)
class Document:
    """A file of an export: its path below the export's folder, and its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """Some documents. `next` is None behind the last; `moved` tells that records have changed."""

    documents: tuple[Document, ...]
    next: Cursor | None
    moved: bool


def begin(owner: str) -> Cursor:
    """Where an export begins."""
    return Cursor(Phase.RECORDS, "", 0, snapshots.settled(owner))


def page(owner: str, cursor: Cursor, limit: int) -> Page:
    """The documents behind a cursor, `limit` of them at most."""
    found: list[Document] = []
    size = 0
    for document, after in stream(owner, cursor):
        found.append(document)
        cursor = after
        size += len(document.text)
        if len(found) == limit or size >= PAGE_CHARACTERS:
            return Page(tuple(found), cursor, moved=False)
    return Page(tuple(found), None, moved=snapshots.settled(owner) != cursor.settled)


def stream(owner: str, cursor: Cursor) -> Iterator[tuple[Document, Cursor]]:
    """The documents behind a cursor, each with the cursor behind it."""
    if cursor.phase is Phase.RECORDS:
        yield from _records(owner, cursor)
        cursor = replace(cursor, phase=Phase.OBJECTS, after="", part=0)
    if cursor.phase is Phase.OBJECTS:
        yield from _objects(owner, cursor)
        cursor = replace(cursor, phase=Phase.INDEX, after="", part=0)
    yield from _index(owner, cursor)


def _records(owner: str, cursor: Cursor) -> Iterator[tuple[Document, Cursor]]:
    after = cursor.after
    while found := records.listing(owner, after=after, limit=_RECORDS_AT_ONCE):
        for record in found:
            yield record_document(record), replace(cursor, after=record.id)
        after = found[-1].id


def record_document(record: Record) -> Document:
    """A record's document, in the folder of its object."""
    name = f"{file_name(record.id)}.md"
    return Document(f"{file_name(record.subject_id)}/{name}", markdown.record_text(record))


def _objects(owner: str, cursor: Cursor) -> Iterator[tuple[Document, Cursor]]:
    """Each object with the lists of its records; a cursor can stand between two of them."""
    if cursor.part:
        current = objects.find(owner, cursor.after)
        yield from _lists(owner, current, cursor) if current is not None else ()
    after = cursor.after
    while found := objects.listing(owner, kind=None, state=None, after=after, limit=LISTED):
        for item in found:
            yield from _lists(owner, item, replace(cursor, after=item.id, part=0))
        after = found[-1].id


def _lists(owner: str, item: MemoryObject, cursor: Cursor) -> Iterator[tuple[Document, Cursor]]:
    folder = file_name(item.id)
    for part in count(cursor.part):
        listed = transfer.listed(owner, item.id, limit=LISTED, offset=part * LISTED)
        if part and not listed:
            return
        text = markdown.more_text(item, listed) if part else markdown.object_text(item, listed)
        document = Document(f"{folder}/{markdown.part_name(part)}", text)
        # Part 0 of the next object: a cursor behind this one asks for its second list first.
        yield document, replace(cursor, after=item.id, part=part + 1)
        if len(listed) < LISTED:
            return


def _index(owner: str, cursor: Cursor) -> Iterator[tuple[Document, Cursor]]:
    after = cursor.after
    for part in count(cursor.part):
        found = objects.listing(owner, kind=None, state=None, after=after, limit=LISTED)
        if part and not found:
            return
        counts = transfer.counted(owner, [item.id for item in found])
        text = markdown.index_text((item, counts.get(item.id, 0)) for item in found)
        after = found[-1].id if found else ""
        yield (
            Document(markdown.part_name(part), text),
            replace(cursor, after=after, part=part + 1),
        )
        if len(found) < LISTED:
            return
