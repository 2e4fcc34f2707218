"""What stands: the records that new ones have to be weighed against, read by what they are found by.

Never all of a subject's: there may be very many of them, and settling must not slow down with them.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pipeline.rules.board import ALIKE
from pipeline.rules.forms import forms_of
from pipeline.rules.settling import CORRECTABLE
from storage.records.finding import Wanted
from storage.records.knowledge import Record, RecordKind
from storage.repositories import records
from storage.repositories.comparing import comparable

_ROUNDS: Final = 2
"""How far conflicts are followed: whoever yields to a new word is let go by what it disputed."""

_NOTHING: Final[Mapping[str, Record]] = MappingProxyType({})


def standing(
    owner: str, new: Sequence[Record], *, changed: Mapping[str, Record] = _NOTHING
) -> list[Record]:
    """All that settling needs to see beside `new`.

    Args:
        owner: Whose.
        new: Records that are about to be settled.
        changed: Records of these subjects that stand otherwise than they are stored.
    """
    wanted = _wanted(new)
    found = _over(comparable(owner, wanted, more=len(changed)), changed)
    for _ in range(_ROUNDS):
        disputed = {name for record in found.values() for name in record.conflicts_with}
        missing = disputed - found.keys()
        if not missing:
            break
        found |= _over(records.by_ids(owner, missing), changed)
    return list(found.values())


def _over(stored: Sequence[Record], changed: Mapping[str, Record]) -> dict[str, Record]:
    return {record.id: record for record in stored} | dict(changed)


def _wanted(new: Sequence[Record]) -> Wanted:
    forms = [forms_of(record) for record in new]
    ids: dict[str, None] = {}
    for record in new:
        ids |= dict.fromkeys((record.id, *record.supersedes, *record.conflicts_with))
    by_words = any(record.kind is RecordKind.CORRECTION and record.key is None for record in new)
    slots = [(record.key, record.scope) for record in new if record.key is not None]
    return Wanted(
        subjects=tuple(dict.fromkeys(record.subject_id for record in new)),
        ids=tuple(ids),
        normals=tuple(dict.fromkeys(form.normal for form in forms)),
        slots=tuple(dict.fromkeys(slots)),
        skeletons=tuple(dict.fromkeys(form.skeleton for form in forms if form.skeleton)),
        alike=ALIKE,
        statements=CORRECTABLE if by_words else 0,
    )
