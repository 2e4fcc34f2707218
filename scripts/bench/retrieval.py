"""Recall through the service itself: `python -m scripts.bench.retrieval DATA [SET …]`.

Each set's corpus goes in through `replay`, its questions through `memory.continuity.recall`, with
one default configuration for all. Sets that aren't in the folder are said and skipped
(spec: quality, Retrieval).

Recall@10 is the share of a question's evidence among the first ten distinct events of the hits (a
record stands for the events that it quotes); questions without evidence are left out.
"""

import argparse
import gzip
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Event
from typing import Any

from scripts.bench.common import Service, environment, median, percentile, report, service
from socket_gateway.client import MemoryClient

SETS = ("memorybank_cn", "locomo", "memdaily", "drcd", "beam_100k", "zh_edge")
DEPTH = 10
ITEMS = 30
"""Hits asked for: records stand for several events, so ten events may take more or fewer hits."""

TOKENS = 32_000


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the ids that count as found, one group for each piece of evidence."""

    id: str
    owner: str
    text: str
    evidence: Sequence[frozenset[str]]


@dataclass(frozen=True, slots=True)
class Score:
    """How one question went."""

    recall: float
    reciprocal_rank: float
    ndcg: float
    first: bool


def main() -> None:
    """Measure every set that is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*", default=SETS)
    options = parser.parse_args()
    rows, skipped = [], []
    for name in options.sets:
        folder = options.data / name
        if not list(folder.glob("corpus.jsonl*")):
            skipped.append(f"skipped {name}: {folder} has no corpus")
            continue
        rows += _measure(name, folder)
    report("Retrieval through the service", rows, notes=skipped)


def _measure(name: str, folder: Path) -> list[dict[str, object]]:
    with service() as running:
        _replay(running, _file(folder, "corpus"))
        with MemoryClient(running.socket) as client:
            rows = [_asked(f"{name}{suffix}", client, questions)
                    for suffix, questions in _questions(folder)]  # fmt: skip
            backlog = client.call("health", {})["positions"]["backlog"]
    return [row | {"unpublished": backlog} for row in rows]


def _replay(running: Service, corpus: Path) -> None:
    command = [sys.executable, "-m", "socket_gateway.cli", "replay", str(corpus), "--json"]
    subprocess.run(command, env=environment(running.state), check=True, stdout=subprocess.DEVNULL)


def _questions(folder: Path) -> Iterator[tuple[str, list[Question]]]:
    found = list(_lines(_file(folder, "queries")))
    places = _places(folder) if any("alt_n" in line for line in found) else {}
    yield "", [_question(line, line["question"], places) for line in found]
    simplified = [line for line in found if "question_s" in line]
    if simplified:
        yield " (simplified)", [_question(line, line["question_s"], places) for line in simplified]


def _question(line: dict[str, Any], text: str, places: dict[tuple[str, int], str]) -> Question:
    groups = []
    for place, event in enumerate(line["evidence"]):
        same = {event}
        for n in (line.get("alt_n") or [[]] * len(line["evidence"]))[place]:
            same.add(places.get((line["owner"], n), event))
        groups.append(frozenset(same))
    return Question(line["id"], line["owner"], text, groups)


def _places(folder: Path) -> dict[tuple[str, int], str]:
    """Each document by owner and position, for sets that name others that state the same fact."""
    lines = _lines(_file(folder, "corpus"))
    return {(line["owner"], line["n"]): line["id"] for line in lines if "n" in line}


def _asked(name: str, client: MemoryClient, questions: Sequence[Question]) -> dict[str, object]:
    scores, times = [], []
    for question in questions:
        if question.evidence:
            found, took = _ask(client, question)
            scores.append(_score(found, question.evidence))
            times.append(took)
    count = len(scores)
    return {
        "set": name,
        "questions": count,
        "R@10": round(100 * sum(s.recall for s in scores) / count, 1),
        "MRR": round(sum(s.reciprocal_rank for s in scores) / count, 3),
        "nDCG@10": round(sum(s.ndcg for s in scores) / count, 3),
        "first": round(100 * sum(s.first for s in scores) / count, 1),
        "p50 ms": round(median(times), 1),
        "p99 ms": round(percentile(times, 0.99), 1),
    }


def _ask(client: MemoryClient, question: Question) -> tuple[list[str], float]:
    params = {
        "request_id": blake2b(
            f"{question.id} {question.text}".encode(), digest_size=16
        ).hexdigest(),
        "owner": question.owner,
        "query": question.text,
        "budget": {"items": ITEMS, "tokens": TOKENS},
    }
    pause = Event()
    began = time.perf_counter() * 1000
    answer = client.call("memory.continuity.recall", params)
    took = time.perf_counter() * 1000 - began
    while answer["state"] == "pending":
        pause.wait(0.02)
        answer = client.call("memory.continuity.recall", params)
    return _events(answer), took


def _events(answer: dict[str, Any]) -> list[str]:
    """The distinct events of the hits, in their order."""
    found: dict[str, None] = {}
    for hit in answer["hits"]:
        if "event" in hit:
            found[hit["event"]["id"]] = None
        for evidence in hit["evidence"]:
            found[evidence["event"]] = None
    return list(found)


def _score(found: Sequence[str], evidence: Sequence[frozenset[str]]) -> Score:
    top = found[:DEPTH]
    hit = [bool(group.intersection(top)) for group in evidence]
    relevant = [any(event in group for group in evidence) for event in top]
    rank = next((place for place, is_one in enumerate(relevant, 1) if is_one), None)
    gained = sum(1 / math.log2(place + 1) for place, is_one in enumerate(relevant, 1) if is_one)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(len(evidence), DEPTH) + 1))
    return Score(sum(hit) / len(hit), 1 / rank if rank else 0.0, min(1.0, gained / best), rank == 1)


def _file(folder: Path, name: str) -> Path:
    """A set's file, packed or not."""
    packed = folder / f"{name}.jsonl.gz"
    return packed if packed.exists() else folder / f"{name}.jsonl"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    for line in text.splitlines():
        yield json.loads(line)


if __name__ == "__main__":
    main()
