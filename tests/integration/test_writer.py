"""The writer: one thread, groups, one fsync each, and everybody told what became of theirs."""

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playhouse.cysqlite_ext import CySqliteDatabase

from storage.database import database, open_database
from storage.errors import (
    ConflictError,
    DiskFullError,
    ErrorCode,
    MemoryServiceError,
    UnavailableError,
)
from storage.faults import faults
from storage.writer import BULK_PATIENCE, GROUP_ROWS, Writer

pytestmark = pytest.mark.integration

PATIENCE_S = 20.0


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[CySqliteDatabase]:
    """A database with one small table."""
    made = open_database(tmp_path / "memory.sqlite3")
    made.execute_sql("CREATE TABLE note (n INTEGER PRIMARY KEY, said TEXT NOT NULL)")
    yield made
    made.close()


@pytest.fixture
def writer(opened: CySqliteDatabase, tmp_path: Path) -> Iterator[Writer]:
    """A writer on it."""
    with Writer(opened, tmp_path / "lock") as made:
        yield made


class Notes:
    """An operation that writes notes, and remembers which items came together."""

    name = "ingest"

    def __init__(self) -> None:
        self.groups: list[list[int]] = []

    def prepare(self, items: Sequence[int]) -> Sequence[int]:
        """Nothing to prepare, unless a negative number asks for a failure."""
        if any(item < 0 for item in items):
            raise ValueError("negative")
        return items

    def apply(self, prepared: Sequence[int]) -> Sequence[Any]:
        """Write each; an even hundred is refused alone."""
        self.groups.append(list(prepared))
        outcomes: list[Any] = []
        for item in prepared:
            if item % 100 == 0:
                outcomes.append(ConflictError(details={"n": item}))
                continue
            write(item)
            outcomes.append(item * 10)
        return outcomes


def write(number: int) -> None:
    """Write one note."""
    database.execute_sql("INSERT INTO note VALUES (?, ?)", (number, "说"))


def written_after(number: int) -> list[int]:
    """Write one note, and give out all."""
    write(number)
    return written()


def written() -> list[int]:
    """All notes, as another connection sees them."""
    return [row[0] for row in database.execute_sql("SELECT n FROM note ORDER BY n").fetchall()]


def fail() -> None:
    """Do something that nobody foresaw."""
    raise ZeroDivisionError("a private text")


def fail_after(number: int) -> None:
    """Write one note, and fail."""
    write(number)
    fail()


class Busy:
    """Keeps the writer in a transaction until it is let go."""

    def __init__(self, writer: Writer) -> None:
        self.reached = threading.Event()
        self.gate = threading.Event()
        self.done: Future[None] = Future()
        writer.submit_call("operator", self._hold, future=self.done)
        assert self.reached.wait(PATIENCE_S)

    def _hold(self) -> None:
        self.reached.set()
        assert self.gate.wait(PATIENCE_S)

    def let_go(self) -> None:
        """Let the commit end."""
        self.gate.set()
        self.done.result(PATIENCE_S)


def test_a_call_is_on_disk_when_it_returns(writer: Writer) -> None:
    """What a call wrote is seen by other connections once it has returned, with its result."""
    assert writer.call("operator", lambda: written_after(1)) == [1]
    assert written() == [1]


def test_what_waits_during_a_commit_goes_together(writer: Writer) -> None:
    """Items of one operation that came in meanwhile are one group, in order, each answered."""
    notes, busy = Notes(), Busy(writer)
    futures = [writer.submit(notes, n) for n in (3, 1, 2)]
    assert writer.depth() == 3
    busy.let_go()
    assert [future.result(PATIENCE_S) for future in futures] == [30, 10, 20]
    assert notes.groups == [[3, 1, 2]]


def test_an_item_can_be_refused_alone(writer: Writer) -> None:
    """An exception as an outcome is one item's; the others of its group are written."""
    notes, busy = Notes(), Busy(writer)
    futures = [writer.submit(notes, n) for n in (1, 100, 2)]
    busy.let_go()
    with pytest.raises(ConflictError):
        futures[1].result(PATIENCE_S)
    assert [futures[0].result(), futures[2].result()] == [10, 20]
    assert written() == [1, 2]


