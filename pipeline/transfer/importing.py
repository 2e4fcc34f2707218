"""Import: documents become records and objects again, as far as memory lets them.

Reads, decides and cleans without a transaction; then writes in one, which looks again whether
memory still stands where the decisions saw it (mission D9; spec: design, invariant 3).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.errors import LostRaceError
from pipeline.intake import IngestRequest, Intake
from pipeline.rules.sources import ordered
from pipeline.text.redaction import Redactor
from pipeline.transfer import cleaning
from pipeline.transfer.deciding import (
    Decision,
    Outcome,
    decide_object,
    decide_record,
)
from pipeline.transfer.opening import opened
from pipeline.transfer.reading import ReadObject, ReadRecord
from pipeline.transfer.refusals import Refusal
from pipeline.transfer.resting import located, trusts
from pipeline.transfer.standing import About, Standing, Tombstones, about, look
from pipeline.transfer.storing import Plan, plan, store_object, store_records
from storage.records.events import Event, Role
from storage.records.knowledge import MemoryObject, Origin, Record, Span
from storage.repositories import events, objects, records


@dataclass(frozen=True, slots=True)
class Item:
    """A document on its way in.

    Attributes:
        decision: What it means.
        redactions: What was taken out of it, by kind.
        missing: Events that its record rests on and that this memory doesn't have.
        edits: The words of an edit, as intake has prepared them.
    """

    decision: Decision
    redactions: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    edits: Any = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Documents with what they mean, and where memory stood when that was decided."""

    owner: str
    now: int
    items: tuple[Item, ...]
    planned: Plan
    about: About
    seen: Standing


@dataclass(frozen=True, slots=True)
class _Known:
    """What memory has of what documents are about."""

    records: Mapping[str, Record]
    objects: Mapping[str, MemoryObject]
    events: Mapping[str, Event]


