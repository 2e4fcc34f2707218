"""A backlog that is read as message batches: what is sent, what waits, and what becomes of it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pipeline.observers.anthropic_client import MessagesClient
from storage.database import database
from storage.faults import faults
from storage.repositories import observer_batches, usage
from tests.conftest import StartService
from tests.model_server import ModelServer, fails, model_server
from tests.model_support import explicit_rules
from tests.service_support import MINUTE, Service, event

pytestmark = pytest.mark.integration

ZH = "以后报销都用新模板"
EN = "From now on use the new expense template"
HOUR = 60 * MINUTE

Start = Callable[..., Service]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server whose model notices explicit rules."""
    with model_server(explicit_rules) as serving:
        yield serving


@pytest.fixture
def start(server: ModelServer, start_service: StartService) -> Start:
    """Starts a service that sends three waiting packages as a batch and asks about it each minute."""

    def starting(**more: str) -> Service:
        named = {
            "observer__kind": "anthropic",
            "observer__model": server.name,
            "observer__api_key": server.key,
            "observer__base_url": server.url,
            "observer__retries": "0",
            "observer__batches": "true",
            "observer__batch_backlog": "3",
        }
        return start_service(**(named | more))

    return starting


def backlog(service: Service, count: int, text: str = ZH, **more: Any) -> None:
    """As many packages, each a stream of its own, worked at once."""
    before = len(service.packages())
    for number in range(before, before + count):
        service.ingest(event(f"e{number}", text, stream=f"s{number}", **more))
    service.settle()


def states(service: Service) -> list[tuple[str, int]]:
    """State and failures of each package."""
    return [(package["state"], package["attempt"]) for package in service.packages()]


def next_minute(service: Service) -> None:
    """Let a minute pass, and do what is due then."""
    service.clock.advance(MINUTE)
    service.work()


def paths(server: ModelServer) -> list[tuple[str, str]]:
    """What the server was asked, as method and path."""
    return [(one.method, one.path) for one in server.received]


