"""Where a command's output goes: JSON for machines; tables and colours on a terminal; else lines."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from socket_gateway.cli.shown import one_line, safe, safe_json
from storage.errors import MemoryServiceError

STYLES = {
    "ok": "green", "active": "green", "done": "green", "complete": "green",
    "degraded": "yellow", "pending": "yellow", "candidate": "yellow", "leased": "yellow",
    "failing": "red", "dead": "red", "expired": "red", "unavailable": "red",
}  # fmt: skip


class Output:
    """Writes to standard output, and errors to standard error.

    Args:
        as_json: JSON, one value a command.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
        self.errors = Console(
            stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True
        )

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it."""
        return self.console.is_terminal and not self.as_json

    def json(self, value: Any) -> None:
        """Write a value as one line of JSON."""
        line = safe_json(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE).decode())
        sys.stdout.write(line)
        sys.stdout.flush()

    def say(self, *parts: str | tuple[str, str]) -> None:
        """Write a line of parts, each plain or with its style."""
        self.console.print(_text(parts))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Write rows: a table on a terminal, else lines with tabs between the cells."""
        shown = [[one_line("" if cell is None else str(cell)) for cell in row] for row in rows]
        if not self.is_terminal:
            # Not through the console: it would turn the tabs into spaces.
            sys.stdout.write("".join("\t".join(row) + "\n" for row in [columns, *shown]))
            return
        # An id is there to be copied: it is never cut or folded.
        table = Table(header_style="bold", box=None, pad_edge=False)
        for name in columns:
            table.add_column(name, no_wrap=name == "id", overflow="fold")
        for row in shown:
            table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
        self.console.print(table, soft_wrap=False)

    def note(self, text: str) -> None:
        """Say something to people that is no part of the result."""
        if not self.as_json:
            self.errors.print(Text(safe(text), style="dim"))

    def error(self, error: MemoryServiceError) -> None:
        """Say what went wrong: what happened, and what to do."""
        if self.as_json:
            body: dict[str, Any] = {"code": error.code, "message": error.message}
            if error.details:
                body["details"] = error.details
            sys.stderr.write(safe_json(orjson.dumps({"error": body}).decode()) + "\n")
            return
        self.errors.print(Text.assemble((f"{error.code}: ", "bold red"), safe(error.message)))


def _text(parts: Iterable[str | tuple[str, str]]) -> Text:
    text = Text()
    for part in parts:
        words, style = (part, "") if isinstance(part, str) else part
        text.append(safe(words), style=style)
    return text
