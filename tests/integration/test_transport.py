"""Each row of the protocol's Transport section, through a real socket."""

import asyncio
import logging
import secrets
import select
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from socket_gateway.framing import Request
from socket_gateway.server import Limits
from storage.errors import BusyError, NotFoundError, RevisionConflictError
from tests.socket_support import PATIENCE_S, Client, running_server

pytestmark = pytest.mark.integration

_SHORT_MS = 80


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where this test's socket stands."""
    return tmp_path / "memory.sock"


def echo(request: Request) -> object:
    """Answer at once with the params."""
    return {"method": request.method, "params": request.params}


class Held:
    """A handler whose `hold` requests wait until the test resolves them; others are echoed."""

    def __init__(self) -> None:
        self.futures: dict[str | int, asyncio.Future[object]] = {}
        self._seen = threading.Condition()

    def __call__(self, request: Request) -> object:
        """Hold the request or echo it."""
        if request.method != "hold":
            return echo(request)
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        with self._seen:
            self.futures[request.id] = future
            self._seen.notify_all()
        return future

    def wait_for(self, count: int) -> None:
        """Wait until so many requests are held."""
        with self._seen:
            assert self._seen.wait_for(lambda: len(self.futures) >= count, PATIENCE_S)


def error_of(answer: Any, request_id: str | int | None) -> Any:
    """The error of an answer that must be one, for that id."""
    assert answer["id"] == request_id
    assert answer["ok"] is False
    return answer["error"]


def wait_for_hangup(client: Client) -> None:
    """Wait until the server has closed both directions, without reading."""
    poll = select.poll()
    poll.register(client.socket, 0)
    assert poll.poll(PATIENCE_S * 1000), "the server never closed"


# ---- the socket


def test_the_socket_is_for_its_user_only(path: Path) -> None:
    """The socket has mode 0600 and its folder 0700."""
    with running_server(path, echo):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_another_users_connection_is_forbidden(path: Path) -> None:
    """A peer whose uid isn't the expected one gets `forbidden` and an end, and is never served."""
    calls: list[Request] = []
    with running_server(path, calls.append, uid=2**31 - 7) as running, Client(path) as client:
        client.send(b'{"id":1,"method":"health"}\n')
        assert error_of(client.answer(), None)["code"] == "forbidden"
        assert client.rest() == b""
        assert running.server.counters.forbidden == 1
    assert calls == []


# ---- requests and answers


@pytest.mark.parametrize("request_id", [1, -(2**63), "r-1", "请求-七"])
def test_a_request_gets_its_answer(path: Path, request_id: str | int) -> None:
    """An answer carries the request's id and the handler's result, in both languages."""
    with running_server(path, echo), Client(path) as client:
        answer = client.ask(request_id, "memory.recall", query="报销 expense 😀")
    assert answer == {
        "id": request_id,
        "ok": True,
        "result": {"method": "memory.recall", "params": {"query": "报销 expense 😀"}},
    }


def test_old_clients_send_one_request_a_connection(path: Path) -> None:
    """One request, one line, and the next connection is served as well."""
    with running_server(path, echo) as running:
        for number in range(5):
            with Client(path) as client:
                assert client.ask(number)["id"] == number
        assert running.server.counters.accepted == 5


def test_a_kept_connection_takes_one_request_after_the_other(path: Path) -> None:
    """New clients may go on using a connection."""
    with running_server(path, echo) as running, Client(path) as client:
        assert [client.ask(number)["id"] for number in range(5)] == list(range(5))
        assert running.server.counters.accepted == 1


def test_pipelined_answers_come_in_request_order(path: Path) -> None:
    """Requests of one connection run at the same time, and are answered in the order they came."""
    held = Held()
    with running_server(path, held) as running, Client(path) as client:
        client.send(
            b'{"id":"a","method":"hold"}\n{"id":"b","method":"hold"}\n'
            b'{"id":"c","method":"health"}\nbad\n{"id":"d","method":"hold"}\n'
        )
        held.wait_for(3)
        for name in ("d", "b", "a"):
            running.resolve(held.futures[name], name)
        answers = [client.answer() for _ in range(5)]
    assert [answer["id"] for answer in answers] == ["a", "b", "c", None, "d"]
    assert [answer.get("result") for answer in answers[:2]] == ["a", "b"]


