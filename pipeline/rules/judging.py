"""What a located proposal is judged by: trust, words, echo, scope, and what it would replace.

Pure. Source: mission C4, D5, B5, F3; protocol, Observation and Proposals.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from pipeline.rules.asserting import is_pasted, only_asks
from pipeline.rules.borrowing import DATA_ROLES, Borrowing, Surroundings, speaks_for_user
from pipeline.rules.confirming import taken_up
from pipeline.rules.lexicon import mere_assent, says_always, says_once, slot_of
from pipeline.rules.trusting import RETELLING, authority_of, distrust, needs_user
from pipeline.rules.wording import content_words
from storage.records.events import OWNER_OBJECT, Event, Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    Proposal,
    RecordKind,
    RecordStatus,
    RejectionCode,
    Span,
)
from storage.records.runs import WorkPackage

_ECHO_SHARE = 0.5
_EXTERNAL = frozenset({Role.EXTERNAL})
# A promise or a way of doing that touches a slot does not fill it.
_SLOTTED = frozenset(
    {RecordKind.FACT, RecordKind.PREFERENCE, RecordKind.RULE, RecordKind.CORRECTION}
)


def record_id(owner: str, kind: RecordKind, content: str, spans: Sequence[Span]) -> str:
    """The id of the record with this content on this evidence: the same in every run."""
    evidence = sorted([span.event_id, span.start, span.end] for span in spans)
    canonical = json.dumps([owner, kind, content, evidence], ensure_ascii=True)
    return "r-" + blake2b(canonical.encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Case:
    """A proposal beside everything it is judged by."""

    proposal: Proposal
    work: WorkPackage
    around: Surroundings
    objects: frozenset[str]
    spans: tuple[Span, ...]
    events: tuple[Event, ...]

    @property
    def roles(self) -> frozenset[Role]:
        """The roles of who said what it quotes."""
        return frozenset(event.role for event in self.events)

    @property
    def subject(self) -> str:
        """The object it is about."""
        return self.proposal.subject or self.work.package.object_id

    @property
    def key(self) -> str | None:
        """The slot it fills."""
        if self.proposal.key is not None:
            return self.proposal.key
        return slot_of(self.proposal.content) if self.proposal.kind in _SLOTTED else None

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

    @property
    def authority(self) -> Authority:
        """Whose word it rests on: a story in a page's words is the page's, whoever is quoted."""
        if self.proposal.kind in RETELLING:
            told = self.quotes(*(set(Role) - {Role.EXTERNAL}))
            if Borrowing(self.proposal, self.around, told, _EXTERNAL).is_foreign:
                return Authority.EXTERNAL
        return authority_of(self.proposal.kind, self.roles)

    @property
    def first_status(self) -> RecordStatus:
        """What its record begins as: a candidate where something has still to bear it out.

        Procedures are drafts, what surrounds us must be seen on two days (mission D6, F3), and what
        binds in words that the user's quote does not share, such as a translation, was not said.
        """
        proposal = self.proposal
        environment = proposal.fact_class is FactClass.ENVIRONMENT
        draft = proposal.kind is RecordKind.PROCEDURE
        if draft or (proposal.kind is RecordKind.FACT and environment):
            return RecordStatus.CANDIDATE
        said = self.quotes(Role.USER)
        if needs_user(proposal) and Borrowing(proposal, self.around, said).is_unheard:
            return RecordStatus.CANDIDATE
        return RecordStatus.ACTIVE


class Rejected(Exception):  # noqa: N818 - control flow between these rules, not a fault
    """A proposal has no effect."""

    def __init__(self, code: RejectionCode, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(reason)


def judge(case: Case) -> None:
    """Let the proposal pass.

    Raises:
        Rejected: It must not take effect; with the code and the reason.
    """
    for check in (_check_objects, _check_trust, _check_words, _check_echo, _check_scope):
        check(case)
    for check in (_check_exception, _check_replaced, _check_correction, _check_taken_up):
        check(case)


def _check_objects(case: Case) -> None:
    if not {case.subject, *case.proposal.scope.objects} <= case.objects:
        raise Rejected(RejectionCode.UNKNOWN_OBJECT, "it names an object nobody knows")


def _check_trust(case: Case) -> None:
    reason = distrust(case.proposal, case.roles)
    if reason is not None:
        raise Rejected(RejectionCode.UNTRUSTED_SOURCE, reason)


def _check_words(case: Case) -> None:
    """What somebody's word is needed for must be said in it: assent is none, nor is a page's sentence."""
    if case.proposal.kind in RETELLING:
        return
    if needs_user(case.proposal):
        _check_told(case, case.quotes(Role.USER), DATA_ROLES)
        _check_stated(case)
    elif case.proposal.kind is RecordKind.COMMITMENT:
        _check_told(case, case.quotes(Role.USER, Role.SUPERVISOR), DATA_ROLES)
        _check_promise(case)
    elif Role.EXTERNAL not in case.roles:
        _check_told(case, case.quotes(*Role), _EXTERNAL)


def _check_told(case: Case, said: str, data: frozenset[Role]) -> None:
    if mere_assent(said):
        raise Rejected(RejectionCode.NO_SOURCE, "its quote only agrees")
    borrowing = Borrowing(case.proposal, case.around, said, data)
    if borrowing.is_foreign:
        raise Rejected(RejectionCode.UNTRUSTED_SOURCE, "its words come from external text")
    if borrowing.says_something_else:
        raise Rejected(RejectionCode.NO_SOURCE, "its quote says something else")


def _check_stated(case: Case) -> None:
    """The user must have stated it: neither asked about it, nor only passed a page's sentence on."""
    by_id = {event.id: event for event in case.events}
    own = [span for span in case.spans if by_id[span.event_id].role is Role.USER]
    if only_asks(own, {event.id: event.text for event in case.events}):
        raise Rejected(RejectionCode.NO_SOURCE, "its quote only asks")
    here = (item.event for item in case.work.events)
    data = (event for event in (*here, *case.work.near) if event.role in DATA_ROLES)
    if is_pasted(own, data):
        raise Rejected(RejectionCode.UNTRUSTED_SOURCE, "its quote is a page's sentence, passed on")


