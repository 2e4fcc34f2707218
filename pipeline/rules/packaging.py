"""Which package an event goes into, and when a package closes.

Pure: the stage hands in what is open and what waits, and writes down the plan that comes out
(mission C1, C2, G3; spec: design, Ledger and packages; protocol, Conventions in `data`).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from pipeline.rules.drafting import Bounds, Drafts, Plan
from pipeline.rules.filtering import Classification, classify
from pipeline.rules.grouping import INSTANT_EVENTS, Filed, Group, Member, is_call, may_answer
from storage.records.events import Event, Fate
from storage.records.packing import DraftPackage, FateNote, FiledEvent, WaitingCall

_CALL = Classification(audit=False, reason="call")
_LATE_CALL = Classification(audit=False, reason="late_call")


class Packer:
    """Takes events in sequence and builds the plan.

    Args:
        open_packages: The owner's packages that still take events.
        waiting: Calls without a result yet, with their events.
        filed: Calls and results of earlier passes that this one's may belong to.
        bounds: When packages close.
        now: Epoch milliseconds.
        tokens: Estimates a text's tokens.
    """

    def __init__(
        self,
        open_packages: Iterable[DraftPackage],
        waiting: Iterable[tuple[WaitingCall, Event]],
        *,
        filed: Iterable[FiledEvent] = (),
        bounds: Bounds,
        now: int,
        tokens: Callable[[str], int],
    ) -> None:
        self._drafts = Drafts(open_packages, bounds, now, tokens)
        self._groups: dict[str, Group] = {}
        self._waiting = {call.seq: (call, event) for call, event in waiting}
        self._filed = Filed(filed)
        self._plan = Plan()

    def add(self, event: Event, verdict: Classification) -> None:
        """Put one event where it belongs."""
        if is_call(event):
            self._add_call(event)
            return
        call = self._call_of(event)
        if call is not None:
            self._answer(call, self._drafts.member(event, verdict))
        elif verdict.audit:
            self._drafts.audit(event, verdict.reason)
            self._note_result(event)
        else:
            self._add_result(event, verdict)

    def release_overdue(self, before: int) -> None:
        """Let calls that have waited since before that time go alone, marked unanswered."""
        for call, event in list(self._waiting.values()):
            if call.since <= before:
                self._stop_waiting(call)
                verdict = classify(event)
                if verdict.audit:
                    self._drafts.audit(event, verdict.reason)
                    continue
                self._flush(event.lane)
                self._gather(event.lane, [self._drafts.member(event, verdict, unanswered=True)])
                self._flush(event.lane)
                self._drafts.close(event.lane, "unanswered")

    def finish(self) -> Plan:
        """Close what is full or urgent, and give the plan out."""
        for lane in list(self._groups):
            self._flush(lane)
        for lane, package in list(self._drafts.current.items()):
            if package.urgent:
                self._drafts.close(lane, "urgent")
            elif self._drafts.is_full(package):
                self._drafts.close(lane, "size")
        self._plan.packages = self._drafts.touched
        self._plan.notes = list(self._drafts.notes.values())
        return self._plan

    # ---- calls and their results -------------------------------------------

    def _add_call(self, event: Event) -> None:
        """Let a call wait, unless its result has come before it."""
        result = self._filed.result_of(event)
        if result is not None:
            self._add_late_call(event, result)
            return
        call = WaitingCall(event.seq, event.lane, event.id, event.request_id, event.received_at)
        self._waiting[event.seq] = (call, event)
        self._plan.waiting.append(call)
        self._drafts.note(FateNote(event.seq, Fate.WAITING, "call_without_result"))

    def _add_late_call(self, event: Event, result: FiledEvent) -> None:
        """Put a call where its result has gone, or into its lane when that is closed."""
        for lane in [lane for lane, group in self._groups.items() if group.holds(result.event)]:
            self._flush(lane)
        note = self._drafts.notes.get(result.event.seq)
        fate, reason = (note.fate, note.reason) if note else (result.fate, result.reason)
        package = note.package if note else self._drafts.held(result.package_id or 0)
        if fate is Fate.AUDIT:
            self._drafts.audit(event, reason)
        elif fate is Fate.MERGED:
            self._drafts.audit(event, "call_of_a_repeat")
        elif package is not None and self._still_takes(package, event):
            self._drafts.append(package, self._drafts.member(event, _CALL))
        else:
            self._gather(event.lane, [self._drafts.member(event, _LATE_CALL)])
        self._note_call(event)

    def _still_takes(self, package: DraftPackage, event: Event) -> bool:
        member = self._drafts.member(event, _CALL)
        return package.closed_by is None and self._drafts.fits(package, [member])

    def _call_of(self, event: Event) -> tuple[WaitingCall, Event] | None:
        """The waiting call that this event is the result of."""
        if not may_answer(event):
            return None
        waiting = list(self._waiting.values())
        named = (pair for pair in waiting if pair[0].event_id in event.causes)
        asked = (
            pair
            for pair in waiting
            if event.request_id is not None and pair[0].request_id == event.request_id
        )
        return next(named, None) or next(asked, None)

    def _answer(self, waiting: tuple[WaitingCall, Event], result: Member) -> None:
        call, asked = waiting
        self._stop_waiting(call)
        if result.verdict.audit:
            self._drafts.audit(asked, result.verdict.reason)
            self._drafts.audit(result.event, result.verdict.reason)
        else:
            self._gather(call.lane, [self._drafts.member(asked, _CALL), result])
        self._note_call(asked)

    def _add_result(self, event: Event, verdict: Classification) -> None:
        """What answers no waiting call: beside the call that it names, where it names nothing else."""
        lane = event.lane
        call = self._filed.call_of(event) if may_answer(event) else None
        if call is not None:
            if call.unanswered:
                verdict = replace(verdict, reason="late_result")
            if event.task_id is None and not event.objects:
                lane = call.event.lane
        self._gather(lane, [self._drafts.member(event, verdict)])
        if call is None:
            self._note_result(event)

    def _note_call(self, event: Event) -> None:
        self._filed.note_call(FiledEvent(event, Fate.PACKAGED, "call"))

    def _note_result(self, event: Event) -> None:
        if may_answer(event):
            self._filed.note_result(FiledEvent(event, Fate.PACKAGED, "result"))

    def _stop_waiting(self, call: WaitingCall) -> None:
        del self._waiting[call.seq]
        if call in self._plan.waiting:
            self._plan.waiting.remove(call)
            del self._drafts.notes[call.seq]
        else:
            self._plan.ended.append(call.seq)

    # ---- groups ------------------------------------------------------------

    def _gather(self, lane: str, unit: list[Member]) -> None:
        """Put events that belong together into the group of their instant, or count a repeat."""
        group = self._groups.get(lane)
        if group is not None and group.repeats_one(unit):
            group.repeats.append(unit)
            return
        package = self._drafts.current.get(lane)
        if package is not None and unit[-1].verdict.signature in package.known:
            self._drafts.count_repeat(package, unit)
            return
        if group is not None and not group.shares(unit):
            self._flush(lane)
            group = None
        if group is None:
            group = self._groups[lane] = Group(lane)
        group.add(unit)

    def _flush(self, lane: str) -> None:
        """Place the lane's group, whole where a package can take it whole."""
        group = self._groups.pop(lane, None)
        if group is None:
            return
        package = self._drafts.current.get(lane)
        if package is not None and not self._takes(package, group):
            self._drafts.close(lane, "urgent" if package.urgent else "size")
            package = None
        for unit in group.units:
            if package is not None and not self._drafts.fits(package, unit, INSTANT_EVENTS):
                self._drafts.close(lane, "size")
                package = None
            if package is None:
                package = self._drafts.open(lane, unit[0].event)
            for member in unit:
                self._drafts.append(package, member)
        for unit in group.repeats:
            self._repeat(lane, unit)

    def _takes(self, package: DraftPackage, group: Group) -> bool:
        """Whether a package has room for all of a group.

        It may grow over its bound of events for an instant that it holds already, not over its tokens.
        """
        if not package.instants.isdisjoint(group.instants):
            return self._drafts.fits(package, group.members, INSTANT_EVENTS)
        closing = package.urgent or self._drafts.is_full(package)
        return not closing and self._drafts.fits(package, group.members)

    def _repeat(self, lane: str, unit: list[Member]) -> None:
        """Count what repeats one of a group that has been placed, unless a split has taken that away."""
        package = self._drafts.current[lane]
        if unit[-1].verdict.signature in package.known:
            self._drafts.count_repeat(package, unit)
            return
        self._gather(lane, unit)
        self._flush(lane)
