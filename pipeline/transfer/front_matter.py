"""Front matter into plain values: YAML without any of its guesses.

Every scalar is the text that stands there; what it means, the reader of the field decides. So `yes`
is a word and 2026-01-01 no date. Anchors, aliases and tags are refused, a key that stands twice too,
and the events of the parser are read one by one, so that nothing is built that no field can hold.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from pipeline.rules.sealing import OPENING
from pipeline.transfer.refusals import Refusal, Unreadable

Value = str | list[Any] | dict[str, Any]

MOST_FIELDS: Final = 64
DEEPEST: Final = 3
"""Fields, a list in one of them, a mapping in that list, a list in a mapping: no form goes deeper."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A document's fields with the line of each, and what follows behind them."""

    fields: Mapping[str, Value]
    lines: Mapping[str, int]
    body: str


def split(text: str) -> Parts:
    """A document in its parts.

    Args:
        text: With plain line ends.

    Raises:
        Unreadable: It has no front matter, or that is no mapping of plain fields.
    """
    if not text.startswith(OPENING):
        raise Unreadable(Refusal.NOT_A_RECORD, "it has no front matter")
    end = text.find(f"\n{OPENING}", len(OPENING) - 1)
    if end < 0:
        raise Unreadable(Refusal.NOT_A_RECORD, "its front matter has no end")
    front = text[len(OPENING) : end + 1]
    reader = _Reader(front)
    try:
        fields = reader.fields()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark is not None else None
        raise Unreadable(Refusal.UNREADABLE, "its front matter is no YAML", line=line) from None
    return Parts(fields, reader.lines, text[end + 1 + len(OPENING) :])


class _Reader:
    """Builds values from the parser's events."""

    def __init__(self, front: str) -> None:
        self._events: Iterator[Any] = iter(yaml.parse(front, Loader=yaml.CBaseLoader))
        self.lines: dict[str, int] = {}

    def fields(self) -> dict[str, Value]:
        start = self._next_content()
        if not isinstance(start, yaml.MappingStartEvent):
            raise Unreadable(Refusal.UNREADABLE, "its front matter holds no fields")
        made = self._mapping(depth=0)
        ends = (yaml.DocumentEndEvent, yaml.StreamEndEvent)
        if not all(isinstance(next(self._events), end) for end in ends):
            raise Unreadable(Refusal.UNREADABLE, "its front matter holds more than fields")
        return made

    def _next_content(self) -> Any:
        event = next(self._events)
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = next(self._events)
        return event

    def _value(self, event: Any, depth: int) -> Value:
        line = _line(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise Unreadable(Refusal.UNREADABLE, "anchors and aliases are no part of it", line=line)
        if getattr(event, "tag", None) is not None:
            raise Unreadable(Refusal.UNREADABLE, "tags are no part of it", line=line)
        if isinstance(event, yaml.ScalarEvent):
            return str(event.value)
        if depth == DEEPEST:
            raise Unreadable(Refusal.UNREADABLE, "it is nested too deep", line=line)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(depth + 1)
        return self._mapping(depth + 1)

    def _sequence(self, depth: int) -> list[Any]:
        made = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            made.append(self._value(event, depth))
        return made

    def _mapping(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key, line = self._value(event, DEEPEST), _line(event)
            if not isinstance(key, str) or key in made or len(made) == MOST_FIELDS:
                raise Unreadable(
                    Refusal.UNREADABLE, "a field stands there twice, or too many", line=line
                )
            if depth == 0:
                self.lines[key] = line
            made[key] = self._value(next(self._events), depth)
        return made


def _line(event: Any) -> int:
    """Where an event stands in the document, whose first line opens the front matter."""
    return int(event.start_mark.line) + 2