def _check_promise(case: Case) -> None:
    """A supervisor promises for itself, and not what a page has told it to promise."""
    if Role.USER in case.roles:
        return
    said = case.quotes(Role.SUPERVISOR)
    if Borrowing(case.proposal, case.around, said).is_repeated:
        raise Rejected(RejectionCode.UNTRUSTED_SOURCE, "its words come from external text")
    if speaks_for_user(said):
        raise Rejected(RejectionCode.UNTRUSTED_SOURCE, "it tells what the user said, unquoted")


def _check_echo(case: Case) -> None:
    """Text written with a record in view is no evidence of its own for that record.

    A user's own statement is: who says a thing once more, or sets it right, has said it.
    """
    recalled = {known for event in case.events if event.role is not Role.USER
                for known in event.recalled}  # fmt: skip
    words = content_words(case.proposal.content)
    own = len(words & content_words(case.quotes(Role.USER)))
    if not recalled or not words or own >= len(words) * _ECHO_SHARE:
        return
    for record in case.work.known:
        shared = len(words & content_words(record.content))
        if record.id in recalled and shared >= len(words) * _ECHO_SHARE:
            raise Rejected(RejectionCode.ECHO, "it restates a record that its speaker had in view")


def _check_scope(case: Case) -> None:
    about = {named.id for event in case.events for named in event.objects}
    about |= {OWNER_OBJECT, case.work.package.object_id}
    if not {case.subject, *case.proposal.scope.objects} <= about:
        raise Rejected(RejectionCode.SCOPE_WIDENED, "its evidence is about another object")
    tasks = {event.task_id for event in case.events}
    if case.proposal.scope.task is not None and case.proposal.scope.task not in tasks:
        raise Rejected(RejectionCode.SCOPE_WIDENED, "its evidence is about another task")


def _check_exception(case: Case) -> None:
    """What was said of one time, or of one object, is no rule for all (mission D5)."""
    if case.proposal.scope.once or not needs_user(case.proposal):
        return
    if case.proposal.kind not in {RecordKind.RULE, RecordKind.PREFERENCE, RecordKind.PROCEDURE}:
        return
    said = case.quotes(Role.USER)
    if says_always(said):
        return
    if says_once(said):
        raise Rejected(RejectionCode.SCOPE_WIDENED, "the user spoke of one time only")
    narrow = all(event.objects for event in case.events)
    personal = case.proposal.kind is RecordKind.PREFERENCE
    if narrow and case.subject == OWNER_OBJECT and not personal:
        raise Rejected(RejectionCode.SCOPE_WIDENED, "the user spoke of one object only")


def _check_taken_up(case: Case) -> None:
    """What a confirmation or correction was made of is one source with what is read in it (C5)."""
    told = case.proposal.kind in RETELLING
    if not told and taken_up(case.proposal.content, case.spans, case.work.known):
        raise Rejected(RejectionCode.DUPLICATE, "a request of the user has taken its words up")


def _check_replaced(case: Case) -> None:
    """Only a known record of the same reach is replaced, and none that is newer or stronger."""
    known = {record.id: record for record in case.work.known}
    authority = case.authority
    for replaced in case.proposal.supersedes:
        record = known.get(replaced)
        if record is None or record.subject_id != case.subject:
            raise Rejected(RejectionCode.SCOPE_WIDENED, "it supersedes a record of another object")
        if record.scope != case.proposal.scope:
            raise Rejected(RejectionCode.SCOPE_WIDENED, "it supersedes a record of another scope")
        if record.observed_at > case.observed_at or record.authority > authority:
            raise Rejected(
                RejectionCode.OVERRIDES_NEWER, "it supersedes a newer or stronger record"
            )


def _check_correction(case: Case) -> None:
    """A late statement does not come back over a newer correction of the same slot."""
    authority = case.authority
    for record in case.work.known:
        corrects = record.kind is RecordKind.CORRECTION or record.supersedes
        same = (record.subject_id, record.key, record.scope) == (
            case.subject,
            case.key,
            case.proposal.scope,
        )
        newer = record.observed_at > case.observed_at and record.authority >= authority
        active = record.status is RecordStatus.ACTIVE
        if case.key and corrects and same and newer and active:
            raise Rejected(RejectionCode.OVERRIDES_NEWER, "a newer correction stands in its place")
