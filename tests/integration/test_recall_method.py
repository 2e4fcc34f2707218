"""`memory.continuity.recall` through the socket: its answers, its states, its one result for ever."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from storage.database import database
from storage.repositories import recalls
from storage.repositories.recalls import StoredRecall
from tests.service_support import DAY, MINUTE, NOW, Service, event
from tests.socket_support import PATIENCE_S

pytestmark = pytest.mark.integration

RECALL = "memory.continuity.recall"
RULE = "以后报销都用新模板"
BRIEF = "明天之前报销都用新模板"


@contextmanager
def recalls_held(service: Service) -> Iterator[None]:
    """Keep both of the gateway's recall threads busy."""
    gate = threading.Event()
    for _ in range(2):
        service.services.recalls.submit(gate.wait, PATIENCE_S)
    try:
        yield
    finally:
        gate.set()


def answered(service: Service, **params: Any) -> Any:
    """Ask the same request until it has its result."""
    for _ in range(1_000):
        answer = service.ask(RECALL, **params)
        if answer["state"] != "pending":
            return answer
    raise AssertionError("the recall never ended")


def stop_following(service: Service) -> None:
    """Let the lexical index stay where it is from now on."""
    assembled = service.gateway._assembled
    assert assembled is not None
    assembled.stop.set()
    assembled.following.join()


def remember(service: Service, event_id: str, text: str, **more: Any) -> None:
    """Ingest one event and work it off."""
    service.ingest(event(event_id, text, **more))
    service.settle()


# ---- what is found ---------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("以后报销都用新模板", "报销用什么模板"),
        ("以後報銷都用新模板", "报销模板"),
        ("From now on always use the new template for expense claims.", "expense claims template"),
    ],
    ids=["simplified", "traditional", "English"],
)
def test_a_record_is_found_with_its_evidence(service: Service, said: str, asked: str) -> None:
    """A question in either language finds the record, with the words that it rests on."""
    remember(service, "e1", said, objects=[{"id": "work"}])
    answer = answered(service, request_id="q1", query=asked)

    assert (answer["request_id"], answer["state"]) == ("q1", "complete")
    hit = answer["hits"][0]
    assert hit["record"]["subject_id"] == "work"
    assert "keyword" in hit["reasons"]
    (evidence,) = hit["evidence"]
    assert (evidence["event"], evidence["role"], evidence["at"]) == ("e1", "user", NOW)
    assert evidence["quote"] in said
    assert answer["memory_version"] >= 1


def test_an_event_that_no_record_holds_is_found_as_itself(service: Service) -> None:
    """An event is found once it is filtered, long before anybody has observed it."""
    service.ingest(event("e1", "张伟昨天把打印机搬到了三楼"))
    service.runner.filter_events()
    hit = answered(service, request_id="q1", query="打印机在几楼")["hits"][0]
    assert hit["event"]["id"] == "e1"
    assert hit["event"]["text"] == "张伟昨天把打印机搬到了三楼"
    assert "record" not in hit


def test_the_tail_is_searched_before_the_follower_comes(service: Service) -> None:
    """What the index has not taken over yet is found all the same, and the lag is told."""
    stop_following(service)
    remember(service, "e1", "库房的门禁编号是 BX-2024-001")
    answer = answered(service, request_id="q1", query="BX-2024-001")
    assert answer["index_lag"] > 0
    assert answer["state"] == "complete"
    assert "id" in answer["hits"][0]["reasons"]


def test_the_index_answers_once_it_has_followed(service: Service) -> None:
    """With the tail taken over the same question finds the same event."""
    remember(service, "e1", "库房的门禁编号是 BX-2024-001")
    for _ in range(100_000):
        if service.ask("health")["index_lag"] == 0:
            break
    answer = answered(service, request_id="q1", query="BX-2024-001")
    assert (answer["state"], answer["index_lag"]) == ("complete", 0)


def test_owners_do_not_see_each_other(service: Service) -> None:
    """One owner's memory is no other's, in hits as in binding rules."""
    service.ingest(event("e1", RULE), owner="a")
    service.settle()
    assert answered(service, owner="a", request_id="q", query="报销模板")["state"] == "complete"
    other = answered(service, owner="b", request_id="q", query="报销模板")
    assert (other["state"], other["hits"], other["binding"]) == ("not_found", [], [])


