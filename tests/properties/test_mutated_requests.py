"""Requests that are almost right: each gets a proper answer, and no work is left stuck or dead."""

import copy
import itertools
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from socket_gateway.protocol import METHODS
from socket_gateway.protocol.base import LAST_TIME
from storage.database import database
from storage.errors import ErrorCode
from tests.properties.request_examples import EXAMPLES, WORK, Json, World
from tests.service_support import DAY, MINUTE, NOW, Service
from tests.socket_support import Client

pytestmark = pytest.mark.integration

MARK: Final = "Qz7标记xK"
"""Stands in mutated texts, so that an error that repeats one is found."""

STAGES: Final = ("filter", "observe", "merge", "index", "publish")
HOUR: Final = 60 * MINUTE


# ---- mutations -------------------------------------------------------------

_ODD_TEXTS = [
    "", " ", "\t\r\n", "\0", "\x07\x1b[31m", "\x7f\x85", "\ufeff\u200b\u202e\u2066", "0", "null",
    unicodedata.normalize("NFD", "École 한글 ガ"), "👍🏽👨‍👩‍👧", "𠮷𪚥", "「（[{<", "]）》」}", "<think>",
    "</think>以后", '"\\', "' OR 1=1 --", "a:b^2~ AND (NOT *", "%s{0}$1", "²天后提醒我", "٣ days",
    "２０２６年１３月４５日 99:99 交报告", "Remind me on February 31 at 25:61.", "0月0日", "@owner", "@x",
    "一万亿年之后还书", "In 99999999999999 days call Bob.", "以后每月第0个周五", "9" * 400, "a" * 201,
    "长" * 200, "a" * 20_000, "以后报销用" * 6_400, "e\u0301" * 150, f"{MARK} 以后都用它",
]  # fmt: skip
_texts = st.sampled_from(_ODD_TEXTS).map(lambda text: text.replace("以后", MARK + "以后"))
_texts |= st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(lambda t: MARK + t)
_numbers = st.sampled_from(
    [0, -1, 1, 2, 201, 2**31, 2**53, 2**62, 2**63 - 1, 2**63, -(2**63), NOW, NOW - 99 * 365 * DAY]
) | st.sampled_from([LAST_TIME, LAST_TIME + 1, NOW + 1, NOW + 400 * DAY])
_others: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0.5, -0.0, 1e308, [], {}, [[]], [None], {"": {}}, {"id": MARK}, [MARK, 1],
     [MARK] * 201, {"k": "长" * 30_000}]
)  # fmt: skip


