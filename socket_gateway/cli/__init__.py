"""The command line, `deskpaw-memory`: a client of the socket like any other.

Only `serve` doesn't ask the service, and it starts before anything heavy is loaded.
"""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: What stands behind the program's name; None: as it was called.

    Returns:
        0 done, 1 failed, 2 wrong usage, 3 the service is not reachable
        (spec: protocol, The commands).
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["serve"] and set(given[1:]) <= {"--no-worker", "--json"}:
        from socket_gateway.cli.serve import become_service  # noqa: PLC0415  (keeps `serve` quick)

        become_service(no_worker="--no-worker" in given, as_json="--json" in given)
    from socket_gateway.cli.app import run  # noqa: PLC0415  (keeps `serve` quick)

    return run(given)
