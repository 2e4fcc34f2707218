"""The real service in the test's process: gateway, socket and database, worked off step by step.

The gateway runs on a loop of its own and is asked through its Unix socket. What a consumer would
do is done by `Service.work`, in the test's thread, so that every test decides when it happens.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import orjson

from pipeline import tasks
from pipeline.runner import Runner, Work
from pipeline.runtime import make_ageing, make_policy
from pipeline.settings import Settings, load
from pipeline.sweeper import Sweeper, Waits
from pipeline.task_queue import make_queue
from socket_gateway.gateway import Gateway
from socket_gateway.handlers.services import Services
from socket_gateway.protocol import METHODS
from storage.database import database
from storage.errors import ErrorCode
from tests.socket_support import PATIENCE_S, Client, loop_thread

NOW: Final = 1_767_225_600_000
"""Where every test's clock begins: 2026-01-01 00:00 UTC."""

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
DAY: Final = 24 * 60 * MINUTE

_MOST_ROUNDS: Final = 200
_KINDS: Final = {
    "user": "user.message",
    "supervisor": "supervisor.reply",
    "executor": "executor.receipt",
    "observation": "executor.observation",
    "verification": "verification.result",
    "runtime": "task.state",
    "schedule": "schedule.due",
    "external": "external.content",
}


def event(event_id: str, text: str = "", *, role: str = "user", **more: Any) -> dict[str, Any]:
    """An event as a client sends it; `stream`, `speaker` and `ref` go into its source."""
    source = {"role": role} | {
        name: more.pop(name) for name in ("stream", "speaker", "ref") if name in more
    }
    made = {"v": 1, "id": event_id, "kind": _KINDS[role], "at": NOW, "source": source}
    return made | ({"text": text} if text else {}) | more


class MovableClock:
    """The file that the service takes its time from."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.now = NOW
        self.set(NOW)

    def set(self, now: int) -> None:
        """Let it be that time, epoch milliseconds, for the whole service at once."""
        self.now = now
        fresh = self._path.with_suffix(".new")
        fresh.write_text(str(now), encoding="ascii")
        fresh.replace(self._path)

    def advance(self, milliseconds: int) -> None:
        """Let time go by, or back."""
        self.set(self.now + milliseconds)


class RefusalError(AssertionError):
    """The service refused what a test expected it to do."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        self.error = error
        super().__init__(f"{error['code']}: {error['message']}")


class _Outside:
    """A writer's operation that does its work before the transaction begins."""

    name = "operator"

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def prepare(self, items: Sequence[None]) -> Sequence[None]:
        """Do it."""
        self._function()
        return items

    def apply(self, prepared: Sequence[None]) -> Sequence[None]:
        """Write nothing."""
        return prepared


