"""`forget`: first what would go, then, when asked for, the deed, and the wait until no byte is left."""

import sys
import time
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Final

import typer

from pipeline.rules.workdays import BEIJING
from socket_gateway.cli.common import PATIENT, JsonOption, OwnerOption, service
from socket_gateway.cli.output import STYLES, Output
from socket_gateway.cli.shown import moment, one_line
from socket_gateway.client import MemoryClient
from socket_gateway.protocol import (
    ForgetCounts,
    ForgetParams,
    ForgetPreview,
    ForgetResult,
    ForgetSelect,
    ForgetStatusResult,
)
from storage.errors import BadRequestError

LOOK_S: Final = 0.2
LONGEST_S: Final = 60.0
"""How long a person waits for the end of erasing; it goes on without him."""

_WHY: Final = {
    "selected": "selected",
    "source": "its words come from what goes",
    "roll_up": "it rolls up what goes",
}
_HEAD: Final = 70


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("forget", epilog="Example: deskpaw-memory forget --record RECORD")(forget)


def forget(  # noqa: PLR0913  (one for each option of the command)
    *,
    owner: OwnerOption = "local",
    record: Annotated[
        list[str] | None,
        typer.Option("--record", help="A record, with the words it rests on; again for more."),
    ] = None,
    event: Annotated[
        list[str] | None, typer.Option("--event", help="An event, whole; again for more.")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", help="All events of a task; again for more.")
    ] = None,
    object_id: Annotated[
        str | None, typer.Option("--object", help="An object, with all that names it.")
    ] = None,
    before: Annotated[
        str | None,
        typer.Option("--before", metavar="WHEN", help="All that happened before, as 2026-01-31."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Forget without asking.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Until no byte is left, a minute at most.")
    ] = True,
    status: Annotated[
        str | None, typer.Option("--status", metavar="ID", help="How far a forgetting has come.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what would be forgotten; forget it after a yes.

    Without a terminal, or with --json, only --yes forgets.
    """
    output = Output(as_json=as_json)
    with service(PATIENT) as client:
        if status is not None:
            _end(client.forget_status(status, owner), output)
            return
        select = ForgetSelect(
            record_ids=record or None,
            event_ids=event or None,
            task_ids=task or None,
            object=object_id,
            before=None if before is None else when(before),
        )
        params = ForgetParams(owner=owner, select=select)
        if not yes and not _agreed(client.forget(params), output):
            return
        begun = client.forget(params.model_copy(update={"dry_run": False}))
        if begun.forget_id is None:
            return
        found = client.forget_status(begun.forget_id, owner)
        if wait:
            found = ended(client, found, owner, time.sleep)
        _end(found, output)


def when(text: str) -> int:
    """A day or a moment, in Beijing's zone unless it names another; or epoch milliseconds.

    >>> when("2026-03-02"), when("2026-03-02T08:52:00+08:00"), when("1772412720000")
    (1772380800000, 1772412720000, 1772412720000)

    Raises:
        BadRequestError: It is neither.
    """
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequestError(
            "--before: give a day as 2026-01-31, or a moment as 2026-01-31T08:00."
        ) from error
    return int((found if found.tzinfo else found.replace(tzinfo=BEIJING)).timestamp() * 1000)


def ended(
    client: MemoryClient,
    found: ForgetStatusResult,
    owner: str,
    sleep: Callable[[float], None],
) -> ForgetStatusResult:
    """Look again until erasing has come to an end, or for a minute."""
    waited = 0.0
    while found.state == "erasing" and waited < LONGEST_S:
        sleep(LOOK_S)
        waited += LOOK_S
        found = client.forget_status(found.forget_id, owner)
    return found


def _agreed(found: ForgetResult, output: Output) -> bool:
    """Show what would go, and ask; without anybody to ask, nobody has agreed."""
    if output.as_json:
        output.json(found.model_dump(mode="json", exclude_none=True, by_alias=True))
        return False
    _show_preview(found, output)
    if not (output.is_terminal and sys.stdin.isatty()):
        output.note("Nothing was forgotten. With --yes it will be.")
        return False
    agreed: bool = typer.confirm("Forget this? It can't be brought back.")
    return agreed


def _show_preview(found: ForgetResult, output: Output) -> None:
    preview = found.preview
    if preview is None:
        return
    output.say(("Would go: ", "bold"), _counted(found.counts))
    for part in _parts(preview):
        output.say(*part)
    if preview.truncated:
        output.note("More would go than is shown here.")
    if preview.holders:
        output.say(
            ("Some words stay, ", "yellow"),
            f"since other records rest on them: {', '.join(preview.holders)}",
        )


def _parts(preview: ForgetPreview) -> list[tuple[str | tuple[str, str], ...]]:
    """A line for each thing that would go or change."""
    lines: list[tuple[str | tuple[str, str], ...]] = []
    for record in preview.records:
        told = (f"  {record.id}: {_WHY[record.why]}", "dim")
        lines.append((("record  ", "red"), _head(record.content), told))
    for event in preview.events:
        kind = ("event   ", "red") if event.places is None else ("words   ", "red")
        told = (f"  {event.id}, {moment(event.at)}", "dim")
        lines.append((kind, _head(event.text), told))
    for kept in preview.changed:
        told = (f"  {kept.id}: stays as this", "dim")
        lines.append((("changed ", "yellow"), _head(kept.content), told))
    return lines


def _head(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _HEAD else f"{line[:_HEAD]}…"


def _counted(counts: ForgetCounts) -> str:
    found = counts.model_dump()
    return ", ".join(f"{number} {kind}" for kind, number in found.items() if number) or "nothing"


def _end(found: ForgetStatusResult, output: Output) -> None:
    """Show how a forgetting stands; exit status 1 when something stands in its way."""
    if output.as_json:
        output.json(found.model_dump(mode="json"))
    else:
        output.say(
            (found.state, STYLES.get(found.state, "yellow")),
            f"  {found.forget_id}: {_counted(found.counts)}",
        )
        for what in found.remaining:
            output.say(("   ", ""), what)
        if found.state == "erasing":
            output.note(f"It goes on: deskpaw-memory forget --status {found.forget_id}")
    if found.state == "blocked":
        raise typer.Exit(1)