def test_objects_are_a_reason_of_their_own(service: Service) -> None:
    """Naming an object finds what is about it, whatever the words of the question."""
    remember(service, "e1", RULE, objects=[{"id": "expense"}])
    answer = answered(service, request_id="q1", query="它现在怎么样", objects=["expense"])
    found = [*answer["binding"], *answer["hits"]]
    assert any("object" in hit["reasons"] for hit in found)


# ---- budget ----------------------------------------------------------------


def test_a_budget_of_items_is_kept(service: Service) -> None:
    """No more hits than asked for, and `truncated` says that there were more."""
    service.ingest(*[event(f"e{n}", f"打印机第{n}次卡纸", stream=f"s{n}") for n in range(6)])
    service.settle()
    answer = answered(service, request_id="q1", query="打印机卡纸", budget={"items": 2})
    assert len(answer["hits"]) == 2
    assert answer["truncated"] is True
    more = answered(service, request_id="q2", query="打印机卡纸", budget={"items": 20})
    assert len(more["hits"]) == 6
    assert more["truncated"] is False


def test_a_budget_of_tokens_is_kept(service: Service) -> None:
    """Fewer tokens bring fewer or shorter hits, never none where there is one."""
    service.ingest(*[event(f"e{n}", "打印机卡纸" + "很久" * 200, stream=f"s{n}") for n in range(5)])
    service.settle()
    wide = answered(service, request_id="q1", query="打印机", budget={"tokens": 32_000})
    slim = answered(service, request_id="q2", query="打印机", budget={"tokens": 100})
    assert len(str(slim["hits"])) < len(str(wide["hits"]))
    assert slim["truncated"] is True


# ---- four different answers ------------------------------------------------


def test_nothing_found_says_what_was_searched(service: Service) -> None:
    """A miss is `not_found`, with what was looked through, and never reads as non-existence."""
    remember(service, "e1", "今天天气很好")
    answer = answered(service, request_id="q1", query="量子纠缠 zyzzyva")
    assert (answer["state"], answer["hits"]) == ("not_found", [])
    assert answer["gaps"]


def test_binding_alone_does_not_make_it_complete(service: Service) -> None:
    """Rules that bind are told with every answer, but a question is not answered by them."""
    remember(service, "e1", "以后回复都用中文")
    answer = answered(service, request_id="q1", query="zyzzyva")
    assert answer["state"] == "not_found"
    (bound,) = answer["binding"]
    assert bound["reasons"] == ["binding"]
    assert bound["record"]["content"] == "以后回复都用中文"


def test_a_request_past_its_time_is_expired(service: Service) -> None:
    """A question that is too late gets no hits, and is told why."""
    remember(service, "e1", RULE)
    answer = answered(service, request_id="q1", query="报销模板", expires_at=NOW)
    assert (answer["state"], answer["expired"], answer["hits"]) == ("expired", "request", [])


def test_a_kept_result_expires_with_its_request(service: Service) -> None:
    """A result asked for again after the request's time is no longer given out."""
    remember(service, "e1", RULE)
    asked = {"request_id": "q1", "query": "报销模板", "expires_at": NOW + MINUTE}
    assert answered(service, **asked)["state"] == "complete"
    service.ingest(event("e2", "x"))
    service.clock.advance(MINUTE)
    answer = answered(service, **asked)
    assert (answer["state"], answer["expired"]) == ("expired", "request")
    assert (answer["hits"], answer["binding"]) == ([], [])


def test_an_older_intent_is_expired(service: Service) -> None:
    """Once a newer intent version is known, a question of an older one is expired."""
    remember(service, "e1", RULE)
    assert answered(service, request_id="q1", query="报销", intent_version=5)["state"] == "complete"
    service.ingest(event("e2", "x"))
    late = answered(service, request_id="q2", query="报销", intent_version=4)
    assert (late["state"], late["expired"]) == ("expired", "intent")
    same = answered(service, request_id="q3", query="报销", intent_version=5)
    assert same["state"] == "complete"


def test_an_intent_is_known_before_the_first_event(service: Service) -> None:
    """An owner without any event has intent versions too, and is not listed for that."""
    answered(service, owner="new", request_id="q1", query="报销", intent_version=5)
    service.ingest(event("e1", "x"))
    late = answered(service, owner="new", request_id="q2", query="报销", intent_version=4)
    assert (late["state"], late["expired"]) == ("expired", "intent")
    assert service.ask("ops.status")["owners"] == ["local"]


