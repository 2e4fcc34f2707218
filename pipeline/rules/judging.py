"""What a located proposal is judged by: trust, words, echo, scope, and what it would replace.

Pure. Source: mission C4, D5, B5, F3; protocol, Observation and Proposals.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from pipeline.rules.lexicon import mere_assent, says_always, says_once, slot_of
from pipeline.rules.trusting import authority_of, distrust, needs_user
from pipeline.rules.wording import chinese, content_words
from storage.records.events import OWNER_OBJECT, Event, Role
from storage.records.knowledge import Proposal, RecordKind, RecordStatus, RejectionCode, Span
from storage.records.runs import WorkPackage

_ECHO_SHARE = 0.5
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

    def quotes(self, role: Role) -> str:
        """What a role says in the evidence."""
        roles = {event.id: event.role for event in self.events}
        return "\n".join(span.quote for span in self.spans if roles[span.event_id] is role)


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
    for check in (_check_exception, _check_replaced, _check_correction):
        check(case)


def _check_objects(case: Case) -> None:
    if not {case.subject, *case.proposal.scope.objects} <= case.objects:
        raise Rejected(RejectionCode.UNKNOWN_OBJECT, "it names an object nobody knows")


def _check_trust(case: Case) -> None:
    reason = distrust(case.proposal, case.roles)
    if reason is not None:
        raise Rejected(RejectionCode.UNTRUSTED_SOURCE, reason)


def _check_words(case: Case) -> None:
    """What needs the user's word must be said in it: assent is none, nor is a page's sentence."""
    if not needs_user(case.proposal):
        return
    said = case.quotes(Role.USER)
    if mere_assent(said):
        raise Rejected(RejectionCode.NO_SOURCE, "the user's quote only agrees")
    words = content_words(case.proposal.content)
    told = words & content_words(said)
    foreign = (words - told) & _external_words(case.work)
    if len(foreign) > len(told):
        raise Rejected(RejectionCode.UNTRUSTED_SOURCE, "its words come from external text")
    if words and not told and chinese(said) == chinese(case.proposal.content):
        raise Rejected(RejectionCode.NO_SOURCE, "its quote says something else")


def _external_words(work: WorkPackage) -> frozenset[str]:
    texts = (item.event.text for item in work.events if item.event.role is Role.EXTERNAL)
    return frozenset().union(*map(content_words, texts))


def _check_echo(case: Case) -> None:
    """Text written with a record in view is no evidence of its own for that record."""
    recalled = {known for event in case.events for known in event.recalled}
    if not recalled or Role.USER in case.roles:
        return
    words = content_words(case.proposal.content)
    for record in case.work.known:
        shared = len(words & content_words(record.content))
        if record.id in recalled and words and shared >= len(words) * _ECHO_SHARE:
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


def _check_replaced(case: Case) -> None:
    """Only a known record of the same reach is replaced, and none that is newer or stronger."""
    known = {record.id: record for record in case.work.known}
    authority = authority_of(case.proposal.kind, case.roles)
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
    authority = authority_of(case.proposal.kind, case.roles)
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
