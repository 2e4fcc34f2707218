"""The client over a real socket: what it repeats, what it never repeats, and how it waits."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from socket_gateway import client as client_package
from socket_gateway.client import (
    REPEATABLE,
    AsyncMemoryClient,
    MemoryClient,
    NotReachableError,
    Ports,
    RetryPolicy,
    ServiceError,
)
from socket_gateway.framing import Request
from socket_gateway.limits import Limits
from socket_gateway.protocol import METHODS, Event, RecordListParams, Source
from socket_gateway.socket_path import MAX_PATH_BYTES, SocketPathError
from storage.errors import BadRequestError, BusyError, ErrorCode, MemoryServiceError
from tests.service_support import Service
from tests.socket_support import PATIENCE_S, Client, running_server

pytestmark = pytest.mark.integration

POSITIONS = {"received": 1, "organized": 1, "published": 1, "backlog": 0, "dead": 0}


class Time:
    """A clock that only sleeping moves, and the waits that were asked for."""

    def __init__(self, jitter: float = 1.0) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self.ports = Ports(
            clock=lambda: self.now,
            sleep=self.sleep,
            async_sleep=self.async_sleep,
            jitter=lambda: jitter,
        )

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.waits.append(seconds)
        self.now += seconds

    async def async_sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.sleep(seconds)


class Refusing:
    """A handler that fails a number of times and then answers."""

    def __init__(self, error: MemoryServiceError, times: int) -> None:
        self.calls = 0
        self._error = error
        self._times = times

    def __call__(self, request: Request) -> object:
        """Serve any method."""
        self.calls += 1
        if self.calls <= self._times:
            raise self._error
        return POSITIONS | {"method": request.method}


def error_of(code: ErrorCode, retry_after_ms: int | None = None) -> MemoryServiceError:
    """An error with that code."""

    class MadeError(MemoryServiceError):
        """Made for a test."""

    MadeError.code = code
    return MadeError("Made for a test.", retry_after_ms=retry_after_ms)


@contextmanager
def scripted(path: Path, *scripts: Callable[[socket.socket], None]) -> Iterator[list[int]]:
    """A bare server that serves one connection after the other, each by its script."""
    served: list[int] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()
        listening.settimeout(PATIENCE_S)

        def serve() -> None:
            for number, script in enumerate(scripts):
                connection, _ = listening.accept()
                with connection:
                    connection.settimeout(PATIENCE_S)
                    served.append(number)
                    with contextlib.suppress(OSError):
                        script(connection)

        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(serve)
            yield served
            done.result(PATIENCE_S)


def hang_up(connection: socket.socket) -> None:
    """Read a request and close."""
    connection.makefile("rb").readline()


def answer(connection: socket.socket) -> None:
    """Answer one request and close."""
    request = json.loads(connection.makefile("rb").readline())
    line = json.dumps({"id": request["id"], "ok": True, "result": POSITIONS})
    connection.sendall(line.encode() + b"\n")


def say(*sent: bytes) -> Callable[[socket.socket], None]:
    """Read a request and send these bytes."""

    def script(connection: socket.socket) -> None:
        connection.makefile("rb").readline()
        for part in sent:
            connection.sendall(part)

    return script


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's server listens."""
    return tmp_path / "s"


# ---- what is repeated ------------------------------------------------------


@pytest.mark.parametrize("code", list(ErrorCode))
def test_only_retryable_codes_are_sent_again(path: Path, code: ErrorCode) -> None:
    """A refusal is repeated as it is exactly when its code allows it."""
    handler = Refusing(error_of(code), 1)
    with running_server(path, handler), MemoryClient(path, ports=Time().ports) as client:
        if code.retryable:
            assert client.positions().published == 1
            assert handler.calls == 2
            return
        with pytest.raises(ServiceError) as refusal:
            client.positions()
    assert (refusal.value.code, handler.calls) == (code, 1)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_lost_answer_is_asked_again_only_where_that_is_safe(path: Path, method: str) -> None:
    """A method outside of the table fails after a lost answer, and says that it may be done."""
    scripts = [hang_up, answer] if method in REPEATABLE else [hang_up]
    with scripted(path, *scripts) as served, MemoryClient(path, ports=Time().ports) as client:
        if method in REPEATABLE:
            assert client.call(method) == POSITIONS
        else:
            with pytest.raises(NotReachableError) as lost:
                client.call(method)
            assert lost.value.may_have_run
    assert len(served) == len(scripts)


