"""`status`: what an operator looks at first."""

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from socket_gateway.cli.common import JsonOption, ask, service
from socket_gateway.cli.output import STYLES, Output
from socket_gateway.cli.shown import duration, moment, size
from socket_gateway.client import MemoryClient, NotReachableError, calls
from socket_gateway.protocol import HealthResult, StatusResult

_STATES = ("open", "ready", "leased", "done", "dead")
_OWNERS = 12
_STAGES = ("filter", "observe", "merge", "index", "publish")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status", epilog="Example: deskpaw-memory status --watch")(status)


def status(
    *,
    watch: Annotated[
        bool, typer.Option("--watch", help="Again each second, until Ctrl-C.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show health, stages, connections and owners."""
    if not watch:
        ask(calls.status(), show, as_json=as_json)
        return
    with service() as client:
        watched(client, Output(as_json=as_json), _seconds())


def watched(client: MemoryClient, output: Output, ticks: Iterable[object]) -> None:
    """Show the status at each tick; a service that is away is said to be, and asked again."""
    call = calls.status()
    try:
        for _ in ticks:
            try:
                found = client.call(call.method, call.params)
            except NotReachableError as error:
                output.error(error)
                continue
            if output.as_json:
                output.json(found)
                continue
            if output.is_terminal:
                output.console.clear()
            show(call.read(found), output)
    except KeyboardInterrupt:
        return


def _seconds() -> Iterator[None]:
    for turn in itertools.count():
        if turn:
            time.sleep(1.0)
        yield


def show(found: StatusResult, output: Output) -> None:
    """Write a status."""
    _show_health(found.health, output)
    more = len(found.owners) - _OWNERS
    named = ", ".join(found.owners[:_OWNERS]) or "none yet"
    output.say("owners     ", named, f" and {more} more" if more > 0 else "")
    counts = (f"{name} {count}" for name, count in sorted(found.connections.items()))
    output.say("connected  ", ", ".join(counts) or "none")
    for stage, since in sorted(found.paused.items()):
        output.say(("paused     ", "yellow"), f"{stage} since {moment(since)}")
    output.say("")
    rows = [[s, *(found.stages.get(s, {}).get(state, 0) for state in _STATES)] for s in _STAGES]
    output.table(["stage", *_STATES], rows)


def _show_health(health: HealthResult, output: Output) -> None:
    words = (health.status, f"bold {STYLES.get(health.status, '')}")
    output.say("health     ", words, f"  version {health.version}, up {duration(health.uptime_ms)}")
    for reason in health.reasons:
        output.say("           ", (reason, "yellow"))
    if health.positions is not None:
        at = health.positions
        output.say(
            "positions  ",
            f"received {at.received}, organized {at.organized}, published {at.published}"
            f" (backlog {at.backlog}, dead {at.dead})",
        )
    if health.queue is not None:
        queue = health.queue
        output.say(
            "queue      ",
            f"{queue.depth} waiting, {queue.scheduled} scheduled, consumer seen"
            f" {_ago(queue.consumer_seen_ms)}, oldest due {duration(queue.oldest_ms)}",
        )
    output.say("index lag  ", f"{health.index_lag}")
    output.say("disk free  ", size(health.disk_free))
    if health.database is not None:
        output.say("database   ", health.database)


def _ago(milliseconds: int | None) -> str:
    return "never" if milliseconds is None else f"{duration(milliseconds)} ago"
