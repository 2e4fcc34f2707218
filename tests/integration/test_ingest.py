"""`memory.events.ingest` through the socket: all or nothing, once, and nothing secret kept."""

import unicodedata
from typing import Any

import pytest

from socket_gateway.protocol import LAST_TIME
from tests.conftest import StartService
from tests.service_support import NOW, Service, event

pytestmark = pytest.mark.integration

INGEST = "memory.events.ingest"


def a_phone() -> str:
    """A mobile number of no one, made at test time."""
    return "139" + "0" * 4 + "1234"


def a_key() -> str:
    """What looks like a vendor's access key, made at test time."""
    return "AKIA" + "QYLPMN5HHHFPZAM2"


# ---- receipts --------------------------------------------------------------


def test_every_event_gets_its_number_in_order(service: Service) -> None:
    """Receipts stand in the events' order, numbered upwards, beside the owner's position."""
    answer = service.ask(INGEST, events=[event("e1", "你好"), event("e2", "hello")])

    assert answer["accepted"] == [
        {"id": "e1", "seq": 1, "duplicate": False},
        {"id": "e2", "seq": 2, "duplicate": False},
    ]
    assert answer["position"] == {"received": 2, "organized": 0, "published": 0}


def test_what_was_sent_is_kept_word_for_word(service: Service) -> None:
    """Every field of an event that a reader can ask for comes back as it was sent."""
    text = "报销单 BX-2024-001 已提交。Submitted, 谢谢 😀"
    service.ingest(event("e1", text, at=NOW - 5, objects=[{"id": "expense"}]))

    (found,) = service.ask("memory.evidence.get", event_ids=["e1"])["events"]
    assert found == {
        "id": "e1",
        "seq": 1,
        "kind": "user.message",
        "role": "user",
        "at": NOW - 5,
        "text": text,
        "next_offset": None,
    }


def test_all_optional_fields_are_accepted(service: Service) -> None:
    """An event may carry everything that the protocol names at once."""
    full = event(
        "e1",
        "说明 note",
        stream="wechat",
        speaker="张三",
        ref="file:///report.pdf",
        objects=[{"id": "o1", "kind": "domain", "title": "报销"}, {"id": "o2"}],
        task={"id": "t1", "version": 3},
        request_id="q-1",
        causes=["e0"],
        priority="urgent",
        data={"state": "running", "nested": {"值": [1, 2.5, None, True]}},
        recalled=["r-1"],
        expires_at=NOW + 1,
    )
    assert service.ingest(full)[0]["duplicate"] is False


# ---- the same again --------------------------------------------------------


def test_the_same_event_again_is_a_duplicate(service: Service) -> None:
    """A known id with the same content keeps its number and stores nothing."""
    service.ingest(event("e1", "你好"))

    again = service.ask(INGEST, events=[event("e1", "你好")])
    assert again["accepted"] == [{"id": "e1", "seq": 1, "duplicate": True}]
    assert again["position"]["received"] == 1


def test_content_is_compared_after_defaults_and_key_order(service: Service) -> None:
    """Spelling a default out, or its data's keys in another order, does not make another event."""
    service.ingest(event("e1", "hi", data={"a": 1, "b": {"c": 2, "d": 3}}))

    again = event("e1", "hi", priority="normal", objects=[], data={"b": {"d": 3, "c": 2}, "a": 1})
    assert service.ingest(again)[0]["duplicate"] is True


