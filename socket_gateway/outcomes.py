"""What a handler gave back, as the line that answers its request."""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

from socket_gateway.framing import Request, encode_error, encode_ok
from storage.errors import MemoryServiceError, UnavailableError

_FRAMES_LOGGED = 4

_log = logging.getLogger(__name__)

Handler = Callable[[Request], "object | Awaitable[object]"]
"""Gives a request's result, or an awaitable of it; raises `MemoryServiceError`."""


def begin(handler: Handler, request: Request) -> "bytes | asyncio.Future[object]":
    """Hand a request to its handler.

    Returns:
        The answer's line when the handler was done at once, else the future of its result; a
        coroutine becomes a task.
    """
    try:
        outcome = handler(request)
        if not isinstance(outcome, dict) and isinstance(outcome, Awaitable):
            return asyncio.ensure_future(outcome)
        return encode_ok(request.id, outcome)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  (a panic in an extension is no Exception)
        return _failure_line(request.id, error)


def settled_line(request_id: str | int | None, work: "asyncio.Future[object]") -> bytes:
    """The answer's line for a handler's future that is done."""
    if work.cancelled():
        return encode_error(request_id, UnavailableError())
    error = work.exception()
    if error is not None:
        return _failure_line(request_id, error)
    try:
        return encode_ok(request_id, work.result())
    except TypeError as unwritable:
        return _failure_line(request_id, unwritable)


def _failure_line(request_id: str | int | None, error: BaseException) -> bytes:
    if isinstance(error, MemoryServiceError):
        try:
            return encode_error(request_id, error)
        except TypeError as unwritable:
            error = unwritable
    # Neither the exception's text nor the frames' values: both may hold what a user wrote.
    _log.error("a handler failed: %s at %s", type(error).__name__, _location(error))
    return encode_error(request_id, MemoryServiceError())


def _location(error: BaseException) -> str:
    frames = [
        f"{Path(frame.f_code.co_filename).name}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    return " < ".join(reversed(frames[-_FRAMES_LOGGED:]))
