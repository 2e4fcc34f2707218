"""The folder of an export: written file by file, whole or not at all, and nowhere else.

Every file is opened by its name within an opened folder and never through a link, so that nothing
can lead out of it. A note in it, `export.json`, marks it as ours and says whose it is; a folder that
holds anything and has no such note is left alone. While it is written it is locked.
"""

import errno
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from storage.errors import BadRequestError, BusyError, ConflictError

NOTE: Final = "export.json"
FORMAT: Final = "deskpaw-memory export 1"
ENDING: Final = ".md"

_TEMPORARY: Final = ".deskpaw-memory.new"
_MAX_NOTE: Final = 65_536
_MAX_NAME: Final = 255
_DEEPEST: Final = 2
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LINK_ERRORS: Final = frozenset({errno.ELOOP, errno.ENOTDIR})


class NoExportError(BadRequestError):
    """The folder holds something else; name an empty folder, or one that an export has written."""


class ForeignExportError(ConflictError):
    """The folder holds another owner's export; name another folder."""


class UnsafePathError(BadRequestError):
    """A link or another file stands where a folder or a file of the export belongs; remove it."""


@dataclass(frozen=True, slots=True)
class Note:
    """What an export's folder says of itself. `exported_at` is epoch milliseconds."""

    owner: str
    exported_at: int = 0
    complete: bool = False
    format: str = FORMAT


@dataclass(slots=True)
class Written:
    """What became of an export's files: how many, and the paths of those that were left alone.

    `kept` were edited since they were written.
    """

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    kept: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Marks:
    """How documents are told apart: those that an export has written, and the edited ones of them."""

    is_ours: Callable[[str], bool]
    is_sealed: Callable[[str], bool]


def note_of(folder: int) -> Note | None:
    """What an opened folder says of itself; None where it is no export of ours."""
    raw = _content(folder, NOTE, _MAX_NOTE)
    try:
        found = json.loads(raw or b"")
    except (ValueError, RecursionError):
        return None
    return Note(**found) if _is_note(found) and found["format"] == FORMAT else None


def _is_note(found: Any) -> bool:
    kinds = {"owner": str, "exported_at": int, "complete": bool, "format": str}
    if not isinstance(found, dict) or found.keys() != kinds.keys():
        return False
    return all(type(found[name]) is kind for name, kind in kinds.items())


@contextmanager
def opened_export(path: Path, owner: str, *, follow: bool = True) -> Iterator[int]:
    """A folder to export into, made where it is missing, opened and locked.

    Args:
        path: Where it is.
        owner: Whose export it holds or shall hold.
        follow: Whether the path itself may be a link; never what lies in the folder.

    Raises:
        NoExportError: It holds something and is no export.
        ForeignExportError: It is another owner's.
        BusyError: It is being written.
        UnsafePathError: It is no folder.
    """
    with suppress(FileExistsError):
        path.mkdir(mode=0o700, parents=True)
    try:
        folder = os.open(path, _FOLDER & ~os.O_NOFOLLOW if follow else _FOLDER)
    except OSError as error:
        raise _as_unsafe(error, str(path)) from None
    try:
        _lock(folder)
        note = note_of(folder)
        if note is None and set(_names_in(folder)) - {_TEMPORARY}:
            raise NoExportError
        if note is not None and note.owner != owner:
            raise ForeignExportError
        yield folder
    finally:
        os.close(folder)


def _lock(folder: int) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BusyError("The folder is being written by another export; try again.") from None


