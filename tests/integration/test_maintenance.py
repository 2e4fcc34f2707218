"""The ageing sweep, through the socket and on a real ledger: what ends, why, and what never does."""

from typing import Any

import pytest

from pipeline.maintenance.ageing import CHUNK, OWNERS
from pipeline.runtime import make_ageing
from storage.database import database
from storage.records.knowledge import Change
from storage.repositories import ageing, journal
from tests.conftest import StartService
from tests.integration.test_merging import SURROUNDINGS, accepted, observe, record
from tests.integration.test_recall_method import answered
from tests.service_support import DAY, MINUTE, NOW, SECOND, Service, event

pytestmark = pytest.mark.integration

RULE = {"kind": "rule"}
TEXTS = ["打印机在三楼", "The printer is on the third floor"]


@pytest.fixture
def worker(start_service: StartService) -> Service:
    """A service whose packages wait for an outside observer."""
    return start_service(observer__kind="external")


def nothing(service: Service, sent: dict[str, Any], owner: str = "local") -> None:
    """Let an event be organized of which nothing is kept."""
    service.ingest(sent, owner=owner)
    service.ask("ops.flush")
    for package in service.ask("memory.observation.claim", worker="w", owner=owner)["packages"]:
        service.ask(
            "memory.observation.commit",
            package_id=package["id"],
            token=package["token"],
            proposals=[],
            nothing_worth_keeping="talk",
        )
    service.work()


def candidate(service: Service, text: str = TEXTS[0], at: int = NOW) -> str:
    """A fact about the surroundings that was seen once."""
    sent = event(f"seen-{at}", text, role="observation", at=at)
    return accepted(observe(service, sent, SURROUNDINGS))


def entries(record_id: str, change: Change) -> list[dict[str, Any]]:
    """What the journal says of a record's end."""
    return [
        dict(entry.body)
        for entry in journal.of_record("local", record_id)
        if entry.change is change
    ]


# ---- validity ---------------------------------------------------------------


@pytest.mark.parametrize("text", ["本月都用旧模板", "Use the old template this month"])
def test_what_is_over_by_the_clock_expires(worker: Service, text: str) -> None:
    """Status, reason and version say so; the snapshot drops it, a recall tells that it has lapsed."""
    ends = {"valid_to": NOW + DAY}
    rule = accepted(observe(worker, event("e1", text), RULE | ends))
    worker.clock.advance(DAY - 1)
    worker.work()
    assert record(worker, rule)["status"] == "active"
    worker.clock.advance(MINUTE)
    worker.work()

    found = record(worker, rule)
    assert (found["status"], found["reason"], found["revision"]) == ("expired", "validity", 2)
    assert worker.ask("snapshot.get", object="expense")["sections"] == []
    answer = answered(worker, request_id="q", query="模板 template")
    assert answer["expired"] == "records"
    past = answered(worker, request_id="p", query="模板 template",
                      include_past=True)  # fmt: skip
    assert [hit["record"]["id"] for hit in past["hits"]] == [rule]
    assert entries(rule, Change.EXPIRE) == [{"reason": "validity"}]


def test_each_record_ends_once(worker: Service) -> None:
    """Another sweep, another consumer and a restart find nothing more to do."""
    rule = accepted(observe(worker, event("e1", "本月都用旧模板"), RULE | {"valid_to": NOW + DAY}))
    worker.clock.advance(DAY)
    for _ in range(3):
        worker.work()
        worker.clock.advance(MINUTE)
    worker.restart()
    worker.work()
    assert record(worker, rule)["revision"] == 2
    assert len(entries(rule, Change.EXPIRE)) == 1


# ---- candidates -------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
def test_a_candidate_that_nobody_bears_out_is_disabled(worker: Service, text: str) -> None:
    """Three days of newer observations later it is archived, and a repeat does not bring it back."""
    seen = candidate(worker, text)
    nothing(worker, event("e2", "好的", at=NOW + 3 * DAY - 1))
    worker.clock.advance(30 * DAY)
    worker.work()
    assert record(worker, seen)["status"] == "candidate"
    nothing(worker, event("e3", "好的", at=NOW + 3 * DAY))
    worker.clock.advance(MINUTE)
    worker.work()
    found = record(worker, seen)
    assert (found["status"], found["reason"]) == ("archived", "disabled")
    assert entries(seen, Change.ARCHIVE) == [{"reason": "disabled"}]

    again = event("e4", text, role="observation", at=NOW + 4 * DAY)
    observe(worker, again, SURROUNDINGS)
    found = record(worker, seen)
    assert (found["status"], found["reason"]) == ("archived", "disabled")
    assert len(worker.records()) == 1


@pytest.mark.parametrize("text", TEXTS)
def test_a_replay_of_last_year_disables_nothing(worker: Service, text: str) -> None:
    """By the clock a year has gone by, by what was observed an hour (protocol, Who wins)."""
    seen = candidate(worker, text, at=NOW - 365 * DAY)
    nothing(worker, event("e2", "好的", at=NOW - 365 * DAY + 3_600_000))
    worker.clock.advance(DAY)
    worker.work()
    assert record(worker, seen)["status"] == "candidate"


