"""A process's one writing thread: group commit, and a `flock` around each transaction.

Several writers on one SQLite file starve each other through the busy handler, so each process has
one, and processes take turns by a file lock, which is fair. Requests that arrive while a commit
runs go into the next one together; each is answered after its fsync (spec: design, Group commit).
"""

import fcntl
import logging
import os
import threading
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from playhouse.cysqlite_ext import CySqliteDatabase

from storage.database import as_service_error, is_refusal
from storage.errors import MemoryServiceError, UnavailableError
from storage.faults import faults

log = logging.getLogger(__name__)

Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
Returned = TypeVar("Returned")

GROUP_ROWS: Final = 200
"""A group's size in rows. Larger ones make a lone event behind bulk load wait longer."""

SMALL_ROWS: Final = 20
BULK_PATIENCE: Final = 4
"""Groups that a bulk request lets pass before it goes along whatever else waits."""


class Operation(Protocol[Item_contra, Result_co]):
    """A kind of write that takes everything of its kind waiting in one go.

    `prepare` runs in the writing thread outside the transaction, and may replace the items with
    what it made of them; `apply` runs inside, and answers each item with a result or an exception.
    An exception that `apply` raises rolls back this operation alone.
    """

    name: str

    def prepare(self, items: Sequence[Item_contra]) -> Any:
        """Make of the items what `apply` needs; no transaction is open yet."""
        ...

    def apply(self, prepared: Any) -> Sequence[Result_co | Exception]:
        """Write, and answer each item, in the items' order."""
        ...


class _Call:
    """The operation behind `Writer.call`: one function, one result."""

    def __init__(self, name: str, function: Callable[[], Any]) -> None:
        self.name = name
        self._function = function

    def prepare(self, items: Sequence[None]) -> int:
        return len(items)

    def apply(self, prepared: int) -> Sequence[Any]:
        return [self._function() for _ in range(prepared)]


@dataclass(slots=True)
class _Job:
    operation: Operation[Any, Any]
    item: Any
    rows: int
    future: Any
    passed_over: int = 0


def _deliver_here(settle: Callable[[], None]) -> None:
    settle()


