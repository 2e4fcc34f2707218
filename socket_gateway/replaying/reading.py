"""Lines out of a file, packed or not, each with its number."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from socket_gateway.replaying.errors import Fault, ReplayError

MAX_LINE: Final = 1_048_576
"""Bytes; no line of the wire is longer either."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes as they lie there, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each line that isn't blank, counted from 1.

    Raises:
        ReplayError: A line is too long to be an event, or the packed file is damaged.
    """
    number = 0
    with _opened(path) as stream:
        while line := _next(stream, path, number + 1):
            number += 1
            found = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
            if found.strip():
                yield number, found.rstrip(b"\r\n")


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as stream:
        is_packed = stream.read(2) == _GZIP_MAGIC
    # Both are closed by the caller's `with`.
    return gzip.open(path, "rb") if is_packed else path.open("rb")  # type: ignore[return-value]


def _next(stream: IO[bytes], path: Path, number: int) -> bytes:
    try:
        line = stream.readline(MAX_LINE + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        fault = Fault(str(path), number, "", "the gzip file ends or breaks here")
        raise ReplayError([fault], "The file is damaged:") from None
    if len(line) > MAX_LINE:
        fault = Fault(str(path), number, "", f"the line has more than {MAX_LINE:,} bytes")
        raise ReplayError([fault], "A line is too long to be an event:")
    return line