@pytest.mark.parametrize("text", [ZH, EN], ids=["zh", "en"])
def test_a_backlog_goes_as_one_batch(start: Start, server: ModelServer, text: str) -> None:
    """Enough packages are sent together, wait without failing, and take their answers at the end."""
    service = start()
    backlog(service, 4, text)
    (batch,) = server.batches.values()
    assert [one["custom_id"] for one in batch["requests"]] == [f"package-{n}" for n in range(1, 5)]
    params = batch["requests"][0]["params"]
    assert params["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert server.asked == []
    assert states(service) == [("ready", 0)] * 4
    assert {one["next_attempt_at"] for one in service.packages()} == {service.clock.now + MINUTE}
    assert "4 packages wait for a message batch" in service.ask("health")["reasons"]

    next_minute(service)
    assert states(service) == [("ready", 0)] * 4
    assert {one["next_attempt_at"] for one in service.packages()} == {service.clock.now + MINUTE}
    asked = paths(server).count(("GET", f"/v1/messages/batches/{batch['id']}"))
    assert asked == 1, "one question for all packages of the batch"

    server.end_batches()
    next_minute(service)
    assert states(service) == [("done", 0)] * 4
    assert len(service.records()) == 1
    assert server.asked == []
    calls = [usage.of_package(number) for number in range(1, 5)]
    assert [[call.batch_id for call in made] for made in calls] == [[batch["id"]]] * 4
    assert not any("batch" in reason for reason in service.ask("health")["reasons"])


def test_few_packages_are_asked_about_one_by_one(start: Start, server: ModelServer) -> None:
    """Below `observer.batch_backlog` nobody waits for a batch."""
    service = start()
    backlog(service, 2)
    assert states(service) == [("done", 0)] * 2
    assert server.batches == {}
    assert len(server.asked) == 2


def test_what_is_urgent_waits_for_no_batch(start: Start, server: ModelServer) -> None:
    """Packages of high priority are asked about at once, however many there are."""
    service = start()
    backlog(service, 4, priority="high")
    assert states(service) == [("done", 0)] * 4
    assert server.batches == {}


def test_new_packages_do_not_wait_behind_a_batch(start: Start, server: ModelServer) -> None:
    """What comes while a batch is out is no part of its backlog."""
    service = start()
    backlog(service, 3)
    backlog(service, 1)
    assert states(service) == [("ready", 0)] * 3 + [("done", 0)]
    backlog(service, 3)
    assert len(server.batches) == 2


@pytest.mark.parametrize("result", ["errored", "expired", "canceled"])
def test_an_answer_that_the_batch_lacks_is_asked_for(
    start: Start, server: ModelServer, result: str
) -> None:
    """A request that failed, expired or was cancelled is no fault of its package."""
    service = start()
    backlog(service, 3)
    server.end_batches()
    server.model = lambda _: result
    # The direct requests that follow are answered by a model that is well.
    original = server.serve

    def serve(exchange: Any) -> None:
        if exchange.received.path == "/v1/messages":
            server.model = explicit_rules
        original(exchange)

    server.serve = serve  # type: ignore[method-assign]
    next_minute(service)
    assert states(service) == [("done", 0)] * 3
    assert len(server.asked) == 3
    assert len(service.records()) == 1


def test_a_bad_answer_of_a_batch_is_a_failure_and_then_asked_for(
    start: Start, server: ModelServer
) -> None:
    """A garbled answer counts as an attempt; the next one asks the model itself."""
    service = start()
    backlog(service, 3)
    server.model = lambda _: {"proposals": []}
    server.end_batches()
    next_minute(service)
    assert states(service) == [("ready", 1)] * 3
    server.model = explicit_rules
    service.clock.advance(10 * MINUTE)
    service.work()
    assert states(service) == [("done", 0)] * 3
    assert [len(usage.of_package(number)) for number in (1, 2, 3)] == [2, 2, 2]


def test_a_batch_outlives_its_process(start: Start, server: ModelServer) -> None:
    """After a restart the answers are taken from the batch that was sent before, and paid once."""
    service = start()
    backlog(service, 3)
    service.restart()
    next_minute(service)
    server.end_batches()
    service.ask("ops.stage.pause", stage="merge")
    next_minute(service)
    service.restart()
    service.ask("ops.stage.resume", stage="merge")
    service.work()
    assert states(service) == [("done", 0)] * 3
    assert server.asked == []
    assert len(server.batches) == 1
    assert [len(usage.of_package(number)) for number in (1, 2, 3)] == [1, 1, 1]


def test_a_batch_that_was_not_noted_is_money_wasted(start: Start, server: ModelServer) -> None:
    """A failure between sending and noting sends again; every package takes effect once."""

    class LostError(BaseException):
        pass

    def lose() -> None:
        raise LostError

    service = start()
    faults.arm("observe.before_commit", action=lose)
    backlog(service, 3)
    faults.disarm()
    assert len(server.batches) >= 1
    for _ in range(3):
        server.end_batches()
        service.clock.advance(10 * MINUTE)
        service.work()
    assert {state for state, _ in states(service)} == {"done"}
    assert len(service.records()) == 1


@pytest.mark.parametrize("status", [404, 413, 500, 529])
def test_without_batches_a_backlog_is_asked_about_one_by_one(
    start: Start, server: ModelServer, status: int
) -> None:
    """A server that takes no batch is not asked for one again and again, and nothing waits for it."""
    server.then(fails(status))
    service = start()
    backlog(service, 5)
    assert states(service) == [("done", 0)] * 5
    assert paths(server).count(("POST", "/v1/messages/batches")) == 1
    assert len(server.asked) == 5


def test_nobody_waits_for_a_batch_for_ever(start: Start, server: ModelServer) -> None:
    """A batch that has not ended after a day and an hour is given up; its packages are asked about."""
    service = start()
    backlog(service, 3)
    service.clock.advance(25 * HOUR)
    service.work()
    assert states(service) == [("ready", 0)] * 3
    next_minute(service)
    assert states(service) == [("done", 0)] * 3
    assert len(server.asked) == 3


def test_a_server_that_does_not_tell_is_asked_later(start: Start, server: ModelServer) -> None:
    """A question about a batch that fails is no package's fault."""
    service = start()
    backlog(service, 3)
    server.then(fails(500))
    next_minute(service)
    assert states(service) == [("ready", 0)] * 3
    server.end_batches()
    next_minute(service)
    assert states(service) == [("done", 0)] * 3


def test_a_batch_keeps_to_the_budget(start: Start, server: ModelServer) -> None:
    """As many go as the day's tokens allow at most; what is out counts until it is paid."""
    service = start(observer__daily_tokens="30000")
    backlog(service, 10)
    (batch,) = server.batches.values()
    assert 3 <= len(batch["requests"]) < 10
    reserved = observer_batches.tokens_out()
    assert 30_000 - 2 * reserved / len(batch["requests"]) < reserved <= 30_000


def test_a_paid_answer_is_taken_though_the_budget_is_spent(
    start: Start, server: ModelServer
) -> None:
    """What was bought is used: a spent budget keeps no batch's answer waiting."""
    service = start(observer__daily_tokens="30000")
    backlog(service, 3)
    database.execute_sql(
        "INSERT INTO observer_usage VALUES (99, 1, 0, ?, 'm', 'end_turn', NULL, 90000, 0, 0, 0)",
        (service.clock.now,),
    )
    server.end_batches()
    next_minute(service)
    assert states(service) == [("done", 0)] * 3
    assert server.asked == []


def test_an_outside_worker_may_take_what_is_in_a_batch(start: Start, server: ModelServer) -> None:
    """Leases decide: a package that somebody else has read is left alone, its answer unused."""
    service = start()
    backlog(service, 3)
    service.clock.advance(MINUTE)
    (package,) = service.ask("memory.observation.claim", worker="w")["packages"]
    service.ask(
        "memory.observation.commit",
        package_id=package["id"],
        token=package["token"],
        proposals=[],
        nothing_worth_keeping="read by hand",
    )
    server.end_batches()
    service.work()
    assert states(service) == [("done", 0)] * 3
    assert observer_batches.out() == 0


def test_a_backlog_larger_than_a_batch_goes_in_several(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch has an upper size, and the rest goes with the next."""
    monkeypatch.setattr("pipeline.observers.anthropic_batches.MOST_PACKAGES", 4)
    sent: list[int] = []
    original = MessagesClient.send_batch

    def send(self: MessagesClient, requests: Any) -> str:
        sent.append(len(requests))
        return original(self, requests)

    monkeypatch.setattr(MessagesClient, "send_batch", send)
    service = start()
    backlog(service, 9)
    assert sent == [4, 4]
    assert states(service) == [("ready", 0)] * 8 + [("done", 0)]
