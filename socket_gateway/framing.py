"""Frames of the wire: lines out of a byte stream, requests out of lines, answers into lines.

Spec: protocol, Transport and Frames and ids.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Final

import orjson

from socket_gateway.strict_json import load_strict
from storage.errors import BadJsonError, BadRequestError, MemoryServiceError, TooLargeError

JsonObject = dict[str, Any]

MAX_ID_LENGTH: Final = 200
"""Code points of a request id that is a string."""

_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")
_ENVELOPE: Final = frozenset({"id", "method", "params"})


@dataclass(frozen=True, slots=True)
class Request:
    """One readable request: whom to answer, what to do, and with what."""

    id: str | int
    method: str
    params: JsonObject


class RefusedRequestError(BadRequestError):
    """The line is JSON, but no request; send {"id": …, "method": …, "params": {…}}."""

    def __init__(self, message: str, request_id: str | int | None = None) -> None:
        self.request_id = request_id
        """The request's id where it could be read, for the answer."""
        super().__init__(message)


class LineSplitter:
    """Cuts a byte stream into lines, holding at most one line more than it was fed.

    A carriage return before the newline is dropped; a line over the limit is reported once and
    then skipped to its end.

    Args:
        limit: Bytes a line may have, its line end not counted.
    """

    __slots__ = ("_data", "_limit", "_partial", "_position", "_skipping", "lines_ended")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = b""
        self._position = 0
        self._partial = bytearray()
        self._skipping = False
        self.lines_ended = 0
        """Newlines passed so far; it tells a caller that a later line has begun."""

    @property
    def in_line(self) -> bool:
        """Whether a line has begun whose newline hasn't come."""
        return self._skipping or bool(self._partial)

    @property
    def skipping(self) -> bool:
        """Whether the line that has begun was already refused as too long."""
        return self._skipping

    @property
    def holds_data(self) -> bool:
        """Whether fed bytes wait for the next `take`."""
        return bool(self._data)

    def feed(self, data: bytes) -> None:
        """Add bytes as they came from the socket."""
        self._data = self._data[self._position :] + data if self.holds_data else data
        self._position = 0

    def take(self) -> bytes | None:
        """The next whole line without its line end, or None when more bytes are needed.

        Empty lines come out empty, and so does the end of a line that was refused: the caller
        skips them, and keeps the say over how many it takes in one turn.

        Raises:
            TooLargeError: The next line is over the limit. Call again to go on behind it.
        """
        end = self._data.find(b"\n", self._position)
        if end < 0:
            self._keep_rest()
            return None
        line = self._end_line(end)
        if len(line) > self._limit:
            raise self._too_large()
        return line

    def check_end(self) -> None:
        """Look at what is left when no more bytes can come.

        Raises:
            BadJsonError: A line has begun that has no end; it may be cut short, so it isn't read.
        """
        if self._partial:
            byte = len(self._partial) + 1
            raise BadJsonError(
                f"Not strict JSON at byte {byte}: the line has no newline; end each request with one.",
                details={"byte": byte},
            )

    def _end_line(self, end: int) -> bytes:
        """The line that ends there; empty when it has been refused already."""
        line = self._data[self._position : end]
        self._position = end + 1
        if self._position == len(self._data):
            # A used-up chunk may be large; an idle connection shouldn't keep it.
            self._data, self._position = b"", 0
        self.lines_ended += 1
        if self._skipping:
            self._skipping = False
            return b""
        if self._partial:
            self._partial += line
            line = bytes(self._partial)
            self._partial.clear()
        return line[:-1] if line.endswith(b"\r") else line

    def _keep_rest(self) -> None:
        rest = self._data[self._position :]
        self._data, self._position = b"", 0
        if self._skipping:
            return
        self._partial += rest
        # A carriage return may turn out to be half of the line end, which isn't counted.
        if len(self._partial) > self._limit + self._partial.endswith(b"\r"):
            self._partial.clear()
            self._skipping = True
            raise self._too_large()

    def _too_large(self) -> TooLargeError:
        return TooLargeError(
            f"A request line may have {self._limit} bytes; send less in one request.",
            details={"limit": self._limit},
        )


def parse_request(line: bytes) -> Request:
    """Read one line as a request.

    Args:
        line: Raw bytes without the line end.

    Returns:
        The request; absent `params` are an empty object.

    Raises:
        BadJsonError: The line isn't strict JSON; its answer has no id.
        RefusedRequestError: It is JSON, but no request; it carries the id where there is one.
    """
    value = load_strict(line)
    if not isinstance(value, dict):
        raise RefusedRequestError("A request is a JSON object with id, method and params.")
    request_id = _request_id(value)
    method = value.get("method")
    if not isinstance(method, str):
        raise RefusedRequestError("`method` must be a string naming a method.", request_id)
    params = value.get("params")
    if params is None and "params" not in value:
        params = {}
    elif not isinstance(params, dict):
        raise RefusedRequestError("`params` must be an object.", request_id)
    if not value.keys() <= _ENVELOPE:
        unknown = next(name for name in value if name not in _ENVELOPE)
        named = f"; `{unknown}` is none of them" if _PLAIN_NAME.fullmatch(unknown) else ""
        raise RefusedRequestError(
            f"A request has only `id`, `method` and `params`{named}.", request_id
        )
    return Request(request_id, method, params)


def _request_id(value: JsonObject) -> str | int:
    request_id = value.get("id")
    if type(request_id) is int:
        return request_id
    if (
        isinstance(request_id, str)
        and 1 <= len(request_id) <= MAX_ID_LENGTH
        and (request_id.isprintable() or not _has_control(request_id))
    ):
        return request_id
    raise RefusedRequestError(
        f"`id` must be a 64-bit integer or 1 to {MAX_ID_LENGTH} characters without controls."
    )


def _has_control(text: str) -> bool:
    return any(unicodedata.category(character) == "Cc" for character in text)


def encode_ok(request_id: str | int | None, result: object) -> bytes:
    """The line that answers a request with its result.

    Raises:
        TypeError: The result can't be written as JSON.
    """
    return orjson.dumps(
        {"id": request_id, "ok": True, "result": result}, option=orjson.OPT_APPEND_NEWLINE
    )


def encode_error(request_id: str | int | None, error: MemoryServiceError) -> bytes:
    """The line that answers a request, or an unreadable line (id None), with an error.

    Raises:
        TypeError: The error's details can't be written as JSON.
    """
    body: JsonObject = {"code": error.code, "message": error.message}
    if error.details:
        body["details"] = error.details
    if error.retry_after_ms is not None:
        body["retry_after_ms"] = error.retry_after_ms
    return orjson.dumps(
        {"id": request_id, "ok": False, "error": body}, option=orjson.OPT_APPEND_NEWLINE
    )
