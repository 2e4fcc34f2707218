"""What the demo writes: labelled lines, hits and records with their verbatim words, verdicts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from scripts.demo.story import OWNER
from socket_gateway.cli.shown import moment, one_line
from socket_gateway.client import MemoryClient
from socket_gateway.protocol import HitResult, RecordResult

LONGEST: Final = 160

_HAN: Final = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Words:
    """The labels of an answer in one language."""

    states: dict[str, str]
    record: str
    event: str
    why: str
    quote: str
    against: str
    expected: str
    rank: str
    missing: str


ENGLISH: Final = Words(
    {"complete": "found", "not_found": "not found", "unavailable": "memory unavailable"},
    "record", "event in no valid record", "found by", "verbatim", "conflicts with",
    "expected evidence", "in hit", "in NO hit of the answer",
)  # fmt: skip
CHINESE: Final = Words(
    {"complete": "找到了", "not_found": "没有找到", "unavailable": "记忆暂不可用"},
    "记忆", "事件，无有效记忆引用", "命中依据", "原文", "与之冲突", "应有的依据", "见命中",
    "不在答案的任何命中里",
)  # fmt: skip


def words_for(question: str) -> Words:
    """The labels in the language of a question."""
    return CHINESE if _HAN.search(question) else ENGLISH


def say(console: Console, label: str, words: str) -> None:
    """Write a labelled line."""
    console.print(Text.assemble((f"{label}  ", "dim"), words))


def head(console: Console, title: str = "") -> None:
    """Begin a new part."""
    console.print(Rule(style="dim"))
    if title:
        console.print(Text(title, style="bold magenta"))


def verdicts(console: Console, held: Mapping[str, bool]) -> bool:
    """Write of each statement whether it holds; whether all of them do."""
    for told, holds in held.items():
        mark, style = ("✓", "green") if holds else ("✗", "bold red")
        console.print(Text(f"{mark} {told}", style=style))
    return all(held.values())


def show_hit(mark: str, hit: HitResult, words: Words, console: Console) -> None:
    """Show one hit, what contradicts it, and the verbatim words behind it."""
    line = Text(f"{mark} ", style="bold")
    if hit.record is not None:
        line.append_text(_headline(hit.record, words))
    elif hit.event is not None:
        event = hit.event
        line.append(f"[{words.event} · {event.role}] ", style="yellow")
        line.append(_shortened(event.text), style="bold")
        line.append(f"  {event.id} · {moment(event.at)}", style="blue")
    console.print(line)
    console.print(Text(f"   {words.why}: {', '.join(hit.reasons)}", style="dim"))
    for rival in hit.conflicts or ():
        told = f"   {words.against} {rival.record_id} ({rival.status}, {rival.authority}): "
        console.print(Text.assemble((told, "yellow"), _shortened(rival.content)))
    for part in hit.evidence:
        show_quote(part.event, part.at, part.role, part.quote, words, console)


def show_record(client: MemoryClient, record: RecordResult, words: Words, console: Console) -> None:
    """Show a record with its id and the verbatim words behind it."""
    console.print(_headline(record, words).append(f"  {record.id}", style="blue"))
    found = client.evidence(record.id, owner=OWNER)
    events = {event.id: event for event in found.events}
    for span in found.spans:
        event = events[span.event]
        show_quote(event.id, event.at, event.role, span.quote, words, console)


def show_quote(
    event_id: str, at: int, role: str, quote: str, words: Words, console: Console
) -> None:
    """Show verbatim words and where they come from."""
    source = f"   {words.quote} {event_id} · {moment(at)} · {role}: "
    console.print(Text.assemble((source, "blue"), f"“{one_line(quote)}”"))


def _headline(record: RecordResult, words: Words) -> Text:
    style = "green" if record.status == "active" else "yellow"
    line = Text(f"[{words.record} {record.kind} · {record.status}] ", style=style)
    return line.append(_shortened(record.content), style="bold")


def _shortened(text: str) -> str:
    """A text on one line, cut where it is long; what is verbatim is never cut."""
    line = one_line(text)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"
