"""Requests into lines, and lines of answers into results or errors."""

from typing import Any

import orjson

from socket_gateway.client.errors import NotReachableError, ServiceError
from storage.errors import BadRequestError, ErrorCode

Json = dict[str, Any]


def encode(request_id: int, method: str, params: Json) -> bytes:
    """One request as a line.

    Raises:
        BadRequestError: The params hold something that JSON doesn't have.
    """
    request = {"id": request_id, "method": method, "params": params}
    try:
        return orjson.dumps(request, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        raise BadRequestError(
            "The params can't be written as JSON; they may hold plain values, 64-bit integers and"
            " whole Unicode text only."
        ) from None


def decode(line: bytes, request_id: int) -> Json:
    """The result in an answer's line.

    Raises:
        ServiceError: The service answered with an error.
        NotReachableError: The line is no answer to this request; whatever it was may have run.
    """
    try:
        answer = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise _foreign() from None
    if not isinstance(answer, dict):
        raise _foreign()
    if answer.get("ok") is False and answer.get("id") in {request_id, None}:
        raise _error(answer.get("error"), for_connection=answer.get("id") is None)
    result = answer.get("result")
    if answer.get("id") != request_id or not isinstance(result, dict):
        raise _foreign()
    return result


def _error(body: object, *, for_connection: bool) -> ServiceError:
    if not isinstance(body, dict):
        raise _foreign()
    code = str(body.get("code"))
    # A connection beyond the service's limit gets `busy`, without an id, and its end.
    refused = for_connection and code == ErrorCode.BUSY
    return ServiceError(
        code,
        str(body.get("message")),
        details=body.get("details"),
        retry_after_ms=body.get("retry_after_ms"),
        ends_connection=refused or code == ErrorCode.DEADLINE,
    )


def _foreign() -> NotReachableError:
    return NotReachableError(
        "What listens at the socket doesn't answer like the memory service; is it another program?",
        may_have_run=True,
    )
