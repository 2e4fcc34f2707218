"""The one base class of the service's errors, and the closed set of codes they carry.

Every error that may reach a caller is a `MemoryServiceError` with a stable `ErrorCode`
(spec: protocol, Error codes). Its message says what to do next and never repeats what was
refused, since a refused value may hold the user's text or a secret.
"""

from collections.abc import Mapping
from enum import StrEnum


class ErrorCode(StrEnum):
    """The codes on the wire. Closed: a new one is a protocol change."""

    BAD_JSON = "bad_json"
    BAD_REQUEST = "bad_request"
    UNKNOWN_METHOD = "unknown_method"
    TOO_LARGE = "too_large"
    DEADLINE = "deadline"
    BUSY = "busy"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    REVISION_CONFLICT = "revision_conflict"
    STALE = "stale"
    EXPIRED = "expired"
    UNAVAILABLE = "unavailable"
    DISK_FULL = "disk_full"
    INTERNAL = "internal"

    @property
    def retryable(self) -> bool:
        """Whether the same request may be sent again as it is."""
        return self in _RETRYABLE


_RETRYABLE = frozenset(
    {ErrorCode.BUSY, ErrorCode.DEADLINE, ErrorCode.UNAVAILABLE, ErrorCode.DISK_FULL}
)


class MemoryServiceError(Exception):
    """The service could not do what was asked; look at its log."""

    code: ErrorCode = ErrorCode.INTERNAL

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Mapping[str, object] | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.details = dict(details) if details else {}
        self.retry_after_ms = retry_after_ms
        super().__init__(self.message)


class BadJsonError(MemoryServiceError):
    """The line is not strict JSON; send one UTF-8 JSON object a line."""

    code = ErrorCode.BAD_JSON


class BadRequestError(MemoryServiceError):
    """The request does not fit the method; see docs/protocol.md."""

    code = ErrorCode.BAD_REQUEST


class UnknownMethodError(MemoryServiceError):
    """There is no such method; see docs/protocol.md."""

    code = ErrorCode.UNKNOWN_METHOD


class TooLargeError(MemoryServiceError):
    """The request line is too long; send less in one request."""

    code = ErrorCode.TOO_LARGE


class DeadlineError(MemoryServiceError):
    """The time for this request is over; send it again."""

    code = ErrorCode.DEADLINE


class BusyError(MemoryServiceError):
    """The service has all it can serve at once; try again shortly."""

    code = ErrorCode.BUSY


class ForbiddenError(MemoryServiceError):
    """This caller may not do that."""

    code = ErrorCode.FORBIDDEN


class NotFoundError(MemoryServiceError):
    """There is nothing under that id for this owner."""

    code = ErrorCode.NOT_FOUND


class ConflictError(MemoryServiceError):
    """That id is known with other content; nothing was changed. Use a new id."""

    code = ErrorCode.CONFLICT


class RevisionConflictError(MemoryServiceError):
    """The revision has moved on; read the current one and decide again."""

    code = ErrorCode.REVISION_CONFLICT


class StaleError(MemoryServiceError):
    """The lease, version or target has moved on; nothing was changed."""

    code = ErrorCode.STALE


class ExpiredError(MemoryServiceError):
    """The request's time is past; nothing was done."""

    code = ErrorCode.EXPIRED


class UnavailableError(MemoryServiceError):
    """This part of the service can't answer at the moment; try again later."""

    code = ErrorCode.UNAVAILABLE


class DiskFullError(MemoryServiceError):
    """There is no room on the disk; free some, then send it again."""

    code = ErrorCode.DISK_FULL
