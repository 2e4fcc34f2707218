"""What a pass of the filter keeps together: an instant's events, and calls with their results.

Pure (mission G3; spec: protocol, Conventions in `data`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.rules.filtering import Classification
from storage.records.events import Event, Role
from storage.records.packing import FiledEvent

INSTANT_EVENTS = 200
"""How large a package may grow for events of one instant (spec: protocol, Conventions)."""

_ACTING = frozenset({Role.EXECUTOR, Role.OBSERVATION, Role.VERIFICATION})
_NEVER_CALLS = frozenset({Role.USER, Role.EXTERNAL})


@dataclass(frozen=True, slots=True)
class Member:
    """An event on its way into a package, with the tokens of input that it takes."""

    event: Event
    verdict: Classification
    tokens: int
    unanswered: bool = False


@dataclass(slots=True)
class Group:
    """Events of one lane that share an instant, with the calls and results that belong to them.

    `repeats` are those that only repeat one of the group: they are counted, not kept.
    """

    lane: str
    units: list[list[Member]] = field(default_factory=list)
    instants: set[int] = field(default_factory=set)
    signatures: set[str] = field(default_factory=set)
    repeats: list[list[Member]] = field(default_factory=list)

    def shares(self, unit: Sequence[Member]) -> bool:
        """Whether one of these happened at the moment of one of the group's."""
        return any(member.event.at in self.instants for member in unit)

    def repeats_one(self, unit: Sequence[Member]) -> bool:
        """Whether the last of these says what one of the group's says."""
        return unit[-1].verdict.signature in self.signatures

    def add(self, unit: list[Member]) -> None:
        """Take events in."""
        self.units.append(unit)
        self.instants.update(member.event.at for member in unit)
        self.signatures.update(
            member.verdict.signature for member in unit if member.verdict.signature is not None
        )

    @property
    def members(self) -> list[Member]:
        """All that it would put into a package, in the order they came."""
        return [member for unit in self.units for member in unit]

    def holds(self, event: Event) -> bool:
        """Whether an event is among its own or among those that repeat them."""
        units = (*self.units, *self.repeats)
        return any(member.event.seq == event.seq for unit in units for member in unit)


def is_call(event: Event) -> bool:
    """Whether an event is a call, which waits for its result; the kind alone is a caller's word."""
    return event.kind == "executor.call" and event.role not in _NEVER_CALLS


def may_answer(event: Event) -> bool:
    """Whether an event can be the result of a call: only who acts can answer for it."""
    return event.role in _ACTING and not is_call(event)


def whole(events: Sequence[Event], size: int) -> int:
    """How many of these a pass of at least `size` takes, so that it parts no instant of a lane.

    Args:
        events: In sequence; what stands behind `size` is looked ahead.
        size: How many it takes in any case.
    """
    taken = min(size, len(events))
    instants = {(event.lane, event.at) for event in events[:taken]}
    for place in range(taken, len(events)):
        if (events[place].lane, events[place].at) in instants:
            instants.update((event.lane, event.at) for event in events[taken : place + 1])
            taken = place + 1
    return taken


class Filed:
    """Calls and results that have been dealt with, for those that come behind or late.

    Args:
        earlier: What earlier passes have filed of them.
    """

    def __init__(self, earlier: Iterable[FiledEvent]) -> None:
        self._calls: dict[str, FiledEvent] = {}
        self._asked: dict[str, FiledEvent] = {}
        self._answers: dict[str, FiledEvent] = {}
        self._free: dict[str, FiledEvent] = {}
        ordered = sorted(earlier, key=lambda filed: filed.event.seq)
        for filed in ordered:
            if is_call(filed.event):
                self.note_call(filed)
        for filed in ordered:
            if not is_call(filed.event) and self.call_of(filed.event) is None:
                self.note_result(filed)

    def note_call(self, filed: FiledEvent) -> None:
        """Remember a call that waits no longer."""
        self._calls[filed.event.id] = filed
        if filed.event.request_id is not None:
            self._asked[filed.event.request_id] = filed
            self._free.pop(filed.event.request_id, None)

    def note_result(self, filed: FiledEvent) -> None:
        """Remember a result whose call has not been seen."""
        for cause in filed.event.causes:
            self._answers[cause] = filed
        # What was merely seen meanwhile shares its request with what was done.
        if filed.event.request_id is not None and filed.event.kind == "executor.receipt":
            self._free[filed.event.request_id] = filed

    def call_of(self, result: Event) -> FiledEvent | None:
        """The call, dealt with before, that this is a result of."""
        named = (self._calls[cause] for cause in result.causes if cause in self._calls)
        return next(named, None) or self._asked.get(result.request_id or "")

    def result_of(self, call: Event) -> FiledEvent | None:
        """The result that came before this call; one that happened before it is another's."""
        named = self._answers.get(call.id)
        if named is not None:
            return named
        shared = self._free.get(call.request_id or "")
        return shared if shared is not None and shared.event.at >= call.at else None


def split_at(events: Sequence[Event]) -> int | None:
    """Where a package may be cut in two: near its middle, and never through what belongs together.

    Args:
        events: A package's, in sequence.

    Returns:
        How many events the first half takes; None when all of them belong together.
    """
    middle = len(events) / 2
    safe = [place for place in range(1, len(events)) if not _belongs(events, place)]
    return min(safe, key=lambda place: abs(place - middle), default=None)


def _belongs(events: Sequence[Event], place: int) -> bool:
    """Whether a cut before `place` parts events of one instant, or one from what it names."""
    before, after = events[:place], events[place:]
    if before[-1].at == after[0].at:
        return True
    ids = {event.id for event in before}
    requests = {event.request_id for event in before if event.request_id is not None}
    return any(event.request_id in requests or not ids.isdisjoint(event.causes) for event in after)
