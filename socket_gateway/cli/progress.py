"""Progress bars for people; nothing where nobody looks."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from socket_gateway.cli.output import Output
from socket_gateway.replaying.replay import Told


@contextmanager
def bars(output: Output) -> Iterator[Told]:
    """A bar for each kind of work, on standard error, while the block runs."""
    if output.as_json or not output.errors.is_terminal:
        yield lambda *_: None
        return
    with drawn(output.errors) as told:
        yield told


@contextmanager
def drawn(console: Console) -> Iterator[Told]:
    """Bars on that console."""
    columns = (
        TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
    )  # fmt: skip
    with Progress(*columns, console=console) as progress:
        tasks: dict[str, TaskID] = {}

        def told(what: str, done: int, total: int) -> None:
            task = tasks.get(what)
            if task is None:
                task = tasks[what] = progress.add_task(what, total=total or None)
            progress.update(task, completed=done, total=total or done)

        yield told
