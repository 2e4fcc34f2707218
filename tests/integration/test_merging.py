"""Merging through the socket: one source, opposites, conflicts, promotion, roll-ups."""

from typing import Any

import pytest

from storage.records.knowledge import Change
from storage.records.runs import PackageState
from storage.repositories import journal, ledger, proposals
from tests.conftest import StartService
from tests.integration.test_recall_method import answered
from tests.service_support import DAY, NOW, SECOND, Service, event

pytestmark = pytest.mark.integration

EXPENSE = [{"id": "expense"}]


@pytest.fixture
def worker(start_service: StartService) -> Service:
    """A service whose packages wait for an outside observer."""
    return start_service(observer__kind="external")


def observe(service: Service, sent: dict[str, Any], *proposed: dict[str, Any]) -> Any:
    """Ingest an event and commit proposals that quote it whole; the commit's answer."""
    service.ingest({"objects": EXPENSE} | sent)
    service.ask("ops.flush")
    (package,) = service.ask("memory.observation.claim", worker="w")["packages"]
    evidence = [{"event": sent["id"], "quote": sent["text"]}]
    answer = service.ask(
        "memory.observation.commit",
        package_id=package["id"],
        token=package["token"],
        proposals=[{"content": sent["text"], "evidence": evidence} | one for one in proposed],
    )
    service.work()
    return answer


def record(service: Service, record_id: str) -> Any:
    """A record as it stands."""
    return service.ask("memory.record.get", record_id=record_id)


def accepted(answer: Any) -> str:
    """The id of the one record that a commit has made."""
    assert answer["rejected"] == []
    (one,) = answer["accepted"]
    record_id: str = one["record_id"]
    return record_id


PREFERENCE = {"kind": "preference"}
SURROUNDINGS = {"kind": "fact", "class": "environment"}


# ---- opposites and conflicts ------------------------------------------------

POLES = [
    ("我喜欢香菜", "我不喜欢香菜", "香菜"),
    ("I like cilantro", "I don't like cilantro", "cilantro"),
    ("允许自动上传发票", "禁止自动上传发票", "上传"),
    ("Allow automatic uploads", "Forbid automatic uploads", "uploads"),
]


@pytest.mark.parametrize(("first", "second", "question"), POLES)
def test_a_conflict_is_shown_with_both_sides(
    worker: Service, first: str, second: str, question: str
) -> None:
    """Two opposite statements stay, each with its own evidence, and whoever reads one reads both."""
    one = accepted(observe(worker, event("e1", first), PREFERENCE))
    two = accepted(observe(worker, event("e2", second, at=NOW + SECOND), PREFERENCE))

    assert record(worker, one)["conflicts_with"] == [two]
    assert record(worker, two)["conflicts_with"] == [one]
    assert [ref["event"] for ref in record(worker, one)["source_refs"]] == ["e1"]
    answer = answered(worker, request_id="q", query=question)
    told = {hit["record"]["id"]: hit for hit in answer["hits"] if "record" in hit}
    assert {key: hit["conflicts"] for key, hit in told.items()} == {
        one: [{"record_id": two, "content": second, "status": "active", "authority": "user",
               "observed_at": NOW + SECOND}],
        two: [{"record_id": one, "content": first, "status": "active", "authority": "user",
               "observed_at": NOW}],
    }  # fmt: skip
    (section,) = worker.ask("snapshot.get", object="expense")["sections"]
    assert [rival["content"] for item in section["items"] for rival in item["conflicts"]] == [
        first,
        second,
    ]


@pytest.mark.parametrize(("first", "second", "question"), POLES[:2])
def test_the_users_next_word_ends_a_conflict(
    worker: Service, first: str, second: str, question: str
) -> None:
    """Said once more, one side replaces the other, and both are rid of the conflict."""
    del question
    one = accepted(observe(worker, event("e1", first), PREFERENCE))
    two = accepted(observe(worker, event("e2", second, at=NOW + SECOND), PREFERENCE))
    observe(worker, event("e3", second, at=NOW + 2 * SECOND), PREFERENCE)

    kept, gone = record(worker, two), record(worker, one)
    assert (kept["status"], gone["status"]) == ("active", "superseded")
    assert kept["supersedes"] == [one]
    assert "conflicts_with" not in kept | gone
    assert [ref["event"] for ref in kept["source_refs"]] == ["e2", "e3"]
    assert len(worker.records()) == 2


