"""Durable ingest against its yardsticks (spec: quality, Speed): `python -m scripts.bench.ingest`.

The two sides alternate in one run; the median ratio counts. The consumer is off, since the figures
are about the door; `scripts.bench.pipeline` has it on.
"""

import argparse
import tempfile
from pathlib import Path

from scripts.bench.common import median, percentile, report, service
from scripts.bench.load import Load, run
from scripts.bench.yardsticks import Yardstick

CASES = (
    ("1 client, 1 event a request", Load(1), "bare commits of 1 row", 0.5),
    ("64 clients, kept connections", Load(64), "bare group commit, 64 threads", 0.9),
    ("64 clients, a connection a request", Load(64, kept=False), "the row above", 0.65),
    ("1 client, 200 events a request", Load(1, events=200), "bare commits of 200 rows", 0.5),
)


def main() -> None:
    """Measure every case, `--rounds` times in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    rates: dict[str, list[float]] = {name: [] for name, *_ in CASES}
    bases: dict[str, list[float]] = {name: [] for name, *_ in CASES}
    latencies: dict[str, list[float]] = {name: [] for name, *_ in CASES}
    with tempfile.TemporaryDirectory(prefix="deskpaw-bench-") as folder:
        for _ in range(options.rounds):
            _round(Path(folder), options.seconds, rates, bases, latencies)
    rows = [
        {
            "case": name,
            "events/s": round(median(rates[name])),
            "yardstick": yardstick,
            "yardstick rows/s": round(median(bases[name])),
            "ratio": round(
                median([a / b for a, b in zip(rates[name], bases[name], strict=True)]), 2
            ),
            "goal": goal,
            "p50 ms": round(percentile(latencies[name], 0.5), 2),
            "p99 ms": round(percentile(latencies[name], 0.99), 2),
        }
        for name, _, yardstick, goal in CASES
    ]
    report("Durable ingest", rows, notes=[f"median of {options.rounds} alternating rounds"])


def _round(
    folder: Path,
    seconds: float,
    rates: dict[str, list[float]],
    bases: dict[str, list[float]],
    latencies: dict[str, list[float]],
) -> None:
    yardstick = Yardstick(folder)
    single, many, kept, bulk = (name for name, *_ in CASES)
    with service(worker=False) as running:
        for name, load, *_ in CASES:
            timed = Load(load.clients, load.events, load.kept, seconds)
            outcome = run(running.socket, timed)
            rates[name].append(outcome.rate)
            latencies[name] += outcome.latencies_ms
            if name == single:
                bases[name].append(yardstick.commits(1, seconds))
            elif name == many:
                bases[name].append(yardstick.group_commit(64, seconds))
            elif name == kept:
                bases[name].append(rates[many][-1])
            elif name == bulk:
                bases[name].append(yardstick.commits(200, seconds))
    yardstick.close()


if __name__ == "__main__":
    main()
