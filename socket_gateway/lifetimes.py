"""The phases of a connection, and the times it is held to."""

import enum

from storage.errors import DeadlineError


class Phase(enum.Enum):
    """Where a connection stands. It only moves down this list."""

    HELD = enum.auto()
    """The server hasn't decided yet."""
    OPEN = enum.auto()
    """Requests are served."""
    ENDING = enum.auto()
    """No more requests; answers under way still go out."""
    LINGERING = enum.auto()
    """All is said; the client is given the time to read it and to close."""
    CLOSED = enum.auto()
    """Only what stands in the write buffer still leaves."""


def is_over(since: float | None, now: float, limit_ms: int) -> bool:
    """Whether what began at `since`, in seconds of loop time, has lasted longer than the limit.

    What hasn't begun (None) isn't over.
    """
    return since is not None and (now - since) * 1000 > limit_ms


def late_error(what: str, limit_ms: int) -> DeadlineError:
    """The error for a request that had this long for something."""
    return DeadlineError(f"The request had {limit_ms} ms for {what}; send it again.")