def test_deadline_counts_as_a_lost_answer(path: Path) -> None:
    """What has begun goes on after its deadline, so an unsafe method isn't sent again."""
    handler = Refusing(error_of(ErrorCode.DEADLINE), 1)
    with (
        running_server(path, handler),
        MemoryClient(path, ports=Time().ports) as client,
        pytest.raises(ServiceError),
    ):
        client.discard([1])
    assert handler.calls == 1


def test_unsafe_methods_are_known() -> None:
    """Each method of the protocol is either in the table or named here."""
    assert set(METHODS) - set(REPEATABLE) == {
        "memory.observation.claim",
        "memory.observation.fail",
        "memory.object.put",
        "memory.forget",
        "ops.dead.requeue",
        "ops.dead.discard",
    }
    assert set(REPEATABLE) <= set(METHODS)


# ---- how long --------------------------------------------------------------


def test_waits_double_up_to_a_limit(path: Path) -> None:
    """The waits are exponential with the jitter's share, and have a longest one."""
    policy = RetryPolicy(attempts=6, first_wait_s=1, longest_wait_s=5, total_s=100)
    time = Time(jitter=0.5)
    with (
        running_server(path, Refusing(BusyError(), 9)),
        MemoryClient(path, policy=policy, ports=time.ports) as client,
        pytest.raises(ServiceError),
    ):
        client.health()
    assert time.waits == [0.5, 1.0, 2.0, 2.5, 2.5]


def test_service_says_when_to_come_again(path: Path) -> None:
    """`retry_after_ms` is waited for, with the jitter on top."""
    time = Time(jitter=0.5)
    policy = RetryPolicy(first_wait_s=1)
    with (
        running_server(path, Refusing(error_of(ErrorCode.BUSY, 7_000), 1)),
        MemoryClient(path, policy=policy, ports=time.ports) as client,
    ):
        client.positions()
    assert time.waits == [7.5]


def test_total_time_ends_the_attempts(path: Path) -> None:
    """A wait that would go beyond the total is not begun."""
    time = Time()
    policy = RetryPolicy(attempts=99, first_wait_s=4, longest_wait_s=4, total_s=10)
    with (
        running_server(path, Refusing(BusyError(), 99)),
        MemoryClient(path, policy=policy, ports=time.ports) as client,
        pytest.raises(ServiceError),
    ):
        client.health()
    assert time.waits == [4, 4]


def test_nobody_listens(path: Path) -> None:
    """Without a service the error names the socket and says how to start one."""
    time = Time()
    with (
        MemoryClient(path, policy=RetryPolicy(attempts=3), ports=time.ports) as client,
        pytest.raises(NotReachableError, match="deskpaw-memory serve") as refusal,
    ):
        client.discard([1])
    assert not refusal.value.may_have_run
    assert len(time.waits) == 2
    assert str(path) in refusal.value.message


def test_late_service_is_found(path: Path) -> None:
    """A service that starts while the client waits is reached."""
    with contextlib.ExitStack() as stack:

        def start(_: float) -> None:
            stack.enter_context(running_server(path, Refusing(BusyError(), 0)))

        ports = Ports(sleep=start)
        client = stack.enter_context(MemoryClient(path, ports=ports))
        assert client.positions().received == 1


# ---- the connection --------------------------------------------------------


def test_one_connection_serves_many_calls(path: Path) -> None:
    """Calls share a connection, also after a refusal."""
    handler = Refusing(error_of(ErrorCode.NOT_FOUND), 1)
    with running_server(path, handler) as running, MemoryClient(path) as client:
        with pytest.raises(ServiceError):
            client.positions()
        assert [client.positions().dead for _ in range(5)] == [0] * 5
        assert running.server.counters.accepted == 1


