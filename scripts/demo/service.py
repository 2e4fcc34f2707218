"""A service on a folder of its own; its processes and its folder are gone afterwards."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.rule import Rule

from scripts.demo.shown import say
from socket_gateway.client import MemoryClient, NotReachableError, RetryPolicy
from socket_gateway.protocol import HealthResult
from storage.errors import UnavailableError

ROOT: Final = Path(__file__).resolve().parents[2]
START_S: Final = 60.0
PATIENT: Final = RetryPolicy(attempts=400, longest_wait_s=0.25, total_s=START_S)


@contextmanager
def running_service(console: Console) -> Iterator[MemoryClient]:
    """A service, and a client of it; the socket lies in the service's state folder."""
    with ExitStack() as stack:
        state = Path(tempfile.mkdtemp(prefix="deskpaw-demo-"))
        stack.callback(_removed, state, console)
        child = stack.enter_context(_started(state))
        client = stack.enter_context(MemoryClient(state / "memory.sock", policy=PATIENT))
        console.print(Rule("DeskPaw memory · 演示 demo", style="cyan"))
        say(console, "状态目录 · state", str(state))
        health = _healthy(client, child, state)
        say(
            console,
            "套接字 · socket",
            f"{client.path}  (pid {child.pid}, version {health.version})",
        )
        yield client


@contextmanager
def _started(state: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The service's processes. The bare environment keeps the caller's settings out."""
    environment = {"DESKPAW_STATE_DIR": str(state), "PATH": os.defpath, "LANG": "C.UTF-8"}
    command = [sys.executable, "-m", "socket_gateway.supervisor"]
    with (state / "serve.log").open("wb") as log:
        child = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _removed(state: Path, console: Console) -> None:
    """Remove the folder, and say so."""
    shutil.rmtree(state)
    say(console, "已停止并清理 · stopped, removed", str(state))


def _healthy(client: MemoryClient, child: subprocess.Popen[bytes], state: Path) -> HealthResult:
    """The service's health once it is well.

    Raises:
        UnavailableError: It ended, or isn't well in time.
    """
    end = time.monotonic() + START_S
    told = "The service answers nothing"
    with suppress(NotReachableError):
        while child.poll() is None:
            health = client.health()
            if health.status == "ok":
                return health
            told = f"The service is {health.status}: {'; '.join(health.reasons)}"
            if time.monotonic() > end:
                break
            time.sleep(0.1)
    log = (state / "serve.log").read_text(encoding="utf-8", errors="replace")
    raise UnavailableError(f"{told}. Its log ends with:\n{log[-2000:]}")
