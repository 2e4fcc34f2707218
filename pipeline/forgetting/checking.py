"""The byte check: is a forgotten word in any file of the service? In a process of its own.

A process that opens and closes the database's file drops the locks of its own SQLite on it, so the
gateway can't read that file; and a search through gigabytes is nothing to do beside recalls. This
one empties the write-ahead log, looks through every file, overwrites what SQLite has left behind in
unused room of its pages, and looks again. What is found then counts if no source that is still there
explains it.

Run as `python -m pipeline.forgetting.checking`: a `Task` as JSON comes in, a `Finding` goes out.
"""

import contextlib
import ctypes
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pipeline.text.needles import LONG, PIECE, Finder
from storage import database_pages
from storage.database import open_database
from storage.errors import MemoryServiceError
from storage.quiet import empty_log, quiet
from storage.repositories import content

_CHUNK: Final = 1 << 18
_JOINED: Final = 1 << 16
_PAGES_AT_ONCE: Final = 200
"""Pages that are overwritten while everybody waits: some milliseconds."""

_TRIES: Final = 3
"""How often a reader is waited for; each time the writers have their turn in between."""

_PR_SET_PDEATHSIG: Final = 1
_LOG_HEADER: Final = 32
_FRAME_HEADER: Final = 24


@dataclass(frozen=True, slots=True)
class Task:
    """What is looked for, and where.

    Attributes:
        database: The database's file.
        lock: What writers lock in turn.
        folders: Folders that are looked through, with all below.
        skipped: Paths that are left out, with all below.
        pieces: What to look for, in hexadecimal.
        sweep: Overwrite all unused room of the database's pages, not only where something is found.
        suspects: Packages that have lost events or words: what was said of them explains nothing.
    """

    database: str
    lock: str
    folders: tuple[str, ...]
    skipped: tuple[str, ...]
    pieces: tuple[str, ...]
    sweep: bool = False
    suspects: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found. `busy`: a reader kept the write-ahead log, and nothing is known.

    `left` counts by file the pieces that nothing explains, with the tables that hold them where
    they are in the database; `cleared` counts the pages that had some.
    """

    busy: bool = False
    left: Mapping[str, int] = field(default_factory=dict)
    cleared: int = 0


class CheckFailedError(MemoryServiceError):
    """The byte check could not be carried out; it is tried again."""


class Looking:
    """Lets another process look, and waits for it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, task: Task) -> Finding:
        """Have a task carried out.

        Raises:
            CheckFailedError: It ended without an answer.
        """
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, a module of ours
            [sys.executable, "-m", "pipeline.forgetting.checking", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        given = json.dumps(asdict(task)).encode()
        with self._process as process:
            answer, _ = process.communicate(given)
        try:
            told = json.loads(answer)
            return Finding(busy=told["busy"], left=told["left"], cleared=told["cleared"])
        except (ValueError, TypeError, KeyError) as error:
            raise CheckFailedError(
                f"The byte check ended with status {process.returncode} and no answer."
            ) from error

    def stop(self) -> None:
        """End what is looking; whoever waits for it gets an error."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()


def check(task: Task) -> Finding:
    """Look for all pieces in all files; runs in a process that does nothing else."""
    path, lock = Path(task.database), Path(task.lock)
    # Never closed while the database is open: that would drop its locks.
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    opened = open_database(path)
    try:
        if not any(empty_log(lock) for _ in range(_TRIES)):
            return Finding(busy=True)
        return _Check(task, descriptor).run()
    finally:
        opened.close()
        os.close(descriptor)


class _Check:
    def __init__(self, task: Task, descriptor: int) -> None:
        self._task = task
        self._path = Path(task.database)
        self._log = self._path.with_name(self._path.name + "-wal")
        self._descriptor = descriptor
        self._size = database_pages.page_size(descriptor)
        self._finder = Finder([bytes.fromhex(piece) for piece in task.pieces])
        # A short text may well be the name of a field: rows explain it, in other files nothing does.
        self._telling = frozenset(
            which for which, piece in enumerate(self._finder.wanted) if len(piece) >= LONG
        )
        self._pages: set[int] = set()

    def run(self) -> Finding:
        found = self._in_files()
        if self._task.sweep:
            self._pages |= set(database_pages.littered(self._descriptor))
        cleared = self._clear()
        if cleared is None:
            return Finding(busy=True)
        if self._pages:
            # What stood in unused room is gone; what is found now is somewhere else.
            for name in (self._path, self._log):
                found.pop(str(name), None)
            found |= self._in_database()
        explained = self._explained(frozenset().union(*found.values()) if found else frozenset())
        left = {name: pieces - explained for name, pieces in found.items()}
        told = {self._named(name, pieces): len(pieces) for name, pieces in left.items() if pieces}
        return Finding(left=told, cleared=cleared)

    # ---- files -----------------------------------------------------------------

    def _in_files(self) -> dict[str, frozenset[int]]:
        """Which pieces stand in which file; the database's pages that hold any are noted."""
        found = self._in_database()
        for path in self._files():
            with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
                if pieces := self._in_file(iter(lambda of=file: of.read(_CHUNK), b"")):  # type: ignore[misc]
                    found[str(path)] = pieces
        return found

    def _files(self) -> Iterator[Path]:
        skipped = [Path(name) for name in self._task.skipped]
        # The shared memory of the log holds page numbers alone, and carries its locks.
        own = {self._path, self._log, self._path.with_name(self._path.name + "-shm")}
        for folder in self._task.folders:
            for path in sorted(Path(folder).rglob("*")):
                apart = any(path.is_relative_to(other) for other in skipped)
                if apart or path in own or not _is_plain(path):
                    continue
                yield path

    def _in_file(self, chunks: Iterable[bytes]) -> frozenset[int]:
        found: set[int] = set()
        end = b""
        for chunk in chunks:
            found |= self._finder.found(end + chunk)
            end = chunk[1 - PIECE :]
        return self._telling & found

    def _in_database(self) -> dict[str, frozenset[int]]:
        """The same of the database and its log, whose pages are read one by one."""
        found: dict[str, set[int]] = {}
        for name, number, page in chain(self._own_pages(), self._logged_pages()):
            if pieces := self._finder.found(page):
                found.setdefault(name, set()).update(pieces)
                self._pages.add(number)
        return {name: frozenset(pieces) for name, pieces in found.items()}

    def _own_pages(self) -> Iterator[tuple[str, int, bytes]]:
        number = 0
        while page := os.pread(self._descriptor, self._size, number * self._size):
            number += 1
            yield str(self._path), number, page

    def _logged_pages(self) -> Iterator[tuple[str, int, bytes]]:
        try:
            log = self._log.read_bytes()
        except FileNotFoundError:
            return
        step = _FRAME_HEADER + self._size
        for at in range(_LOG_HEADER, len(log) - step + 1, step):
            number = int.from_bytes(log[at : at + 4])
            yield str(self._log), number, log[at + _FRAME_HEADER : at + step]

    # ---- unused room -------------------------------------------------------------

    def _clear(self) -> int | None:
        """Overwrite the unused room of the noted pages; None when a reader keeps the log."""
        cleared = 0
        numbers = sorted(self._pages)
        for start in range(0, len(numbers), _PAGES_AT_ONCE):
            part = numbers[start : start + _PAGES_AT_ONCE]
            for _ in range(_TRIES):
                with quiet(self._path, Path(self._task.lock)) as alone:
                    if alone:
                        cleared += database_pages.clear(self._descriptor, part)
                        break
            else:
                return None
        return cleared

    # ---- what explains a find ------------------------------------------------------

    def _explained(self, pieces: frozenset[int]) -> frozenset[int]:
        """Which of these stand in something that may rightly hold them."""
        wanted = sorted(pieces)
        finder = Finder([self._finder.wanted[which] for which in wanted])
        found: set[int] = set()
        for joined in _joined(content.sources(self._task.suspects) if wanted else ()):
            found |= finder.found(joined)
            if len(found) == len(wanted):
                break
        return frozenset(wanted[which] for which in found)

    def _named(self, name: str, pieces: frozenset[int]) -> str:
        """A file; of the database, with the tables whose rows hold these pieces."""
        if name not in {str(self._path), str(self._log)}:
            return name
        finder = Finder([self._finder.wanted[which] for which in sorted(pieces)])
        tables = {table for table, value in content.values() if finder.found(value)}
        return f"{name} ({', '.join(sorted(tables))})" if tables else name


def _joined(values: Iterable[bytes]) -> Iterator[bytes]:
    """Values put together, with what no piece holds between them: one search costs little more."""
    part: list[bytes] = []
    size = 0
    for value in values:
        part.append(value)
        size += len(value)
        if size >= _JOINED:
            yield b"\0".join(part)
            part, size = [], 0
    yield b"\0".join(part)


def _is_plain(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def main(arguments: Sequence[str], given: bytes) -> dict[str, Any]:
    """Check what is asked for; ends with the process that asked."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(arguments[0]):
        # Whoever asked is gone; an answer of nothing would say that nothing is left.
        raise SystemExit(1)
    asked = json.loads(given)
    lists = {name: tuple(asked[name]) for name in ("folders", "skipped", "pieces", "suspects")}
    return asdict(check(Task(**(asked | lists))))


if __name__ == "__main__":
    json.dump(main(sys.argv[1:], sys.stdin.buffer.read()), sys.stdout)
