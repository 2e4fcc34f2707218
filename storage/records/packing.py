"""Packages while the filter fills them: the only values of this room that change."""

from dataclasses import dataclass, field

from storage.records.events import Event, Fate, Priority


@dataclass(slots=True)
class DraftEvent:
    """An event on its way into a package. `signature` finds its repeats."""

    seq: int
    first_at: int
    last_at: int
    count: int = 1
    signature: str | None = None
    unanswered: bool = False


@dataclass(slots=True)
class DraftPackage:
    """A package while the filter fills it. `id` is None until it is written.

    `added` are the events of this pass, `repeated` the older ones whose count grew; `known` maps
    the signatures of all its events to their sequence numbers. `instants` are the moments of its
    events, as far as they are known: of those that earlier passes put in, the last one's.
    """

    owner: str
    lane: str
    object_id: str
    task_id: str | None
    priority: Priority
    opened_at: int
    close_at: int
    id: int | None = None
    events: int = 0
    tokens: int = 0
    first_seq: int = 0
    last_seq: int = 0
    last_at: int = 0
    closed_by: str | None = None
    known: dict[str, int] = field(default_factory=dict)
    instants: set[int] = field(default_factory=set)
    urgent: bool = False
    added: list[DraftEvent] = field(default_factory=list)
    repeated: dict[int, DraftEvent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A call whose result has not been received. `since` is when the call was."""

    seq: int
    lane: str
    event_id: str
    request_id: str | None
    since: int


@dataclass(frozen=True, slots=True)
class FiledEvent:
    """An event that has been dealt with: a call, or a result, that another may belong to.

    `package_id` is set for one that went into a package, `unanswered` for a call that was given up.
    """

    event: Event
    fate: Fate
    reason: str
    package_id: int | None = None
    unanswered: bool = False


@dataclass(slots=True)
class FateNote:
    """What became of one event. `package` is set for events that went into one."""

    seq: int
    fate: Fate
    reason: str
    package: DraftPackage | None = None
    into_seq: int | None = None
