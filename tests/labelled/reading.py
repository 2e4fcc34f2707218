"""The labelled logs as objects; README.md beside this file tells their form."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final

from storage.records.events import Event, ObjectRef, Role
from storage.records.knowledge import RecordKind
from storage.records.runs import Package, PackagedEvent, PackageState, Stage, WorkPackage

BEIJING: Final = timezone(timedelta(hours=8))
HERE: Final = Path(__file__).parent
DEV: Final = HERE / "logs_dev.jsonl"
HELD_OUT: Final = HERE / "logs_held_out.jsonl"
INDEPENDENT: Final = HERE / "logs_independent.jsonl"
UNSEEN: Final = HERE / "logs_unseen.jsonl"

_START: Final = "2026-03-03 10:00"
_STEP_MS: Final = 60_000
_EVENT: Final = re.compile(r"([a-z]+)(?:=([a-z]+))?(?: x(\d+))?: (.+)", re.DOTALL)
_WHO: Final[Mapping[str, tuple[str, Role, dict[str, object] | None]]] = {
    "user": ("user.message", Role.USER, None),
    "correction": ("user.correction", Role.USER, None),
    "reply": ("supervisor.reply", Role.SUPERVISOR, None),
    "decision": ("supervisor.decision", Role.SUPERVISOR, None),
    "promise": ("supervisor.commitment", Role.SUPERVISOR, None),
    "call": ("executor.call", Role.EXECUTOR, None),
    "ok": ("executor.receipt", Role.EXECUTOR, {"ok": True}),
    "fail": ("executor.receipt", Role.EXECUTOR, {"ok": False}),
    "artifact": ("executor.artifact", Role.EXECUTOR, None),
    "pi": ("pi.report", Role.EXECUTOR, None),
    "saw": ("executor.observation", Role.OBSERVATION, None),
    "passed": ("verification.result", Role.VERIFICATION, {"passed": True}),
    "failed": ("verification.result", Role.VERIFICATION, {"passed": False}),
    "state": ("task.state", Role.RUNTIME, None),
    "due": ("schedule.due", Role.SCHEDULE, None),
    "external": ("external.content", Role.EXTERNAL, None),
}
_TALK: Final = frozenset({Role.USER, Role.SUPERVISOR})
_LABELS: Final = frozenset({"expect", "may", "must_not"})
_LOG_KEYS: Final = _LABELS | {"id", "lang", "about", "at", "task", "object", "log", "nothing"}
_OPTIONS: Final = frozenset({"due", "from", "to", "once", "class", "profile", "subject"}) | {
    "steps",
    "failure",
    "verify",
    "without",
}


@dataclass(frozen=True, slots=True)
class Label:
    """A description of records: kinds, words that must all occur, and what else must hold."""

    kinds: tuple[RecordKind, ...]
    words: tuple[str, ...]
    options: Mapping[str, Any]

    @property
    def kind(self) -> RecordKind:
        """The kind it counts under."""
        return self.kinds[0]

    def __str__(self) -> str:
        options = "".join(f" {name}={value}" for name, value in self.options.items())
        return f"{'|'.join(self.kinds)} {list(self.words)}{options}"


@dataclass(frozen=True, slots=True)
class Log:
    """A labelled log, and the package that an observer gets of it."""

    id: str
    lang: str
    about: str
    work: WorkPackage
    expect: tuple[Label, ...]
    may: tuple[Label, ...]
    must_not: tuple[Label, ...]
    nothing: bool

    @property
    def works(self) -> bool:
        """Whether more than talk happens in it, so that an episode may tell of it."""
        events = [item.event for item in self.work.events]
        return any(event.task_id or event.role not in _TALK for event in events)

    @property
    def guards(self) -> bool:
        """Whether it names something that must not be kept."""
        return self.nothing or bool(self.must_not)


def read(path: Path) -> list[Log]:
    """The logs of a file.

    Raises:
        ValueError: A line is not in the form that README.md tells; the message names its log.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    return [log_of(json.loads(line)) for line in lines if line.strip()]


def log_of(raw: Mapping[str, Any]) -> Log:
    """A log from its line.

    Raises:
        ValueError: It is not in the form that README.md tells; the message names the log.
    """
    unknown = raw.keys() - _LOG_KEYS
    if unknown:
        raise ValueError(f"{raw.get('id')}: unknown {sorted(unknown)}")
    labels = {
        name: tuple(_label(raw["id"], item) for item in raw.get(name, ())) for name in _LABELS
    }
    nothing = raw.get("nothing", False)
    if not (nothing or labels["expect"] or labels["must_not"]):
        raise ValueError(f"{raw['id']}: says nothing of what to keep")
    if nothing and labels["expect"]:
        raise ValueError(f"{raw['id']}: nothing may be kept, yet something is expected")
    work = _package(raw)
    return Log(raw["id"], raw["lang"], raw["about"], work, **labels, nothing=nothing)


def _label(log_id: str, raw: Mapping[str, Any]) -> Label:
    (kinds, *more) = [name for name in raw if name not in _OPTIONS]
    if more:
        raise ValueError(f"{log_id}: a label names its kinds once, not also {more}")
    every = [kind for kind in RecordKind if kind is not RecordKind.EPISODE]
    named = every if kinds == "any" else [RecordKind(kind) for kind in kinds.split("|")]
    if not isinstance(raw[kinds], list):
        raise ValueError(f"{log_id}: the words of a label are a list")  # noqa: TRY004 - of the file
    options = {name: value for name, value in raw.items() if name in _OPTIONS}
    return Label(tuple(named), tuple(raw[kinds]), options)


def _package(raw: Mapping[str, Any]) -> WorkPackage:
    start = datetime.strptime(raw.get("at", _START), "%Y-%m-%d %H:%M").replace(tzinfo=BEIJING)
    opened = int(start.timestamp() * 1000)
    items = tuple(_packaged(raw, number, opened) for number in range(len(raw["log"])))
    first = items[0].event
    package = Package(
        id=1,
        owner=first.owner,
        lane=first.lane,
        object_id=first.subject_id,
        stage=Stage.OBSERVE,
        state=PackageState.LEASED,
        attempt=0,
        fence=1,
        priority=first.priority,
        first_seq=1,
        last_seq=len(items),
        events=len(items),
        opened_at=opened,
        task_id=first.task_id,
    )
    return WorkPackage(package, items)


def _packaged(raw: Mapping[str, Any], number: int, opened: int) -> PackagedEvent:
    found = _EVENT.fullmatch(raw["log"][number])
    if found is None or found[1] not in _WHO:
        raise ValueError(f"{raw['id']}: event {number} is not 'who: text'")
    who, state, times, text = found.groups()
    kind, role, data = _WHO[who]
    if who == "state":
        data = {"state": state}
    at = opened + number * _STEP_MS
    event = Event(
        owner="local",
        id=f"e{number}",
        kind=kind,
        at=at,
        role=role,
        seq=number + 1,
        text=text,
        data=data,
        stream="desk",
        objects=(ObjectRef(raw["object"]),) if "object" in raw else (),
        task_id=raw.get("task"),
    )
    return PackagedEvent(event, int(times or 1), at, at)
