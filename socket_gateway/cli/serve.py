"""`serve`: this process becomes the service's parent process."""

import os
import sys
from typing import NoReturn


def become_service(*, no_worker: bool, as_json: bool = False) -> NoReturn:
    """Replace this process with the supervisor of gateway and consumer.

    Args:
        no_worker: The gateway alone, beside a consumer of one's own.
        as_json: It says as a line of JSON when it listens.
    """
    more = [*(["--no-worker"] if no_worker else []), *(["--json"] if as_json else [])]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "socket_gateway.supervisor", *more])  # noqa: S606