def _lapsing(service: Service) -> str:
    """A record that holds for a day only, with nothing else in memory; its id."""
    service.ingest(event("e1", BRIEF, objects=[{"id": "expense"}]))
    service.ask("ops.flush")
    (package,) = service.ask("memory.observation.claim", worker="w")["packages"]
    answer = service.ask(
        "memory.observation.commit",
        package_id=package["id"],
        token=package["token"],
        proposals=[
            {
                "kind": "rule",
                "content": BRIEF,
                "evidence": [{"event": "e1", "quote": BRIEF}],
                "valid_to": NOW + DAY,
            }
        ],
    )
    service.work()
    record_id: str = answer["accepted"][0]["record_id"]
    return record_id


def test_what_has_lapsed_is_expired_and_named(service: Service) -> None:
    """When everything that matched holds no longer, the gaps name the records and until when."""
    record_id = _lapsing(service)
    assert answered(service, request_id="q1", query="报销模板")["state"] == "complete"
    service.clock.advance(2 * DAY)

    answer = answered(service, request_id="q2", query="报销模板")
    assert (answer["state"], answer["expired"]) == ("expired", "records")
    assert any(record_id in gap and str(NOW + DAY) in gap for gap in answer["gaps"])
    assert answer["binding"] == []


def test_the_past_is_shown_when_asked_for(service: Service) -> None:
    """`include_past` brings lapsed records back, with their validity on them."""
    record_id = _lapsing(service)
    service.clock.advance(2 * DAY)
    answer = answered(service, request_id="q1", query="报销模板", include_past=True)
    assert answer["state"] == "complete"
    past = [hit["record"] for hit in answer["hits"] if "record" in hit]
    assert [(record["id"], record["valid_to"]) for record in past] == [(record_id, NOW + DAY)]


def test_a_store_that_can_not_be_read_is_unavailable(service: Service) -> None:
    """When the database can't be opened the answer says so; later the same question is answered."""
    remember(service, "e1", RULE)
    data = service.state / "data"
    away = service.state / "away"
    data.rename(away)
    # The threads that read for recalls open their connections at their first use.
    answer = service.ask(RECALL, request_id="q1", query="报销模板")
    away.rename(data)
    assert answer["state"] == "unavailable"
    assert answer["gaps"]
    assert answered(service, request_id="q1", query="报销模板")["state"] == "complete"


# ---- pending ---------------------------------------------------------------


def test_a_slow_recall_is_pending_and_goes_on_behind(service: Service) -> None:
    """Past its wait a caller gets `pending`; the same request id brings the result later."""
    remember(service, "e1", RULE)
    asked = {"request_id": "q1", "query": "报销模板"}
    with recalls_held(service):
        for wait_ms in (0, 20, 75):
            answer = service.ask(RECALL, **asked, wait_ms=wait_ms)
            assert (answer["state"], answer["hits"]) == ("pending", [])
    assert answered(service, **asked)["state"] == "complete"


def test_a_pending_request_is_still_one_request(service: Service) -> None:
    """While it is pending, the same id with other params is a conflict."""
    with recalls_held(service):
        service.ask(RECALL, request_id="q1", query="报销模板", wait_ms=0)
        error = service.refused(RECALL, request_id="q1", query="别的", wait_ms=0)
    assert (error["code"], error["details"]) == ("conflict", {"field": "request_id"})


def test_a_pending_request_survives_a_restart(service: Service) -> None:
    """A gateway takes up what one before it had left pending, without being asked again."""
    remember(service, "e1", RULE)
    asked = {"request_id": "q1", "query": "报销模板"}
    with recalls_held(service):
        assert service.ask(RECALL, **asked, wait_ms=0)["state"] == "pending"
    answered(service, **asked)
    # A gateway that is killed leaves the row as it was before the result.
    service.services.core.writer.call(
        "recall",
        lambda: database.execute_sql("UPDATE recall_request SET state = 'pending', result = NULL"),
    )
    service.restart()
    for _ in range(100_000):
        if not recalls.pending():
            break
        service.ask("health")
    stored = recalls.find("local", "q1")
    assert stored is not None
    assert stored.state == "complete"
    assert answered(service, **asked)["state"] == "complete"


# ---- one result for ever ---------------------------------------------------


def test_the_same_request_gets_the_same_result(service: Service) -> None:
    """A request id means one result, whatever has been learned since, also after a restart."""
    remember(service, "e1", RULE)
    asked = {"request_id": "q1", "query": "报销模板"}
    first = answered(service, **asked)
    remember(service, "e2", "报销模板放在共享盘")
    assert answered(service, **asked) == first
    service.restart()
    assert answered(service, **asked) == first
    assert answered(service, **asked, wait_ms=1) == first


