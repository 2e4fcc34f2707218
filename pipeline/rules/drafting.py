"""The packages that a pass of the filter writes on, and its notes of what became of each event.

Pure (mission C1, C2; spec: design, Ledger and packages).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.rules.filtering import Classification
from pipeline.rules.grouping import Member
from storage.records.events import Event, Fate, Priority
from storage.records.packing import DraftEvent, DraftPackage, FateNote, WaitingCall


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


class Drafts:
    """Open packages by lane, those that this pass has touched, and its notes.

    Args:
        open_packages: The owner's packages that still take events.
        bounds: When packages close.
        now: Epoch milliseconds.
        tokens: Estimates a text's tokens.
    """

    def __init__(
        self,
        open_packages: Iterable[DraftPackage],
        bounds: Bounds,
        now: int,
        tokens: Callable[[str], int],
    ) -> None:
        self.current = {package.lane: package for package in open_packages}
        self.notes: dict[int, FateNote] = {}
        self._touched: dict[int, DraftPackage] = {}
        self._bounds = bounds
        self._now = now
        self._tokens = tokens

    @property
    def touched(self) -> list[DraftPackage]:
        """The packages that have to be written."""
        return list(self._touched.values())

    def held(self, package_id: int) -> DraftPackage | None:
        """The open package of that id."""
        return next((one for one in self.current.values() if one.id == package_id), None)

    def is_full(self, package: DraftPackage) -> bool:
        """Whether a package takes nothing more but what belongs to its instants."""
        return package.events >= self._bounds.events or package.tokens >= self._bounds.tokens

    def member(self, event: Event, verdict: Classification, *, unanswered: bool = False) -> Member:
        """An event with what it weighs: its text, and its data."""
        tokens = self._tokens(event.text) + (self._tokens(str(event.data)) if event.data else 0)
        return Member(event, verdict, tokens, unanswered)

    def fits(
        self, package: DraftPackage, members: Sequence[Member], most: int | None = None
    ) -> bool:
        """Whether a package has room for these, `most` events in all instead of the usual bound."""
        count = package.events + len(members)
        tokens = package.tokens + sum(member.tokens for member in members)
        return count <= (most or self._bounds.events) and tokens <= self._bounds.tokens

    def open(self, lane: str, event: Event) -> DraftPackage:
        """A new package of a lane, for this event and what comes behind it."""
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
        self.current[lane] = package
        return package

    def append(self, package: DraftPackage, member: Member) -> None:
        """Put an event into a package."""
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
        package.tokens += member.tokens
        package.first_seq = min(package.first_seq, event.seq)
        package.last_seq = max(package.last_seq, event.seq)
        package.last_at = event.at
        package.instants.add(event.at)
        package.urgent = package.urgent or verdict.urgent
        package.priority = min(package.priority, event.priority)
        if verdict.urgent:
            package.priority = min(package.priority, Priority.HIGH)
        self.note(FateNote(event.seq, Fate.PACKAGED, verdict.reason, package))

    def count_repeat(self, package: DraftPackage, unit: Sequence[Member]) -> None:
        """Count what repeats one of a package's events; its call adds nothing."""
        event, verdict = unit[-1].event, unit[-1].verdict
        if len(unit) > 1:
            self.audit(unit[0].event, "call_of_a_repeat")
        if verdict.repeat_audit:
            self.audit(event, "repeated_success")
            return
        into = package.known[verdict.signature or ""]
        self._touched[id(package)] = package
        drafted = next((draft for draft in package.added if draft.seq == into), None)
        if drafted is None:
            drafted = package.repeated.setdefault(
                into, DraftEvent(into, event.at, event.at, count=0)
            )
        drafted.count += 1
        drafted.first_at = min(drafted.first_at, event.at)
        drafted.last_at = max(drafted.last_at, event.at)
        self.note(FateNote(event.seq, Fate.MERGED, "repeat", package, into))

    def close(self, lane: str, reason: str) -> None:
        """Let a lane's package take nothing more."""
        package = self.current.pop(lane)
        package.closed_by = reason
        self._touched[id(package)] = package

    def audit(self, event: Event, reason: str) -> None:
        """Keep an event without organising it."""
        self.note(FateNote(event.seq, Fate.AUDIT, reason))

    def note(self, note: FateNote) -> None:
        """Note what became of an event."""
        self.notes[note.seq] = note
