"""What clients of the crash tests send, and what they remember of the answers."""

import random
import threading
from collections.abc import Sequence
from typing import Any

from socket_gateway.client import MemoryClient, NotReachableError, ServiceError
from tests.crash.harness import Place

_SAID = (
    ("user", "user.message", "第{n}份报销单放在蓝色文件夹里，先看一下总额"),
    ("user", "user.message", "Report {n} lies in the shared folder, look at the totals first"),
    ("supervisor", "supervisor.reply", "好的，第{n}份材料正在整理"),
    ("supervisor", "supervisor.reply", "Understood, summary {n} is being prepared"),
    ("executor", "executor.observation", "第{n}页已经显示出新的审批入口和负责人"),
    ("executor", "executor.observation", "Page {n} shows the new approval form and its owner"),
)
_MEANT = (
    ("user", "user.message", "请记住：我喜欢把第{n}份周报写成一页表格"),
    ("user", "user.message", "Remember: I prefer report {n} as a short table"),
    ("user", "user.correction", "不对，第{n}张发票应该算在差旅费里"),
    ("user", "user.correction", "No, build {n} belongs to the staging server"),
)
_OBJECTS = tuple(f"{name}-{n}" for name in ("报销", "deployment", "weekly") for n in range(2))
_MEANT_SHARE = 0.03
"""Of events that become records; each of them costs the pipeline as much as many others."""

Event = dict[str, Any]


def make_event(event_id: str, number: int, chance: random.Random) -> Event:
    """One event, in Chinese or English, whose text no other one has."""
    role, kind, text = chance.choice(_MEANT if chance.random() < _MEANT_SHARE else _SAID)
    source = {"role": role, "stream": chance.choice(("chat", "聊天"))}
    event: Event = {
        "v": 1, "id": event_id, "kind": kind, "at": 1_790_000_000_000 + number,
        "source": source, "text": text.format(n=event_id),
    }  # fmt: skip
    if chance.random() < 0.8:
        event["objects"] = [{"id": chance.choice(_OBJECTS)}]
    return event


class Book:
    """What clients know: what was acknowledged, and what never got an answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made = 0
        self.acknowledged: dict[str, tuple[int, str]] = {}
        """By event id: its sequence number and its text."""
        self.again: list[list[Event]] = []
        """Requests without an answer that will be sent again."""
        self.unanswered: list[list[Event]] = []
        """Requests without an answer that won't: each must be there as a whole or not at all."""

    def new(self, size: int, chance: random.Random) -> list[Event]:
        """Events for one request."""
        with self._lock:
            first = self._made
            self._made += size
        return [make_event(f"e{n}", n, chance) for n in range(first, first + size)]

    def next(self, size: int, chance: random.Random) -> list[Event]:
        """What to send next: a request that got no answer, else new events."""
        with self._lock:
            if self.again:
                return self.again.pop()
        return self.new(size, chance)

    def send(self, client: MemoryClient, events: list[Event]) -> None:
        """Ingest, and note the answer.

        Raises:
            NotReachableError: No answer came; the caller decides what is to be noted.
            ServiceError: It was refused.
        """
        result = client.ingest(events)
        assert [item.id for item in result.accepted] == [event["id"] for event in events]
        with self._lock:
            for event, item in zip(events, result.accepted, strict=True):
                known = self.acknowledged.setdefault(event["id"], (item.seq, event["text"]))
                assert known[0] == item.seq, "a second answer gave another sequence number"

    def no_answer(self, events: list[Event], *, again: bool) -> None:
        """Note a request that got no answer."""
        with self._lock:
            (self.again if again else self.unanswered).append(events)

    def check_served(self, client: MemoryClient, ids: Sequence[str]) -> None:
        """Every one of these acknowledged events is served, word for word."""
        for start in range(0, len(ids), 200):
            part = list(ids[start : start + 200])
            found = client.evidence(event_ids=part)
            assert not found.missing
            served = {event.id: (event.seq, event.text) for event in found.events}
            assert served == {event_id: self.acknowledged[event_id] for event_id in part}


def write_until_death(place: Place, book: Book, seed: int, sizes: Sequence[int]) -> None:
    """A client that writes, with short breaks, until the service is gone."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    breaks = threading.Event()
    with place.client() as client:
        while True:
            breaks.wait(chance.uniform(0, 0.15))
            events = book.next(chance.choice(sizes), chance)
            try:
                book.send(client, events)
            except NotReachableError:
                book.no_answer(events, again=chance.random() < 0.5)
                return
            except ServiceError:
                book.no_answer(events, again=True)
                raise
