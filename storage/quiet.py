"""Moments in which nobody writes: for emptying the write-ahead log, and for what needs it empty."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from storage.database import BUSY_TIMEOUT_S, database

PATIENCE_MS: Final = 500
"""How long a reader may keep everybody waiting; then it is given up, and tried again later."""


def empty_log(lock_path: Path) -> bool:
    """Take the write-ahead log over into the database and cut it to nothing.

    Returns:
        Whether it is empty: not while somebody reads from it.
    """
    with _turn(lock_path):
        return _truncated()


@contextmanager
def quiet(path: Path, lock_path: Path) -> Iterator[bool]:
    """Hold all writers back while the write-ahead log is empty: the file is all there is.

    What is cached of the file by any connection counts for nothing afterwards.

    Args:
        path: The database file.
        lock_path: The file that processes lock in turn.

    Yields:
        Whether it is so: not while somebody reads from the log.
    """
    with _turn(lock_path):
        if not _truncated():
            yield False
            return
        with database.atomic(lock_type="IMMEDIATE"):
            log = path.with_name(path.name + "-wal")
            yield not log.exists() or log.stat().st_size == 0
            # A commit tells the other connections that their pages are out of date. It has to
            # change something: a write of what stands already is none.
            (version,) = database.execute_sql("PRAGMA user_version").fetchone()
            database.execute_sql(f"PRAGMA user_version = {(version + 1) & 0x7FFFFFFF}")


def _truncated() -> bool:
    database.execute_sql(f"PRAGMA busy_timeout = {PATIENCE_MS}")
    try:
        busy, _, _ = database.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        database.execute_sql(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_S * 1000)}")
    return not busy


@contextmanager
def _turn(lock_path: Path) -> Iterator[None]:
    """This process's turn to write, as the writers of all processes take it."""
    descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
