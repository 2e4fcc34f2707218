"""What operators see and do: status, packages, dead letters, pausing stages, flushing."""

from typing import Any

import pytest

from tests.conftest import StartService
from tests.service_support import MINUTE, NOW, Service, event

pytestmark = pytest.mark.integration

CLAIM = "memory.observation.claim"
FAIL = "memory.observation.fail"


def dead_letters(service: Service, count: int = 1) -> list[int]:
    """Packages that an outside worker could not make anything of; their ids."""
    for n in range(count):
        service.ingest(event(f"dead-{n}", "坏的", objects=[{"id": f"bad{n}"}]))
    service.ask("ops.flush")
    packages = service.ask(CLAIM, worker="w", max=32)["packages"]
    assert len(packages) == count
    for package in packages:
        answer = service.ask(FAIL, package_id=package["id"], token=package["token"], error="坏了")
        assert answer == {"state": "dead", "next_attempt_at": None}
    return [package["id"] for package in packages]


@pytest.fixture
def fragile(start_service: StartService) -> Service:
    """A service whose packages are parked at their first failure, observed from outside."""
    return start_service(pipeline__attempts="1", observer__kind="external")


# ---- packages and status ---------------------------------------------------


def test_the_ledger_is_listed_package_by_package(service: Service) -> None:
    """A package shows its lane, stage, state, bounds and what it holds."""
    service.ingest(event("e1", "一", objects=[{"id": "o1"}]), event("e2", "二", priority="high"))
    service.runner.filter_events()
    first, second = service.packages()
    assert first == {
        "id": 1,
        "owner": "local",
        "lane": "object:o1",
        "object": "o1",
        "task": None,
        "stage": "observe",
        "state": "open",
        "attempt": 0,
        "token": 0,
        "priority": "normal",
        "events": 1,
        "first_seq": 1,
        "last_seq": 1,
        "opened_at": NOW,
        "lease_until": None,
        "next_attempt_at": 0,
        "error": None,
        "nothing": None,
        "closed_by": None,
        "work": "events",
    }
    assert (second["object"], second["priority"]) == ("@owner", "high")


def test_a_package_tells_what_closed_it(service: Service) -> None:
    """An operator sees why a package is ready: its age, a flush, an urgent event."""
    service.ingest(event("e1", "一", objects=[{"id": "o1"}]))
    service.runner.filter_events()
    service.clock.advance(service.settings.pipeline.package_age_ms)
    service.sweep()
    service.ingest(event("e2", "二", objects=[{"id": "o2"}]))
    service.ask("ops.flush")
    assert [row["closed_by"] for row in service.packages()] == ["age", "flush"]


def test_packages_are_listed_by_state_in_pages(service: Service) -> None:
    """A state filters, and `after` leads from page to page."""
    for n in range(3):
        service.ingest(event(f"e{n}", "说", objects=[{"id": f"o{n}"}]))
    service.settle()
    service.ingest(event("e9", "说"))
    service.runner.filter_events()

    assert [row["id"] for row in service.packages(state="done")] == [1, 2, 3]
    assert [row["id"] for row in service.packages(state="open")] == [4]
    page = service.ask("ops.packages", limit=2)
    assert ([row["id"] for row in page["items"]], page["next"]) == ([1, 2], 2)
    rest = service.ask("ops.packages", after=2)
    assert ([row["id"] for row in rest["items"]], rest["next"]) == ([3, 4], None)


def test_status_counts_stages_owners_and_connections(service: Service) -> None:
    """Status brings health, packages by stage and state, paused stages, owners, connections."""
    service.ingest(event("e1", "一"), owner="甲")
    service.ingest(event("e1", "一"), owner="b")
    service.settle(owner="b")
    service.ask("ops.stage.pause", stage="merge")
    status = service.ask("ops.status")

    assert status["owners"] == ["b", "甲"]
    assert status["stages"] == {"observe": {"open": 1}, "publish": {"done": 1}}
    assert status["paused"] == {"merge": NOW}
    assert status["connections"]["open"] == 1
    assert status["health"]["positions"]["received"] == 2


# ---- flushing --------------------------------------------------------------


