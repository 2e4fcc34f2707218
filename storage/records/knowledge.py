"""Knowledge: records with the evidence they rest on, and the objects they are about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

from storage.records.events import ObjectKind, Role


class RecordKind(StrEnum):
    """Kinds of memory (mission D1)."""

    COMMITMENT = "commitment"
    EPISODE = "episode"
    FACT = "fact"
    PREFERENCE = "preference"
    RULE = "rule"
    CORRECTION = "correction"
    PROCEDURE = "procedure"
    CUE = "cue"


class RecordStatus(StrEnum):
    """A record's life (mission D3)."""

    CANDIDATE = "candidate"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    ARCHIVED = "archived"


class ObjectState(StrEnum):
    """An object's life, independent of its records' (mission D3)."""

    ACTIVE = "active"
    DORMANT = "dormant"
    DONE = "done"


class Authority(IntEnum):
    """Whose word a record rests on; higher wins (spec: protocol, Who wins).

    Set by the server from the roles of the evidence, never from text.
    """

    EXTERNAL = 0
    INFERENCE = 1
    OBSERVATION = 2
    VERIFICATION = 3
    USER = 4


class FactClass(StrEnum):
    """What a fact is about (mission F3)."""

    PROFILE = "profile"
    PROJECT = "project"
    ENVIRONMENT = "environment"


class ProfileKind(StrEnum):
    """What of a person a profile fact tells (mission F3)."""

    IDENTITY = "identity"
    COMMUNICATION = "communication"
    WORK_STYLE = "work_style"


class RejectionCode(StrEnum):
    """Why a proposal did not take effect (spec: protocol, Observation)."""

    NO_SOURCE = "no_source"
    QUOTE_NOT_FOUND = "quote_not_found"
    UNTRUSTED_SOURCE = "untrusted_source"
    SCOPE_WIDENED = "scope_widened"
    OVERRIDES_NEWER = "overrides_newer"
    SENSITIVE = "sensitive"
    TOO_LONG = "too_long"
    TOO_MANY = "too_many"
    ECHO = "echo"
    UNKNOWN_OBJECT = "unknown_object"
    DUPLICATE = "duplicate"
    DEGENERATE = "degenerate"


@dataclass(frozen=True, slots=True)
class Span:
    """Verbatim evidence: code points `start` to `end` of one event's text are `quote`.

    `seq` is below 0 where the event is in another memory, which the record was imported from.
    """

    event_id: str
    seq: int
    start: int
    end: int
    quote: str

    def stands_in(self, text: str) -> bool:
        """Whether its event's text still gives these words at this place."""
        return text[self.start : self.end] == self.quote


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an event that a record quotes came from: what decides whether it bears out on its own.

    `chain` holds the requests and the first events that led to it; origins that share one are one
    source. `recalled` names the records that its speaker had in view. Kept with the record, since
    events may be forgotten.
    """

    event_id: str
    at: int
    role: Role
    chain: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a record holds. Empty means wherever its subject is met; `once` means that one time."""

    objects: tuple[str, ...] = ()
    task: str | None = None
    once: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """A proposal's pointer to its evidence, not yet checked."""

    event_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an observer suggests. Nothing of it holds before the program has validated it."""

    kind: RecordKind
    content: str
    evidence: tuple[Quote, ...]
    subject: str | None = None
    key: str | None = None
    value: str | None = None
    fact_class: FactClass | None = None
    profile_kind: ProfileKind | None = None
    scope: Scope = field(default_factory=Scope)
    valid_from: int | None = None
    valid_to: int | None = None
    review_at: int | None = None
    supersedes: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    failure: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A unit of memory (mission D2). Times are epoch milliseconds.

    `revision` counts this record's versions; `object_revision` is its object's revision at its last
    change, which is what `expected_revision` compares with. `links` names records that this one
    rolls up, which stay as they are. `origins` tells of the events in `evidence` where they came
    from; one that is missing is a source of its own.
    """

    id: str
    owner_scope: str
    subject_id: str
    kind: RecordKind
    content: str
    observed_at: int
    recorded_at: int
    status: RecordStatus
    authority: Authority
    evidence: tuple[Span, ...] = ()
    revision: int = 1
    object_revision: int = 0
    key: str | None = None
    value: str | None = None
    fact_class: FactClass | None = None
    profile_kind: ProfileKind | None = None
    scope: Scope = field(default_factory=Scope)
    valid_from: int | None = None
    valid_to: int | None = None
    review_at: int | None = None
    supersedes: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    failure: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    reason: str | None = None
    package_id: int | None = None

    @property
    def due_at(self) -> int | None:
        """When a commitment is due; it has no other time to be looked at again."""
        if self.kind is not RecordKind.COMMITMENT:
            return None
        return self.review_at if self.review_at is not None else self.valid_to


class Change(StrEnum):
    """What a journal entry says of records (mission A2: what is derived can be made anew).

    `settle`: the accepted proposals of a package were weighed. `confirm`: the user confirmed a
    record. `expire` and `archive`: a record's status changed by rule or request. `versions`: the
    subject's records stood at these versions, whatever had led there.
    """

    SETTLE = "settle"
    CONFIRM = "confirm"
    EXPIRE = "expire"
    ARCHIVE = "archive"
    VERSIONS = "versions"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One change to the records of one subject; `object_revision` is the revision it made.

    `body` holds no text of the user: ids, places in events, versions, reasons that are codes.
    """

    owner: str
    subject_id: str
    object_revision: int
    change: Change
    at: int
    seq: int = 0
    package_id: int | None = None
    record_id: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """What memory is about: a domain, project, asset, process, schedule or run (mission D4)."""

    owner: str
    id: str
    kind: ObjectKind
    title: str
    state: ObjectState
    revision: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A published, bounded view of an object or of the owner's core.

    `version` is the owner's memory version at its publication; `hash` is of the content alone.
    """

    owner: str
    object_id: str
    version: int
    published_at: int
    hash: str
    sections: tuple[Mapping[str, object], ...]
    tokens: int