class ExportFolder:
    """Writes an export's documents into an opened folder.

    Args:
        folder: The opened folder.
        marks: How documents are told apart.
        force: Whether edited documents are written over and removed too.
    """

    def __init__(self, folder: int, marks: Marks, *, force: bool = False) -> None:
        self._folder = folder
        self._marks = marks
        self._force = force
        self._seen: set[str] = set()
        self.done = Written()

    def begin(self) -> None:
        """Begin to write all documents, or begin again."""
        self._seen.clear()
        self.done = Written()

    def note(self, note: Note) -> None:
        """Let the folder say that of itself."""
        self._replace(self._folder, NOTE, json.dumps(asdict(note), ensure_ascii=False).encode())

    def put(self, path: str, text: str) -> None:
        """Write a document, unless it stands there already or was edited since.

        Raises:
            UnsafePathError: The path leads elsewhere, or through a link.
        """
        names = _names(path)
        self._seen.add(path)
        raw = text.encode()
        with self._inside(names[:-1], make=True) as folder:
            present = _content(folder, names[-1], None)
            if present == raw:
                self.done.unchanged += 1
            elif present is not None and self._is_edited(present):
                self.done.kept.append(path)
            else:
                self._replace(folder, names[-1], raw)
                self.done.written += 1

    def remove_others(self) -> None:
        """Remove the documents of earlier exports that none was put over; nothing else."""
        for name in _names_in(self._folder):
            if name.endswith(ENDING):
                self._remove(self._folder, name, name)
            elif stat.S_ISDIR(os.stat(name, dir_fd=self._folder, follow_symlinks=False).st_mode):
                self._clear(name)

    def _clear(self, name: str) -> None:
        before = self.done.removed
        with self._inside((name,), make=False) as folder:
            for inner in _names_in(folder):
                if inner.endswith(ENDING) or inner == _TEMPORARY:
                    self._remove(folder, inner, f"{name}/{inner}")
        if self.done.removed > before:
            # One that holds other things too stays.
            with suppress(OSError):
                os.rmdir(name, dir_fd=self._folder)

    def _remove(self, folder: int, name: str, path: str) -> None:
        if path in self._seen:
            return
        raw = _content(folder, name, None)
        if name == _TEMPORARY or (raw is not None and self._is_ours(raw)):
            if raw is not None and self._is_edited(raw):
                self.done.kept.append(path)
                return
            os.unlink(name, dir_fd=folder)
            self.done.removed += 1

    def _is_ours(self, raw: bytes) -> bool:
        return self._marks.is_ours(raw.decode(errors="replace"))

    def _is_edited(self, raw: bytes) -> bool:
        """Whether somebody's work would be lost with it."""
        return not self._force and not self._marks.is_sealed(raw.decode(errors="replace"))

    @contextmanager
    def _inside(self, names: tuple[str, ...], *, make: bool) -> Iterator[int]:
        """The export's folder, or the one of that name in it."""
        if not names:
            yield self._folder
            return
        name = names[0]
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=self._folder)
        try:
            folder = os.open(name, _FOLDER, dir_fd=self._folder)
        except OSError as error:
            raise _as_unsafe(error, name) from None
        try:
            yield folder
        finally:
            os.close(folder)

    def _replace(self, folder: int, name: str, raw: bytes) -> None:
        """Let the file hold that: readers find all of it or what was there before."""
        with suppress(FileNotFoundError):
            os.unlink(_TEMPORARY, dir_fd=folder)
        with os.fdopen(os.open(_TEMPORARY, _NEW, 0o600, dir_fd=folder), "wb") as stream:
            stream.write(raw)
        os.rename(_TEMPORARY, name, src_dir_fd=folder, dst_dir_fd=folder)


def _names_in(folder: int) -> list[str]:
    return sorted(os.listdir(folder))


def _names(path: str) -> tuple[str, ...]:
    """The names on the way to a document.

    Raises:
        UnsafePathError: It is no path that an export may write.
    """
    names = tuple(path.split("/"))
    plain = all(name and name[0] != "." and "\0" not in name for name in names)
    short = all(len(name.encode("utf-8", "surrogatepass")) <= _MAX_NAME for name in names)
    if len(names) > _DEEPEST or not plain or not short or not names[-1].endswith(ENDING):
        raise UnsafePathError("The service names a path that no export has; nothing was written.")
    return names


def _content(folder: int, name: str, limit: int | None) -> bytes | None:
    """What a plain file holds; None where there is none, or something else, or more than that."""
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            return None
        raise
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        raw = stream.read() if limit is None else stream.read(limit + 1)
    return raw if limit is None or len(raw) <= limit else None


def _as_unsafe(error: OSError, name: str) -> Exception:
    if error.errno in _LINK_ERRORS:
        return UnsafePathError(f"{name} is a link or no folder; remove it, or name another folder.")
    return error
