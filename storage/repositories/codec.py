"""How values stand in text columns: compact JSON, and record fields that need no column."""

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from hashlib import blake2b
from typing import Any, TypeVar

import orjson

from storage.records.events import Role
from storage.records.knowledge import FactClass, Origin, ProfileKind, Quote, Scope, Span

Value = TypeVar("Value")


def dump(value: object) -> str:
    """JSON text of a value; keys sorted, so that equal values have equal texts."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()


def load(text: str) -> Any:
    """The value behind JSON text."""
    return orjson.loads(text)


def sparse(item: object, *, leave_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A dataclass as a mapping, without what is empty and without `leave_out`.

    >>> sparse(Scope(task="t-1"))
    {'task': 't-1'}
    """
    found: dict[str, Any] = {}
    for field in fields(item):  # type: ignore[arg-type]  # dataclasses only, by contract
        value = getattr(item, field.name)
        # 0 is a value: it equals False, but is neither empty nor absent.
        empty = value is None or value is False or value in ((), {})
        if field.name in leave_out or empty:
            continue
        found[field.name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Span | Scope | Quote | Origin):
        return sparse(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value


def digest(text: str) -> str:
    """What stands for a text where it is only compared; nothing for nothing."""
    return text and blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def reach(scope: Scope) -> str:
    """What stands for where a record holds; nothing for everywhere.

    >>> reach(Scope()), reach(Scope(task="t")) == reach(Scope(task="u"))
    ('', False)
    """
    return "" if scope == Scope() else digest(dump(sparse(scope)))


_TUPLES = frozenset(
    {"supersedes", "conflicts_with", "conditions", "steps", "failure", "verify", "cues", "links"}
)


def knowledge_fields(found: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that records and proposals share, back from what `sparse` made of them."""
    made: dict[str, Any] = dict(found)
    for name in _TUPLES & made.keys():
        made[name] = tuple(made[name])
    if "fact_class" in made:
        made["fact_class"] = FactClass(made["fact_class"])
    if "profile_kind" in made:
        made["profile_kind"] = ProfileKind(made["profile_kind"])
    if "origins" in made:
        made["origins"] = tuple(map(_origin, made["origins"]))
    if "scope" in made:
        scope = made["scope"]
        made["scope"] = Scope(
            tuple(scope.get("objects", ())), scope.get("task"), bool(scope.get("once"))
        )
    return made


def _origin(found: Mapping[str, Any]) -> Origin:
    return Origin(
        found["event_id"],
        found["at"],
        Role(found["role"]),
        tuple(found.get("chain", ())),
        tuple(found.get("recalled", ())),
    )