# Where words stand, which take the longest way through the service.
_SAID: Final = frozenset({"text", "content", "quote", "query", "error"})


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change, at a place counted through all there are."""

    place: int
    how: str
    text: str
    number: int
    other: Any

    def apply(self, params: Json, world: World) -> None:
        """Change the params."""
        places = list(_places(params))
        if self.how == "say":
            places = [place for place in places if place[1] in _SAID] or places
        places = places or [(params, "new")]
        inside, key = places[self.place % len(places)]
        old = inside[key] if key in inside or isinstance(inside, list) else None
        match self.how:
            case "drop" if old is not None:
                del inside[key]
            case "more" if isinstance(old, list):
                old += copy.deepcopy(old) or [self.text]
            case "more":
                (old if isinstance(old, dict) else params)["unknown"] = self.other
            case "swap" if isinstance(old, str):
                inside[key] = world.ids[self.number % len(world.ids)]
            case "type":
                inside[key] = copy.deepcopy(self.other)
            case _:
                inside[key] = self.number if isinstance(old, int) else self.text


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(node) if isinstance(node, dict) else range(len(node))
    for key in keys:
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _places(node[key])


_mutations = st.builds(
    Mutation,
    st.integers(0, 300),
    # Most changes keep the type, so that they get past the models.
    st.sampled_from(["say", "say", "value", "value", "value", "swap", "drop", "more", "type"]),
    _texts,
    _numbers,
    _others,
)


@dataclass(frozen=True, slots=True)
class Step:
    """A request: which method, which of its examples, and what is changed in it."""

    method: str
    example: int
    mutations: list[Mutation]

    def params(self, world: World) -> Json:
        """The params in that world."""
        made = EXAMPLES[self.method]
        params = made[self.example % len(made)](world)
        for mutation in self.mutations:
            mutation.apply(params, world)
        return params


def _step(method: str) -> st.SearchStrategy[Step]:
    return st.builds(
        Step, st.just(method), st.integers(0, 3), st.lists(_mutations, min_size=0, max_size=2)
    )


def _steps(*methods: str) -> st.SearchStrategy[list[Step]]:
    return st.tuples(*map(_step, methods)).map(list)


_INGEST: Final = "memory.events.ingest"
_OBSERVATION: Final = "memory.observation."
_anything = st.lists(st.sampled_from(sorted(EXAMPLES)).flatmap(_step), min_size=1, max_size=6)
_stories = st.one_of(
    st.tuples(_steps(_INGEST), _anything).map(lambda parts: [*parts[0], *parts[1]]),
    _steps(_INGEST, "ops.flush", f"{_OBSERVATION}claim", f"{_OBSERVATION}commit", WORK),
    _steps(_INGEST, "ops.flush", f"{_OBSERVATION}claim", f"{_OBSERVATION}fail", WORK),
    _steps(_INGEST, "ops.flush", WORK, "memory.record.list", "memory.evidence.get"),
    _steps(_INGEST, "memory.continuity.recall", _INGEST, "snapshot.get"),
    _steps(
        _INGEST,
        "ops.flush",
        WORK,
        "memory.record.list",
        "memory.record.get",
        "memory.record.confirm",
        "memory.record.correct",
        "ops.fate",
    ),
)


# ---- the property ----------------------------------------------------------


class Scene:
    """A service, its other client, and how far the examples before have come."""

    def __init__(self, service: Service, neighbour: Client) -> None:
        self.service = service
        self.neighbour = neighbour
        self.worlds = itertools.count()
        self.last_package = 0


@pytest.fixture
def scene(service: Service) -> Iterator[Scene]:
    """One service for all examples of a test."""
    with Client(service.settings.paths.socket) as neighbour:
        yield Scene(service, neighbour)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(steps=_stories)
def test_any_request_is_answered_and_all_work_ends(scene: Scene, steps: list[Step]) -> None:
    """Each answer fits its model or is a plain refusal; what was accepted is published."""
    world = World(next(scene.worlds))
    for step in steps:
        _do(scene, step.method, step.params(world), world)
    _check_rest(scene, world)


@pytest.mark.parametrize("example", [0, 1])
def test_the_examples_are_right_as_they_are(scene: Scene, example: int) -> None:
    """Nothing but what refers to dead letters is refused, so that mutations start from valid params."""
    assert EXAMPLES.keys() - {WORK} == METHODS.keys()
    world = World(0)
    refused = {
        method
        for method in EXAMPLES
        if not _do(scene, method, Step(method, example, []).params(world), world)
    }
    assert refused <= {"memory.observation.fail", "ops.dead.requeue", "ops.dead.discard"}
    assert len(world.records) > 1
    _check_rest(scene, world)


def _do(scene: Scene, method: str, params: Json, world: World) -> bool:
    """Ask, and check the answer; whether it was no error."""
    if method == WORK:
        scene.service.work()
        return True
    answer = scene.service.exchange(method, params)
    assert scene.neighbour.ask("neighbour")["ok"]
    if not answer["ok"]:
        _check_error(answer["error"])
        return False
    METHODS[method].result.model_validate_json(orjson.dumps(answer["result"]))
    world.learn(method, answer["result"])
    return True


def _check_error(error: Json) -> None:
    assert ErrorCode(error["code"]) is not ErrorCode.INTERNAL
    details = dict(error.get("details", {}))
    # A conflict names the events it is about (spec: protocol, Events).
    details.pop("ids", None)
    assert MARK not in f"{error['message']}{details}"


def _check_rest(scene: Scene, world: World) -> None:
    """Let leases and waits end, work everything off, and find nothing left."""
    service = scene.service
    for stage in STAGES:
        service.ask("ops.stage.resume", stage=stage)
    for wait in (DAY + 20 * MINUTE, HOUR):
        # A lease that has ended is a failure first, which backs off.
        service.clock.advance(wait)
        service.settle()
    since, scene.last_package = scene.last_package, _last_package()
    assert service.ask("ops.dead.list", after=since)["items"] == []
    for package in service.packages(after=since):
        assert (package["state"], package["error"]) == ("done", None)
    assert service.positions(world.owner)["backlog"] == 0
    assert service.ask("health")["status"] != "failing"


def _last_package() -> int:
    found: int = database.execute_sql("SELECT COALESCE(MAX(id), 0) FROM package").fetchone()[0]
    return found
