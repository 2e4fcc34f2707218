"""*merge*: accepted proposals become records, and much that an object has seen becomes one story.

*settle* weighs a package's proposals, *compact* adds a roll-up to an object; that one is a proposal
of its package too, so that both are settled alike and can be replayed (mission C5). Guarded by the
revisions of the objects looked at: when another package has settled on one of them meanwhile, it is
worked out again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.errors import LostRaceError
from pipeline.rules import settling
from pipeline.rules.forms import forms_of
from pipeline.rules.settling import Settlement
from pipeline.stages import compacting
from pipeline.stages.compacting import Rolled
from pipeline.stages.contract import Applied, each
from pipeline.standing import standing
from storage.clock import Clock
from storage.records.knowledge import Change, Record
from storage.records.runs import Package, PackageWork, Stage
from storage.repositories import journal, objects, proposals


def settle(
    owner: str, new: Sequence[Record], *, changed: Mapping[str, Record] | None = None
) -> Settlement:
    """What new records do to those that stand, as they are stored, or as `changed` has them."""
    if not new:
        return Settlement((), ())
    return settling.settle(new, standing(owner, new, changed=changed or {}))


@dataclass(frozen=True, slots=True)
class Settled:
    """What settling a package writes, and the object revisions that it was worked out from.

    `rolled` is what a compaction has made, `ended` whether the package has seen its task's end.
    """

    found: Settlement
    seen: Mapping[str, int]
    rolled: Rolled | None = None
    ended: bool = False


class Merge:
    """Settles packages' accepted proposals against what is known of their subjects.

    Args:
        clock: When roll-ups are recorded.
    """

    stage = Stage.MERGE

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def compute(self, claimed: Sequence[Package]) -> Mapping[int, Any]:
        """Work out inserts and updates, package by package, each upon those before it."""
        return each(claimed, _Claim(self._clock).settle)

    def apply(self, package: Package, computed: Settled, now: int) -> Applied:
        """Write the records, each with its object's new revision, and ask for compaction.

        Raises:
            LostRaceError: An object is at another revision than it was worked out from.
        """
        for subject, revision in computed.seen.items():
            if objects.revision(package.owner, subject) != revision:
                raise LostRaceError
        if computed.rolled is not None:
            proposals.write(package.id, [computed.rolled.judged])
        found = computed.found
        written = (*found.inserts, *found.updates)
        cause = journal.Cause(Change.SETTLE, now, package_id=package.id)
        journal.write(package.owner, written, cause, forms=forms_of)
        subjects = {record.subject_id for record in found.inserts}
        compacting.ask(package, subjects, ended=computed.ended, now=now)
        answer: dict[str, Any] = {"records": _ids(found.inserts), "updated": _ids(found.updates)}
        if found.merged:
            answer["merged"] = dict(found.merged)
        nothing = package.work is PackageWork.COMPACT and not written
        return Applied(answer, "nothing_to_roll_up" if nothing else None)


class _Claim:
    """What a claim's packages have settled so far, over what is stored.

    Packages of one owner mostly share a subject; without this every one but the first would lose
    its race against the one before it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed: dict[tuple[str, str], Record] = {}
        self._revisions: dict[tuple[str, str], int] = {}

    def settle(self, package: Package) -> Settled:
        rolled = None
        if package.work is PackageWork.COMPACT:
            seen = self._seen(package, [package.object_id])
            changed = self._standing_otherwise(package.owner, seen)
            rolled = compacting.roll_up(package, self._clock, changed)
            new = [rolled.record] if rolled else []
        else:
            new = proposals.accepted(package.id)
            seen = self._seen(package, sorted({record.subject_id for record in new}))
            changed = self._standing_otherwise(package.owner, seen)
        found = settle(package.owner, new, changed=changed)
        written = (*found.inserts, *found.updates)
        for record in written:
            self._changed[package.owner, record.id] = record
        for subject in {record.subject_id for record in written}:
            # An object that nobody has put is created with revision 1 and then counted.
            self._revisions[package.owner, subject] = max(1, seen.get(subject, 0)) + 1
        return Settled(found, seen, rolled, compacting.ends_a_task(package))

    def _seen(self, package: Package, subjects: Iterable[str]) -> dict[str, int]:
        return {subject: self._revision(package.owner, subject) for subject in subjects}

    def _revision(self, owner: str, subject: str) -> int:
        key = (owner, subject)
        if key not in self._revisions:
            self._revisions[key] = objects.revision(owner, subject)
        return self._revisions[key]

    def _standing_otherwise(self, owner: str, subjects: Mapping[str, int]) -> dict[str, Record]:
        return {
            record_id: record
            for (of, record_id), record in self._changed.items()
            if of == owner and record.subject_id in subjects
        }


def _ids(changed: Iterable[Record]) -> list[str]:
    return [record.id for record in changed]
