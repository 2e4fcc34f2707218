"""What became of an event: everything that the service has made of it, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from storage.records.events import Event, Fate
from storage.records.knowledge import JournalEntry, Proposal, Record
from storage.records.runs import Package, Stage, Verdict


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often an event was said, from when to when."""

    count: int
    first_at: int
    last_at: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A package's way: which stages are committed, each with when; `parked_at` of a dead letter."""

    package: Package
    committed: Mapping[Stage, int]
    parked_at: int | None = None


@dataclass(frozen=True, slots=True)
class Quoting:
    """A proposal that quotes the event, with its verdict.

    `became` is the record that stands for it: its own, or one that said so already.
    """

    package_id: int
    proposal: Proposal
    verdict: Verdict
    became: str | None = None


@dataclass(frozen=True, slots=True)
class Resting:
    """A record that rests on the event, and the records that have taken its place."""

    record: Record
    superseded_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventFate:
    """What became of an event.

    `fate` is None while the filter has not come to it. `counted` is the event that its words count
    for, which of a repeat is the first: what follows tells of that one. `unattributed` counts, by
    code, rejected proposals of its package that quote nothing.
    """

    event: Event
    counted: Event
    fate: Fate | None = None
    reason: str | None = None
    repeats: Repeats | None = None
    passage: Passage | None = None
    proposals: tuple[Quoting, ...] = ()
    unattributed: Mapping[str, int] = field(default_factory=dict)
    records: tuple[Resting, ...] = ()
    requests: tuple[JournalEntry, ...] = ()
