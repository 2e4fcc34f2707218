"""Forgetting: what is asked for, and how far it has come."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ForgettingState(StrEnum):
    """How a forgetting stands; only `done` promises that no byte is left."""

    ERASING = "erasing"
    DONE = "done"
    BLOCKED = "blocked"


class ForgettingStep(StrEnum):
    """What of a forgetting is being worked on, in this order.

    `rows`: what was selected leaves the tables. `words`: index entries that held its words are made
    anew. `index`, `exports`: the index folder and the exports are written anew. `bytes`: every file
    is searched. `closing`: the list of what to search for goes.
    """

    ROWS = "rows"
    WORDS = "words"
    INDEX = "index"
    EXPORTS = "exports"
    BYTES = "bytes"
    CLOSING = "closing"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be forgotten: any of these; `before` is epoch milliseconds."""

    record_ids: tuple[str, ...] = ()
    event_ids: tuple[str, ...] = ()
    task_ids: tuple[str, ...] = ()
    object_id: str | None = None
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Targets:
    """A selection made out: ids of records, sequence numbers of events, and an object's own row."""

    records: tuple[str, ...]
    seqs: tuple[int, ...]
    object_id: str | None = None


@dataclass(frozen=True, slots=True)
class ForgettingPart:
    """As much of a forgetting as one transaction takes away."""

    place: int
    records: tuple[str, ...]
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Forgetting:
    """A forgetting as it stands. Times are epoch milliseconds.

    `counts` says what has gone so far, `remaining` what stands in the way, in words without any of
    the user's. `masked_from` is the index entry above which its own entries stand.
    """

    id: str
    owner: str
    state: ForgettingState
    step: ForgettingStep
    requested_at: int
    masked_from: int = 0
    object_id: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    remaining: tuple[str, ...] = ()
    attempt: int = 0
    next_attempt_at: int = 0
    finished_at: int | None = None
