"""Evidence is held against its event's text whenever it is shown: what no longer stands is not told."""

import pytest

from storage.database import database
from tests.service_support import Service, event

pytestmark = pytest.mark.integration

TEXTS = {
    "Chinese": ("以后报销都用新模板。", "以后报销都用旧模板。", "报销模板"),
    "English": (
        "From now on always use the new expense template.",
        "From now on always use the old expense template.",
        "expense template",
    ),
}
BOTH = pytest.mark.parametrize(("text", "other", "question"), TEXTS.values(), ids=TEXTS)


def change(service: Service, event_id: str, text: str) -> None:
    """Let an event's text be another one, as only a fault of the disk or of ours could."""

    def write() -> None:
        database.execute_sql("UPDATE event SET text = ? WHERE id = ?", (text, event_id))

    service.in_writer(write)


def kept(service: Service, text: str) -> str:
    """The id of the one record that a user's sentence gives."""
    service.ingest(event("e1", text, objects=[{"id": "expense", "title": "报销"}]))
    service.settle()
    (record,) = service.records()
    return str(record["id"])


@BOTH
def test_a_span_that_stands_is_shown(
    service: Service, text: str, other: str, question: str
) -> None:
    """While the event gives the words there is nothing to note."""
    del other, question
    record_id = kept(service, text)
    found = service.ask("memory.record.get", record_id=record_id)
    assert [span["quote"] in text for span in found["source_refs"]] == [True]
    assert "missing_evidence" not in found


@BOTH
def test_a_span_that_no_longer_stands_is_named_and_not_shown(
    service: Service, text: str, other: str, question: str
) -> None:
    """Record, list, history and evidence name the event, and show no quote of it."""
    del question
    record_id = kept(service, text)
    change(service, "e1", other)

    found = service.ask("memory.record.get", record_id=record_id)
    (listed,) = service.records()
    (version,) = service.ask("memory.record.history", record_id=record_id)["items"]
    for shown in (found, listed, version):
        assert shown["source_refs"] == []
        assert shown["missing_evidence"] == ["e1"]
    evidence = service.ask("memory.evidence.get", record_id=record_id)
    assert (evidence["spans"], evidence["missing"]) == ([], ["e1"])
    assert [item["text"] for item in evidence["events"]] == [other]


@BOTH
def test_a_record_without_evidence_that_stands_is_not_recalled(
    service: Service, text: str, other: str, question: str
) -> None:
    """It is no hit and binds nothing; a gap names it, so that nobody takes it for forgotten."""
    record_id = kept(service, text)
    asked = {"query": question, "objects": ["expense"], "wait_ms": 75}
    before = service.ask("memory.continuity.recall", request_id="before", **asked)
    assert [hit["record"]["id"] for hit in before["binding"]] == [record_id]
    change(service, "e1", other)

    after = service.ask("memory.continuity.recall", request_id="after", **asked)
    told = [hit for hit in (*after["hits"], *after["binding"]) if "record" in hit]
    assert told == []
    assert any(record_id in gap for gap in after["gaps"])


def test_another_source_keeps_a_record_told(service: Service) -> None:
    """Where one of two sources no longer stands, the record is told on the other alone."""
    rule = "以后报销都用新模板。"
    service.ingest(event("e1", rule, objects=[{"id": "expense"}]))
    service.settle()
    service.clock.advance(60_000)
    again = event("e2", rule, objects=[{"id": "expense"}], at=service.clock.now)
    service.ingest(again)
    service.settle()
    (record,) = service.records()
    assert {span["event"] for span in record["source_refs"]} == {"e1", "e2"}
    change(service, "e1", "别的话")

    found = service.ask("memory.record.get", record_id=record["id"])
    assert [span["event"] for span in found["source_refs"]] == ["e2"]
    assert found["missing_evidence"] == ["e1"]
    answer = service.ask(
        "memory.continuity.recall",
        request_id="q",
        query="报销模板",
        objects=["expense"],
        wait_ms=75,
    )
    (bound,) = answer["binding"]
    assert [part["event"] for part in bound["evidence"]] == ["e2"]


def test_an_outside_worker_is_shown_what_stands(service: Service) -> None:
    """The known records of a package carry checked evidence alone."""
    kept(service, "以后报销都用新模板。")
    change(service, "e1", "别的话")
    service.ingest(event("e2", "今天交了报销单", objects=[{"id": "expense"}]))
    service.ask("ops.flush")
    service.sweep()
    service.runner.filter_events()
    service.ask("ops.flush")
    (package,) = service.ask("memory.observation.claim", worker="w")["packages"]
    assert [known["source_refs"] for known in package["known"]] == [[]]
