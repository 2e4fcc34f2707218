"""`health`: never ok while something is refused, stuck or missing, and ok again once it isn't."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from socket_gateway.protocol import METHODS, HealthResult
from storage.database import database
from tests.conftest import StartService
from tests.service_support import MINUTE, NOW, Service, event

pytestmark = pytest.mark.integration


def beat(service: Service) -> None:
    """Touch the file that a living consumer touches each second."""
    service.settings.paths.consumer_beat.touch()


def health(service: Service) -> Any:
    """Health beside a consumer that is alive."""
    beat(service)
    return service.ask("health")


def test_a_service_that_does_its_work_is_ok(service: Service) -> None:
    """With a consumer alive and nothing stuck the status is ok, and the figures are told."""
    service.ingest(event("e1", "你好"))
    service.settle()
    found = health(service)

    assert found["status"] == "ok"
    assert found["reasons"] == ["time comes from a file"]
    assert found["version"]
    assert found["uptime_ms"] >= 0
    assert Path(found["database"]) == service.settings.paths.database
    assert found["positions"] == {
        "received": 1, "organized": 1, "published": 1, "backlog": 0, "dead": 0,
    }  # fmt: skip
    assert found["queue"]["oldest_ms"] == 0
    assert found["disk_free"] > 0


def test_nothing_but_health_is_answered_while_warming(start_service: StartService) -> None:
    """Before its parts are there the gateway says `degraded: warming` and keeps the rest waiting."""
    service = start_service()
    dispatcher, handlers = service.gateway._dispatcher, service.gateway._dispatcher._handlers
    services = service.gateway._health._services
    dispatcher._handlers = {"health": service.gateway._health}
    dispatcher._is_ready = asyncio.Event()
    service.gateway._health._services = None

    found = service.ask("health")
    assert (found["status"], found["reasons"]) == ("degraded", ["warming"])
    service.client.send(b'{"id":"early","method":"memory.positions"}\n')
    service.client.send(b'{"id":"wrong","method":"memory.position"}\n')
    assert services is not None
    service.gateway._health._services = services
    services.loop.call_soon_threadsafe(dispatcher.ready, handlers)
    assert service.client.answer()["id"] == "early"
    assert service.client.answer()["error"]["code"] == "unknown_method"


def test_a_missing_consumer_is_told(service: Service) -> None:
    """Without a beat, or with an old one, nobody works the events off, and health says so."""
    found = service.ask("health")
    assert found["status"] == "degraded"
    assert found["queue"]["consumer_seen_ms"] is None
    assert any("no consumer" in reason for reason in found["reasons"])

    assert health(service)["status"] == "ok"


def test_a_package_that_waits_too_long_is_told(service: Service) -> None:
    """A ready package that nobody has taken for two minutes makes the service degraded."""
    service.ingest(event("e1", "你好"))
    service.ask("ops.flush")
    service.clock.advance(MINUTE)
    assert health(service)["status"] == "ok"
    service.clock.advance(2 * MINUTE)
    found = health(service)
    assert found["status"] == "degraded"
    assert found["queue"]["oldest_ms"] == 3 * MINUTE
    assert "a package has waited for 180 s" in found["reasons"]

    service.work()
    assert health(service)["status"] == "ok"


def test_parked_events_are_told_until_somebody_decides(start_service: StartService) -> None:
    """Dead letters make the service degraded until they are requeued or discarded."""
    service = start_service(pipeline__attempts="1", observer__kind="external")
    service.ingest(event("e1", "坏的"))
    service.ask("ops.flush")
    (package,) = service.ask("memory.observation.claim", worker="w")["packages"]
    service.ask(
        "memory.observation.fail", package_id=package["id"], token=package["token"], error="x"
    )
    found = health(service)
    assert (found["status"], found["dead"]) == ("degraded", 1)
    assert any("ops.dead.list" in reason for reason in found["reasons"])

    service.ask("ops.dead.discard", ids=[package["id"]])
    assert health(service)["status"] == "ok"


def test_a_paused_stage_is_told(service: Service) -> None:
    """While an operator has paused a stage the service is degraded, naming it."""
    service.ask("ops.stage.pause", stage="index")
    found = health(service)
    assert (found["status"], "stage index is paused" in found["reasons"]) == ("degraded", True)
    service.ask("ops.stage.resume", stage="index")
    assert health(service)["status"] == "ok"


def test_refused_writes_are_failing(service: Service) -> None:
    """While the database refuses to write the service is failing, and ok after the next success."""
    service.in_writer(lambda: database.execute_sql("PRAGMA query_only = ON"))
    assert service.refused("memory.object.put", id="o1")["code"] == "unavailable"
    found = health(service)
    assert found["status"] == "failing"
    assert any("writes are refused" in reason for reason in found["reasons"])

    service.in_writer(lambda: database.execute_sql("PRAGMA query_only = OFF"))
    service.ask("memory.object.put", id="o1")
    assert health(service)["status"] == "ok"


def test_a_disk_that_fills_up_is_told(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the disk is full health says how little is left."""
    monkeypatch.setattr("socket_gateway.handlers.health.DISK_FREE", 2**62)
    found = health(service)
    assert found["status"] == "degraded"
    assert any("bytes are free on the disk" in reason for reason in found["reasons"])


