"""`rebuild` and `reindex`: what is derived, made anew from what is not."""

import time
from collections.abc import Callable
from typing import Annotated, Final

import typer

from socket_gateway.cli.common import PATIENT, JsonOption, service
from socket_gateway.cli.output import Output
from socket_gateway.client import MemoryClient, calls
from socket_gateway.client.calls import Call
from socket_gateway.protocol import OperationResult
from storage.errors import UnavailableError

LOOK_S: Final = 0.2

WhoseOption = Annotated[
    str | None, typer.Option("--owner", help="Only this owner's memory; without it everybody's.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("rebuild", epilog="Example: deskpaw-memory rebuild --dry-run")(rebuild)
    app.command("reindex", epilog="Example: deskpaw-memory reindex")(reindex)


def rebuild(
    *,
    owner: WhoseOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only compare; exit status 1 if anything differs.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make records, index and snapshots anew from events and recorded proposals."""
    found = _carry_out(calls.rebuild(owner, dry_run=dry_run), as_json=as_json)
    if dry_run and _differs(found):
        raise typer.Exit(1)


def reindex(*, owner: WhoseOption = None, as_json: JsonOption = False) -> None:
    """Make the index anew from events and records."""
    _carry_out(calls.reindex(owner), as_json=as_json)


def _carry_out(call: Call[OperationResult], *, as_json: bool) -> OperationResult:
    output = Output(as_json=as_json)
    with service(PATIENT) as client:
        found = _ended(client, call, time.sleep)
    if as_json:
        output.json(found.model_dump(mode="json"))
    else:
        _show(found, output)
    if found.state == "failed":
        raise UnavailableError(found.error or "The operation failed.")
    return found


def _ended(
    client: MemoryClient, call: Call[OperationResult], sleep: Callable[[float], None]
) -> OperationResult:
    found = call.read(client.call(call.method, call.params))
    look = calls.operation(found.operation_id)
    while found.state == "running":
        sleep(LOOK_S)
        found = look.read(client.call(look.method, look.params))
    return found


def _differs(found: OperationResult) -> bool:
    return any(
        number
        for counts in found.report.values()
        for what, number in counts.items()
        if what != "same"
    )


def _show(found: OperationResult, output: Output) -> None:
    outcomes = ("same", "changed", "added", "removed", "failed")
    output.table(
        ["made anew", *outcomes],
        (
            [part, *(counts.get(what, 0) for what in outcomes)]
            for part, counts in found.report.items()
        ),
    )
