"""`replay`: a log or a chat corpus through the socket."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from socket_gateway.cli.common import PATIENT, JsonOption, service, settings
from socket_gateway.cli.output import Output
from socket_gateway.cli.progress import bars
from socket_gateway.client import MemoryClient
from socket_gateway.replaying.publishing import PublicationWait
from socket_gateway.replaying.replay import Replay, Report
from socket_gateway.replaying.sending import Sender

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...", exists=True, dir_okay=False, readable=True, help="JSONL, also packed."
    ),
]
OtherOwnerOption = Annotated[
    str | None, typer.Option("--owner", help="Whose memory, instead of the lines' own.")
]

STOPPED = 130
"""What a shell says of a program that SIGINT has ended."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay", epilog="Example: deskpaw-memory replay corpus.jsonl.gz --rate 500")(
        replay
    )


def replay(  # noqa: PLR0913  (one for each option of the command)
    files: FilesArgument,
    *,
    owner: OtherOwnerOption = None,
    rate: Annotated[
        float | None, typer.Option("--rate", min=0.1, help="Events a second at most.")
    ] = None,
    batch: Annotated[int, typer.Option("--batch", min=1, max=200, help="Events a request.")] = 200,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Don't wait until all is published.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Send the rest when lines are no events.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Send logs through the socket; lines are events, or a corpus of chats.

    All files are read first, and nothing is sent when a line doesn't fit. A replay that was
    stopped goes on where it was when it is started again.
    """
    output = Output(as_json=as_json)
    with service() as quick:
        quick.health()
    with _replay(output, owner, rate, batch) as (client, work):
        report = work.send(work.survey(files, skip_bad=skip_bad))
        if not no_wait:
            work.wait(report, PublicationWait(client))
    show(report, output)
    if report.failed:
        raise typer.Exit(1)


@contextmanager
def _replay(
    output: Output, owner: str | None, rate: float | None, batch: int
) -> Iterator[tuple[MemoryClient, Replay]]:
    folder = settings().paths.cache / "replay"
    with service(PATIENT) as client:
        sender = Sender(client, batch=batch, rate=rate)
        with _told_when_stopped(sender, output), bars(output) as told:
            yield client, Replay(client, sender, folder, owner=owner, told=told)


@contextmanager
def _told_when_stopped(sender: Sender, output: Output) -> Iterator[None]:
    """Let who stops a replay know how far it is and that nothing of it is lost."""
    try:
        yield
    except KeyboardInterrupt:
        if output.as_json:
            output.json({"stopped_after": sender.sent})
        output.note(f"stopped after {counted(sender.sent, 'event')}; start it again to go on")
        raise typer.Exit(STOPPED) from None


def show(report: Report, output: Output) -> None:
    """Write what became of a replay."""
    if output.as_json:
        output.json(as_json(report))
        return
    output.table(
        ["file", "events", "accepted", "duplicates", "skipped"],
        (
            [f.survey.path, f.survey.events, f.tally.accepted, f.tally.duplicates, f.skipped]
            for f in report.files
        ),
    )
    for kind, count in sorted(report.redactions().items()):
        output.say(f"redacted   {kind}: {count}")
    for file in report.files:
        for name, count in sorted(file.survey.ignored.items()):
            output.say(("not kept   ", "yellow"), f"field {name} of {counted(count, 'line')}")
    for fault in report.faults:
        output.say(("left out   ", "red"), str(fault))
    for owner, count in sorted(report.newly_dead.items()):
        parked = f"{counted(count, 'package')} of {owner}: deskpaw-memory dead list"
        output.say(("parked     ", "red"), parked)
    if report.positions:
        output.say(f"published  all of it, for {counted(len(report.positions), 'owner')}")


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "owner"), counted(2, "owner")
    ('1 owner', '2 owners')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def as_json(report: Report) -> dict[str, object]:
    """A report for machines."""
    files = [file.as_json() for file in report.files]
    totals = {
        name: sum(file[name] for file in files)
        for name in ("events", "accepted", "duplicates", "skipped")
    }
    return {
        **totals,
        "redactions": dict(sorted(report.redactions().items())),
        "published": bool(report.positions) or not report.heights,
        "owners": {
            owner: {"seq": seq, **_position(report, owner)}
            for owner, seq in sorted(report.heights.items())
        },
        "newly_dead": dict(report.newly_dead),
        "bad_lines": [str(fault) for fault in report.faults],
        "files": files,
    }


def _position(report: Report, owner: str) -> dict[str, int]:
    found = report.positions.get(owner)
    return found.model_dump() if found else {}
