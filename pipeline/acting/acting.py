"""Carrying out what the user asks of a record.

Reads, checks and computes without a transaction, then writes in one, guarded by the revision of the
record's object: when that has moved, everything is looked at again (mission F3, F4, D5; spec:
protocol, Records and objects).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from pipeline.acting.answers import Acted, confirmed_before, corrected_before
from pipeline.acting.asking import (
    Asked,
    Seen,
    check_alone,
    check_revision,
    check_won,
    read,
    refuse,
    replaced,
    replacements,
    request_of,
)
from pipeline.errors import LostRaceError
from pipeline.rules import confirming
from pipeline.rules.confirming import Confirmation
from pipeline.rules.forms import forms_of
from pipeline.rules.relating import LIVE
from pipeline.rules.requesting import Refusal, Request, refuses_confirmation, refuses_correction
from pipeline.rules.reviewing import ReviewTimes, review_at
from pipeline.rules.settling import Settlement
from pipeline.rules.wording import degenerate, normalised
from pipeline.stages import merge
from pipeline.standing import standing
from storage.clock import Clock
from storage.errors import BadRequestError, BusyError, StaleError
from storage.records.knowledge import Change, Record, RecordKind, RecordStatus
from storage.records.runs import Verdict
from storage.repositories import journal, packages, proposals, records
from storage.repositories.record_links import changed_at
from storage.writer import Writer

RACE_TRIES: Final = 20
"""How often a request looks again because its object has changed meanwhile."""

_AGAIN_MS: Final = 200


class Acting:
    """Carries out confirmations and corrections. Both block; call them off the loop.

    Args:
        writer: The process's writer.
        clock: When changes are recorded.
        times: When records of each kind are looked at again.
        has_secret: Whether a text holds what must not be kept.
    """

    def __init__(
        self, writer: Writer, clock: Clock, times: ReviewTimes, has_secret: Callable[[str], bool]
    ) -> None:
        self._writer = writer
        self._clock = clock
        self._times = times
        self._has_secret = has_secret

    def confirm(self, asked: Asked) -> Acted:
        """Let a record hold on the user's word; the same request again gives the same answer.

        Raises:
            NotFoundError: The owner has no such record or event.
            ForbiddenError: These are no words of the user that ask for it; `details.reason` says why.
            RevisionConflictError: The record has changed since it was read.
            StaleError: It was superseded, its time is over, or something else stands in its place.
            BusyError: Its object changes again and again.
        """
        return _until_won(partial(self._confirm_once, asked))

    def correct(self, asked: Asked, content: str) -> Acted:
        """Let `content` hold instead of a record; the same request again gives the same answer.

        Raises:
            BadRequestError: The content can't be kept, or says what the record says.
            NotFoundError: The owner has no such record or event.
            ForbiddenError: These are no words of the user that say so; `details.reason` says why.
            RevisionConflictError: The record has changed since it was read.
            StaleError: It was superseded or disabled, or something else stands in its place.
            BusyError: Its object changes again and again.
        """
        if degenerate(content):
            raise BadRequestError("content: it is empty, or repeats itself; say what holds.")
        if self._has_secret(content):
            raise BadRequestError("content holds what looks like a secret; leave it out.")
        return _until_won(partial(self._correct_once, asked, content))

    def _confirm_once(self, asked: Asked) -> Acted:
        record, seen = read(asked)
        request = request_of(asked)
        confirmation = Confirmation.of(record, request.span, request.event, self._times)
        body = confirmation.body() | {"expected": asked.expected}
        done = confirmed_before(record, body)
        if done is None:
            check_revision(record, asked.expected)
            self._check_confirmable(record, request)
            check_alone(record, standing(asked.owner, [record]))
            found = confirm(asked.owner, confirmation)
            if not found.updates:
                # These very words have confirmed it before, and it stands as they left it.
                return Acted(record, ())
            check_won(record.id, found.updates)
            self._commit(_Plan(asked, record, seen, found, Change.CONFIRM, body))
            done = confirmed_before(record, body)
        return _present(done)

    def _correct_once(self, asked: Asked, content: str) -> Acted:
        record, seen = read(asked)
        request = request_of(asked)
        new = self._corrected(record, content, request)
        body = {"expected": asked.expected}
        done = corrected_before(record, new.id, body)
        if done is None:
            check_revision(record, asked.expected)
            _check_correctable(record, content, request)
            found = merge.settle(asked.owner, [new])
            check_won(new.id, (*found.inserts, *found.updates), found.merged)
            _check_yielded(record, found)
            self._commit(_Plan(asked, record, seen, found, Change.SETTLE, body, new))
            done = corrected_before(record, new.id, body)
        return _present(done)

    def _corrected(self, record: Record, content: str, request: Request) -> Record:
        new = confirming.corrected(record, content, request.span, request.event)
        return replace(new, recorded_at=self._clock.now_ms(), review_at=review_at(new, self._times))

    def _check_confirmable(self, record: Record, request: Request) -> None:
        """Whether a confirmation is what a record in this state needs, and the words are one."""
        if record.status is RecordStatus.SUPERSEDED:
            raise replaced(record)
        over = record.valid_to is not None and record.valid_to <= self._clock.now_ms()
        if record.status is RecordStatus.EXPIRED or over:
            raise StaleError(
                "The record's time is over, and what is past is not confirmed. Correct it with what"
                " holds now.",
                details={"status": RecordStatus.EXPIRED.value},
            )
        refuse(refuses_confirmation(record, request))
        if record.status is RecordStatus.ARCHIVED:
            since = changed_at(record)
            refuse(Refusal.OLDER if since and request.event.received_at < since else None)

    def _commit(self, plan: "_Plan") -> None:
        """Write what was worked out.

        Raises:
            LostRaceError: It was worked out from what is no longer so.
        """
        self._writer.call("act", partial(_apply, plan, self._clock.now_ms()))


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a request comes to, worked out when all stood as `seen`.

    `new` is the record that a correction offers to settling.
    """

    asked: Asked
    record: Record
    seen: Seen
    found: Settlement
    change: Change
    body: Mapping[str, Any]
    new: Record | None = None


