"""*merge*, part *settle*: accepted proposals become records (mission C5).

Guarded by the revisions of the objects it looked at: when another package has settled on one of
them meanwhile, it is worked out again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.errors import LostRaceError
from pipeline.rules import settling
from pipeline.rules.wording import normalised
from pipeline.stages.contract import Applied, each
from storage.records.knowledge import Change, Record, RecordKind
from storage.records.runs import Package, Stage
from storage.repositories import journal, objects, proposals, records


@dataclass(frozen=True, slots=True)
class Settled:
    """What settling a package writes, and the object revisions that it was worked out from."""

    inserts: tuple[Record, ...]
    updates: tuple[Record, ...]
    seen: Mapping[str, int]


class Merge:
    """Settles packages' accepted proposals against what is known of their subjects."""

    stage = Stage.MERGE

    def compute(self, claimed: Sequence[Package]) -> Mapping[int, Any]:
        """Work out inserts and updates, package by package, each upon those before it."""
        board = _Board()
        return each(claimed, board.settle)

    def apply(self, package: Package, computed: Settled, now: int) -> Applied:
        """Write the records, each with its object's new revision.

        Raises:
            LostRaceError: An object is at another revision than it was worked out from.
        """
        for subject, revision in computed.seen.items():
            if objects.revision(package.owner, subject) != revision:
                raise LostRaceError
        journal.write(
            package.owner,
            (*computed.inserts, *computed.updates),
            journal.Cause(Change.SETTLE, now, package_id=package.id),
            normal=normalised,
        )
        return Applied({"records": _ids(computed.inserts), "updated": _ids(computed.updates)})


class _Board:
    """What a claim's packages have settled so far, over what is stored.

    Packages of one owner mostly share a subject; without this every one but the first would lose
    its race against the one before it.
    """

    def __init__(self) -> None:
        self._changed: dict[tuple[str, str], Record] = {}
        self._revisions: dict[tuple[str, str], int] = {}

    def settle(self, package: Package) -> Settled:
        new = proposals.accepted(package.id)
        if not new:
            return Settled((), (), {})
        subjects = sorted({record.subject_id for record in new})
        seen = {subject: self._revision(package.owner, subject) for subject in subjects}
        found = settling.settle(new, self._existing(package.owner, subjects, new))
        for record in (*found.inserts, *found.updates):
            self._changed[package.owner, record.id] = record
        for subject in {record.subject_id for record in (*found.inserts, *found.updates)}:
            # An object that nobody has put is created with revision 1 and then counted.
            self._revisions[package.owner, subject] = max(1, seen.get(subject, 0)) + 1
        return Settled(tuple(found.inserts), tuple(found.updates), seen)

    def _revision(self, owner: str, subject: str) -> int:
        key = (owner, subject)
        if key not in self._revisions:
            self._revisions[key] = objects.revision(owner, subject)
        return self._revisions[key]

    def _existing(self, owner: str, subjects: Sequence[str], new: Sequence[Record]) -> list[Record]:
        """The records that new ones could repeat, replace or contradict, as this claim has them."""
        named = {record.id for record in new}
        for record in new:
            named.update(record.supersedes)
        stored = records.comparable(
            owner,
            subjects,
            ids=named,
            keys={record.key for record in new if record.key is not None},
            normals={normalised(record.content) for record in new},
            all_active=any(
                record.kind is RecordKind.CORRECTION and record.key is None for record in new
            ),
        )
        here = {
            record_id: record
            for (of, record_id), record in self._changed.items()
            if of == owner and record.subject_id in subjects
        }
        return list(({record.id: record for record in stored} | here).values())


def _ids(changed: Iterable[Record]) -> list[str]:
    return [record.id for record in changed]
