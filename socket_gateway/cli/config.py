"""`config show`: every setting, its value and where it comes from."""

import typer

from pipeline.settings import load
from socket_gateway.cli.common import JsonOption
from socket_gateway.cli.output import Output

config_app = typer.Typer(
    help="Settings: show.",
    epilog="Example: deskpaw-memory config show",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(config_app, name="config")


@config_app.callback()
def config() -> None:
    """Settings."""


@config_app.command("show", epilog="Example: deskpaw-memory config show --json")
def show(*, as_json: JsonOption = False) -> None:
    """Show all settings. Secrets are hidden."""
    output = Output(as_json=as_json)
    settings, sources = load()
    rows = settings.listed(sources)
    if output.as_json:
        output.json({"settings": rows})
        return
    output.table(
        ["key", "value", "from"], ([row["key"], row["value"], row["source"]] for row in rows)
    )
