"""What the benchmarks share: the machine, a service of their own, tables, medians."""

import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from threading import Event

from rich.console import Console
from rich.table import Table

from socket_gateway.client import MemoryClient

_WHOLE = 100.0
"""From here on figures are shown without decimals."""

PACKAGES = ("deskpaw-memory", "cysqlite", "huey", "peewee", "tantivy", "uvloop", "pydantic")


@dataclass(frozen=True, slots=True)
class Service:
    """A running service with its state folder and its processes' ids."""

    state: Path
    socket: Path
    pid: int


def machine() -> dict[str, object]:
    """What the figures were taken on."""
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory = Path("/proc/meminfo").read_text(encoding="utf-8").split()[1]
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "memory_mb": int(memory) // 1024,
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
        "versions": {name: version(name) for name in PACKAGES},
    }


def environment(state: Path, **settings: object) -> dict[str, str]:
    """This shell's environment for a service on a state folder, less what would point it elsewhere.

    Args:
        state: The state folder.
        settings: Such as `pipeline__package_age_ms=100`.
    """
    inherited = os.environ.items()  # noqa: TID251 - passed on, not read
    made = {key: value for key, value in inherited if not key.startswith("DESKPAW_")}
    made["DESKPAW_STATE_DIR"] = str(state)
    made["DESKPAW_MEMORY_LOG__LEVEL"] = "warning"
    for key, value in settings.items():
        made[f"DESKPAW_MEMORY_{key.upper()}"] = str(value)
    return made


@contextmanager
def service(
    state: Path | None = None, *, worker: bool = True, **settings: object
) -> Iterator[Service]:
    """The whole service on a state folder, ready; stopped and, without `state`, removed after.

    Args:
        state: A folder to keep; otherwise a new one.
        worker: Whether a consumer runs.
        settings: Such as `pipeline__package_age_ms=100`.
    """
    folder = state or Path(tempfile.mkdtemp(prefix="deskpaw-bench-"))
    command = [sys.executable, "-m", "socket_gateway.supervisor"]
    process = subprocess.Popen(
        command + ([] if worker else ["--no-worker"]), env=environment(folder, **settings)
    )
    try:
        running = Service(folder, folder / "memory.sock", process.pid)
        wait_ready(running, worker=worker)
        yield running
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        if state is None:
            shutil.rmtree(folder, ignore_errors=True)


def wait_ready(running: Service, *, worker: bool, seconds: float = 60) -> None:
    """Until the service, with its consumer, is ready.

    Raises:
        TimeoutError: It never became so.
    """
    pause = Event()
    for _ in range(int(seconds * 20)):
        pause.wait(0.05)
        if not running.socket.exists():
            continue
        with MemoryClient(running.socket) as client:
            health = client.call("health", {})
        queue = health.get("queue")
        warm = "warming" not in health["reasons"]
        if warm and (not worker or (queue and queue["consumer_seen_ms"] is not None)):
            return
    raise TimeoutError("the service did not become ready")


def wait_published(client: MemoryClient, owner: str, seq: int, seconds: float = 600) -> None:
    """Until an owner's events up to a sequence number are published.

    Raises:
        TimeoutError: They never were.
    """
    pause = Event()
    for _ in range(int(seconds * 20)):
        if client.call("memory.positions", {"owner": owner})["published"] >= seq:
            return
        pause.wait(0.05)
    raise TimeoutError(f"not published in {seconds} s")


def median(values: Sequence[float]) -> float:
    """The middle of several runs."""
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that a share of the values stays below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report(title: str, rows: Sequence[Mapping[str, object]], *, notes: Sequence[str] = ()) -> None:
    """Print a table for people and one line of JSON for machines."""
    console = Console()
    table = Table(title=title)
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        table.add_column(name)
    for row in rows:
        table.add_row(*[_shown(row.get(name, "")) for name in names])
    console.print(table)
    for note in notes:
        console.print(note)
    print(json.dumps({"title": title, "machine": machine(), "rows": list(rows), "notes": list(notes)},
                     ensure_ascii=False))  # fmt: skip


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < _WHOLE else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
