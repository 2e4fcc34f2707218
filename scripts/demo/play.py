"""Plays the demo log into a throw-away service and asks it three questions.

Run by `scripts/run --demo`. Everything goes through the socket, as an agent's requests do; the
service, its folder and its processes are gone at the end.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from socket_gateway.cli.progress import drawn
from socket_gateway.cli.recall import answered
from socket_gateway.cli.shown import moment, one_line, safe
from socket_gateway.client import MemoryClient, Ports, RetryPolicy, calls
from socket_gateway.protocol import HealthResult, HitResult, RecallParams
from socket_gateway.replaying.publishing import PublicationWait
from socket_gateway.replaying.replay import Replay, Report, Told
from socket_gateway.replaying.sending import Sender
from storage.errors import MemoryServiceError, UnavailableError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OWNER = "demo"
FIRST_HITS = 3
LONGEST = 160
START_S = 60.0
PATIENT = RetryPolicy(attempts=400, longest_wait_s=0.25, total_s=START_S)
HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Words:
    """The labels of an answer in one language."""

    states: dict[str, str]
    record: str
    event: str
    why: str
    quote: str
    expected: str
    rank: str
    missing: str


ENGLISH = Words(
    {"complete": "found", "not_found": "not found", "unavailable": "memory unavailable"},
    "record", "event in no valid record", "found by", "verbatim", "expected evidence", "in hit",
    "in NO hit of the answer",
)  # fmt: skip
CHINESE = Words(
    {"complete": "找到了", "not_found": "没有找到", "unavailable": "记忆暂不可用"},
    "记忆", "事件，无有效记忆引用", "命中依据", "原文", "应有的依据", "见命中", "不在答案的任何命中里",
)  # fmt: skip


def main() -> int:
    """Play the log, ask, and say whether each answer rests on what it should."""
    # Any of these must still take the folder and the processes away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    try:
        with running_service(console) as client:
            replay(client, console)
            questions = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))
            right = sum(ask(client, question, console) for question in questions)
    except MemoryServiceError as error:
        console.print(Text(f"{error.code}: {safe(error.message)}", style="bold red"))
        return 1
    done = right == len(questions)
    style = "bold green" if done else "bold red"
    console.print(Rule(style="dim"))
    console.print(
        Text(
            f"{right}/{len(questions)} 个问题的答案有应有的依据 · answers rest on the expected"
            " evidence",
            style=style,
        )
    )
    return 0 if done else 1


@contextmanager
def running_service(console: Console) -> Iterator[MemoryClient]:
    """A service on a folder of its own, and a client of it; both are gone afterwards."""
    with ExitStack() as stack:
        state = Path(tempfile.mkdtemp(prefix="deskpaw-demo-"))
        stack.callback(removed, state, console)
        child = stack.enter_context(started(state))
        client = stack.enter_context(MemoryClient(state / "memory.sock", policy=PATIENT))
        console.print(Rule("DeskPaw memory · 演示 demo", style="cyan"))
        say(console, "状态目录 · state", str(state))
        health = healthy(client, child, state)
        say(
            console,
            "套接字 · socket",
            f"{client.path}  (pid {child.pid}, version {health.version})",
        )
        yield client


@contextmanager
def started(state: Path) -> Iterator[subprocess.Popen[bytes]]:
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


def removed(state: Path, console: Console) -> None:
    """Remove the folder, and say so."""
    shutil.rmtree(state)
    say(console, "已停止并清理 · stopped, removed", str(state))


def healthy(client: MemoryClient, child: subprocess.Popen[bytes], state: Path) -> HealthResult:
    """The service's health once it is well.

    Raises:
        UnavailableError: It ended, or isn't well in time.
    """
    end = time.monotonic() + START_S
    while child.poll() is None:
        health = client.health()
        if health.status == "ok":
            return health
        if time.monotonic() > end:
            raise UnavailableError(f"The service is {health.status}: {'; '.join(health.reasons)}")
        time.sleep(0.1)
    log = (state / "serve.log").read_text(encoding="utf-8", errors="replace")
    raise UnavailableError(f"The service ended at once (status {child.returncode}):\n{log[-2000:]}")


def replay(client: MemoryClient, console: Console) -> Report:
    """Send the log through the socket and wait until all of it is published."""
    began = time.monotonic()
    with ExitStack() as stack:
        told: Told = lambda *_: None  # noqa: E731  (nothing to draw where nobody looks)
        if console.is_terminal:
            told = stack.enter_context(drawn(console))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        work = Replay(client, Sender(client, batch=20), folder, owner=OWNER, told=told)
        report = work.send(work.survey([HERE / "events.jsonl"], skip_bad=False))
        work.wait(report, PublicationWait(client))
    spent = time.monotonic() - began
    count = sum(file.tally.accepted for file in report.files)
    at = report.positions[OWNER]
    say(
        console,
        "回放 · replayed",
        f"{count} 个事件 events, published {at.published}, dead {at.dead}, {spent:.1f} s",
    )
    return report


def ask(client: MemoryClient, question: dict[str, Any], console: Console) -> bool:
    """Ask one question and show the answer; whether it rests on what it should."""
    words = CHINESE if HAN.search(question["question"]) else ENGLISH
    console.print(Rule(style="dim"))
    console.print(Text(f"❓ {question['question']}", style="bold"))
    call = calls.recall(
        RecallParams(
            request_id=Ports().new_id(),
            query=question["question"],
            owner=OWNER,
            objects=question.get("objects", []),
        )
    )
    found = call.read(answered(client, call, time.sleep))
    console.print(Text(words.states.get(found.state, found.state), style="cyan"))
    expected: list[str] = question["expect_event_ids"]
    ranks = {event_id: rank_of(event_id, found.hits) for event_id in expected}
    for rank, hit in enumerate(found.hits, 1):
        if rank <= FIRST_HITS or rank in ranks.values():
            show(rank, hit, words, console)
            show_further(client, [e for e in expected if ranks[e] == rank], hit, words, console)
    return judged(ranks, words, console)


def rank_of(event_id: str, hits: Sequence[HitResult]) -> int | None:
    """The rank of the first hit that rests on an event, or is it."""
    for rank, hit in enumerate(hits, 1):
        named = {span.event for span in hit.record.source_refs} if hit.record else set()
        if event_id in named or (hit.event is not None and hit.event.id == event_id):
            return rank
    return None


def show(rank: int, hit: HitResult, words: Words, console: Console) -> None:
    """Show one hit with the verbatim words behind it."""
    line = Text(f"{rank}. ", style="bold")
    if hit.record is not None:
        record = hit.record
        line.append(f"[{words.record} {record.kind} · {record.status}] ", style="green")
        line.append(shortened(record.content), style="bold")
    elif hit.event is not None:
        event = hit.event
        line.append(f"[{words.event} · {event.role}] ", style="yellow")
        line.append(shortened(event.text), style="bold")
        line.append(f"  {event.id} · {moment(event.at)}", style="blue")
    console.print(line)
    console.print(Text(f"   {words.why}: {', '.join(hit.reasons)}", style="dim"))
    for part in hit.evidence:
        show_quote(part.event, part.at, part.role, part.quote, words, console)


def show_further(
    client: MemoryClient, wanted: Sequence[str], hit: HitResult, words: Words, console: Console
) -> None:
    """Show the expected words that a record rests on and its hit had no room for."""
    if hit.record is None:
        return
    left = set(wanted) - {part.event for part in hit.evidence}
    if not left:
        return
    found = client.evidence(hit.record.id, owner=OWNER)
    events = {event.id: event for event in found.events}
    for span in found.spans:
        if span.event in left:
            event = events[span.event]
            show_quote(event.id, event.at, event.role, span.quote, words, console)


def show_quote(
    event_id: str, at: int, role: str, quote: str, words: Words, console: Console
) -> None:
    """Show verbatim words and where they come from."""
    source = f"   {words.quote} {event_id} · {moment(at)} · {role}: "
    console.print(Text.assemble((source, "blue"), f"“{one_line(quote)}”"))


def shortened(text: str) -> str:
    """A text on one line, cut where it is long; what is verbatim is never cut."""
    line = one_line(text)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"


def judged(ranks: Mapping[str, int | None], words: Words, console: Console) -> bool:
    """Say for each expected event which hit rests on it, if any."""
    for event_id, rank in ranks.items():
        told = f"✓ {words.expected} {event_id}: {words.rank} {rank}"
        if rank is None:
            told = f"✗ {words.expected} {event_id}: {words.missing}"
        console.print(Text(told, style="bold red" if rank is None else "green"))
    return None not in ranks.values()


def say(console: Console, label: str, words: str) -> None:
    """Write a labelled line."""
    console.print(Text.assemble((f"{label}  ", "dim"), words))


if __name__ == "__main__":
    sys.exit(main())
