"""Whatever is selected of whatever memory: no forgotten word is left, no id hangs, and the rest stays."""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings, target
from hypothesis import strategies as st

from pipeline.forgetting.checking import Finding, Looking, Task
from storage.database import database
from storage.repositories import content
from tests.conftest import StartService
from tests.forgetting_support import Json, Memory, proposal
from tests.service_support import DAY, NOW, event

pytestmark = pytest.mark.integration

_OBJECTS = ("expense", "报销")
_TASKS = ("t1", "任务二")
_KINDS = ("rule", "rule", "preference", "episode", "fact", "procedure")
_SHARED = "大家都用蓝色模板"
"""What many say: a statement with several sources."""

_owners = itertools.count()
_tokens = itertools.count()


@dataclass(frozen=True)
class Said:
    """What an event is made of: how many segments, and what it belongs to."""

    segments: int
    objects: tuple[str, ...]
    task: str | None
    stream: str | None
    role: str
    day: int
    shared: bool


@dataclass(frozen=True)
class Told:
    """What is proposed: of which kind, from which events and segments of the package."""

    kind: str
    sources: tuple[tuple[int, int], ...]
    key: bool
    same: bool


_said = st.builds(
    Said,
    segments=st.integers(1, 3),
    objects=st.sampled_from([(), *((name,) for name in _OBJECTS), _OBJECTS]),
    task=st.none() | st.sampled_from(_TASKS),
    stream=st.none() | st.sampled_from(["chat", "聊天"]),
    role=st.sampled_from(["user", "user", "executor", "supervisor"]),
    day=st.integers(0, 3),
    shared=st.booleans(),
)
_told = st.builds(
    Told,
    kind=st.sampled_from(_KINDS),
    sources=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=2).map(
        tuple
    ),
    key=st.booleans(),
    same=st.booleans(),
)
_selections = st.lists(
    st.sampled_from(["record_ids", "event_ids", "object", "before", "task_ids"]),
    min_size=1,
    max_size=2,
    unique=True,
)


def _segment(number: int) -> str:
    """A sentence with a word that stands nowhere else."""
    token = f"tok{number}q"
    return f"记住{token}这件事" if number % 2 else f"remember the {token} well"


class World:
    """One owner's memory, as a test makes it.

    Args:
        memory: The service.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.owner = f"owner-{next(_owners)}"
        self.segments: dict[str, list[str]] = {}

    def hear(self, said: list[Said]) -> None:
        """Take events in, each with segments of its own."""
        for item in said:
            name = f"e{len(self.segments)}"
            parts = [_segment(next(_tokens)) for _ in range(item.segments)]
            parts += [_SHARED] if item.shared else []
            more: Json = {"objects": [{"id": found} for found in item.objects]}
            if item.task:
                more["task"] = {"id": item.task, "version": 1}
            if item.stream:
                more["stream"] = item.stream
            self.segments[name] = parts
            text = "。".join(parts)
            self.memory.service.ingest(
                event(name, text, role=item.role, at=NOW + item.day * DAY, **more),
                owner=self.owner,
            )

    def observe(self, told: list[Told]) -> None:
        """Let a worker propose things of every package; what is refused is refused."""
        service = self.memory.service
        service.ask("ops.flush", owner=self.owner)
        waiting = list(told)
        while claimed := service.ask("memory.observation.claim", worker="w", owner=self.owner)[
            "packages"
        ]:
            (package,) = claimed
            made = [self._proposal(package, waiting.pop()) for _ in range(min(3, len(waiting)))]
            nothing = {} if made else {"nothing_worth_keeping": "nothing"}
            service.ask(
                "memory.observation.commit",
                package_id=package["id"],
                token=package["token"],
                proposals=made,
                **nothing,
            )
        service.work()

    def _proposal(self, package: Json, told: Told) -> Json:
        names = [item["id"] for item in package["events"]]
        quotes = {}
        for of, segment in told.sources:
            name = names[of % len(names)]
            parts = self.segments[name]
            quotes[name] = parts[segment % len(parts)]
        if told.same and any(_SHARED in self.segments[name] for name in names):
            sharing = [name for name in names if _SHARED in self.segments[name]]
            found = sharing[told.sources[0][0] % len(sharing)]
            return proposal("rule", _SHARED, {found: _SHARED})
        more: Json = {"class": "environment"} if told.kind == "fact" else {}
        if told.key:
            more |= {"key": "slot", "value": next(iter(quotes.values()))}
        return proposal(told.kind, "。".join(quotes.values()), quotes, **more)

    def select(self, kinds: list[str], draw: Any) -> Json | None:
        """A selection of what there is."""
        records = [record["id"] for record in self.memory.service.records(owner=self.owner)]
        choices = {
            "record_ids": records,
            "event_ids": sorted(self.segments),
        }
        select: Json = {}
        for kind in kinds:
            if kind in choices:
                if choices[kind]:
                    some = st.lists(st.sampled_from(choices[kind]), min_size=1, max_size=3)
                    select[kind] = draw(some)
            elif kind == "object":
                select[kind] = draw(st.sampled_from(_OBJECTS))
            elif kind == "before":
                select[kind] = NOW + draw(st.integers(1, 3)) * DAY
            else:
                select[kind] = [draw(st.sampled_from(_TASKS))]
        return select or None

    def texts(self) -> dict[str, str]:
        """The texts of the owner's events that are there."""
        rows = database.execute_sql("SELECT id, text FROM event WHERE owner = ?", (self.owner,))
        return dict(rows.fetchall())


