"""What becomes of a package when the model's server fails, asks for patience or costs too much."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pipeline.observers.anthropic_client import MessagesClient
from pipeline.observers.anthropic_faults import BudgetSpentError, ServerFault
from pipeline.observers.anthropic_request import request_of
from pipeline.observers.port import Observer
from pipeline.observers.registry import Parts, make_observer
from storage.clock import ManualClock
from storage.records.runs import FaultKind
from storage.repositories import usage
from tests.contract.observer_suite import CHINESE, EMPTY, ENGLISH
from tests.model_server import (
    USAGE,
    Exchange,
    ModelServer,
    Script,
    breaks_off,
    fails,
    model_server,
    refuses_connection,
    says,
)
from tests.model_support import explicit_rules, fault_from, nothing, settings_for
from tests.observer_support import Said, package_of

pytestmark = pytest.mark.contract

HOUR = 3_600_000


# ---- the server fails ------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_passing_status_is_transient(
    server: ModelServer, observer: Observer, status: int
) -> None:
    """Rate limits, overload and errors of the server may pass: the package backs off."""
    server.then(fails(status))
    work = package_of(CHINESE)
    fault = fault_from(observer, work)
    assert (fault.kind, fault.retry_after_ms) == (FaultKind.TRANSIENT, None)
    assert str(status) in fault.message
    assert usage.of_package(work.package.id) == []


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "observer settings"),
        (401, "observer.api_key"),
        (402, "credit"),
        (403, "observer.api_key"),
        (404, "observer.model"),
        (422, "observer settings"),
    ],
)
def test_a_refusal_of_the_request_says_what_to_set(
    server: ModelServer, parts: Callable[..., Parts], status: int, advice: str
) -> None:
    """What the settings have brought about is no package's fault, and isn't asked again at once."""
    observer = make_observer(parts(server, retries="5"))
    server.then(fails(status, message="以后报销都用新模板"))
    fault = fault_from(observer, package_of(CHINESE))
    assert fault.kind is FaultKind.TRANSIENT
    assert advice in fault.message
    assert "新模板" not in fault.message
    assert len(server.received) == 1


def test_a_package_that_is_too_large_is_the_packages_fault(
    server: ModelServer, observer: Observer
) -> None:
    """A smaller package may pass, so this one is split in the end."""
    server.then(fails(413))
    assert fault_from(observer, package_of(CHINESE)).kind is FaultKind.CONTENT


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry_after": "7"}, 7_000),
        ({"retry_after_ms": "1500"}, 1_500),
        ({"retry_after": "99999999999"}, 600_000),
        ({"retry_after": "1e308"}, 600_000),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "-5"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "Thu, 01 Jan 2026 00:00:00"}, None),
    ],
)
def test_a_wait_that_the_server_asks_for_is_honoured_and_capped(
    server: ModelServer, observer: Observer, headers: dict[str, str], wait: int | None
) -> None:
    """`retry-after` is kept to up to the longest back-off; one that makes no sense is none."""
    server.then(fails(429, **headers))
    assert fault_from(observer, package_of(CHINESE)).retry_after_ms == wait


def test_a_date_to_wait_for_is_measured_by_the_servers_clock(
    server: ModelServer, observer: Observer
) -> None:
    """Our clock may be wrong; the difference of the server's two dates is not."""

    def dated(exchange: Exchange) -> None:
        now = "Thu, 01 Jan 2026 00:00:00 GMT"
        exchange._handler.date_time_string = lambda *_: now  # type: ignore[method-assign]
        fails(529, retry_after="Thu, 01 Jan 2026 00:00:30 GMT")(exchange)

    server.then(dated)
    assert fault_from(observer, package_of(CHINESE)).retry_after_ms == 30_000


@pytest.mark.parametrize("script", [refuses_connection, breaks_off])
def test_a_connection_that_breaks_is_transient(
    server: ModelServer, observer: Observer, script: Script
) -> None:
    """A connection that closes without an answer, or in the middle of one, says nothing."""
    server.then(script)
    assert fault_from(observer, package_of(CHINESE)).kind is FaultKind.TRANSIENT


def test_a_server_that_is_away_is_transient(parts: Callable[..., Parts]) -> None:
    """A refused connection names the setting to look at."""
    with model_server(explicit_rules) as server:
        pass
    fault = fault_from(make_observer(parts(server)), package_of(CHINESE))
    assert fault.kind is FaultKind.TRANSIENT
    assert "observer.base_url" in fault.message


def test_silence_ends_at_the_time_limit(server: ModelServer, parts: Callable[..., Parts]) -> None:
    """A server that takes a request and says nothing is left after `observer.timeout_ms`."""
    server.then(server.hangs)
    observer = make_observer(parts(server, timeout_ms="100"))
    fault = fault_from(observer, package_of(CHINESE))
    assert (fault.kind, "too long" in fault.message) == (FaultKind.TRANSIENT, True)


