"""What the user's word does to records: one is confirmed, or set right by a new one.

Pure: a confirmation follows from the records of its subject, its journal entry and the event that
this names; a correction is an accepted proposal like any other. So both can be replayed.
Source: mission D5, F4; protocol, Who wins, Records and objects.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from json import dumps
from typing import Any

from pipeline.rules.board import Board
from pipeline.rules.due import find_due
from pipeline.rules.lexicon import slot_cues
from pipeline.rules.relating import LIVE, TOLD, outranks, rivals
from pipeline.rules.reviewing import ReviewTimes, review_at
from pipeline.rules.settling import Settlement
from pipeline.rules.sources import joined, origin_of
from pipeline.rules.wording import content_words
from storage.records.events import Event
from storage.records.knowledge import (
    Authority,
    Origin,
    Proposal,
    Quote,
    Record,
    RecordKind,
    RecordStatus,
    Span,
)

_SAME_SHARE = 0.5
_AFTER_WORDS_MS = 1
"""A request counts from just after the words it was made with. What an observer then reads in the
same words is the older statement of the two, so that it neither replaces nor disputes them."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The user confirms a record in the words of `span`.

    `origin` is where they come from, `review_at` when the record is to be looked at again.
    """

    record_id: str
    span: Span
    origin: Origin
    review_at: int | None = None

    @classmethod
    def of(cls, record: Record, span: Span, event: Event, times: ReviewTimes) -> "Confirmation":
        """The confirmation of a record in the user's words, a span of an event of theirs."""
        origin = _origin(event)
        # A promise's day stays its day, whoever says once more that it holds.
        due = record.kind is RecordKind.COMMITMENT
        renewed = replace(
            record, observed_at=origin.at, review_at=record.review_at if due else None
        )
        return cls(record.id, span, origin, review_at(renewed, times))

    @classmethod
    def from_body(cls, record_id: str, body: Mapping[str, Any], event: Event) -> "Confirmation":
        """A confirmation back from its journal entry's body and the event that this names."""
        start, end = body["start"], body["end"]
        span = Span(event.id, event.seq, start, end, event.text[start:end])
        return cls(record_id, span, _origin(event), body.get("review_at"))

    def body(self) -> dict[str, Any]:
        """What the journal keeps of it: no text."""
        span = self.span
        return {
            "event_id": span.event_id,
            "seq": span.seq,
            "start": span.start,
            "end": span.end,
            "at": self.origin.at,
            "review_at": self.review_at,
        }


def confirm(existing: Sequence[Record], confirmation: Confirmation) -> Settlement:
    """What a confirmation changes: the record holds on the user's word, and what disputes it yields.

    Where the user has said something newer, the record is superseded again.

    Args:
        existing: The record and those of its subject that it could contradict, with what these are
            in conflict with.
        confirmation: What is confirmed.
    """
    board = Board(existing)
    record_id = confirmation.record_id
    board.put(_confirmed(board.records[record_id], confirmation))
    for name in _disputed(board, board.records[record_id]):
        record, other = board.records[record_id], board.records.get(name)
        if other is not None and other.status in LIVE and rivals(record, other):
            _decide(board, record, other)
        elif other is None or other.status not in LIVE or outranks(record, other):
            # Words alone had set them against each other, or the other side counts no longer.
            board.reconcile(record_id, name)
    changed = (
        replace(record, revision=before.revision + 1)
        for name, before in board.before.items()
        if (record := board.records[name]) != before
    )
    return Settlement((), tuple(changed))


def _confirmed(old: Record, confirmation: Confirmation) -> Record:
    said = replace(old, evidence=(confirmation.span,), origins=(confirmation.origin,))
    return replace(
        joined(old, said),
        status=RecordStatus.ACTIVE,
        reason=None,
        # A story weighs what its weakest teller weighs, whoever confirms it.
        authority=old.authority if old.kind in TOLD else Authority.USER,
        observed_at=confirmation.origin.at,
        review_at=confirmation.review_at,
    )


