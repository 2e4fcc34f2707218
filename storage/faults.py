"""Named fault points in every commit path, so that tests can kill the real process exactly there.

A point is `<operation>.<moment>`. Nothing fires unless the composition root has armed a point from
the settings; `fire` then costs one look-up (spec: design, invariant 8).
"""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
    "renew",
    "object",
    "recall",
    "operator",
    "external",
    "act",
    "age",
    "forget",
    "erase",
    "operation",
    "rebuild",
)
"""Everything that the writer commits, by name."""

MOMENTS = ("before_begin", "before_commit", "after_commit")
"""When a write operation can be hit: nothing done, all done but not durable, durable but not told."""

OTHER_POINTS = (
    "wake.before",
    "wake.after",
    "follow.before_commit",
    "follow.after_commit",
    "rebuild.before_subject",
    "rebuild.before_entries",
    "erase.before_traces",
    "erase.after_traces",
    "erase.before_index",
    "erase.after_index",
    "erase.before_bytes",
    "erase.after_bytes",
    "erase.before_closing",
    "erase.after_closing",
)
"""Points outside the memory database: wake-ups, the index folder's commit, files that are erased."""

FAULT_POINTS = (
    *(f"{name}.{moment}" for name in WRITE_OPERATIONS for moment in MOMENTS),
    *OTHER_POINTS,
)


def kill_this_process() -> None:
    """End the process as a power cut would: no handler, no buffer is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_once(marker: Path) -> None:
    """End this process unless one has ended here before, as the marker file says.

    A process that is started again finds the same settings, and would end here for ever.
    """
    try:
        marker.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return
    kill_this_process()


@dataclass(slots=True)
class _Armed:
    passes: int
    action: Callable[[], None]


class FaultPoints:
    """The armed points of a process, if any. Thread-safe as far as a test needs."""

    def __init__(self) -> None:
        self._armed: dict[str, _Armed] = {}

    def arm(
        self, point: str, *, nth: int = 1, action: Callable[[], None] = kill_this_process
    ) -> None:
        """Let the `nth` pass of `point` run `action`; passes after that do nothing.

        Raises:
            ValueError: There is no such point.
        """
        if point not in FAULT_POINTS:
            known = ", ".join(FAULT_POINTS)
            raise ValueError(f"no fault point of that name; known: {known}")
        self._armed[point] = _Armed(nth, action)

    def disarm(self) -> None:
        """Let every point pass again."""
        self._armed.clear()

    def fire(self, point: str) -> None:
        """Pass a point: run the action if this is the armed pass of it."""
        armed = self._armed.get(point)
        if armed is None:
            return
        armed.passes -= 1
        if armed.passes == 0:
            del self._armed[point]
            armed.action()


faults = FaultPoints()
"""The process's fault points."""
