"""Integration: words of what is forgotten that stand elsewhere: in what a worker said, in repeats, titles."""

from typing import Any

import pytest

from storage.repositories import content, trimming
from tests.conftest import StartService
from tests.crash.harness import wait_until
from tests.forgetting_support import EXPENSE, Memory, files_with, proposal
from tests.service_support import MINUTE, NOW, event

pytestmark = pytest.mark.integration

TEXTS = {
    "chinese": ("储物柜的密语是雨后枇杷", "报销以后都用新模板"),
    "english": ("the locker phrase is violet umbrella", "expenses always use the blue template"),
}
"""What is forgotten, and what stays."""


@pytest.fixture
def memory(start_service: StartService) -> Memory:
    """A memory that holds what a test proposes."""
    return Memory(start_service(observer__kind="external"))


@pytest.fixture(params=TEXTS)
def texts(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A secret and something else, in one language."""
    return TEXTS[request.param]


def tables_with(text: str) -> set[str]:
    """The tables that hold a text."""
    return {table for table, value in content.values() if text.encode() in value}


def handed_in(memory: Memory, *proposals: Any) -> Any:
    """Hand proposals in for the next package, whatever is said of them, and let them be settled."""
    package = memory.claim()
    answer = memory.service.ask(
        "memory.observation.commit",
        package_id=package["id"],
        token=package["token"],
        proposals=list(proposals),
    )
    memory.service.work()
    return answer


def rebuilt(memory: Memory) -> Any:
    """What a rebuilding that changes nothing finds."""
    begun = memory.service.ask("ops.rebuild", dry_run=True)
    return wait_until(
        lambda: (
            found
            if (
                found := memory.service.ask("ops.operation.get", operation_id=begun["operation_id"])
            )["state"]
            != "running"
            else None
        ),
        "an end of rebuilding",
    )


def test_rows_that_are_left_are_no_excuse_of_their_own(
    memory: Memory, texts: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proposal that should have gone blocks, and its table is named."""
    secret, _ = texts
    memory.learn_one("a", secret)
    with monkeypatch.context() as patched:
        patched.setattr(trimming, "take_proposals", lambda _gone: None)
        patched.setattr(trimming, "drop_package", lambda _package_id: None)
        status = memory.erased(memory.forget(event_ids=["a"]))
    assert status["state"] == "blocked"
    assert "(proposal)" in str(status["remaining"])
    assert secret not in str(status["remaining"])


def test_what_a_worker_said_goes_with_the_event_that_it_had_it_from(
    memory: Memory, texts: tuple[str, str]
) -> None:
    """Whatever it quoted, accepted or rejected; what stands in its own quote stays."""
    secret, other = texts
    memory.hear(event("a", secret, objects=EXPENSE), event("b", other, objects=EXPENSE))
    answer = handed_in(
        memory,
        proposal("rule", secret, {}),
        proposal("rule", other, {"b": other}),
        proposal("rule", f"{other}, {secret}", {"b": other}),
        proposal("rule", f"{secret} !", {"zzz": secret}),
    )
    assert len(answer["rejected"]) >= 2
    memory.forget_wholly(event_ids=["a"])
    assert tables_with(secret[-5:]) == set()
    assert [record["content"] for record in memory.service.records()] == [other]
    assert memory.service.fate("b")[0] == "packaged"
    memory.service.stop()
    assert files_with(memory.service.state, secret) == []


def test_a_forgotten_record_is_in_no_repeat_of_its_source(
    memory: Memory, texts: tuple[str, str]
) -> None:
    """An event counted into the one that it quotes loses the same words."""
    secret, _ = texts
    said: dict[str, Any] = {"role": "observation", "objects": EXPENSE}
    memory.hear(event("a", secret, **said), event("b", secret, at=NOW + 1000, **said))
    answer = handed_in(memory, proposal("fact", secret, {"a": secret}, **{"class": "environment"}))
    (record,) = answer["accepted"]
    memory.forget_wholly(record_ids=[record["record_id"]])
    (repeat,) = memory.service.ask("memory.evidence.get", event_ids=["b"])["events"]
    assert set(repeat["text"]) == {"•"}
    assert tables_with(secret) == set()


@pytest.mark.parametrize(
    ("rule", "yes"),
    [
        ("以后报销单一律用 BX-1 模板", "好的，确认报销单用 BX-1 模板这条规则，雨后枇杷见证"),
        (
            "Always use the BX-1 template for expenses",
            "Yes, I confirm: always use the BX-1 template for expenses, violet umbrella",
        ),
    ],
)
def test_old_versions_do_not_keep_a_forgotten_confirmation(
    memory: Memory, rule: str, yes: str
) -> None:
    """A confirmation that has left a record's evidence leaves its versions, too, and the journal."""
    service = memory.service
    record = memory.learn_one("first", rule)
    service.clock.advance(MINUTE)
    service.ingest(event("yes", yes, at=service.clock.now, stream="x"))
    found = service.ask("memory.record.get", record_id=record)
    service.ask(
        "memory.record.confirm",
        record_id=record,
        expected_revision=found["object_revision"],
        user_request={"event_id": "yes", "quote": yes},
    )
    service.ask("ops.flush")
    memory.commit(memory.claim())
    service.work()
    for turn in range(34):
        service.clock.advance(MINUTE)
        memory.learn_one(f"again{turn}", rule, at=service.clock.now)
    memory.forget_wholly(event_ids=["yes"])
    assert tables_with(yes[-6:]) == set()
    again = rebuilt(memory)
    assert (again["state"], again.get("error")) == ("done", None)


@pytest.mark.parametrize("title", ["雨后枇杷收购案", "violet umbrella takeover"])
def test_a_title_goes_with_the_event_that_gave_it(memory: Memory, title: str) -> None:
    """The object is called by the newest title that is left, or by its id."""
    memory.hear(
        event("a", "早上好 hello", objects=[{"id": "proj", "title": title}]),
        event("b", "再说一句 bye", objects=[{"id": "proj"}]),
    )
    memory.forget_wholly(event_ids=["a"])
    assert tables_with(title) == set()
    objects = memory.service.ask("memory.object.list", limit=200)["items"]
    assert [found["title"] for found in objects if found["id"] == "proj"] == ["proj"]


def test_a_forgotten_record_is_in_no_title_and_no_part_of_data(
    memory: Memory, texts: tuple[str, str]
) -> None:
    """Where its words stand in the rest of their event, they go there, too."""
    secret, _ = texts
    said = event(
        "a",
        secret,
        objects=[{"id": "wf", "title": f"re: {secret}"}],
        speaker=f"speaker {secret}",
        ref=f"file:///{secret}",
        data={"who": secret[:5], "whole": [secret], "apart": "lighthouse"},
    )
    (record,) = memory.learn(
        said, proposals=[proposal("fact", secret, {"a": secret}, **{"class": "project"})]
    )
    memory.forget_wholly(record_ids=[record])
    assert tables_with(secret[:5]) == set()
    assert "event" in tables_with("lighthouse")
    memory.service.stop()
    assert files_with(memory.service.state, secret[-6:]) == []
