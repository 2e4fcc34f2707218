"""What recall and the follower read from the store, as ports that storage fills in."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from storage.records.events import Event
from storage.records.knowledge import Record
from storage.records.recall import IndexEntry


class IndexRows(Protocol):
    """The index entries of all owners, in sequence."""

    def entries_after(self, seq: int, limit: int) -> Sequence[IndexEntry]:
        """The first `limit` entries above `seq`, in order of `seq`."""
        ...

    def last_seq(self) -> int:
        """The highest entry's `seq`, 0 when there is none. Cheap: it is asked on every poll."""
        ...


class RecallSource(Protocol):
    """An owner's memory, read only. Every answer is of that owner alone.

    Called from several threads at once. Unknown ids are left out, not an error.
    """

    def tail(self, owner: str, after: int, limit: int) -> Sequence[IndexEntry]:
        """The owner's newest `limit` index entries above `after`, in order of `seq`."""
        ...

    def last_index_seq(self) -> int:
        """The highest index entry's `seq` of all owners."""
        ...

    def memory_version(self, owner: str) -> int:
        """The owner's counter of publications."""
        ...

    def intent_version(self, owner: str) -> int | None:
        """The newest intent version known of the owner, None when none is."""
        ...

    def records(self, owner: str, ids: Collection[str]) -> Sequence[Record]:
        """The records with these ids, of any status."""
        ...

    def binding(
        self, owner: str, objects: Collection[str], task: str | None, now_ms: int
    ) -> Sequence[Record]:
        """The active records that bind these objects or this task, or the owner everywhere.

        Rules, corrections and preferences that bind, valid at `now_ms`, in the order to be told.
        """
        ...

    def about(self, owner: str, objects: Collection[str], limit: int) -> Sequence[Record]:
        """The newest records whose subject or scope is one of these objects, newest first."""
        ...

    def events(self, owner: str, seqs: Collection[int]) -> Sequence[Event]:
        """The events with these sequence numbers."""
        ...

    def resting_on(self, owner: str, seqs: Collection[int]) -> Mapping[int, Sequence[str]]:
        """For each of these events that records quote: the records' ids, in order of id."""
        ...
