"""A located proposal beside everything it is judged by, and what its record may be made of.

What a proposal says beyond the words that it quotes is left out or waits: its slot, its value, its
end and what it would replace have to be borne out by them as its content has.

Pure. Source: mission C4, D5, B5; protocol, Observation and Proposals.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import blake2b
from typing import Final

from pipeline.rules.asserting import is_pasted, only_asks
from pipeline.rules.borrowing import DATA_ROLES, TALK, Borrowing, Surroundings
from pipeline.rules.due import local_time
from pipeline.rules.lexicon import may_fill, slot_of
from pipeline.rules.periods import periods
from pipeline.rules.telling import Told
from pipeline.rules.trusting import BINDING_KINDS, RETELLING, authority_of, needs_user
from pipeline.rules.wording import content_words, sentences, simplified
from storage.records.events import Event, Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    Proposal,
    Record,
    RecordKind,
    RecordStatus,
    RejectionCode,
    Span,
)
from storage.records.runs import WorkPackage

EXTERNAL: Final = frozenset({Role.EXTERNAL})

_PROMISERS: Final = (Role.USER, Role.SUPERVISOR)
_ABOUT_SHARE: Final = 3
"""One word in so many, of the shorter text's, is shared by texts about the same thing."""

# A promise or a way of doing that touches a slot does not fill it.
_SLOTTED: Final = frozenset(
    {RecordKind.FACT, RecordKind.PREFERENCE, RecordKind.RULE, RecordKind.CORRECTION}
)
_LIVE: Final = frozenset({RecordStatus.ACTIVE, RecordStatus.CANDIDATE})


def record_id(owner: str, kind: RecordKind, content: str, spans: Sequence[Span]) -> str:
    """The id of the record with this content on this evidence: the same in every run."""
    evidence = sorted([span.event_id, span.start, span.end] for span in spans)
    canonical = json.dumps([owner, kind, content, evidence], ensure_ascii=True)
    return "r-" + blake2b(canonical.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True)
