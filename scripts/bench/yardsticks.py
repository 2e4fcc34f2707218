"""Yardsticks: what the disk and a bare group commit can do, with the same rows."""

import threading
import time
from collections import deque
from pathlib import Path
from uuid import uuid4

from storage.clock import SystemClock
from storage.database import open_database
from storage.migrations.registry import migrate
from storage.records.events import Event, Role
from storage.repositories import events

TEXT = (
    "今天把三月的报销单交了，发票号 BX-2024-017，共 3 张；please check the amounts before Friday."
)


def _rows(count: int, first: int) -> list[events.NewEvent]:
    return [
        events.NewEvent(
            Event("local", f"y-{first + n}", "user.message", 1_772_000_000_000 + n, Role.USER,
                  text=TEXT, stream="bench"),
            b"0123456789abcdef", "bench", 1_772_000_000_000,
        )
        for n in range(count)
    ]  # fmt: skip


class Yardstick:
    """Bare synced commits into a database of the service's own shape.

    Rows are made outside of the measured time.

    Args:
        folder: Where its database is made.
    """

    def __init__(self, folder: Path) -> None:
        self._database = open_database(folder / uuid4().hex / "memory.sqlite3")
        migrate(SystemClock())
        self._next = 1

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def commits(self, rows: int, seconds: float) -> float:
        """Rows a second over one connection, so many rows in each synced commit."""
        done = 0
        spent = 0.0
        while spent < seconds:
            made = self._make(rows)
            began = time.perf_counter()
            self._commit(made)
            spent += time.perf_counter() - began
            done += rows
        return done / spent

    def group_commit(self, threads: int, seconds: float) -> float:
        """Rows a second of a bare in-process group-commit writer with so many waiting threads."""
        waiting: deque[tuple[events.NewEvent, threading.Event]] = deque()
        filled = threading.Condition()
        stop = threading.Event()
        rows = deque(self._make(int(30_000 * seconds)))

        def ask() -> None:
            while not stop.is_set():
                committed = threading.Event()
                with filled:
                    waiting.append((rows.popleft(), committed))
                    filled.notify()
                committed.wait(5)

        askers = [threading.Thread(target=ask, daemon=True) for _ in range(threads)]
        for thread in askers:
            thread.start()
        done = 0
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            with filled:
                while not waiting:
                    filled.wait()
                group = [waiting.popleft() for _ in range(len(waiting))]
            self._commit([row for row, _ in group])
            for _, committed in group:
                committed.set()
            done += len(group)
        elapsed = time.perf_counter() - began
        stop.set()
        for _, committed in list(waiting):
            committed.set()
        for thread in askers:
            thread.join()
        return done / elapsed

    def _make(self, count: int) -> list[events.NewEvent]:
        made = _rows(count, self._next)
        self._next += count
        return made

    def _commit(self, rows: list[events.NewEvent]) -> None:
        with self._database.atomic(lock_type="IMMEDIATE"):
            events.insert(rows, events.last_seq() + 1)
