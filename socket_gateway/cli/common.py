"""What the commands share: their options, and the way to the service."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from pipeline.settings import Settings, load
from socket_gateway.cli.output import Output
from socket_gateway.client import MemoryClient, RetryPolicy
from socket_gateway.client.calls import Call, Result

JsonOption = Annotated[bool, typer.Option("--json", help="JSON for machines.")]
OwnerOption = Annotated[str, typer.Option("--owner", help="Whose memory.")]
AfterOption = Annotated[
    int, typer.Option("--after", min=0, help="The id that ended the last page.")
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=200, help="Rows of a page.")]

QUICK = RetryPolicy(attempts=4, total_s=10.0)
"""For a person who waits."""

PATIENT = RetryPolicy(attempts=12, longest_wait_s=10.0, total_s=120.0)
"""For a long piece of work: it outlasts a restart of the service."""


def settings() -> Settings:
    """The settings of this environment.

    Raises:
        SettingsError: One of them is wrong.
    """
    return load()[0]


@contextmanager
def service(policy: RetryPolicy = QUICK) -> Iterator[MemoryClient]:
    """A client of the service that the settings name."""
    with MemoryClient(settings().paths.socket, policy=policy) as client:
        yield client


def ask(call: Call[Result], show: Callable[[Result, Output], None], *, as_json: bool) -> None:
    """Make one call and write its result: as it came for machines, else as `show` puts it."""
    output = Output(as_json=as_json)
    with service() as client:
        found = client.call(call.method, call.params)
    if as_json:
        output.json(found)
    else:
        show(call.read(found), output)
