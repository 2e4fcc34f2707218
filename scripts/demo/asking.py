"""Asking the demo's service, and judging whether an answer rests on the events that it should."""

import time
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from scripts.demo.shown import Words, head, show_hit, show_quote, verdicts, words_for
from scripts.demo.story import OWNER, Part
from socket_gateway.cli.recall import answered
from socket_gateway.client import MemoryClient, Ports, calls
from socket_gateway.protocol import HitResult, RecallParams, RecallResult

FIRST_HITS = 3


def asked(client: MemoryClient, part: Part, console: Console) -> tuple[RecallResult, Words]:
    """Ask a part's question and show how the search ended; the answer, and the words to show it."""
    words = words_for(part["question"])
    console.print(Text(f"❓ {part['question']}", style="bold"))
    call = calls.recall(
        RecallParams(
            request_id=Ports().new_id(),
            query=part["question"],
            owner=OWNER,
            objects=part.get("objects", []),
        )
    )
    found = call.read(answered(client, call, time.sleep))
    console.print(Text(words.states.get(found.state, found.state), style="cyan"))
    return found, words


def ask(client: MemoryClient, question: Part, console: Console) -> bool:
    """Ask one question and show the answer; whether it rests on what it should."""
    head(console)
    found, words = asked(client, question, console)
    expected: list[str] = question["expect_event_ids"]
    ranks = {event_id: _rank_of(event_id, found.hits) for event_id in expected}
    for rank, hit in enumerate(found.hits, 1):
        if rank <= FIRST_HITS or rank in ranks.values():
            show_hit(f"{rank}.", hit, words, console)
            _show_further(client, [e for e in expected if ranks[e] == rank], hit, words, console)
    return _judged(ranks, words, console)


def _rank_of(event_id: str, hits: Sequence[HitResult]) -> int | None:
    """The rank of the first hit that rests on an event, or is it."""
    for rank, hit in enumerate(hits, 1):
        named = {span.event for span in hit.record.source_refs} if hit.record else set()
        if event_id in named or (hit.event is not None and hit.event.id == event_id):
            return rank
    return None


def _show_further(
    client: MemoryClient, wanted: Sequence[str], hit: HitResult, words: Words, console: Console
) -> None:
    """Show the expected words that a record rests on and its hit had no room for."""
    if hit.record is None:
        return
    left = set(wanted) - {part.event for part in hit.evidence}
    if not left:
        return
    found = client.evidence(hit.record.id, owner=OWNER)
    events = {event.id: event for event in found.events}
    for span in found.spans:
        if span.event in left:
            event = events[span.event]
            show_quote(event.id, event.at, event.role, span.quote, words, console)


def _judged(ranks: Mapping[str, int | None], words: Words, console: Console) -> bool:
    """Say for each expected event which hit rests on it, if any."""
    held = {}
    for event_id, rank in ranks.items():
        where = words.missing if rank is None else f"{words.rank} {rank}"
        held[f"{words.expected} {event_id}: {where}"] = rank is not None
    return verdicts(console, held)
