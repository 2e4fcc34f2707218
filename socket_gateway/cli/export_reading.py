"""The documents of a folder, for an import: plain files of it alone, through no link."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from socket_gateway.protocol import MAX_DOCUMENT
from storage.export_folder import ENDING

FIRST: Final = "INDEX.md"
"""An object's own document comes before those of its records."""

_MAX_BYTES: Final = 3 * MAX_DOCUMENT
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class File:
    """A file that may be a document: its text, or the reason why it can't be read."""

    path: str
    text: str | None = None
    reason: str | None = None


def files(root: Path) -> Iterator[File]:
    """The Markdown files below a folder, an object's own before its records'.

    Links are not followed, and hidden folders not looked into.
    """
    top = root.resolve()
    for folder, names, found, opened in os.fwalk(top, onerror=_raise):
        names[:] = sorted(name for name in names if not name.startswith("."))
        inside = Path(folder).relative_to(top)
        for name in sorted(found, key=lambda name: (name != FIRST, name)):
            if name.endswith(ENDING) and not name.startswith("."):
                yield _file(str(inside / name), name, opened)


def _raise(error: OSError) -> None:
    raise error


def _file(path: str, name: str, folder: int) -> File:
    # A name that is no text can't be told as it is.
    shown = path.encode(errors="surrogateescape").decode(errors="replace")
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        return File(shown, reason=f"it can't be opened: {error.strerror}")
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return File(shown, reason="it is no plain file")
        raw = stream.read(_MAX_BYTES + 1)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return File(shown, reason="it is not UTF-8")
    if len(raw) > _MAX_BYTES or len(text) > MAX_DOCUMENT:
        return File(shown, reason="it is larger than any document")
    if "\0" in text:
        return File(shown, reason="it holds a NUL")
    return File(shown, text)