@pytest.mark.parametrize(
    "change",
    [
        {"query": "别的"},
        {"objects": ["o1"]},
        {"task": "t1"},
        {"purpose": "dispatch"},
        {"budget": {"items": 3}},
        {"intent_version": 1},
        {"expires_at": NOW + 1},
        {"include_past": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_params_under_a_known_id_are_a_conflict(
    service: Service, change: dict[str, Any]
) -> None:
    """Whatever differs but the waiting, at once or much later, is another request."""
    asked = {"request_id": "q1", "query": "报销模板"}
    answered(service, **asked)
    for _ in range(2):
        error = service.refused(RECALL, **asked | change)
        assert (error["code"], error["details"]) == ("conflict", {"field": "request_id"})
        service.ingest(event("e1", "x"))
    assert answered(service, **asked)["state"] == "not_found"


def test_each_owner_has_request_ids_of_its_own(service: Service) -> None:
    """The same id of another owner is another request."""
    answered(service, request_id="q1", query="一")
    assert answered(service, owner="b", request_id="q1", query="二")["state"] == "not_found"


# ---- params ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"request_id": ""}, "request_id"),
        ({"query": "长" * 32_001}, "query"),
        ({"query": None}, "query"),
        ({"wait_ms": 76}, "wait_ms"),
        ({"wait_ms": -1}, "wait_ms"),
        ({"budget": {"items": 0}}, "budget.items"),
        ({"budget": {"items": 101}}, "budget.items"),
        ({"budget": {"tokens": 32_001}}, "budget.tokens"),
        ({"budget": {"hits": 1}}, "budget.hits"),
        ({"objects": [f"o{n}" for n in range(17)]}, "objects"),
        ({"purpose": "x" * 201}, "purpose"),
        ({"include_past": 1}, "include_past"),
        ({"qurey": "x"}, "qurey"),
    ],
)
def test_params_have_limits(service: Service, params: dict[str, Any], named: str) -> None:
    """What is out of bounds or unknown is refused by name, not clamped."""
    error = service.refused(RECALL, **{"request_id": "q", "query": "x"} | params)
    assert (error["code"], named in error["message"]) == ("bad_request", True)


@pytest.mark.parametrize(
    "query", ["", " ", "？？？", "AND OR NOT", '"(:*', "😀" * 32_000, "字" * 32_000],
    ids=["empty", "blank", "marks", "operators", "syntax", "emoji", "long"],
)  # fmt: skip
def test_any_text_is_a_question(service: Service, query: str) -> None:
    """No query, however odd, is an error."""
    assert answered(service, request_id="q1", query=query)["state"] == "not_found"


@pytest.mark.parametrize("field", ["request_id", "task", "owner", "objects"])
def test_an_id_that_holds_a_secret_is_refused(service: Service, field: str) -> None:
    """Ids are kept as they are, so one with a secret is refused, named, and not repeated."""
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    value: Any = [secret] if field == "objects" else secret
    error = service.refused(RECALL, **{"request_id": "q", "query": "x", field: value})
    assert (error["code"], field in error["message"]) == ("bad_request", True)
    assert secret not in str(error)
    assert service.holds_bytes(secret) == []


def test_a_secret_in_a_question_is_not_kept(service: Service) -> None:
    """A question may hold a secret; what is kept of it does not."""
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    asked = {"request_id": "q1", "query": f"which service is {secret} for", "purpose": secret}
    first = answered(service, **asked)
    service.ingest(event("e1", "x"))
    assert answered(service, **asked) == first
    service.stop()
    assert service.holds_bytes(secret) == []


def test_a_late_pending_note_takes_no_result_away(service: Service) -> None:
    """A result that is kept before the note that it is pending stays the result."""
    done = StoredRecall("local", "q1", {"query": "报销"}, b"same", "complete", {"hits": []})
    write = service.services.core.writer.call
    kept = [
        write("recall", partial(recalls.write, stored, NOW))
        for stored in (done, replace(done, state="pending", result=None))
    ]
    assert kept == [True, True]
    assert recalls.find("local", "q1") == done


def test_a_known_id_is_never_anothers_result(service: Service) -> None:
    """Of two requests under one id, the second to be kept changes nothing."""
    first = StoredRecall("local", "q1", {"query": "template"}, b"first", "complete", {"hits": []})
    write = service.services.core.writer.call
    write("recall", partial(recalls.write, first, NOW))
    assert not write("recall", partial(recalls.write, replace(first, params_hash=b"x"), NOW))
    assert recalls.find("local", "q1") == first
