"""The socket server: who gets in, how many, and how it stops."""

import asyncio
import os
import socket
import struct
from pathlib import Path

from socket_gateway.connection import Connection
from socket_gateway.lifetimes import Phase
from socket_gateway.limits import Counters, Limits
from socket_gateway.outcomes import Handler
from socket_gateway.ownership import SocketOwnership
from storage.errors import BusyError, ForbiddenError

__all__ = ["Counters", "Handler", "Limits", "SocketServer"]

_DEFAULT_LIMITS = Limits()
_CREDENTIALS = struct.Struct("3i")
_SWEEPS_PER_LIMIT = 20
_SWEEP_SECONDS = (0.01, 0.25)
_BUSY_RETRY_MS = 200
# A client that closes one connection and opens the next may be seen in the other order; two turns
# of the loop make sure that every close before the new connection has been read.
_TURNS_BEFORE_BUSY = 2


class SocketServer:
    """Serves JSON-Lines requests on a Unix socket (spec: protocol, Transport).

    Use it from the event loop that runs `start`.

    Args:
        path: Where the socket stands.
        handler: Gives each request's result, or an awaitable of it. A coroutine or task that
            misses its deadline is cancelled; a bare future is left alone.
        limits: Sizes, counts and times.
        uid: Whose connections are served; by default the server's own user's.
    """

    def __init__(
        self,
        path: Path,
        handler: Handler,
        limits: Limits = _DEFAULT_LIMITS,
        *,
        uid: int | None = None,
    ) -> None:
        self.path = path
        self.handler = handler
        self.limits = limits
        self.counters = Counters()
        self.loop: asyncio.AbstractEventLoop
        self._uid = os.geteuid() if uid is None else uid
        self._served: set[Connection] = set()
        self._all: set[Connection] = set()
        self._ownership: SocketOwnership | None = None
        self._server: asyncio.AbstractServer | None = None
        self._sweeping: asyncio.TimerHandle | None = None
        self._draining = False
        self._empty = asyncio.Event()

    async def start(self) -> None:
        """Take the path and listen.

        Raises:
            SocketOwnedError: A living server has the path.
            SocketPathError: The path can't be used; the message says what to set.
            OSError: The folder or the lock file can't be made.
        """
        self.loop = asyncio.get_running_loop()
        ownership = await asyncio.to_thread(SocketOwnership.take, self.path)
        try:
            listener = ownership.bind()
            self._server = await self.loop.create_unix_server(
                lambda: Connection(self), sock=listener
            )
        except BaseException:
            ownership.remove_socket()
            ownership.release()
            raise
        self._ownership = ownership

    async def drain(self, timeout_s: float) -> None:
        """Stop accepting, let the answers under way finish, then close everything.

        Args:
            timeout_s: Seconds after which connections are cut that aren't finished.
        """
        if self._ownership is None or self._draining:
            return
        self._draining = True
        self._ownership.remove_socket()
        if self._server is not None:
            self._server.close()
        for connection in list(self._all):
            connection.end()
        try:
            await asyncio.wait_for(self._wait_until_empty(), timeout_s)
        except TimeoutError:
            for connection in list(self._all):
                connection.abort()
            await self._wait_until_empty()
        if self._sweeping is not None:
            self._sweeping.cancel()
        self._ownership.release()

    # ---- called by the connections

    def arrived(self, connection: Connection) -> None:
        """Serve, hold or refuse a new connection."""
        self._all.add(connection)
        self._empty.clear()
        self._keep_sweeping()
        if self._draining:
            connection.abort()
        elif _peer_uid(connection.transport) != self._uid:
            self.counters.forbidden += 1
            connection.refuse(ForbiddenError("This socket serves only the user it runs as."))
        elif not self._try_serve(connection):
            connection.hold()
            self.loop.call_soon(self._decide, connection, _TURNS_BEFORE_BUSY)

    def released(self, connection: Connection) -> None:
        """Give its place among the served to another."""
        self._served.discard(connection)
        self.counters.open = len(self._served)

    def left(self, connection: Connection) -> None:
        """Forget a connection whose socket is closed."""
        self._all.discard(connection)
        if not self._all:
            self._empty.set()

    # ---- inside

    def _try_serve(self, connection: Connection) -> bool:
        if len(self._served) >= self.limits.connections:
            return False
        self._served.add(connection)
        self.counters.open = len(self._served)
        self.counters.accepted += 1
        connection.open()
        return True

    def _decide(self, connection: Connection, turns: int) -> None:
        if connection.phase is not Phase.HELD or self._try_serve(connection):
            return
        if turns:
            self.loop.call_soon(self._decide, connection, turns - 1)
            return
        self.counters.busy += 1
        # Lingering connections hold descriptors, so a flood of refused ones is cut short.
        connection.refuse(
            BusyError(retry_after_ms=_BUSY_RETRY_MS),
            linger=len(self._all) <= 2 * self.limits.connections,
        )

    async def _wait_until_empty(self) -> None:
        if self._all:
            await self._empty.wait()

    def _keep_sweeping(self) -> None:
        """One coarse timer looks at all deadlines, and none while nobody is connected."""
        if self._sweeping is None:
            self._sweeping = self.loop.call_later(self._sweep_seconds(), self._sweep)

    def _sweep(self) -> None:
        self._sweeping = None
        if self._all:
            self._keep_sweeping()
        now = self.loop.time()
        for connection in list(self._all):
            connection.check_deadlines(now)

    def _sweep_seconds(self) -> float:
        limits = self.limits
        shortest = min(limits.request_ms, limits.answer_ms, limits.idle_ms) / 1000
        least, most = _SWEEP_SECONDS
        return min(max(shortest / _SWEEPS_PER_LIMIT, least), most)


def _peer_uid(transport: asyncio.Transport) -> int:
    peer = transport.get_extra_info("socket")
    packed = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    uid: int = _CREDENTIALS.unpack(packed)[1]
    return uid
