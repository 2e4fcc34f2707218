"""One line of a log as an event of the wire.

Two forms are read (spec: protocol, Supervisor side, `replay`): the wire's own Event, which may
name its `owner`, and the `{id, owner, session, at, speaker, text}` of a chat corpus.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
from pydantic import ValidationError

from pipeline.rules.workdays import BEIJING
from socket_gateway.protocol import MAX_DATA_BYTES, Event, Owned
from socket_gateway.strict_json import load_strict
from storage.errors import BadJsonError

Json = dict[str, Any]

_USERS: Final = frozenset({"user", "human", "用户", "用戶", "使用者"})
_ASSISTANTS: Final = frozenset(
    {
        "assistant", "ai", "aiassistant", "agent", "bot", "chatbot", "助手", "助理", "ai助手",
        "ai助理", "ai伴侣", "ai伴侶", "智能助手", "机器人", "機器人",
    }
)  # fmt: skip
_TEXTS: Final = frozenset(
    {
        "wiki", "wikipedia", "web", "website", "document", "article", "tool", "system", "维基",
        "維基", "维基百科", "維基百科", "百科", "网页", "網頁", "文档", "文章", "工具", "系统",
    }
)  # fmt: skip
_CORPUS_FIELDS: Final = ("id", "session", "at", "speaker", "text")
_CORPUS_KNOWN: Final = frozenset({*_CORPUS_FIELDS, "owner"})
_CORPUS_NAMES: Final = {"source.stream": "session", "source.speaker": "speaker"}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """An event ready to be sent.

    Attributes:
        owner: Whose memory it goes to.
        event: The wire's JSON object.
        canonical: What tells it from another event with the same id.
        ignored: Fields of a corpus line that an event has no place for.
    """

    owner: str
    event: Json
    canonical: bytes
    ignored: tuple[str, ...] = ()


class UnfitLineError(Exception):
    """A line is no event; `field` names where, in the words of the line's own form."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"{field}: {reason}")


def read_event(line: bytes, owner: str | None) -> ReadEvent:
    """Read one line.

    Args:
        line: Its bytes.
        owner: Whose memory instead of the line's own; None: the line's, else `local`.

    Raises:
        UnfitLineError: It is no event in either form.
    """
    try:
        value = load_strict(line)
    except BadJsonError as error:
        place = str(error.details.get("path", ""))
        raise UnfitLineError(place, error.message) from None
    if not isinstance(value, dict):
        raise UnfitLineError("", "must be one JSON object")
    given = value.get("owner", "local")
    _check_owner(given)
    if {"kind", "source"} & value.keys():
        return _from_event(value, owner or given)
    if {"speaker", "session"} & value.keys():
        return _from_corpus(value, owner or given)
    raise UnfitLineError(
        "", "neither an event (v, id, kind, at, source) nor a corpus line (id, at, speaker, text)"
    )


def _check_owner(owner: object) -> None:
    try:
        Owned.model_validate({"owner": owner})
    except ValidationError as error:
        raise UnfitLineError("owner", _said(error.errors(include_input=False)[0])) from None


def _from_event(value: Json, owner: str) -> ReadEvent:
    event = {name: content for name, content in value.items() if name != "owner"}
    data = event.get("data")
    if data is not None and len(orjson.dumps(data)) > MAX_DATA_BYTES:
        raise UnfitLineError("data", f"has more than {MAX_DATA_BYTES:,} bytes as JSON")
    return ReadEvent(owner, event, _canonical(event, {}))


def _from_corpus(value: Json, owner: str) -> ReadEvent:
    for name in _CORPUS_FIELDS:
        if name != "session" and not isinstance(value.get(name), str):
            raise UnfitLineError(name, "must be there and be a text")
    kind, role, named = _speaker(value["speaker"])
    source = {"role": role, "stream": value.get("session"), "speaker": named}
    event = {
        "v": 1,
        "id": value["id"],
        "kind": kind,
        "at": _milliseconds(value["at"]),
        "source": {name: content for name, content in source.items() if content is not None},
        "text": value["text"],
    }
    ignored = tuple(sorted(value.keys() - _CORPUS_KNOWN))
    return ReadEvent(owner, event, _canonical(event, _CORPUS_NAMES), ignored)


def _speaker(name: str) -> tuple[str, str, str | None]:
    """Kind, role and name to keep of a speaker; whoever is neither machine nor text is a person.

    A line that holds a whole exchange stays one event of the person it is filed under.
    """
    folded = "".join(unicodedata.normalize("NFKC", name).casefold().split())
    if folded in _USERS:
        return "user.message", "user", None
    if folded in _ASSISTANTS:
        return "supervisor.reply", "supervisor", name
    if folded in _TEXTS:
        return "external.content", "external", name
    return "user.message", "user", name


def _milliseconds(at: str) -> int:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        raise UnfitLineError("at", "must be an ISO time such as 2026-03-02T08:52:00") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=BEIJING)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _canonical(event: Json, names: dict[str, str]) -> bytes:
    try:
        return Event.model_validate(event).model_dump_json().encode()
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(str(part)[:40] for part in fault["loc"])
        raise UnfitLineError(names.get(place, place), _said(fault)) from None


def _said(fault: Mapping[str, Any]) -> str:
    return str(fault["msg"]).removeprefix("Value error, ")
