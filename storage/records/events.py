"""Events: what was accepted through the socket, immutable from then on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

OWNER_OBJECT = "@owner"
"""The reserved domain object that stands for the owner (spec: protocol, Owners)."""


class Role(StrEnum):
    """Who spoke. Set by the caller once, judged by the server for ever (mission A4)."""

    USER = "user"
    SUPERVISOR = "supervisor"
    EXECUTOR = "executor"
    OBSERVATION = "observation"
    VERIFICATION = "verification"
    RUNTIME = "runtime"
    SCHEDULE = "schedule"
    EXTERNAL = "external"

    @property
    def by_model(self) -> bool:
        """Whether a model writes such text, so that hidden reasoning may stand in it unclosed."""
        return self in {Role.SUPERVISOR, Role.EXECUTOR}


class Priority(IntEnum):
    """What goes first. Lower goes earlier."""

    URGENT = 0
    HIGH = 1
    NORMAL = 2
    LOW = 3


class ObjectKind(StrEnum):
    """What an object is (mission D4)."""

    DOMAIN = "domain"
    PROJECT = "project"
    ASSET = "asset"
    PROCESS = "process"
    SCHEDULE = "schedule"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An object as an event names it. `kind` and `title` are hints for its creation."""

    id: str
    kind: ObjectKind | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An accepted event, redacted. Times are epoch milliseconds.

    `seq` is the global sequence number, 0 before the event is stored. The first of `objects`
    is the primary one.
    """

    owner: str
    id: str
    kind: str
    at: int
    role: Role
    seq: int = 0
    text: str = ""
    data: Mapping[str, object] | None = None
    stream: str | None = None
    speaker: str | None = None
    ref: str | None = None
    objects: tuple[ObjectRef, ...] = ()
    task_id: str | None = None
    task_version: int | None = None
    request_id: str | None = None
    causes: tuple[str, ...] = ()
    priority: Priority = Priority.NORMAL
    recalled: tuple[str, ...] = ()
    expires_at: int | None = None
    received_at: int = 0
    redactions: Mapping[str, int] = field(default_factory=dict)

    @property
    def subject_id(self) -> str:
        """The primary object, or the owner's reserved one."""
        return self.objects[0].id if self.objects else OWNER_OBJECT

    @property
    def lane(self) -> str:
        """What keeps packages in order: task, else first object, else stream, else role."""
        if self.task_id is not None:
            return f"task:{self.task_id}"
        if self.objects:
            return f"object:{self.objects[0].id}"
        if self.stream is not None:
            return f"stream:{self.stream}"
        return f"role:{self.role}"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What ingest answers for one event. A forgotten one is a duplicate of which nothing is stored."""

    id: str
    seq: int
    duplicate: bool
    redactor_changed: bool = False
    forgotten: bool = False
    redactions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Positions:
    """How far an owner's events have come (mission B3; spec: protocol, Positions).

    `received`, `organized` and `published` are sequence numbers; `backlog` and `dead` count events.
    """

    received: int = 0
    organized: int = 0
    published: int = 0
    backlog: int = 0
    dead: int = 0


class Fate(StrEnum):
    """What the filter made of an event; a forgotten one has left nothing but its number."""

    AUDIT = "audit"
    PACKAGED = "packaged"
    MERGED = "merged"
    WAITING = "waiting"
    FORGOTTEN = "forgotten"
