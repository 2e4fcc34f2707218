"""Which package an event goes into, and when a package closes.

Pure: the stage hands in what is open and what waits, and writes down the plan that comes out
(mission C1, C2, G3; spec: design, Ledger and packages; protocol, Conventions in `data`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.rules.filtering import Classification, classify
from storage.records.events import Event, Fate, Priority, Role
from storage.records.packing import DraftEvent, DraftPackage, FateNote, WaitingCall

INSTANT_EVENTS = 200
"""How large a package may grow for events of one instant (spec: protocol, Conventions)."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """When a package closes: its age, its effective events, its tokens of input."""

    age_ms: int = 30_000
    events: int = 20
    tokens: int = 6_000


@dataclass(slots=True)
class Plan:
    """What a pass of the filter is going to write."""

    packages: list[DraftPackage] = field(default_factory=list)
    notes: list[FateNote] = field(default_factory=list)
    waiting: list[WaitingCall] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Member:
    event: Event
    verdict: Classification
    unanswered: bool = False


class Packer:
    """Takes events in sequence and builds the plan.

    Args:
        open_packages: The owner's packages that still take events.
        waiting: Calls without a result yet, with their events.
        bounds: When packages close.
        now: Epoch milliseconds.
        tokens: Estimates a text's tokens.
    """

    def __init__(
        self,
        open_packages: Iterable[DraftPackage],
        waiting: Iterable[tuple[WaitingCall, Event]],
        *,
        bounds: Bounds,
        now: int,
        tokens: Callable[[str], int],
    ) -> None:
        self._current = {package.lane: package for package in open_packages}
        self._touched: dict[int, DraftPackage] = {}
        self._waiting = {call.seq: (call, event) for call, event in waiting}
        self._bounds = bounds
        self._now = now
        self._tokens = tokens
        self._plan = Plan()

    def add(self, event: Event, verdict: Classification) -> None:
        """Put one event where it belongs."""
        if event.kind == "executor.call":
            self._wait(event)
            return
        call = self._call_of(event)
        if call is not None:
            self._answer(call, _Member(event, verdict))
        elif verdict.audit:
            self._audit(event, verdict.reason)
        else:
            self._place(event.lane, [_Member(event, verdict)])

    def release_overdue(self, before: int) -> None:
        """Let calls that have waited since before that time go alone, marked unanswered."""
        for call, event in list(self._waiting.values()):
            if call.since <= before:
                self._stop_waiting(call)
                verdict = classify(event)
                if verdict.audit:
                    self._audit(event, verdict.reason)
                    continue
                self._place(event.lane, [_Member(event, verdict, unanswered=True)])
                self._close(event.lane, "unanswered")

    def finish(self) -> Plan:
        """Close what is full or urgent, and give the plan out."""
        for lane, package in list(self._current.items()):
            if package.urgent:
                self._close(lane, "urgent")
            elif self._is_full(package):
                self._close(lane, "size")
        self._plan.packages = list(self._touched.values())
        return self._plan

    # ---- calls and their results -------------------------------------------

    def _wait(self, event: Event) -> None:
        call = WaitingCall(event.seq, event.lane, event.id, event.request_id, event.received_at)
        self._waiting[event.seq] = (call, event)
        self._plan.waiting.append(call)
        self._plan.notes.append(FateNote(event.seq, Fate.WAITING, "call_without_result"))

    def _call_of(self, event: Event) -> tuple[WaitingCall, Event] | None:
        """The waiting call that this event is the result of."""
        if event.role not in {Role.EXECUTOR, Role.OBSERVATION, Role.VERIFICATION}:
            return None
        waiting = list(self._waiting.values())
        named = (pair for pair in waiting if pair[0].event_id in event.causes)
        asked = (
            pair
            for pair in waiting
            if event.request_id is not None and pair[0].request_id == event.request_id
        )
        return next(named, None) or next(asked, None)

    def _answer(self, waiting: tuple[WaitingCall, Event], result: _Member) -> None:
        call, asked = waiting
        self._stop_waiting(call)
        if result.verdict.audit:
            self._audit(asked, result.verdict.reason)
            self._audit(result.event, result.verdict.reason)
            return
        pair = [_Member(asked, Classification(audit=False, reason="call")), result]
        self._place(call.lane, pair)

    def _stop_waiting(self, call: WaitingCall) -> None:
        del self._waiting[call.seq]
        if call in self._plan.waiting:
            self._plan.waiting.remove(call)
            self._plan.notes = [note for note in self._plan.notes if note.seq != call.seq]
        else:
            self._plan.ended.append(call.seq)

    # ---- packages ----------------------------------------------------------

    def _place(self, lane: str, unit: list[_Member]) -> None:
        """Put events that belong together into the lane's package, or count a repeat."""
        package = self._current.get(lane)
        if package is not None and self._is_repeat(package, unit):
            self._count_repeat(package, unit[-1])
            if len(unit) > 1:
                self._audit(unit[0].event, "call_of_a_repeat")
            return
        if package is not None and not self._takes(package, unit):
            self._close(lane, "urgent" if package.urgent else "size")
            package = None
        if package is None:
            package = self._open(lane, unit[0].event)
        for member in unit:
            self._append(package, member)

    def _is_repeat(self, package: DraftPackage, unit: list[_Member]) -> bool:
        return unit[-1].verdict.signature is not None and (
            unit[-1].verdict.signature in package.known
        )

    def _count_repeat(self, package: DraftPackage, member: _Member) -> None:
        event, verdict = member.event, member.verdict
        into = package.known[verdict.signature or ""]
        if verdict.repeat_audit:
            self._audit(event, "repeated_success")
            return
        self._touched[id(package)] = package
        drafted = next((draft for draft in package.added if draft.seq == into), None)
        if drafted is None:
            drafted = package.repeated.setdefault(
                into, DraftEvent(into, event.at, event.at, count=0)
            )
        drafted.count += 1
        drafted.first_at = min(drafted.first_at, event.at)
        drafted.last_at = max(drafted.last_at, event.at)
        self._plan.notes.append(FateNote(event.seq, Fate.MERGED, "repeat", package, into))

    def _takes(self, package: DraftPackage, unit: list[_Member]) -> bool:
        """Whether a package has room; events of its last instant are never parted from it."""
        events = package.events + len(unit)
        if any(member.event.at == package.last_at for member in unit):
            return events <= INSTANT_EVENTS
        if package.urgent or self._is_full(package):
            return False
        tokens = package.tokens + sum(self._weigh(member.event) for member in unit)
        return events <= self._bounds.events and tokens <= self._bounds.tokens

    def _is_full(self, package: DraftPackage) -> bool:
        return package.events >= self._bounds.events or package.tokens >= self._bounds.tokens

    def _open(self, lane: str, event: Event) -> DraftPackage:
        package = DraftPackage(
            owner=event.owner,
            lane=lane,
            object_id=event.subject_id,
            task_id=event.task_id,
            priority=Priority.LOW,
            opened_at=self._now,
            close_at=self._now + self._bounds.age_ms,
            first_seq=event.seq,
        )
        self._current[lane] = package
        return package

    def _append(self, package: DraftPackage, member: _Member) -> None:
        event, verdict = member.event, member.verdict
        self._touched[id(package)] = package
        package.added.append(
            DraftEvent(
                event.seq, event.at, event.at, signature=verdict.signature,
                unanswered=member.unanswered,
            )
        )  # fmt: skip
        if verdict.signature is not None:
            package.known[verdict.signature] = event.seq
        package.events += 1
        package.tokens += self._weigh(event)
        package.first_seq = min(package.first_seq, event.seq)
        package.last_seq = max(package.last_seq, event.seq)
        package.last_at = event.at
        package.urgent = package.urgent or verdict.urgent
        package.priority = min(package.priority, event.priority)
        if verdict.urgent:
            package.priority = min(package.priority, Priority.HIGH)
        self._plan.notes.append(FateNote(event.seq, Fate.PACKAGED, verdict.reason, package))

    def _weigh(self, event: Event) -> int:
        return self._tokens(event.text) + (self._tokens(str(event.data)) if event.data else 0)

    def _close(self, lane: str, reason: str) -> None:
        package = self._current.pop(lane)
        package.closed_by = reason
        self._touched[id(package)] = package

    def _audit(self, event: Event, reason: str) -> None:
        self._plan.notes.append(FateNote(event.seq, Fate.AUDIT, reason))


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
