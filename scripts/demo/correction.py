"""A correction, as the log holds one: what was said first is replaced, kept, and linked."""

from collections.abc import Sequence

from rich.console import Console

from scripts.demo.shown import CHINESE, head, say, show_record, verdicts
from scripts.demo.story import OWNER, scene
from socket_gateway.client import MemoryClient
from socket_gateway.protocol import FateRecord, FateResult, RecordResult


def play(client: MemoryClient, console: Console) -> bool:
    """Show the old record, the new one and the way of the correcting event; whether it is so."""
    part = scene("correction")
    head(console, "更正：后说的取代先说的；先说的不删，和新的连在一起")
    before, after = (client.fate(part[name], OWNER) for name in ("old", "new"))
    replaced, replacing = _pair(before.records, after.records)
    if replaced is None or replacing is None:
        return verdicts(console, {f"{part['new']} 取代了 {part['old']} 的记忆": False})
    old, new = client.record(replaced.id, OWNER), client.record(replacing.id, OWNER)
    show_record(client, old, CHINESE, console)
    show_record(client, new, CHINESE, console)
    say(console, f"{part['new']} 的去向", _way(after, new))
    held = {
        "旧的 superseded，新的 active，新旧互相指明": _linked(old, new, replaced),
        "两边的原文都在，逐字可查": _is_verbatim(client, old) and _is_verbatim(client, new),
    }
    return verdicts(console, held)


def _pair(
    before: Sequence[FateRecord], after: Sequence[FateRecord]
) -> tuple[FateRecord | None, FateRecord | None]:
    """The record that rests on the old event and was replaced, and the one that replaced it."""
    for old in before:
        for new in after:
            if new.id in old.superseded_by:
                return old, new
    return None, None


def _linked(old: RecordResult, new: RecordResult, fate: FateRecord) -> bool:
    stand = (old.status, new.status) == ("superseded", "active")
    return stand and old.id in (new.supersedes or ()) and fate.superseded_by == [new.id]


def _is_verbatim(client: MemoryClient, record: RecordResult) -> bool:
    """Whether each quote of a record stands in its event, code point for code point."""
    found = client.evidence(record.id, owner=OWNER)
    texts = {event.id: event.text for event in found.events}
    return bool(found.spans) and all(
        texts[span.event][span.start : span.end] == span.quote for span in found.spans
    )


def _way(fate: FateResult, record: RecordResult) -> str:
    """The stages that an event has come through, and what it has become."""
    way = [f"收到 seq {fate.event.seq}", str(fate.fate)]
    if fate.passage is not None:
        way.append(f"包 {fate.passage.package.id}")
        done = sorted((at, stage) for stage, at in fate.passage.committed.items())
        way += [stage for _, stage in done]
    way += [f"{record.kind} {record.id}", f"取代 {', '.join(record.supersedes or ())}"]
    return " → ".join(way)
