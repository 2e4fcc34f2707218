"""Real service trees for the crash tests: started, killed and asked from outside."""

import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import psutil

from socket_gateway.client import MemoryClient, NotReachableError, RetryPolicy
from socket_gateway.protocol import HealthResult

ROOT = Path(__file__).resolve().parents[2]

PATIENCE_S = 40.0
"""How long a test waits for what must come; far above what it takes."""

QUICK: Mapping[str, object] = {
    "PIPELINE__PACKAGE_AGE_MS": 200,
    "PIPELINE__LEASE_MS": 2_000,
    "PIPELINE__BACKOFF_MS": 50,
    "PIPELINE__BACKOFF_CAP_MS": 500,
}
"""Settings under which the work of a killed process is taken up again in a second or two."""

Found = TypeVar("Found")


def wait_until(
    condition: Callable[[], Found | None], what: str, within_s: float = PATIENCE_S
) -> Found:
    """Ask again and again until the condition holds; its value.

    Raises:
        AssertionError: It did not hold in time.
    """
    end = time.monotonic() + within_s
    pause = threading.Event()
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"not within {within_s} s: {what}"
        pause.wait(0.02)


class Tree:
    """A process and its children, in a process group of their own.

    All of them hold the same standard output, so its end says that the last of them has ended.

    Args:
        command: What is run, by this interpreter.
        variables: Set in its environment.
        log: Where the standard error of all of them goes.
    """

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], log: Path) -> None:
        pairs = [f"{name}={value}" for name, value in variables.items()]
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                ["/usr/bin/env", *pairs, sys.executable, *command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )

    def kill(self) -> None:
        """SIGKILL to all of them at once, as a power cut would."""
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.wait_gone()

    def terminate(self) -> int:
        """SIGTERM to the first; the exit status once all of them have ended."""
        self.process.terminate()
        return self.wait_gone()

    def wait_gone(self) -> int:
        """Wait until the last of them has ended; the first one's exit status.

        Raises:
            AssertionError: They go on.
        """
        assert self.process.stdout is not None
        end = time.monotonic() + PATIENCE_S
        while not self.process.stdout.closed:
            left = max(0.0, end - time.monotonic())
            assert select.select([self.process.stdout], [], [], left)[0], "processes go on"
            if not os.read(self.process.stdout.fileno(), 65_536):
                self.process.stdout.close()
        return self.process.wait(PATIENCE_S)

    def child(self, module: str) -> psutil.Process | None:
        """The living child that runs this module, if there is one."""
        for child in psutil.Process(self.process.pid).children():
            try:
                if module in child.cmdline():
                    return child
            except psutil.NoSuchProcess:
                continue
        return None


GATEWAY = "socket_gateway.gateway"
CONSUMER = "huey.bin.huey_consumer"


class Place:
    """A state folder, which outlives the processes that work on it.

    Args:
        folder: A new folder of the test's own.
        cache: Warm caches, so that a start costs a second and not five.
        settings: Settings of every process here, by the end of their variable's name.
    """

    def __init__(self, folder: Path, cache: Path | None, settings: Mapping[str, object]) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.log = folder / "service.log"
        self.settings = dict(settings)
        self._trees: list[Tree] = []
        self.state.mkdir(mode=0o700, parents=True)
        self.log.touch()
        if cache is not None:
            shutil.copytree(cache, self.state / "cache")

    # ---- processes ---------------------------------------------------------

    def serve(self, *options: str) -> Tree:
        """Start the service; returns at once."""
        return self._start(["-m", "socket_gateway.supervisor", *options])

    def consume(self, *options: str) -> Tree:
        """Start a stock consumer of one's own."""
        return self._start(["-m", CONSUMER, "pipeline.tasks.huey", *options])

    def kill_all(self) -> None:
        """SIGKILL to everything that works here."""
        for tree in self._trees:
            tree.kill()
        self._trees.clear()

    def _start(self, command: Sequence[str]) -> Tree:
        variables = {
            f"DESKPAW_MEMORY_{name}": str(value) for name, value in self.settings.items()
        } | {"DESKPAW_STATE_DIR": str(self.state)}
        self._trees.append(Tree(command, variables, self.log))
        return self._trees[-1]

    # ---- files -------------------------------------------------------------

    @property
    def socket(self) -> Path:
        """Where the service listens."""
        return self.state / "memory.sock"

    @property
    def queue(self) -> Path:
        """The queue's file."""
        return self.state / "data" / "queue.sqlite3"

    @property
    def index(self) -> Path:
        """The lexical index's folder."""
        return self.state / "index"

    @property
    def write_lock(self) -> Path:
        """What the writing processes lock in turn."""
        return self.state / "data" / "memory.sqlite3.lock"

    @property
    def beat(self) -> Path:
        """What a living consumer touches."""
        return self.state / "data" / "consumer.beat"

    # ---- asking ------------------------------------------------------------

    def client(self, *, attempts: int = 1) -> MemoryClient:
        """A client of this service; one that tries again comes through a restart."""
        policy = RetryPolicy(attempts=attempts, longest_wait_s=0.2, total_s=PATIENCE_S)
        return MemoryClient(self.socket, policy=policy)

    def health(self) -> HealthResult | None:
        """How the service is, None while nobody answers."""
        try:
            with self.client() as client:
                return client.health()
        except NotReachableError:
            return None

    def wait_gateway(self) -> None:
        """Until every method is served."""
        wait_until(lambda: (h := self.health()) and h.positions, "a gateway that serves")

    def wait_ok(self) -> HealthResult:
        """Until gateway and consumer are at work and health says so."""
        return wait_until(
            lambda: h if (h := self.health()) and h.status == "ok" else None, "health ok"
        )

    def wait_published(self) -> HealthResult:
        """Until everything received is published and in the index.

        Raises:
            AssertionError: It does not happen, or something was parked.
        """

        def published() -> HealthResult | None:
            found = self.health()
            if found is None or found.positions is None:
                return None
            at = found.positions
            done = at.backlog == 0 and at.published == at.received and found.index_lag == 0
            return found if done else None

        found = wait_until(published, "everything published", 2 * PATIENCE_S)
        assert found.dead == 0
        return found