def test_a_failed_operation_rolls_back_alone(writer: Writer) -> None:
    """In a group of several operations the one that raises leaves nothing, the others hold."""
    busy = Busy(writer)
    futures: list[Future[Any]] = [Future() for _ in range(3)]
    writer.submit_call("operator", lambda: write(1), future=futures[0])
    writer.submit_call("operator", lambda: fail_after(2), future=futures[1])
    writer.submit_call("operator", lambda: write(3), future=futures[2])
    busy.let_go()
    assert futures[0].exception(PATIENCE_S) is None
    assert futures[2].exception(PATIENCE_S) is None
    error = futures[1].exception(PATIENCE_S)
    assert isinstance(error, MemoryServiceError)
    assert error.code is ErrorCode.INTERNAL
    assert "private" not in error.message
    assert written() == [1, 3]


def test_a_failed_preparation_fails_its_request_alone(writer: Writer) -> None:
    """What can't be prepared fails neither its own kind in the group nor the others."""
    broken, sound, busy = Notes(), Notes(), Busy(writer)
    bad, beside = (writer.submit(broken, n) for n in (-1, 5))
    good = writer.submit(sound, 1)
    busy.let_go()
    assert (good.result(PATIENCE_S), beside.result(PATIENCE_S)) == (10, 50)
    assert isinstance(bad.exception(PATIENCE_S), MemoryServiceError)
    assert sorted(written()) == [1, 5]


def test_a_known_error_comes_through_as_it_is(writer: Writer) -> None:
    """What an operation raises on purpose reaches its caller, and is no fault of the writer."""

    def refuse_it() -> None:
        raise ConflictError

    with pytest.raises(ConflictError):
        writer.call("operator", refuse_it)
    assert not writer.fault


def test_a_fault_is_told_until_the_next_success(writer: Writer) -> None:
    """An unforeseen failure stands in `fault`, for health, and goes with the next commit."""
    faults_seen = []
    for work in (fail, partial(write, 1)):
        with contextlib.suppress(MemoryServiceError):
            writer.call("operator", work)
        faults_seen.append(writer.fault)
    assert faults_seen[0]
    assert faults_seen[1] is None