class _NoLook(Looking):
    """A byte check that finds nothing."""

    def __call__(self, task: Task) -> Finding:
        """Look nowhere."""
        del task
        return Finding()


@pytest.fixture
def memory(start_service: StartService) -> Memory:
    """A service whose erasing is done without files and processes: rows are what is looked at."""
    made = Memory(start_service(observer__kind="external"))
    eraser = made.service.services.eraser
    eraser._ports = replace(
        eraser._ports,
        look=_NoLook(),
    )
    return made


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    said=st.lists(_said, min_size=1, max_size=8),
    told=st.lists(_told, max_size=8),
    kinds=_selections,
    observed=st.booleans(),
    data=st.data(),
)
def test_no_forgotten_word_is_left_and_no_id_hangs(
    memory: Memory,
    said: list[Said],
    told: list[Told],
    kinds: list[str],
    *,
    observed: bool,
    data: st.DataObject,
) -> None:
    """Rows hold nothing of what went, name nothing that is not there, and the rest is untouched."""
    world = World(memory)
    for part in (said[::2], said[1::2]):
        world.hear(part)
        if observed:
            world.observe(told)
    select = world.select(kinds, data.draw)
    if select is None:
        return
    note(str(select))
    asked = {"owner": world.owner, "select": select}
    answer = memory.service.exchange("memory.forget", asked)
    if not answer["ok"]:
        assert answer["error"]["code"] == "bad_request"
        return
    preview = answer["result"]["preview"]
    before = world.texts()
    counts = answer["result"]["counts"]
    begun = memory.forget(world.owner, **select)
    assert begun["counts"] == counts
    status = memory.erased(begun, world.owner)
    assert status["state"] == "done", status
    if observed:
        memory.service.work()
    after = world.texts()
    whole, words = _gone(preview, before)
    target(float(len(preview["records"]) + 3 * len(preview["changed"]) + len(words)))
    assert before.keys() - after.keys() == whole
    _check_words(words)
    _check_rest(before, after, preview)
    _check_ids(world.owner, {item["id"] for item in preview["records"]})


def _gone(preview: Json, before: dict[str, str]) -> tuple[set[str], set[str]]:
    """Which events go whole, and every unique word that goes."""
    whole = {item["id"] for item in preview["events"] if "places" not in item}
    texts = [before[name] for name in whole]
    for item in preview["events"]:
        text = before[item["id"]]
        texts += [text[place["start"] : place["end"]] for place in item.get("places", ())]
    return whole, {word for text in texts for word in re.findall(r"tok\d+q", text)}


