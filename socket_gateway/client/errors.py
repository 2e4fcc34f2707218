"""What a client's call can end with besides a result."""

from collections.abc import Mapping

from storage.errors import ErrorCode, MemoryServiceError


class ServiceError(MemoryServiceError):
    """The service answered with an error.

    Attributes:
        code: The code of the answer; one that this client doesn't know is `internal`, with its
            name in front of the message.
        message: The service's words; they say what to do next.
        details: What the service adds, such as the ids of a conflict.
        retry_after_ms: When to come again, where the service says so.
        ends_connection: Whether the service closes the connection behind this answer.
    """

    code: ErrorCode

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: Mapping[str, object] | None = None,
        retry_after_ms: int | None = None,
        ends_connection: bool = False,
    ) -> None:
        known = code in set(ErrorCode)
        self.code = ErrorCode(code) if known else ErrorCode.INTERNAL
        self.ends_connection = ends_connection
        super().__init__(
            message if known else f"{code}: {message}",
            details=details,
            retry_after_ms=retry_after_ms,
        )


class NotReachableError(MemoryServiceError):
    """No service answers at the socket; start it with `deskpaw-memory serve`.

    Attributes:
        may_have_run: Whether the request had been sent, so that it may have been done.
    """

    code = ErrorCode.UNAVAILABLE

    def __init__(self, message: str, *, may_have_run: bool = False) -> None:
        self.may_have_run = may_have_run
        super().__init__(message)
