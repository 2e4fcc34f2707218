"""Time as a port: all product time comes from a `Clock`, so that tests can hold it."""

import time
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """Where the service's time comes from."""

    def now_ms(self) -> int:
        """Milliseconds since 1970 UTC."""
        ...


class SystemClock:
    """The machine's wall clock."""

    def now_ms(self) -> int:
        """Milliseconds since 1970 UTC."""
        return time.time_ns() // 1_000_000


class FileClock:
    """A clock that reads epoch milliseconds from a file, for tests and simulations.

    The file is read on every call, so that one writer moves the time of every process
    (spec: protocol, Tests' clock).
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def now_ms(self) -> int:
        """Milliseconds since 1970 UTC, as the file says.

        Raises:
            ValueError: The file holds no integer.
            OSError: The file can't be read.
        """
        return int(self._path.read_text(encoding="ascii"))


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """Milliseconds since 1970 UTC, as last set."""
        return self._now_ms

    def advance(self, milliseconds: int) -> None:
        """Move the clock forward (or back, with a negative number)."""
        self._now_ms += milliseconds
