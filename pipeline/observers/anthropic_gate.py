"""A pause for all packages while a model's server can't be asked.

Without it every package of a backlog would be sent to a server that is away, fail by no fault of
its own, and be parked in the end.
"""

import threading
from typing import Final

from storage.clock import Clock

_FIRST_MS: Final = 2_000


class Gate:
    """Closes for a while after each fault of the server, longer each time; opens with an answer.

    Args:
        clock: What time it is.
        longest_ms: The longest pause.
    """

    def __init__(self, clock: Clock, longest_ms: int) -> None:
        self._clock = clock
        self._longest_ms = longest_ms
        self._guard = threading.Lock()
        self._faults = 0
        self._closed_at = 0
        self._until = 0

    def is_open(self) -> bool:
        """Whether the server may be asked. A clock that was set back keeps it closed no longer."""
        now = self._clock.now_ms()
        with self._guard:
            return not self._closed_at <= now < self._until

    def close(self, asked_ms: int | None) -> None:
        """Note a fault of the server, with the wait that it asks for, if any."""
        now = self._clock.now_ms()
        with self._guard:
            pause = _FIRST_MS * 2 ** min(self._faults, 30)
            self._faults += 1
            self._closed_at = now
            self._until = now + min(self._longest_ms, max(pause, asked_ms or 0))

    def open(self) -> None:
        """Note that the server has answered."""
        with self._guard:
            self._faults = 0
            self._until = 0
