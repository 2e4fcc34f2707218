"""The program: its commands, put together, and what their errors end in."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from pydantic import ValidationError

from socket_gateway.cli import (
    config,
    fate,
    forget,
    operators,
    rebuild,
    recall,
    records,
    replay,
    status,
    transfer,
)
from socket_gateway.cli.output import Output
from socket_gateway.cli.serve import become_service
from socket_gateway.client import NotReachableError
from storage.errors import BadRequestError, MemoryServiceError, UnavailableError

PROGRAM = "deskpaw-memory"
FAILED, USAGE, NOT_REACHABLE = 1, 2, 3

app = typer.Typer(
    help="Durable, traceable memory for a desktop agent.",
    epilog=f"Example: {PROGRAM} recall '现在报销单应该用哪个模板？'",
    no_args_is_help=True,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    pretty_exceptions_enable=False,
)


@app.command(epilog=f"Example: {PROGRAM} serve --no-worker")
def serve(
    *,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="The gateway alone, beside a consumer of your own.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Socket and process id as JSON once it listens.")
    ] = False,
) -> None:
    """Run gateway and consumer in the foreground until SIGTERM."""
    become_service(no_worker=no_worker, as_json=as_json)


for noun in (status, recall, records, fate, forget, operators, replay, transfer, rebuild, config):
    noun.register(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit status."""
    output = Output(as_json="--json" in arguments)
    command = typer.main.get_command(app)
    try:
        command.main(args=list(arguments), prog_name=PROGRAM)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except MemoryServiceError as error:
        output.error(error)
        return NOT_REACHABLE if isinstance(error, NotReachableError) else FAILED
    except ValidationError as error:
        output.error(BadRequestError(_explained(error)))
        return USAGE
    except OSError as error:
        output.error(UnavailableError(f"{error.strerror}: {error.filename}"))
        return FAILED
    return 0


def _explained(error: ValidationError) -> str:
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
