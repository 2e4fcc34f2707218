"""A plain model of the rules of memory, written from the specification and not from the code.

It holds what a reader of the specification expects of events, proposals and records: lists and
loops, no database, no index. `test_memory_machine` holds the real service against it.
Source: mission C4, C5, D3, D5, D7, D8, F3; protocol, Observation, Who wins, Forgetting.
"""

# ruff: noqa: FBT003 - a record of the model is a row

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
_BORDER: Final = 8 * HOUR - (3 * HOUR + HOUR // 2)  # Beijing is UTC+8, a workday starts at 03:30

LIVE: Final = ("candidate", "active")


class Rank(IntEnum):
    """Whose word counts how much (Who wins); a page's word counts nothing."""

    EXTERNAL = 0
    INFERENCE = 1
    OBSERVATION = 2
    VERIFICATION = 3
    USER = 4


RANKS: Final = {
    "user": Rank.USER,
    "supervisor": Rank.INFERENCE,
    "executor": Rank.OBSERVATION,
    "observation": Rank.OBSERVATION,
    "verification": Rank.VERIFICATION,
    "external": Rank.EXTERNAL,
}


@dataclass(frozen=True)
class Saying:
    """A sentence that somebody may say, and the proposal that an honest worker makes of it.

    `words` hold the same in Chinese and in English. `lasts` and `begins` bound its validity, from
    when it is said. Without `kind` there is nothing in it to be kept; with `story` an episode is
    proposed beside it, in the same words. `unique` content holds the event's mark.
    """

    role: str
    words: tuple[str, str]
    subject: str = "@owner"
    kind: str | None = None
    key: str | None = None
    value: str | None = None
    denies: bool = False
    fact_class: str | None = None
    once: bool = False
    unique: bool = False
    begins: int | None = None
    lasts: int | None = None
    story: bool = False


@dataclass
class Event:
    """An accepted event. `mark` is a word that stands in no other event's text.

    It is `forgotten` as a whole, or `blank` once a forgotten record has taken all its words along.
    """

    id: str
    at: int
    saying: Saying
    content: str
    text: str
    mark: str
    seq: int = 0
    request_id: str | None = None
    recalled: tuple[str, ...] = ()
    observed: bool = False
    forgotten: bool = False
    blank: bool = False

    @property
    def wordless(self) -> bool:
        """Whether none of its words may be found any more."""
        return self.forgotten or self.blank

    @property
    def source(self) -> str:
        """What makes it the same source as another event."""
        return self.request_id or self.id


@dataclass
class Record:
    """A record as the rules have it. `beaten_by` are those that may have superseded it."""

    id: str
    subject: str
    kind: str
    content: str
    key: str | None
    value: str | None
    denies: bool
    fact_class: str | None
    once: bool
    status: str
    rank: Rank
    said_at: float
    evidence: set[str]
    valid_from: int | None = None
    valid_to: int | None = None
    conflicts: set[str] = field(default_factory=set)
    beaten_by: set[str] = field(default_factory=set)

    @property
    def live(self) -> bool:
        """Whether it can still win or lose."""
        return self.status in LIVE

    def says_the_same(self, other: "Record") -> bool:
        """The same words, or the same value of the same slot and not its denial."""
        if self.content == other.content:
            return True
        valued = self.key is not None and self.value is not None
        slot = (self.key, self.value, self.denies) == (other.key, other.value, other.denies)
        return valued and slot

    def overlaps(self, other: "Record") -> bool:
        """Whether both are valid at some moment."""
        return _before(self.valid_from, other.valid_to) and _before(other.valid_from, self.valid_to)


def _before(start: int | None, end: int | None) -> bool:
    return start is None or end is None or start < end


def proposals_of(event: Event) -> Iterator[tuple[dict[str, Any], Record]]:
    """What an honest worker makes of an event, and the record that each would become."""
    said = event.saying
    if said.kind is None:
        return
    value = said.value and said.value.format(mark=event.mark)
    begins = None if said.begins is None else event.at + said.begins
    ends = None if said.lasts is None else event.at + said.lasts
    waits = said.fact_class == "environment"
    proposal = {
        "kind": said.kind,
        "content": event.content,
        "evidence": [{"event": event.id, "quote": event.text}],
        "subject": said.subject,
        "key": said.key,
        "value": value,
        "class": said.fact_class,
        "scope": {"once": True} if said.once else None,
        "valid_from": begins,
        "valid_to": ends,
    }
    yield (
        {name: given for name, given in proposal.items() if given is not None},
        Record(
            "", said.subject, said.kind, event.content, said.key, value, said.denies,
            said.fact_class, said.once, "candidate" if waits else "active", RANKS[said.role],
            event.at, {event.id}, begins, ends,
        ),
    )  # fmt: skip
    if said.story:
        yield (
            {"kind": "episode", "content": event.text, "evidence": proposal["evidence"]},
            Record(
                "", said.subject, "episode", event.text, None, None, False, None, False,
                "active", RANKS[said.role], event.at, {event.id},
            ),
        )  # fmt: skip


def workday(at: float) -> int:
    """The number of a moment's workday (F2)."""
    return int((at + _BORDER) // DAY)


class Memory:
    """What the service is expected to hold."""

    def __init__(self) -> None:
        self.events: dict[str, Event] = {}
        self.records: dict[str, Record] = {}
        self.pending: dict[int, list[Record]] = {}

    # ---- proposals -----------------------------------------------------------

    def verdict(self, new: Record, event: Event) -> set[str | None]:
        """The codes that an honest proposal may be rejected with, None where it is accepted."""
        role = event.saying.role
        stable = new.kind in {"rule", "preference"} or new.fact_class == "project"
        if stable and role != "user":
            return {"untrusted_source"}
        if role == "supervisor" and new.kind == "fact":
            return {"untrusted_source"}
        seen = [self.records[name] for name in event.recalled if name in self.records]
        if role != "user" and any(known.content == new.content for known in seen):
            return {"echo"}
        allowed: set[str | None] = {None}
        if role != "user" and any(known.says_the_same(new) for known in seen):
            # In other words it may be taken for a statement, which bears nothing out on its own.
            allowed.add("echo")
        if any(self._is_late(new, known) for known in self.records.values()):
            # It is kept out, or kept as superseded (C4).
            allowed.add("overrides_newer")
        return allowed

    def _is_late(self, new: Record, known: Record) -> bool:
        slot = new.key is not None and (new.subject, new.key) == (known.subject, known.key)
        newer = known.said_at > new.said_at and known.rank >= new.rank
        return slot and newer and new.once == known.once and known.status == "active"

    # ---- settling ------------------------------------------------------------

    def settle(self, ahead: Container[int]) -> None:
        """Weigh what was accepted of all packages but those that have it still ahead of them."""
        for number in [number for number in self.pending if number not in ahead]:
            for record in sorted(self.pending.pop(number), key=lambda one: (one.said_at, one.id)):
                self._take(record)

    def _take(self, new: Record) -> None:
        twin = next((one for one in self.records.values() if self._repeats(new, one)), None)
        if twin is None:
            self.records[new.id] = new
            self._promote(new)
            self.weigh(new)
            return
        independent = any(self._bears_out(twin, name) for name in new.evidence)
        twin.evidence |= new.evidence
        if not twin.live or not (new.rank is Rank.USER or independent):
            return
        if new.said_at > twin.said_at:
            twin.valid_to = new.valid_to
        twin.said_at = max(twin.said_at, new.said_at)
        twin.rank = max(twin.rank, new.rank)
        twin.valid_from = _earlier(twin.valid_from, new.valid_from)
        self._promote(twin)
        self.weigh(twin)

    def _repeats(self, new: Record, known: Record) -> bool:
        if not (known.live or known.status == "archived"):
            return False
        same = (new.subject, new.kind, new.fact_class, new.once) == (
            known.subject, known.kind, known.fact_class, known.once,
        )  # fmt: skip
        paged = (new.rank is Rank.EXTERNAL) == (known.rank is Rank.EXTERNAL)
        return same and paged and new.overlaps(known) and new.says_the_same(known)

    def _bears_out(self, record: Record, event_id: str) -> bool:
        """Another source, that had not the record in view and is no page (A4, B5, C5)."""
        event = self.events[event_id]
        sources = {self.events[name].source for name in record.evidence}
        mute = event.saying.role in {"external", "supervisor"} or record.id in event.recalled
        return event.source not in sources and not mute

    def _promote(self, record: Record) -> None:
        """Two different workdays, independently, and not a page (F3)."""
        waits = record.status == "candidate" and record.rank > Rank.EXTERNAL
        if waits and len(self._days(record)) > 1:
            record.status = "active"

    def _days(self, record: Record) -> set[int]:
        first: dict[str, int] = {}
        for name in record.evidence:
            event = self.events[name]
            if record.id not in event.recalled and not event.forgotten:
                first[event.source] = min(event.at, first.get(event.source, event.at))
        return {workday(at) for at in first.values()}

    def weigh(self, record: Record) -> None:
        """Hold a record against everything that fills its slot otherwise (Who wins)."""
        rivals = [one for one in self.records.values() if self._rival(record, one)]
        for other in rivals:
            if _beats(record, other):
                self._supersede(record, other)
        winners = {other.id for other in rivals if other.live and _beats(other, record)}
        if winners:
            self._end(record, "superseded")
            record.beaten_by |= winners
            return
        for other in rivals:
            if other.live:
                record.conflicts.add(other.id)
                other.conflicts.add(record.id)

    def _rival(self, one: Record, other: Record) -> bool:
        if one.id == other.id or not other.live or one.once or other.once:
            return False
        if Rank.EXTERNAL in {one.rank, other.rank}:
            return False
        slot = one.key is not None and (one.subject, one.key) == (other.subject, other.key)
        return slot and one.overlaps(other) and not one.says_the_same(other)

    def _supersede(self, winner: Record, loser: Record) -> None:
        self._end(loser, "superseded")
        loser.beaten_by = {winner.id}

    def _end(self, record: Record, status: str) -> None:
        record.status = status
        for name in record.conflicts:
            self.records[name].conflicts.discard(record.id)
        record.conflicts = set()

    # ---- time ----------------------------------------------------------------

    def age(self, now: int, organized: int) -> None:
        """End what is past its validity, and what nobody has borne out for three days (D7, F3)."""
        seen = [event.at for event in self.events.values() if event.seq <= organized]
        newest = max(seen, default=0)
        for record in self.records.values():
            if not record.live or record.kind == "commitment":
                continue
            if record.valid_to is not None and record.valid_to <= now:
                self._end(record, "expired")
            elif record.status == "candidate" and newest - record.said_at >= 3 * DAY:
                self._end(record, "archived")

    # ---- the user's word -----------------------------------------------------

    def refuses_to_confirm(self, record: Record, now: int) -> str | None:
        """The code that a confirmation in clear words is refused with."""
        over = record.valid_to is not None and record.valid_to <= now
        twins = [one for one in self.records.values() if one.live and one is not record]
        told = any(self._repeats(record, one) for one in twins)
        gone = record.status in {"superseded", "expired"}
        return "stale" if gone or over or told else None

    def confirm(self, record: Record, event: Event) -> None:
        """The user lets a record hold."""
        record.evidence.add(event.id)
        record.status = "active"
        record.rank = Rank.USER
        record.said_at = event.at + 0.5
        self.weigh(record)

    def refuses_to_correct(self, new: Record, old: Record) -> str | None:
        """The code that a correction in clear words is refused with."""
        if old.status in {"superseded", "archived"}:
            return "stale"
        if new.content == old.content:
            return "bad_request"
        others = [one for one in self.records.values() if one is not old]
        return "stale" if any(self._repeats(new, one) for one in others) else None

    def corrected(self, old: Record, event: Event) -> Record:
        """The record that takes another's place: same slot, the user's words."""
        ended = old.valid_to is not None and old.valid_to <= event.at
        return Record(
            "", old.subject, old.kind, event.content, old.key, None, event.saying.denies,
            old.fact_class, old.once, "active", Rank.USER, event.at + 0.5, {event.id},
            valid_from=old.valid_from, valid_to=None if ended else old.valid_to,
        )  # fmt: skip

    def correct(self, old: Record, new: Record) -> None:
        """The user sets a record right."""
        self.records[new.id] = new
        if old.live:
            self._supersede(new, old)
        else:
            old.beaten_by.add(new.id)
        self.weigh(new)

    # ---- forgetting ----------------------------------------------------------

    def forget_events(self, ids: Iterable[str]) -> None:
        """Events go whole; records stay on what is left of their sources (D8)."""
        for name in ids:
            self.events[name].forgotten = True
        for package in self.pending.values():
            package[:] = [one for one in package if not self._is_gone(one)]
        for record in list(self.records.values()):
            lost = {name for name in record.evidence if self.events[name].forgotten}
            if lost:
                self._lose(record, lost)

    def _is_gone(self, record: Record) -> bool:
        return any(self.events[name].forgotten for name in record.evidence)

    def _lose(self, record: Record, lost: set[str]) -> None:
        left = record.evidence - lost
        if not left or record.kind == "episode":
            self._remove(record)
            return
        record.evidence = left
        record.rank = max(RANKS[self.events[name].saying.role] for name in left)
        record.said_at = max(self.events[name].at for name in left)
        waits = record.fact_class == "environment" and record.rank < Rank.USER
        if waits and record.status == "active" and len(self._days(record)) < 2:
            record.status = "candidate"

    def forget_record(self, record: Record) -> None:
        """A record goes, with its words where no other record rests on them (Forgetting)."""
        self._remove(record)
        held = {name for one in self.records.values() for name in one.evidence}
        for name in record.evidence - held:
            self.events[name].blank = True

    def _remove(self, record: Record) -> None:
        del self.records[record.id]
        for other in self.records.values():
            other.conflicts.discard(record.id)
            other.beaten_by.discard(record.id)

    # ---- what readers should see ---------------------------------------------

    def active(self, subject: str) -> Iterator[Record]:
        """The records of a subject that hold."""
        return (r for r in self.records.values() if r.subject == subject and r.status == "active")

    def shown(self) -> dict[str, dict[str, Any]]:
        """Every record as `memory.record.list` should give it, as far as it is modelled."""
        return {
            record.id: {
                "subject_id": record.subject,
                "kind": record.kind,
                "content": record.content,
                "key": record.key,
                "status": record.status,
                "evidence": sorted(record.evidence),
                "conflicts_with": sorted(record.conflicts),
            }
            for record in self.records.values()
        }


def _beats(one: Record, other: Record) -> bool:
    """A later statement of at least the same authority; what waits unseats nothing that holds."""
    waits = one.status == "candidate" and other.status == "active"
    return one.said_at > other.said_at and one.rank >= other.rank and not waits


def _earlier(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else min(one, other)
