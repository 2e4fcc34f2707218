"""`packages`, `dead` and `stage`: the ledger, what is parked in it, and its stages."""

from functools import partial
from typing import Annotated

import typer

from socket_gateway.cli.common import AfterOption, JsonOption, LimitOption, ask
from socket_gateway.cli.output import Output
from socket_gateway.cli.shown import moment
from socket_gateway.client import calls
from socket_gateway.protocol import (
    ChangedResult,
    DeadListResult,
    PackageListResult,
    PackageResult,
    PackageState,
    PausedResult,
    StageName,
)

IdsArgument = Annotated[list[int], typer.Argument(metavar="PACKAGE...", help="Package ids.")]
StageArgument = Annotated[
    StageName, typer.Argument(metavar="STAGE", help="One of the five stages.")
]
StateOption = Annotated[PackageState | None, typer.Option("--state", help="Only in this state.")]

dead_app = typer.Typer(
    help="Parked packages: list, requeue, discard.",
    epilog="Example: deskpaw-memory dead list",
    no_args_is_help=True,
)
stage_app = typer.Typer(
    help="Stages: pause, resume.",
    epilog="Example: deskpaw-memory stage pause observe",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("packages", epilog="Example: deskpaw-memory packages --state leased")(packages)
    app.add_typer(dead_app, name="dead")
    app.add_typer(stage_app, name="stage")


def packages(
    state: StateOption = None,
    after: AfterOption = 0,
    limit: LimitOption = 50,
    *,
    as_json: JsonOption = False,
) -> None:
    """List the ledger's packages."""
    ask(calls.packages(state, after, limit), _show_packages, as_json=as_json)


def _show_packages(page: PackageListResult, output: Output) -> None:
    output.table(
        [
            "id", "owner", "about", "stage", "state", "attempt", "events", "opened", "closed by",
            "error",
        ],
        (
            [*_row(found), moment(found.opened_at), found.closed_by, found.error]
            for found in page.items
        ),
    )  # fmt: skip
    if page.next is not None:
        output.note(f"More: --after {page.next}")


def _row(found: PackageResult) -> list[object]:
    return [
        found.id, found.owner, found.object, found.stage, found.state, found.attempt, found.events,
    ]  # fmt: skip


@dead_app.command("list", epilog="Example: deskpaw-memory dead list --json")
def dead_list(
    after: AfterOption = 0, limit: LimitOption = 50, *, as_json: JsonOption = False
) -> None:
    """List parked packages and why they were parked."""
    ask(calls.dead_letters(after, limit), _show_dead, as_json=as_json)


def _show_dead(page: DeadListResult, output: Output) -> None:
    output.table(
        ["id", "owner", "about", "stage", "attempts", "parked", "events", "error"],
        (
            [
                dead.package.id, dead.package.owner, dead.package.object, dead.package.stage,
                dead.package.attempt, moment(dead.parked_at), " ".join(dead.event_ids), dead.error,
            ]
            for dead in page.items
        ),
    )  # fmt: skip
    if page.next is not None:
        output.note(f"More: --after {page.next}")


@dead_app.command("requeue", epilog="Example: deskpaw-memory dead requeue 17 18")
def requeue(
    ids: Annotated[
        list[int] | None, typer.Argument(metavar="[PACKAGE]...", help="Package ids; none: all.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Put parked packages back to work."""
    ask(calls.requeue(ids or None), partial(_show_changed, "back to work"), as_json=as_json)


@dead_app.command("discard", epilog="Example: deskpaw-memory dead discard 17")
def discard(ids: IdsArgument, *, as_json: JsonOption = False) -> None:
    """Give parked packages up. Their events stay."""
    ask(calls.discard(ids), partial(_show_changed, "given up"), as_json=as_json)


def _show_changed(what: str, changed: ChangedResult, output: Output) -> None:
    output.say(f"{what}: {', '.join(map(str, changed.ids)) or 'none'}")


@stage_app.command("pause", epilog="Example: deskpaw-memory stage pause observe")
def pause(stage: StageArgument, *, as_json: JsonOption = False) -> None:
    """Stop a stage; what it is doing now is finished."""
    ask(calls.pause(stage), _show_paused, as_json=as_json)


@stage_app.command("resume", epilog="Example: deskpaw-memory stage resume observe")
def resume(stage: StageArgument, *, as_json: JsonOption = False) -> None:
    """Let a paused stage go on."""
    ask(calls.resume(stage), _show_paused, as_json=as_json)


def _show_paused(found: PausedResult, output: Output) -> None:
    if not found.paused:
        output.say("No stage is paused.")
    for stage, since in sorted(found.paused.items()):
        output.say(("paused  ", "yellow"), f"{stage} since {moment(since)}")
