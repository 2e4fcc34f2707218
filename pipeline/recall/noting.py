"""Noting: what a reader must know of a record beside its words, before it takes them for the truth."""

from collections.abc import Sequence
from dataclasses import replace

from pipeline.recall.resolving import is_past
from pipeline.recall.source import RecallSource
from pipeline.rules.reviewing import needs_check, overdue
from storage.records.recall import Hit


def noted(source: RecallSource, owner: str, hits: Sequence[Hit], now_ms: int) -> list[Hit]:
    """The hits, their records with what disputes them, and whether they are to be checked first.

    Both sides of a conflict are told, whichever was found (mission C5, D5).
    """
    disputed = {name for hit in hits if hit.record for name in hit.record.conflicts_with}
    read = source.records(owner, disputed) if disputed else ()
    rivals = {r.id: r for r in read if r.owner_scope == owner and not is_past(r, now_ms)}
    return [
        hit
        if hit.record is None
        else replace(
            hit,
            rivals=tuple(rivals[name] for name in hit.record.conflicts_with if name in rivals),
            recheck=needs_check(hit.record, now_ms),
            overdue=overdue(hit.record, now_ms),
        )
        for hit in hits
    ]
