"""The records under consideration while something is settled; what changes is noted.

Finds by form what would else be looked for among all: a subject may have very many records.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from pipeline.rules.forms import forms_of
from pipeline.rules.relating import LIVE, TOLD, same_statement
from pipeline.rules.wording import normalised, simplified
from storage.records.knowledge import Record, RecordStatus

ALIKE: Final = 32
"""Live statements of the same words but for polarity and value that a new one is held against."""


class Board:
    """Records by id, as they stood (`before`) and as they stand (`records`)."""

    def __init__(self, existing: Iterable[Record]) -> None:
        self.records = {record.id: record for record in existing}
        self.before = dict(self.records)
        self._found: dict[tuple[str, str, str], list[str]] = {}
        self._skeletons: dict[str, str] = {}
        for record in self.records.values():
            self._file(record)

    def put(self, record: Record) -> None:
        """Let a record stand as it is given; what it says never changes."""
        if record.id not in self.records:
            self._file(record)
        self.records[record.id] = record

    def _file(self, record: Record) -> None:
        for name, form in _names(record):
            self._found.setdefault((record.subject_id, name, form), []).append(record.id)

    def _skeleton(self, record: Record) -> str:
        if record.id not in self._skeletons:
            self._skeletons[record.id] = forms_of(record).skeleton
        return self._skeletons[record.id]

    def _filed(self, record: Record, *names: str) -> Iterator[Record]:
        """The other records of a subject that share one of these forms, each once."""
        ids: dict[str, None] = {}
        for name, form in _names(record):
            if name in names:
                ids |= dict.fromkeys(self._found.get((record.subject_id, name, form), ()))
        return (self.records[key] for key in ids if key != record.id)

    def twin(self, new: Record) -> Record | None:
        """What says the same already: what holds before what was disabled, the newest first."""
        same = [other for other in self._filed(new, "words", "key") if same_statement(new, other)]
        return min(
            same,
            key=lambda other: (other.status not in LIVE, -other.observed_at, other.id),
            default=None,
        )

    def filling(self, record: Record) -> list[Record]:
        """The other live records in its slot, the oldest first."""
        found = [other for other in self._filed(record, "key") if other.status in LIVE]
        return sorted(found, key=lambda other: (other.observed_at, other.id))

    def worded_like(self, record: Record) -> list[Record]:
        """The newest other live statements in the same words, polarity and value aside."""
        skeleton, signs = self._skeleton(record), _signs(record)
        found = [
            other
            for other in self.records.values()
            if skeleton
            and other.id != record.id
            and other.subject_id == record.subject_id
            and other.status in LIVE
            # To take each apart would cost far more than to see that most are of something else.
            and _akin(signs, _signs(other))
            and self._skeleton(other) == skeleton
        ]
        return sorted(found, key=lambda other: (-other.observed_at, other.id))[:ALIKE]

    def newest_statements(self, subject: str, limit: int) -> list[Record]:
        """The newest active records of a subject that claim something."""
        found = [
            record
            for record in self.records.values()
            if record.subject_id == subject
            and record.status is RecordStatus.ACTIVE
            and record.kind not in TOLD
        ]
        return sorted(found, key=lambda record: (-record.observed_at, record.id))[:limit]

    # ---- changing -----------------------------------------------------------

    def supersede(self, winner: str, loser: str) -> None:
        """Let one record replace another, linked; whatever the loser was in conflict with is rid of it."""
        self._release(loser)
        self.put(replace(self.records[loser], status=RecordStatus.SUPERSEDED))
        newer = self.records[winner]
        self.put(replace(newer, supersedes=_joined(newer.supersedes, loser)))

    def conflict(self, one: str, other: str) -> None:
        """Let two records stand, each naming the other."""
        for here, there in ((one, other), (other, one)):
            record = self.records[here]
            self.put(replace(record, conflicts_with=_joined(record.conflicts_with, there)))

    def reconcile(self, one: str, other: str) -> None:
        """End a conflict between two records that both stand."""
        for here, there in ((one, other), (other, one)):
            if here in self.records:
                record = self.records[here]
                self.put(replace(record, conflicts_with=_without(record.conflicts_with, there)))

    def _release(self, record_id: str) -> None:
        for other in self.records[record_id].conflicts_with:
            self.reconcile(record_id, other)


def _names(record: Record) -> Iterator[tuple[str, str]]:
    yield "words", normalised(record.content)
    if record.key is not None:
        yield "key", record.key


def _signs(record: Record) -> frozenset[str]:
    return frozenset(simplified(record.content).casefold())


def _akin(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two texts share half of the signs of the one with fewer."""
    return 2 * len(first & second) >= min(len(first), len(second))


def _joined(ids: tuple[str, ...], new: str) -> tuple[str, ...]:
    return ids if new in ids else (*ids, new)


def _without(ids: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(known for known in ids if known != gone)
