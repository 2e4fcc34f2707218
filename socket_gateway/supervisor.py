"""`serve`: a small parent with two children, the gateway and a stock consumer.

It imports nothing heavy, starts the consumer once the gateway says that it listens, starts each
again when it dies, and on SIGTERM lets both drain. A child dies with it (spec: design, Damage and
Facts behind the choices).
"""

import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

LISTENING_OPTION: Final = "--listening-fd="
NO_WORKER: Final = "--no-worker"
AS_JSON: Final = "--json"

_EXIT_REFUSED: Final = 78
_PR_SET_PDEATHSIG: Final = 1
_DRAIN_S: Final = 10.0
_RESTART_S: Final = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Waits before a child is started again, by how often it has died at once."""

_STEADY_S: Final = 30.0
"""A child that has lived so long begins again with the shortest wait."""


def listening_line(socket: str, threads: int, drain_ms: int, beat: str) -> bytes:
    """What a gateway tells its parent: it serves, and how its consumer is to be run.

    Args:
        socket: Where it listens.
        threads: The consumer's worker threads.
        drain_ms: Its time to finish work after SIGTERM.
        beat: The file that it touches while it lives.
    """
    said = {"socket": socket, "threads": threads, "drain_ms": drain_ms, "beat": beat}
    return json.dumps(said).encode() + b"\n"


class Child:
    """A process that is started again whenever it ends.

    Args:
        name: For messages.
        command: How it is started.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self.command = list(command)
        self.process: subprocess.Popen[bytes] | None = None
        self.inherited: tuple[int, ...] = ()
        self._began = 0.0
        self._deaths = 0

    def start(self) -> None:
        """Start it; it gets SIGKILL when this process dies."""
        parent = os.getpid()
        self._began = time.monotonic()
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and modules
            self.command,
            pass_fds=self.inherited,
            preexec_fn=lambda: _die_with(parent),  # noqa: PLW1509 - this process has one thread
        )

    def restart_after(self) -> float:
        """Note that it died; seconds to wait before it is started again."""
        if time.monotonic() - self._began > _STEADY_S:
            self._deaths = 0
        wait = _RESTART_S[min(self._deaths, len(_RESTART_S) - 1)]
        self._deaths += 1
        return wait

    def signal(self, signum: int) -> None:
        """Send it a signal, if it lives."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signum)


def _die_with(parent: int) -> None:
    """Runs in the child before its program: tie its life to the parent's."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