def test_a_clock_ahead_in_one_event_disables_nothing(worker: Service) -> None:
    """An observation from next month ages nothing beyond the clock's own time."""
    seen = candidate(worker)
    nothing(worker, event("e2", "好的", at=NOW + 40 * DAY))
    worker.clock.advance(3 * DAY - 1)
    worker.work()
    assert record(worker, seen)["status"] == "candidate"
    worker.clock.advance(MINUTE)
    worker.work()
    assert record(worker, seen)["status"] == "archived"


def test_a_backlog_disables_nothing_that_it_may_bear_out(worker: Service) -> None:
    """What is received and not organized ages no candidate; then it bears it out."""
    seen = candidate(worker)
    second = event(
        "e2", TEXTS[0], role="observation", at=NOW + 5 * DAY, objects=[{"id": "expense"}]
    )
    worker.ingest(second, event("e3", "别的事", at=NOW + 6 * DAY, objects=[{"id": "other"}]))
    worker.ask("ops.flush")
    worker.clock.advance(30 * DAY)
    worker.work()
    packages = worker.ask("memory.observation.claim", worker="w", max=2)["packages"]
    for package in sorted(packages, key=lambda found: found["object"], reverse=True):
        kept = [] if package["object"] == "other" else [
            SURROUNDINGS | {"content": TEXTS[0], "evidence": [{"event": "e2", "quote": TEXTS[0]}]}
        ]  # fmt: skip
        why = {} if kept else {"nothing_worth_keeping": "talk"}
        worker.ask("memory.observation.commit", package_id=package["id"], token=package["token"],
                   proposals=kept, **why)  # fmt: skip
        worker.clock.advance(MINUTE)
        worker.work()
    assert record(worker, seen)["status"] == "active"


def test_a_procedure_waits_for_the_user_for_ever(worker: Service) -> None:
    """A draft of a skill is no fact that somebody else could bear out (D6)."""
    text = "先导出清单，再核对金额，最后上传"
    sent = event("e1", text)
    draft = accepted(
        observe(worker, sent, {"kind": "procedure", "steps": ["先导出清单", "再核对金额"]})
    )
    nothing(worker, event("e2", "好的", at=NOW + 30 * DAY))
    worker.clock.advance(60 * DAY)
    worker.work()
    assert record(worker, draft)["status"] == "candidate"


def test_what_is_disabled_is_let_go_by_what_it_disputed(worker: Service) -> None:
    """The fact that holds is no longer told with a conflict that nobody stands by (C5)."""
    slot = SURROUNDINGS | {"key": "printer.location"}
    holds = accepted(observe(worker, event("e1", "打印机在三楼", role="observation"), slot))
    observe(worker, event("e2", "打印机在三楼", role="observation", at=NOW + DAY), slot)
    once = accepted(
        observe(worker, event("e3", "打印机在五楼", role="observation", at=NOW + 2 * DAY), slot)
    )
    assert record(worker, holds)["conflicts_with"] == [once]
    nothing(worker, event("e4", "好的", at=NOW + 5 * DAY))
    worker.clock.advance(5 * DAY)
    worker.work()
    assert record(worker, once)["status"] == "archived"
    assert "conflicts_with" not in record(worker, holds) | record(worker, once)


# ---- retention --------------------------------------------------------------


@pytest.mark.parametrize("text", ["以后报销都用新模板", "Always use the new template"])
def test_retention_archives_by_kind_and_erases_nothing(
    start_service: StartService, text: str
) -> None:
    """After its days a rule is set aside, with its words and its source; others stay."""
    service = start_service(observer__kind="external", retention__rule_days="30")
    rule = accepted(observe(service, event("e1", text, at=NOW - 300 * DAY), RULE))
    liked = accepted(observe(service, event("e2", text), {"kind": "preference"}))
    service.clock.advance(30 * DAY - 1)
    service.work()
    assert record(service, rule)["status"] == "active"
    service.clock.advance(MINUTE)
    service.work()
    found = record(service, rule)
    assert (found["status"], found["reason"], found["content"]) == ("archived", "retention", text)
    assert found["source_refs"][0]["quote"] == text
    assert record(service, liked)["status"] == "active"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("我会在周五前交报告", "我会在下个月前交总结报告"),
        ("I will send the report by Friday", "I will send the summary report by next month"),
    ],
)
def test_no_setting_and_no_time_ends_a_commitment(
    start_service: StartService, text: str, other: str
) -> None:
    """Overdue, unread and ten years old it is still owed, and shown first (D7)."""
    every = {
        f"retention__{kind}_days": "1"
        for kind in ("environment", "project", "profile", "preference", "rule", "correction",
                     "procedure", "episode", "cue")
    }  # fmt: skip
    service = start_service(observer__kind="external", **every)
    promise = {"kind": "commitment", "valid_to": NOW + DAY}
    owed = accepted(observe(service, event("e1", text), promise))
    far = {"kind": "commitment", "valid_to": NOW + 9_000 * DAY}
    later = accepted(observe(service, event("e2", other, at=NOW + SECOND), far))
    service.clock.advance(3_650 * DAY)
    service.work()
    assert record(service, owed)["status"] == "active"
    (section,) = service.ask("snapshot.get")["sections"]
    assert [(item["record_id"], item.get("overdue")) for item in section["items"]] == [
        (owed, True),
        (later, None),
    ]
    answer = answered(service, request_id="q", query="报告 report")
    told = {hit["record"]["id"]: hit.get("overdue") for hit in answer["hits"]}
    assert told == {owed: True, later: None}


