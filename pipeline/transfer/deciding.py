"""What a document means for memory as it stands: pure, one document at a time (mission D9).

An edit is taken only against the very version that it was made on. What somebody may edit is what a
record says and how long it holds; whose it is, where it comes from and what it rests on is not
theirs to write. A record that is not known here comes in whole, and only as it was exported.

What an import trusts: the digest in a document has no key, so it finds edits, not forgeries. An
import is the act of an operator who answers for the files. What is checked all the same: a record
that comes in is no larger than one that is proposed; what only the user's words can bring about has
to be the user's and rest on some that are not known here to be somebody else's; and one whose
evidence lies here weighs no more than that (mission B5).
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Final

from pipeline.rules.relating import DISABLED, LIVE
from pipeline.rules.trusting import RETELLING
from pipeline.rules.validating import MAX_CONTENT, MAX_CUE, MAX_ENTRIES, MAX_KEY
from pipeline.rules.wording import degenerate
from pipeline.transfer.reading import ReadObject, ReadRecord
from pipeline.transfer.refusals import Refusal
from pipeline.transfer.resting import needs_user
from storage.records.events import OWNER_OBJECT
from storage.records.knowledge import (
    Authority,
    MemoryObject,
    Record,
    RecordKind,
    RecordStatus,
)


class Outcome(StrEnum):
    """What became of a document."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    OLDER = "older"
    CONFLICT = "conflict"
    FORGOTTEN = "forgotten"
    IGNORED = "ignored"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Version:
    """Which version of a record or an object."""

    revision: int
    object_revision: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a document means.

    Attributes:
        outcome: What becomes of it.
        form: `record`, `object` or `index`; None where it is none of them.
        id: The record's or object's.
        code: Of a refusal: why.
        reason: Of a refusal: what is wrong.
        field: Of a refusal: in which field.
        line: Of a refusal: in which line.
        expected: Of a conflict: the version that the document was made from.
        current: Of a conflict: the version that memory has.
        record: What is to be written.
        object: What is to be written.
        edited: The record's fields whose words are new.
    """

    outcome: Outcome
    form: str | None = None
    id: str | None = None
    code: Refusal | None = None
    reason: str | None = None
    field: str | None = None
    line: int | None = None
    expected: Version | None = None
    current: Version | None = None
    record: Record | None = None
    object: MemoryObject | None = None
    edited: tuple[str, ...] = ()

    def refused(self, code: Refusal, reason: str, field: str | None = None) -> "Decision":
        """The same document, refused."""
        return Decision(Outcome.REFUSED, self.form, self.id, code=code, reason=reason, field=field)

    def so(self, outcome: Outcome) -> "Decision":
        """The same document with an outcome that writes nothing."""
        return Decision(outcome, self.form, self.id)


MAX_TITLE: Final = 200
"""Code points of an object's title, as for any object that is put."""

WORDS: Final = ("content", "value", "conditions", "steps", "failure", "verify", "cues")
"""Fields of a record whose words may be edited, each resting on the edit from then on."""

_TIMES: Final = ("valid_from", "valid_to", "review_at")
_EDITABLE: Final = frozenset({*WORDS, *_TIMES, "status"})
_COUNTED: Final = frozenset({"revision", "object_revision", "package_id", "evidence"})
_FIXED: Final = tuple(
    field.name for field in fields(Record) if field.name not in _EDITABLE | _COUNTED
)
_TOLD_AS: Final = {"owner_scope": "owner", "subject_id": "subject", "fact_class": "class"}
_ENDED: Final = frozenset({RecordStatus.EXPIRED, RecordStatus.ARCHIVED})
_RESERVED: Final = "ids that begin with @ are reserved"
_UNKNOWN: Final = "memory has nothing here to edit; import the unchanged document first"


# ---- records ---------------------------------------------------------------


def decide_record(found: ReadRecord, present: Record | None, now: int) -> Decision:
    """What a record's document means.

    Args:
        found: What it says.
        present: The record as memory has it.
        now: Epoch milliseconds: when an edit's words are said.
    """
    record = found.record
    base = Decision(Outcome.UNCHANGED, "record", record.id)
    if present is None:
        return _arriving(found, base)
    edits = [name for name in sorted(_EDITABLE) if getattr(record, name) != getattr(present, name)]
    expected, current = _version(record), _version(present)
    if expected == current:
        return _edited(record, present, edits, base, now)
    if not edits:
        return base
    return _behind(found.sealed, expected, current, base)


def _version(record: Record) -> Version:
    return Version(record.revision, record.object_revision)


def _arriving(found: ReadRecord, base: Decision) -> Decision:
    record = found.record
    if not found.sealed:
        return base.refused(Refusal.EDITED, _UNKNOWN)
    if needs_user(record) and record.authority is not Authority.USER:
        return base.refused(
            Refusal.UNTRUSTED_SOURCE, "only the user's own words can back this", "authority"
        )
    if record.kind is RecordKind.COMMITMENT and record.authority < Authority.INFERENCE:
        return base.refused(
            Refusal.UNTRUSTED_SOURCE, "a commitment needs the words of who made it", "authority"
        )
    too_long = _too_long(record, WORDS) or _key_too_long(record)
    if too_long is not None:
        return base.refused(*too_long)
    return replace(base, outcome=Outcome.CREATED, record=record)


def _key_too_long(record: Record) -> tuple[Refusal, str, str] | None:
    if len(record.key or "") <= MAX_KEY:
        return None
    return Refusal.TOO_LONG, f"at most {MAX_KEY} characters", "key"


