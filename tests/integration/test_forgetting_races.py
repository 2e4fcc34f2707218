"""Integration: what is under way while something is forgotten must not write it back."""

from typing import Any

import orjson
import pytest

from pipeline.errors import LostRaceError
from pipeline.recall.service import Recaller
from storage.database import database
from storage.records.runs import Stage
from storage.records.usage import BatchEntry
from storage.repositories import ledger, observer_batches
from tests.conftest import StartService
from tests.crash.harness import wait_until
from tests.forgetting_support import EXPENSE, Memory, files_with, proposal
from tests.service_support import DAY, NOW, Service, event
from tests.socket_support import Client

pytestmark = pytest.mark.integration

BURIED = "雨后枇杷是暗号 violet umbrella"


@pytest.fixture
def memory(start_service: StartService) -> Memory:
    """A memory that holds what a test proposes."""
    return Memory(start_service(observer__kind="external"))


def entries_with(text: str) -> list[Any]:
    """Index entries whose terms hold a text."""
    rows = database.execute_sql("SELECT seq FROM index_entry WHERE instr(fields, ?)", (text,))
    return list(rows.fetchall())


# ---- the pipeline ------------------------------------------------------------------


def test_a_claim_from_before_is_stale(memory: Memory) -> None:
    """A worker that holds the package writes nothing of it; what is left is observed anew."""
    memory.hear(event("a", BURIED, objects=EXPENSE), event("b", "留下来的话", objects=EXPENSE))
    package = memory.claim()
    memory.forget(event_ids=["a"])
    for method, more in (
        ("commit", {"proposals": [proposal("rule", BURIED, {"a": BURIED})]}),
        ("fail", {"error": f"can't read {BURIED}"}),
    ):
        error = memory.service.refused(
            f"memory.observation.{method}",
            package_id=package["id"],
            token=package["token"],
            **more,
        )
        assert error["code"] == "stale"
    again = memory.claim()
    assert [item["id"] for item in again["events"]] == ["b"]
    assert (again["id"], again["attempt"]) == (package["id"], 0)
    assert again["token"] > package["token"] + 1
    assert BURIED not in memory.told()


def test_a_package_of_nothing_else_is_gone(memory: Memory) -> None:
    """Where all events of a package are forgotten, nobody waits for it and nobody can commit it."""
    memory.hear(event("a", BURIED, objects=EXPENSE))
    package = memory.claim()
    memory.forget(event_ids=["a"])
    error = memory.service.refused(
        "memory.observation.commit", package_id=package["id"], token=package["token"],
        proposals=[proposal("rule", BURIED, {"a": BURIED})],
    )  # fmt: skip
    assert error["code"] == "stale"
    assert memory.service.packages() == []
    assert memory.service.positions()["published"] == 1


@pytest.mark.parametrize("stage", [Stage.MERGE, Stage.INDEX, Stage.PUBLISH])
def test_a_stage_that_has_computed_writes_nothing(memory: Memory, stage: Stage) -> None:
    """Forgotten between a stage's compute and its transaction, an event's record does not appear."""
    service = memory.service
    memory.hear(event("a", BURIED, objects=EXPENSE))
    service.ask("ops.stage.pause", stage=stage.value)
    memory.commit(memory.claim(), proposal("rule", BURIED, {"a": BURIED}))
    service.work()
    service.ask("ops.stage.resume", stage=stage.value)
    runner = service.runner
    work = runner._stages[stage]
    compute = work.compute
    forgotten: list[Any] = []

    def forget_meanwhile(claimed: Any) -> Any:
        computed = compute(claimed)
        if not forgotten:
            forgotten.append(memory.forget(event_ids=["a"]))
        return computed

    runner._stages[stage] = _Meddling(work, forget_meanwhile)  # type: ignore[index]
    service.work()
    assert forgotten
    assert service.records() == []
    assert BURIED not in memory.told()
    assert memory.erased(forgotten[0])["state"] == "done"
    assert entries_with("雨后") == []
    service.stop()
    assert files_with(service.state, BURIED) == []


class _Meddling:
    """A stage that lets something happen between compute and apply."""

    def __init__(self, work: Any, compute: Any) -> None:
        self.stage = work.stage
        self.apply = work.apply
        self.compute = compute


def test_a_pass_of_the_filter_writes_nothing(memory: Memory) -> None:
    """What the filter has read is not packaged nor indexed once it is forgotten."""
    service = memory.service
    service.ingest(event("a", BURIED, objects=EXPENSE), event("b", "留下来的话", objects=EXPENSE))
    filtering = service.runner._filter
    work = filtering.compute("local")
    assert work is not None
    memory.forget(event_ids=["a"])
    with pytest.raises(LostRaceError):
        service.services.core.writer.call("filter", lambda: filtering.apply(work))
    service.work()
    assert entries_with("雨后") == []
    assert service.fate("b")[0] == "packaged"


