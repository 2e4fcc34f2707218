"""What all models of the wire have in common: limits, ids, times, owners."""

import unicodedata
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MAX_ID: Final = 200
LAST_TIME: Final = 4_102_444_799_999
"""Later times are mistakes, such as microseconds, and calendars end: 2100 is where they are told."""

OWNER_OBJECT: Final = "@owner"
MAX_EVENTS: Final = 200
MAX_TEXT: Final = 32_000
MAX_PURPOSE: Final = 200
MAX_DATA_BYTES: Final = 65_536
MAX_OBJECTS: Final = 16
MAX_CAUSES: Final = 32
MAX_INT: Final = 2**63 - 1


def _is_control(char: str) -> bool:
    return unicodedata.category(char) == "Cc"


def _check_id(value: str) -> str:
    """Ids are compared after NFC, so they are kept that way."""
    if value.isascii() and value.isprintable():
        return value
    found = unicodedata.normalize("NFC", value)
    if any(_is_control(char) for char in found):
        raise ValueError("must hold no control characters")
    if len(found) > MAX_ID:
        raise ValueError(f"must have at most {MAX_ID} characters, composed (NFC)")
    return found


def _check_object_id(value: str) -> str:
    if value.startswith("@") and value != OWNER_OBJECT:
        raise ValueError("ids that begin with @ are reserved; choose another")
    return value


Id = Annotated[str, Field(min_length=1, max_length=MAX_ID), AfterValidator(_check_id)]
ObjectId = Annotated[Id, AfterValidator(_check_object_id)]
Owner = Annotated[Id, Field(description="Whose memory.")]
Time = Annotated[int, Field(ge=0, le=MAX_INT, description="Milliseconds since 1970 UTC.")]
GivenTime = Annotated[
    int, Field(ge=0, le=LAST_TIME, description="Milliseconds since 1970 UTC, before 2100.")
]
Count = Annotated[int, Field(ge=0, le=MAX_INT)]

Role = Literal[
    "user", "supervisor", "executor", "observation", "verification", "runtime", "schedule",
    "external",
]  # fmt: skip
ObjectKind = Literal["domain", "project", "asset", "process", "schedule", "run"]
ObjectState = Literal["active", "dormant", "done"]
Priority = Literal["urgent", "high", "normal", "low"]
RecordKind = Literal[
    "commitment", "episode", "fact", "preference", "rule", "correction", "procedure", "cue"
]
RecordStatus = Literal["candidate", "active", "superseded", "expired", "archived"]
StageName = Literal["filter", "observe", "merge", "index", "publish"]
PackageState = Literal["open", "ready", "leased", "done", "dead"]


class Model(BaseModel):
    """What all wire models have in common: strict values, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Owned(Model):
    """Params that belong to one owner."""

    owner: Owner = "local"


class Empty(Model):
    """No params."""