def _edited(
    record: Record, present: Record, edits: list[str], base: Decision, now: int
) -> Decision:
    tampered = _tampered(record, present)
    if tampered is not None:
        return base.refused(Refusal.NOT_EDITABLE, "it can't be edited; put it back", tampered)
    if not edits:
        return base
    if present.status not in LIVE:
        return base.refused(
            Refusal.NOT_EDITABLE, "the record holds no longer; say it anew", "status"
        )
    if "status" in edits and record.status not in _ENDED:
        return base.refused(Refusal.NOT_EDITABLE, "it can be set to archived or expired", "status")
    fault = _fault(record, edits)
    if fault is not None:
        return base.refused(*fault)
    words = tuple(name for name in WORDS if name in edits)
    return replace(
        base, outcome=Outcome.UPDATED, record=_next(record, present, words, now), edited=words
    )


def _tampered(record: Record, present: Record) -> str | None:
    """The first field that nobody may edit and that differs."""
    for name in _FIXED:
        if getattr(record, name) != getattr(present, name):
            return _TOLD_AS.get(name, name)
    return None if _said(record) == _said(present) else "evidence"


def _said(record: Record) -> frozenset[tuple[str, int, int, str]]:
    """What a record rests on, whatever database numbers it."""
    return frozenset((s.event_id, s.start, s.end, s.quote) for s in record.evidence)


def _fault(record: Record, edits: list[str]) -> tuple[Refusal, str, str] | None:
    """What is wrong with an edit, as for any proposal."""
    too_long = _too_long(record, edits)
    if too_long is not None:
        return too_long
    for name in ("content", "cues"):
        if name in edits and any(map(degenerate, _texts(record, name))):
            return Refusal.DEGENERATE, "it is empty, or repeats itself", name
    start, end = record.valid_from, record.valid_to
    if start is not None and end is not None and end < start:
        return Refusal.DEGENERATE, "the validity ends before it starts", "valid_to"
    return None


def _too_long(record: Record, names: Iterable[str]) -> tuple[Refusal, str, str] | None:
    """The first of these fields that holds more than a proposal's may."""
    for name in names:
        limit = MAX_CUE if name == "cues" else MAX_CONTENT
        texts = _texts(record, name)
        if len(texts) > MAX_ENTRIES or any(len(text) > limit for text in texts):
            told = f"at most {MAX_ENTRIES} entries of {limit} characters"
            return Refusal.TOO_LONG, told, name
    return None


def _texts(record: Record, name: str) -> tuple[str, ...]:
    value = getattr(record, name)
    return (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()


def _next(record: Record, present: Record, words: tuple[str, ...], now: int) -> Record:
    """The present record with what was edited, in its next version."""
    edited = {name: getattr(record, name) for name in (*WORDS, *_TIMES, "status")}
    made = replace(present, **edited, revision=present.revision + 1)
    if record.status is RecordStatus.ARCHIVED and present.status is not RecordStatus.ARCHIVED:
        # The user has put it away: it is not to come back because somebody repeats it.
        made = replace(made, reason=DISABLED)
    if words:
        made = replace(made, observed_at=now, authority=_authority(present))
    return made


def _authority(present: Record) -> Authority:
    """Whose word an edited record is: the user's, but for what retells others or came from outside."""
    if present.kind in RETELLING or present.authority is Authority.EXTERNAL:
        return present.authority
    return Authority.USER


# ---- objects ---------------------------------------------------------------


def decide_object(found: ReadObject, present: MemoryObject | None) -> Decision:
    """What an object's document means."""
    wanted = found.object
    base = Decision(Outcome.UNCHANGED, "object", wanted.id)
    if present is None:
        if not found.sealed:
            return base.refused(Refusal.EDITED, _UNKNOWN)
        return _unfit(wanted, base) or replace(base, outcome=Outcome.CREATED, object=wanted)
    if _looks(wanted) == _looks(present):
        return base
    if wanted.revision == present.revision:
        return _renamed(wanted, base)
    expected, current = Version(wanted.revision), Version(present.revision)
    return _behind(found.sealed, expected, current, base)


def _renamed(wanted: MemoryObject, base: Decision) -> Decision:
    if wanted.id == OWNER_OBJECT:
        return base.refused(Refusal.NOT_EDITABLE, _RESERVED, "id")
    return _unfit(wanted, base) or replace(base, outcome=Outcome.UPDATED, object=wanted)


def _unfit(wanted: MemoryObject, base: Decision) -> Decision | None:
    """The refusal of an object that nobody could put."""
    if wanted.id.startswith("@") and wanted.id != OWNER_OBJECT:
        return base.refused(Refusal.NOT_EDITABLE, _RESERVED, "id")
    if not 1 <= len(wanted.title) <= MAX_TITLE:
        told = f"a title has 1 to {MAX_TITLE} characters"
        return base.refused(Refusal.TOO_LONG, told, "title")
    return None


def _looks(found: MemoryObject) -> tuple[str, str, str]:
    return found.kind.value, found.title, found.state.value


def _behind(sealed: bool, expected: Version, current: Version, base: Decision) -> Decision:  # noqa: FBT001 - one of four that belong together
    """A document of another version than memory has: an old one says nothing, an edit is in vain."""
    if sealed and expected.revision <= current.revision:
        return base.so(Outcome.OLDER)
    return replace(base, outcome=Outcome.CONFLICT, expected=expected, current=current)