class Importer:
    """Takes documents in.

    Args:
        intake: Stores the words of edits as events.
        redactor: Takes secrets out.
        tombstones: What was forgotten.
    """

    def __init__(self, intake: Intake, redactor: Redactor, tombstones: Tombstones) -> None:
        self._intake = intake
        self._redactor = redactor
        self._tombstones = tombstones

    # ---- before the transaction --------------------------------------------

    def prepare(self, owner: str, texts: Sequence[str], now: int) -> Prepared:
        """What documents mean for an owner's memory as it stands; nothing is written.

        Args:
            owner: Whose.
            texts: The documents.
            now: Epoch milliseconds.
        """
        found = opened(owner, texts)
        ids = about(found)
        seen = look(owner, ids, self._tombstones)
        known = _known(owner, ids, seen)
        items = []
        for document in found:
            match document:
                case Decision():
                    items.append(Item(document))
                case ReadObject():
                    items.append(self._object(document, known))
                case ReadRecord():
                    items.append(self._record(document, known, seen, now))
        return Prepared(owner, now, tuple(items), _planned(owner, items), ids, seen)

    def _object(self, found: ReadObject, known: _Known) -> Item:
        decision = decide_object(found, known.objects.get(found.object.id))
        if decision.object is None:
            return Item(decision)
        try:
            made, counts = cleaning.cleaned_object(decision.object, self._redactor)
        except cleaning.SecretNameError:
            return Item(_sensitive(decision))
        return Item(replace(decision, object=made), counts)

    def _record(self, found: ReadRecord, known: _Known, seen: Standing, now: int) -> Item:
        record_id = found.record.id
        if record_id in seen.forgotten:
            return Item(Decision(Outcome.FORGOTTEN, "record", record_id))
        present = known.records.get(record_id)
        if present is None:
            decision = decide_record(found, None, now)
            if decision.record is None:
                return Item(decision)
            return self._arriving(decision, decision.record, known.events, seen.erased)
        cleaned, counts = cleaning.cleaned_edit(found.record, present, self._redactor)
        decision = decide_record(replace(found, record=cleaned), present, now)
        if decision.record is None:
            return Item(decision)
        return self._edited(decision, decision.record, present, counts)

    def _arriving(
        self,
        decision: Decision,
        brought: Record,
        sources: Mapping[str, Event],
        erased: Collection[str],
    ) -> Item:
        record = _without(brought, erased)
        if brought.evidence and not record.evidence:
            # All that it rested on was forgotten: what was derived goes with its sources (D8).
            return Item(decision.so(Outcome.FORGOTTEN))
        record = located(record, lambda span: _seq(span, sources))
        if not trusts(record, here=_here(record, sources), told=_told(record)):
            reason = "its evidence is not that of who may say it"
            return Item(decision.refused(Refusal.UNTRUSTED_SOURCE, reason, "authority"))
        try:
            record, counts = cleaning.cleaned_record(record, self._redactor)
        except cleaning.SecretNameError:
            return Item(_sensitive(decision))
        lost = dict.fromkeys(span.event_id for span in record.evidence if span.seq < 0)
        return Item(replace(decision, record=record), counts, tuple(lost))

    def _edited(
        self, decision: Decision, record: Record, present: Record, counts: Mapping[str, int]
    ) -> Item:
        """An edit with the events of its new words, which a cleaning has gone over before."""
        made = cleaning.edit_events(record, present, decision.edited, record.observed_at)
        if not made:
            return Item(decision, counts)
        (edits,) = self._intake.prepare([IngestRequest(present.owner_scope, tuple(made))])
        said = [new.event.text for new in edits.new]
        if edits.error is not None or said != [event.text for event in made]:
            return Item(_sensitive(decision))
        return Item(decision, counts, edits=edits)

    # ---- in the transaction ------------------------------------------------

    def apply(self, prepared: Prepared) -> None:
        """Write what was decided.

        Raises:
            LostRaceError: Memory has moved on; prepare again.
        """
        if look(prepared.owner, prepared.about, self._tombstones) != prepared.seen:
            raise LostRaceError
        for item in prepared.items:
            store_object(item.decision, prepared.now)
        edited = {item.decision.id: item for item in prepared.items if item.edits is not None}
        updates = [
            self._resting(record, edited[record.id]) if record.id in edited else record
            for record in prepared.planned.updates
        ]
        planned = replace(prepared.planned, updates=tuple(updates))
        store_records(prepared.owner, planned, prepared.now)

    def _resting(self, record: Record, item: Item) -> Record:
        """An edited record on the events of its new words."""
        (answer,) = self._intake.apply([item.edits])
        if isinstance(answer, Exception):
            raise answer
        said = [new.event for new in item.edits.new]
        spans = [
            Span(event.id, receipt.seq, 0, len(event.text), event.text)
            for event, receipt in zip(said, answer.receipts, strict=True)
        ]
        origins = [Origin(event.id, event.at, Role.USER) for event in said]
        if "content" not in item.decision.edited:
            # What the record said stands; the new words only add to it.
            spans, origins = [*record.evidence, *spans], [*record.origins, *origins]
        return replace(record, evidence=ordered(spans), origins=tuple(origins))


def _planned(owner: str, items: Sequence[Item]) -> Plan:
    new: list[Record] = []
    changed: list[Record] = []
    for item in items:
        record = item.decision.record
        if record is not None:
            (new if item.decision.outcome is Outcome.CREATED else changed).append(record)
    return plan(owner, new, changed)


def _known(owner: str, ids: About, seen: Standing) -> _Known:
    found = [objects.find(owner, object_id) for object_id in sorted(ids.described)]
    return _Known(
        {record.id: record for record in records.by_ids(owner, ids.records)},
        {item.id: item for item in found if item is not None},
        {event.id: event for event in events.by_ids(owner, ids.events - seen.erased)},
    )


def _sensitive(decision: Decision) -> Decision:
    return decision.refused(Refusal.SENSITIVE, "an id or a slot holds what looks like a secret")


def _without(record: Record, erased: Collection[str]) -> Record:
    """The record without what it quotes of forgotten events."""
    return replace(
        record,
        evidence=tuple(span for span in record.evidence if span.event_id not in erased),
        origins=tuple(origin for origin in record.origins if origin.event_id not in erased),
    )


def _seq(span: Span, sources: Mapping[str, Event]) -> int | None:
    event = sources.get(span.event_id)
    return event.seq if event is not None and span.stands_in(event.text) else None


def _here(record: Record, sources: Mapping[str, Event]) -> set[Role]:
    """Who said those parts of its evidence that stand in events of this memory."""
    return {sources[span.event_id].role for span in record.evidence if span.seq > 0}


def _told(record: Record) -> set[Role | None]:
    """Who said the others, as its document tells."""
    told = {origin.event_id: origin.role for origin in record.origins}
    return {told.get(span.event_id) for span in record.evidence if span.seq <= 0}
