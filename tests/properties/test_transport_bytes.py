"""Whatever bytes come in on one connection, the server and its other clients go on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from socket_gateway.framing import Request
from socket_gateway.server import Limits
from storage.errors import ErrorCode, UnknownMethodError
from tests.socket_support import Client, RunningServer, request_line, running_server

pytestmark = pytest.mark.integration

_LINE_BYTES = 2_048


def handler(request: Request) -> object:
    """Answer `health`, refuse the rest."""
    if request.method != "health":
        raise UnknownMethodError
    return {"status": "ok"}


class Scene:
    """One server with a steady neighbour on it."""

    def __init__(self, path: Path, running: RunningServer, neighbour: Client) -> None:
        self.path = path
        self.running = running
        self.neighbour = neighbour


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A server for all examples of this module."""
    path = tmp_path_factory.mktemp("bytes") / "memory.sock"
    limits = Limits(line_bytes=_LINE_BYTES, connections=4, pipelined=8)
    with running_server(path, handler, limits) as running, Client(path) as neighbour:
        yield Scene(path, running, neighbour)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
_requests = st.one_of(
    st.builds(request_line, st.integers(0, 99)),
    st.builds(lambda n, p: request_line(n, "memory.recall", query=p), st.text(max_size=5), _json),
    _json.map(lambda value: json.dumps(value).encode() + b"\n"),
)


@st.composite
def _mutated(draw: st.DrawFn) -> bytes:
    """A request with some bytes put in, left out or exchanged."""
    line = bytearray(draw(_requests))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(line)))
        length = draw(st.integers(0, 3))
        line[place : place + length] = draw(st.binary(max_size=4))
    return bytes(line)


_hostile = st.sampled_from(
    [
        b"\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"[" * 1_500,
        b'{"a":' * 300,
        b"x" * (_LINE_BYTES + 1),
        b"9" * 1_000,
        "\ufeff密码".encode(),
        b"\xed\xa0\x80",
        b'"\\ud800"',
        b"1e999\n",
        b'{"id":1,"method":"health"}',
    ]
)
_chunks = st.lists(st.one_of(st.binary(max_size=200), _requests, _mutated(), _hostile), max_size=12)


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(chunks=_chunks, leaves=st.booleans())
def test_any_bytes_leave_the_others_served(
    scene: Scene,
    chunks: list[bytes],
    leaves: bool,  # noqa: FBT001
) -> None:
    """Each line gets at most one well-formed answer, and the neighbour its own as before."""
    with Client(scene.path) as client:
        for chunk in chunks:
            client.send(chunk)
        if not leaves:
            client.end_sending()
            answers = client.rest().splitlines()
            assert len(answers) <= b"".join(chunks).count(b"\n") + 1
            for line in answers:
                _check_answer(line)
    assert scene.neighbour.ask("neighbour")["result"] == {"status": "ok"}
    assert scene.running.server.counters.deadlines == 0


def _check_answer(line: bytes) -> None:
    answer = json.loads(line)
    if answer["ok"]:
        assert answer["result"] == {"status": "ok"}
    else:
        assert ErrorCode(answer["error"]["code"]) in {
            ErrorCode.BAD_JSON,
            ErrorCode.BAD_REQUEST,
            ErrorCode.TOO_LARGE,
            ErrorCode.UNKNOWN_METHOD,
        }
        assert answer["error"]["message"]


def test_the_server_forgets_every_such_client(scene: Scene) -> None:
    """After any number of them, only the neighbour's connection is open."""
    for _ in range(50):
        with Client(scene.path) as client:
            client.send(b"\xff" * 3_000)
            client.end_sending()
            client.rest()
    assert scene.neighbour.ask(1)["ok"]
    assert scene.running.server.counters.open == 1
