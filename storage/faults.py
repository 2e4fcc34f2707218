"""Named fault points in every commit path, so that tests can kill the real process exactly there.

A point is `<operation>.<moment>`. Nothing fires unless the composition root has armed a point from
the settings; `fire` then costs one comparison (spec: design, invariant 8).
"""

import os
import signal
from collections.abc import Callable

WRITE_OPERATIONS = (
    "ingest",
    "filter",
    "close",
    "claim",
    "observe",
    "merge",
    "index",
    "publish",
    "fail",
    "sweep",
    "renew",
    "object",
    "recall",
    "operator",
    "external",
)
"""Everything that the writer commits, by name."""

MOMENTS = ("before_begin", "before_commit", "after_commit")
"""When a write operation can be hit: nothing done, all done but not durable, durable but not told."""

OTHER_POINTS = ("wake.before", "wake.after", "follow.before_commit", "follow.after_commit")
"""Points outside the memory database: the queue's wake-up and the index folder's commit."""

FAULT_POINTS = (
    *(f"{name}.{moment}" for name in WRITE_OPERATIONS for moment in MOMENTS),
    *OTHER_POINTS,
)


def kill_this_process() -> None:
    """End the process as a power cut would: no handler, no buffer is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)


class FaultPoints:
    """The armed point of a process, if any. Thread-safe as far as a test needs: it fires once."""

    def __init__(self) -> None:
        self._armed: str | None = None
        self._passes = 0
        self._action: Callable[[], None] = kill_this_process

    def arm(self, point: str, *, nth: int = 1, action: Callable[[], None] | None = None) -> None:
        """Let the `nth` pass of `point` run `action` (default: SIGKILL to this process).

        Raises:
            ValueError: There is no such point.
        """
        if point not in FAULT_POINTS:
            known = ", ".join(FAULT_POINTS)
            raise ValueError(f"no fault point of that name; known: {known}")
        self._armed, self._passes = point, nth
        if action is not None:
            self._action = action

    def disarm(self) -> None:
        """Let every point pass again."""
        self._armed = None

    def fire(self, point: str) -> None:
        """Pass a point: run the action if this is the armed pass of it."""
        if self._armed != point:
            return
        self._passes -= 1
        if self._passes == 0:
            self._armed = None
            self._action()


faults = FaultPoints()
"""The process's fault points."""
