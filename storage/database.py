"""The one opener of the memory database: which library, which file, which pragmas.

SQLite before 3.51.3 can corrupt a database that two processes write and checkpoint at once, which
is exactly this service's shape, so an older one is refused (spec: design, Facts behind the choices).
"""

import logging
from pathlib import Path
from typing import Final

import cysqlite
from peewee import DatabaseProxy
from playhouse.cysqlite_ext import CySqliteDatabase

from storage.database_file import APPLICATION_ID, check_is_ours
from storage.errors import DiskFullError, MemoryServiceError, UnavailableError

OLDEST_SQLITE: Final = (3, 51, 3)
BUSY_TIMEOUT_S: Final = 10.0
_LONGEST_CHAIN: Final = 8
_READ_WRITE: Final = 0x2
"""SQLITE_OPEN_READWRITE, which cysqlite's stubs leave out: without it a missing file is created."""

PRAGMAS: Final = {
    "journal_mode": "wal",
    "synchronous": "full",
    "foreign_keys": 1,
    "secure_delete": 1,
    "mmap_size": 0,
    "cache_size": -16_000,
    "temp_store": "memory",
    # A writer that outruns the checkpoints would let the log grow without end.
    "wal_autocheckpoint": 2_000,
    "journal_size_limit": 64 * 1024 * 1024,
}

database = DatabaseProxy()
"""What the tables are bound to. One memory database a process."""


class OldSqliteError(MemoryServiceError):
    """The SQLite library is too old to write with two processes; install cysqlite >= 0.4."""


def check_library() -> None:
    """Refuse a SQLite library with the write-ahead-log reset bug.

    Raises:
        OldSqliteError: The library is older than 3.51.3.
    """
    found = tuple(cysqlite.sqlite_version_info)
    if found < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise OldSqliteError(
            f"SQLite {cysqlite.sqlite_version} can corrupt a database that two processes write;"
            f" {needed} or newer is needed. Install cysqlite >= 0.4."
        )


def open_database(path: Path) -> CySqliteDatabase:
    """Open (or create) the memory database and bind the tables to it.

    The connection of each thread is opened on its first use, with `PRAGMAS`.

    Args:
        path: The database file; its folder is created with mode 0700, the file with 0600.

    Raises:
        OldSqliteError: The SQLite library is too old.
        ForeignDatabaseError: The file is not ours.
        UnavailableError: The file or its folder can't be opened.
    """
    check_library()
    check_is_ours(path)
    # At level debug peewee logs every statement with its values, which are the user's text.
    logging.getLogger("peewee").setLevel(logging.INFO)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"{path} can't be created: {error.strerror}") from error
    if path.stat().st_size == 0:
        _stamp(path)
    opened = CySqliteDatabase(
        str(path),
        rank_functions=False,
        pragmas=PRAGMAS,
        timeout=BUSY_TIMEOUT_S,
        # Made above, once. A connection that is opened later must not make an empty database where
        # somebody has moved ours away.
        flags=_READ_WRITE,
    )
    database.initialize(opened)
    return opened


def _stamp(path: Path) -> None:
    """Write our application id into the header before the write-ahead log comes into play.

    Under WAL the header could reach the file long after the first commit, and a crash in between
    would leave a database that its own service takes for a stranger's.
    """
    connection = cysqlite.connect(str(path), timeout=BUSY_TIMEOUT_S)
    try:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        # An empty database has no header page yet; a first schema change writes it.
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, "
            "name TEXT NOT NULL, applied_at INTEGER NOT NULL)"
        )
    finally:
        connection.close()


def as_service_error(error: BaseException) -> MemoryServiceError:
    """Tell a caller what a database error means for them.

    A full disk and a passing refusal can be retried as they are; what is left is `internal`.
    """
    if isinstance(error, MemoryServiceError):
        return error
    text = _told(error)
    if "disk is full" in text or "no space left" in text:
        return DiskFullError()
    if any(
        sign in text for sign in ("disk i/o", "readonly", "read-only", "locked", "unable to open")
    ):
        return UnavailableError(
            "The database refuses to write; look at the disk and the folder's permissions.",
            retry_after_ms=1_000,
        )
    return MemoryServiceError()


def is_refusal(error: BaseException) -> bool:
    """Whether the database itself refused, for want of room or access, whatever was asked of it."""
    return not isinstance(error, MemoryServiceError) and as_service_error(error).code.retryable


def _told(error: BaseException | None) -> str:
    """What an error says, and those that it came up after.

    A full disk ends the transaction by itself; what is raised then is that there is none to roll
    back, with the cause behind it.
    """
    told: list[str] = []
    while error is not None and len(told) < _LONGEST_CHAIN:
        told.append(str(error).lower())
        error = error.__context__
    return "\n".join(told)