def test_an_unforeseen_error_is_logged_without_its_text(
    writer: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says what kind of error and where, and none of the words it carries."""
    with pytest.raises(MemoryServiceError):
        writer.call("operator", fail)
    assert "ZeroDivisionError" in caplog.text
    assert "private" not in caplog.text


# ---- lanes -----------------------------------------------------------------


def test_small_requests_go_ahead_of_bulk(writer: Writer) -> None:
    """A lone event does not wait behind the bulk load that came before it."""
    small, bulk, busy = Notes(), Notes(), Busy(writer)
    order: list[str] = []
    for n in (1, 2, 3):
        future = writer.submit(bulk, n, rows=GROUP_ROWS)
        future.add_done_callback(lambda _: order.append("bulk"))
    last = writer.submit(small, 9)
    last.add_done_callback(lambda _: order.append("small"))
    busy.let_go()
    writer.close()
    assert order.index("small") == 0
    assert order.count("bulk") == 3
    assert [len(group) for group in bulk.groups] == [1, 1, 1]


def test_bulk_is_not_starved(writer: Writer) -> None:
    """However many small requests keep coming, bulk ones go along after a few groups."""
    small, bulk, busy = Notes(), Notes(), Busy(writer)
    patient = writer.submit(bulk, 1, rows=GROUP_ROWS)
    groups = BULK_PATIENCE + 3
    futures = [writer.submit(small, 10_001 + n, rows=20) for n in range(groups * 10)]
    busy.let_go()
    patient.result(PATIENCE_S)
    done = sum(future.done() for future in futures)
    writer.close()
    assert bulk.groups == [[1]]
    assert done <= (BULK_PATIENCE + 1) * 10 + 20


def test_groups_are_bounded(writer: Writer) -> None:
    """A group takes no more small requests than make its size in rows."""
    notes, busy = Notes(), Busy(writer)
    for n in range(250):
        writer.submit(notes, 1_001 + n)
    busy.let_go()
    writer.close()
    assert [len(group) for group in notes.groups] == [GROUP_ROWS, 50]


# ---- processes -------------------------------------------------------------


def test_processes_take_turns_by_a_file_lock(writer: Writer, tmp_path: Path) -> None:
    """A transaction begins only while this process has the lock file, and gives it back."""
    held = os.open(tmp_path / "lock", os.O_RDWR)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        future: Future[None] = Future()
        writer.submit_call("operator", lambda: write(1), future=future)
        assert not future.done()
        assert written() == []
        fcntl.flock(held, fcntl.LOCK_UN)
        assert future.exception(PATIENCE_S) is None
        fcntl.flock(held, fcntl.LOCK_EX)
    finally:
        os.close(held)
    assert written() == [1]


def test_a_lock_file_is_the_owners_alone(writer: Writer, tmp_path: Path) -> None:
    """The lock file can be opened by nobody else."""
    assert writer.depth() == 0
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600


# ---- refusals --------------------------------------------------------------


def refuse(writer: Writer, statement: str) -> None:
    """Give the writer's connection a PRAGMA, outside of any transaction."""

    class Outside(Notes):
        def prepare(self, items: Sequence[int]) -> Sequence[int]:
            database.execute_sql(statement)
            return items

        def apply(self, prepared: Sequence[int]) -> Sequence[Any]:
            return prepared

    writer.submit(Outside(), 1).exception(PATIENCE_S)


@pytest.mark.parametrize("together", [False, True], ids=["alone", "in a group"])
def test_a_full_disk_is_told_as_such(writer: Writer, *, together: bool) -> None:
    """Whoever is in a commit for which there is no room hears `disk_full`; nothing of it stays."""
    refuse(writer, "PRAGMA max_page_count = 1")
    busy = Busy(writer)
    futures: list[Future[Any]] = [Future() for _ in range(3 if together else 1)]
    writer.submit_call(
        "operator",
        lambda: database.execute_sql("INSERT INTO note VALUES (1, ?)", ("大" * 100_000,)),
        future=futures[0],
    )
    for n, future in enumerate(futures[1:], 2):
        writer.submit_call("operator", partial(write, n), future=future)
    busy.let_go()
    assert all(isinstance(future.exception(PATIENCE_S), DiskFullError) for future in futures)
    assert written() == []
    assert writer.fault is not None

    refuse(writer, "PRAGMA max_page_count = 100000")
    writer.call("operator", lambda: write(5))
    assert written() == [5]
    assert writer.fault is None


def test_a_read_only_database_is_unavailable(writer: Writer) -> None:
    """A refused write may be tried again later, and says when."""
    refuse(writer, "PRAGMA query_only = ON")
    with pytest.raises(UnavailableError) as caught:
        writer.call("operator", lambda: write(1))
    assert caught.value.retry_after_ms == 1_000
    refuse(writer, "PRAGMA query_only = OFF")
    writer.call("operator", lambda: write(1))


# ---- the end ---------------------------------------------------------------


def test_closing_commits_what_waits_and_refuses_what_comes(writer: Writer) -> None:
    """Everything submitted before the end is written; later it is `unavailable`."""
    notes, busy = Notes(), Busy(writer)
    futures = [writer.submit(notes, n) for n in (1, 2)]
    closing = threading.Thread(target=writer.close)
    closing.start()
    busy.let_go()
    closing.join(PATIENCE_S)
    assert [future.result() for future in futures] == [10, 20]
    assert isinstance(writer.submit(notes, 3).exception(PATIENCE_S), UnavailableError)
    assert written() == [1, 2]


def test_who_waits_no_longer_is_skipped(writer: Writer) -> None:
    """A caller that gave up does not keep the others from their answers."""
    notes, busy = Notes(), Busy(writer)
    gone, here = writer.submit(notes, 1), writer.submit(notes, 2)
    gone.cancel()
    busy.let_go()
    assert here.result(PATIENCE_S) == 20
    assert written() == [1, 2]


def test_results_are_delivered_once_a_group(opened: CySqliteDatabase, tmp_path: Path) -> None:
    """A loop is woken for a group, not for each of its requests."""
    hops: list[int] = []

    def deliver(settle: Any) -> None:
        hops.append(1)
        settle()

    with Writer(opened, tmp_path / "other-lock", deliver) as writer:
        notes, busy = Notes(), Busy(writer)
        futures = [writer.submit(notes, n) for n in range(1, 51)]
        busy.let_go()
        assert [future.result(PATIENCE_S) for future in futures] == [n * 10 for n in range(1, 51)]
    assert len(hops) == 2


@pytest.mark.parametrize("moment", ["before_begin", "before_commit", "after_commit"])
def test_an_operation_passes_its_fault_points(writer: Writer, moment: str) -> None:
    """Each moment of a commit can be hit by name, once, with what is durable at that moment."""
    seen: list[list[int]] = []

    def look() -> None:
        with ThreadPoolExecutor(1) as elsewhere:
            seen.append(elsewhere.submit(written).result(PATIENCE_S))

    faults.arm(f"object.{moment}", action=look)
    try:
        writer.call("object", lambda: write(1))
        writer.call("object", lambda: write(2))
    finally:
        faults.disarm()
    assert seen == [[1] if moment == "after_commit" else []]
    assert written() == [1, 2]
