"""Snapshots: bounded views of records, the same for the same records (mission C7).

Pure: records in, sections out. What doesn't fit the budget is left out whole, least important
first, and counted, so that a reader knows that there is more.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any, Final

import orjson

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
    records: Sequence[Record], *, limit: int, tokens: Callable[[str], int]
) -> Sections:
    """The sections of one object's snapshot.

    Args:
        records: The object's active records.
        limit: Tokens that the snapshot may take.
        tokens: Estimates a text's tokens.
    """
    return _sections(_OBJECT_SECTIONS, records, limit=limit, tokens=tokens)


def core_sections(
    records: Iterable[Record], *, limit: int, tokens: Callable[[str], int]
) -> Sections:
    """The sections of the owner's core: profile, rules that bind everywhere, open commitments."""
    resident = [record for record in records if _is_core(record)]
    return _sections(_CORE_SECTIONS, resident, limit=limit, tokens=tokens)


def _is_core(record: Record) -> bool:
    if record.kind is RecordKind.FACT:
        return record.fact_class is FactClass.PROFILE
    if record.kind is RecordKind.COMMITMENT:
        return True
    everywhere = not record.scope.objects and record.scope.task is None
    return everywhere and record.subject_id.startswith("@") and not record.scope.once


def _sections(
    layout: Sequence[tuple[str, frozenset[RecordKind]]],
    records: Sequence[Record],
    *,
    limit: int,
    tokens: Callable[[str], int],
) -> Sections:
    left = limit
    made: list[dict[str, Any]] = []
    for name, kinds in layout:
        wanted = sorted(
            (record for record in records if record.kind in kinds),
            key=lambda record: (-int(record.authority), -record.observed_at, record.id),
        )
        items: list[dict[str, Any]] = []
        for record in wanted:
            cost = tokens(record.content)
            if cost <= left:
                left -= cost
                items.append(_item(record))
        if wanted:
            made.append({"name": name, "items": items, "left_out": len(wanted) - len(items)})
    return tuple(made)


def _item(record: Record) -> dict[str, Any]:
    item: dict[str, Any] = {
        "record_id": record.id,
        "kind": record.kind.value,
        "content": record.content,
        "authority": record.authority.name.lower(),
        "observed_at": record.observed_at,
    }
    for name in ("valid_to", "review_at", "key"):
        value = getattr(record, name)
        if value is not None:
            item[name] = value
    if record.conflicts_with:
        item["conflicts_with"] = list(record.conflicts_with)
    if record.scope.once:
        item["once"] = True
    return item


def make(
    owner: str, object_id: str, sections: Sections, *, now: int, tokens: Callable[[str], int]
) -> Snapshot:
    """A snapshot of these sections, hashed by content; its version is given when published."""
    body = orjson.dumps(sections, option=orjson.OPT_SORT_KEYS)
    used = sum(tokens(item["content"]) for section in sections for item in section["items"])
    digest = blake2b(body, digest_size=16).hexdigest()
    return Snapshot(owner, object_id, 0, now, digest, sections, used)
