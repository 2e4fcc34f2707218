"""What an import writes: planned beside memory, then stored in one short transaction.

Records that came in are weighed with those that they meet before the transaction, since that takes
longest; the revisions of their objects tell there whether it still holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.rules.board import ALIKE
from pipeline.rules.forms import forms_of
from pipeline.transfer.deciding import Decision, Outcome
from pipeline.transfer.weighing import weigh
from storage.records.finding import Forms, Wanted
from storage.records.knowledge import Record, Scope
from storage.repositories import objects, packages, transfer
from storage.repositories.comparing import comparable


@dataclass(frozen=True, slots=True)
class Plan:
    """Records to write: new ones, and known ones in their next versions, with what finds them."""

    inserts: tuple[Record, ...]
    updates: tuple[Record, ...]
    forms: Mapping[str, Forms]


def plan(owner: str, new: Sequence[Record], changed: Sequence[Record]) -> Plan:
    """What new records and edits come to once they have met what stands here."""
    met = _met(owner, new, changed)
    named = {record.id for record in (*new, *changed)}
    # One that was weighed down on arrival is no longer the version that its document says.
    inserts = [_next(met[record.id]) if record.id in met else record for record in new]
    updates = [met.get(record.id, record) for record in changed]
    updates += [_next(met[record_id]) for record_id in sorted(met.keys() - named)]
    forms = {record.id: forms_of(record) for record in (*inserts, *updates)}
    return Plan(tuple(inserts), tuple(updates), forms)


def store_object(decision: Decision, now: int) -> None:
    """Write an object that a document brings or changes; others write nothing."""
    wanted = decision.object
    if wanted is None:
        return
    if decision.outcome is Outcome.CREATED:
        transfer.restore_object(wanted)
    else:
        objects.put(wanted, expected_revision=wanted.revision, now=now)


def store_records(owner: str, planned: Plan, now: int) -> None:
    """Write records, and have all of them indexed and published."""
    inserts, updates = planned.inserts, planned.updates
    transfer.store(owner, inserts, updates, now, forms=lambda record: planned.forms[record.id])
    for subject in sorted({record.subject_id for record in (*inserts, *updates)}):
        packages.settled_act(
            packages.open_act(owner, subject, now),
            inserted=[record.id for record in inserts if record.subject_id == subject],
            updated=[record.id for record in updates if record.subject_id == subject],
            now=now,
        )


def _next(record: Record) -> Record:
    return replace(record, revision=record.revision + 1)


def _met(owner: str, new: Sequence[Record], changed: Sequence[Record]) -> dict[str, Record]:
    """New records weighed against those that a package has formed here, edited ones against all.

    Records of an import carry no package: they were weighed with each other where they come from.
    """
    standing = {record.id: record for record in _rivals(owner, (*new, *changed))}
    formed = [record for record in standing.values() if record.package_id is not None]
    met = weigh(new, formed) if formed else {}
    if not changed:
        return met
    known: Mapping[str, Record] = standing | {record.id: record for record in new} | met
    edited = {record.id for record in changed}
    others = [record for record_id, record in known.items() if record_id not in edited]
    return met | weigh([met.get(record.id, record) for record in changed], others)


def _rivals(owner: str, arrived: Iterable[Record]) -> list[Record]:
    wanted: dict[str, tuple[set[tuple[str, Scope]], set[str]]] = {}
    found: list[Record] = []
    for record in arrived:
        slots, skeletons = wanted.setdefault(record.subject_id, (set(), set()))
        if record.key is not None:
            slots.add((record.key, record.scope))
        if skeleton := forms_of(record).skeleton:
            skeletons.add(skeleton)
    for subject, (slots, skeletons) in wanted.items():
        looked_for = Wanted((subject,), slots=tuple(slots), skeletons=tuple(skeletons), alike=ALIKE)
        found += comparable(owner, looked_for)
    return found