@pytest.mark.parametrize(
    ("rule", "fix"),
    [
        ("每月二十五日提交出差补贴申请", "更正：每月二十日提交出差补贴申请"),
        (
            "Travel allowances are filed on the 25th",
            "Correction: file travel allowances on the 20th",
        ),
    ],
    ids=["zh", "en"],
)
def test_a_correction_without_a_slot_replaces_and_links(
    worker: Service, rule: str, fix: str
) -> None:
    """The only record that it speaks of gets a version, superseded and linked (C5)."""
    old = accepted(observe(worker, event("e1", rule), {"kind": "rule"}))
    new = accepted(observe(worker, event("e2", fix, at=NOW + SECOND), {"kind": "correction"}))
    assert record(worker, new)["supersedes"] == [old]
    history = worker.ask("memory.record.history", record_id=old)["items"]
    assert [version["status"] for version in history] == ["active", "superseded"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("以后报销都用新模板", "以后报销不要用新模板"), ("Always use the new expense template",
                                     "Never use the new expense template")],
    ids=["zh", "en"],
)  # fmt: skip
def test_the_offline_observer_merges_no_opposites_either(
    service: Service, first: str, second: str
) -> None:
    """In one slot the later one replaces; the words of each stay with their own record."""
    service.ingest(event("e1", first, objects=EXPENSE))
    service.settle()
    service.ingest(event("e2", second, objects=EXPENSE, at=NOW + SECOND))
    service.settle()
    found = {kept["content"]: kept for kept in service.records(kind="rule")}
    assert [ref["event"] for ref in found[first]["source_refs"]] == ["e1"]
    assert [ref["event"] for ref in found[second]["source_refs"]] == ["e2"]
    assert found[first]["status"] == "superseded"


# ---- one source, and two ----------------------------------------------------


@pytest.mark.parametrize("text", ["打印机在三楼", "The printer is on the third floor"])
@pytest.mark.parametrize(
    ("second", "status"),
    [
        ({"role": "observation"}, "active"),
        ({"role": "observation", "request_id": "q1"}, "candidate"),
        ({"role": "observation", "causes": ["e0"]}, "candidate"),
    ],
    ids=["another look", "same request", "same cause"],
)
def test_surroundings_hold_after_two_independent_days(
    worker: Service, text: str, second: dict[str, Any], status: str
) -> None:
    """A second workday bears a fact out, unless it is the first one's request or cause again (F3)."""
    first = event("e1", text, role="observation", request_id="q1", causes=["e0"])
    seen = accepted(observe(worker, first, SURROUNDINGS))
    assert record(worker, seen)["status"] == "candidate"
    observe(worker, event("e2", text, at=NOW + DAY, **second), SURROUNDINGS)
    found = record(worker, seen)
    assert found["status"] == status
    assert [ref["event"] for ref in found["source_refs"]] == ["e1", "e2"]
    assert len(worker.records()) == 1


@pytest.mark.parametrize("text", ["打印机在三楼", "The printer is on the third floor"])
def test_a_chain_is_followed_through_the_store(worker: Service, text: str) -> None:
    """The cause of a cause was observed long ago, in another package: it is still one source."""
    worker.ingest(event("e0", "看看打印机在哪 find the printer", objects=EXPENSE))
    worker.ask("ops.flush")
    (package,) = worker.ask("memory.observation.claim", worker="w")["packages"]
    worker.ask("memory.observation.commit", package_id=package["id"], token=package["token"],
               proposals=[], nothing_worth_keeping="a question")  # fmt: skip
    worker.work()
    seen = accepted(
        observe(worker, event("e1", text, role="observation", causes=["e0"]), SURROUNDINGS)
    )
    observe(
        worker, event("e2", text, role="observation", at=NOW + DAY, causes=["e1"]), SURROUNDINGS
    )
    assert record(worker, seen)["status"] == "candidate"