def test_closed_connection_is_made_anew_before_an_unsafe_method(path: Path) -> None:
    """A connection that the service has closed meanwhile costs no request, safe or not."""
    closed = threading.Event()

    def answer_and_close(connection: socket.socket) -> None:
        answer(connection)
        connection.shutdown(socket.SHUT_RDWR)
        closed.set()

    with scripted(path, answer_and_close, answer), MemoryClient(path) as client:
        client.positions()
        assert closed.wait(PATIENCE_S)
        assert client.call("ops.dead.discard", {"ids": [1]}) == POSITIONS


def test_full_house_is_waited_for(path: Path) -> None:
    """A connection refused for want of places is tried again."""
    with running_server(path, Refusing(BusyError(), 0), Limits(connections=1)) as running:
        other = Client(path)
        other.ask(1)
        waits = iter([other.close])

        def sleep(_: float) -> None:
            for leave in waits:
                leave()

        policy = RetryPolicy(attempts=1_000, total_s=PATIENCE_S)
        with MemoryClient(path, policy=policy, ports=Ports(sleep=sleep)) as client:
            assert client.call("ops.dead.discard", {"ids": [1]})["received"] == 1
        assert running.server.counters.busy >= 1


@pytest.mark.parametrize("words", [b"hello\n", b"[]\n", b'{"id": 99, "ok": true, "result": {}}\n'])
def test_foreign_program_is_told_from_the_service(path: Path, words: bytes) -> None:
    """An answer that is none is not taken for a result."""
    with scripted(path, say(words)):
        policy = RetryPolicy(attempts=1)
        with MemoryClient(path, policy=policy) as client, pytest.raises(NotReachableError):
            client.health()


def test_unknown_code_is_internal(path: Path) -> None:
    """A code of a newer service is kept in the message, and is not repeated."""
    body = {"id": 1, "ok": False, "error": {"code": "tired", "message": "Later."}}
    with (
        scripted(path, say(json.dumps(body).encode() + b"\n")),
        MemoryClient(path) as client,
        pytest.raises(ServiceError, match="tired: Later") as refusal,
    ):
        client.health()
    assert refusal.value.code is ErrorCode.INTERNAL


def test_result_of_another_version_is_said_so(path: Path) -> None:
    """A result without what the client needs is an error that names the fields."""
    with (
        running_server(path, lambda _: {"received": 1}),
        MemoryClient(path) as client,
        pytest.raises(ServiceError, match="backlog, dead, organized, published"),
    ):
        client.positions()


def test_params_that_json_lacks_are_refused_before_sending(path: Path) -> None:
    """A lone surrogate never reaches the socket."""
    handler = Refusing(BusyError(), 0)
    with (
        running_server(path, handler),
        MemoryClient(path) as client,
        pytest.raises(BadRequestError),
    ):
        client.call("health", {"text": "\ud800"})
    assert handler.calls == 0


