"""Where memory stands with what documents are about: looked at before they are weighed, and after."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.transfer.opening import Opened
from pipeline.transfer.reading import ReadObject, ReadRecord
from storage.repositories import objects, transfer


class Tombstones(Protocol):
    """What was forgotten: none of it comes back by an import (mission D8)."""

    def forgotten_records(self, owner: str, ids: Collection[str]) -> Collection[str]:
        """Those of these records that were forgotten."""
        ...

    def forgotten_events(self, owner: str, ids: Collection[str]) -> Collection[str]:
        """Those of these events that were forgotten."""
        ...


@dataclass(frozen=True, slots=True)
class About:
    """The ids of what documents speak of.

    `described` are the objects that have a document, `objects` those and the subjects of records,
    and `events` what records quote.
    """

    records: frozenset[str]
    described: frozenset[str]
    objects: frozenset[str]
    events: frozenset[str]


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands with them: versions of what is known, and which of them were forgotten."""

    records: Mapping[str, tuple[int, int]]
    objects: Mapping[str, int]
    forgotten: frozenset[str]
    erased: frozenset[str]


def about(found: Sequence[Opened]) -> About:
    """What documents speak of."""
    read = [item.record for item in found if isinstance(item, ReadRecord)]
    described = frozenset(item.object.id for item in found if isinstance(item, ReadObject))
    return About(
        frozenset(record.id for record in read),
        described,
        described | {record.subject_id for record in read},
        frozenset(span.event_id for record in read for span in record.evidence),
    )


def look(owner: str, ids: About, tombstones: Tombstones) -> Standing:
    """How it stands with them now."""
    return Standing(
        records=transfer.versions(owner, ids.records),
        objects={object_id: objects.revision(owner, object_id) for object_id in ids.objects},
        forgotten=frozenset(tombstones.forgotten_records(owner, ids.records)),
        erased=frozenset(tombstones.forgotten_events(owner, ids.events)),
    )
