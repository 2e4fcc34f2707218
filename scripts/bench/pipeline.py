"""The pipeline beside the door: `python -m scripts.bench.pipeline`.

Acknowledgements while a backlog is worked off against the same when idle, and events a second
through all stages against bare Huey no-op tasks with the same `synchronous` (spec: quality, Speed).
"""

import argparse
import tempfile
import threading
import time
from pathlib import Path
from uuid import uuid4

from huey import CySqliteHuey

from scripts.bench.common import median, percentile, report, service, wait_published
from scripts.bench.load import Load, Outcome, run
from socket_gateway.client import MemoryClient

OWNERS = 8
STREAMS = 40
TEXTS = (
    "今天把三月的报销单交了，发票号 BX-2024-{n:03d}，共 3 张。",
    "The deployment of ufo-check failed again with exit code {n}; rolling back.",
    "以后周报都用英文写，别超过 {n} 行。",
    "Thanks, that works. 明天下午 3 点前我会把合同发给财务。",
)


def main() -> None:
    """Measure both, several times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=20_000)
    options = parser.parse_args()
    rates, bare, idle, busy = [], [], [], []
    for _ in range(options.rounds):
        rates.append(_stages(options.events))
        bare.append(_noops(4_000))
        quiet, loaded = _acknowledgements(options.events // 2)
        idle.append(percentile(quiet.latencies_ms, 0.99))
        busy.append(percentile(loaded.latencies_ms, 0.99))
    ratio = median([a / b for a, b in zip(rates, bare, strict=True)])
    slower = median([b / a for a, b in zip(idle, busy, strict=True)])
    report(
        "Pipeline",
        [
            {"what": "events/s through all stages, offline observer", "figure": round(median(rates)),
             "yardstick": "bare Huey no-op tasks/s", "is": round(median(bare)),
             "ratio": round(ratio, 2), "goal": "≥ 3"},
            {"what": "acknowledgement p99 ms while a backlog is worked off",
             "figure": round(median(busy), 2), "yardstick": "the same when idle",
             "is": round(median(idle), 2), "ratio": round(slower, 2), "goal": "≤ 3"},
        ],
        notes=[f"median of {options.rounds} rounds; backlog of {options.events} events"],
    )  # fmt: skip


def _backlog(client: MemoryClient, count: int) -> dict[str, int]:
    """Put so many events in; each owner's last sequence number."""
    last: dict[str, int] = {}
    for start in range(0, count, 200):
        owner = f"owner-{start // 200 % OWNERS}"
        events = [
            {
                "v": 1, "id": uuid4().hex, "kind": "user.message", "at": 1_772_000_000_000 + n * 1_000,
                "source": {"role": "user", "stream": f"s{n // 50 % STREAMS}"},
                "text": TEXTS[n % len(TEXTS)].format(n=n),
            }
            for n in range(start, start + 200)
        ]  # fmt: skip
        answer = client.call("memory.events.ingest", {"owner": owner, "events": events})
        last[owner] = answer["accepted"][-1]["seq"]
    return last


def _stages(count: int) -> float:
    """Events a second from the consumer's start to everything published."""
    with tempfile.TemporaryDirectory(prefix="deskpaw-bench-") as folder:
        state = Path(folder)
        with service(state, worker=False) as running, MemoryClient(running.socket) as client:
            last = _backlog(client, count)
        with service(state) as running, MemoryClient(running.socket) as client:
            already = sum(client.call("memory.positions", {"owner": o})["backlog"] for o in last)
            began = time.perf_counter()
            client.call("ops.flush", {})
            for owner, seq in last.items():
                wait_published(client, owner, seq)
            return float(already) / (time.perf_counter() - began)


def _noops(count: int) -> float:
    """Tasks a second of a bare Huey consumer with four threads and synced commits."""
    with tempfile.TemporaryDirectory(prefix="deskpaw-bench-") as folder:
        huey = CySqliteHuey("bench", results=False, filename=f"{folder}/queue.sqlite3", fsync=True)
        done = threading.Event()
        left = [count]

        @huey.task()  # type: ignore[untyped-decorator]  # huey is untyped
        def noop() -> None:
            left[0] -= 1
            if left[0] <= 0:
                done.set()

        for _ in range(count):
            noop()
        consumer = huey.create_consumer(workers=4, worker_type="thread", initial_delay=0.05,
                                        max_delay=0.2, periodic=False)  # fmt: skip
        began = time.perf_counter()
        consumer.start()
        done.wait(300)
        rate = count / (time.perf_counter() - began)
        consumer.stop(graceful=True)
        return rate


def _acknowledgements(count: int) -> tuple[Outcome, Outcome]:
    """A lone client's latencies when idle, and while a backlog is worked off."""
    with service(pipeline__package_age_ms=500) as running, MemoryClient(running.socket) as client:
        idle = run(running.socket, Load(1, seconds=4, owner="lone"))
        _backlog(client, count)
        busy = run(running.socket, Load(1, seconds=4, owner="lone"))
        return idle, busy


if __name__ == "__main__":
    main()