def _check_words(words: set[str]) -> None:
    """No value of any table holds a forgotten word."""
    pattern = re.compile(rb"tok\d+q")
    stored = {found.decode() for _, value in content.values() for found in pattern.findall(value)}
    assert words.isdisjoint(stored)


def _check_rest(before: dict[str, str], after: dict[str, str], preview: Json) -> None:
    """What is not in the preview is as it was."""
    places = {item["id"]: item.get("places", ()) for item in preview["events"]}
    for name, text in after.items():
        expected = before[name]
        for place in places.get(name, ()):
            start, end = place["start"], place["end"]
            expected = expected[:start] + "•" * (end - start) + expected[end:]
        assert text == expected


def _check_ids(owner: str, gone: set[str]) -> None:
    """Everything that is named is there, and no record that went is named."""
    texts = dict(
        database.execute_sql("SELECT seq, text FROM event WHERE owner = ?", (owner,)).fetchall()
    )
    records = _column("SELECT id FROM record WHERE owner_scope = ?", owner)
    spans = database.execute_sql(
        'SELECT record_id, seq, start, "end", quote FROM evidence WHERE owner_scope = ?', (owner,)
    ).fetchall()
    for record_id, seq, start, end, quote in spans:
        assert record_id in records
        assert texts[seq][start:end] == quote
    assert {name for name, *_ in spans} == records, "a record without a source"
    for table in ("package_event", "event_object", "waiting_call"):
        where = "package_id IN (SELECT id FROM package WHERE owner = ?)"
        own = where if table == "package_event" else "owner = ?"
        assert _column(f"SELECT seq FROM {table} WHERE {own}", owner) <= texts.keys()  # noqa: S608 - names of ours
    assert gone.isdisjoint(records)
    assert not [where for where, name in _named(owner) if name in gone]
    versions = "SELECT record_id FROM record_version WHERE owner_scope = ?"
    assert _column(versions, owner) == records
    packages = _column("SELECT id FROM package WHERE owner = ?", owner)
    fates = "SELECT package_id FROM event_fate WHERE owner = ? AND package_id IS NOT NULL"
    assert _column(fates, owner) <= packages
    everywhere = {row[0] for row in database.execute_sql("SELECT id FROM package").fetchall()}
    for table in ("proposal", "stage_output"):
        found = database.execute_sql(f"SELECT package_id FROM {table}").fetchall()  # noqa: S608 - names of ours
        assert {row[0] for row in found} <= everywhere


def _named(owner: str) -> Iterator[tuple[str, str]]:
    """Every record id that links, snapshots, stage outputs and the journal name, each with where."""
    bodies = database.execute_sql(
        "SELECT body FROM record_version WHERE owner_scope = ?", (owner,)
    ).fetchall()
    for (body,) in bodies:
        found = json.loads(body)
        for name in ("supersedes", "conflicts_with", "links"):
            yield from ((name, linked) for linked in found.get(name, ()))
    wheres = (
        "SELECT sections FROM snapshot WHERE owner = ?",
        "SELECT body FROM record_change WHERE owner = ?",
        "SELECT answer FROM stage_output JOIN package ON id = package_id"  # noqa: ISC004 - one
        " WHERE answer IS NOT NULL AND stage_output.stage = 'merge' AND owner = ?",
    )
    for where in wheres:
        for (text,) in database.execute_sql(where, (owner,)).fetchall():
            yield from ((where, name) for name in re.findall(r'"(r-[0-9a-f]{24})"', text))


def _column(sql: str, owner: str) -> set[Any]:
    return {row[0] for row in database.execute_sql(sql, (owner,)).fetchall()}


def test_the_property_sees_what_it_looks_for(memory: Memory) -> None:
    """A control: before a forgetting its words are there to be found."""
    world = World(memory)
    world.hear([Said(2, ("expense",), None, "chat", "user", 0, shared=False)])
    world.observe([Told("rule", ((0, 0),), key=False, same=False)])
    words = {f"tok{next(_tokens) - 1}q"}
    with pytest.raises(AssertionError):
        _check_words(words)
    _check_ids(world.owner, set())
