"""What somebody hands in as the user's request, held against what is stored, and why it is refused."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pipeline.observers.offline.masking import own_words
from pipeline.rules.borrowing import DATA_ROLES
from pipeline.rules.locating import locate
from pipeline.rules.relating import LIVE, same_statement
from pipeline.rules.requesting import TOLD, Refusal, Request
from pipeline.rules.wording import simplified
from storage.errors import (
    ForbiddenError,
    NotFoundError,
    RevisionConflictError,
    StaleError,
)
from storage.records.events import Event, Role
from storage.records.knowledge import Record, RecordStatus, Span
from storage.repositories import events, objects, records, tombstones
from storage.repositories.record_links import superseding

_NEAR: Final = 50
"""Sequence numbers before the user's event that are looked through for the turn that it answers."""


_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Asked:
    """Words of the user about a record, as somebody hands them in.

    `expected` is the `object_revision` that the record had when they read it.
    """

    owner: str
    record_id: str
    expected: int
    event_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What must not have moved between working something out and writing it.

    The object's revision; and how often its owner has had something forgotten, since words that are
    gone must not come back as evidence.
    """

    revision: int
    forgotten: int

    @classmethod
    def of(cls, owner: str, subject: str) -> "Seen":
        """How it stands now."""
        return cls(objects.revision(owner, subject), tombstones.count(owner))


def read(asked: Asked) -> tuple[Record, Seen]:
    """The record, and how all stood before anything else was looked at.

    Raises:
        NotFoundError: The owner has no such record.
    """
    subject = records.get(asked.owner, asked.record_id).subject_id
    seen = Seen.of(asked.owner, subject)
    return records.get(asked.owner, asked.record_id), seen


def request_of(asked: Asked) -> Request:
    """The user's words, where they stand, and what was said before them.

    Raises:
        NotFoundError: The owner has no such event.
        ForbiddenError: The event is not the user's, whatever its kind says, or does not hold the
            quote.
    """
    found = events.by_ids(asked.owner, [asked.event_id])
    if not found:
        raise NotFoundError("There is no event of that id for this owner; quote one that there is.")
    event = found[0]
    if event.role is not Role.USER:
        raise ForbiddenError(
            f"Only the user's own words do that, and this event is from {event.role.value}. Quote an"
            " event whose role is user.",
            details={"reason": "role"},
        )
    place = locate(asked.quote, event.text)
    if place is None:
        raise ForbiddenError(
            "The quote does not stand in that event. Quote the user word for word.",
            details={"reason": "quote"},
        )
    start, end = place
    span = Span(event.id, event.seq, start, end, event.text[start:end])
    return Request(event, span, own_words(simplified(event.text)), _turns_before(event))


def _turns_before(event: Event) -> tuple[Event, ...]:
    """What the user can have had before them: the stream's last turns, and what pages and tools said."""
    near = events.between(event.owner, event.seq - 1 - _NEAR, event.seq - 1, _NEAR)
    turns = {
        turn.seq: turn for turn in near if turn.stream == event.stream or turn.role in DATA_ROLES
    }
    turns |= {turn.seq: turn for turn in events.by_ids(event.owner, event.causes)}
    return tuple(turns[seq] for seq in sorted(turns) if seq < event.seq)


# ---- refusals ----------------------------------------------------------------


def refuse(reason: Refusal | None) -> None:
    """Refuse for a reason, if there is one.

    Raises:
        ForbiddenError: There is one; `details.reason` names it.
    """
    if reason is not None:
        raise ForbiddenError(TOLD[reason], details={"reason": reason.value})


def check_revision(record: Record, expected: int) -> None:
    """Let pass what was asked of the record as it stands.

    Raises:
        RevisionConflictError: It has changed since; `details` names both revisions.
    """
    if record.object_revision != expected:
        raise RevisionConflictError(
            "The record has changed since it was read; read it again and decide again.",
            details={"expected": expected, "current": record.object_revision},
        )


def replaced(record: Record) -> StaleError:
    """Why a superseded record is left alone, and which has taken its place."""
    return StaleError(
        "The record has been superseded: confirm or correct the one that took its place.",
        details={"status": record.status.value, "superseded_by": replacements(record)},
    )


def replacements(record: Record) -> list[str]:
    """The ids of the records that have taken a record's place."""
    found = superseding(record.owner_scope, record.subject_id, [record.id])
    return found.get(record.id, [])


def check_alone(record: Record, others: Iterable[Record]) -> None:
    """Let pass a record that no other one repeats: two that say the same must not both hold.

    Raises:
        StaleError: Another one does, and holds already.
    """
    same = [
        other.id
        for other in others
        if other.id != record.id and other.status in LIVE and same_statement(record, other)
    ]
    if same:
        raise _said_elsewhere(same)


def check_won(
    record_id: str, changed: Sequence[Record], merged: Mapping[str, str] = _NOTHING
) -> None:
    """Let pass what settling, which weighs a request like any other statement, lets hold.

    Raises:
        StaleError: Another record says the same, or the user has said something newer.
    """
    if record_id in merged:
        raise _said_elsewhere([merged[record_id]])
    made = {record.id: record for record in changed}
    if made[record_id].status is RecordStatus.SUPERSEDED:
        newer = [record.id for record in changed if record_id in record.supersedes]
        raise StaleError(
            "The user has said something newer in its place: confirm or correct that.",
            details={"superseded_by": newer},
        )


def _said_elsewhere(ids: Sequence[str]) -> StaleError:
    return StaleError(
        "Another record says the same: confirm or correct that one.", details={"record_ids": ids}
    )
