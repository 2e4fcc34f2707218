"""Runs of the pipeline: packages and the ledger's view of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from storage.records.events import Event, Priority
from storage.records.knowledge import Proposal, Record, RejectionCode


class Stage(StrEnum):
    """The stages a package goes through; *filter* is a cursor before them."""

    FILTER = "filter"
    OBSERVE = "observe"
    MERGE = "merge"
    INDEX = "index"
    PUBLISH = "publish"

    @property
    def next(self) -> "Stage | None":
        """The stage after this one, or None after the last.

        >>> Stage.OBSERVE.next, Stage.PUBLISH.next
        (<Stage.MERGE: 'merge'>, None)
        """
        members = list(Stage)
        at = members.index(self) + 1
        return members[at] if at < len(members) else None


class PackageState(StrEnum):
    """A package's place in the state machine (spec: design, States)."""

    OPEN = "open"
    READY = "ready"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"


class PackageWork(StrEnum):
    """What a package is made of: events, an object to compact, or a change already settled.

    An `act` is somebody's confirmation, correction or import: it only has to be indexed and
    published.
    """

    EVENTS = "events"
    COMPACT = "compact"
    ACT = "act"


class FaultKind(StrEnum):
    """What failing again would bring: a transient fault may pass, a content fault will not."""

    TRANSIENT = "transient"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Package:
    """A bounded unit of pipeline work.

    `stage` is the next to run, `fence` the lease's token, and `closed_by` what made it ready; None
    while it is open.
    """

    id: int
    owner: str
    lane: str
    object_id: str
    stage: Stage
    state: PackageState
    attempt: int
    fence: int
    priority: Priority
    first_seq: int
    last_seq: int
    events: int
    opened_at: int
    lease_until: int | None = None
    next_attempt_at: int = 0
    task_id: str | None = None
    error: str | None = None
    nothing: str | None = None
    closed_by: str | None = None
    work: PackageWork = PackageWork.EVENTS


@dataclass(frozen=True, slots=True)
class PackagedEvent:
    """An event inside a package, with how often it was repeated and from when to when."""

    event: Event
    count: int
    first_at: int
    last_at: int
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class WorkPackage:
    """What an observer gets to see: events in sequence, and what is known of their object.

    `near` are texts of pages and tools that its speakers may have read before. No observer sees them:
    they are there to tell whose words a proposal repeats.
    """

    package: Package
    events: tuple[PackagedEvent, ...]
    known: tuple[Record, ...] = ()
    budget: int = 6000
    near: tuple[Event, ...] = ()

    @property
    def by_id(self) -> Mapping[str, Event]:
        """The package's events under their ids."""
        return {item.event.id: item.event for item in self.events}


@dataclass(frozen=True, slots=True)
class Observation:
    """What an observer made of a package: proposals, or the reason why nothing is worth keeping."""

    proposals: tuple[Proposal, ...]
    nothing_worth_keeping: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What validation said of one proposal: a record id, or a rejection with its reason."""

    index: int
    record_id: str | None = None
    code: RejectionCode | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A parked package as an operator sees it."""

    package: Package
    error: str
    parked_at: int
    event_ids: tuple[str, ...]
