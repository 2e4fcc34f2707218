"""Events, packages and records for tests of observers and the rules around them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storage.records.events import Event, ObjectKind, ObjectRef, Priority, Role
from storage.records.knowledge import (
    Authority,
    Quote,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)
from storage.records.runs import Package, PackagedEvent, PackageState, Stage, WorkPackage

AT = 1_772_500_000_000
"""2026-03-03 09:06 in Beijing, a Tuesday."""

DAY = 86_400_000

EXPENSE = ObjectRef("expense", ObjectKind.DOMAIN, "报销")


@dataclass(frozen=True)
class Said:
    """What a test says of an event; the rest is filled in."""

    text: str
    role: Role = Role.USER
    kind: str = "user.message"
    data: dict[str, object] | None = None
    objects: tuple[ObjectRef, ...] = (EXPENSE,)
    task: str | None = None
    count: int = 1
    recalled: tuple[str, ...] = ()
    speaker: str | None = None


def event_of(said: Said, *, number: int = 0, at: int = AT) -> Event:
    """An accepted event; its id and sequence number tell its `number`."""
    return Event(
        owner="local",
        id=f"e{number}",
        kind=said.kind,
        at=at + number * 1_000,
        role=said.role,
        seq=number + 1,
        text=said.text,
        data=said.data,
        objects=said.objects,
        task_id=said.task,
        recalled=said.recalled,
        speaker=said.speaker,
    )


def package_of(said: Sequence[Said], *, known: Sequence[Record] = ()) -> WorkPackage:
    """A leased package of these events, all of one lane."""
    events = [event_of(item, number=number) for number, item in enumerate(said)]
    subject = events[0].subject_id if events else EXPENSE.id
    package = Package(
        id=7,
        owner="local",
        lane=f"object:{subject}",
        object_id=subject,
        stage=Stage.OBSERVE,
        state=PackageState.LEASED,
        attempt=0,
        fence=1,
        priority=Priority.NORMAL,
        first_seq=1,
        last_seq=max(len(events), 1),
        events=len(events),
        opened_at=AT,
        task_id=said[0].task if said else None,
    )
    packaged = tuple(
        PackagedEvent(event, item.count, event.at, event.at)
        for event, item in zip(events, said, strict=True)
    )
    return WorkPackage(package, packaged, tuple(known))


def quote(text: str, number: int = 0) -> Quote:
    """Evidence from the event of that number."""
    return Quote(f"e{number}", text)


def record(record_id: str, content: str, **changes: object) -> Record:
    """An active rule of the user about expenses, said `day` days after `AT`."""
    day = changes.pop("day", 0)
    assert isinstance(day, int)
    made = Record(
        id=record_id,
        owner_scope="local",
        subject_id=EXPENSE.id,
        kind=RecordKind.RULE,
        content=content,
        observed_at=AT + day * DAY,
        recorded_at=AT,
        status=RecordStatus.ACTIVE,
        authority=Authority.USER,
        evidence=(Span(f"e-{record_id}", 1, 0, len(content), content),),
        scope=Scope(),
    )
    return replace(made, **changes)  # type: ignore[arg-type]