def test_the_built_in_observer_starts_over(service: Service) -> None:
    """Leases of the owner's packages are given back without a failure, and the work is done again."""
    memory = Memory(service)
    service.ingest(
        event("a", "请记住：报销用蓝色模板", objects=EXPENSE), event("b", "我喜欢桂花乌龙茶")
    )
    service.ask("ops.flush")
    claim = ledger.Claim(Stage.OBSERVE, service.clock.now, 60_000, 600_000, "built-in", limit=9)
    writer = service.services.core.writer
    claimed = writer.call("claim", lambda: ledger.claim(claim))
    assert claimed
    memory.forget(event_ids=["a"])
    assert not any(ledger.holds(package) for package in claimed)
    assert {package["attempt"] for package in service.packages()} == {0}
    service.work()
    assert {ref["event"] for r in service.records() for ref in r["source_refs"]} == {"b"}


def test_a_batch_that_was_sent_is_not_waited_for(memory: Memory) -> None:
    """What a model reads of a package in a batch is not what the package holds any more."""
    memory.hear(event("a", BURIED, objects=EXPENSE), event("b", "留下来的话", objects=EXPENSE))
    (package,) = memory.service.packages()
    sent = BatchEntry(package["id"], package["token"], "batch-1", memory.service.clock.now, 9)
    writer = memory.service.services.core.writer
    until = memory.service.clock.now + DAY
    writer.call("observe", lambda: observer_batches.add([sent], until=until))
    assert observer_batches.entry(package["id"]) == sent
    memory.forget(event_ids=["a"])
    assert observer_batches.entry(package["id"]) is None
    writer.call("observe", lambda: observer_batches.add([sent], until=until))
    assert observer_batches.entry(package["id"]) is None
    assert [item["id"] for item in memory.claim()["events"]] == ["b"]


def test_what_a_worker_said_of_a_package_goes(memory: Memory) -> None:
    """The error of a dead letter, and the reason why nothing was kept, may repeat what was read."""
    memory.hear(event("a", BURIED, objects=EXPENSE), event("b", "留下来的话", objects=EXPENSE))
    for _ in range(8):
        package = memory.claim()
        memory.service.ask(
            "memory.observation.fail",
            package_id=package["id"], token=package["token"],
            error=f"the text {BURIED} is odd", retry_after_ms=1,
        )  # fmt: skip
        memory.service.clock.advance(DAY)
    (dead,) = memory.service.ask("ops.dead.list")["items"]
    assert BURIED in dead["error"]
    memory.forget(event_ids=["a"])
    (dead,) = memory.service.ask("ops.dead.list")["items"]
    assert (dead["error"], dead["event_ids"]) == ("forgotten", ["b"])
    memory.hear(event("c", "闲聊", objects=[{"id": "other"}]))
    package = memory.claim()
    memory.service.ask(
        "memory.observation.commit", package_id=package["id"], token=package["token"],
        proposals=[], nothing_worth_keeping="only 闲聊 about lighthouses",
    )  # fmt: skip
    memory.service.ingest(event("d", "x", objects=[{"id": "other"}]))
    memory.forget(event_ids=["c"])
    assert "lighthouses" not in memory.told()


def test_a_rejected_proposal_goes_with_its_event(memory: Memory) -> None:
    """What was proposed and not accepted repeats the event no less."""
    memory.hear(event("a", BURIED, objects=EXPENSE), event("b", "留下来的话", objects=EXPENSE))
    package = memory.claim()
    answer = memory.service.ask(
        "memory.observation.commit", package_id=package["id"], token=package["token"],
        proposals=[
            proposal("rule", BURIED, {"a": BURIED}, subject="nobody knows"),
            proposal("rule", "留下来的话", {"b": "留下来的话"}),
        ],
    )  # fmt: skip
    assert len(answer["rejected"]) == 1
    memory.service.work()
    memory.forget_wholly(event_ids=["a"])
    memory.service.stop()
    assert files_with(memory.service.state, BURIED) == []


# ---- recalls -----------------------------------------------------------------------


def test_a_recall_result_that_told_of_it_goes_and_others_stay(memory: Memory) -> None:
    """The same request asked again is a new one; what had nothing to do with it is kept."""
    memory.learn_one("a", "报销用蓝色模板")
    memory.learn_one("b", "午饭去二楼食堂")
    assert memory.recall("about a", "蓝色模板")["hits"]
    kept = memory.recall("about b", "食堂")
    begun = memory.forget(event_ids=["a"])
    assert begun["counts"]["recalls"] == 1
    assert memory.recall("about b", "食堂") == kept
    assert memory.recall("about a", "蓝色模板")["state"] == "not_found"
    assert memory.recall("about a", "蓝色模板", wait_ms=0)["hits"] == []


