"""The store as recall and the follower read it: repositories behind the ports of `source`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from storage.records.events import OWNER_OBJECT, Event
from storage.records.knowledge import Record, RecordKind, RecordStatus
from storage.records.recall import IndexEntry
from storage.repositories import events, index, recalls, records, snapshots

_BINDING_KINDS: Final = (RecordKind.RULE, RecordKind.CORRECTION)
_BINDING_LIMIT: Final = 500


class StoredEntries:
    """The index entries of all owners (port `IndexRows`)."""

    def entries_after(self, seq: int, limit: int) -> Sequence[IndexEntry]:
        """The first entries above a sequence number."""
        return index.after(seq, limit)

    def last_seq(self) -> int:
        """The highest entry's sequence number."""
        return index.last_seq()


class StoredMemory:
    """An owner's memory (port `RecallSource`)."""

    def tail(self, owner: str, after: int, limit: int) -> Sequence[IndexEntry]:
        """The owner's newest index entries above a sequence number."""
        return index.tail(owner, after, limit)

    def last_index_seq(self) -> int:
        """The highest index entry's sequence number of all owners."""
        return index.last_seq()

    def memory_version(self, owner: str) -> int:
        """The owner's counter of publications."""
        return snapshots.memory_version(owner)

    def intent_version(self, owner: str) -> int | None:
        """The newest intent version that a recall or a command of the owner has named."""
        return recalls.intent_version(owner)

    def records(self, owner: str, ids: Collection[str]) -> Sequence[Record]:
        """The records with these ids, of any status."""
        return records.by_ids(owner, ids)

    def binding(
        self, owner: str, objects: Collection[str], task: str | None, now_ms: int
    ) -> Sequence[Record]:
        """The active rules and corrections that hold for these objects, this task, or everywhere.

        By scope alone, never by likeness (mission E2).
        """
        subjects = [OWNER_OBJECT, *objects]
        about = records.of_kinds(owner, _BINDING_KINDS, subjects=subjects, limit=_BINDING_LIMIT)
        elsewhere = records.scoped(owner, _BINDING_KINDS, limit=_BINDING_LIMIT)
        found = {record.id: record for record in (*about, *elsewhere)}
        return [r for r in found.values() if _holds(r, set(objects), task, now_ms)]

    def about(self, owner: str, objects: Collection[str], limit: int) -> Sequence[Record]:
        """The newest records about one of these objects, those that hold before those that don't."""
        holds = records.of_subjects(owner, objects, [RecordStatus.ACTIVE], limit=limit)
        others = [status for status in RecordStatus if status is not RecordStatus.ACTIVE]
        past = records.of_subjects(owner, objects, others, limit=limit)
        return [*holds, *past][:limit]

    def events(self, owner: str, seqs: Collection[int]) -> Sequence[Event]:
        """The events with these sequence numbers."""
        return events.by_seqs(owner, seqs)

    def resting_on(self, owner: str, seqs: Collection[int]) -> Mapping[int, Sequence[str]]:
        """The ids of the records that quote these events."""
        return records.resting_on(owner, seqs)


def _holds(record: Record, objects: set[str], task: str | None, now_ms: int) -> bool:
    if record.scope.once:
        return False
    if record.valid_from is not None and record.valid_from > now_ms:
        return False
    if record.valid_to is not None and record.valid_to <= now_ms:
        return False
    if record.scope.task is not None and record.scope.task != task:
        return False
    scoped = set(record.scope.objects) or {record.subject_id}
    return scoped == {OWNER_OBJECT} or not scoped.isdisjoint(objects)
