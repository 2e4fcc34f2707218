"""What a part of a forgetting comes to: everything that goes, and what changes because of it.

Read twice: first outside of any transaction, so that what to look for afterwards can be written
down, then again inside, where it is carried out. Only rows are read; nothing is changed here.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pipeline.forgetting.borrowing import Borrowing, LostWords
from pipeline.forgetting.covering import Covered, cover, quotes, strings
from pipeline.forgetting.losing import apart_from, lost_places
from pipeline.rules import forgetting
from pipeline.rules.forgetting import Place, Why
from storage.records.events import Event
from storage.records.forgetting import ForgettingPart, Targets
from storage.records.knowledge import Record
from storage.repositories import events, forgettable, proposals, records
from storage.repositories.forgettable import StoredProposal


@dataclass(frozen=True, slots=True)
class Stripped:
    """A proposal that stays, without its mention of records that go."""

    stored: StoredProposal
    supersedes: tuple[str, ...]
    record: Record | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a part of a forgetting takes away and changes.

    Attributes:
        owner: Whose.
        events: Events that go whole.
        covered: Events that lose words.
        records: Records that go, as they stand, by why.
        changed: Records that stay, in their new versions.
        stale: Versions, by record and revision, of records that stay which told of what goes.
        proposals: Proposals that go.
        blanked: Rejected proposals of packages that lose something: what they said goes.
        titles: Objects with titles that no event gives them any more.
        stripped: Proposals that stay, with less.
        packages: Packages that held any of the events, or made any of the records.
        mentioning: Packages whose stages may have noted any of the records.
        counted: Events whose repeats have gone, to be counted anew.
        holders: Records that keep words of selected ones from being overwritten.
        subjects: Objects whose records change.
        texts: Everything that goes, in words, apart from what is known to stay.
        asked: The same without the names of speakers: what recalls are told by.
    """

    owner: str
    events: tuple[Event, ...] = ()
    covered: tuple[Covered, ...] = ()
    records: tuple[tuple[Record, Why], ...] = ()
    changed: tuple[Record, ...] = ()
    stale: tuple[tuple[str, int], ...] = ()
    proposals: tuple[StoredProposal, ...] = ()
    blanked: tuple[StoredProposal, ...] = ()
    titles: frozenset[tuple[str, str]] = frozenset()
    stripped: tuple[Stripped, ...] = ()
    packages: tuple[int, ...] = ()
    mentioning: tuple[int, ...] = ()
    counted: tuple[int, ...] = ()
    holders: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    texts: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The ids of what goes, or loses words."""
        events = (*self.events, *(item.event for item in self.covered))
        return frozenset((*(e.id for e in events), *(record.id for record, _ in self.records)))


def make(owner: str, part: ForgettingPart, targets: Targets) -> Plan:
    """Work out what a part comes to.

    Args:
        owner: Whose.
        part: What is taken away now.
        targets: The whole forgetting: what a later part takes is no source to rest on any more.
    """
    return _Making(owner, part, targets).plan()


class _Making:
    def __init__(self, owner: str, part: ForgettingPart, targets: Targets) -> None:
        self._owner = owner
        self._selected = frozenset((*targets.records, *part.records))
        seqs = {*part.seqs, *forgettable.repeats_of(part.seqs)}
        touched = {name for names in records.resting_on(owner, seqs).values() for name in names}
        taken = {*part.records, *(touched & self._selected)}
        self._gone: dict[str, Why] = {
            record.id: Why.SELECTED for record in records.by_ids(owner, taken)
        }
        quoted = forgettable.versions(owner, self._gone).values()
        self._places, whole = lost_places(
            [version for versions in quoted for version in versions], seqs | set(targets.seqs)
        )
        self._events = events.by_seqs(owner, seqs | whole)
        self._here = frozenset(event.seq for event in self._events)
        self._going = self._here | frozenset(targets.seqs)
        self._changed: dict[str, Record] = {}
        self._judge()

    # ---- records -------------------------------------------------------------

    def _judge(self) -> None:
        """Which records go, and which stay on other sources."""
        quoting = records.resting_on(self._owner, self._here).values()
        touched = {name for names in quoting for name in names}
        touched |= self._seen.records() - self._selected
        for record in records.by_ids(self._owner, touched - self._gone.keys()):
            kept = None if record.id in self._selected else self._on_other_sources(record)
            if kept is None:
                self._gone[record.id] = Why.SELECTED if record.id in self._selected else Why.SOURCE
            else:
                self._changed[record.id] = kept
        self._take_roll_ups()
        about = {record.subject_id for record in (*self._records, *self._changed.values())}
        named = forgettable.naming(self._owner, about, self._gone)
        for record in records.by_ids(self._owner, set(named) - self._gone.keys()):
            self._changed.setdefault(record.id, record)
        for record_id, record in self._changed.items():
            self._changed[record_id] = forgetting.released(record, self._gone)

    @cached_property
    def _seen(self) -> Borrowing:
        lost = LostWords(self._events, self._places, self._going)
        return Borrowing(self._owner, lost, self._event_packages)

    def _on_other_sources(self, record: Record) -> Record | None:
        left = {span.seq for span in record.evidence} - self._going
        standing = {event.id: event for event in events.by_seqs(self._owner, left)}
        told = [
            said
            for number in forgettable.packages_of(left)
            for said in proposals.accepted(number)
            if number not in self._event_packages or not self._seen.borrows(said)
        ]
        return forgetting.on_other_sources(record, standing, told)

    def _take_roll_ups(self) -> None:
        fresh: Collection[str] = list(self._gone)
        while fresh:
            ups = set(forgettable.roll_ups_of(self._owner, fresh)) - self._gone.keys()
            self._gone |= dict.fromkeys(ups, Why.ROLL_UP)
            for name in ups:
                self._changed.pop(name, None)
            fresh = ups

    @cached_property
    def _records(self) -> list[Record]:
        return records.by_ids(self._owner, self._gone)

    @cached_property
    def _versions(self) -> dict[str, list[Record]]:
        """Every version of what goes, of what changes, and of what may once have told of it."""
        near = {*forgettable.settled_by(self._event_packages), *self._acts.records}
        gone = forgettable.versions(self._owner, self._gone)
        for version in (version for versions in gone.values() for version in versions):
            near.update(version.supersedes, version.conflicts_with, version.links)
        others = (self._changed.keys() | near) - gone.keys()
        return gone | forgettable.versions(self._owner, others)

    # ---- events --------------------------------------------------------------

    @cached_property
    def _resting(self) -> dict[int, list[tuple[str, Place]]]:
        """What other records rest on in these events."""
        found: dict[int, list[tuple[str, Place]]] = {}
        for name, seq, start, end in forgettable.spans_on(self._owner, self._places):
            if name not in self._gone:
                found.setdefault(seq, []).append((name, (start, end)))
        return found

    @cached_property
    def _covered(self) -> list[Covered]:
        made = []
        for event in events.by_seqs(self._owner, self._places):
            kept = [place for _, place in self._resting.get(event.seq, ())]
            made.append(cover(event, forgetting.uncovered(self._places[event.seq], kept)))
        return [item for item in made if item is not None]

    @cached_property
    def _acts(self) -> forgettable.Acts:
        losing = (*self._events, *events.by_seqs(self._owner, self._places))
        return forgettable.acts_naming(self._owner, {event.id for event in losing})

    @cached_property
    def _event_packages(self) -> list[int]:
        return forgettable.packages_of(self._here | self._places.keys())

    def _holders(self) -> Iterator[str]:
        for seq, resting in self._resting.items():
            yield from (name for name, at in resting if forgetting.overlap(at, self._places[seq]))

    # ---- proposals ------------------------------------------------------------

    @cached_property
    def _packages(self) -> list[int]:
        made = {
            version.package_id
            for name in (*self._gone, *self._changed)
            for version in self._versions.get(name, ())
        }
        acts = self._acts.packages
        return sorted(
            {*self._event_packages, *acts, *(number for number in made if number is not None)}
        )

    def _mentioning(self) -> list[int]:
        """Packages of all that records which go, and those that they had to do with, rest on."""
        versions = [version for found in self._versions.values() for version in found]
        seqs = {span.seq for version in versions for span in version.evidence}
        made = {version.package_id for version in versions if version.package_id is not None}
        return sorted({*forgettable.packages_of(seqs), *made, *self._packages})

    @cached_property
    def _proposals(self) -> list[StoredProposal]:
        ids = {event.id for event in self._events}
        gone = [version for name in self._gone for version in self._versions.get(name, ())]
        said = frozenset().union(*map(forgetting.statements_of, gone))
        return [
            stored
            for stored in forgettable.proposals_of(self._packages)
            if stored.record_id in self._gone
            or any(quote.event_id in ids for quote in stored.proposal.evidence)
            or any(quotes(stored.proposal, item) for item in self._covered)
            or not said.isdisjoint(forgetting.statements_of(stored.proposal))
            or (
                stored.record is not None
                and stored.package_id in self._event_packages
                and self._seen.borrows(stored.record)
            )
        ]

    @cached_property
    def _blanked(self) -> list[StoredProposal]:
        going = {(stored.package_id, stored.place) for stored in self._proposals}
        return [
            stored
            for stored in forgettable.proposals_of(self._event_packages)
            if stored.record is None and (stored.package_id, stored.place) not in going
        ]

    def _stripped(self) -> Iterator[Stripped]:
        """Proposals that are not settled yet and would replace what goes."""
        going = {(stored.package_id, stored.place) for stored in self._proposals}
        waiting = {*self._packages, *forgettable.unsettled(self._owner)}
        for stored in forgettable.proposals_of(waiting):
            named = {
                *stored.proposal.supersedes,
                *(stored.record.supersedes if stored.record else ()),
            }
            if (stored.package_id, stored.place) in going or named.isdisjoint(self._gone):
                continue
            kept = tuple(name for name in stored.proposal.supersedes if name not in self._gone)
            record = stored.record and forgetting.released(stored.record, self._gone)
            yield Stripped(stored, kept, record)

    # ---- the whole -------------------------------------------------------------

    def plan(self) -> Plan:
        stale = list(self._stale())
        asked = [*self._texts(stale), *(title for _, title in self._titles())]
        kept = [text for record in self._kept() for text in forgetting.texts_of(record)]
        subjects = {record.subject_id for record in (*self._records, *self._changed.values())}
        subjects |= {version.subject_id for version in stale}
        subjects |= self._acts.subjects
        subjects |= {stored.record.subject_id for stored in self._proposals if stored.record}
        return Plan(
            owner=self._owner,
            events=tuple(self._events),
            covered=tuple(self._covered),
            records=tuple((record, self._gone[record.id]) for record in self._records),
            changed=tuple(
                replace(record, revision=self._versions[record.id][-1].revision + 1)
                for record in self._changed.values()
            ),
            stale=tuple((version.id, version.revision) for version in stale),
            proposals=tuple(self._proposals),
            blanked=tuple(self._blanked),
            titles=self._titles(),
            stripped=tuple(self._stripped()),
            packages=tuple(self._packages),
            mentioning=tuple(self._mentioning()),
            counted=tuple(set(forgettable.counted_into(self._here)) - self._here),
            holders=tuple(dict.fromkeys(self._holders())),
            subjects=tuple(sorted(subjects)),
            texts=apart_from([*asked, *self._speakers()], kept),
            asked=apart_from(asked, kept),
        )

    def _stale(self) -> Iterator[Record]:
        """Versions of what stays that quote or name what goes."""
        overwritten = {item.event.seq: item.places for item in self._covered}
        for name, versions in self._versions.items():
            if name in self._gone:
                continue
            last = versions[-1].revision
            for version in versions:
                told = forgetting.quotes(version, self._here, overwritten)
                told = told or (
                    version.package_id in self._event_packages and self._seen.borrows(version)
                )
                present = version.revision == last and name not in self._changed
                if (told or forgetting.names(version, self._gone)) and not present:
                    yield version

    def _titles(self) -> frozenset[tuple[str, str]]:
        gone = {(ref.id, ref.title) for event in self._events for ref in event.objects if ref.title}
        return frozenset(gone).union(*(item.titles for item in self._covered))

    def _kept(self) -> Iterator[Record]:
        """Records that stay as they are judged to, though a worker had seen what goes."""
        yield from self._changed.values()
        settled = set(forgettable.settled_by(self._packages)) - self._gone.keys()
        yield from records.by_ids(self._owner, settled - self._changed.keys())
        going = {(stored.package_id, stored.place) for stored in self._proposals}
        for stored in forgettable.proposals_of(self._packages):
            if stored.record is not None and (stored.package_id, stored.place) not in going:
                yield stored.record

    def _speakers(self) -> list[str]:
        return [event.speaker for event in self._events if event.speaker]

    def _texts(self, stale: Sequence[Record]) -> Iterator[str]:
        """Everything that goes, in words: what must not be found afterwards."""
        for event in self._events:
            yield from (event.text, event.ref or "")
            yield from strings(event.data)
        for item in self._covered:
            yield from (item.event.text[start:end] for start, end in item.places)
        gone = [version for name in self._gone for version in self._versions.get(name, ())]
        for version in (*gone, *stale):
            yield from forgetting.texts_of(version)
        for stored in (*self._proposals, *self._blanked):
            yield from forgetting.texts_of(stored.proposal)
            yield from (quote.quote for quote in stored.proposal.evidence)
        yield from forgettable.package_words(self._event_packages)