class Supervisor:
    """Runs the children until it is told to stop.

    Args:
        with_worker: Whether a consumer of its own is started.
        as_json: Whether it says once, as a line of JSON, that it listens.
    """

    def __init__(self, *, with_worker: bool, as_json: bool = False) -> None:
        self._with_worker = with_worker
        self._announces = as_json
        self._stopping = False
        self._gateway = Child("gateway", ())
        self._consumer: Child | None = None
        self._beat = ""
        self._pipe: int | None = None
        self._said = b""
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._due: list[tuple[float, Child]] = []

    def run(self) -> int:
        """Serve in the foreground; the exit status."""
        signal.set_wakeup_fd(self._wake_write)
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, self._stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._start_gateway()
        while not self._stopping:
            self._wait()
            status = self._look_after_children()
            if status is not None:
                self._end_children()
                return status
        self._end_children()
        return 0

    def _stop(self, *_: object) -> None:
        self._stopping = True

    # ---- the loop ----------------------------------------------------------

    def _wait(self) -> None:
        """Until a signal, a word of the gateway, or the next start is due."""
        timeout = None
        if self._due:
            timeout = max(0.0, min(when for when, _ in self._due) - time.monotonic())
        for key, _ in self._selector.select(timeout):
            if key.fd == self._wake_read:
                with contextlib.suppress(BlockingIOError):
                    while os.read(self._wake_read, 512):
                        pass
            else:
                self._hear()

    def _look_after_children(self) -> int | None:
        """Note deaths and start who is due; an exit status when it is no use to go on."""
        for child in (self._gateway, self._consumer):
            if child is None or child.process is None or child.process.poll() is None:
                continue
            status = child.process.returncode
            child.process = None
            if child is self._gateway and status == _EXIT_REFUSED:
                return 1
            if child is self._consumer:
                self._end_beat()
            if not self._stopping:
                wait = child.restart_after()
                _say(f"{child.name} ended with status {status}; starting it again in {wait} s")
                self._due.append((time.monotonic() + wait, child))
        self._start_due()
        return None

    def _start_due(self) -> None:
        now = time.monotonic()
        due = [child for when, child in self._due if when <= now]
        self._due = [(when, child) for when, child in self._due if when > now]
        for child in due:
            if child is self._gateway:
                self._start_gateway()
            else:
                child.start()

    def _end_beat(self) -> None:
        """Let health see at once that no consumer lives; one beside ours touches it again."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._beat)  # noqa: PTH108 - pathlib is one import more for a small process

    # ---- the gateway and its word ------------------------------------------

    def _start_gateway(self) -> None:
        self._drop_pipe()
        self._pipe, inherited = os.pipe2(os.O_CLOEXEC)
        self._selector.register(self._pipe, selectors.EVENT_READ)
        self._gateway.command = [
            sys.executable, "-m", "socket_gateway.gateway", f"{LISTENING_OPTION}{inherited}",
        ]  # fmt: skip
        self._gateway.inherited = (inherited,)
        self._gateway.start()
        os.close(inherited)

    def _hear(self) -> None:
        if self._pipe is None:
            return
        said = os.read(self._pipe, 512)
        self._said += said
        if self._said.endswith(b"\n"):
            self._begin_to_serve(**json.loads(self._said))
        if not said:
            self._drop_pipe()

    def _begin_to_serve(self, socket: str, threads: int, drain_ms: int, beat: str) -> None:
        """Say once that the gateway listens, and start the consumer if there is none yet."""
        if self._announces:
            self._announces = False
            sys.stdout.write(json.dumps({"socket": socket, "pid": os.getpid()}) + "\n")
            sys.stdout.flush()
        if self._with_worker and self._consumer is None:
            self._beat = beat
            self._end_beat()
            self._consumer = Child("consumer", consumer_command(threads, drain_ms))
            self._consumer.start()

    def _drop_pipe(self) -> None:
        self._said = b""
        if self._pipe is not None:
            self._selector.unregister(self._pipe)
            os.close(self._pipe)
            self._pipe = None

    # ---- the end -----------------------------------------------------------

    def _end_children(self) -> None:
        """Let the children drain; whoever hasn't after ten seconds is killed: nothing is lost."""
        children = [child for child in (self._consumer, self._gateway) if child is not None]
        for child in children:
            child.signal(signal.SIGTERM)
        deadline = time.monotonic() + _DRAIN_S
        for child in children:
            if child.process is None:
                continue
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                _say(f"{child.name} did not drain in time; killed, its work is taken up later")
                child.process.kill()
                child.process.wait()


def consumer_command(threads: int, drain_ms: int) -> list[str]:
    """How a stock consumer is run (spec: design, Huey).

    Quiet, since a line for every wake-up halves its throughput; polling so short costs 0.3 % of a
    core.
    """
    return [
        sys.executable, "-m", "huey.bin.huey_consumer", "pipeline.tasks.huey",
        "--worker-type", "thread", "--workers", str(threads), "--delay", "0.05",
        "--max-delay", "0.2", "--no-periodic", "--quiet", "--graceful-signal", "TERM",
        "--shutdown-timeout", str(max(1, drain_ms // 1000)),
    ]  # fmt: skip


def _say(text: str) -> None:
    sys.stderr.write(f"deskpaw-memory: {text}\n")
    sys.stderr.flush()


def main() -> int:
    """Run the whole service in the foreground; its exit status."""
    os.umask(0o077)
    given = sys.argv[1:]
    return Supervisor(with_worker=NO_WORKER not in given, as_json=AS_JSON in given).run()


if __name__ == "__main__":
    sys.exit(main())