def test_no_more_requests_are_under_way_than_allowed(path: Path) -> None:
    """Beyond the limit requests wait, and go on as answers leave."""
    held = Held()
    lines = b"".join(b'{"id":%d,"method":"hold"}\n' % number for number in range(5))
    with running_server(path, held, Limits(pipelined=2)) as running, Client(path) as client:
        client.send(lines)
        for number in range(5):
            held.wait_for(min(number + 2, 5))
            assert len(held.futures) == min(number + 2, 5)
            running.resolve(held.futures[number], number)
            assert client.answer()["result"] == number


def test_a_flood_of_empty_lines_holds_up_nobody(path: Path) -> None:
    """Empty lines cost their sender a turn like any others, and are not counted as requests."""
    with running_server(path, echo) as running, Client(path) as client, Client(path) as other:
        client.send(b"\n" * 100_000)
        assert other.ask(1)["ok"]
        assert client.ask(2)["ok"]
        assert running.server.counters.requests == 2


def test_many_lines_in_one_read_are_all_served(path: Path) -> None:
    """A burst far above the pipelining limit is answered completely."""
    lines = b"".join(b'{"id":%d,"method":"health"}\n' % number for number in range(1_000))
    with running_server(path, echo, Limits(pipelined=4)), Client(path) as client:
        client.send(lines)
        assert [client.answer()["id"] for _ in range(1_000)] == list(range(1_000))


def test_coroutine_handlers_are_awaited(path: Path) -> None:
    """A handler may be a coroutine function."""

    async def handler(request: Request) -> object:
        await asyncio.sleep(0)
        return request.id

    with running_server(path, handler), Client(path) as client:
        assert client.ask("r")["result"] == "r"


def test_errors_carry_details_and_a_time_to_retry(path: Path) -> None:
    """A service error's code, message, details and retry time go to the client, raised or awaited."""

    def handler(request: Request) -> object:
        if request.id == 1:
            raise RevisionConflictError("Read it again.", details={"expected": 1, "current": 2})

        async def fail() -> object:
            raise BusyError("Wait.", retry_after_ms=40)

        return fail()

    with running_server(path, handler), Client(path) as client:
        assert client.ask(1) == {
            "id": 1,
            "ok": False,
            "error": {
                "code": "revision_conflict",
                "message": "Read it again.",
                "details": {"expected": 1, "current": 2},
            },
        }
        assert error_of(client.ask(2), 2) == {
            "code": "busy",
            "message": "Wait.",
            "retry_after_ms": 40,
        }


class ExtensionPanicError(BaseException):
    """What a panic in a native extension looks like: no `Exception`."""


@pytest.mark.parametrize("failure", [ValueError, ExtensionPanicError])
@pytest.mark.parametrize("later", [False, True])
def test_an_unexpected_failure_is_internal(
    path: Path,
    caplog: pytest.LogCaptureFixture,
    failure: type[BaseException],
    later: bool,  # noqa: FBT001
) -> None:
    """The client gets `internal`; the log gets type and place, and neither gets a value."""
    private = f"{secrets.token_hex(8)}密码"

    def handler(request: Request) -> object:
        if request.method == "health":
            return "fine"
        if not later:
            raise failure(private)
        future = asyncio.get_running_loop().create_future()
        future.set_exception(failure(private))
        return future

    caplog.set_level(logging.DEBUG)
    with running_server(path, handler), Client(path) as client:
        answer = client.ask(1, "boom", text=private)
        assert error_of(answer, 1)["code"] == "internal"
        assert private not in str(answer)
        assert client.ask(2)["result"] == "fine"
    assert failure.__name__ in caplog.text
    assert private not in caplog.text


