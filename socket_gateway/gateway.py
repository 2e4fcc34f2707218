"""The gateway process: listens at once, warms up behind, then serves every method.

`health` is answered from the first moment (`degraded: warming`); the rest waits until the
dictionaries and rules are there (spec: quality, Speed).
"""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import uvloop

from pipeline.settings import Settings, load
from socket_gateway.dispatch import Dispatcher
from socket_gateway.handlers.health import Health
from socket_gateway.server import Limits, SocketServer
from storage.database_file import check_is_ours
from storage.errors import MemoryServiceError

if TYPE_CHECKING:
    from socket_gateway.assembly import Assembled

log = logging.getLogger(__name__)

EXIT_REFUSED: Final = 78
"""The process can't run as it is set up; starting it again would end the same way."""

DRAIN_S: Final = 4.0
UMASK: Final = 0o077
_GARBAGE_THRESHOLD: Final = 20_000


class Gateway:
    """One gateway: its socket, its warming, its end.

    Args:
        settings: The process's settings.
        on_listening: Called once socket and database are known to be this service's to take.
        on_warm: Called once everything is loaded.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        on_listening: Callable[[], None] = lambda: None,
        on_warm: Callable[[], None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._on_listening = on_listening
        self._on_warm = on_warm
        self._began = time.monotonic()
        socket = settings.socket
        limits = Limits(
            line_bytes=socket.line_bytes,
            request_ms=socket.request_ms,
            answer_ms=socket.answer_ms,
            connections=socket.connections,
            idle_ms=socket.idle_ms,
        )
        self._health = Health(_version(), self._uptime_ms, lambda: self._server.counters)
        self._dispatcher = Dispatcher(self._health)
        self._server = SocketServer(settings.paths.socket, self._dispatcher, limits)
        self._assembled: Assembled | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set, then drain.

        Raises:
            MemoryServiceError: The socket or the database is refused.
        """
        await self._server.start()
        try:
            check_is_ours(self._settings.paths.database)
            log.info("listening; warming up")
            self._on_listening()
            await self._warm_up()
            log.info("ready after %d ms", self._uptime_ms())
            await stop.wait()
        finally:
            await self._server.drain(DRAIN_S)
            if self._assembled is not None:
                await self._assembled.close()

    async def _warm_up(self) -> None:
        # What is imported here takes most of a second, and health must not wait for it.
        loop = asyncio.get_running_loop()
        assemble = await asyncio.to_thread(_import_assembly)
        self._assembled = await assemble(self._settings, loop)
        self._on_warm()
        self._health.ready(self._assembled.services)
        self._dispatcher.ready(self._assembled.handlers(self._health))

    def _uptime_ms(self) -> int:
        return int((time.monotonic() - self._began) * 1000)


def main() -> int:
    """Run a gateway until SIGTERM or SIGINT; its exit status."""
    os.umask(UMASK)
    try:
        settings, _ = load()
    except MemoryServiceError as error:
        return _refuse(error)
    logging.basicConfig(
        level=settings.log.level.upper(),
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )
    try:
        uvloop.run(_serve(settings))
    except MemoryServiceError as error:
        return _refuse(error)
    return 0


async def _serve(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    gateway = Gateway(
        settings, on_listening=lambda: _tell_parent(settings), on_warm=_settle_garbage
    )
    await gateway.run(stop)


def _settle_garbage() -> None:
    """Leave what start-up has made out of later garbage collections, and collect less often.

    Rules and dictionaries are some hundred thousand objects that stay; looking through them again
    and again took a tenth of the time of bulk intake.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE_THRESHOLD)


def _refuse(error: MemoryServiceError) -> int:
    sys.stderr.write(f"deskpaw-memory: {error.message}\n")
    return EXIT_REFUSED


def _tell_parent(settings: Settings) -> None:
    """Let `serve` know, through the pipe that it named, that the consumer can be started."""
    from socket_gateway.supervisor import LISTENING_OPTION, listening_line  # noqa: PLC0415 - only its child

    for argument in sys.argv[1:]:
        if argument.startswith(LISTENING_OPTION):
            descriptor = int(argument.removeprefix(LISTENING_OPTION))
            worker = settings.worker
            socket, beat = str(settings.paths.socket), str(settings.paths.consumer_beat)
            with contextlib.suppress(BrokenPipeError):
                os.write(descriptor, listening_line(socket, worker.threads, worker.drain_ms, beat))
            os.close(descriptor)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - slow to import, needed once

    return version("deskpaw-memory")


def _import_assembly() -> "Callable[..., Awaitable[Assembled]]":
    from socket_gateway.assembly import assemble  # noqa: PLC0415 - seconds of imports, see _warm_up

    return assemble


if __name__ == "__main__":
    sys.exit(main())
