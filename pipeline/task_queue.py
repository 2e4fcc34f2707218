"""The queue: Huey on a SQLite file of its own that carries wake-ups, and may be lost at any time.

Payloads are JSON and hold nothing but a task's name. Results are not stored, commits are not
synced: the ledger is the truth, this is the alarm clock (spec: design, invariant 1).
"""

import contextlib
import fcntl
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import cysqlite
import orjson
from huey import Huey
from huey.registry import Message
from huey.serializer import Serializer
from huey.storage import CySqliteStorage

log = logging.getLogger(__name__)

_MAGIC: Final = b"SQLite format 3\x00"
_KEPT_ASIDE: Final = ".damaged"
_SIGNS_OF_DAMAGE: Final = (
    "malformed",
    "not a database",
    "no such table",
    "corrupt",
    # SQLITE_IOERR_SHORT_READ: the file is shorter than its log says.
    "ext=522",
)


class JsonSerializer(Serializer):  # type: ignore[misc]  # huey is untyped
    """Messages as JSON: the stock serializer is pickle, which would run whatever stands there."""

    def _serialize(self, data: Message) -> bytes:
        return orjson.dumps({"id": data.id, "name": data.name, "args": list(data.args or ())})

    def _deserialize(self, data: bytes) -> Message:
        found = orjson.loads(bytes(data))
        return Message(found["id"], found["name"], args=tuple(found["args"]), kwargs={}, retries=0)


class QueueStorage(CySqliteStorage):  # type: ignore[misc]  # huey is untyped
    """Huey's SQLite storage, opened at its first use and again whenever its file was replaced.

    A running consumer keeps a deleted file open and would never see new work in its successor, so
    the file's identity is looked at before each use. A file that is no database is moved aside.
    """

    def __init__(self, name: str, filename: str, **options: Any) -> None:
        self._path = Path(filename)
        self._looking = threading.RLock()
        # Stays open as long as the connection: closing any descriptor of the file drops SQLite's
        # locks on it, and whoever closes the queue next would take its log away from under us.
        self._file: int | None = None
        self.replaced = 0
        """How often the file was found missing or unreadable since this process began."""
        super().__init__(name, filename, create_tables=False, **options)

    def _create_connection(self) -> Any:
        connection = super()._create_connection()
        for statement in self.ddl:
            connection.execute(statement)
        return connection

    @contextlib.contextmanager
    def db(self, commit: bool = False, close: bool = False) -> Iterator[Any]:  # noqa: FBT001, FBT002 - huey's signature
        """Huey's cursor, on the file that stands under the path now."""
        with self._looking:
            self._look()
            before = self.replaced
        try:
            with super().db(commit=commit, close=close) as cursor:
                yield cursor
        except (cysqlite.DatabaseError, cysqlite.OperationalError) as error:
            with self._looking:
                # Another thread may have seen to it meanwhile.
                if _is_damage(error) and self.replaced == before:
                    self._set_aside("unreadable")
            raise

    def _look(self) -> None:
        file = self._file
        if file is not None and (found := _identity(self._path)) != _inode(os.fstat(file)):
            self._reopen("missing" if found is None else "replaced")
            file = None
        if file is None:
            file = self._open()
        if not _is_database(file):
            self._set_aside("no database")

    def _open(self) -> int:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._alone():
            if not self._path.exists():
                # The log of a file that is gone would make its successor unreadable.
                self._remove_beside()
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._file

    def _reopen(self, why: str) -> None:
        log.warning("the queue file was %s; opening it anew, the ledger knows all work", why)
        self.replaced += 1
        self._drop_connection()

    def _set_aside(self, why: str) -> None:
        aside = self._path.with_name(self._path.name + _KEPT_ASIDE)
        log.warning("the queue file is %s; kept as %s, a new one is made", why, aside.name)
        self.replaced += 1
        bad = None if self._file is None else _inode(os.fstat(self._file))
        self._drop_connection()
        with self._alone():
            # Another process may have put a new file there already.
            if bad is not None and _identity(self._path) == bad:
                self._path.replace(aside)
                self._remove_beside()
        self._open()

    def _remove_beside(self) -> None:
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process puts a queue file into place or away meanwhile."""
        path = self._path.with_name(self._path.name + ".lock")
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _drop_connection(self) -> None:
        with self.lock:
            connection = self._conn
            self._conn: Any = None
        if connection is not None:
            with contextlib.suppress(cysqlite.Error):
                connection.close()
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        return _inode(path.stat())
    except FileNotFoundError:
        return None


def _inode(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _is_database(file: int) -> bool:
    start = os.pread(file, len(_MAGIC), 0)
    return not start or start == _MAGIC


def _is_damage(error: Exception) -> bool:
    text = str(error).lower()
    return any(sign in text for sign in _SIGNS_OF_DAMAGE)


def make_queue(path: Path) -> Huey:
    """The queue on this file. Nothing is opened before its first use."""
    return Huey(
        "deskpaw-memory",
        results=False,
        serializer=JsonSerializer(),
        storage_class=QueueStorage,
        filename=str(path),
        fsync=False,
        timeout=5,
    )


def queue_state(queue: Huey) -> tuple[int, int, int]:
    """Wake-ups waiting, wake-ups scheduled, and how often the file was replaced.

    A file that can't be read now counts as empty: whoever asks how the service is gets an answer,
    and the next use makes a new one.
    """
    storage: QueueStorage = queue.storage
    try:
        return queue.pending_count(), queue.scheduled_count(), storage.replaced
    except cysqlite.Error as error:
        log.warning("the queue can't be read now: %s", type(error).__name__)
        return 0, 0, storage.replaced