def test_a_result_that_is_no_json_is_internal(path: Path) -> None:
    """A handler's unwritable result, at once or later, fails that request only."""

    async def give() -> object:
        return object()

    def handler(request: Request) -> object:
        if request.method == "later":
            return give()
        return object() if request.method == "now" else "fine"

    with running_server(path, handler), Client(path) as client:
        assert error_of(client.ask(1, "now"), 1)["code"] == "internal"
        assert error_of(client.ask(2, "later"), 2)["code"] == "internal"
        assert client.ask(3)["result"] == "fine"


def test_a_cancelled_result_is_unavailable(path: Path) -> None:
    """Work that was cancelled inside answers `unavailable`, which may be sent again."""
    held = Held()
    with running_server(path, held) as running, Client(path) as client:
        client.send(b'{"id":1,"method":"hold"}\n')
        held.wait_for(1)
        running.loop.call_soon_threadsafe(held.futures[1].cancel)
        assert error_of(client.answer(), 1)["code"] == "unavailable"


def test_empty_lines_are_ignored_and_crlf_accepted(path: Path) -> None:
    """Only lines with something in them are answered."""
    with running_server(path, echo), Client(path) as client:
        client.send(b'\n\r\n\n{"id":1,"method":"health"}\r\n\n')
        assert client.answer()["id"] == 1
        assert client.ask(2)["id"] == 2


# ---- what is refused


@pytest.mark.parametrize(
    ("line", "where"),
    [
        (b"not json", {"byte": 2}),
        (b'{"id":1,"method":"health"', {"byte": 25}),
        (b'{"id":1,"method":"health"} x', {"byte": 28}),
        (b'{"id":1,"id":1,"method":"health"}', {"byte": 14}),
        (b'{"id":1,"method":"health\xff"}', {"byte": 25}),
        (b'{"id":1,"method":"\\ud800x"}', {"byte": 25}),
        (b'{"id":1,"method":"m","params":{"x":NaN}}', {"byte": 36}),
        (b'{"id":1,"method":"m","params":{"x":-Infinity}}', {"byte": 37}),
        (b'{"id":1,"method":"m","params":{"x":1e999}}', {"path": "$.params.x"}),
        (b'{"id":1,"method":"m","params":{"x":[18446744073709551616]}}', {"path": "$.params.x[0]"}),
        ('{"id":1,"method":"m","params":{"问":"\\u0000"}}'.encode(), {"path": "$.params.*"}),
        (
            b'{"id":1,"method":"m","params":' + b'{"x":' * 64 + b"1" + b"}" * 65,
            {"path": "$.params" + ".x" * 63},
        ),
    ],
)
def test_bad_json_is_refused_and_the_connection_goes_on(
    path: Path, line: bytes, where: dict[str, object]
) -> None:
    """A line that isn't strict JSON gets `bad_json` with id null and its place in the line."""
    with running_server(path, echo) as running, Client(path) as client:
        client.send(line + b"\n")
        error = error_of(client.answer(), None)
        assert (error["code"], error["details"]) == ("bad_json", where)
        assert client.ask(2)["ok"]
        assert running.server.counters.bad_lines == 1


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b"[1]", None),
        (b'{"method":"health"}', None),
        (b'{"id":1.5,"method":"health"}', None),
        ('{"id":"报销\\u0007","method":"health"}'.encode(), None),
        (b'{"id":"r"}', "r"),
        (b'{"id":3,"method":"health","params":[]}', 3),
    ],
)
def test_json_that_is_no_request_is_refused(
    path: Path, line: bytes, request_id: str | int | None
) -> None:
    """JSON of another shape gets `bad_request`, with the id where it could be read."""
    with running_server(path, echo), Client(path) as client:
        client.send(line + b"\n")
        assert error_of(client.answer(), request_id)["code"] == "bad_request"
        assert client.ask(2)["ok"]