def _disputed(board: Board, record: Record) -> dict[str, None]:
    """What it stands against: what was found to be in conflict with it, and what fills its slot."""
    slot = (other.id for other in board.filling(record))
    return dict.fromkeys((*record.conflicts_with, *slot))


def _decide(board: Board, record: Record, other: Record) -> None:
    """The later of no less authority holds, a candidate no less than what held already."""
    if outranks(record, other):
        board.supersede(record.id, other.id)
    elif outranks(other, record) and other.status is RecordStatus.ACTIVE:
        board.supersede(other.id, record.id)
    else:
        board.conflict(record.id, other.id)


def _origin(event: Event) -> Origin:
    return replace(origin_of(event, {}, {}), at=event.at + _AFTER_WORDS_MS)


def corrected(old: Record, content: str, span: Span, event: Event) -> Record:
    """The record that takes the place of `old`, in the user's words of `span`.

    Kind, class, slot, scope and subject stay. What else the old one said in detail goes: it was
    said of what has been set right. When it is recorded, and looked at again, is for the caller.

    Args:
        old: The record to set right.
        content: What holds instead.
        span: Where the user says so.
        event: The event that holds the span.
    """
    origin = _origin(event)
    at = origin.at
    ended = old.valid_to is not None and old.valid_to <= at
    draft = old.kind is RecordKind.PROCEDURE and old.status is not RecordStatus.ACTIVE
    due = find_due(content, event.at) if old.kind is RecordKind.COMMITMENT else None
    kept = old.review_at if old.kind is RecordKind.COMMITMENT else None
    return Record(
        id=_id(old, content, span),
        owner_scope=old.owner_scope,
        subject_id=old.subject_id,
        kind=old.kind,
        content=content,
        observed_at=at,
        recorded_at=at,
        # To set a draft right is not to approve it (mission F4).
        status=RecordStatus.CANDIDATE if draft else RecordStatus.ACTIVE,
        authority=Authority.USER,
        evidence=(span,),
        origins=(origin,),
        key=old.key,
        value=due.day if due else None,
        fact_class=old.fact_class,
        profile_kind=old.profile_kind,
        scope=old.scope,
        valid_from=old.valid_from,
        valid_to=None if ended else old.valid_to,
        review_at=due.at_ms if due else kept,
        supersedes=(old.id,),
        cues=slot_cues(old.key),
    )


def _id(old: Record, content: str, span: Span) -> str:
    """The same for the same correction in every run, and none that an observer's record has."""
    told = [old.owner_scope, old.id, content, span.event_id, span.start, span.end]
    return "r-" + blake2b(dumps(["correct", *told]).encode(), digest_size=12).hexdigest()


def proposal_of(record: Record) -> Proposal:
    """A corrected record as the proposal that it was accepted from."""
    return Proposal(
        kind=record.kind,
        content=record.content,
        evidence=tuple(Quote(span.event_id, span.quote) for span in record.evidence),
        subject=record.subject_id,
        key=record.key,
        value=record.value,
        fact_class=record.fact_class,
        profile_kind=record.profile_kind,
        scope=record.scope,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        review_at=record.review_at,
        supersedes=record.supersedes,
        cues=record.cues,
    )


def taken_up(content: str, spans: Sequence[Span], known: Iterable[Record]) -> bool:
    """Whether a request has made a record of these very words already: they are one source.

    Only a request can have made a record of an event that no observer has read yet.

    Args:
        content: What an observer makes of the words.
        spans: The words that it quotes.
        known: Records that stand.
    """
    said = content_words(content)
    return any(
        record.authority is Authority.USER
        and any(_meet(span, theirs) for span in spans for theirs in record.evidence)
        and _alike(said, content_words(record.content))
        for record in known
    )


def _meet(one: Span, other: Span) -> bool:
    same = one.event_id == other.event_id
    return same and one.start < other.end and other.start < one.end


def _alike(said: frozenset[str], known: frozenset[str]) -> bool:
    return len(said & known) >= min(len(said), len(known)) * _SAME_SHARE