def test_a_question_in_the_words_of_what_goes_goes(memory: Memory) -> None:
    """A stored question that quotes it, whatever was found for it, is a copy of it."""
    memory.learn_one("a", "报销用蓝色模板，地点是雨后枇杷树下")
    assert memory.recall("elsewhere", "地点是雨后枇杷树下", owner="local", objects=["x"])
    memory.forget_wholly(event_ids=["a"])
    memory.service.stop()
    assert files_with(memory.service.state, "雨后枇杷树下") == []


def test_a_recall_that_looked_before_is_not_stored_after(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result found before a forgetting is thrown away, and found anew where it was promised."""
    memory.learn_one("a", BURIED)
    recall = Recaller.recall
    begun: list[Any] = []

    def slow(self: Recaller, *args: Any) -> Any:
        found = recall(self, *args)
        if not begun:
            # A connection of its own: the test's is asked at the same time.
            with Client(service.settings.paths.socket) as other:
                select = {"select": {"event_ids": ["a"]}, "dry_run": False}
                request = {"id": 1, "method": "memory.forget", "params": select}
                other.send(orjson.dumps(request) + b"\n")
                begun.append(other.answer())
        return found

    service = memory.service
    monkeypatch.setattr(Recaller, "recall", slow)
    first = service.ask(
        "memory.continuity.recall", request_id="q", query="雨后 umbrella", wait_ms=0
    )
    assert first["state"] in {"pending", "not_found", "complete"}
    wait_until(lambda: begun, "a forgetting in the middle")
    again = memory.recall("q", "雨后 umbrella")
    assert (again["state"], again["hits"]) == ("not_found", [])
    stored = database.execute_sql("SELECT result FROM recall_request").fetchall()
    assert not any(BURIED in (result or "") for (result,) in stored)


# ---- the index ---------------------------------------------------------------------


def test_what_is_found_by_its_neighbours_loses_them(memory: Memory) -> None:
    """A short turn is found by the words of the turns before it: no more once these are forgotten."""
    service = memory.service
    service.ingest(
        event("a", BURIED, stream="chat"),
        event("b", "好的，知道了", stream="chat"),
        event("c", "明白", stream="chat"),
        event("d", "不相干的第四句", stream="chat"),
    )
    service.ask("ops.flush")
    assert len(entries_with("umbrella")) == 3
    memory.forget(event_ids=["a"])
    assert memory.recall("masked", "umbrella")["hits"] == []
    service.restart()
    wait_until(lambda: entries_with("umbrella") == [], "entries without the words")
    hits = memory.recall("made anew", "明白")["hits"]
    assert [hit["event"]["id"] for hit in hits] == ["c", "d"]


def test_a_covered_event_is_still_found_by_what_is_left(memory: Memory) -> None:
    """Overwritten words find nothing, the words beside them do."""
    text = "开头是灯塔。雨后枇杷是暗号。结尾是望远镜。"
    (record,) = memory.learn(
        event("a", text, objects=EXPENSE),
        proposals=[proposal("rule", "雨后枇杷是暗号", {"a": "雨后枇杷是暗号"})],
    )
    memory.forget_wholly(record_ids=[record])
    assert [h["event"]["id"] for h in memory.recall("1", "望远镜 灯塔")["hits"]] == ["a"]
    assert memory.recall("2", "枇杷 暗号")["hits"] == []
    assert "u2022" not in str(database.execute_sql("SELECT fields FROM index_entry").fetchall())


# ---- making anew -------------------------------------------------------------------


def test_a_rebuild_brings_nothing_back(memory: Memory) -> None:
    """From the journal, the same records come out as a forgetting has left; nothing else."""
    service = memory.service
    slot = {"key": "expense.template"}
    memory.learn(
        event("a", "报销用红色模板", objects=EXPENSE),
        proposals=[proposal("rule", "报销用红色模板", {"a": "报销用红色模板"}, value="红", **slot)],
    )
    memory.learn_one("b", "开会用大会议室")
    memory.learn_one("c", "开会用大会议室", at=NOW + DAY)
    memory.learn_one("d", "午饭去二楼食堂")
    memory.hear(*[event(f"s{n}", f"第{n}句闲话", stream="chat") for n in range(6)])
    memory.commit(memory.claim())
    memory.forget_wholly(event_ids=["a", "b", "s1", "s4"])
    service.work()
    memory.learn_one("e", "周报写成一页", at=NOW + 2 * DAY)
    before = memory.told()
    done = _rebuilt(memory)
    assert done["state"] == "done", done
    for part in ("records", "index", "snapshots"):
        counts = done["report"][part]
        assert set(counts) == {"same"} or not any(
            counts[kind] for kind in ("changed", "added", "removed")
        ), part
    assert memory.told() == before


def _rebuilt(memory: Memory) -> Any:
    begun = memory.service.ask("ops.rebuild")

    def ended() -> Any:
        found = memory.service.ask("ops.operation.get", operation_id=begun["operation_id"])
        return found if found["state"] != "running" else None

    return wait_until(ended, "an end of the rebuild")
