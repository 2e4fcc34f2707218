"""Recall: a question, and what was found for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from storage.records.events import Event
from storage.records.knowledge import Record, Span


class RecallState(StrEnum):
    """Four different answers and the wait for one (mission E1)."""

    PENDING = "pending"
    COMPLETE = "complete"
    NOT_FOUND = "not_found"
    UNAVAILABLE = "unavailable"
    EXPIRED = "expired"


class Reason(StrEnum):
    """Why a hit was found (spec: protocol, Recall)."""

    OBJECT = "object"
    BINDING = "binding"
    ID = "id"
    KEYWORD = "keyword"
    CUE = "cue"
    MEANING = "meaning"
    RECENT = "recent"


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A recall request. `items` and `tokens` are its budget; `expires_at` is epoch milliseconds."""

    request_id: str
    owner: str
    query: str
    objects: tuple[str, ...] = ()
    task: str | None = None
    purpose: str | None = None
    items: int = 10
    tokens: int = 2000
    intent_version: int | None = None
    expires_at: int | None = None
    include_past: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A record, or an event that no record holds yet, with why it was found and its evidence.

    `rivals` are the records that a record is in conflict with. `recheck`: its review time has come,
    and it must not be told as what is so now. `overdue`: a commitment whose day has passed.
    """

    score: float
    reasons: tuple[Reason, ...]
    record: Record | None = None
    event: Event | None = None
    evidence: tuple[tuple[Span, Event], ...] = ()
    rivals: tuple[Record, ...] = ()
    recheck: bool = False
    overdue: bool = False


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What a recall found; `index_lag` counts index entries that the follower has not reached."""

    state: RecallState
    memory_version: int = 0
    index_lag: int = 0
    binding: tuple[Hit, ...] = ()
    hits: tuple[Hit, ...] = ()
    gaps: tuple[str, ...] = ()
    truncated: bool = False
    expired: str | None = None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One document of the lexical index, as the ledger keeps it.

    `document` is `e:<seq>` or `r:<record id>`; the newest entry of a document replaces the older
    ones, and `gone` takes the document out. `fields` holds space-joined terms by field name.
    """

    seq: int
    owner: str
    document: str
    at: int
    fields: Mapping[str, str] = field(default_factory=dict)
    gone: bool = False
