"""What a record that comes in rests on: whose words they are here, and what they may back.

Pure. Source: mission B5, F3.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final

from pipeline.rules.borrowing import DATA_ROLES
from pipeline.rules.trusting import AUTHORITY, BINDING_KINDS
from storage.records.events import Role
from storage.records.knowledge import Authority, FactClass, Record, RecordKind, Span

_STABLE: Final = frozenset({FactClass.PROFILE, FactClass.PROJECT})


def needs_user(record: Record) -> bool:
    """Whether a record can only rest on what the user said."""
    stable = record.kind is RecordKind.FACT and record.fact_class in _STABLE
    return record.kind in BINDING_KINDS or stable


def trusts(record: Record, *, here: Collection[Role], told: Collection[Role | None]) -> bool:
    """Whether a new record may rest on its evidence, and have its authority.

    Args:
        record: As its document tells it.
        here: Who said those parts of its evidence that stand in events of this memory.
        told: Who said the others, as its document tells; None where that says nothing.
    """
    roles = {*here, *told}
    if roles == {Role.EXTERNAL} and record.authority is not Authority.EXTERNAL:
        return False
    if here and not told and record.authority > max(AUTHORITY[role] for role in here):
        return False
    promised = record.kind is RecordKind.COMMITMENT
    if not promised and not needs_user(record):
        return True
    owners = {Role.USER, Role.SUPERVISOR} if promised else {Role.USER}
    if Role.EXTERNAL in roles:
        return False
    if owners & {*here}:
        return True
    # Nobody who may say it is known to have: then the unknown parts of its evidence have to.
    return not DATA_ROLES & {*here} and bool({*owners, None} & {*told})


def located(record: Record, found: Callable[[Span], int | None]) -> Record:
    """The record with each span under the number that its event has here, where it stands there.

    A span whose event is not here keeps a negative number: its quote is kept, but nothing of this
    database is taken for its source.
    """
    spans = [
        span if (seq := found(span)) is None else replace(span, seq=seq) for span in record.evidence
    ]
    return replace(record, evidence=tuple(dict.fromkeys(spans)))
