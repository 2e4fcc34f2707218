"""A real service that can be killed at any fault point, and goes on with the files that it left."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from storage.faults import faults
from tests.service_support import NOW, Service


class MortalService:
    """A service, observed from outside, and the folder of each of its lives.

    Attributes:
        alive: The process of now.
        died: Whether the last request or piece of work was one process's last.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mm-"))
        self._lives = 0
        self.died = False
        self.alive = self._begun(NOW)

    def _begun(self, now: int) -> Service:
        service = Service(self._life, {"DESKPAW_MEMORY_OBSERVER__KIND": "external"})
        service.clock.set(now)
        service.start()
        return service

    @property
    def _life(self) -> Path:
        return self._folder / str(self._lives)

    def end(self) -> None:
        """Stop, and remove everything."""
        faults.disarm()
        self.alive.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    # ---- dying ---------------------------------------------------------------

    @contextmanager
    def dying(self, point: str | None) -> Iterator[None]:
        """Let what is done here be done by a process that dies should it come to that fault point.

        What it leaves is copied then and there, within the writer's turn. Whatever the process goes
        on to do is nobody's: a new one has the copy.
        """
        self.died = False
        if point is None:
            yield
            return
        state, left = self._life, self._folder / str(self._lives + 1)

        def copied() -> None:
            _copy(state, left)
            self.died = True

        faults.arm(point, action=copied)
        try:
            yield
        finally:
            faults.disarm()
            if self.died:
                now = self.alive.clock.now
                self.alive.stop()
                shutil.rmtree(state)
                self._lives += 1
                self.alive = self._begun(now)

    def kill(self) -> None:
        """Kill it while nothing is under way."""
        with self.dying("operator.before_commit"):
            self.alive.in_writer(lambda: None)

    def lose(self, names: set[str]) -> None:
        """Lose what can be made anew: the queue, the index folder, caches."""
        self.alive.stop()
        for name in names & {"index", "cache"}:
            shutil.rmtree(self._life / name, ignore_errors=True)
        if "queue" in names:
            for path in (self._life / "data").glob("queue.sqlite3*"):
                path.unlink()
        self.alive.start()

    # ---- asking --------------------------------------------------------------

    def ask_twice(self, method: str, point: str | None, **params: Any) -> Any:
        """The answer; should the process die over it, the next one's answer to the same request."""
        with self.dying(point):
            answer = self.alive.exchange(method, params)
        return self.alive.exchange(method, params) if self.died else answer


def _copy(state: Path, left: Path) -> None:
    """Copy what stands in the files; the index may be written meanwhile, and is disposable."""
    for path in sorted(state.rglob("*")):
        if path.is_file():
            to = left / path.relative_to(state)
            to.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                shutil.copy2(path, to)
