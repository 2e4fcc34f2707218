"""*filter*: a cursor over each owner's events, into audit or into packages (mission C1).

Not a stage of the ledger but what comes before it: its progress is one cursor an owner, moved in
the same transaction as what it read was written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.errors import LostRaceError
from pipeline.rules import filtering, indexing
from pipeline.rules.drafting import Bounds, Plan
from pipeline.rules.grouping import INSTANT_EVENTS, is_call, may_answer, whole
from pipeline.rules.packaging import Packer
from pipeline.text.budget import estimate_tokens
from pipeline.text.tokenise import Tokenizer
from storage.clock import Clock
from storage.records.events import Event, Fate, ObjectRef, Role
from storage.records.packing import DraftPackage, FiledEvent
from storage.records.recall import IndexEntry
from storage.repositories import events, index, intake, objects, tombstones


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over an owner's events, ready to be written."""

    owner: str
    forgotten: int
    seen: int
    upto: int
    plan: Plan
    opened: Sequence[DraftPackage]
    events: Sequence[Event]
    entries: Sequence[IndexEntry]


class Filter:
    """Takes an owner's next events and finds each its place.

    Args:
        tokenizer: Makes the index entries of what isn't audit.
        clock: When packages open and calls have waited long enough.
        bounds: When packages close.
        batch: How many events a pass takes, and what is left then of an instant.
        call_wait_ms: How long a call waits for its result.
    """

    def __init__(
        self, tokenizer: Tokenizer, clock: Clock, bounds: Bounds, *, batch: int, call_wait_ms: int
    ) -> None:
        self._tokenizer = tokenizer
        self._clock = clock
        self._bounds = bounds
        self._batch = batch
        self._call_wait_ms = call_wait_ms

    def overdue_owners(self, now: int) -> list[str]:
        """Owners with a call that has waited for its result long enough."""
        return intake.overdue_calls(now - self._call_wait_ms)

    def compute(self, owner: str) -> Pass | None:
        """Work out the next pass; None when there is nothing to do."""
        forgotten = tombstones.count(owner)
        seen, received = intake.filtered(owner), intake.received(owner)
        found = self._next(owner, seen)
        now = self._clock.now_ms()
        overdue = owner in self.overdue_owners(now)
        if not found and not overdue and received <= seen:
            return None
        opened = intake.open_packages(owner)
        calls = intake.waiting_calls(
            owner,
            answered={cause for event in found for cause in event.causes},
            requests={event.request_id for event in found if event.request_id is not None},
            overdue=now - self._call_wait_ms,
        )
        asked = {event.seq: event for event in events.by_seqs(owner, [c.seq for c in calls])}
        packer = Packer(
            opened,
            [(call, asked[call.seq]) for call in calls if call.seq in asked],
            filed=_filed(owner, seen, found, waiting=asked.values()),
            bounds=self._bounds,
            now=now,
            tokens=estimate_tokens,
        )
        for event in found:
            packer.add(event, filtering.classify(event))
        packer.release_overdue(now - self._call_wait_ms)
        plan = packer.finish()
        upto = found[-1].seq if found else seen
        if len(found) < self._batch:
            # The last ones received may have been forgotten, and none of them is to come.
            upto = max(upto, received)
        return Pass(
            owner, forgotten, seen, upto, plan, opened, found, self._entries(owner, found, plan)
        )

    def _next(self, owner: str, seen: int) -> list[Event]:
        """The next events: as many as a pass takes, and the rest of the instants that they begin."""
        found = events.after(owner, seen, self._batch)
        if len(found) < self._batch:
            return found
        moments = {event.at for event in found}
        ahead = events.moments_after(owner, found[-1].seq, INSTANT_EVENTS)
        more = max((place for place, at in enumerate(ahead, 1) if at in moments), default=0)
        if more:
            found += events.after(owner, found[-1].seq, more)
        return found[: whole(found, self._batch)]

    def apply(self, work: Pass) -> None:
        """Write a pass; runs inside a transaction.

        Raises:
            LostRaceError: Another worker has passed here, or closed one of the packages, or
                something was forgotten.
        """
        if tombstones.count(work.owner) != work.forgotten:
            # It may hold what must not be written any more.
            raise LostRaceError
        moved = intake.move_cursor(work.owner, seen=work.seen, to=work.upto)
        # A pass that only releases calls leaves the cursor where it is: the calls tell who was first.
        ended = intake.end_waiting(work.plan.ended)
        if not moved or ended != len(work.plan.ended) or not intake.still_open(work.opened):
            raise LostRaceError
        intake.await_results(work.owner, work.plan.waiting)
        intake.write_packages(work.plan.packages)
        intake.write_fates(work.owner, work.plan.notes)
        self._write_objects(work)
        index.append(work.entries, tokenizer=self._tokenizer.version)

    def _write_objects(self, work: Pass) -> None:
        now = self._clock.now_ms()
        own = _named(event for event in work.events if event.role is not Role.EXTERNAL)
        for ref in own.values():
            self._rename(work, ref, now)
        pages = _named(event for event in work.events if event.role is Role.EXTERNAL)
        named = pages | {
            ref.id: ref if ref.title or ref.kind else pages.get(ref.id, ref) for ref in own.values()
        }
        objects.ensure(work.owner, list(named.values()), now)
        intake.write_objects(
            work.owner,
            [
                (ref.id, event.seq, place)
                for event in work.events
                for place, ref in enumerate(event.objects)
            ],
        )

    def _rename(self, work: Pass, ref: ObjectRef, now: int) -> None:
        """Let a title and kind take the place of those that a page has given, and of no others."""
        known = objects.find(work.owner, ref.id) if ref.title or ref.kind else None
        if known is None:
            return
        wanted = replace(known, title=ref.title or known.title, kind=ref.kind or known.kind)
        if wanted == known:
            return
        naming = events.by_seqs(work.owner, intake.naming(work.owner, ref.id, self._batch))
        before = [event for event in naming if event.seq <= work.seen]
        theirs = _named(event for event in before if event.role is Role.EXTERNAL).get(ref.id)
        ours = _named(event for event in before if event.role is not Role.EXTERNAL).get(ref.id)
        told = ours is not None and (ours.title or ours.kind)
        if theirs is None or told or known.title != (theirs.title or ref.id):
            return
        objects.put(wanted, expected_revision=known.revision, now=now)

    def _entries(self, owner: str, found: Sequence[Event], plan: Plan) -> list[IndexEntry]:
        fates = {note.seq: note.fate for note in plan.notes}
        turns = indexing.Turns(self._stored_turns)
        indexer = indexing.EventIndexer(self._tokenizer)
        entries = [_gone(owner, seq) for seq in _audited_late(found, plan)]
        for event in found:
            before = turns.before(event)
            match fates.get(event.seq):
                case Fate.MERGED:
                    entries.append(indexer.repeat(event))
                case Fate.PACKAGED | Fate.WAITING:
                    entries.append(indexer.entry(event, before))
                case Fate.AUDIT | Fate.FORGOTTEN | None:
                    pass
        return entries

    def _stored_turns(self, event: Event) -> Sequence[Event]:
        """The turns before an event in its stream, from the store."""
        if event.stream is None:
            return ()
        return events.before_in_stream(event.owner, event.stream, event.seq, indexing.NEIGHBOURS)