def test_threads_share_a_client(path: Path) -> None:
    """Each thread gets the answer to its own question."""

    def serve(request: Request) -> object:
        return POSITIONS | {"received": int(request.params["owner"])}

    with (
        running_server(path, serve),
        MemoryClient(path) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        found = pool.map(lambda n: client.positions(str(n)).received, range(200))
        assert list(found) == list(range(200))


# ---- asyncio ---------------------------------------------------------------


def test_async_calls_are_under_way_together(path: Path) -> None:
    """Calls are pipelined on one connection: none is answered before all have arrived."""
    waiting: list[asyncio.Future[object]] = []

    def serve(request: Request) -> object:
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        waiting.append(future)
        if len(waiting) == 8:
            for number, held in reversed(list(enumerate(waiting))):
                held.set_result(POSITIONS | {"received": number})
        assert request.method == "memory.positions"
        return future

    async def ask() -> list[int]:
        async with AsyncMemoryClient(path) as client:
            found = await asyncio.gather(*(client.positions(str(n)) for n in range(8)))
        return [positions.received for positions in found]

    with running_server(path, serve) as running:
        assert asyncio.run(ask()) == list(range(8))
        assert running.server.counters.accepted == 1


def test_async_loss_fails_only_what_is_unsafe(path: Path) -> None:
    """Of the calls under way on a lost connection the safe ones come again."""

    def hang_up_on_two(connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        stream.readline()
        stream.readline()

    async def ask() -> tuple[Any, Any]:
        async with AsyncMemoryClient(path, ports=Time().ports) as client:
            return await asyncio.gather(
                client.positions(), client.discard([1]), return_exceptions=True
            )

    with scripted(path, hang_up_on_two, answer):
        positions, discarded = asyncio.run(ask())
    assert positions.received == 1
    assert isinstance(discarded, NotReachableError)
    assert discarded.may_have_run


def test_async_refusal_is_repeated(path: Path) -> None:
    """The asyncio client follows the same rule."""
    time = Time()
    handler = Refusing(error_of(ErrorCode.UNAVAILABLE, 300), 1)

    async def ask() -> int:
        async with AsyncMemoryClient(path, ports=time.ports) as client:
            return (await client.positions()).received

    with running_server(path, handler):
        assert asyncio.run(ask()) == 1
    assert time.waits == [0.35]


def test_async_cancelled_call_keeps_the_order(path: Path) -> None:
    """The answer to a call that was given up goes to nobody else."""
    arrived = asyncio.Event()
    held: list[asyncio.Future[object]] = []
    loops: list[asyncio.AbstractEventLoop] = []

    def serve(request: Request) -> object:
        number = int(request.params["owner"])
        if number:
            held[0].set_result(POSITIONS)
            return POSITIONS | {"received": number}
        held.append(asyncio.get_running_loop().create_future())
        loops[0].call_soon_threadsafe(arrived.set)
        return held[0]

    async def ask() -> int:
        loops.append(asyncio.get_running_loop())
        async with AsyncMemoryClient(path) as client:
            given_up = asyncio.create_task(client.positions("0"))
            await arrived.wait()
            given_up.cancel()
            return (await client.positions("7")).received

    with running_server(path, serve):
        assert asyncio.run(ask()) == 7


def test_async_nobody_listens(path: Path) -> None:
    """Without a service the same error comes as from the blocking client."""

    async def ask() -> None:
        async with AsyncMemoryClient(path, ports=Time().ports) as client:
            await client.health()

    with pytest.raises(NotReachableError):
        asyncio.run(ask())


# ---- with the service ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("报销单一律用 BX-T-2025 模板。", "报销单用哪个模板？"),
        (
            "From now on always use template BX-T-2025 for expense claims.",
            "Which template do claims use?",
        ),
    ],
)
def test_typed_calls_reach_the_service(service: Service, text: str, question: str) -> None:
    """Events go in and their records come out, with evidence, as the protocol's models."""
    event = Event(
        v=1,
        id="e1",
        kind="user.message",
        at=service.clock.now,
        source=Source(role="user"),
        text=text,
    )
    with MemoryClient(service.settings.paths.socket) as client:
        assert client.ingest([event]).accepted[0].id == "e1"
        assert client.ingest([event.model_dump(exclude_unset=True)]).accepted[0].duplicate
        client.flush("local")
        service.work()
        assert client.positions().backlog == 0
        found = client.recall(question, include_past=False)
        record = client.records(RecordListParams()).items[0]
        span = client.evidence(record.id).spans[0]
    assert found.state == "complete"
    assert text[span.start : span.end] == span.quote


def test_client_knows_nothing_of_the_inside() -> None:
    """An agent that imports the client loads neither pipeline nor storage, but for the codes."""
    code = (
        "import sys, socket_gateway.client;"
        "print(*sorted(m for m in sys.modules if m.split('.')[0] in {'pipeline', 'storage'}))"
    )
    root = Path(client_package.__file__).parents[2]
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["storage", "storage.errors"]


@pytest.mark.parametrize("make", [MemoryClient, AsyncMemoryClient])
@pytest.mark.parametrize("name", ["x", "记"])
def test_a_path_too_long_is_no_missing_service(
    make: Callable[[Path], object], tmp_path: Path, name: str
) -> None:
    """A client refuses at once a path that no socket can have, and names the variable."""
    room = MAX_PATH_BYTES - len(os.fsencode(tmp_path)) - 1
    longest = room // len(name.encode())
    make(tmp_path / (name * longest))
    with pytest.raises(SocketPathError, match="DESKPAW_MEMORY_SOCKET"):
        make(tmp_path / (name * (longest + 1)))