def test_a_flush_closes_what_is_open_at_once(service: Service) -> None:
    """What has been received is filtered and closed without waiting for 30 seconds."""
    service.ingest(event("e1", "一", objects=[{"id": "a"}]), event("e2", "二"))
    service.work()
    assert {row["state"] for row in service.packages()} == {"open"}
    service.ingest(event("e3", "三", objects=[{"id": "c"}]))
    assert service.ask("ops.flush") == {"closed": 3}
    assert {row["state"] for row in service.packages()} == {"ready"}
    assert service.ask("ops.flush") == {"closed": 0}


def test_a_flush_may_be_for_one_owner(service: Service) -> None:
    """Another owner's packages stay open."""
    for owner in ("a", "b"):
        service.ingest(event("e1", "一"), owner=owner)
    assert service.ask("ops.flush", owner="a") == {"closed": 1}
    assert {row["owner"]: row["state"] for row in service.packages()} == {"a": "ready", "b": "open"}


# ---- pausing ---------------------------------------------------------------


@pytest.mark.parametrize("stage", ["observe", "merge", "index", "publish"])
def test_a_paused_stage_holds_packages_until_it_is_resumed(service: Service, stage: str) -> None:
    """Packages go as far as the paused stage, wait there without failing, and then go on."""
    assert service.ask("ops.stage.pause", stage=stage) == {"paused": {stage: NOW}}
    service.ingest(event("e1", "以后报销都用新模板"))
    service.settle()
    (held,) = service.packages()
    assert (held["stage"], held["state"], held["attempt"]) == (stage, "ready", 0)
    assert service.positions()["published"] == 0

    service.restart()
    service.work()
    assert service.packages() == [held]

    assert service.ask("ops.stage.resume", stage=stage) == {"paused": {}}
    service.work()
    assert [row["state"] for row in service.packages()] == ["done"]
    assert service.positions()["published"] == 1


def test_the_filter_can_be_paused(service: Service) -> None:
    """With the filter paused events are received and wait unfiltered."""
    service.ask("ops.stage.pause", stage="filter")
    service.ingest(event("e1", "一"))
    service.settle()
    assert service.packages() == []
    assert service.positions()["backlog"] == 1
    service.ask("ops.stage.resume", stage="filter")
    service.settle()
    assert service.positions() == {
        "received": 1, "organized": 1, "published": 1, "backlog": 0, "dead": 0,
    }  # fmt: skip


def test_a_paused_stage_is_claimed_by_nobody(service: Service) -> None:
    """Pausing `observe` holds outside workers too."""
    service.ingest(event("e1", "一"))
    service.ask("ops.flush")
    service.ask("ops.stage.pause", stage="observe")
    assert service.ask(CLAIM, worker="w")["packages"] == []
    service.ask("ops.stage.resume", stage="observe")
    assert len(service.ask(CLAIM, worker="w")["packages"]) == 1


def test_pausing_twice_keeps_the_first_time(service: Service) -> None:
    """The paused stages say since when; resuming what isn't paused is no error."""
    service.ask("ops.stage.pause", stage="merge")
    service.clock.advance(MINUTE)
    answer = service.ask("ops.stage.pause", stage="merge")
    assert answer == {"paused": {"merge": NOW}}
    assert service.ask("ops.stage.pause", stage="index")["paused"].keys() == {"merge", "index"}
    service.ask("ops.stage.resume", stage="merge")
    assert service.ask("ops.stage.resume", stage="merge") == {"paused": {"index": NOW + MINUTE}}


def test_there_are_five_stages_to_pause(service: Service) -> None:
    """An unknown stage is refused by name."""
    for method in ("ops.stage.pause", "ops.stage.resume"):
        error = service.refused(method, stage="settle")
        assert (error["code"], "stage" in error["message"]) == ("bad_request", True)


# ---- dead letters ----------------------------------------------------------


def test_a_dead_letter_says_why_and_what_it_holds(fragile: Service) -> None:
    """A parked package is listed with its error, when it was parked, and its events' ids."""
    (package_id,) = dead_letters(fragile)
    (letter,) = fragile.ask("ops.dead.list")["items"]
    assert letter["package"]["id"] == package_id
    assert letter["package"]["state"] == "dead"
    assert "坏了" in letter["error"]
    assert letter["parked_at"] == NOW
    assert letter["event_ids"] == ["dead-0"]


