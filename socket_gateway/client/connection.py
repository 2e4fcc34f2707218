"""One blocking connection: a line out, a line in."""

import select
import socket
import time
from pathlib import Path

from socket_gateway.client.errors import NotReachableError

_CHUNK = 262_144


class Connection:
    """A connected socket with one request under way at a time.

    Args:
        path: The service's socket.
        timeout_s: How long connecting may take.

    Raises:
        NotReachableError: Nobody listens there.
    """

    def __init__(self, path: Path, timeout_s: float) -> None:
        self._rest = bytearray()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout_s)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise not_reachable(path, error) from error

    def close(self) -> None:
        """Close both directions."""
        self._socket.close()

    def is_usable(self) -> bool:
        """Whether the service still keeps it: an idle one has its end, or a last word, waiting."""
        return not self._rest and not select.select([self._socket], [], [], 0)[0]

    def ask(self, line: bytes, timeout_s: float) -> bytes:
        """Send one line and read one.

        Raises:
            NotReachableError: The connection is lost, or the time is over.
        """
        end = time.monotonic() + timeout_s
        sent = False
        try:
            sent = self._send(line, timeout_s)
            return self._read_line(end)
        except OSError as error:
            raise lost(type(error).__name__, may_have_run=sent) from error

    def _send(self, line: bytes, timeout_s: float) -> bool:
        self._socket.settimeout(timeout_s)
        try:
            self._socket.sendall(line)
        except (BrokenPipeError, ConnectionResetError):
            # A service without a free place says `busy` and closes before it reads: look for it.
            if not select.select([self._socket], [], [], 0)[0]:
                raise
            return False
        return True

    def _read_line(self, end: float) -> bytes:
        searched = 0
        while (found := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            self._socket.settimeout(max(0.001, end - time.monotonic()))
            chunk = self._socket.recv(_CHUNK)
            if not chunk:
                raise ConnectionResetError
            self._rest += chunk
        line = bytes(self._rest[:found])
        del self._rest[: found + 1]
        return line


def not_reachable(path: Path, error: OSError) -> NotReachableError:
    """Nobody listens at that path."""
    return NotReachableError(
        f"No service at {path} ({type(error).__name__}); start it with `deskpaw-memory serve`."
    )


def lost(why: str, *, may_have_run: bool) -> NotReachableError:
    """A connection ended under a request."""
    done = "it may have been done" if may_have_run else "it was not done"
    return NotReachableError(
        f"The connection ended before the answer ({why}); {done}.", may_have_run=may_have_run
    )
