"""`ops.fate`: what became of an event and why (mission C9; spec: protocol, Operators)."""

import asyncio
from collections.abc import Collection, Iterable
from typing import Any

from pipeline.rules.indexing import event_document, record_document
from pipeline.rules.locating import locate
from socket_gateway import protocol, shapes
from socket_gateway.handlers.services import Services
from storage.errors import MemoryServiceError
from storage.records.events import Event
from storage.records.fates import EventFate, Quoting, Resting
from storage.records.knowledge import Change, JournalEntry
from storage.repositories import fates, tombstones

Json = dict[str, Any]


class Tracing:
    """Serves what an operator asks about one event."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def fate(self, params: protocol.FateParams) -> "asyncio.Future[Json]":
        """Serve `ops.fate`.

        Raises:
            NotFoundError: The owner has no such event.
        """
        return self._services.read(self._fate, params)

    def _fate(self, params: protocol.FateParams) -> Json:
        gone = tombstones.forgotten_events(params.owner, [params.event_id])
        if gone:
            return _forgotten(params.event_id, gone[params.event_id], self._services.follower.lag)
        found = fates.of(params.owner, params.event_id)
        documents = {event_document(found.event.seq)}
        documents |= {record_document(resting.record.id) for resting in found.records}
        return _shaped(found, self._indexed(documents), self._services.follower.lag)

    def _indexed(self, documents: Collection[str]) -> dict[str, bool]:
        """Which documents the index holds; none is named where it can't tell."""
        try:
            held = self._services.index.document_frequencies(documents, field="document")
        except MemoryServiceError:
            return {}
        return {document: number > 0 for document, number in held.items()}


def _shaped(found: EventFate, indexed: dict[str, bool], lag: int) -> Json:
    event = found.event
    counted = found.counted
    return {
        "event": {
            "id": event.id,
            "seq": event.seq,
            "kind": event.kind,
            "role": event.role.value,
            "at": event.at,
            "received_at": event.received_at,
            "redactions": dict(event.redactions),
        },
        "fate": found.fate.value if found.fate else "received",
        "reason": found.reason,
        "repeats": _repeats(found),
        "passage": _passage(found),
        "proposals": [_proposal(item, counted) for item in found.proposals],
        "unattributed": dict(found.unattributed),
        "records": [_record(item, counted, indexed) for item in found.records],
        "requests": [_request(entry) for entry in found.requests],
        "indexed": indexed.get(event_document(event.seq)),
        "index_lag": lag,
    }


def _forgotten(event_id: str, seq: int, lag: int) -> Json:
    """What is left of a forgotten event: that it was one."""
    return {
        "event": {"id": event_id, "seq": seq},
        "fate": "forgotten",
        "reason": None,
        "repeats": None,
        "passage": None,
        "proposals": [],
        "unattributed": {},
        "records": [],
        "requests": [],
        "indexed": False,
        "index_lag": lag,
    }


def _repeats(found: EventFate) -> Json | None:
    repeats = found.repeats
    if repeats is None:
        return None
    return {
        "event": found.counted.id,
        "seq": found.counted.seq,
        "count": repeats.count,
        "first_at": repeats.first_at,
        "last_at": repeats.last_at,
    }


def _passage(found: EventFate) -> Json | None:
    passage = found.passage
    if passage is None:
        return None
    return {
        "package": shapes.package(passage.package),
        "committed": {stage.value: at for stage, at in passage.committed.items()},
        "parked_at": passage.parked_at,
    }


def _proposal(item: Quoting, counted: Event) -> Json:
    quotes = (quote.quote for quote in item.proposal.evidence if quote.event_id == counted.id)
    return {
        "package_id": item.package_id,
        "index": item.verdict.index,
        "kind": item.proposal.kind.value,
        "quotes": list(_places(quotes, counted)),
        "became": item.became,
        "code": item.verdict.code.value if item.verdict.code else None,
        "reason": item.verdict.reason,
    }


def _places(quotes: Iterable[str], counted: Event) -> Iterable[Json]:
    """Where quotes stand; one that does not is a worker's text and no quote."""
    for quote in quotes:
        place = locate(quote, counted.text)
        if place is not None:
            yield _quote(place[0], place[1], counted.text)


def _quote(start: int, end: int, text: str) -> Json:
    return {"start": start, "end": end, "quote": text[start:end]}


def _record(item: Resting, counted: Event, indexed: dict[str, bool]) -> Json:
    record = item.record
    return {
        "id": record.id,
        "kind": record.kind.value,
        "subject_id": record.subject_id,
        "status": record.status.value,
        "revision": record.revision,
        "quotes": [
            _quote(span.start, span.end, counted.text)
            for span in record.evidence
            if span.seq == counted.seq
        ],
        "superseded_by": list(item.superseded_by),
        "conflicts_with": list(record.conflicts_with),
        "reason": record.reason,
        "indexed": indexed.get(record_document(record.id)),
    }


def _request(entry: JournalEntry) -> Json:
    return {
        "change": "confirm" if entry.change is Change.CONFIRM else "correct",
        "record_id": entry.record_id,
        "at": entry.at,
        "package_id": entry.package_id,
    }