class Case:
    """A proposal beside everything it is judged by."""

    proposal: Proposal
    work: WorkPackage
    around: Surroundings
    objects: frozenset[str]
    spans: tuple[Span, ...]
    events: tuple[Event, ...]

    # ---- who said what it quotes ---------------------------------------------

    @property
    def roles(self) -> frozenset[Role]:
        """The roles of who said what it quotes."""
        return frozenset(event.role for event in self.events)

    @property
    def subject(self) -> str:
        """The object it is about."""
        return self.proposal.subject or self.work.package.object_id

    @property
    def observed_at(self) -> int:
        """When the newest of its evidence was said, in epoch milliseconds."""
        return max(event.at for event in self.events)

    @property
    def record_id(self) -> str:
        """The id that its record has."""
        return record_id(
            self.work.package.owner, self.proposal.kind, self.proposal.content, self.spans
        )

    def quotes(self, *speakers: Role) -> str:
        """What these roles say in the evidence."""
        roles = {event.id: event.role for event in self.events}
        return "\n".join(span.quote for span in self.spans if roles[span.event_id] in speakers)

    @cached_property
    def unstated(self) -> tuple[RejectionCode, str] | None:
        """Why the user's quotes state nothing: they only ask, or pass a page's sentence on."""
        by_id = {event.id: event for event in self.events}
        own = [span for span in self.spans if by_id[span.event_id].role is Role.USER]
        if only_asks(own, {event.id: event.text for event in self.events}):
            return RejectionCode.NO_SOURCE, "its quote only asks"
        here = (item.event for item in self.work.events)
        data = (event for event in (*here, *self.work.near) if event.role in DATA_ROLES)
        if is_pasted(own, data):
            return RejectionCode.UNTRUSTED_SOURCE, "its quote is a page's sentence, passed on"
        return None

    @cached_property
    def speakers(self) -> tuple[Role, ...]:
        """Whose quotes have to tell it: the user's, those of who promises, or anybody's."""
        if needs_user(self.proposal):
            return (Role.USER,)
        if self.proposal.kind is not RecordKind.COMMITMENT:
            return tuple(Role)
        # Asked for by the user, and promised by the supervisor: that is the supervisor's promise.
        asked = self.roles.issuperset(_PROMISERS) and self.unstated is not None
        return (Role.SUPERVISOR,) if asked else _PROMISERS

    @cached_property
    def told(self) -> Told:
        """What those say who have to tell it."""
        said = self.quotes(*self.speakers)
        named = periods(simplified(said).lower(), local_time(self.observed_at))
        days = {
            day.date().isoformat() for period in named for day in _ends(period.first, period.after)
        }
        return Told(said, tuple(sorted(days)))

    @property
    def authority(self) -> Authority:
        """Whose word it rests on: a story in a page's words is the page's, whoever is quoted."""
        if self.proposal.kind in RETELLING:
            told = self.quotes(*(set(Role) - EXTERNAL))
            if Borrowing(self.proposal, self.around, told, EXTERNAL).is_foreign:
                return Authority.EXTERNAL
        promised = self.proposal.kind is RecordKind.COMMITMENT
        speakers = self.roles & {*self.speakers} if promised else self.roles
        return authority_of(self.proposal.kind, speakers)

    # ---- what its words bear out -----------------------------------------------

    @cached_property
    def first_status(self) -> RecordStatus:
        """What its record begins as: a candidate where something has still to bear it out.

        Procedures are drafts, what surrounds us must be seen on two days (mission D6, F3), and what
        goes beyond the words of its quotes, as a translation does, was not said in them.
        """
        proposal = self.proposal
        environment = proposal.fact_class is FactClass.ENVIRONMENT
        draft = proposal.kind is RecordKind.PROCEDURE
        if draft or (proposal.kind is RecordKind.FACT and environment):
            return RecordStatus.CANDIDATE
        if needs_user(proposal):
            return RecordStatus.ACTIVE if self._is_told else RecordStatus.CANDIDATE
        if proposal.kind is RecordKind.COMMITMENT and not self.told.leads_to(proposal.content):
            return RecordStatus.CANDIDATE
        return RecordStatus.ACTIVE

    @property
    def _is_told(self) -> bool:
        proposal = self.proposal
        parts = (*proposal.conditions, *proposal.steps, *proposal.failure, *proposal.verify)
        slot = slot_of(proposal.content) if proposal.kind in _SLOTTED else None
        return (
            (slot is None or slot in self._slots)
            and self.valid_to == proposal.valid_to
            and all(map(self.told.covers, (proposal.content, *parts)))
        )

    @property
    def valid_to(self) -> int | None:
        """When it ends; what binds ends by the user's words alone, where these name a time."""
        end = self.proposal.valid_to
        free = self.proposal.kind not in BINDING_KINDS or self.proposal.scope.once
        return end if free or self.told.days else None

    @property
    def value(self) -> str | None:
        """What fills its slot, where the words hold it."""
        value, kind = self.proposal.value, self.proposal.kind
        if value is None or kind in RETELLING or self.told.holds(value):
            return value
        # A day that nobody here can tell from the words leaves the promise what it is.
        return value if kind is RecordKind.COMMITMENT and not self.told.days else None

    @property
    def key(self) -> str | None:
        """The slot it fills, where the words speak of it."""
        slot = slot_of(self.proposal.content) if self.proposal.kind in _SLOTTED else None
        given = (self.proposal.key, slot)
        return next((key for key in given if key is not None and self._fills(key)), None)

    @cached_property
    def _slots(self) -> frozenset[str]:
        """The slots that the closed lexicon finds in what was said."""
        said = self.told.said
        found = (slot_of(said[start:end]) for start, end in sentences(said))
        return frozenset(slot for slot in (slot_of(said), *found) if slot is not None)

    def _fills(self, key: str) -> bool:
        slot = key.partition("@")[0]
        if self.proposal.kind in RETELLING or slot in self._slots:
            return True
        if self._slots or slot_of(self.proposal.content) is not None:
            return False
        if not may_fill(slot, self.told.said):
            return False
        filled = (
            record
            for record in self.work.known
            if (record.subject_id, record.key) == (self.subject, key) and record.status in _LIVE
        )
        return all(map(self.speaks_of, filled))

    @property
    def supersedes(self) -> tuple[str, ...]:
        """What its record replaces: one that has still to be borne out leaves what holds alone."""
        if self.first_status is RecordStatus.ACTIVE:
            return self.proposal.supersedes
        known = {record.id: record for record in self.work.known}
        return tuple(
            name
            for name in self.proposal.supersedes
            if known[name].status is not RecordStatus.ACTIVE and self.speaks_of(known[name])
        )

    def speaks_of(self, record: Record) -> bool:
        """Whether what was said is about the same as a record: one slot, or words that they share."""
        if record.key is not None and record.key.partition("@")[0] in self._slots:
            return True
        said = content_words(self.told.said) - TALK
        for text in (record.content, *(span.quote for span in record.evidence)):
            words = content_words(text) - TALK
            shared = len(words & said)
            if shared and shared * _ABOUT_SHARE >= min(len(words), len(said)):
                return True
        return False


def _ends(first: datetime, after: datetime) -> tuple[datetime, datetime]:
    """A period's first moment, and its last day."""
    return first, max(first, after - timedelta(seconds=1))
