"""Start-up and memory: `python -m scripts.bench.startup`.

From the start of `serve` to the first `health` answer and to `ok`, with warm caches, with the file
cache dropped where that is allowed, and at the first start ever; processor time and written blocks
of an idle minute; memory at rest (spec: quality, Speed).
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event

import psutil

from scripts.bench.common import environment, median, report, service
from socket_gateway.supervisor import consumer_command

PROBE_S = 0.01
YARDSTICK = (
    "import uvloop, jiter, orjson, pydantic, peewee, cysqlite, huey, tantivy, rjieba, zhconv_rs,"
    " kingfisher_sdk, snowballstemmer, tenacity"
)


def main() -> None:
    """Measure all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--idle-seconds", type=float, default=60.0)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="deskpaw-bench-") as folder:
        warm = Path(folder) / "warm"
        first = [_start(Path(folder) / f"new-{n}") for n in range(options.rounds)]
        _start(warm)
        again = [_start(warm) for _ in range(options.rounds)]
        imports = [_imports() for _ in range(options.rounds)]
        rows += _start_rows("warm caches", again, imports, goals=(0.5, 1.0))
        rows += _start_rows("first start ever", first, imports, goals=(None, 4.5))
        if _drop_caches():
            cold = [_start(warm) for _ in range(options.rounds) if _drop_caches()]
            rows += _start_rows("file cache dropped", cold, imports, goals=(None, None))
        rows += _at_rest(warm, options.idle_seconds)
    report("Start-up and memory", rows, notes=[f"medians of {options.rounds} starts"])


def _start_rows(
    what: str,
    starts: list[tuple[float, float]],
    imports: list[float],
    *,
    goals: tuple[float | None, float | None],
) -> list[dict[str, object]]:
    base = median(imports)
    rows: list[dict[str, object]] = []
    for place, name in enumerate(("first health answer", "ok")):
        seconds = median([start[place] for start in starts])
        rows.append(
            {"what": f"{what}: to {name}", "figure": f"{seconds:.2f} s",
             "beside it": f"{seconds / base:.2f} times the imports alone, {base:.2f} s",
             "goal": f"≤ {goals[place]} s" if goals[place] else "told"}
        )  # fmt: skip
    return rows


def _start(state: Path) -> tuple[float, float]:
    """Seconds to the first answer of `health`, and to the first that says ok."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "socket_gateway.supervisor"],
                               env=environment(state))  # fmt: skip
    try:
        answered = _until(state, lambda _: True)
        ready = _until(state, lambda health: health["status"] == "ok")
        return answered - began, ready - began
    finally:
        process.terminate()
        process.wait(30)


def _until(state: Path, holds: Callable[[dict[str, object]], bool]) -> float:
    pause = Event()
    for _ in range(int(120 / PROBE_S)):
        health = _health(state / "memory.sock")
        if health is not None and holds(health):
            return time.perf_counter()
        pause.wait(PROBE_S)
    raise TimeoutError("the service never answered so")


def _health(path: Path) -> dict[str, object] | None:
    """Ask by hand: a client's imports would be part of the time."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(path))
        connection.sendall(b'{"id":1,"method":"health"}\n')
        result: dict[str, object] = json.loads(connection.recv(1 << 16))["result"]
        return result
    return None


def _imports() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", YARDSTICK], check=True)
    return time.perf_counter() - began


def _drop_caches() -> bool:
    """Drop the kernel's file cache, where this user may."""
    with suppress(OSError):
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3")
        return True
    return False


def _at_rest(state: Path, seconds: float) -> list[dict[str, object]]:
    with service(state) as running:
        parent = psutil.Process(running.pid)
        everyone = [parent, *parent.children(recursive=True)]
        Event().wait(5)
        memory = {_role(process): process.memory_full_info().pss / 1e6 for process in everyone}
        before = sum(sum(process.cpu_times()[:2]) for process in everyone)
        written = _written(everyone)
        Event().wait(seconds)
        share = (sum(sum(process.cpu_times()[:2]) for process in everyone) - before) / seconds
        written = _written(everyone) - written
    both = memory["gateway"] + memory["worker"]
    parts = ", ".join(f"{name} {size:.0f}" for name, size in memory.items())
    return [
        {"what": "memory at rest, gateway + worker (PSS)", "figure": f"{both:.0f} MB",
         "beside it": parts, "goal": "≤ 220 MB"},
        {"what": "idle processor time", "figure": f"{100 * share:.2f} % of a core",
         "beside it": f"{100 * _stock_consumer(seconds):.2f} %, a stock consumer alone",
         "goal": "≤ 1 %"},
        {"what": "written while idle", "figure": f"{written} bytes",
         "beside it": "", "goal": "no fsync without work"},
    ]  # fmt: skip


def _stock_consumer(seconds: float) -> float:
    """The share of a core that a stock consumer takes that has nothing to do and nothing beside it."""
    with tempfile.TemporaryDirectory(prefix="deskpaw-bench-") as folder:
        Path(folder, "bare.py").write_text(
            "from huey import CySqliteHuey\n"
            "huey = CySqliteHuey('bare', results=False, filename='queue.sqlite3', fsync=False)\n"
        )
        command = [*consumer_command(threads=4, drain_ms=1_000)]
        command[command.index("pipeline.tasks.huey")] = "bare.huey"
        process = subprocess.Popen(command, cwd=folder)
        try:
            watched = psutil.Process(process.pid)
            Event().wait(3)
            before = sum(watched.cpu_times()[:2])
            Event().wait(seconds)
            return float(sum(watched.cpu_times()[:2]) - before) / seconds
        finally:
            process.terminate()
            process.wait(30)


def _written(processes: list[psutil.Process]) -> int:
    return sum(process.io_counters().write_bytes for process in processes)


def _role(process: psutil.Process) -> str:
    command = " ".join(process.cmdline())
    if "huey" in command:
        return "worker"
    return "gateway" if "socket_gateway.gateway" in command else "parent"


if __name__ == "__main__":
    main()
