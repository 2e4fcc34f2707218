"""`memory.events.ingest`: from the wire to the writer, with nothing in between."""

import asyncio
from typing import Final

import orjson

from pipeline.intake import IngestAnswer, IngestRequest
from pipeline.runner import Work
from socket_gateway import protocol
from socket_gateway.handlers.services import Services, Shaped
from storage.errors import BadRequestError
from storage.records.events import Event, ObjectKind, ObjectRef, Priority, Role

_PRIORITIES: Final = {priority.name.lower(): priority for priority in Priority}


class Ingest:
    """Serves ingest: the future it gives back is done once the events are on disk.

    What arrives in one turn of the loop goes to the writer together: waking it for each request
    cost more than the request.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._arrived: list[tuple[IngestRequest, int, Shaped]] = []

    def __call__(self, params: protocol.IngestParams) -> "asyncio.Future[object]":
        """Queue a request's events for the next group commit.

        Raises:
            BadRequestError: An event's `data` is too large; the message names which.
        """
        events = tuple(
            _event(params.owner, place, event) for place, event in enumerate(params.events)
        )
        shaped = Shaped(self._services.loop, self._shape)
        if not self._arrived:
            self._services.loop.call_soon(self._submit)
        self._arrived.append((IngestRequest(params.owner, events), len(events), shaped))
        return shaped.future

    def _submit(self) -> None:
        arrived, self._arrived = self._arrived, []
        self._services.core.writer.submit_all(self._services.intake, arrived)

    def _shape(self, answer: IngestAnswer) -> object:
        self._services.wake(Work.FILTER)
        accepted = []
        for receipt in answer.receipts:
            item: dict[str, object] = {
                "id": receipt.id,
                "seq": receipt.seq,
                "duplicate": receipt.duplicate,
            }
            if receipt.redactor_changed:
                item["redactor_changed"] = True
            if receipt.forgotten:
                item["forgotten"] = True
            if receipt.redactions:
                item["redactions"] = dict(receipt.redactions)
            accepted.append(item)
        position = answer.position
        return {
            "accepted": accepted,
            "position": {
                "received": position.received,
                "organized": position.organized,
                "published": position.published,
            },
        }


def _event(owner: str, place: int, given: protocol.Event) -> Event:
    if given.data is not None and len(orjson.dumps(given.data)) > protocol.MAX_DATA_BYTES:
        raise BadRequestError(
            f"events[{place}].data: more than {protocol.MAX_DATA_BYTES} bytes as JSON; keep large"
            " things where they are and send a reference in source.ref."
        )
    source = given.source
    return Event(
        owner=owner,
        id=given.id,
        kind=given.kind,
        at=given.at,
        role=Role(source.role),
        text=given.text,
        data=given.data,
        stream=source.stream,
        speaker=source.speaker,
        ref=source.ref,
        objects=tuple(
            ObjectRef(o.id, ObjectKind(o.kind) if o.kind else None, o.title) for o in given.objects
        ),
        task_id=given.task.id if given.task else None,
        task_version=given.task.version if given.task else None,
        request_id=given.request_id,
        causes=tuple(given.causes),
        priority=_PRIORITIES[given.priority],
        recalled=tuple(given.recalled),
        expires_at=given.expires_at,
    )
