"""`recall`: a question, and the answer with its evidence."""

import time
from collections.abc import Callable
from typing import Annotated

import typer

from socket_gateway.cli.answers import show
from socket_gateway.cli.common import JsonOption, OwnerOption, service
from socket_gateway.cli.output import Output
from socket_gateway.client import MemoryClient, Ports, calls
from socket_gateway.client.calls import Call
from socket_gateway.client.wire import Json
from socket_gateway.protocol import Budget, RecallParams, RecallResult
from storage.errors import ExpiredError, UnavailableError

_LOOKS = 100
_LOOK_S = 0.1


def register(app: typer.Typer) -> None:
    """Add the command."""
    epilog = (
        "Example: deskpaw-memory recall 'Which template do expense claims use?' --object expense"
    )
    app.command("recall", epilog=epilog)(recall)


def recall(
    question: Annotated[str, typer.Argument(help="In Chinese, English or both.")],
    *,
    owner: OwnerOption = "local",
    objects: Annotated[
        list[str] | None, typer.Option("--object", help="What it is about; may be given again.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="Hits at most.")] = 10,
    include_past: Annotated[
        bool, typer.Option("--include-past", help="Also what is no longer valid, marked.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask memory a question."""
    output = Output(as_json=as_json)
    call = calls.recall(
        RecallParams(
            request_id=Ports().new_id(),
            query=question,
            owner=owner,
            objects=objects or [],
            budget=Budget(items=limit),
            include_past=include_past,
        )
    )
    with service() as client:
        found = answered(client, call, time.sleep)
    if as_json:
        output.json(found)
    else:
        show(call.read(found), output)
    if found["state"] == "unavailable":
        raise UnavailableError(
            "Memory can't be searched at the moment; see `deskpaw-memory status`."
        )
    if found["state"] == "expired":
        raise ExpiredError("Everything that matched is no longer valid; try --include-past.")


def answered(
    client: MemoryClient, call: Call[RecallResult], sleep: Callable[[float], None]
) -> Json:
    """Make a recall, and again the same one while its answer is pending.

    Raises:
        UnavailableError: It stays pending.
    """
    for _ in range(_LOOKS):
        found = client.call(call.method, call.params)
        if found.get("state") != "pending":
            return found
        sleep(_LOOK_S)
    raise UnavailableError("The service still looks for the answer; ask again in a while.")
