"""A load of many clients in one process: sockets, prepared lines, an epoll loop, nothing else."""

import json
import multiprocessing
import selectors
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from scripts.bench.yardsticks import TEXT

_BUFFER = 1 << 18
_PREPARED_EVENTS = 25_000
"""Events a second that requests are made for beforehand; more are made on the way."""


@dataclass(frozen=True, slots=True)
class Load:
    """How to ask: so many clients, events a request, and a new connection each time or not."""

    clients: int
    events: int = 1
    kept: bool = True
    seconds: float = 4.0
    owner: str = "local"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Events a second, and each request's milliseconds to its answer."""

    rate: float
    latencies_ms: list[float]


def run(path: Path, load: Load) -> Outcome:
    """Put a load on a service, from a process of its own."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_child, args=(theirs, path, load))
    process.start()
    outcome: Outcome = ours.recv()
    process.join()
    return outcome


def _child(pipe: "multiprocessing.connection.Connection", path: Path, load: Load) -> None:
    pipe.send(_Asker(path, load).run())


class _Asker:
    def __init__(self, path: Path, load: Load) -> None:
        self._path = str(path)
        self._load = load
        self._selector = selectors.EpollSelector()
        self._lines: Iterator[bytes] = iter(())
        self._latencies: list[float] = []
        self._answered = 0

    def run(self) -> Outcome:
        # Made beforehand, as the yardsticks' rows are: what is measured is the service.
        made = int(_PREPARED_EVENTS * self._load.seconds / self._load.events)
        self._lines = iter([self._made() for _ in range(made)])
        began = time.perf_counter()
        for _ in range(self._load.clients):
            self._ask(self._connect())
        until = began + self._load.seconds
        while time.perf_counter() < until:
            for key, _ in self._selector.select(0.5):
                self._answer(key.fileobj, key.data)  # type: ignore[arg-type]  # sockets only
        return Outcome(self._answered / (time.perf_counter() - began), self._latencies)

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(self._path)
        return connection

    def _ask(self, connection: socket.socket) -> None:
        line = self._line()
        self._selector.register(
            connection, selectors.EVENT_READ, (time.perf_counter(), bytearray())
        )
        connection.sendall(line)

    def _answer(self, connection: socket.socket, asked: tuple[float, bytearray]) -> None:
        since, received = asked
        received += connection.recv(_BUFFER)
        if not received.endswith(b"\n"):
            return
        if b'"ok":true' not in received[:60]:
            raise RuntimeError(f"refused: {received[:300]!r}")
        self._latencies.append((time.perf_counter() - since) * 1000)
        self._answered += self._load.events
        self._selector.unregister(connection)
        if not self._load.kept:
            connection.close()
            connection = self._connect()
        self._ask(connection)

    def _line(self) -> bytes:
        return next(self._lines, None) or self._made()

    def _made(self) -> bytes:
        events = [
            {
                "v": 1, "id": uuid4().hex, "kind": "user.message",
                "at": 1_772_000_000_000, "source": {"role": "user", "stream": "bench"},
                "text": TEXT,
            }
            for _ in range(self._load.events)
        ]  # fmt: skip
        request = {"id": 1, "method": "memory.events.ingest",
                   "params": {"owner": self._load.owner, "events": events}}  # fmt: skip
        return json.dumps(request, ensure_ascii=False).encode() + b"\n"