def test_dead_letters_come_in_pages(fragile: Service) -> None:
    """`after` leads through them in order of package id."""
    ids = dead_letters(fragile, 3)
    page = fragile.ask("ops.dead.list", limit=2)
    assert [letter["package"]["id"] for letter in page["items"]] == ids[:2]
    rest = fragile.ask("ops.dead.list", after=page["next"])
    assert [letter["package"]["id"] for letter in rest["items"]] == ids[2:]
    assert rest["next"] is None


def test_nothing_waits_behind_a_dead_letter(fragile: Service) -> None:
    """Positions step over parked events, count them, and later events of the lane go on."""
    dead_letters(fragile)
    fragile.ingest(event("e2", "好的", objects=[{"id": "bad0"}]))
    fragile.ask("ops.flush")
    (package,) = fragile.ask(CLAIM, worker="w")["packages"]
    fragile.ask(
        "memory.observation.commit", package_id=package["id"], token=package["token"],
        proposals=[], nothing_worth_keeping="talk",
    )  # fmt: skip
    fragile.work()
    assert fragile.positions() == {
        "received": 2, "organized": 2, "published": 2, "backlog": 0, "dead": 1,
    }  # fmt: skip


def test_a_requeued_letter_begins_anew(fragile: Service) -> None:
    """Requeueing zeroes the failures, and the package can be worked off like any other."""
    (package_id,) = dead_letters(fragile)
    assert fragile.ask("ops.dead.requeue", ids=[package_id]) == {"ids": [package_id]}
    (row,) = fragile.packages()
    assert (row["state"], row["attempt"], row["error"]) == ("ready", 0, None)
    assert fragile.positions()["dead"] == 0
    assert fragile.positions()["published"] == 0

    fragile.restart({"DESKPAW_MEMORY_OBSERVER__KIND": "offline"})
    fragile.work()
    assert fragile.positions()["published"] == 1
    assert fragile.ask("ops.dead.list")["items"] == []


def test_all_letters_are_requeued_without_ids(fragile: Service) -> None:
    """Without ids every dead letter goes back to work."""
    ids = dead_letters(fragile, 3)
    assert fragile.ask("ops.dead.requeue") == {"ids": ids}
    assert fragile.ask("ops.dead.requeue") == {"ids": []}


def test_a_discarded_letter_is_given_up_but_its_events_stay(fragile: Service) -> None:
    """Discarding ends the package; the events can still be read."""
    (package_id,) = dead_letters(fragile)
    assert fragile.ask("ops.dead.discard", ids=[package_id]) == {"ids": [package_id]}
    (row,) = fragile.packages()
    assert (row["state"], row["nothing"]) == ("done", "discarded by an operator")
    assert fragile.positions()["dead"] == 0
    evidence = fragile.ask("memory.evidence.get", event_ids=["dead-0"])
    assert [found["text"] for found in evidence["events"]] == ["坏的"]


@pytest.mark.parametrize("method", ["ops.dead.requeue", "ops.dead.discard"])
def test_one_wrong_id_changes_nothing(fragile: Service, method: str) -> None:
    """Every id must be a dead letter, or none is touched."""
    (package_id,) = dead_letters(fragile)
    for wrong in (404, package_id + 1):
        error = fragile.refused(method, ids=[package_id, wrong])
        assert (error["code"], error["details"]) == ("not_found", {"package_id": wrong})
    assert [row["state"] for row in fragile.packages()] == ["dead"]


@pytest.mark.parametrize(
    ("method", "params", "named"),
    [
        ("ops.dead.discard", {}, "ids"),
        ("ops.dead.discard", {"ids": []}, "ids"),
        ("ops.dead.requeue", {"ids": []}, "ids"),
        ("ops.dead.requeue", {"ids": list(range(201))}, "ids"),
        ("ops.dead.list", {"limit": 201}, "limit"),
        ("ops.dead.list", {"after": -1}, "after"),
        ("ops.packages", {"state": "lost"}, "state"),
        ("ops.flush", {"ownr": "a"}, "ownr"),
        ("ops.status", {"verbose": True}, "verbose"),
        ("health", {"verbose": True}, "verbose"),
    ],
)
def test_params_have_limits(
    service: Service, method: str, params: dict[str, Any], named: str
) -> None:
    """What is missing, out of bounds or unknown is refused by name."""
    error = service.refused(method, **params)
    assert (error["code"], named in error["message"]) == ("bad_request", True)