class Service:
    """A running gateway and the client and the worker that a test needs.

    Args:
        state: The state folder; a service that was stopped can be started on it again.
        environ: Settings beside those of the state folder and the clock.
    """

    def __init__(self, state: Path, environ: Mapping[str, str] | None = None) -> None:
        self.state = state
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.clock = MovableClock(state / "clock")
        self._environ = dict(environ or {})
        self._running: ExitStack | None = None
        self.settings: Settings
        self.gateway: Gateway
        self.client: Client

    # ---- life --------------------------------------------------------------

    def start(self, environ: Mapping[str, str] | None = None) -> None:
        """Start the gateway and wait until it serves every method."""
        self._environ |= environ or {}
        variables = {
            "DESKPAW_STATE_DIR": str(self.state),
            "DESKPAW_MEMORY_CLOCK__FILE": str(self.state / "clock"),
        }
        self.settings, _ = load(variables | self._environ)
        # The tasks were made when their module was imported; their queue is this service's now.
        tasks.huey.storage = make_queue(self.settings.paths.queue).storage
        with ExitStack() as stack:
            loop = stack.enter_context(loop_thread())
            self.gateway = stack.enter_context(_running(self.settings, loop))
            stack.callback(tasks.huey.storage._drop_connection)
            stack.callback(database.close)
            self.client = stack.enter_context(Client(self.settings.paths.socket))
            self._running = stack.pop_all()

    def stop(self) -> None:
        """Stop the gateway as SIGTERM would."""
        if self._running is not None:
            running, self._running = self._running, None
            running.close()

    def restart(self, environ: Mapping[str, str] | None = None) -> None:
        """Stop, and start again on the same state."""
        self.stop()
        self.start(environ)

    # ---- the client --------------------------------------------------------

    def exchange(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send one request; its answer as it is."""
        self.client.send(orjson.dumps({"id": "q", "method": method, "params": params}) + b"\n")
        return self.client.answer()

    def ask(self, method: str, /, **params: Any) -> Any:
        """Ask, and give the result out once it fits the method's result model.

        Raises:
            RefusalError: The answer is an error.
        """
        answer = self.exchange(method, params)
        if not answer["ok"]:
            raise RefusalError(_checked_error(answer))
        assert answer.keys() == {"id", "ok", "result"}
        METHODS[method].result.model_validate_json(orjson.dumps(answer["result"]))
        return answer["result"]

    def refused(self, method: str, /, **params: Any) -> Any:
        """Ask, expecting an error; the error."""
        answer = self.exchange(method, params)
        assert not answer["ok"], answer
        return _checked_error(answer)

    def ingest(self, *events: dict[str, Any], owner: str = "local") -> list[Any]:
        """Make events durable; their receipts."""
        accepted: list[Any] = self.ask("memory.events.ingest", owner=owner, events=list(events))[
            "accepted"
        ]
        return accepted

    def positions(self, owner: str = "local") -> dict[str, int]:
        """An owner's positions."""
        found: dict[str, int] = self.ask("memory.positions", owner=owner)
        return found

    def records(self, **params: Any) -> list[Any]:
        """Up to 200 records."""
        found: list[Any] = self.ask("memory.record.list", limit=200, **params)["items"]
        return found

    def packages(self, **params: Any) -> list[Any]:
        """Up to 200 packages."""
        found: list[Any] = self.ask("ops.packages", limit=200, **params)["items"]
        return found

    def fate(self, event_id: str, owner: str = "local") -> tuple[str, str]:
        """What the filter made of an event, and why."""
        found = self.ask("ops.fate", event_id=event_id, owner=owner)
        return found["fate"], found["reason"]

    # ---- the worker --------------------------------------------------------

    @property
    def services(self) -> Services:
        """The gateway's inner parts."""
        assembled = self.gateway._assembled
        assert assembled is not None
        return assembled.services

    @property
    def runner(self) -> Runner:
        """The gateway's own runner: it has the same parts as a consumer's."""
        return self.services.runner

    def sweep(self) -> list[Work]:
        """One tick of a consumer; what it wakes."""
        woken: list[Work] = []
        core = self.services.core
        Sweeper(
            self.runner,
            core.writer,
            core.clock,
            woken.append,
            policy=make_policy(self.settings, self.services.observe.observer),
            waits=Waits(self.settings.pipeline.call_wait_ms, self.settings.recall.keep_ms),
            age=make_ageing(core).sweep,
        ).sweep()
        return woken

    def work(self) -> None:
        """Do all that a consumer would do at this moment of the clock."""
        for _ in range(_MOST_ROUNDS):
            self.sweep()
            moved = self.runner.filter_events()
            moved += self.runner.advance()
            if not moved:
                return
        raise AssertionError("the pipeline does not come to rest")

    def settle(self, owner: str | None = None) -> None:
        """Close what is open and work it off, so that everything received is published."""
        self.ask("ops.flush", owner=owner)
        self.work()

    def in_writer(self, function: Callable[[], object]) -> None:
        """Run a function on the writer's connection, outside of any transaction."""
        done: Future[None] = Future()
        # The empty commit behind it may be refused by what the function has just set.
        self.services.core.writer.submit(_Outside(function), None, future=done)
        done.exception(PATIENCE_S)

    # ---- the disk ----------------------------------------------------------

    def holds_bytes(self, text: str) -> list[str]:
        """The files of the state folder, by name, that hold the text's bytes."""
        wanted = text.encode()
        escaped = orjson.dumps(text)[1:-1]
        return [
            path.name
            for path in sorted(self.state.rglob("*"))
            if path.is_file() and any(form in path.read_bytes() for form in (wanted, escaped))
        ]


def _checked_error(answer: Mapping[str, Any]) -> Any:
    error = answer["error"]
    assert answer.keys() == {"id", "ok", "error"}
    assert error.keys() <= {"code", "message", "details", "retry_after_ms"}
    assert error["message"]
    ErrorCode(error["code"])
    return error


@contextmanager
def _running(settings: Settings, loop: asyncio.AbstractEventLoop) -> Iterator[Gateway]:
    gateway = Gateway(settings)
    stop = asyncio.Event()
    run: Future[Any] = asyncio.run_coroutine_threadsafe(gateway.run(stop), loop)
    ready: Future[Any] = asyncio.run_coroutine_threadsafe(
        gateway._dispatcher._is_ready.wait(), loop
    )
    done, _ = wait({run, ready}, PATIENCE_S, FIRST_COMPLETED)
    assert done, "the gateway did not get ready"
    if run in done:
        run.result()
    try:
        yield gateway
    finally:
        loop.call_soon_threadsafe(stop.set)
        run.result(PATIENCE_S)
