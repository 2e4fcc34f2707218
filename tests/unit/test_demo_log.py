"""The bundled demo log keeps the Event form and tells the whole story its README promises."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.unit

Event = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "scripts" / "demo"
BEIJING = timezone(timedelta(hours=8))
FIELDS = {
    *("v", "id", "kind", "at", "source", "objects", "task", "request_id"),
    *("causes", "priority", "text", "data", "recalled"),
}
OBJECT_KINDS = {"domain", "project", "asset", "process", "schedule", "run"}
TASK_STATES = {"queued", "running", "blocked", "done", "failed", "cancelled"}
ROLE_OF_KIND = {
    "user.message": "user",
    "user.correction": "user",
    "supervisor.reply": "supervisor",
    "supervisor.decision": "supervisor",
    "supervisor.commitment": "supervisor",
    "pi.report": "executor",
    "executor.call": "executor",
    "executor.receipt": "executor",
    "executor.artifact": "executor",
    "executor.observation": "observation",
    "verification.result": "verification",
    "task.state": "runtime",
    "schedule.due": "schedule",
    "external.content": "external",
}
ANSWER_WORDS = [
    ("BX-T-2026", "一律"),
    ("second", "certificate", "certbot.timer"),
    ("我来提交", "expense claim", "3 月 20 日"),
]
HOSTILE = ("QuickClaim", "QC-FREE")


def read_events() -> list[Event]:
    """Give the log's events in file order."""
    lines = (FOLDER / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read_questions() -> list[dict[str, Any]]:
    """Give the three questions with what they expect."""
    loaded: list[dict[str, Any]] = json.loads(
        (FOLDER / "questions.json").read_text(encoding="utf-8")
    )
    return loaded


EVENTS = read_events()
BY_ID = {event["id"]: event for event in EVENTS}
QUESTIONS = read_questions()


def of_kind(kind: str) -> list[Event]:
    """Give the log's events of one kind."""
    return [event for event in EVENTS if event["kind"] == kind]


def text_of(event: Event) -> str:
    """Give an event's text, empty when it has none."""
    return str(event.get("text", ""))


def day_of(event: Event) -> date:
    """Give the Beijing calendar day of an event."""
    return datetime.fromtimestamp(event["at"] / 1000, BEIJING).date()


def object_ids(event: Event) -> list[str]:
    """Give the ids of an event's objects, the primary one first."""
    return [thing["id"] for thing in event.get("objects", [])]


def hostile(event: Event) -> bool:
    """Tell whether an event carries the injected instructions."""
    return any(word in text_of(event) for word in HOSTILE)


def has_han(text: str) -> bool:
    """Tell whether a text holds Chinese characters."""
    return re.search(r"[\u4e00-\u9fff]", text) is not None


def has_english(text: str) -> bool:
    """Tell whether a text holds two English words in a row."""
    return re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", text) is not None


def states_of_tasks() -> dict[str, list[str]]:
    """Give each task's states in order."""
    states: dict[str, list[str]] = {}
    for event in of_kind("task.state"):
        states.setdefault(event["task"]["id"], []).append(event["data"]["state"])
    return states


def every_object() -> Iterator[dict[str, str]]:
    """Give every mention of an object in the log."""
    for event in EVENTS:
        yield from event.get("objects", [])


def test_long_enough_and_in_order() -> None:
    """The log has at least 150 events, with unique ids, in order of time."""
    times = [event["at"] for event in EVENTS]
    assert len(EVENTS) >= 150
    assert len(BY_ID) == len(EVENTS)
    assert all(earlier < later for earlier, later in pairwise(times))


def test_covers_three_weeks() -> None:
    """Every one of the 21 days from 2 March 2026 has an event."""
    first = date(2026, 3, 2)
    assert {day_of(event) for event in EVENTS} == {first + timedelta(days=n) for n in range(21)}


def assert_form(event: Event) -> None:
    """Hold one event against the Event form (spec: protocol, Events)."""
    assert set(event) <= FIELDS, event["id"]
    assert event["v"] == 1, event["id"]
    assert set(event["source"]) <= {"role", "stream", "speaker", "ref"}, event["id"]
    assert event["source"]["role"] == ROLE_OF_KIND[event["kind"]], event["id"]
    assert len(text_of(event)) <= 32_000, event["id"]
    assert len(event.get("objects", [])) <= 16, event["id"]
    assert len(event.get("causes", [])) <= 32, event["id"]
    assert event.get("priority", "normal") in {"urgent", "high", "normal", "low"}, event["id"]


def test_events_keep_the_form() -> None:
    """Each event has only known fields, the role of its kind, and stays within the limits."""
    for event in EVENTS:
        assert_form(event)


def test_causes_are_earlier_events() -> None:
    """An event names as causes only events of the log that came before it."""
    for event in EVENTS:
        assert all(BY_ID[cause]["at"] < event["at"] for cause in event.get("causes", []))


def test_objects_keep_their_kind() -> None:
    """An object has one known kind through the whole log, and each kind is present."""
    kinds: dict[str, set[str]] = {}
    for thing in every_object():
        assert set(thing) <= {"id", "kind", "title"}
        kinds.setdefault(thing["id"], set()).add(thing["kind"])
    assert all(len(found) == 1 for found in kinds.values())
    assert set.union(*kinds.values()) == OBJECT_KINDS


def test_names_the_objects_of_the_story() -> None:
    """Expense domain, monthly claims, both plans and the software asset are there."""
    kinds = {thing["id"]: thing["kind"] for thing in every_object()}
    assert kinds["expense"] == "domain"
    assert kinds["expense-2026-02"] == kinds["expense-2026-03"] == "project"
    assert kinds["expense-daily-tidy"] == kinds["expense-monthly-submit"] == "schedule"
    assert kinds["ufo-check"] == "asset"


def test_data_follows_the_conventions() -> None:
    """States, calls, receipts and verifications carry the data their kind asks for."""
    assert all(event["data"]["state"] in TASK_STATES for event in of_kind("task.state"))
    assert all(isinstance(event["data"]["action"], str) for event in of_kind("executor.call"))
    for event in of_kind("executor.receipt"):
        assert isinstance(event["data"]["ok"], bool)
        assert isinstance(event["data"]["action"], str)
    assert {event["data"]["passed"] for event in of_kind("verification.result")} == {True, False}


def test_every_kind_occurs() -> None:
    """Each known kind of event occurs at least twice."""
    counts = Counter(event["kind"] for event in EVENTS)
    assert set(counts) == set(ROLE_OF_KIND)
    assert min(counts.values()) >= 2


def test_speaks_both_languages() -> None:
    """Users speak mostly Chinese, sometimes English, sometimes both in one message."""
    said = [text_of(event) for event in of_kind("user.message")]
    chinese = [text for text in said if has_han(text)]
    assert len(chinese) > len(said) / 2
    assert any(not has_han(text) and has_english(text) for text in said)
    assert any(has_english(text) for text in chinese)


def test_calls_have_one_result() -> None:
    """Each executor call shares its request id with exactly one later receipt."""
    calls = {event["request_id"]: event["at"] for event in of_kind("executor.call")}
    receipts = [event for event in of_kind("executor.receipt") if "request_id" in event]
    assert sorted(calls) == sorted(event["request_id"] for event in receipts)
    assert all(calls[event["request_id"]] < event["at"] for event in receipts)


def test_template_rule_is_corrected_and_excepted_once() -> None:
    """The rule comes first, then the correction that names it, then a one-off exception."""
    rule = next(event for event in of_kind("user.message") if "BX-T-2025" in text_of(event))
    change = next(event for event in of_kind("user.correction") if "BX-T-2026" in text_of(event))
    once = next(event for event in of_kind("user.message") if "这次先" in text_of(event))
    assert rule["id"] in change["causes"]
    assert rule["at"] < change["at"] < once["at"]
    assert any(not has_han(text_of(event)[:20]) for event in of_kind("user.correction"))


def test_commitments_come_from_both_sides() -> None:
    """The agent's promises carry a due time after they were made; the user promises too."""
    promised = of_kind("supervisor.commitment")
    assert len(promised) >= 3
    assert all(event["data"]["due_at"] > event["at"] for event in promised)
    assert any("我答应" in text_of(event) for event in of_kind("user.message"))


def test_asset_breaks_twice_for_different_reasons() -> None:
    """The asset shows two errors, each repeated with changing parts, two weeks apart."""
    seen = [event for event in of_kind("executor.observation") if "ufo-check" in object_ids(event)]
    disk = [event for event in seen if "No space left" in text_of(event)]
    certificate = [event for event in seen if "certificate has expired" in text_of(event)]
    for repeats in (disk, certificate):
        assert len({text_of(event) for event in repeats}) == len(repeats) >= 5
    assert day_of(certificate[0]) - day_of(disk[0]) == timedelta(days=14)


def test_asset_is_repaired_both_times() -> None:
    """Each repair leaves an artifact and a passed check; both tasks end as done."""
    for task in ("ufo-fix-1", "ufo-fix-2"):
        own = [event for event in EVENTS if event.get("task", {}).get("id") == task]
        assert any(event["kind"] == "executor.artifact" for event in own)
        passed = [e["data"]["passed"] for e in own if e["kind"] == "verification.result"]
        assert passed[-1] is True
        assert states_of_tasks()[task][-1] == "done"


def test_success_is_not_the_goal() -> None:
    """At least two receipts succeed although the check that names them fails."""
    failed = [event for event in of_kind("verification.result") if not event["data"]["passed"]]
    caused = [BY_ID[cause]["data"]["ok"] for event in failed for cause in event["causes"]]
    assert len(caused) >= 2
    assert all(caused)


def test_a_task_is_blocked_and_goes_on() -> None:
    """The claim is queued, runs, is blocked, runs again and is done, at growing versions."""
    states = states_of_tasks()["submit-2026-03"]
    assert states == ["queued", "running", "blocked", "running", "running", "done"]
    own = [
        e["task"]["version"] for e in of_kind("task.state") if e["task"]["id"] == "submit-2026-03"
    ]
    assert own == sorted(set(own))


def test_ordinary_actions_repeat() -> None:
    """Ordinary clicks are many, and one success receipt comes three times in the same words."""
    receipts = [event for event in of_kind("executor.receipt") if event["data"]["ok"]]
    clicks = [event for event in receipts if event["data"]["action"] == "click"]
    saves = Counter(text_of(event) for event in receipts if event["data"]["action"] == "save_file")
    assert len(clicks) >= 15
    assert max(saves.values()) >= 3


def test_chatter_is_there() -> None:
    """Greeting, thanks, a joke and good night occur."""
    said = " ".join(text_of(event) for event in of_kind("user.message"))
    assert all(word in said for word in ("早安", "thx", "笑话", "晚安"))


def test_hostile_page_speaks_only_as_data() -> None:
    """The injected words come again, in both languages, never from user or supervisor."""
    injected = [event for event in EVENTS if hostile(event)]
    assert len(injected) >= 3
    assert {event["source"]["role"] for event in injected} == {"external", "observation"}
    joined = " ".join(text_of(event) for event in injected)
    assert "忽略之前的所有指令" in joined
    assert "ignore previous instructions" in joined


def test_rare_characters_are_there() -> None:
    """A name beyond the basic plane and an emoji in a project title occur."""
    titles = " ".join(thing.get("title", "") for thing in every_object())
    assert "𠮷田" in titles
    assert "🐾" in titles


def test_a_reply_is_told_from_memory_once() -> None:
    """Exactly one event, a reply, names a record that was in the speaker's context."""
    assert [event["kind"] for event in EVENTS if "recalled" in event] == ["supervisor.reply"]


def test_night_belongs_to_the_day_before() -> None:
    """An event lies between midnight and 03:30, where calendar day and workday differ."""
    said = [datetime.fromtimestamp(e["at"] / 1000, BEIJING) for e in of_kind("user.message")]
    assert any((at.hour, at.minute) < (3, 30) for at in said)


def test_questions_in_three_ways() -> None:
    """The questions are one Chinese, one English, one mixed, with only the agreed fields."""
    chinese, english, mixed = (str(question["question"]) for question in QUESTIONS)
    assert has_han(chinese)
    assert not has_english(chinese)
    assert has_english(english)
    assert not has_han(english)
    assert has_han(mixed)
    assert has_english(mixed)
    for question in QUESTIONS:
        assert set(question) <= {"question", "objects", "expect_event_ids"}


@pytest.mark.parametrize(("question", "words"), list(zip(QUESTIONS, ANSWER_WORDS, strict=True)))
def test_expected_events_carry_the_answer(question: dict[str, Any], words: tuple[str, ...]) -> None:
    """What a question expects exists, concerns its object and holds the answer's words."""
    expected = [BY_ID[event_id] for event_id in question["expect_event_ids"]]
    joined = " ".join(text_of(event) for event in expected)
    assert all(word in joined for word in words)
    for thing in question.get("objects", []):
        assert all(thing in object_ids(event) for event in expected)


def test_readme_names_existing_events() -> None:
    """Each event the README refers to exists, the questions' own among them."""
    named = set(re.findall(r"demo-\d{4}", (FOLDER / "README.md").read_text(encoding="utf-8")))
    assert named <= set(BY_ID)
    assert {i for question in QUESTIONS for i in question["expect_event_ids"]} <= named