class Writer:
    """Commits what is submitted, in groups, from one thread.

    Args:
        database: The opened memory database.
        lock_path: The file that processes lock in turn.
        deliver: How results get back to those who wait, once a group; the gateway passes its
            loop's `call_soon_threadsafe`, so that a group costs one hop, not one a request.
    """

    def __init__(
        self,
        database: CySqliteDatabase,
        lock_path: Path,
        deliver: Callable[[Callable[[], None]], object] = _deliver_here,
    ) -> None:
        self._database = database
        self._deliver = deliver
        self._small: deque[_Job] = deque()
        self._bulk: deque[_Job] = deque()
        self._state = threading.Condition()
        self._stopping = False
        self.fault: str | None = None
        """Why the last commit failed, None when it succeeded: what health tells."""
        self._lock_file = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def submit(
        self, operation: Operation[Any, Any], item: object, *, rows: int = 1, future: Any = None
    ) -> Any:
        """Queue one item of an operation.

        Args:
            operation: What to do; items of the same operation object go in together.
            item: What to do it with.
            rows: About how many rows it writes; small requests go ahead of bulk ones.
            future: Where the result goes; an asyncio or a `concurrent.futures` future.

        Returns:
            The future, done once the commit is on disk.
        """
        if future is None:
            future = Future()
        self.submit_all(operation, [(item, rows, future)])
        return future

    def submit_all(
        self, operation: Operation[Any, Any], asked: Sequence[tuple[object, int, Any]]
    ) -> None:
        """Queue several items of an operation, each with its rows and its future.

        The thread is woken once for all of them, which is what a wake-up costs.
        """
        with self._state:
            if not self._stopping:
                for item, rows, future in asked:
                    job = _Job(operation, item, rows, future)
                    (self._small if rows <= SMALL_ROWS else self._bulk).append(job)
                self._state.notify()
                return
        for _, _, future in asked:
            future.set_exception(UnavailableError("The service is stopping."))

    def call(self, name: str, function: Callable[[], Returned], *, rows: int = 1) -> Returned:
        """Run `function` inside a transaction and wait until it is on disk.

        Args:
            name: The operation's name, for its fault points.
            function: What to write; what it raises is raised here, with nothing written.
            rows: About how many rows it writes.
        """
        future: Future[Returned] = Future()
        self.submit_call(name, function, rows=rows, future=future)
        return future.result()

    def submit_call(
        self, name: str, function: Callable[[], Any], *, future: Any, rows: int = 1
    ) -> None:
        """Queue `function` to be run inside a transaction; its result goes into `future`."""
        self.submit(_Call(name, function), None, rows=rows, future=future)

    @property
    def alive(self) -> bool:
        """Whether the writing thread runs: nothing is committed without it."""
        return self._thread.is_alive()

    def depth(self) -> int:
        """How many requests wait for a commit."""
        with self._state:
            return len(self._small) + len(self._bulk)

    def close(self) -> None:
        """Commit what waits, then end the thread. Later submissions are refused."""
        with self._state:
            if self._stopping:
                return
            self._stopping = True
            self._state.notify()
        self._thread.join()
        os.close(self._lock_file)

    def _run(self) -> None:
        while True:
            with self._state:
                while not (self._small or self._bulk):
                    if self._stopping:
                        self._database.close()
                        return
                    self._state.wait()
                group = self._take()
            self._commit(group)

    def _take(self) -> list[_Job]:
        """The next group: small ones first, bulk ones where there is room or they have waited."""
        group: list[_Job] = []
        rows = 0
        while self._small and rows < GROUP_ROWS:
            group.append(self._small.popleft())
            rows += group[-1].rows
        while self._bulk and (
            rows + self._bulk[0].rows <= GROUP_ROWS
            or not group
            or self._bulk[0].passed_over >= BULK_PATIENCE
        ):
            group.append(self._bulk.popleft())
            rows += group[-1].rows
            if rows >= GROUP_ROWS:
                break
        if self._bulk:
            self._bulk[0].passed_over += 1
        return group

    def _commit(self, group: list[_Job]) -> None:
        batches: dict[int, list[_Job]] = {}
        for job in group:
            batches.setdefault(id(job.operation), []).append(job)
        try:
            outcomes = self._transact(list(batches.values()))
            self.fault = None
        except BaseException as error:  # noqa: BLE001 - a panic too; those who wait must be told
            known = _told(error, "a commit", len(group))
            if not isinstance(error, MemoryServiceError):
                self.fault = known.message
            outcomes = [(job, known) for job in group]
        self._deliver(lambda: _settle(outcomes))

    def _transact(self, batches: list[list[_Job]]) -> list[tuple[_Job, Any]]:
        names = [batch[0].operation.name for batch in batches]
        prepared = [part for batch in batches for part in _prepare(batch)]
        for name in names:
            faults.fire(f"{name}.before_begin")
        fcntl.flock(self._lock_file, fcntl.LOCK_EX)
        try:
            with self._database.atomic(lock_type="IMMEDIATE"):
                outcomes: list[tuple[_Job, Any]] = []
                for batch, work in prepared:
                    outcomes += self._apply(batch, work, alone=len(prepared) == 1)
                for name in names:
                    faults.fire(f"{name}.before_commit")
        finally:
            fcntl.flock(self._lock_file, fcntl.LOCK_UN)
        for name in names:
            faults.fire(f"{name}.after_commit")
        return outcomes

    def _apply(self, batch: list[_Job], work: Any, *, alone: bool) -> list[tuple[_Job, Any]]:
        if isinstance(work, _Failed):
            return [(job, work.error) for job in batch]
        operation = batch[0].operation
        try:
            if alone:
                results = operation.apply(work)
            else:
                with self._database.savepoint():
                    results = operation.apply(work)
        except BaseException as error:
            # A database that refuses may have ended the transaction: then nobody's work holds.
            if alone or is_refusal(error):
                raise
            known = _told(error, operation.name, len(batch))
            return [(job, known) for job in batch]
        return list(zip(batch, results, strict=True))


@dataclass(slots=True)
class _Failed:
    error: Exception


def _prepare(batch: list[_Job]) -> list[tuple[list[_Job], Any]]:
    """What the operation made of a batch; where it failed, of each job alone.

    One request that nobody can prepare must not fail those that it shares a group with.
    """
    work = _attempt(batch)
    if isinstance(work, _Failed) and len(batch) > 1:
        return [([job], _attempt([job])) for job in batch]
    return [(batch, work)]


def _attempt(batch: list[_Job]) -> Any:
    operation = batch[0].operation
    try:
        return operation.prepare([job.item for job in batch])
    except BaseException as error:  # noqa: BLE001 - a panic in an extension is no Exception, and those who wait must be told
        return _Failed(_told(error, f"preparing {operation.name}", len(batch)))


def _told(error: BaseException, what: str, requests: int) -> MemoryServiceError:
    """What callers get to know of an error; one that nobody foresaw is logged, by type alone."""
    if not isinstance(error, MemoryServiceError):
        # The message and a trace could hold the user's text.
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error(
            "%s (%d requests) failed: %s in %s:%s",
            what,
            requests,
            type(error).__name__,
            place.filename,
            place.lineno,
        )
    return as_service_error(error)


def _settle(outcomes: list[tuple[_Job, Any]]) -> None:
    for job, outcome in outcomes:
        if job.future.done():
            continue
        if isinstance(outcome, Exception):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