def test_the_same_event_twice_in_one_call(service: Service) -> None:
    """The second of two equal events in a call is a duplicate of the first."""
    answer = service.ingest(event("e1", "hi"), event("e1", "hi"), event("e2", "hi"))
    assert [(item["seq"], item["duplicate"]) for item in answer] == [
        (1, False),
        (1, True),
        (2, False),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"text": "再见"},
        {"at": NOW + 1},
        {"kind": "user.correction"},
        {"data": {"x": 1}},
        {"stream": "other"},
        {"speaker": "李四"},
        {"ref": "other"},
        {"objects": [{"id": "o1"}]},
        {"task": {"id": "t", "version": 1}},
        {"request_id": "q"},
        {"causes": ["c"]},
        {"priority": "low"},
        {"recalled": ["r"]},
        {"expires_at": NOW},
        {"role": "supervisor", "kind": "user.message"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_known_id_with_other_content_is_a_conflict(
    service: Service, change: dict[str, Any]
) -> None:
    """Whatever field differs, the call fails, names the id, and overwrites nothing."""
    service.ingest(event("e1", "你好"))

    error = service.refused(
        INGEST, events=[event("new", "x"), event("e1", **{"text": "你好"} | change)]
    )
    assert error["code"] == "conflict"
    assert error["details"] == {"ids": ["e1"]}
    assert service.positions()["received"] == 1
    kept = service.ask("memory.evidence.get", event_ids=["e1", "new"])
    assert [found["text"] for found in kept["events"]] == ["你好"]
    assert kept["missing"] == ["new"]


def test_a_conflict_names_every_id(service: Service) -> None:
    """All conflicting ids of a call are named, each once."""
    service.ingest(event("b", "1"), event("a", "1"), event("c", "1"))
    error = service.refused(
        INGEST, events=[event("b", "2"), event("a", "2"), event("b", "3"), event("c", "1")]
    )
    assert error["details"] == {"ids": ["a", "b"]}


def test_one_id_twice_in_a_call_with_other_content(service: Service) -> None:
    """Two different events under one new id are a conflict, and neither is kept."""
    error = service.refused(INGEST, events=[event("e1", "一"), event("e1", "二")])
    assert (error["code"], error["details"]) == ("conflict", {"ids": ["e1"]})
    assert service.positions()["received"] == 0


def test_a_changed_redactor_makes_no_conflict(start_service: StartService) -> None:
    """An event that differs from the stored one only by newer redaction rules is a duplicate."""
    service = start_service()
    service.ingest(event("e1", f"我的手机号是 {a_phone()}"))
    service.restart({"DESKPAW_MEMORY_REDACTION__PHONES": "redact"})

    (again,) = service.ingest(event("e1", f"我的手机号是 {a_phone()}"))
    assert (again["duplicate"], again["redactor_changed"]) == (True, True)
    assert service.refused(INGEST, events=[event("e1", "别的")])["code"] == "conflict"


def test_numbers_are_never_used_twice(service: Service) -> None:
    """A restart goes on with the next number, and refused calls burn none."""
    service.ingest(event("e1", "a"))
    service.refused(INGEST, events=[event("e2", "b"), event("e1", "c")])
    service.restart()
    assert service.ingest(event("e3", "d"))[0]["seq"] == 2


# ---- owners ----------------------------------------------------------------


def test_owners_are_apart(service: Service) -> None:
    """The same id belongs to each owner anew; numbers are global, positions are one's own."""
    service.ingest(event("e1", "mine"), owner="a")
    (other,) = service.ingest(event("e1", "别人的"), owner="b")

    assert (other["seq"], other["duplicate"]) == (2, False)
    assert service.positions("a")["received"] == 1
    assert service.positions("b")["received"] == 2
    assert service.positions("nobody")["received"] == 0
    (found,) = service.ask("memory.evidence.get", owner="b", event_ids=["e1"])["events"]
    assert found["text"] == "别人的"


def test_ids_are_compared_after_nfc(service: Service) -> None:
    """A decomposed spelling of an id, or of an owner, is the same id."""
    composed = unicodedata.normalize("NFC", "café-é")
    apart = unicodedata.normalize("NFD", composed)
    service.ingest(event(composed, "x"), owner=composed)

    assert service.ingest(event(apart, "x"), owner=apart)[0] == {
        "id": composed,
        "seq": 1,
        "duplicate": True,
    }


# ---- limits ----------------------------------------------------------------


@pytest.mark.parametrize(
    "char", ["a", "字", "😀", "\U00020000"], ids=["ascii", "han", "emoji", "extb"]
)
def test_text_is_measured_in_code_points(service: Service, char: str) -> None:
    """32,000 characters are accepted in every script, one more is refused."""
    service.ingest(event("e1", char * 32_000))
    (kept,) = service.ask("memory.evidence.get", event_ids=["e1"])["events"]
    assert kept["text"] == char * 32_000

    error = service.refused(INGEST, events=[event("e2", char * 32_001)])
    assert error["code"] == "bad_request"
    assert "events[0].text" in error["message"]


def _data_of(size: int) -> dict[str, str]:
    """Data that takes so many bytes as JSON, in Chinese as far as it goes."""
    room = size - len('{"k":""}')
    return {"k": "字" * (room // 3) + "a" * (room % 3)}


def test_data_is_measured_in_bytes(service: Service) -> None:
    """64 KiB of JSON are accepted, one byte more is refused, naming which event."""
    service.ingest(event("e1", data=_data_of(65_536)))
    error = service.refused(INGEST, events=[event("e2", "x"), event("e3", data=_data_of(65_537))])
    assert error["code"] == "bad_request"
    assert "events[1].data" in error["message"]
    assert service.positions()["received"] == 1


@pytest.mark.parametrize(
    ("field", "most", "items"),
    [
        ("objects", 16, lambda n: [{"id": f"o{i}"} for i in range(n)]),
        ("causes", 32, lambda n: [f"c{i}" for i in range(n)]),
        ("recalled", 200, lambda n: [f"r{i}" for i in range(n)]),
    ],
)
def test_lists_of_an_event_are_bounded(service: Service, field: str, most: int, items: Any) -> None:
    """An event may name so many and no more."""
    service.ingest(event("e1", "x", **{field: items(most)}))
    error = service.refused(INGEST, events=[event("e2", "x", **{field: items(most + 1)})])
    assert error["code"] == "bad_request"
    assert f"events[0].{field}" in error["message"]


def test_a_call_takes_200_events(service: Service) -> None:
    """200 events go in together; 201 and none are refused."""
    assert len(service.ingest(*[event(f"e{i}", "x") for i in range(200)])) == 200
    for wrong in ([event(f"f{i}", "x") for i in range(201)], []):
        error = service.refused(INGEST, events=wrong)
        assert (error["code"], "events" in error["message"]) == ("bad_request", True)
    assert service.positions()["received"] == 200


@pytest.mark.parametrize("size", [0, 201])
def test_an_id_has_1_to_200_characters(service: Service, size: int) -> None:
    """An empty id and one of 201 characters are refused; 200 are fine in any script."""
    service.ingest(event("标" * 200, "x"))
    error = service.refused(INGEST, events=[event("标" * size, "x")])
    assert error["code"] == "bad_request"
    assert "events[0].id" in error["message"]


# ---- refusals --------------------------------------------------------------

_BAD = {
    "no version": ({"v": None}, "events[1].v"),
    "another version": ({"v": 2}, "events[1].v"),
    "a number as id": ({"id": 7}, "events[1].id"),
    "a control character": ({"id": "a\u0007b"}, "events[1].id"),
    "a control in the kind": ({"kind": "a\nb"}, "events[1].kind"),
    "no kind": ({"kind": ""}, "events[1].kind"),
    "time as text": ({"at": "2026"}, "events[1].at"),
    "time as fraction": ({"at": 1.5}, "events[1].at"),
    "time before 1970": ({"at": -1}, "events[1].at"),
    "an unknown role": ({"source": {"role": "boss"}}, "events[1].source.role"),
    "no role": ({"source": {}}, "events[1].source.role"),
    "unknown in source": ({"source": {"role": "user", "sream": "x"}}, "events[1].source.sream"),
    "unknown in an object": (
        {"objects": [{"id": "o", "titel": "x"}]},
        "events[1].objects[0].titel",
    ),
    "an unknown object kind": (
        {"objects": [{"id": "o", "kind": "x"}]},
        "events[1].objects[0].kind",
    ),
    "a task without version": ({"task": {"id": "t"}}, "events[1].task.version"),
    "a negative version": ({"task": {"id": "t", "version": -1}}, "events[1].task.version"),
    "an unknown priority": ({"priority": "soon"}, "events[1].priority"),
    "data that is a list": ({"data": [1]}, "events[1].data"),
    "text that is no text": ({"text": 5}, "events[1].text"),
    "a misspelt field": ({"txet": "hello"}, "events[1].txet"),
    "a truth as a number": ({"expires_at": True}, "events[1].expires_at"),
}


@pytest.mark.parametrize(("change", "named"), _BAD.values(), ids=_BAD)
def test_a_bad_event_fails_the_whole_call_by_name(
    service: Service, change: dict[str, Any], named: str
) -> None:
    """One bad event fails its call, naming its index and field, and nothing is stored."""
    bad = event("e2", "second") | change
    error = service.refused(INGEST, events=[event("e1", "first"), bad, event("e3", "third")])
    assert error["code"] == "bad_request"
    assert named in error["message"]
    assert service.positions()["received"] == 0


def test_unknown_params_are_named(service: Service) -> None:
    """A typo beside `events` is an error too."""
    error = service.refused(INGEST, events=[event("e1", "x")], ownr="a")
    assert (error["code"], "ownr" in error["message"]) == ("bad_request", True)


def test_many_faults_are_told_in_few_words(service: Service) -> None:
    """The message of a call with 200 bad events stays short and counts the rest."""
    error = service.refused(INGEST, events=[event(f"e{i}", "x", wrong=1) for i in range(200)])
    assert len(error["message"]) < 600
    assert "195 more" in error["message"]


# ---- redaction -------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "rest"),
    [("我的密码是 {}，记住", "我的密码是"), ("my password is {} ok", "my password is")],
)
def test_what_was_removed_is_told_by_kind_and_count(service: Service, said: str, rest: str) -> None:
    """A secret in text goes before anything is kept, and the receipt counts it."""
    secret = "Tr0ub4" + "dor&3x"
    (receipt,) = service.ingest(event("e1", said.format(secret)))

    assert sum(receipt["redactions"].values()) == 1
    (kept,) = service.ask("memory.evidence.get", event_ids=["e1"])["events"]
    assert secret not in kept["text"]
    assert rest in kept["text"]
    service.settle()
    assert service.holds_bytes(secret) == []


def test_secrets_beside_the_text_go_too(service: Service) -> None:
    """Data, stream, speaker, reference and object titles are cleaned and counted together."""
    key = a_key()
    (receipt,) = service.ingest(
        event(
            "e1",
            "见附件",
            data={"env": {"note": f"key {key}"}},
            stream=f"room {key}",
            speaker=f"bot {key}",
            ref=f"https://example.org/?k={key}",
            objects=[{"id": "o1", "title": f"用 {key} 登录"}],
        )
    )
    assert sum(receipt["redactions"].values()) >= 5
    service.settle()
    assert service.holds_bytes(key) == []


def test_hidden_reasoning_of_a_model_is_removed(service: Service) -> None:
    """What a model thought to itself is not kept; what it said is."""
    text = "<think>用户可能想要旧模板</think>好的，我会用新模板。"
    (receipt,) = service.ingest(event("e1", text, role="supervisor"))
    assert receipt["redactions"] == {"reasoning": 1}
    (kept,) = service.ask("memory.evidence.get", event_ids=["e1"])["events"]
    assert "旧模板" not in kept["text"]
    assert "好的，我会用新模板。" in kept["text"]


def test_a_duplicate_tells_its_redactions_again(service: Service) -> None:
    """A repeated call learns what was removed the first time."""
    first = service.ingest(event("e1", f"key {a_key()}"))
    again = service.ingest(event("e1", f"key {a_key()}"))
    assert again[0]["redactions"] == first[0]["redactions"]


_WITH_SECRET_ID = {
    "id": lambda key: {"id": key},
    "kind": lambda key: {"kind": key},
    "task.id": lambda key: {"task": {"id": key, "version": 1}},
    "request_id": lambda key: {"request_id": key},
    "objects[1].id": lambda key: {"objects": [{"id": "fine"}, {"id": key}]},
    "causes[1]": lambda key: {"causes": ["fine", key]},
    "recalled[0]": lambda key: {"recalled": [key]},
}


@pytest.mark.parametrize(("field", "change"), _WITH_SECRET_ID.items(), ids=_WITH_SECRET_ID)
def test_an_id_that_holds_a_secret_is_refused(service: Service, field: str, change: Any) -> None:
    """An id can't be cleaned without becoming another, so the call fails and names the field."""
    key = a_key()
    bad = event("e2", "x") | change(key)
    error = service.refused(INGEST, events=[event("e1", "x"), bad])
    assert error["code"] == "bad_request"
    assert f"events[1].{field}" in error["message"]
    assert key not in str(error)
    assert service.positions()["received"] == 0
    assert service.holds_bytes(key) == []


def test_an_owner_that_holds_a_secret_is_refused(service: Service) -> None:
    """The owner is an id like the others."""
    key = a_key()
    error = service.refused(INGEST, events=[event("e1", "x")], owner=key)
    assert (error["code"], "owner" in error["message"]) == ("bad_request", True)
    assert key not in str(error)
    assert service.holds_bytes(key) == []


@pytest.mark.parametrize("at", [0, LAST_TIME])
def test_times_at_both_ends_are_worked_off(service: Service, at: int) -> None:
    """The first and the last moment that the wire takes become memory like any other."""
    said = event("e1", "以后周报都用英文写；remind me by next Friday", at=at)
    service.ingest(said)
    service.settle()
    assert service.positions()["dead"] == 0
    assert [package["error"] for package in service.packages()] == [None]
    assert service.records()[0]["observed_at"] == at


@pytest.mark.parametrize("at", [-1, LAST_TIME + 1, 2**62])
def test_times_outside_are_refused(service: Service, at: int) -> None:
    """A time that no calendar of ours has is a mistake that is told at once."""
    error = service.refused(INGEST, events=[event("e1", "x", at=at)])
    assert (error["code"], "events[0].at" in error["message"]) == ("bad_request", True)
