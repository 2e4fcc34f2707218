"""Waking the consumer: a coalesced hint through Huey, harmless to lose and never in anyone's way."""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Final

from pipeline.runner import Work
from storage.faults import faults

log = logging.getLogger(__name__)

PAUSE_S: Final = 0.03
"""Wake-ups closer together than this become one: a group commit brings one, not one an event."""


class Waker:
    """Puts wake-ups on the queue from a thread of its own, so that nobody who commits waits.

    A wake-up that fails is logged and dropped: the ticker finds the work a second later.

    Args:
        tasks: For each kind of work the function that enqueues it.
    """

    def __init__(self, tasks: Mapping[Work, Callable[[], object]]) -> None:
        self._tasks = tasks
        self._wanted: set[Work] = set()
        self._state = threading.Condition()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="waker", daemon=True)
        self._thread.start()

    def wake(self, work: Work) -> None:
        """Ask for work to be looked at soon."""
        with self._state:
            self._wanted.add(work)
            self._state.notify()

    def close(self) -> None:
        """Send what is wanted and end the thread."""
        self._stop.set()
        with self._state:
            self._state.notify()
        self._thread.join()

    def _run(self) -> None:
        while not (self._stop.is_set() and not self._wanted):
            with self._state:
                while not self._wanted and not self._stop.is_set():
                    self._state.wait()
                wanted, self._wanted = self._wanted, set()
            for work in sorted(wanted):
                self._send(work)
            self._stop.wait(PAUSE_S)

    def _send(self, work: Work) -> None:
        faults.fire("wake.before")
        try:
            self._tasks[work]()
        except Exception as error:  # noqa: BLE001 - the queue may be in any state; the ledger knows
            log.warning("a wake-up was lost: %s", type(error).__name__)
        faults.fire("wake.after")