def _sized_line(size: int) -> bytes:
    start, end = b'{"id":1,"method":"health","params":{"x":"', b'"}}'
    return start + b"x" * (size - len(start) - len(end)) + end


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_a_line_may_be_as_long_as_the_limit(path: Path, line_end: bytes) -> None:
    """1,048,576 bytes are read, the line end not counted; one more is `too_large`."""
    size = Limits().line_bytes
    with running_server(path, lambda request: request.id), Client(path) as client:
        client.send(_sized_line(size) + line_end)
        assert client.answer()["ok"]
        client.send(_sized_line(size + 1) + line_end)
        assert error_of(client.answer(), None)["code"] == "too_large"
        assert client.ask(2)["ok"]


def test_a_line_without_end_is_refused_before_its_end(path: Path) -> None:
    """`too_large` comes as soon as the limit is passed; the rest of the line is skipped."""
    with running_server(path, echo, Limits(line_bytes=100)), Client(path) as client:
        client.send(b"x" * 101)
        assert error_of(client.answer(), None)["code"] == "too_large"
        client.send(b"x" * 1_000 + b'\n{"id":2,"method":"health"}\n')
        assert client.answer()["id"] == 2


# ---- time


def test_a_request_has_its_time_to_arrive(path: Path) -> None:
    """A begun line without its newline gets `deadline` with id null, then the end."""
    limits = Limits(request_ms=_SHORT_MS)
    with running_server(path, echo, limits) as running, Client(path) as client:
        client.send(b'{"id":1,')
        assert error_of(client.answer(), None)["code"] == "deadline"
        assert client.rest() == b""
        assert running.server.counters.deadlines == 1


def test_dribbling_gives_a_request_no_more_time(path: Path) -> None:
    """The whole line has the limit, not each read: a byte now and then doesn't extend it."""
    with (
        running_server(path, echo, Limits(request_ms=_SHORT_MS)),
        Client(path) as client,
    ):
        client.send(b"{")
        client.socket.settimeout(_SHORT_MS / 1000 / 8)
        received = b""
        for _ in range(int(PATIENCE_S * 1000)):
            try:
                received = client.socket.recv(65536)
                break
            except TimeoutError:
                client.send(b" ")
        assert b'"deadline"' in received


def test_a_line_too_long_without_end_is_closed_in_time(path: Path) -> None:
    """A line that was refused as too long and never ends gets no second answer, only the end."""
    limits = Limits(line_bytes=10, request_ms=_SHORT_MS)
    with running_server(path, echo, limits), Client(path) as client:
        client.send(b"x" * 20)
        assert error_of(client.answer(), None)["code"] == "too_large"
        assert client.rest() == b""


def test_an_answer_has_its_time(path: Path) -> None:
    """A request without an answer gets `deadline` for its id, ready ones before it, then the end."""
    held = Held()
    limits = Limits(answer_ms=_SHORT_MS)
    with running_server(path, held, limits) as running, Client(path) as client:
        client.send(
            b'{"id":1,"method":"health"}\n{"id":2,"method":"hold"}\n{"id":3,"method":"health"}\n'
        )
        assert client.answer()["id"] == 1
        assert error_of(client.answer(), 2)["code"] == "deadline"
        assert client.answer()["id"] == 3
        assert client.rest() == b""
        held_future = held.futures[2]
        assert not held_future.cancelled()
        running.resolve(held_future, "late")
        with Client(path) as other:
            assert other.ask(4)["ok"]


def test_a_coroutine_over_its_time_is_cancelled(path: Path) -> None:
    """Work that misses its deadline doesn't go on for ever behind."""
    cancelled = threading.Event()

    async def handler(request: Request) -> object:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return request.id

    with running_server(path, handler, Limits(answer_ms=_SHORT_MS)), Client(path) as client:
        assert error_of(client.ask(1), 1)["code"] == "deadline"
        assert cancelled.wait(PATIENCE_S)


