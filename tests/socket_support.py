"""A socket server in a thread of the test process, and a bare client for it."""

import asyncio
import json
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import uvloop

from socket_gateway.server import Handler, Limits, SocketServer

PATIENCE_S = 20.0
"""How long a test waits for what must come; far above any limit it sets."""


class RunningServer:
    """A started server and the loop it runs on."""

    def __init__(self, server: SocketServer, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self.loop = loop

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine on the server's loop and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def resolve(self, future: "asyncio.Future[object]", result: object) -> None:
        """Give a handler's future its result, from the test's thread."""
        self.loop.call_soon_threadsafe(future.set_result, result)


@contextmanager
def loop_thread() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs in a thread of its own."""
    loop = uvloop.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_S)
        loop.close()


@contextmanager
def running_server(
    path: Path, handler: Handler, limits: Limits | None = None, *, uid: int | None = None
) -> Iterator[RunningServer]:
    """A server at that path, drained at the end."""
    with loop_thread() as loop:
        server = SocketServer(path, handler, limits or Limits(), uid=uid)
        running = RunningServer(server, loop)
        running.run(server.start())
        try:
            yield running
        finally:
            running.run(server.drain(1.0))


class Client:
    """A blocking client that sends bytes as they are."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE_S)
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self._lines = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close both directions."""
        self._lines.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes, all of them."""
        self.socket.sendall(data)

    def ask(self, request_id: str | int, method: str = "health", **params: object) -> Any:
        """Send one request and read one answer."""
        self.send(request_line(request_id, method, **params))
        return self.answer()

    def answer(self) -> Any:
        """The next answer, decoded."""
        line = self._lines.readline()
        assert line.endswith(b"\n"), f"no whole answer: {line!r}"
        return json.loads(line)

    def rest(self) -> bytes:
        """Everything up to the end that the server sets."""
        return self._lines.read()

    def end_sending(self) -> None:
        """Close the writing side only."""
        self.socket.shutdown(socket.SHUT_WR)


def request_line(request_id: str | int, method: str = "health", **params: object) -> bytes:
    """One request as it goes over the wire."""
    request = {"id": request_id, "method": method, "params": params}
    return json.dumps(request, ensure_ascii=False).encode() + b"\n"
