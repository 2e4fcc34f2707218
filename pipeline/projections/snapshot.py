"""Snapshots: bounded views of records, the same for the same records (mission C7).

Pure: records in, sections out. What doesn't fit the budget is left out whole, least important
first, and counted, so that a reader knows that there is more.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

import orjson

from pipeline.text.neutralise import shown
from storage.records.knowledge import FactClass, Record, RecordKind, Snapshot

Sections = tuple[dict[str, Any], ...]

_OBJECT_SECTIONS: Final[tuple[tuple[str, frozenset[RecordKind]], ...]] = (
    ("binding", frozenset({RecordKind.RULE, RecordKind.CORRECTION})),
    ("commitments", frozenset({RecordKind.COMMITMENT})),
    ("preferences", frozenset({RecordKind.PREFERENCE})),
    ("facts", frozenset({RecordKind.FACT})),
    ("procedures", frozenset({RecordKind.PROCEDURE})),
    ("episodes", frozenset({RecordKind.EPISODE})),
)
"""Sections in the order of their claim to the budget. Cues are no facts and never shown (D1)."""

_CORE_SECTIONS: Final[tuple[tuple[str, frozenset[RecordKind]], ...]] = (
    ("binding", frozenset({RecordKind.RULE, RecordKind.CORRECTION})),
    ("profile", frozenset({RecordKind.FACT, RecordKind.PREFERENCE})),
    ("commitments", frozenset({RecordKind.COMMITMENT})),
)


def object_sections(
    records: Sequence[Record],
    *,
    rivals: Iterable[Record] = (),
    limit: int,
    tokens: Callable[[str], int],
) -> Sections:
    """The sections of one object's snapshot.

    Args:
        records: The object's active records.
        rivals: Live records that these are in conflict with: both sides are shown.
        limit: Tokens that the snapshot may take.
        tokens: Estimates a text's tokens.
    """
    page = _Page(records, rivals, limit, tokens)
    return page.sections(_OBJECT_SECTIONS, records)


def core_sections(
    records: Iterable[Record],
    *,
    rivals: Iterable[Record] = (),
    limit: int,
    tokens: Callable[[str], int],
) -> Sections:
    """The sections of the owner's core: profile, rules that bind everywhere, open commitments."""
    resident = [record for record in records if _is_core(record)]
    page = _Page(resident, rivals, limit, tokens)
    return page.sections(_CORE_SECTIONS, resident)


def marked(snapshot: Snapshot, now_ms: int) -> Snapshot:
    """A published snapshot as it may be read at a time: `recheck` where a review time has come.

    Environment state past its review must not be told as what is so now (mission D5). Told when it
    is read, since a snapshot is the same for the same records, whenever it is made. A commitment
    whose day has passed is `overdue` instead.
    """
    sections = tuple(
        {**section, "items": [_marked(item, now_ms) for item in section["items"]]}  # type: ignore[attr-defined]  # as `_Page` makes them
        for section in snapshot.sections
    )
    return replace(snapshot, sections=sections)


def _marked(item: dict[str, Any], now_ms: int) -> dict[str, Any]:
    owed = item.get("kind") == RecordKind.COMMITMENT
    at = item.get("review_at", item.get("valid_to") if owed else None)
    if at is None or at > now_ms:
        return item
    return item | {"overdue" if owed else "recheck": True}


def _is_core(record: Record) -> bool:
    if record.kind is RecordKind.FACT:
        return record.fact_class is FactClass.PROFILE
    if record.kind is RecordKind.COMMITMENT:
        return True
    everywhere = not record.scope.objects and record.scope.task is None
    return everywhere and record.subject_id.startswith("@") and not record.scope.once


class _Page:
    """Fills sections until the budget is spent."""

    def __init__(
        self,
        records: Iterable[Record],
        rivals: Iterable[Record],
        limit: int,
        tokens: Callable[[str], int],
    ) -> None:
        told = list(records)
        self._known = {record.id: record for record in (*rivals, *told)}
        self._rolled = {name for record in told for name in record.links}
        self._left = limit
        self._tokens = tokens

    def sections(
        self, layout: Sequence[tuple[str, frozenset[RecordKind]]], records: Sequence[Record]
    ) -> Sections:
        made: list[dict[str, Any]] = []
        for name, kinds in layout:
            wanted = sorted((r for r in records if r.kind in kinds), key=_claim)
            # Stories that a longer one tells are left to it.
            own = [
                r for r in wanted if r.kind is not RecordKind.EPISODE or r.id not in self._rolled
            ]
            items = [item for record in own if (item := self._fitted(record)) is not None]
            if wanted:
                made.append({"name": name, "items": items, "left_out": len(wanted) - len(items)})
        return tuple(made)

    def _fitted(self, record: Record) -> dict[str, Any] | None:
        item = _item(record, [self._known[r] for r in record.conflicts_with if r in self._known])
        cost = _cost(item, self._tokens)
        if cost > self._left:
            return None
        self._left -= cost
        return item


def _claim(record: Record) -> tuple[bool, int, int, int, str]:
    """What goes first: of promises the one that is due first, else the stronger, then the newer."""
    undated = record.kind is RecordKind.COMMITMENT and record.due_at is None
    weight = (-int(record.authority), -record.observed_at, record.id)
    return (undated, record.due_at or 0, *weight)


def _cost(item: dict[str, Any], tokens: Callable[[str], int]) -> int:
    disputed: int = sum(tokens(rival["content"]) for rival in item.get("conflicts", ()))
    return tokens(item["content"]) + disputed


def _item(record: Record, rivals: Sequence[Record]) -> dict[str, Any]:
    item: dict[str, Any] = {
        "record_id": record.id,
        "kind": record.kind.value,
        # Snapshots are read by models: no record may look like a turn or a heading of theirs.
        "content": shown(record.content),
        "authority": record.authority.name.lower(),
        "observed_at": record.observed_at,
    }
    for name in ("valid_to", "review_at", "key"):
        value = getattr(record, name)
        if value is not None:
            item[name] = value
    if record.conflicts_with:
        item["conflicts_with"] = list(record.conflicts_with)
    if rivals:
        item["conflicts"] = [
            {
                "record_id": rival.id,
                "content": shown(rival.content),
                "status": rival.status.value,
                "authority": rival.authority.name.lower(),
                "observed_at": rival.observed_at,
            }
            for rival in rivals
        ]
    if record.scope.once:
        item["once"] = True
    return item


def make(
    owner: str, object_id: str, sections: Sections, *, now: int, tokens: Callable[[str], int]
) -> Snapshot:
    """A snapshot of these sections, hashed by content; its version is given when published."""
    body = orjson.dumps(sections, option=orjson.OPT_SORT_KEYS)
    used = sum(_cost(item, tokens) for section in sections for item in section["items"])
    digest = blake2b(body, digest_size=16).hexdigest()
    return Snapshot(owner, object_id, 0, now, digest, sections, used)
