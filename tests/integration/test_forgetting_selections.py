"""Integration: what can be selected to be forgotten, and what a preview tells of it."""

from typing import Any

import pytest

from pipeline.forgetting import selecting
from socket_gateway.handlers import forgetting as handler
from storage.database import database
from storage.records.events import OWNER_OBJECT
from tests.conftest import StartService
from tests.forgetting_support import EXPENSE, Memory, files_with, proposal
from tests.service_support import DAY, NOW, event

pytestmark = pytest.mark.integration

LOVER = [{"id": "紫霞", "title": "紫霞仙子 violet"}]


@pytest.fixture
def memory(start_service: StartService) -> Memory:
    """A memory that holds what a test proposes."""
    return Memory(start_service(observer__kind="external"))


def left(memory: Memory) -> list[str]:
    """The contents of all records."""
    return [record["content"] for record in memory.service.records()]


# ---- refusals ------------------------------------------------------------------


@pytest.mark.parametrize(
    "select",
    [
        {},
        {"record_ids": []},
        {"record_ids": None},
        {"record_ids": ["r-unknown"]},
        {"event_ids": ["a", "没有"]},
        {"task_ids": ["t-unknown"]},
        {"object": "unknown"},
        {"before": NOW - DAY},
        {"before": "yesterday"},
        {"interaction_ids": ["i"]},
    ],
)
def test_a_selection_of_nothing_is_refused(memory: Memory, select: Any) -> None:
    """Empty, unknown or misspelt: bad_request, and nothing is changed."""
    memory.learn_one("a", "留下来的话")
    for dry_run in (True, False):
        error = memory.service.refused("memory.forget", select=select, dry_run=dry_run)
        assert error["code"] == "bad_request"
    assert left(memory) == ["留下来的话"]


def test_what_is_unknown_is_told_by_its_place(memory: Memory) -> None:
    """An error never repeats what was sent; it says which of them is unknown."""
    memory.learn_one("a", "留下来的话")
    error = memory.service.refused(
        "memory.forget", select={"event_ids": ["a", "秘密的编号"], "record_ids": ["r-x"]}
    )
    assert error["details"]["unknown"] == ["select.event_ids[1]", "select.record_ids[0]"]
    assert "秘密的编号" not in str(error)


def test_what_is_forgotten_is_unknown(memory: Memory) -> None:
    """Forgetting twice is a mistake that is told, not a second success."""
    record = memory.learn_one("a", "说过的话")
    memory.forget(event_ids=["a"])
    for select in ({"event_ids": ["a"]}, {"record_ids": [record]}):
        assert memory.service.refused("memory.forget", select=select)["code"] == "bad_request"


def test_other_owners_have_their_own(memory: Memory) -> None:
    """Nobody forgets, or looks up, what is somebody else's."""
    memory.learn_one("a", "我的话")
    (theirs,) = memory.learn(
        event("a", "别人的话", objects=EXPENSE),
        proposals=[proposal("rule", "别人的话", {"a": "别人的话"})],
        owner="other",
    )
    error = memory.service.refused("memory.forget", select={"record_ids": [theirs]})
    assert error["code"] == "bad_request"
    begun = memory.forget(event_ids=["a"])
    assert memory.service.records(owner="other") != []
    refused = memory.service.refused(
        "memory.forget.status", forget_id=begun["forget_id"], owner="other"
    )
    assert refused["code"] == "not_found"


# ---- previews ------------------------------------------------------------------


def test_a_preview_changes_nothing_and_tells_what_the_deed_does(memory: Memory) -> None:
    """The default is a preview; its counts are those of the deed after it."""
    text = "报销用蓝色模板"
    record = memory.learn_one("a", text)
    memory.recall("q", text)
    before = memory.told()
    found = memory.service.ask("memory.forget", select={"event_ids": ["a"]}, reason="算了")
    assert memory.told() == before
    assert found["dry_run"] is True
    assert {"forget_id", "state", "remaining"}.isdisjoint(found)
    preview = found["preview"]
    assert [(r["id"], r["content"], r["why"]) for r in preview["records"]] == [
        (record, text, "source")
    ]
    assert [(e["id"], e["text"], "places" in e) for e in preview["events"]] == [("a", text, False)]
    assert preview["truncated"] is False
    assert memory.forget(event_ids=["a"])["counts"] == found["counts"]


