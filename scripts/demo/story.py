"""What the demo plays: the log's file, the questions, the scenes behind them, and whose they are."""

import json
from pathlib import Path
from typing import Any, Final

OWNER: Final = "demo"

_HERE: Final = Path(__file__).resolve().parent
LOG: Final = _HERE / "events.jsonl"

Part = dict[str, Any]
"""A question or a scene as its file has it."""


def questions() -> list[Part]:
    """The questions that are asked of the log, with the events that an answer should rest on."""
    found: list[Part] = json.loads((_HERE / "questions.json").read_text(encoding="utf-8"))
    return found


def scene(name: str) -> Part:
    """One of the scenes that are played behind the questions."""
    found: dict[str, Part] = json.loads((_HERE / "scenes.json").read_text(encoding="utf-8"))
    return found[name]