def test_an_idle_connection_is_closed(path: Path) -> None:
    """A connection that does nothing is ended; one whose answer is under way isn't idle."""
    held = Held()
    limits = Limits(idle_ms=_SHORT_MS)
    with (
        running_server(path, held, limits) as running,
        Client(path) as waiting,
        Client(path) as idle,
    ):
        waiting.send(b'{"id":1,"method":"hold"}\n')
        held.wait_for(1)
        assert idle.rest() == b""
        with Client(path) as later:
            assert later.rest() == b""
        running.resolve(held.futures[1], "still here")
        assert waiting.answer()["result"] == "still here"
        assert running.server.counters.idle == 2


# ---- how many


def test_the_sixty_fifth_connection_is_busy(path: Path) -> None:
    """64 are served; the next gets one `busy` line and an end, until a place is free."""
    with running_server(path, echo) as running:
        served = [Client(path) for _ in range(64)]
        try:
            assert all(client.ask(number)["ok"] for number, client in enumerate(served))
            with Client(path) as refused:
                refused.send(b'{"id":"r","method":"health"}\n')
                error = error_of(refused.answer(), None)
                assert error["code"] == "busy"
                assert error["retry_after_ms"] > 0
                assert refused.rest() == b""
            assert all(client.ask(number)["ok"] for number, client in enumerate(served))
            assert running.server.counters.open == 64
            assert running.server.counters.busy == 1
            served.pop().close()
            with Client(path) as accepted:
                assert accepted.ask("now")["ok"]
        finally:
            for client in served:
                client.close()


def test_a_refused_client_that_stays_is_cut_off(path: Path) -> None:
    """A client that was told `busy` and never closes doesn't keep its connection."""
    limits = Limits(connections=1, answer_ms=_SHORT_MS)
    with running_server(path, echo, limits), Client(path) as served, Client(path) as refused:
        assert error_of(refused.answer(), None)["code"] == "busy"
        wait_for_hangup(refused)
        assert served.ask(1)["ok"]


def test_a_crowd_of_refused_clients_all_hear_it(path: Path) -> None:
    """Far more clients than places each get their `busy` line, also when none of them closes."""
    with running_server(path, echo, Limits(connections=2)) as running:
        crowd = [Client(path) for _ in range(40)]
        try:
            assert all(error_of(client.answer(), None)["code"] == "busy" for client in crowd[2:])
            assert running.server.counters.busy == 38
        finally:
            for client in crowd:
                client.close()


def test_reconnecting_at_the_limit_is_never_busy(path: Path) -> None:
    """A client that closes and connects again at once finds its own place free."""
    with running_server(path, echo, Limits(connections=1)) as running:
        for number in range(300):
            with Client(path) as client:
                assert client.ask(number)["ok"]
        assert running.server.counters.busy == 0


def test_slow_clients_hold_up_nobody(path: Path) -> None:
    """63 clients with half a request each leave the 64th served."""
    with running_server(path, echo):
        slow = [Client(path) for _ in range(63)]
        try:
            for client in slow:
                client.send(b'{"id":1,"method":')
            with Client(path) as quick:
                assert quick.ask(1)["ok"]
        finally:
            for client in slow:
                client.close()


# ---- half-closed, slow and vanished clients


def test_a_half_closed_client_gets_its_answers(path: Path) -> None:
    """A client that has closed its writing side gets what is under way, then the end."""
    held = Held()
    with running_server(path, held) as running, Client(path) as client:
        client.send(b'{"id":1,"method":"hold"}\n{"id":2,"method":"health"}\n')
        client.end_sending()
        held.wait_for(1)
        running.resolve(held.futures[1], "later")
        assert [client.answer()["id"] for _ in range(2)] == [1, 2]
        assert client.rest() == b""


def test_a_last_line_without_newline_is_not_served(path: Path) -> None:
    """What may be cut short isn't executed: it is `bad_json` at the missing byte."""
    with running_server(path, echo), Client(path) as client:
        client.send(b'{"id":1,"method":"health"}\n{"id":2,"method":"health"}')
        client.end_sending()
        assert client.answer()["id"] == 1
        error = error_of(client.answer(), None)
        assert (error["code"], error["details"]) == ("bad_json", {"byte": 27})
        assert client.rest() == b""


