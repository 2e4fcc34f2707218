"""How long a socket's path may be: the service and its clients ask before they use one."""

import os
from pathlib import Path
from typing import Final

from storage.errors import BadRequestError

MAX_PATH_BYTES: Final = 107
"""What fits into a Unix socket address beside its closing zero byte."""


class SocketPathError(BadRequestError):
    """The socket can't stand at this path; set DESKPAW_MEMORY_SOCKET to another."""


def check_length(path: Path) -> None:
    """Let a path pass that fits into a socket address (spec: protocol, Files).

    Raises:
        SocketPathError: It is too long.
    """
    size = len(os.fsencode(path))
    if size > MAX_PATH_BYTES:
        raise SocketPathError(
            f"The socket path has {size} bytes; at most {MAX_PATH_BYTES} fit. "
            "Set DESKPAW_MEMORY_SOCKET to a shorter path."
        )
