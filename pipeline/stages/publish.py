"""*publish*: bounded, versioned snapshots, replaced as a whole (mission C7)."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.projections import snapshot
from pipeline.stages.contract import Applied, each
from pipeline.text.budget import estimate_tokens
from storage.clock import Clock
from storage.records.events import OWNER_OBJECT
from storage.records.knowledge import RecordKind, RecordStatus, Snapshot
from storage.records.runs import Package, Stage
from storage.repositories import ledger, records, snapshots
from storage.repositories.snapshots import NewSnapshot

CORE_RECORDS = 200
"""How many of an owner's newest records are looked at for the core; its budget takes far fewer."""

_CORE_KINDS = (
    RecordKind.RULE,
    RecordKind.CORRECTION,
    RecordKind.PREFERENCE,
    RecordKind.FACT,
    RecordKind.COMMITMENT,
)


class Publish:
    """Makes the snapshots of the objects whose records a package has changed.

    Args:
        clock: When snapshots are published.
        object_tokens: Budget of one object's snapshot.
        core_tokens: Budget of the owner's core.
    """

    stage = Stage.PUBLISH

    def __init__(self, clock: Clock, *, object_tokens: int, core_tokens: int) -> None:
        self._clock = clock
        self._object_tokens = object_tokens
        self._core_tokens = core_tokens

    def compute(self, claimed: Sequence[Package]) -> Mapping[int, Any]:
        """Project the records of the touched objects."""
        return each(claimed, self._snapshots)

    def _snapshots(self, package: Package) -> list[NewSnapshot]:
        changed = records.by_ids(package.owner, ledger.touched_records(package.id))
        if not changed:
            return []
        # Read before the records: a settling in between then makes this one the older.
        based_on = snapshots.settled(package.owner)
        made = [
            NewSnapshot(self.of_object(package.owner, subject), based_on)
            for subject in sorted({record.subject_id for record in changed})
            if subject != OWNER_OBJECT
        ]
        return [*made, NewSnapshot(self.of_owner(package.owner), based_on)]

    def of_object(self, owner: str, object_id: str) -> Snapshot:
        """The snapshot of one object as its records stand."""
        active = records.of_subjects(owner, [object_id], [RecordStatus.ACTIVE])
        sections = snapshot.object_sections(
            active, limit=self._object_tokens, tokens=estimate_tokens
        )
        return self._made(owner, object_id, sections)

    def of_owner(self, owner: str) -> Snapshot:
        """The owner's core as the records stand."""
        active = records.of_kinds(owner, _CORE_KINDS, [RecordStatus.ACTIVE], limit=CORE_RECORDS)
        sections = snapshot.core_sections(active, limit=self._core_tokens, tokens=estimate_tokens)
        return self._made(owner, OWNER_OBJECT, sections)

    def _made(self, owner: str, object_id: str, sections: snapshot.Sections) -> Snapshot:
        return snapshot.make(
            owner, object_id, sections, now=self._clock.now_ms(), tokens=estimate_tokens
        )

    def apply(self, package: Package, computed: list[NewSnapshot], now: int) -> Applied:  # noqa: ARG002 - the contract's
        """Publish what says something new."""
        return Applied({"published": sum(snapshots.publish(new) for new in computed)})
