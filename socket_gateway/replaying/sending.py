"""Events to the service, in requests that it takes, at a rate of one's own."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import orjson

from socket_gateway.client import MemoryClient, Ports, ServiceError
from socket_gateway.protocol import MAX_EVENTS, Accepted
from socket_gateway.replaying.errors import Fault, ReplayError
from socket_gateway.replaying.survey import Line

MAX_REQUEST: Final = 1_000_000
"""Bytes of events in a request; the rest of a megabyte is for what is around them."""

_WINDOW: Final = 10
_PLACE = re.compile(r"events\[(\d+)\](?:\.([A-Za-z0-9_.\[\]]+))?")


@dataclass(slots=True)
class Tally:
    """What became of the events that were sent.

    Attributes:
        accepted: New events.
        duplicates: Events that the service had already.
        redactions: What was removed from the new ones, by kind.
        last: Each owner's last acknowledged event: its id and the highest sequence number.
    """

    accepted: int = 0
    duplicates: int = 0
    redactions: Counter[str] = field(default_factory=Counter)
    last: dict[str, tuple[str, int]] = field(default_factory=dict)

    def add(self, owner: str, receipt: Accepted) -> None:
        """Count one receipt."""
        if receipt.duplicate:
            self.duplicates += 1
        else:
            self.accepted += 1
            self.redactions.update(receipt.redactions or {})
        known = self.last.get(owner)
        if known is None or receipt.seq >= known[1]:
            self.last[owner] = (receipt.id, receipt.seq)


class Sender:
    """Sends lines in windows of a few requests; behind each window all of it is durable.

    Within a window each owner's events keep their order and go together, so that a log with many
    owners still goes in full requests.

    Args:
        client: Where to.
        batch: Events in a request, at most 200.
        rate: Events a second; None: as fast as the service takes them.
        ports: Time.
    """

    def __init__(
        self,
        client: MemoryClient,
        *,
        batch: int = MAX_EVENTS,
        rate: float | None = None,
        ports: Ports | None = None,
    ) -> None:
        self._client = client
        self._rate = rate
        self._batch = batch if rate is None else max(1, min(batch, int(rate)))
        self._ports = ports or Ports()
        self._start = self._ports.clock()
        self._sent = 0

    @property
    def sent(self) -> int:
        """How many events the service has acknowledged."""
        return self._sent

    def send(
        self,
        file: str,
        found: Iterable[Line],
        tally: Tally,
        after_window: Callable[[list[Line]], None],
    ) -> None:
        """Send a file's lines, and tell of each window that is durable.

        Raises:
            ReplayError: The service refuses an event; what came before its window is durable.
            ServiceError: The service refuses for another reason.
            NotReachableError: The service is gone.
        """
        rest = iter(found)
        size = self._batch * (_WINDOW if self._rate is None else 1)
        while window := list(islice(rest, size)):
            for request in requests(window, self._batch):
                self._send_request(file, request, tally)
            after_window(window)

    def _send_request(self, file: str, request: list[Line], tally: Tally) -> None:
        self._keep_rate()
        owner = request[0].read.owner
        try:
            result = self._client.ingest([line.read.event for line in request], owner)
        except ServiceError as error:
            faults = _faults(file, request, error)
            if not faults:
                raise
            raise ReplayError(faults, "The service refuses these lines:") from error
        self._sent += len(request)
        for receipt in result.accepted:
            tally.add(owner, receipt)

    def _keep_rate(self) -> None:
        if self._rate is not None:
            due = self._start + self._sent / self._rate
            self._ports.sleep(max(0.0, due - self._ports.clock()))


def requests(window: Iterable[Line], batch: int) -> Iterator[list[Line]]:
    """The lines in requests: one owner, at most `batch` events and a megabyte each."""
    by_owner: dict[str, list[Line]] = {}
    for line in window:
        by_owner.setdefault(line.read.owner, []).append(line)
    for owned in by_owner.values():
        yield from _cut(owned, batch)


def _cut(owned: list[Line], batch: int) -> Iterator[list[Line]]:
    request: list[Line] = []
    size = 0
    for line in owned:
        more = len(orjson.dumps(line.read.event)) + 1
        if request and (len(request) >= batch or size + more > MAX_REQUEST):
            yield request
            request, size = [], 0
        request.append(line)
        size += more
    if request:
        yield request


def _faults(file: str, request: list[Line], error: ServiceError) -> list[Fault]:
    """The lines that a refusal is about, where it names any."""
    ids = error.details.get("ids")
    if isinstance(ids, list):
        return [
            Fault(file, line.number, "id", "known to the service with other content")
            for line in request
            if line.read.event["id"] in ids
        ]
    place = _PLACE.search(error.message)
    if place is None or int(place[1]) >= len(request):
        return []
    reason = error.message[place.end() :].lstrip(": ") or error.message
    return [Fault(file, request[int(place[1])].number, place[2] or "", reason)]
