"""The demo's log, and what is said after it: sent through the socket, and waited for."""

import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console

from scripts.demo.shown import say
from scripts.demo.story import LOG, OWNER
from socket_gateway.cli.progress import drawn
from socket_gateway.client import MemoryClient
from socket_gateway.replaying.publishing import PublicationWait
from socket_gateway.replaying.replay import Replay, Told
from socket_gateway.replaying.sending import Sender


def replay(client: MemoryClient, console: Console) -> None:
    """Send the log and wait until all of it is published."""
    began = time.monotonic()
    with ExitStack() as stack:
        told: Told = lambda *_: None  # noqa: E731  (nothing to draw where nobody looks)
        if console.is_terminal:
            told = stack.enter_context(drawn(console))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        work = Replay(client, Sender(client, batch=20), folder, owner=OWNER, told=told)
        report = work.send(work.survey([LOG], skip_bad=False))
        work.wait(report, PublicationWait(client))
    spent = time.monotonic() - began
    count = sum(file.tally.accepted for file in report.files)
    at = report.positions[OWNER]
    say(
        console,
        "回放 · replayed",
        f"{count} 个事件 events, published {at.published}, dead {at.dead}, {spent:.1f} s",
    )


def tell(client: MemoryClient, events: Sequence[dict[str, Any]]) -> None:
    """Send a few events more and wait until they are published."""
    receipt = client.ingest(events, owner=OWNER)
    PublicationWait(client).until({OWNER: receipt.position.received}, lambda _: None)