@pytest.mark.parametrize("text", ["打印机在三楼", "The printer is on the third floor"])
def test_what_was_in_view_bears_nothing_out(worker: Service, text: str) -> None:
    """A user who repeats what was shown has said it, but is no second witness of a fact."""
    seen = accepted(observe(worker, event("e1", text, role="observation"), SURROUNDINGS))
    observe(worker, event("e2", text, at=NOW + DAY, recalled=[seen]), SURROUNDINGS)
    found = record(worker, seen)
    assert (found["status"], found["observed_at"]) == ("candidate", NOW + DAY)


def test_a_repeat_says_where_it_went(worker: Service) -> None:
    """What merge has answered names the record that an accepted proposal is part of."""
    one = accepted(observe(worker, event("e1", "以后先问我"), {"kind": "rule"}))
    two = accepted(observe(worker, event("e2", "以后先问我", at=NOW + SECOND), {"kind": "rule"}))
    newest = ledger.listing([PackageState.DONE], after=0, limit=9)[-1]
    merged = ledger.output(newest.id, newest.stage.MERGE)
    assert merged is not None
    assert merged[1] == {"records": [], "updated": [one], "merged": {two: one}}


# ---- review -----------------------------------------------------------------


@pytest.mark.parametrize("text", ["打印机在三楼", "The printer is on the third floor"])
def test_surroundings_past_their_review_are_told_as_to_be_checked(
    worker: Service, text: str
) -> None:
    """Two weeks later a hit and the snapshot say so; what was said is not changed (D5)."""
    observe(worker, event("e1", text, role="observation"), SURROUNDINGS)
    observe(worker, event("e2", text, role="observation", at=NOW + DAY), SURROUNDINGS)
    question = {"query": "打印机 printer", "objects": ["expense"]}

    def told(request_id: str) -> tuple[Any, Any]:
        (hit,) = answered(worker, request_id=request_id, **question)["hits"]
        (section,) = worker.ask("snapshot.get", object="expense")["sections"]
        return hit.get("recheck"), section["items"][0].get("recheck")

    assert worker.records()[0]["review_at"] == NOW + DAY + 14 * DAY
    worker.clock.advance(15 * DAY - 1)
    assert told("before") == (None, None)
    worker.clock.advance(1)
    assert told("after") == (True, True)


def test_review_times_are_settings(start_service: StartService) -> None:
    """An operator may have rules looked at sooner, or never."""
    service = start_service(review__rule_days="7", review__preference_days="0")
    service.ingest(event("e1", "以后报销都用新模板", objects=EXPENSE))
    service.settle()
    (rule,) = service.records(kind="rule")
    assert rule["review_at"] == NOW + 7 * DAY


# ---- compaction -------------------------------------------------------------

TASK = {"id": "t1", "version": 1}


def of_task(name: str, text: str, at: int, role: str, **more: Any) -> dict[str, Any]:
    """An event of the task."""
    return event(name, text, role=role, at=NOW + at * SECOND, objects=EXPENSE, task=TASK, **more)


CHINESE = ("提交三月的差旅报销单", "上传发票失败：文件太大", "已提交报销单", "报销任务完成")
ENGLISH = (
    "File the March travel claim",
    "Uploading the invoice failed: the file is too large",
    "The claim was submitted",
    "The claim task is done",
)


def run_task(service: Service, words: tuple[str, ...], after: int = 0) -> None:
    """A task that takes two packages."""
    goal, failed, done, ended = words
    n = after
    service.ingest(
        of_task(f"a{n}", goal, n, "user"),
        of_task(f"b{n}", failed, n + 1, "executor", data={"ok": False, "action": "upload"}),
    )
    service.settle()
    service.ingest(
        of_task(f"c{n}", done, n + 2, "executor", data={"ok": True, "action": "submit"}),
        of_task(f"d{n}", ended, n + 3, "runtime", data={"state": "done"}),
    )
    service.work()


def stories(service: Service) -> tuple[list[Any], list[Any]]:
    """Roll-ups, and the episodes that are none."""
    found = service.records(kind="episode")
    return [s for s in found if "links" in s], [s for s in found if "links" not in s]