def test_a_trickle_ends_at_the_deadline(server: ModelServer, parts: Callable[..., Parts]) -> None:
    """Bytes that come one by one outlast every time limit, but not `observer.deadline_ms`."""
    server.then(server.trickles)
    observer = make_observer(parts(server, timeout_ms="1000", deadline_ms="1000"))
    fault = fault_from(observer, package_of(CHINESE))
    assert fault.kind is FaultKind.TRANSIENT
    assert fault.message == "The model has not answered within 1 s."


# ---- again within an attempt ----------------------------------------------


@pytest.fixture
def waits() -> list[float]:
    """The seconds that a client has waited between its tries."""
    return []


@pytest.fixture
def ask(server: ModelServer, waits: list[float]) -> Callable[..., object]:
    """Asks with retries; waiting takes no time."""

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def asking(said: list[Said], **more: str) -> object:
        settings = settings_for(server, **{"retries": "2"} | more).observer
        client = MessagesClient(settings, longest_wait_ms=600_000, sleep=sleep)
        return client.create(request_of(package_of(said), settings))

    return asking


def test_a_passing_fault_is_tried_again_at_once(
    server: ModelServer, ask: Callable[..., object], waits: list[float]
) -> None:
    """Within one attempt the request is sent again, waiting as long as the server asks."""
    server.then(fails(529), fails(429, retry_after="3"))
    assert ask(CHINESE)
    assert len(server.received) == 3
    assert len(waits) == 2
    assert waits[0] <= 1
    assert waits[1] == 3


def test_retries_are_as_many_as_set(
    server: ModelServer, ask: Callable[..., object], waits: list[float]
) -> None:
    """After `observer.retries` more requests the fault is the ledger's."""
    server.always(fails(500))
    with pytest.raises(ServerFault, match="500"):
        ask(CHINESE)
    assert (len(server.received), len(waits)) == (3, 2)


def test_a_long_wait_is_left_to_the_ledger(
    server: ModelServer, ask: Callable[..., object], waits: list[float]
) -> None:
    """Nobody's thread waits out a minute: the package is given back with it."""
    server.then(fails(429, retry_after="60"))
    with pytest.raises(ServerFault) as caught:
        ask(CHINESE)
    assert (caught.value.retry_after_ms, waits, len(server.received)) == (60_000, [], 1)


# ---- the gate and the budget ----------------------------------------------


def test_no_package_is_claimed_for_a_server_that_is_away(
    server: ModelServer, parts: Callable[..., Parts]
) -> None:
    """After a fault of the server the observer isn't ready for a while, longer each time."""
    made = parts(server)
    observer, clock = make_observer(made), made.clock
    assert isinstance(clock, ManualClock)
    server.always(fails(529))
    for pause in (2_000, 4_000, 8_000):
        fault_from(observer, package_of(CHINESE))
        clock.advance(pause - 1)
        assert not observer.ready()
        clock.advance(1)
        assert observer.ready()

    server.scripts.clear()
    observer.observe(package_of(CHINESE))
    server.then(fails(429, retry_after="30"))
    fault_from(observer, package_of(CHINESE))
    clock.advance(29_999)
    assert not observer.ready()
    clock.advance(-HOUR)
    assert observer.ready(), "a clock that was set back keeps nobody waiting"


def test_a_fault_of_the_package_keeps_nobody_else_waiting(
    server: ModelServer, observer: Observer
) -> None:
    """A refusal says nothing about the next package."""
    server.then(says(nothing(), stop_reason="refusal"))
    fault_from(observer, package_of(CHINESE))
    assert observer.ready()


def test_the_days_budget_is_kept_to(server: ModelServer, parts: Callable[..., Parts]) -> None:
    """When the day's tokens are spent nothing is asked until 03:30 Beijing time (mission F2)."""
    made = parts(server, daily_tokens=str(sum(USAGE.values()) + 1))
    observer, clock = make_observer(made), made.clock
    assert isinstance(clock, ManualClock)
    observer.observe(package_of(CHINESE))
    assert observer.ready(), "one token is left"
    other = package_of(ENGLISH)
    observer.observe(replace(other, package=replace(other.package, id=8)))
    assert not observer.ready()
    with pytest.raises(BudgetSpentError) as caught:
        observer.observe(package_of(CHINESE))
    wait = caught.value.retry_after_ms
    assert wait is not None
    assert len(server.received) == 2

    clock.advance(wait - 1)
    assert not observer.ready()
    clock.advance(1)
    assert (clock.now_ms() // 1000 + 8 * 3600) % 86_400 == 3.5 * 3600
    assert observer.ready()
    observer.observe(package_of(CHINESE))


def test_an_empty_package_is_free_when_the_budget_is_spent(
    server: ModelServer, parts: Callable[..., Parts]
) -> None:
    """What needs no call needs no budget."""
    observer = make_observer(parts(server, daily_tokens="1"))
    observer.observe(package_of(CHINESE))
    assert observer.observe(EMPTY).nothing_worth_keeping == "no_text"
