"""Documents into records and objects: the way back of `pipeline.projections.markdown`, strict.

A document says everything in one way; what is said otherwise, twice or not at all is refused with
its field and its line, never guessed.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final, TypeVar

from pipeline.projections.markdown import INDEX, LAST_WRITTEN_TIME, OBJECT, RECORD, RECORD_LISTS
from pipeline.rules.sealing import MARK, is_sealed, plain
from pipeline.rules.workdays import BEIJING
from pipeline.transfer.front_matter import Parts, split
from pipeline.transfer.refusals import Refusal, Unreadable
from storage.records.events import ObjectKind, Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    MemoryObject,
    ObjectState,
    Origin,
    ProfileKind,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)

Choice = TypeVar("Choice", bound=Enum)

MAX_ID: Final = 200
MAX_INT: Final = 2**63 - 1
MAX_REVISION: Final = 2**53
"""Above it nothing counts up to: a made-up revision must leave room to go on from."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_FENCE: Final = re.compile(r"(`{3,})text")
_AUTHORITIES: Final = {authority.name.lower(): authority for authority in Authority}
_COMMON: Final = frozenset({MARK, "digest", "id", "owner", "kind", "revision"})
_RECORD_FIELDS: Final = _COMMON | {
    "subject", "status", "authority", "object_revision", "observed_at", "recorded_at",
    "valid_from", "valid_to", "review_at", "class", "profile_kind", "key", "value", "reason",
    "scope", "content", "evidence", "origins", *RECORD_LISTS,
}  # fmt: skip
_OBJECT_FIELDS: Final = _COMMON | {"title", "state", "created_at", "updated_at"}
_ORIGIN_NEEDS: Final = 3
_ID_LISTS: Final = frozenset({"supersedes", "conflicts_with", "links"})


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """A record as a document says it is; `sealed` when nobody has edited the document.

    Its evidence stands under negative sequence numbers: those of this database are not known yet.
    """

    record: Record
    sealed: bool


@dataclass(frozen=True, slots=True)
class ReadObject:
    """An object as a document says it is; `sealed` when nobody has edited the document."""

    object: MemoryObject
    sealed: bool


@dataclass(frozen=True, slots=True)
class ReadIndex:
    """A list of other documents; nothing stands in it that they don't say."""


Read = ReadRecord | ReadObject | ReadIndex


def read(text: str) -> Read:
    """What a document says.

    Raises:
        Unreadable: It is no document of an export, or can't be read without guessing.
    """
    whole = plain(text)
    parts = split(whole)
    form = parts.fields.get(MARK)
    if form == INDEX:
        return ReadIndex()
    if form == RECORD:
        return ReadRecord(_record(_Fields(parts, _RECORD_FIELDS)), is_sealed(whole))
    if form == OBJECT:
        return ReadObject(_object(_Fields(parts, _OBJECT_FIELDS)), is_sealed(whole))
    raise Unreadable(Refusal.NOT_A_RECORD, "this release knows no such document", field=MARK)


def _record(fields: "_Fields") -> Record:
    lists: dict[str, Any] = {name: fields.entries(name) for name in RECORD_LISTS}
    return Record(
        id=fields.identifier("id"),
        owner_scope=fields.identifier("owner"),
        subject_id=fields.identifier("subject"),
        kind=fields.choice("kind", RecordKind),
        content=fields.content(),
        observed_at=fields.moment("observed_at"),
        recorded_at=fields.moment("recorded_at"),
        status=fields.choice("status", RecordStatus),
        authority=fields.authority(),
        evidence=fields.evidence(),
        revision=fields.revision("revision"),
        object_revision=fields.revision("object_revision"),
        key=fields.optional("key", fields.text),
        value=fields.optional("value", fields.text),
        fact_class=fields.optional("class", lambda name: fields.choice(name, FactClass)),
        profile_kind=fields.optional("profile_kind", lambda name: fields.choice(name, ProfileKind)),
        scope=fields.optional("scope", fields.scope) or Scope(),
        valid_from=fields.optional("valid_from", fields.moment),
        valid_to=fields.optional("valid_to", fields.moment),
        review_at=fields.optional("review_at", fields.moment),
        origins=fields.origins(),
        reason=fields.optional("reason", fields.text),
        **lists,
    )


def _object(fields: "_Fields") -> MemoryObject:
    return MemoryObject(
        owner=fields.identifier("owner"),
        id=fields.identifier("id"),
        kind=fields.choice("kind", ObjectKind),
        title=fields.text("title"),
        state=fields.choice("state", ObjectState),
        revision=fields.revision("revision"),
        created_at=fields.moment("created_at"),
        updated_at=fields.moment("updated_at"),
    )


class _Fields:
    """The fields of a document, each read as what it has to be."""

    def __init__(self, parts: Parts, known: frozenset[str]) -> None:
        self._fields = parts.fields
        self._lines = parts.lines
        self._body = parts.body
        for name in parts.fields:
            if name not in known:
                # Its name is whatever somebody wrote there, so only the place is told.
                raise Unreadable(Refusal.UNREADABLE, "no such field", line=parts.lines[name])

    def refuse(self, name: str, reason: str) -> Unreadable:
        return Unreadable(Refusal.UNREADABLE, reason, field=name, line=self._lines.get(name))

    def optional(self, name: str, reader: Callable[[str], Any]) -> Any:
        return reader(name) if name in self._fields else None

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if value is None:
            raise self.refuse(name, "it is missing")
        if not isinstance(value, str):
            raise self.refuse(name, "it is one text; put it in quotes")
        return value

    def identifier(self, name: str) -> str:
        return self._identifier(name, self.text(name))

    def _identifier(self, name: str, value: str) -> str:
        found = unicodedata.normalize("NFC", value)
        control = any(unicodedata.category(char) == "Cc" for char in found)
        if control or not 1 <= len(found) <= MAX_ID:
            raise self.refuse(name, f"an id has 1 to {MAX_ID} characters, none of them a control")
        return found

    def choice(self, name: str, kind: type[Choice]) -> Choice:
        return self._choice(name, self.text(name), kind)

    def _choice(self, name: str, text: object, kind: type[Choice]) -> Choice:
        try:
            return kind(text)
        except ValueError:
            known = ", ".join(str(member.value) for member in kind)
            raise self.refuse(name, f"it is one of {known}") from None

    def authority(self) -> Authority:
        found = _AUTHORITIES.get(self.text("authority"))
        if found is None:
            raise self.refuse("authority", f"it is one of {', '.join(_AUTHORITIES)}")
        return found

    def revision(self, name: str) -> int:
        found = self._number(name, self.text(name))
        if found > MAX_REVISION:
            raise self.refuse(name, "no revision is that high")
        return found

    def _number(self, name: str, text: str) -> int:
        if not _NUMBER.fullmatch(text) or int(text) > MAX_INT:
            raise self.refuse(name, "it is a whole number of 64 bits")
        return int(text)

    def moment(self, name: str) -> int:
        return self._moment(name, self.text(name))

    def _moment(self, name: str, text: str) -> int:
        """A time; without a zone it is Beijing's, and a day alone is its beginning."""
        if _NUMBER.fullmatch(text) and LAST_WRITTEN_TIME < int(text) <= MAX_INT:
            return int(text)
        try:
            found = None if text.isdigit() else datetime.fromisoformat(text)
        except ValueError:
            found = None
        if found is None:
            raise self.refuse(name, "it is a time such as 2026-03-31 or 2026-03-31T18:00")
        if found.tzinfo is None:
            found = found.replace(tzinfo=BEIJING)
        at = (found - _EPOCH) // timedelta(milliseconds=1)
        if not 0 <= at <= LAST_WRITTEN_TIME:
            raise self.refuse(name, "it is a time from 1970 to 2099")
        return at

    def entries(self, name: str) -> tuple[str, ...]:
        value = self._fields.get(name, [])
        if not isinstance(value, list) or not _all_texts(value):
            raise self.refuse(name, "it is a list of texts")
        if name in _ID_LISTS:
            return tuple(self._identifier(name, entry) for entry in value)
        return tuple(value)

    def scope(self, name: str) -> Scope:
        value = self._mapping(name, self._fields[name], {"objects", "task", "once"})
        objects, task, once = value.get("objects", []), value.get("task"), value.get("once")
        named = isinstance(objects, list) and _all_texts(objects)
        if not named or not isinstance(task, str | None) or once not in {None, "true", "false"}:
            raise self.refuse(name, "objects is a list, task an id, once true or false")
        return Scope(
            tuple(self._identifier(name, part) for part in objects),
            None if task is None else self._identifier(name, task),
            once == "true",
        )

    def evidence(self) -> tuple[Span, ...]:
        items = self._items("evidence")
        return tuple(self._span(item, place - len(items)) for place, item in enumerate(items))

    def _span(self, item: object, seq: int) -> Span:
        names = {"event", "start", "end", "quote"}
        found = self._mapping("evidence", item, names)
        if found.keys() != names or not _all_texts(found.values()):
            raise self.refuse("evidence", "each names event, start, end and quote")
        return Span(
            event_id=self._identifier("evidence", found["event"]),
            seq=seq,
            start=self._number("evidence", found["start"]),
            end=self._number("evidence", found["end"]),
            quote=found["quote"],
        )

    def origins(self) -> tuple[Origin, ...]:
        return tuple(map(self._origin, self._items("origins")))

    def _origin(self, item: object) -> Origin:
        found = dict(self._mapping("origins", item, {"event", "at", "role", "chain", "recalled"}))
        chain, recalled = found.pop("chain", []), found.pop("recalled", [])
        lists = isinstance(chain, list) and isinstance(recalled, list)
        if (
            len(found) != _ORIGIN_NEEDS
            or not lists
            or not _all_texts((*found.values(), *chain, *recalled))
        ):
            raise self.refuse("origins", "each names event, at and role")
        return Origin(
            event_id=self._identifier("origins", found["event"]),
            at=self._moment("origins", found["at"]),
            role=self._choice("origins", found["role"], Role),
            chain=tuple(chain),
            recalled=tuple(recalled),
        )

    def _items(self, name: str) -> list[object]:
        value = self._fields.get(name, [])
        if not isinstance(value, list):
            raise self.refuse(name, "it is a list")
        return value

    def _mapping(self, name: str, value: object, known: set[str]) -> Mapping[str, Any]:
        if not isinstance(value, dict) or not value.keys() <= known:
            raise self.refuse(name, f"it holds {', '.join(sorted(known))}")
        return value

    def content(self) -> str:
        """The content: what stands in the fence, or in its field where editors would change it."""
        if "content" in self._fields:
            return self.text("content")
        lines = self._body.strip("\n").split("\n")
        opening = _FENCE.fullmatch(lines[0])
        if opening is None or len(lines) == 1 or lines[-1] != opening[1]:
            raise Unreadable(
                Refusal.UNREADABLE,
                "the content is what stands between the two fences",
                field="content",
            )
        return "\n".join(lines[1:-1])


def _all_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)