def _apply(plan: _Plan, now: int) -> None:
    owner, subject = plan.asked.owner, plan.record.subject_id
    if Seen.of(owner, subject) != plan.seen:
        raise LostRaceError
    package_id = packages.open_act(owner, subject, now)
    inserts = [replace(record, package_id=package_id) for record in plan.found.inserts]
    if plan.new is not None:
        offered = replace(plan.new, package_id=package_id)
        verdict = Verdict(0, offered.id)
        proposals.write(package_id, [(confirming.proposal_of(offered), offered, verdict)])
    cause = journal.Cause(plan.change, now, package_id, plan.record.id, plan.body)
    journal.write(owner, (*inserts, *plan.found.updates), cause, forms=forms_of)
    packages.settled_act(
        package_id,
        inserted=[record.id for record in inserts],
        updated=[record.id for record in plan.found.updates],
        now=now,
    )


def confirm(owner: str, confirmation: Confirmation) -> Settlement:
    """What a confirmation changes of the records as they stand: so for a replay too."""
    record = records.get(owner, confirmation.record_id)
    return confirming.confirm(standing(owner, [record]), confirmation)


def _check_correctable(record: Record, content: str, request: Request) -> None:
    """Whether a correction is what a record in this state needs, and the words are one."""
    if record.kind is RecordKind.CUE:
        raise BadRequestError("record_id: a cue says nothing that could be set right.")
    if record.status is RecordStatus.SUPERSEDED or replacements(record):
        raise replaced(record)
    if record.status is RecordStatus.ARCHIVED:
        raise StaleError(
            "The record is archived. Confirm it first, if the user wants it back.",
            details={"status": record.status.value},
        )
    if normalised(content) == normalised(record.content):
        raise BadRequestError("content: the record says that already; nothing was changed.")
    refuse(refuses_correction(record, content, request))


def _check_yielded(record: Record, found: Settlement) -> None:
    """Whether what was set right gives way: what was said once more since then does not."""
    after = {changed.id: changed for changed in found.updates}.get(record.id, record)
    refuse(Refusal.OLDER if after.status in LIVE else None)


def _until_won(attempt: Callable[[], Acted]) -> Acted:
    for _ in range(RACE_TRIES):
        try:
            return attempt()
        except LostRaceError:
            continue
    raise BusyError("The object changes again and again; try again.", retry_after_ms=_AGAIN_MS)


def _present(done: Acted | None) -> Acted:
    if done is None:
        # What was just written is gone again, by a forgetting: look what is left.
        raise LostRaceError
    return done
