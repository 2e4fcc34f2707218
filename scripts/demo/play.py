"""Plays the demo log into a throw-away service, asks it questions, and plays three scenes with it.

Run by `scripts/run --demo`. Everything goes through the socket, as an agent's requests do; the
service, its folder and its processes are gone at the end.
"""

import signal
import sys
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from scripts.demo import conflict, correction, forgetting
from scripts.demo.asking import ask
from scripts.demo.log import replay
from scripts.demo.service import running_service
from scripts.demo.story import questions
from socket_gateway.cli.shown import safe
from storage.errors import MemoryServiceError

SCENES: Final = (correction.play, conflict.play, forgetting.play)


def main() -> int:
    """Play all of it; 0 only if every answer and every scene is as it should be."""
    # Any of these must still take the folder and the processes away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    try:
        with running_service(console) as client:
            replay(client, console)
            answers = [ask(client, question, console) for question in questions()]
            scenes = [play(client, console) for play in SCENES]
    except MemoryServiceError as error:
        console.print(Text(f"{error.code}: {safe(error.message)}", style="bold red"))
        return 1
    console.print(Rule(style="dim"))
    _sum_up(console, "个问题的答案有应有的依据 · answers rest on the expected evidence", answers)
    _sum_up(console, "场属实：更正、冲突、遗忘 · held: correction, conflict, forgetting", scenes)
    return 0 if all([*answers, *scenes]) else 1


def _sum_up(console: Console, told: str, held: list[bool]) -> None:
    style = "bold green" if all(held) else "bold red"
    console.print(Text(f"{sum(held)}/{len(held)} {told}", style=style))


if __name__ == "__main__":
    sys.exit(main())
