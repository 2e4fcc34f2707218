"""What requests have made: the same answer however often it is asked for, from journal and versions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from storage.records.knowledge import Change, Record
from storage.repositories import journal, records

_ASKED: Final = ("event_id", "start", "end", "expected")


@dataclass(frozen=True, slots=True)
class Acted:
    """What a request has made: the record that holds, and those that yielded, as they stood then."""

    record: Record
    yielded: tuple[Record, ...]


def confirmed_before(record: Record, body: Mapping[str, Any]) -> Acted | None:
    """What this very confirmation has made; None where it has not been carried out.

    Args:
        record: What was confirmed.
        body: What the journal holds of the confirmation.
    """
    for entry in journal.of_record(record.owner_scope, record.id):
        if entry.change is Change.CONFIRM and _same(entry.body, body):
            return _confirmed(record, entry.object_revision)
    return None


def _confirmed(record: Record, revision: int) -> Acted | None:
    made = _at_revision(record, record.id, revision)
    if made is None:
        return None
    before = _at_revision(record, record.id, revision - 1)
    known = set(before.supersedes) if before else set()
    return Acted(made, _all_at(record, sorted(set(made.supersedes) - known), revision))


def corrected_before(old: Record, new_id: str, body: Mapping[str, Any]) -> Acted | None:
    """What this very correction has made; None where it has not been carried out.

    Args:
        old: What was set right.
        new_id: The id of the record that it makes.
        body: What the journal holds of the correction.
    """
    for new in records.by_ids(old.owner_scope, [new_id]):
        for entry in journal.of_package(new.package_id or 0):
            made = _at_revision(old, new_id, entry.object_revision)
            if made is not None and _same(entry.body, body):
                return Acted(made, _all_at(old, [old.id], entry.object_revision))
    return None


def _same(entry: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether a change was made by this request; what followed from it is no part of the request."""
    return all(entry.get(name) == asked.get(name) for name in _ASKED)


def _all_at(of: Record, ids: Iterable[str], revision: int) -> tuple[Record, ...]:
    found = (_at_revision(of, record_id, revision) for record_id in ids)
    return tuple(record for record in found if record is not None)


def _at_revision(of: Record, record_id: str, revision: int) -> Record | None:
    """A record as it stood when its object was at that revision."""
    versions = records.history(of.owner_scope, record_id)
    until = [version for version in versions if version.object_revision <= revision]
    return until[-1] if until else None
