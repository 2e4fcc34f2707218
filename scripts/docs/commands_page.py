"""`docs/commands.md`: every verb of the program, from the program itself."""

from collections.abc import Iterator
from typing import Any, Final, Literal, get_args, get_origin

import typer

from socket_gateway.cli.app import FAILED, NOT_REACHABLE, PROGRAM, USAGE, app

_INTRO: Final = f"""# Commands

Made from the program by `scripts/docs/generate.py`; a test keeps this page the same as the code.

`{PROGRAM}` lies in `.venv/bin`. Every verb that asks the service is a client of its socket; which
socket, the [settings](settings.md) say. `--help` behind any verb shows what is here.

| exit status | meaning |
| --- | --- |
| 0 | done |
| {FAILED} | failed; the last line on standard error says why |
| {USAGE} | called in a way that doesn't fit |
| {NOT_REACHABLE} | the service is not reachable |

`{PROGRAM} --install-completion` adds completion to your shell."""


def render() -> str:
    """The whole page."""
    verbs = list(leaves())
    rows = ["| verb | what it does |", "| --- | --- |"]
    rows += [f"| [`{name}`](#{name.replace(' ', '-')}) | {_first(verb)} |" for name, verb in verbs]
    return "\n\n".join((_INTRO, "\n".join(rows), *(_section(*named) for named in verbs))) + "\n"


def leaves() -> Iterator[tuple[str, Any]]:
    """Every verb with its name as it is typed, such as `dead list`."""
    yield from _below(typer.main.get_command(app), "")


def _below(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _below(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def _section(name: str, command: Any) -> str:
    about = " ".join(str(command.help).split())
    parts = [f"## {name}", about, f"```sh\n{_example(command)}\n```"]
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    if rows:
        parts.append("\n".join(["| argument | meaning | default |", "| --- | --- | --- |", *rows]))
    return "\n\n".join(parts)


def _example(command: Any) -> str:
    return str(command.epilog).removeprefix("Example: ")


def _first(command: Any) -> str:
    return str(command.help).split("\n\n")[0].replace("\n", " ")


def _row(parameter: Any) -> str:
    is_option = parameter.param_type_name == "option"
    name = ", ".join(parameter.opts) if is_option else parameter.metavar or parameter.name.upper()
    meaning = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    return f"| `{name}`{_choices(parameter)} | {meaning} | {_default(parameter)} |"


def _choices(parameter: Any) -> str:
    wanted = parameter.type_descriptor.annotation
    choices = get_args(wanted) if get_origin(wanted) is Literal else ()
    return ": " + ", ".join(f"`{choice}`" for choice in choices) if choices else ""


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    given = parameter.default
    return "" if given is None or given is False or callable(given) else f"`{given}`"
