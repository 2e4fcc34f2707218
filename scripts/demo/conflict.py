"""A conflict: two records that can't both hold. Neither is dropped, and answers tell of both."""

from collections.abc import Sequence

from rich.console import Console

from scripts.demo.asking import asked
from scripts.demo.log import tell
from scripts.demo.shown import head, show_hit, verdicts
from scripts.demo.story import OWNER, Part, scene
from socket_gateway.client import MemoryClient
from socket_gateway.protocol import HitResult, RecordResult


def play(client: MemoryClient, console: Console) -> bool:
    """Have two contradicting rules told, and ask; whether both are kept and both are shown."""
    part = scene("conflict")
    head(console, "Conflict: neither says that it corrects the other, so neither is dropped")
    tell(client, part["events"])
    found, words = asked(client, part, console)
    for hit in found.hits:
        if hit.conflicts:
            show_hit("•", hit, words, console)
    kept = _kept(client, part)
    held = {
        "both are kept as active, each names the other in conflicts_with": _name_each_other(kept),
        "the answer holds both, each beside what contradicts it": _are_shown(kept, found.hits),
    }
    return verdicts(console, held)


def _kept(client: MemoryClient, part: Part) -> list[RecordResult]:
    """The records that have become of what was told and contradict something."""
    fates = [client.fate(event["id"], OWNER) for event in part["events"]]
    ids = {record.id for fate in fates for record in fate.records if record.conflicts_with}
    return [client.record(record_id, OWNER) for record_id in sorted(ids)]


def _name_each_other(kept: Sequence[RecordResult]) -> bool:
    if len(kept) != 2:  # noqa: PLR2004 (a pair)
        return False
    one, other = kept
    named = one.conflicts_with == [other.id] and other.conflicts_with == [one.id]
    return named and one.status == other.status == "active"


def _are_shown(kept: Sequence[RecordResult], hits: Sequence[HitResult]) -> bool:
    told = {
        hit.record.id: [rival.record_id for rival in hit.conflicts or ()]
        for hit in hits
        if hit.record is not None
    }
    return all(told.get(record.id) == record.conflicts_with for record in kept)
