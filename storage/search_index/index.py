"""The lexical index as the rest of the service sees it."""

import logging
import re
import shutil
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from storage.errors import MemoryServiceError
from storage.records.recall import IndexEntry
from storage.search_index.checksums import MANIFEST
from storage.search_index.errors import DamagedIndexError, IndexWriteError, guarded
from storage.search_index.generation import Generation
from storage.search_index.queries import IndexQuery, ScoredDocument, best_first, to_tantivy

log = logging.getLogger(__name__)


class SearchIndex:
    """Index entries in Tantivy, in the current generation `index/<n>/` of a folder.

    Everything in it is derived: whatever is wrong with the folder, a new empty generation takes
    its place, and the follower fills it from the rows (spec: design, "The lexical index").
    Searching is thread-safe, beside one another and beside writing.

    Attributes:
        rebuilt_reason: Why the current generation was begun from nothing, or None if it was opened
            as it stood.
    """

    def __init__(self, folder: Path, tokenizer_version: int) -> None:
        self._folder = folder
        self._tokenizer_version = tokenizer_version
        self._writing = threading.RLock()
        self._damage: str | None = None
        self.rebuilt_reason: str | None = None
        self._generation = self._open_or_create()

    @classmethod
    def open(cls, folder: Path, *, tokenizer_version: int) -> "SearchIndex":
        """Open the newest generation, or begin a new one where there is none to be trusted.

        Args:
            folder: Holds the generations; made if it is missing.
            tokenizer_version: An index made by another one is begun anew.

        Raises:
            IndexWriteError: The folder can't be written.
        """
        return cls(folder, tokenizer_version)

    @property
    def position(self) -> int:
        """The `seq` of the last entry applied; 0 when there was none."""
        return self._generation.view.position

    @property
    def documents(self) -> int:
        """How many documents there are, of all owners."""
        return self._generation.view.documents

    @property
    def whole(self) -> bool:
        """Whether this generation has once held every row; if not, it is still being built."""
        return self._generation.manifest.whole

    @property
    def damage(self) -> str | None:
        """What a search or a write stumbled over since the last start from nothing."""
        return self._damage

    def apply(self, entries: Sequence[IndexEntry]) -> None:
        """Put entries in, in order of `seq`, in one commit that also moves the position.

        Raises:
            DamagedIndexError: The index is damaged; `start_over` helps.
            IndexWriteError: It can't be written; the same entries may be applied again.
        """
        if not entries:
            return
        with self._writing:
            with self._noting_damage():
                self._generation.apply(entries)
            self._generation.seal()

    def mark_whole(self) -> None:
        """Note that the generation holds every row, so that what it lacks is only a short tail."""
        with self._writing:
            if not self.whole:
                self._generation.seal(whole=True)

    def search(self, owner: str, query: IndexQuery, limit: int) -> list[ScoredDocument]:
        """The best documents of an owner, the highest score first, of equal ones the newest.

        Raises:
            DamagedIndexError: The index can't be read.
        """
        generation = self._generation
        view = generation.view
        filtered = None if view.only_owner == owner else owner
        asked = to_tantivy(generation.schema, query, filtered)
        if asked is None or limit < 1:
            return []
        with self._noting_damage():
            hits = view.searcher.search(asked, limit=limit, count=False).hits
            times = view.searcher.fast_field_values("at", [address for _, address in hits])
            found = [
                ScoredDocument(view.searcher.doc(address)["document"][0], score, int(at or 0))
                for (score, address), at in zip(hits, times, strict=True)
            ]
        return sorted(found, key=best_first)

    def document_frequencies(self, terms: Collection[str], field: str = "words") -> dict[str, int]:
        """In how many documents of all owners each term stands, those not yet merged away too.

        Raises:
            DamagedIndexError: The index can't be read.
        """
        searcher = self._generation.view.searcher
        with self._noting_damage():
            return {term: searcher.doc_freq(field, term) for term in terms}

    def start_over(self, reason: str) -> None:
        """Begin a new empty generation at position 0 and remove the old one.

        Raises:
            IndexWriteError: The folder can't be written.
        """
        self.rewrite((), reason=reason, whole=False)

    def rewrite(
        self, batches: Iterable[Sequence[IndexEntry]], *, reason: str, whole: bool = True
    ) -> None:
        """Build a new generation from all rows while the old one answers; switch; remove the old.

        A deleted document's terms stay in the old one's files, so forgetting needs this.

        Raises:
            IndexWriteError: The old generation stays in use.
        """
        with self._writing:
            fresh = self._create(after=int(self._generation.folder.name))
            try:
                for batch in batches:
                    if batch:
                        fresh.apply(batch)
                fresh.seal(whole=whole)
            except BaseException:
                _remove(fresh)
                raise
            old, self._generation = self._generation, fresh
            self._damage = None
            self.rebuilt_reason = reason
            _remove(old)

    def close(self) -> None:
        """Finish merges and release the folder."""
        with self._writing:
            self._generation.close()

    @contextmanager
    def _noting_damage(self) -> Iterator[None]:
        try:
            with guarded():
                yield
        except DamagedIndexError as error:
            self._damage = error.message
            raise

    def _open_or_create(self) -> Generation:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            numbers = self._numbers()
            current = self._open_newest(numbers)
            if current is None:
                # A first start finds none either; whether that is odd, only the rows can tell.
                log.info("lexical index begun anew: %s", self.rebuilt_reason)
                current = self._create(after=max(numbers, default=0))
                current.seal()
            # An older generation is never fallen back to: it may hold what has been forgotten.
            for number in numbers:
                if str(number) != current.folder.name:
                    shutil.rmtree(self._folder / str(number))
        except OSError as error:
            raise IndexWriteError from error
        return current

    def _open_newest(self, numbers: Sequence[int]) -> Generation | None:
        sealed = [n for n in numbers if (self._folder / str(n) / MANIFEST).exists()]
        if not sealed:
            self.rebuilt_reason = "no finished index was there"
            return None
        try:
            return Generation.open(
                self._folder / str(sealed[-1]), tokenizer_version=self._tokenizer_version
            )
        except DamagedIndexError as error:
            self.rebuilt_reason = error.message
            return None

    def _create(self, *, after: int) -> Generation:
        folder = self._folder / str(after + 1)
        if folder.exists():
            # Left by an attempt that found no room.
            shutil.rmtree(folder)
        return Generation.create(folder, tokenizer_version=self._tokenizer_version)

    def _numbers(self) -> list[int]:
        names = (path.name for path in self._folder.iterdir() if path.is_dir())
        return sorted(int(name) for name in names if re.fullmatch("[1-9][0-9]{0,17}", name))


def _remove(generation: Generation) -> None:
    try:
        generation.close()
    except (MemoryServiceError, OSError, ValueError) as error:
        # What could not end well is about to go; its removal below still has to succeed.
        log.warning("closing a lexical index that is given up failed: %s", type(error).__name__)
    if generation.folder.exists():
        shutil.rmtree(generation.folder)
