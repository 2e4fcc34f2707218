"""The filter through the socket: what belongs together stays together, and nothing is stepped over."""

from typing import Any

import pytest

from storage.database import database
from tests.conftest import StartService
from tests.service_support import MINUTE, NOW, SECOND, Service, event

pytestmark = pytest.mark.integration

BATCH = 25


@pytest.fixture
def service(start_service: StartService) -> Service:
    """A service whose filter takes few events a pass, with nobody who observes."""
    return start_service(pipeline__filter_batch=str(BATCH), observer__kind="external")


def packaged(service: Service) -> list[list[str]]:
    """The ids of each package's events, packages and events in order."""
    del service
    rows = database.execute_sql(
        "SELECT p.package_id, e.id FROM package_event p JOIN event e USING (seq)"
        " ORDER BY p.package_id, p.seq"
    ).fetchall()
    found: dict[int, list[str]] = {}
    for package_id, event_id in rows:
        found.setdefault(package_id, []).append(event_id)
    return list(found.values())


def acting(
    event_id: str, text: str, *, kind: str = "executor.receipt", **more: Any
) -> dict[str, Any]:
    """Something that an executor calls or reports."""
    return event(event_id, text, role="executor", kind=kind, **more)


# ---- instants ------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["第{}件同时发生的事", "thing {} of one moment"])
def test_a_pass_s_end_parts_no_instant(service: Service, text: str) -> None:
    """Events of one moment are one package, wherever the filter's pass would end (G3)."""
    before = [event(f"b{n}", text.format(n), at=NOW - SECOND + n, stream="s") for n in range(20)]
    group = [event(f"g{n}", text.format(n), at=NOW, stream="s") for n in range(30)]
    service.ingest(*before, *group, event("after", "好了", at=NOW + 1, stream="s"))
    service.work()
    sizes = [len(ids) for ids in packaged(service)]
    assert sizes == [20, 30, 1]


def test_lanes_in_turn_keep_their_instants(service: Service) -> None:
    """Two streams that speak in turn at one moment are two whole packages."""
    events = [event(f"e{n}", f"第{n}句 line {n}", at=NOW, stream=f"s{n % 2}") for n in range(60)]
    service.ingest(*events)
    service.work()
    assert sorted(map(len, packaged(service))) == [30, 30]


def test_an_instant_has_an_end(service: Service) -> None:
    """An instant of 200 long events is cut by the input budget, and loses none of them (H5)."""
    service.ingest(*(event(f"e{n}", f"{n} " + "报销单" * 60, at=NOW) for n in range(200)))
    service.work()
    found = packaged(service)
    assert sorted(one for ids in found for one in ids) == sorted(f"e{n}" for n in range(200))
    budget = service.settings.pipeline.package_tokens
    tokens = [row[0] for row in database.execute_sql("SELECT tokens FROM package").fetchall()]
    assert max(tokens) <= budget
    assert len(found) > 1


# ---- calls and results ----------------------------------------------------------------


LATE = {
    "by request": ({"request_id": "q"}, {"request_id": "q"}),
    "by cause": ({}, {"causes": ["call"]}),
}
BOTH_WAYS = pytest.mark.parametrize(("asked", "answer"), LATE.values(), ids=LATE)


@BOTH_WAYS
def test_a_call_that_comes_behind_its_result_joins_it(
    service: Service, asked: dict[str, Any], answer: dict[str, Any]
) -> None:
    """While the result's package is open, it is told together with its call (G3)."""
    service.ingest(
        acting("result", "提交报销单失败 failed", at=NOW + 2, data={"ok": False}, **answer)
    )
    service.work()
    service.ingest(acting("call", "提交报销单 submit", kind="executor.call", at=NOW + 1, **asked))
    service.work()
    assert packaged(service) == [["result", "call"]]
    assert service.fate("call") == ("packaged", "call")


@BOTH_WAYS
def test_a_call_behind_a_closed_result_waits_for_nothing(
    service: Service, asked: dict[str, Any], answer: dict[str, Any]
) -> None:
    """It used to wait a quarter of an hour for what had long come; now it goes, marked late."""
    service.ingest(
        acting("result", "提交报销单失败 failed", at=NOW + 2, data={"ok": False}, **answer)
    )
    service.work()
    service.ask("ops.flush")
    service.ingest(acting("call", "提交报销单 submit", kind="executor.call", at=NOW + 1, **asked))
    service.work()
    assert service.fate("call") == ("packaged", "late_call")
    service.ask("ops.flush")
    assert packaged(service) == [["result"], ["call"]]


@BOTH_WAYS
def test_a_result_behind_its_given_up_call_is_marked_late(
    service: Service, asked: dict[str, Any], answer: dict[str, Any]
) -> None:
    """After the quarter of an hour the result goes into its call's lane, and says why it is alone."""
    task = {"id": "t", "version": 1}
    service.ingest(acting("call", "提交报销单 submit", kind="executor.call", task=task, **asked))
    service.work()
    service.clock.advance(16 * MINUTE)
    service.work()
    assert service.fate("call")[0] == "packaged"
    service.ingest(acting("result", "提交报销单失败 failed", data={"ok": False}, **answer))
    service.work()
    assert service.fate("result") == ("packaged", "late_result")
    lanes = {package["lane"] for package in service.packages()}
    assert lanes == {"task:t"}


# ---- nothing is stepped over ------------------------------------------------------------


def test_urgent_packages_step_over_none_for_good(service: Service) -> None:
    """However many urgent ones keep coming, the oldest low one is claimed, and all in the end (B3)."""
    texts = ["不急的事 no hurry", "急事 urgent"]
    service.ingest(event("low", texts[0], stream="low", priority="low"))
    service.work()
    service.ask("ops.flush")
    claimed: list[str] = []
    for n in range(8):
        service.ingest(event(f"u{n}", texts[1], stream=f"s{n}", priority="urgent"))
        service.work()
        service.ask("ops.flush")
        claimed += claim_one(service)
        service.clock.advance(MINUTE)
    assert "low" in claimed
    assert claimed[0] != "low", "what is urgent goes first"
    while more := claim_one(service):
        claimed += more
    assert sorted(claimed) == sorted(["low", *(f"u{n}" for n in range(8))])
    service.work()
    assert service.positions()["backlog"] == 0
    assert service.positions()["published"] == 9


def claim_one(service: Service) -> list[str]:
    """Claim a package and work it off; its event ids."""
    packages = service.ask("memory.observation.claim", worker="w")["packages"]
    for package in packages:
        service.ask(
            "memory.observation.commit",
            package_id=package["id"],
            token=package["token"],
            proposals=[],
            nothing_worth_keeping="only_talk",
        )
    return [one["id"] for package in packages for one in package["events"]]