def _named(found: Iterable[Event]) -> dict[str, ObjectRef]:
    """The objects that events name, each with the first title and the first kind it is given."""
    refs: dict[str, ObjectRef] = {}
    for event in found:
        for ref in event.objects:
            first = refs.setdefault(ref.id, ref)
            refs[ref.id] = replace(
                first, title=first.title or ref.title, kind=first.kind or ref.kind
            )
    return refs


def _filed(
    owner: str, seen: int, found: Sequence[Event], *, waiting: Iterable[Event]
) -> list[FiledEvent]:
    """What earlier passes have done with calls and results that these events may belong to."""
    known = {event.id for event in waiting}
    calls = [event for event in found if is_call(event)]
    results = [event for event in found if may_answer(event)]
    causes = {cause for event in results for cause in event.causes} - known
    causes -= {event.id for event in calls}
    requests = {event.request_id for event in (*calls, *results) if event.request_id is not None}
    named = {event.id for event in calls}
    near = events.acts_before(owner, seen, named=named, requests=requests) if found else []
    asked = [event for event in events.by_ids(owner, causes) if is_call(event)]
    earlier = {event.seq: event for event in (*near, *asked) if event.id not in known}
    homes = intake.homes_of(list(earlier))
    return [
        FiledEvent(earlier[seq], *home)
        for seq, home in homes.items()
        if home[0] is not Fate.WAITING
    ]


def _audited_late(found: Sequence[Event], plan: Plan) -> list[int]:
    """Calls that were indexed while they waited, and turned out to be audit with their result."""
    new = {event.seq for event in found}
    return [n.seq for n in plan.notes if n.fate is Fate.AUDIT and n.seq not in new]


def _gone(owner: str, seq: int) -> IndexEntry:
    return IndexEntry(0, owner, indexing.event_document(seq), 0, gone=True)
