"""*publish*: bounded, versioned snapshots, replaced as a whole (mission C7)."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.projections import snapshot
from pipeline.rules.relating import LIVE
from pipeline.stages.contract import Applied, each
from pipeline.text.budget import estimate_tokens
from storage.clock import Clock
from storage.records.events import OWNER_OBJECT
from storage.records.knowledge import FactClass, Record, RecordKind, RecordStatus, Snapshot
from storage.records.runs import Package, Stage
from storage.repositories import ledger, records, snapshots
from storage.repositories.snapshots import NewSnapshot

SNAPSHOT_RECORDS = 500
CORE_RECORDS = 200
"""How many of the newest records are looked at; the budgets take far fewer."""


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
        """Project the records of the touched objects, each object once a claim."""
        made: dict[tuple[str, str], NewSnapshot] = {}
        return each(claimed, lambda package: self._snapshots(package, made))

    def _snapshots(
        self, package: Package, made: dict[tuple[str, str], NewSnapshot]
    ) -> list[NewSnapshot]:
        touched = records.subjects_of(package.owner, ledger.touched_records(package.id))
        if not touched:
            return []
        wanted = [*sorted(touched - {OWNER_OBJECT}), OWNER_OBJECT]
        for subject in wanted:
            if (package.owner, subject) not in made:
                made[package.owner, subject] = self.project(package.owner, subject)
        return [made[package.owner, subject] for subject in wanted]

    def project(self, owner: str, subject: str) -> NewSnapshot:
        """The snapshot of an object, or the owner's core, as the records stand."""
        # Read before the records: a settling in between then makes this one the older.
        based_on = snapshots.settled(owner)
        of_owner = subject == OWNER_OBJECT
        made = self.of_owner(owner) if of_owner else self.of_object(owner, subject)
        return NewSnapshot(made, based_on)

    def of_object(self, owner: str, object_id: str) -> Snapshot:
        """The snapshot of one object as its records stand."""
        newest = records.of_subjects(
            owner, [object_id], [RecordStatus.ACTIVE], limit=SNAPSHOT_RECORDS
        )
        # What is promised is no less owed for being old.
        owed = records.owed(owner, object_id, limit=CORE_RECORDS)
        active = list({record.id: record for record in (*newest, *owed)}.values())
        sections = snapshot.object_sections(
            active,
            rivals=_rivals(owner, active),
            limit=self._object_tokens,
            tokens=estimate_tokens,
        )
        return self._made(owner, object_id, sections)

    def of_owner(self, owner: str) -> Snapshot:
        """The owner's core as the records stand."""
        statements = (RecordKind.RULE, RecordKind.CORRECTION, RecordKind.PREFERENCE)
        # Each section from a query of its own: newer records of another must not crowd it out.
        active = [
            *records.of_kinds(owner, statements, subjects=[OWNER_OBJECT], limit=CORE_RECORDS),
            *records.of_kinds(
                owner, [RecordKind.FACT], fact_class=FactClass.PROFILE, limit=CORE_RECORDS
            ),
            *records.owed(owner, limit=CORE_RECORDS),
        ]
        sections = snapshot.core_sections(
            active, rivals=_rivals(owner, active), limit=self._core_tokens, tokens=estimate_tokens
        )
        return self._made(owner, OWNER_OBJECT, sections)

    def _made(self, owner: str, object_id: str, sections: snapshot.Sections) -> Snapshot:
        return snapshot.make(
            owner, object_id, sections, now=self._clock.now_ms(), tokens=estimate_tokens
        )

    def apply(self, package: Package, computed: list[NewSnapshot], now: int) -> Applied:  # noqa: ARG002 - the contract's
        """Publish what says something new."""
        return Applied({"published": sum(snapshots.publish(new) for new in computed)})


def _rivals(owner: str, told: Sequence[Record]) -> list[Record]:
    """The other sides of the conflicts that these records are in."""
    named = {name for record in told for name in record.conflicts_with}
    found = records.by_ids(owner, named - {record.id for record in told})
    return [record for record in found if record.status in LIVE]