@pytest.mark.parametrize("words", [CHINESE, ENGLISH], ids=["zh", "en"])
def test_the_end_of_a_task_adds_one_story_of_it(service: Service, words: tuple[str, ...]) -> None:
    """An episode with links to what it rolls up, in their words; no source is touched (C5)."""
    run_task(service, words)
    (story,), sources = stories(service)
    assert story["links"] == sorted(source["id"] for source in sources)
    assert len(sources) == 2
    assert all(text in story["content"] for text in words)
    assert len(story["content"]) <= 600
    assert {source["revision"] for source in sources} == {1}
    texts = {ref["event"]: ref["quote"] for ref in story["source_refs"]}
    assert texts == dict(zip(("a0", "b0", "c0", "d0"), words, strict=True))
    (package,) = [p for p in service.packages(state="done") if p["work"] == "compact"]
    assert [kept.id for kept in proposals.accepted(package["id"])] == [story["id"]]
    (entry,) = journal.of_package(package["id"])
    assert (entry.change, entry.package_id) == (Change.SETTLE, package["id"])


def test_the_story_is_found_and_shown_in_place_of_its_sources(service: Service) -> None:
    """Index and snapshot take it up like any other record."""
    run_task(service, CHINESE)
    (story,), _ = stories(service)
    answer = answered(service, request_id="q", query="三月的差旅报销单")
    assert story["id"] in [hit["record"]["id"] for hit in answer["hits"] if "record" in hit]
    sections = {
        section["name"]: section
        for section in service.ask("snapshot.get", object="expense")["sections"]
    }
    assert [item["record_id"] for item in sections["episodes"]["items"]] == [story["id"]]
    assert sections["episodes"]["left_out"] == 2


def test_compacting_again_adds_nothing(service: Service) -> None:
    """Without anything new a second compaction says that there is nothing to roll up."""
    run_task(service, CHINESE)
    before = service.records()
    core = service.services.core
    core.writer.call("operator", lambda: _compact(NOW))
    service.work()
    assert service.records() == before
    nothing = [p["nothing"] for p in service.packages(state="done") if p["work"] == "compact"]
    assert nothing == [None, "nothing_to_roll_up"]


def _compact(now: int) -> int | None:
    from storage.repositories import packages  # noqa: PLC0415 - only this test opens one itself

    return packages.open_compaction("local", "expense", now)


def test_the_next_task_has_a_story_of_its_own(service: Service) -> None:
    """Roll-ups are not rolled up, and each source is told by one of them."""
    run_task(service, CHINESE)
    run_task(
        service,
        ("提交四月的差旅报销单", "上传四月发票失败：超时", "已提交四月报销单", "四月报销完成"),
        10,
    )
    rolled, sources = stories(service)
    assert len(rolled) == 2
    linked = [name for story in rolled for name in story["links"]]
    assert sorted(linked) == sorted(source["id"] for source in sources)


def test_a_task_of_one_story_is_not_told_twice(service: Service) -> None:
    """One episode says what a roll-up would."""
    service.ingest(
        of_task("a", CHINESE[0], 0, "user"),
        of_task("d", CHINESE[3], 1, "runtime", data={"state": "done"}),
    )
    service.work()
    assert [package["work"] for package in service.packages()] == ["events"]
    assert stories(service)[0] == []


@pytest.mark.parametrize(
    "text", ["第{}号仓库的管理员是{}号员工", "Warehouse {} is run by clerk {}"]
)
def test_more_than_200_records_are_rolled_up(worker: Service, text: str) -> None:
    """An object of which too much is known gets a story that links the 200 oldest."""
    for package in range(17):
        names = [f"{package * 12 + n}" for n in range(12)]
        said = "\n".join(text.format(name, name) for name in names)
        sent = event(f"e{package}", said, at=NOW + package * SECOND)
        observe(
            worker,
            sent,
            *[
                {"kind": "fact", "class": "project", "content": text.format(name, name)}
                for name in names
            ],
        )
    (story,), _ = stories(worker)
    assert len(story["links"]) == 200
    facts = worker.ask("memory.record.list", kind="fact", limit=200)["items"]
    assert {fact["status"] for fact in facts} == {"active"}
    assert {fact["revision"] for fact in facts} == {1}
    assert [p["work"] for p in worker.packages(state="done")].count("compact") == 1