def _send_until_full(client: Client, line: bytes, at_most: int) -> int:
    """Send lines until the server reads no more of them; how many went out whole."""
    data = line * at_most
    client.socket.settimeout(0.3)
    sent = 0
    try:
        while sent < len(data):
            sent += client.socket.send(data[sent : sent + 65536])
    except TimeoutError:
        client.socket.settimeout(PATIENCE_S)
        return sent
    raise AssertionError("the server read everything")


def test_a_slow_reader_is_not_read_from(path: Path) -> None:
    """While a client doesn't read its answers, its requests stay in the socket; none is lost."""
    answer = "答" * 100_000
    line = b'{"id":1,"method":"health","params":{"text":"' + b"x" * 20_000 + b'"}}\n'
    with running_server(path, lambda _: answer) as running, Client(path) as client:
        sent = _send_until_full(client, line, 1_000)
        assert running.server.counters.requests < 20
        reader = threading.Thread(target=client.end_sending)
        reader.start()
        answers = client.rest().split(b"\n")
        reader.join()
    whole, cut = divmod(sent, len(line))
    assert len(answers) - 1 == whole + (1 if cut else 0)


def test_a_client_that_never_reads_is_cut_off(path: Path) -> None:
    """Answers that nobody reads are given up after the answer's time."""
    line = b'{"id":1,"method":"health"}\n'
    limits = Limits(answer_ms=_SHORT_MS)
    with running_server(path, lambda _: "x" * 500_000, limits) as running, Client(path) as client:
        client.send(line * 20)
        wait_for_hangup(client)
        assert running.server.counters.unread == 1


def test_a_vanished_client_is_forgotten(path: Path) -> None:
    """A client that closes with a request under way leaves nothing behind, and its work ends."""
    held = Held()
    with running_server(path, held, Limits(connections=1)) as running:
        with Client(path) as client:
            client.send(b'{"id":1,"method":"hold"}\n')
            held.wait_for(1)
        running.resolve(held.futures[1], "nobody")
        with Client(path) as other:
            assert other.ask(2)["ok"]


# ---- stopping


def test_a_drain_lets_answers_under_way_finish(path: Path) -> None:
    """A drain accepts nobody, ends idle clients, and waits for what has begun."""
    held = Held()
    with (
        running_server(path, held) as running,
        Client(path) as working,
        Client(path) as idle,
    ):
        working.send(b'{"id":1,"method":"hold"}\n')
        held.wait_for(1)
        draining = asyncio.run_coroutine_threadsafe(running.server.drain(PATIENCE_S), running.loop)
        assert idle.rest() == b""
        assert not path.exists()
        with pytest.raises((FileNotFoundError, ConnectionRefusedError)):
            Client(path)
        running.resolve(held.futures[1], "done")
        assert working.answer()["result"] == "done"
        assert working.rest() == b""
        draining.result(PATIENCE_S)
        assert running.server.counters.open == 0


def test_a_drain_has_an_end(path: Path) -> None:
    """What isn't finished by the drain's time is cut."""
    held = Held()
    with running_server(path, held) as running, Client(path) as client:
        client.send(b'{"id":1,"method":"hold"}\n')
        held.wait_for(1)
        running.run(running.server.drain(0.01))
        with pytest.raises(AssertionError):
            client.answer()


def test_the_codes_of_refusals_pass_through(path: Path) -> None:
    """A handler's own service error keeps its code and default message."""

    def handler(_: Request) -> object:
        raise NotFoundError

    with running_server(path, handler), Client(path) as client:
        error = error_of(client.ask(1), 1)
    assert error == {"code": "not_found", "message": NotFoundError().message}


def test_a_reset_client_harms_nobody(path: Path) -> None:
    """A client that leaves with answers unread is dropped without a trace in others."""
    with running_server(path, lambda _: "x" * 200_000), Client(path) as neighbour:
        for _ in range(20):
            with Client(path) as client:
                client.send(b'{"id":1,"method":"health"}\n' * 3)
                assert client.socket.recv(1, socket.MSG_PEEK)
        assert neighbour.ask(1)["ok"]
