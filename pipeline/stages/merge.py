"""*merge*, part *settle*: accepted proposals become records (mission C5).

Guarded by the revisions of the objects it looked at: when another package has settled on one of
them meanwhile, it is worked out again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.errors import LostRaceError
from pipeline.rules import settling
from pipeline.stages.contract import Applied, each
from storage.records.knowledge import Record, RecordStatus
from storage.records.runs import Package, Stage
from storage.repositories import objects, proposals, records, snapshots


@dataclass(frozen=True, slots=True)
class Settled:
    """What settling a package writes, and the object revisions that it was worked out from."""

    inserts: tuple[Record, ...]
    updates: tuple[Record, ...]
    seen: Mapping[str, int]


class Merge:
    """Settles a package's accepted proposals against what is known of their subjects."""

    stage = Stage.MERGE

    def compute(self, claimed: Sequence[Package]) -> Mapping[int, Any]:
        """Work out inserts and updates, package by package."""
        return each(claimed, self._settle)

    def _settle(self, package: Package) -> Settled:
        new = proposals.accepted(package.id)
        if not new:
            return Settled((), (), {})
        subjects = sorted({record.subject_id for record in new})
        seen = {subject: _revision(package.owner, subject) for subject in subjects}
        existing = records.of_subjects(package.owner, subjects, list(RecordStatus))
        found = settling.settle(new, existing)
        return Settled(tuple(found.inserts), tuple(found.updates), seen)

    def apply(self, package: Package, computed: Settled, now: int) -> Applied:
        """Write the records, each with its object's new revision."""
        for subject, revision in computed.seen.items():
            if _revision(package.owner, subject) != revision:
                raise LostRaceError
        changed = (*computed.inserts, *computed.updates)
        if changed:
            revisions = {
                subject: objects.bump(package.owner, subject, now)
                for subject in sorted({record.subject_id for record in changed})
            }
            records.write(
                [
                    replace(record, object_revision=revisions[record.subject_id])
                    for record in changed
                ]
            )
            snapshots.count_settling(package.owner)
        return Applied({"records": _ids(computed.inserts), "updated": _ids(computed.updates)})


def _revision(owner: str, subject: str) -> int:
    found = objects.find(owner, subject)
    return found.revision if found else 0


def _ids(changed: Iterable[Record]) -> list[str]:
    return [record.id for record in changed]
