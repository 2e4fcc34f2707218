"""The follower: index entries, in sequence, from the rows into the lexical index."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence

from pipeline.recall.source import IndexRows
from storage.errors import MemoryServiceError
from storage.faults import faults
from storage.records.recall import IndexEntry
from storage.search_index import SearchIndex

log = logging.getLogger(__name__)

BATCH = 5_000
URGENT = 1_000
"""A tail longer than this is taken over at once: recall looks through it entry by entry."""
_PACE_STEPS = 10


class Follower:
    """Keeps a `SearchIndex` up with its rows, in one thread of the gateway.

    A commit costs 8 to 26 ms whatever it holds, so a short tail waits for company for `pace_s`
    (spec: design, Damage). Waiting goes by the machine's time, not the product's: a clock that a
    test holds still must not stop the index.

    Args:
        index: The index; nothing else writes it.
        source: The rows.
        batch: Entries a commit at most.
        pace_s: Seconds between two commits while the tail is short.
        idle_s: Seconds between two looks for new rows that nobody has announced.
        on_commit: Told the new position and the lag after each commit.

    Attributes:
        fault: Why the last attempt failed, None when it succeeded.
    """

    def __init__(
        self,
        index: SearchIndex,
        source: IndexRows,
        *,
        batch: int = BATCH,
        pace_s: float = 1.0,
        idle_s: float = 1.0,
        on_commit: Callable[[int, int], None] = lambda _position, _lag: None,
    ) -> None:
        self._index = index
        self._source = source
        self._batch = batch
        self._pace_s = pace_s
        self._idle_s = idle_s
        self._on_commit = on_commit
        # A batch that was read before a rewrite must not bring back what the rewrite left out.
        self._following = threading.Lock()
        self.fault: str | None = None

    @property
    def lag(self) -> int:
        """How many sequence numbers the index is behind its rows."""
        return max(0, self._source.last_seq() - self._index.position)

    def follow_once(self) -> int:
        """Take over the next batch in one commit; 0 when there is nothing to take over.

        A damaged index, or one that is ahead of its rows (an older store was restored), is begun
        anew first.

        Returns:
            How many entries were applied.

        Raises:
            DamagedIndexError: The index turned out damaged; the next call begins it anew.
            IndexWriteError: The index can't be written; nothing was lost, try again later.
        """
        with self._following:
            self._mend()
            entries = self._source.entries_after(self._index.position, self._batch)
            if entries:
                faults.fire("follow.before_commit")
            self._index.apply(entries)
            if entries:
                faults.fire("follow.after_commit")
        lag = self.lag
        if lag == 0:
            self._index.mark_whole()
        if entries:
            self._on_commit(self._index.position, lag)
        return len(entries)

    def rewrite(self, reason: str) -> None:
        """Build the index again from all rows, as forgetting needs; the old one answers meanwhile.

        Raises:
            IndexWriteError: The old index stays in use.
        """
        with self._following:
            self._index.rewrite(self._batches(), reason=reason)

    def run(self, stop: threading.Event, changed: Callable[[float], bool]) -> None:
        """Follow until `stop` is set.

        Args:
            stop: Ends the loop at the next look.
            changed: Waits until rows may have been added, at most so many seconds.
        """
        while not stop.is_set():
            try:
                applied = self.follow_once()
                self.fault = None
                if applied:
                    self._pause(stop)
            except BaseException as error:  # noqa: BLE001 - a panic too: without this thread the lag grows for good
                applied = 0
                self._note(error)
            if not applied:
                changed(self._idle_s)

    def _note(self, error: BaseException) -> None:
        """Let health tell what is wrong; logged once, by type, since a trace could hold text."""
        if self.fault is None:
            log.error("the lexical index can't follow its rows: %s", type(error).__name__)
        if isinstance(error, MemoryServiceError):
            self.fault = error.message
        else:
            self.fault = type(error).__name__

    def _pause(self, stop: threading.Event) -> None:
        for _ in range(_PACE_STEPS):
            if self.lag > URGENT or stop.wait(self._pace_s / _PACE_STEPS):
                return

    def _mend(self) -> None:
        if self._index.damage is not None:
            self._index.start_over(self._index.damage)
        elif self._index.position > self._source.last_seq():
            self._index.start_over("the index was ahead of its rows")

    def _batches(self) -> Iterator[Sequence[IndexEntry]]:
        position = 0
        while entries := self._source.entries_after(position, self._batch):
            yield entries
            position = entries[-1].seq
