"""*compact*, the second part of *merge*: when an object is compacted, and what of (mission C5)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from pipeline.rules import compacting
from pipeline.rules.compacting import LEAST_EPISODES, MOST_SOURCES
from pipeline.rules.filtering import FINAL_STATES
from storage.clock import Clock
from storage.records.knowledge import Proposal, Quote, Record, RecordKind, RecordStatus
from storage.records.runs import Package, PackageWork, Verdict
from storage.repositories import events, packages, rollups

_MAY_END_TASKS: Final = frozenset({"urgent", "split"})
"""What closes a package whose task has ended; a split one is a half of such."""


@dataclass(frozen=True, slots=True)
class Rolled:
    """A roll-up, as a record and as the accepted proposal that it is replayed from."""

    record: Record

    @property
    def judged(self) -> tuple[Proposal, Record, Verdict]:
        """The proposal with its verdict."""
        record = self.record
        proposal = Proposal(
            kind=record.kind,
            content=record.content,
            evidence=tuple(Quote(span.event_id, span.quote) for span in record.evidence),
            subject=record.subject_id,
            cues=record.cues,
        )
        return proposal, record, Verdict(0, record.id)


def roll_up(package: Package, clock: Clock, changed: Mapping[str, Record]) -> Rolled | None:
    """What a compaction adds to its object; None where there is nothing new to roll up.

    Args:
        package: The compaction.
        clock: When it is recorded.
        changed: Records of the object that stand otherwise than they are stored.
    """
    owner, subject = package.owner, package.object_id
    found = rollups.waiting(owner, subject, limit=MOST_SOURCES + 1)
    if len(found) <= MOST_SOURCES:
        found = [record for record in found if record.kind is RecordKind.EPISODE]
    sources = [
        record
        for stored in found[:MOST_SOURCES]
        if (record := changed.get(stored.id, stored)).status is RecordStatus.ACTIVE
    ]
    if not sources:
        return None
    quoted = {span.seq for record in sources for span in record.evidence}
    told = {event.seq: event for event in events.by_seqs(owner, quoted)}
    made = compacting.roll_up(sources, told, package_id=package.id, now_ms=clock.now_ms())
    return Rolled(made) if made is not None else None


def ends_a_task(package: Package) -> bool:
    """Whether a package holds a task's final state."""
    if package.work is not PackageWork.EVENTS or package.closed_by not in _MAY_END_TASKS:
        return False
    states = packages.task_states(package.id)
    return not FINAL_STATES.isdisjoint(states)


def ask(package: Package, subjects: Collection[str], *, ended: bool, now: int) -> None:
    """Have compacted what has grown too much, and the object whose task has ended."""
    owner = package.owner
    for subject in sorted({*subjects, package.object_id} if ended else subjects):
        many = rollups.count(owner, subject, limit=MOST_SOURCES + 1) > MOST_SOURCES
        ready = ended and subject == package.object_id and _tells(owner, subject)
        if many or ready:
            packages.open_compaction(owner, subject, now)


def _tells(owner: str, subject: str) -> bool:
    stories = rollups.count(owner, subject, kind=RecordKind.EPISODE, limit=LEAST_EPISODES)
    return stories >= LEAST_EPISODES
