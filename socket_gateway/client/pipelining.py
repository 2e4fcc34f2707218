"""One asyncio connection with many requests under way."""

import asyncio
import contextlib
from collections import deque
from pathlib import Path
from typing import Self

from socket_gateway.client.connection import lost, not_reachable
from socket_gateway.client.errors import NotReachableError, ServiceError
from socket_gateway.client.wire import Json, decode, encode

_LONGEST_ANSWER = 2**27
"""Bytes; far above the longest evidence that a service may send."""


class Pipeline:
    """Sends requests as they come and gives each answer, in order, to the one who waits for it.

    A request whose waiter was cancelled keeps its place, so that the order holds.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: deque[tuple[int, asyncio.Future[Json]]] = deque()
        self._last_id = 0
        self.is_open = True
        self._task = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Connect.

        Raises:
            NotReachableError: Nobody listens there.
        """
        try:
            return cls(*await asyncio.open_unix_connection(path, limit=_LONGEST_ANSWER))
        except OSError as error:
            raise not_reachable(path, error) from error

    async def close(self) -> None:
        """Close the connection and fail what is under way."""
        self._end("closed")
        self._task.cancel()
        await asyncio.wait([self._task])
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def ask(self, method: str, params: Json, timeout_s: float) -> Json:
        """Send one request and wait for its answer.

        Raises:
            ServiceError: The service answered with an error.
            NotReachableError: The connection is lost, or the time is over.
        """
        self._last_id += 1
        line = encode(self._last_id, method, params)
        if not self.is_open:
            raise lost("closed", may_have_run=False)
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting.append((self._last_id, future))
        self._writer.write(line)
        try:
            async with asyncio.timeout(timeout_s):
                with contextlib.suppress(OSError):
                    # The reading side tells of a loss, after any last answers.
                    await self._writer.drain()
                return await future
        except TimeoutError:
            self._end("no answer in time")
            raise lost("no answer in time", may_have_run=True) from None

    async def _read(self) -> None:
        why = "closed by the service"
        try:
            while self._settle(await self._reader.readline()):
                pass
        except (OSError, ValueError) as error:
            why = type(error).__name__
        finally:
            self._end(why)

    def _settle(self, line: bytes) -> bool:
        """Give an answer to its waiter; False when no more can come."""
        if not line.endswith(b"\n") or not self._waiting:
            return False
        request_id, future = self._waiting.popleft()
        try:
            result = decode(line, request_id)
        except (ServiceError, NotReachableError) as error:
            _fail(future, error)
            return isinstance(error, ServiceError) and not error.ends_connection
        if not future.done():
            future.set_result(result)
        return True

    def _end(self, why: str) -> None:
        self.is_open = False
        self._writer.close()
        while self._waiting:
            _fail(self._waiting.popleft()[1], lost(why, may_have_run=True))


def _fail(future: asyncio.Future[Json], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
