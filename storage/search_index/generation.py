"""A generation: one folder with one Tantivy index, from its first commit to its removal."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tantivy import Document, Index, IndexWriter, Query, Schema, SchemaBuilder, Searcher

from storage.records.recall import IndexEntry
from storage.search_index.checksums import Manifest, verify
from storage.search_index.errors import DamagedIndexError, IndexWriteError, guarded
from storage.search_index.queries import FIELDS, indexed_fields

_POSITION = "@position"
"""The reserved document; entries' documents start with `e:` or `r:`."""
_HEAP_BYTES = 15_000_000
"""The least that Tantivy takes for a writing thread."""


@dataclass(frozen=True, slots=True)
class View:
    """A generation as of one commit. Never changes, so any number of threads may search it.

    `only_owner` is set when no other owner has ever had a document here.
    """

    searcher: Searcher
    position: int
    documents: int
    only_owner: str | None


class Generation:
    """One folder's index. One thread writes it; `view` may be read by any."""

    def __init__(self, folder: Path, index: Index, schema: Schema, manifest: Manifest) -> None:
        self.folder = folder
        self.schema = schema
        self.manifest = manifest
        self._index = index
        # The default policy watches the folder from a thread of its own, twice a second.
        index.config_reader("manual")
        self._writer: IndexWriter | None = None
        self.view = self._look()

    @classmethod
    def create(cls, folder: Path, *, tokenizer_version: int) -> "Generation":
        """A new empty generation at position 0. Unfinished until `seal` is called.

        Raises:
            IndexWriteError: The folder can't be made or written.
        """
        schema = _schema()
        try:
            folder.mkdir(mode=0o700, parents=True)
            index = Index(schema, path=str(folder), reuse=False)
            writer = index.writer(_HEAP_BYTES, 1)
            writer.add_document(_reserved(0))
            writer.commit()
        except (OSError, ValueError) as error:
            raise IndexWriteError from error
        generation = cls(folder, index, schema, Manifest(tokenizer_version, 0, 0))
        # A second writer could not take the folder's lock.
        generation._writer = writer
        return generation

    @classmethod
    def open(cls, folder: Path, *, tokenizer_version: int) -> "Generation":
        """The generation in a folder, every byte of it verified.

        Raises:
            DamagedIndexError: It can't be trusted; the message says why.
        """
        manifest = verify(folder, tokenizer_version=tokenizer_version)
        try:
            with guarded():
                index = Index.open(str(folder))
                if index.schema != _schema():
                    raise DamagedIndexError("meta.json holds another schema")
                return cls(folder, index, _schema(), manifest)
        except (OSError, ValueError) as error:
            raise DamagedIndexError("Tantivy can't open the folder") from error

    def apply(self, entries: Sequence[IndexEntry]) -> None:
        """Commit entries together with the position they reach, and look at the result.

        Raises:
            DamagedIndexError: Tantivy panicked, or the folder is gone.
            IndexWriteError: Nothing of them is in; the same entries may be applied again.
        """
        try:
            with guarded():
                self._commit(entries)
                self.view = self._look()
        except (OSError, ValueError, RuntimeError) as error:
            # After a failed commit a writer refuses everything; the next call makes a new one.
            self._writer = None
            if not (self.folder / "meta.json").exists():
                raise DamagedIndexError("the index folder has vanished") from error
            raise IndexWriteError from error

    def seal(self, *, whole: bool | None = None) -> None:
        """Write the manifest: from now on the folder is this index's current generation.

        Not synced: one lost to a power cut makes the index new, and no fact with it.

        Raises:
            IndexWriteError: The manifest can't be written.
        """
        try:
            meta = json.loads((self.folder / "meta.json").read_text(encoding="utf-8"))
            self.manifest = Manifest(
                tokenizer_version=self.manifest.tokenizer_version,
                opstamp=meta["opstamp"],
                documents=self.view.documents + 1,
                whole=self.manifest.whole if whole is None else whole,
            )
            self.manifest.write(self.folder)
        except (OSError, ValueError, KeyError) as error:
            raise IndexWriteError from error

    def close(self) -> None:
        """Let running merges end and give the folder's lock back."""
        if self._writer is not None:
            with guarded():
                self._writer.wait_merging_threads()
            self._writer = None

    def _commit(self, entries: Sequence[IndexEntry]) -> None:
        if self._writer is None:
            self._writer = self._index.writer(_HEAP_BYTES, 1)
        writer = self._writer
        for entry in {entry.document: entry for entry in entries}.values():
            writer.delete_documents_by_term("document", entry.document)
            if not entry.gone:
                writer.add_document(_document(entry))
        writer.delete_documents_by_term("document", _POSITION)
        writer.add_document(_reserved(entries[-1].seq))
        writer.commit()

    def _look(self) -> View:
        self._index.reload()
        searcher = self._index.searcher()
        found = searcher.search(
            Query.term_query(self.schema, "document", _POSITION, index_option="basic"),
            limit=1,
            count=False,
        )
        if not found.hits:
            raise DamagedIndexError("the index has no position")
        position = searcher.doc(found.hits[0][1])["position"][0]
        owners = [owner for owner, _ in searcher.terms_with_prefix("owner", "", limit=2)]
        return View(
            searcher=searcher,
            position=position,
            documents=searcher.num_docs - 1,
            only_owner=owners[0] if len(owners) == 1 else None,
        )


def _schema() -> Schema:
    builder = SchemaBuilder()
    builder.add_text_field("owner", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("document", stored=True, tokenizer_name="raw", index_option="basic")
    for name in FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    builder.add_integer_field("at", fast=True)
    builder.add_unsigned_field("position", stored=True)
    return builder.build()


def _document(entry: IndexEntry) -> Document:
    document = Document()
    document.add_text("owner", entry.owner)
    document.add_text("document", entry.document)
    document.add_integer("at", entry.at)
    for name, terms in indexed_fields(entry).items():
        document.add_text(name, terms)
    return document


def _reserved(position: int) -> Document:
    document = Document()
    document.add_text("document", _POSITION)
    document.add_unsigned("position", position)
    return document
