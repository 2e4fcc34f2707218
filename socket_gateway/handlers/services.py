"""What handlers work with, built once when the gateway has warmed up."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from pipeline.forgetting.erasing import Eraser
from pipeline.forgetting.forgetter import Forgetter
from pipeline.intake import Intake
from pipeline.rebuilding.rebuild import Rebuild
from pipeline.recall.follower import Follower
from pipeline.recall.service import Recaller
from pipeline.runner import Runner, Work
from pipeline.runtime import Core
from pipeline.stages.observe import Observe
from pipeline.text.redaction import Redactor
from storage.database import as_service_error, is_refusal
from storage.search_index import SearchIndex

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Services:
    """The gateway's parts. `reads` and `recalls` are threads with a database connection each."""

    core: Core
    intake: Intake
    redactor: Redactor
    observe: Observe
    runner: Runner
    index: SearchIndex
    index_rebuilt: str | None
    """Why the index had to be built anew at start, None when it was there."""
    follower: Follower
    recaller: Recaller
    wake: Callable[[Work], None]
    queue_state: Callable[[], tuple[int, int, int]]
    """Wake-ups waiting, wake-ups scheduled, and how often the queue file was replaced."""
    loop: asyncio.AbstractEventLoop
    reads: ThreadPoolExecutor
    recalls: ThreadPoolExecutor
    slow: ThreadPoolExecutor
    """One thread for what an operator asks for and may take long."""
    rebuild: Rebuild
    operations: ThreadPoolExecutor
    """One thread in which long operations are worked off, one after the other."""
    forgetter: Forgetter
    eraser: Eraser

    def read(self, function: Callable[..., Found], *args: Any) -> "asyncio.Future[Found]":
        """Run a read in a thread of its own connection."""
        return self.loop.run_in_executor(self.reads, partial(told, function, *args))

    def write(
        self, name: str, function: Callable[..., Found], *args: Any
    ) -> "asyncio.Future[Found]":
        """Run a write in the writer; done when it is on disk."""
        future: asyncio.Future[Found] = self.loop.create_future()
        self.core.writer.submit_call(name, partial(function, *args), future=future)
        return future

    def now(self) -> int:
        """Product time, epoch milliseconds."""
        return self.core.clock.now_ms()


def told(function: Callable[..., Found], *args: Any) -> Found:
    """Call a function that reads the database.

    Raises:
        MemoryServiceError: The database refuses in a way that callers are told of; what nobody
            foresaw is raised as it is.
    """
    try:
        return function(*args)
    except Exception as error:
        if is_refusal(error):
            raise as_service_error(error) from error
        raise


class Shaped:
    """A future for the writer that shapes the result on its way to whoever waits.

    A coroutine for each request would cost as much as the request.
    """

    __slots__ = ("_shape", "future")

    def __init__(self, loop: asyncio.AbstractEventLoop, shape: Callable[[Any], object]) -> None:
        self.future: asyncio.Future[object] = loop.create_future()
        self._shape = shape

    def done(self) -> bool:
        """Whether nobody waits any more."""
        return self.future.done()

    def set_result(self, result: object) -> None:
        """Shape the result and pass it on."""
        self.future.set_result(self._shape(result))

    def set_exception(self, error: Exception) -> None:
        """Pass a failure on."""
        self.future.set_exception(error)
