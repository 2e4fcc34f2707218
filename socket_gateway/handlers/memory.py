"""Reading memory: positions, evidence, records, objects, snapshots; and putting objects."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from pipeline.projections.snapshot import marked
from pipeline.text.neutralise import neutralised
from socket_gateway import protocol, shapes
from socket_gateway.handlers.services import Services
from storage.errors import BadRequestError, NotFoundError
from storage.records.events import OWNER_OBJECT, Event, ObjectKind
from storage.records.knowledge import MemoryObject, ObjectState, Record, RecordKind, RecordStatus
from storage.repositories import events, evidence, objects, positions, records, snapshots

log = logging.getLogger(__name__)

Json = dict[str, Any]
Answer = "asyncio.Future[Json]"


class Memory:
    """Serves the methods that read what is stored, each in a thread of its own connection."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def positions(self, params: protocol.Owned) -> "asyncio.Future[Json]":
        """Serve `memory.positions`."""
        return self._services.read(_positions, params.owner)

    def evidence(self, params: protocol.EvidenceParams) -> "asyncio.Future[Json]":
        """Serve `memory.evidence.get`."""
        return self._services.read(_evidence, params)

    def record(self, params: protocol.RecordParams) -> "asyncio.Future[Json]":
        """Serve `memory.record.get`."""
        return self._services.read(_record, params)

    def record_list(self, params: protocol.RecordListParams) -> "asyncio.Future[Json]":
        """Serve `memory.record.list`."""
        return self._services.read(_record_list, params)

    def record_history(self, params: protocol.RecordParams) -> "asyncio.Future[Json]":
        """Serve `memory.record.history`."""
        return self._services.read(_record_history, params)

    def object(self, params: protocol.ObjectParams) -> "asyncio.Future[Json]":
        """Serve `memory.object.get`."""
        return self._services.read(_object, params)

    def object_list(self, params: protocol.ObjectListParams) -> "asyncio.Future[Json]":
        """Serve `memory.object.list`."""
        return self._services.read(_object_list, params)

    def object_put(self, params: protocol.ObjectPutParams) -> "asyncio.Future[Json]":
        """Serve `memory.object.put`.

        Raises:
            BadRequestError: The id is reserved, or a text of the object holds what looks like a
                secret.
        """
        if params.id.startswith("@"):
            raise BadRequestError("id: ids that begin with @ are reserved; choose another.")
        texts = {"owner": params.owner, "id": params.id, "title": params.title or ""}
        for field, value in texts.items():
            if self._services.redactor.has_secret(value):
                raise BadRequestError(f"{field} holds what looks like a secret; leave it out.")
        return self._services.write("object", _put_object, params, self._services.now())

    def snapshot(self, params: protocol.SnapshotParams) -> "asyncio.Future[Json]":
        """Serve `snapshot.get`."""
        return self._services.read(_snapshot, params, self._services.now())


def _positions(owner: str) -> Json:
    found = positions.of(owner)
    return {
        "received": found.received,
        "organized": found.organized,
        "published": found.published,
        "backlog": found.backlog,
        "dead": found.dead,
    }


def _evidence(params: protocol.EvidenceParams) -> Json:
    spans: list[Json] = []
    lost: Sequence[str] = ()
    named: Sequence[str] = params.event_ids or ()
    if params.record_id is not None:
        (checked,) = _proven(params.owner, [records.get(params.owner, params.record_id)])
        lost = checked.missing
        spans = [shapes.span(params.record_id, part) for part in checked.record.evidence]
        named = [*(part.event_id for part in checked.record.evidence), *lost]
    wanted = list(dict.fromkeys(named))
    found = {event.id: event for event in events.by_ids(params.owner, wanted)}
    return {
        "events": [
            _part(found[event_id], params.offset, params.limit)
            for event_id in wanted
            if event_id in found
        ],
        "spans": spans,
        "missing": [event_id for event_id in wanted if event_id not in found or event_id in lost],
    }


def _part(event: Event, offset: int, limit: int) -> Json:
    end = offset + limit
    return shapes.event(event) | {
        "text": event.text[offset:end],
        "next_offset": end if end < len(event.text) else None,
    }


def _record(params: protocol.RecordParams) -> Json:
    (found,) = _proven(params.owner, [records.get(params.owner, params.record_id)])
    return shapes.proven(found)


def _proven(owner: str, found: Sequence[Record]) -> list[evidence.Proven]:
    """Records as they may be shown; what no longer stands is noted where an operator looks."""
    checked = evidence.proven(owner, found)
    for record, item in zip(found, checked, strict=True):
        # What was imported without its events has never been here.
        if item.missing and any(span.seq > 0 for span in record.evidence):
            log.warning(
                "record %s quotes words that %d events no longer give",
                item.record.id, len(item.missing),
            )  # fmt: skip
    return checked


def _record_list(params: protocol.RecordListParams) -> Json:
    found = records.listing(
        params.owner,
        subject=params.object,
        kind=RecordKind(params.kind) if params.kind else None,
        status=RecordStatus(params.status) if params.status else None,
        after=params.after or "",
        limit=params.limit + 1,
    )
    return page([shapes.proven(item) for item in _proven(params.owner, found)], params.limit)


def _record_history(params: protocol.RecordParams) -> Json:
    found = records.history(params.owner, params.record_id)
    return {"items": [shapes.proven(item) for item in _proven(params.owner, found)], "next": None}


def _object(params: protocol.ObjectParams) -> Json:
    found = objects.find(params.owner, params.id)
    if found is None:
        raise NotFoundError("There is no object of that id for this owner.")
    return shapes.memory_object(found)


def _object_list(params: protocol.ObjectListParams) -> Json:
    found = objects.listing(
        params.owner,
        kind=ObjectKind(params.kind) if params.kind else None,
        state=ObjectState(params.state) if params.state else None,
        after=params.after or "",
        limit=params.limit + 1,
    )
    return page([shapes.memory_object(item) for item in found], params.limit)


def _put_object(params: protocol.ObjectPutParams, now: int) -> Json:
    """Put an object; of a known one what the caller does not name stays as it is."""
    known = objects.find(params.owner, params.id)
    named = params.model_fields_set
    wanted = MemoryObject(
        owner=params.owner,
        id=params.id,
        kind=known.kind if known and "kind" not in named else ObjectKind(params.kind),
        title=_titled(params.title) or (known.title if known else params.id),
        state=known.state if known and "state" not in named else ObjectState(params.state),
        revision=0,
        created_at=now,
        updated_at=now,
    )
    stored = objects.put(wanted, expected_revision=params.expected_revision, now=now)
    return shapes.memory_object(stored)


def _titled(given: str | None) -> str | None:
    """A title as events' are kept: nothing hidden in it, and no mark of another speaker (B5)."""
    return given and neutralised(given, by_user=False).text


def _snapshot(params: protocol.SnapshotParams, now: int) -> Json:
    found = snapshots.get(params.owner, params.object or OWNER_OBJECT)
    return shapes.snapshot(found and marked(found, now))


def page(items: list[Json], limit: int) -> Json:
    """A page out of one item more than asked for: that one says that there is a next page."""
    return {"items": items[:limit], "next": items[limit - 1]["id"] if len(items) > limit else None}