def test_a_reason_is_stored_nowhere(memory: Memory) -> None:
    """It may repeat what is to be forgotten, so no file has it."""
    memory.learn_one("a", "报销用蓝色模板")
    reason = "因为雨后枇杷的缘故 because of the violet umbrella"
    memory.service.ask("memory.forget", select={"event_ids": ["a"]}, reason=reason, dry_run=False)
    memory.service.stop()
    assert files_with(memory.service.state, reason, reason[:8], reason[-12:]) == []


def test_a_long_preview_is_cut(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts are whole, lists hold the first ones."""
    monkeypatch.setattr(handler, "_SHOWN", 2)
    memory.service.ingest(*[event(f"e{n}", f"第{n}句") for n in range(5)])
    found = memory.preview(event_ids=[f"e{n}" for n in range(5)])
    assert found["counts"]["events"] == 5
    assert [item["id"] for item in found["preview"]["events"]] == ["e0", "e1"]
    assert found["preview"]["truncated"] is True


# ---- objects -------------------------------------------------------------------


def test_an_object_goes_with_all_that_names_it(memory: Memory) -> None:
    """Its row and title, its records, every event that names it at any place, rules scoped to it."""
    words = ("紫霞的生日是三月三", "答应紫霞的旅行", "与紫霞有关的规矩")
    memory.learn(
        event("a", words[0], objects=LOVER),
        proposals=[proposal("rule", words[0], {"a": words[0]})],
    )
    memory.learn(
        event("b", words[1], objects=[*EXPENSE, *LOVER]),
        proposals=[proposal("rule", words[1], {"b": words[1]}, subject="expense")],
    )
    memory.learn(
        event("c", words[2], objects=[*EXPENSE, *LOVER]),
        proposals=[
            proposal("rule", words[2], {"c": words[2]}, subject="expense",
                     scope={"objects": ["紫霞"]}),
        ],
    )  # fmt: skip
    memory.learn_one("d", "报销用蓝色模板")
    memory.service.ingest(event("e", "还没整理：紫霞喜欢枇杷", objects=LOVER))
    found = memory.preview(object="紫霞")
    assert found["counts"] | {"events": 4, "records": 3, "objects": 1} == found["counts"]
    memory.forget_wholly(object="紫霞")
    assert left(memory) == ["报销用蓝色模板"]
    assert memory.service.refused("memory.object.get", id="紫霞")["code"] == "not_found"
    assert "紫霞" not in memory.told()
    memory.service.work()
    memory.service.stop()
    assert files_with(memory.service.state, "紫霞", "violet", *words) == []


def test_an_object_without_anything_goes(memory: Memory) -> None:
    """An object that somebody has only put is forgotten by its name."""
    memory.service.ask("memory.object.put", id="暗号甲乙丙丁", title="secret lighthouse project")
    memory.forget_wholly(object="暗号甲乙丙丁")
    memory.service.stop()
    assert files_with(memory.service.state, "暗号甲乙丙丁", "secret lighthouse") == []


def test_an_object_that_is_spoken_of_again_is_new(memory: Memory) -> None:
    """What is said of it after it was forgotten is kept."""
    memory.learn(
        event("a", "从前的话", objects=LOVER),
        proposals=[proposal("rule", "从前的话", {"a": "从前的话"})],
    )
    memory.forget_wholly(object="紫霞")
    memory.learn(
        event("b", "后来的话", objects=[{"id": "紫霞"}]),
        proposals=[proposal("rule", "后来的话", {"b": "后来的话"})],
    )
    assert left(memory) == ["后来的话"]
    assert memory.service.ask("memory.object.get", id="紫霞")["title"] == "紫霞"


def test_the_owners_own_goes_and_the_reserved_object_stays(memory: Memory) -> None:
    """`@owner` selects what is about nobody else; its row is not for anybody to take."""
    memory.learn(
        event("a", "我喜欢桂花乌龙"), proposals=[proposal("preference", "我喜欢桂花乌龙",
                                                    {"a": "我喜欢桂花乌龙"})]
    )  # fmt: skip
    memory.learn_one("b", "报销用蓝色模板")
    assert memory.preview(object=OWNER_OBJECT)["counts"]["objects"] == 0
    memory.forget_wholly(object=OWNER_OBJECT)
    assert left(memory) == ["报销用蓝色模板"]
    assert memory.service.ask("memory.object.get", id=OWNER_OBJECT)["kind"] == "domain"
    assert memory.service.ask("snapshot.get")["sections"] == []


# ---- times and tasks -------------------------------------------------------------


def test_what_was_before_a_time_goes(memory: Memory) -> None:
    """Older events and what rests on them alone; a statement that was made again since stays."""
    old, both = "报销用红色模板", "开会用大会议室"
    memory.learn_one("a", old, at=NOW - 2 * DAY)
    memory.learn_one("b", both, at=NOW - 2 * DAY)
    memory.learn_one("c", both, at=NOW)
    memory.forget_wholly(before=NOW - DAY)
    (record,) = memory.service.records()
    assert (record["content"], [r["event"] for r in record["source_refs"]]) == (both, ["c"])
    assert memory.service.ask("memory.evidence.get", event_ids=["a", "b", "c"])["missing"] == [
        "a",
        "b",
    ]
    memory.service.stop()
    assert files_with(memory.service.state, old) == []


def test_a_tasks_events_and_its_own_records_go(memory: Memory) -> None:
    """Packaged, audited and unfiltered ones alike; other tasks stay."""
    task: dict[str, Any] = {"task": {"id": "t-一", "version": 1}}
    text = "任务里都用蓝色模板"
    memory.learn(
        event("a", text, objects=EXPENSE, **task),
        proposals=[proposal("rule", text, {"a": text}, scope={"task": "t-一"})],
    )
    memory.learn_one("b", "报销用红色模板", task={"id": "t-2", "version": 1})
    memory.service.ingest(
        event(
            "c", "点击了隐藏的按钮", role="executor", data={"ok": True, "action": "click"}, **task
        )
    )
    memory.service.ask("ops.flush")
    assert memory.service.fate("c")[0] == "audit"
    memory.service.ingest(event("d", "任务里还没整理的话", **task))
    found = memory.preview(task_ids=["t-一"])
    assert [item["id"] for item in found["preview"]["events"]] == ["a", "c", "d"]
    memory.forget_wholly(task_ids=["t-一"])
    assert left(memory) == ["报销用红色模板"]
    memory.service.stop()
    assert files_with(memory.service.state, text, "隐藏的按钮", "还没整理的话") == []


def test_selections_add_up(memory: Memory) -> None:
    """What any of them selects goes, in one deed."""
    record = memory.learn_one("a", "报销用红色模板")
    memory.learn_one("b", "开会用大会议室", at=NOW - 2 * DAY)
    memory.learn_one("c", "午饭去二楼食堂")
    done = memory.forget(record_ids=[record], before=NOW - DAY, event_ids=["c"])
    assert done["counts"] | {"events": 2, "records": 3, "spans": 1} == done["counts"]
    assert left(memory) == []


# ---- very much of it ---------------------------------------------------------------


def test_very_much_goes_in_many_transactions(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each transaction takes a part; what is left when the asker's time is over goes behind it."""
    monkeypatch.setattr(selecting, "PART", 7)
    monkeypatch.setattr(handler, "PATIENCE_S", 0.0)
    text = "第{}件往事 memory {} of long ago"
    memory.service.ingest(
        *[event(f"e{n}", text.format(n, n), at=NOW - 2 * DAY + n) for n in range(60)]
    )
    memory.service.ask("ops.flush")
    for _ in range(3):
        package = memory.claim()
        first = package["events"][0]
        memory.commit(package, proposal("episode", first["text"], {first["id"]: first["text"]}))
    memory.service.work()
    assert len(memory.service.records()) == 3
    memory.learn_one("x", "报销用蓝色模板")
    begun = memory.forget(before=NOW - DAY)
    assert begun["counts"]["events"] == 7
    assert begun["remaining"][0].startswith("rows: ")
    done = memory.erased(begun)
    assert (done["state"], done["counts"]["events"], done["counts"]["records"]) == ("done", 60, 3)
    assert left(memory) == ["报销用蓝色模板"]
    rows = database.execute_sql("SELECT count(*) FROM forgetting_part").fetchone()
    assert rows == (0,)
    memory.service.stop()
    assert files_with(memory.service.state, "memory 3 of long ago", "件往事 memory") == []


def test_a_part_knows_what_later_parts_take(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that rests on two events which both go does not stay on the second for a moment."""
    monkeypatch.setattr(selecting, "PART", 1)
    monkeypatch.setattr(handler, "PATIENCE_S", 0.0)
    memory.learn_one("a", "报销用红色模板")
    memory.learn_one("b", "报销用红色模板", at=NOW + DAY)
    (record,) = memory.service.records()
    assert len(record["source_refs"]) == 2
    begun = memory.forget(event_ids=["a", "b"])
    assert left(memory) == []
    assert memory.erased(begun)["counts"]["events"] == 2