def test_an_index_far_behind_is_told(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that can't keep up makes the service degraded, with how far it is behind."""
    assembled = service.gateway._assembled
    assert assembled is not None
    assembled.stop.set()
    assembled.following.join()
    monkeypatch.setattr("socket_gateway.handlers.health.INDEX_LAG", 1)
    service.ingest(event("e1", "一"), event("e2", "二"))
    service.settle()
    found = health(service)
    assert (found["status"], found["index_lag"]) == ("degraded", 2)
    assert "the index is 2 entries behind" in found["reasons"]


def test_a_bad_request_is_no_fault_of_the_service(service: Service) -> None:
    """What callers do wrong does not make the service look ill."""
    service.ask("memory.object.put", id="o1")
    service.refused("memory.object.put", id="o1", expected_revision=7)
    service.refused("memory.events.ingest", events=[])
    assert health(service)["status"] == "ok"


def test_a_lost_queue_file_is_noted(service: Service) -> None:
    """A queue file that went missing is made anew; health says so, and no work is lost."""
    health(service)
    service.settings.paths.queue.unlink()
    found = health(service)
    assert found["queue"]["replaced"] == 1
    assert any("queue file" in reason for reason in found["reasons"])
    assert found["status"] == "ok"
    service.ingest(event("e1", "以后报销都用新模板"))
    service.settle()
    assert len(service.records()) == 1


@pytest.mark.parametrize("damage", ["missing", "garbage"])
def test_a_rebuilt_index_is_noted(service: Service, damage: str) -> None:
    """An index that is not there or not readable at start is built anew, and health says why."""
    service.ingest(event("e1", "以后报销都用新模板"))
    service.settle()
    service.stop()
    for path in sorted(service.settings.paths.index.rglob("*"), reverse=True):
        if not path.is_file():
            continue
        if damage == "missing":
            path.unlink()
        else:
            path.write_bytes(b"\x00garbage")
    service.start()
    assert any("index was built anew" in reason for reason in health(service)["reasons"])
    answer = service.ask("memory.continuity.recall", request_id="q", query="报销模板")
    assert answer["state"] in {"complete", "pending"}


def test_health_sums_over_owners(service: Service) -> None:
    """Positions of the whole service are those of the owner furthest behind."""
    service.ingest(event("e1", "一"), owner="a")
    service.ingest(event("e1", "一"), owner="b")
    service.settle(owner="b")
    found = health(service)["positions"]
    assert found == {"received": 2, "organized": 0, "published": 0, "backlog": 1, "dead": 0}
    service.settle()
    assert health(service)["positions"] == {
        "received": 2, "organized": 2, "published": 2, "backlog": 0, "dead": 0,
    }  # fmt: skip


def test_the_protocol_knows_what_health_says() -> None:
    """Health is asked without params and answers by its model."""
    assert METHODS["health"].result is HealthResult
    assert HealthResult(status="ok", reasons=[], version="1", uptime_ms=NOW).dead == 0
