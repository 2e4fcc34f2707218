"""The checks that a located proposal passes: trust, words, echo, scope, and what it would replace.

Pure. Source: mission C4, D5, B5, F3; protocol, Observation and Proposals.
"""

from pipeline.rules.borrowing import DATA_ROLES, Borrowing, speaks_for_user
from pipeline.rules.cases import EXTERNAL, Case
from pipeline.rules.confirming import taken_up
from pipeline.rules.lexicon import mere_assent, says_always, says_once
from pipeline.rules.trusting import BINDING_KINDS, RETELLING, distrust, needs_user
from pipeline.rules.wording import content_words
from storage.records.events import OWNER_OBJECT, Role
from storage.records.knowledge import RecordKind, RecordStatus, RejectionCode

_ECHO_SHARE = 0.5


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
    for check in (
        _check_exception,
        _check_end,
        _check_replaced,
        _check_correction,
        _check_taken_up,
    ):
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
    said = case.quotes(*case.speakers)
    if needs_user(case.proposal):
        _check_told(case, said, DATA_ROLES)
        if case.unstated is not None:
            raise Rejected(*case.unstated)
    elif case.proposal.kind is RecordKind.COMMITMENT:
        _check_told(case, said, DATA_ROLES)
        _check_promise(case)
    elif Role.EXTERNAL not in case.roles:
        _check_told(case, said, EXTERNAL)


def _check_told(case: Case, said: str, data: frozenset[Role]) -> None:
    if mere_assent(said):
        raise Rejected(RejectionCode.NO_SOURCE, "its quote only agrees")
    borrowing = Borrowing(case.proposal, case.around, said, data)
    if borrowing.is_foreign:
        raise Rejected(RejectionCode.UNTRUSTED_SOURCE, "its words come from external text")
    if borrowing.says_something_else:
        raise Rejected(RejectionCode.NO_SOURCE, "its quote says something else")


def _check_promise(case: Case) -> None:
    """Who promises states it; a supervisor promises for itself, and not what a page has told it to."""
    if case.roles & {*case.speakers} != {Role.SUPERVISOR}:
        if case.unstated is not None:
            raise Rejected(*case.unstated)
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


def _check_end(case: Case) -> None:
    """What the user lays down holds from when it is said: it can't have ended by then."""
    end = case.proposal.valid_to
    if case.proposal.kind in BINDING_KINDS and end is not None and end <= case.observed_at:
        raise Rejected(RejectionCode.DEGENERATE, "it would have ended before it was said")


def _check_taken_up(case: Case) -> None:
    """What a confirmation or correction was made of is one source with what is read in it (C5)."""
    told = case.proposal.kind in RETELLING
    if not told and taken_up(case.proposal.content, case.spans, case.work.known):
        raise Rejected(RejectionCode.DUPLICATE, "a request of the user has taken its words up")


def _check_replaced(case: Case) -> None:
    """Only a known record of the same reach is replaced that the quotes speak of.

    None that is newer or stronger.
    """
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
        if case.first_status is RecordStatus.ACTIVE and not case.speaks_of(record):
            raise Rejected(
                RejectionCode.SCOPE_WIDENED, "its quote is not about the record it supersedes"
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