def test_no_setting_names_commitments() -> None:
    """There is no such key to be set."""
    from pipeline.settings import RetentionSettings  # noqa: PLC0415 - of this test only

    assert not [name for name in RetentionSettings.model_fields if "commitment" in name]


# ---- how it runs ------------------------------------------------------------


def test_nothing_is_written_where_nothing_is_due(worker: Service) -> None:
    """A memory at rest is only looked at."""
    observe(worker, event("e1", "本月都用旧模板"), RULE | {"valid_to": NOW + DAY})
    candidate(worker, at=NOW + SECOND)
    before = database.execute_sql("PRAGMA data_version").fetchone()
    sweep = make_ageing(worker.services.core).sweep
    assert sweep(NOW) == 0
    assert sweep(NOW + MINUTE) == 0
    assert database.execute_sql("PRAGMA data_version").fetchone() == before


def many(service: Service, number: int) -> None:
    """So many facts that end, twelve a package."""
    for start in range(0, number, 12):
        told = [f"{n} 号柜子里放着发票" for n in range(start, min(number, start + 12))]
        ends = {"kind": "fact", "class": "project", "valid_to": NOW + DAY}
        sent = event(f"m{start}", "\n".join(told))
        observe(service, sent, *[ends | {"content": content} for content in told])


def test_one_sweep_ends_a_chunk_and_the_next_goes_on_at_once(worker: Service) -> None:
    """Much that is due at once is ended a transaction a second, without a minute in between."""
    many(worker, CHUNK + 10)
    sweep = make_ageing(worker.services.core).sweep
    due = NOW + DAY
    assert [sweep(due), sweep(due), sweep(due)] == [CHUNK, 10, 0]
    worker.work()
    assert {found["status"] for found in worker.records(kind="fact")} == {"expired"}
    acts = [package for package in worker.packages(state="done") if package["work"] == "act"]
    assert len(acts) == 2


def test_a_sweep_runs_once_a_minute_whatever_the_clock_does(worker: Service) -> None:
    """In between nothing is asked; a clock set back does not stop it for long."""
    sweep = make_ageing(worker.services.core).sweep
    assert sweep(NOW + 2 * DAY) == 0
    many(worker, 1)
    assert sweep(NOW + 2 * DAY + MINUTE - 1) == 0
    assert sweep(NOW + DAY) == 1


def test_many_owners_take_turns(worker: Service) -> None:
    """One run looks at a few owners' candidates, the next at those behind them."""
    owners = [f"o{number:02}" for number in range(OWNERS + 2)]
    for owner in owners:
        sent = event("e1", TEXTS[0], role="observation", objects=[{"id": "expense"}])
        worker.ingest(sent, owner=owner)
        worker.ask("ops.flush")
        (package,) = worker.ask("memory.observation.claim", worker="w", owner=owner)["packages"]
        quoted = {"content": TEXTS[0], "evidence": [{"event": "e1", "quote": TEXTS[0]}]}
        worker.ask("memory.observation.commit", package_id=package["id"], token=package["token"],
                   proposals=[SURROUNDINGS | quoted])  # fmt: skip
        worker.work()
        nothing(worker, event("e2", "好的", at=NOW + 3 * DAY), owner=owner)
    sweep = make_ageing(worker.services.core).sweep
    assert sweep(NOW + 3 * DAY) == OWNERS
    assert sweep(NOW + 3 * DAY + MINUTE) == 2
    assert ageing.next_owner("") is None


def test_the_newest_observation_is_found_step_by_step(worker: Service) -> None:
    """However many events there are, one run reads so many of them and the next goes on."""
    for number in range(5):
        nothing(worker, event(f"e{number}", "好的", at=NOW + number))
    assert ageing.newest_at("local", 0, 5, 2) == (NOW + 1, 2)
    assert ageing.newest_at("local", 2, 5, 2) == (NOW + 3, 4)
    assert ageing.newest_at("local", 4, 5, 2) == (NOW + 4, 5)
    assert ageing.newest_at("local", 5, 5, 2) == (None, 5)


def test_the_journal_of_an_end_holds_no_words(worker: Service) -> None:
    """It names record, revision and reason, so that a forgetting has nothing to look for there."""
    rule = accepted(observe(worker, event("e1", "本月都用旧模板"), RULE | {"valid_to": NOW + DAY}))
    worker.clock.advance(DAY)
    worker.work()
    rows = database.execute_sql(
        "SELECT body FROM record_change WHERE record_id = ?", (rule,)
    ).fetchall()
    assert rows == [('{"reason":"validity"}',)]
