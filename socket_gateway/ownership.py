"""Who owns the socket's path: one living server at a time.

asyncio replaces a live socket without an error, so a lock is held for the server's life, and
whoever listens on the path already is asked first (spec: design, The socket; mission F8).
"""

import contextlib
import errno
import fcntl
import os
import socket
import stat
from pathlib import Path
from typing import Final, Self

from socket_gateway.socket_path import SocketPathError, check_length
from storage.errors import UnavailableError

_PING: Final = b'{"id":"owner-ping","method":"health"}\n'
_PING_SECONDS: Final = 1.0
_BACKLOG: Final = 256


class SocketOwnedError(UnavailableError):
    """Another server owns this socket; stop it, or set DESKPAW_MEMORY_SOCKET to another path."""


class SocketOwnership:
    """The right to listen on one path, held by a lock file beside it.

    Args:
        path: Where the socket stands, or will.
        lock_fd: The locked file's descriptor, owned by this object from now on.
    """

    def __init__(self, path: Path, lock_fd: int) -> None:
        self._path = path
        self._lock_fd: int | None = lock_fd
        self._bound: tuple[int, int] | None = None

    @classmethod
    def take(cls, path: Path) -> Self:
        """Become the owner of a path, and clear away a dead owner's socket.

        May wait a second for a living owner's answer: don't call it on an event loop.

        Raises:
            SocketOwnedError: A living server has the path.
            SocketPathError: The path is too long, taken by something that is no socket, or in a
                folder that others use.
        """
        check_length(path)
        _make_private_folder(path.parent)
        ownership = cls(path, _lock(path))
        try:
            _clear_stale(path)
        except BaseException:
            ownership.release()
            raise
        return ownership

    def bind(self) -> socket.socket:
        """A listening socket at the path, mode 0600 from its first moment.

        Changes the process's umask for the time of one call.
        """
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.settimeout(0)
        before = os.umask(0o177)
        try:
            listener.bind(os.fspath(self._path))
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
        finally:
            os.umask(before)
        self._bound = _identity(self._path)
        return listener

    def remove_socket(self) -> None:
        """Remove the socket, unless something else has taken its path. Call it while it is open."""
        if self._bound is not None and _identity(self._path) == self._bound:
            self._path.unlink()
        self._bound = None

    def release(self) -> None:
        """Give up the lock. Its file stays, since removing it would let two owners in."""
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None


def _make_private_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700:  # noqa: PLR2004
        return
    # /tmp or /run, closed to everyone else, would break the machine: only narrow a folder of ours.
    shared = found.st_mode & stat.S_ISVTX or len(folder.resolve().parts) <= 2  # noqa: PLR2004
    if found.st_uid != os.geteuid() or shared:
        raise SocketPathError(
            f"The folder {folder} is used by others. "
            "Set DESKPAW_MEMORY_SOCKET to a path in a folder that only you can open (mode 0700)."
        )
    folder.chmod(0o700)


def _lock(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    fd = os.open(f"{path}.lock", flags, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        if isinstance(error, BlockingIOError):
            raise _owned(path, "another server holds its lock") from None
        raise
    return fd


def _clear_stale(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise SocketPathError(
            f"{path} is no socket, so it was left alone. Move it away, or set DESKPAW_MEMORY_SOCKET."
        )
    listener = _who_listens(path)
    if listener:
        raise _owned(path, listener)
    path.unlink(missing_ok=True)


def _who_listens(path: Path) -> str | None:
    """Say who is behind a socket; None when nobody is."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_PING_SECONDS)
        try:
            client.connect(os.fspath(path))
        except OSError as error:
            # Anything but these two (a full backlog, a foreign owner) may be a living server.
            if error.errno in {errno.ECONNREFUSED, errno.ENOENT}:
                return None
            return "a server may be listening that doesn't accept this connection"
        with contextlib.suppress(OSError):
            client.sendall(_PING)
            if client.recv(1):
                return "a server answers on it"
    return "a server accepts connections on it but gives no answer"


def _owned(path: Path, reason: str) -> SocketOwnedError:
    return SocketOwnedError(
        f"The socket {path} is owned: {reason}. Stop that one, or set DESKPAW_MEMORY_SOCKET."
    )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
