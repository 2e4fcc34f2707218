"""`memory.evidence.get`: the verbatim text and the exact words that a record rests on."""

from typing import Any

import pytest

from tests.service_support import Service, event

pytestmark = pytest.mark.integration

EVIDENCE = "memory.evidence.get"

_SAID = {
    "Chinese": "昨天说过了。以后报销都用新模板。好吗",
    "beyond the BMP": "😀😀👨‍👩‍👧 以后报销都用新模板 🎉",
    "English": "Hi there! From now on always use the new template for expense claims. Thanks 😀",
    "a rare hanzi before": "\U00020bb7野家的發票，以後報銷都用新模板",
}


@pytest.mark.parametrize("text", _SAID.values(), ids=_SAID)
def test_spans_are_exact_in_code_points(service: Service, text: str) -> None:
    """A span's start and end cut its quote out of the verbatim text, whatever stands before it."""
    service.ingest(event("e1", text, objects=[{"id": "expense"}]))
    service.settle()
    records = service.records()
    assert records

    for record in records:
        answer = service.ask(EVIDENCE, record_id=record["id"])
        texts = {found["id"]: found["text"] for found in answer["events"]}
        assert texts == {"e1": text}
        assert answer["missing"] == []
        assert answer["spans"] == record["source_refs"]
        for span in answer["spans"]:
            assert span["record_id"] == record["id"]
            assert texts[span["event"]][span["start"] : span["end"]] == span["quote"]
            assert span["quote"]


def test_events_come_in_the_order_they_were_asked_for(service: Service) -> None:
    """Each named event once, in the caller's order; what this owner doesn't have is missing."""
    service.ingest(event("e1", "一"), event("e2", "二"), event("e3", "三"))
    answer = service.ask(EVIDENCE, event_ids=["e3", "nope", "e1", "e3", "没有"])

    assert [found["id"] for found in answer["events"]] == ["e3", "e1"]
    assert answer["missing"] == ["nope", "没有"]
    assert answer["spans"] == []


@pytest.mark.parametrize("text", ["报销😀单据" * 7, "expense claim " * 5], ids=["zh", "en"])
def test_pages_put_together_are_the_text(service: Service, text: str) -> None:
    """`offset` and `limit` count code points, and `next_offset` leads through the whole text."""
    service.ingest(event("e1", text))
    pages: list[str] = []
    offset: int | None = 0
    while offset is not None:
        (part,) = service.ask(EVIDENCE, event_ids=["e1"], offset=offset, limit=9)["events"]
        pages.append(part["text"])
        offset = part["next_offset"]

    assert "".join(pages) == text
    assert {len(page) for page in pages[:-1]} == {9}


@pytest.mark.parametrize(
    ("offset", "limit", "part", "following"),
    [
        (0, 4, "一二三四", None),
        (0, 3, "一二三", 3),
        (3, 1, "四", None),
        (4, 1, "", None),
        (32_000, 32_000, "", None),
    ],
)
def test_page_edges(
    service: Service, offset: int, limit: int, part: str, following: int | None
) -> None:
    """A page that ends with the text has no next one, and one behind the end is empty."""
    service.ingest(event("e1", "一二三四"))
    (found,) = service.ask(EVIDENCE, event_ids=["e1"], offset=offset, limit=limit)["events"]
    assert (found["text"], found["next_offset"]) == (part, following)


def test_another_owners_evidence_is_not_there(service: Service) -> None:
    """Neither events nor records of one owner are visible to another."""
    service.ingest(event("e1", "以后报销都用新模板"), owner="a")
    service.settle()
    (record,) = service.records(owner="a")

    assert service.ask(EVIDENCE, owner="b", event_ids=["e1"]) == {
        "events": [],
        "spans": [],
        "missing": ["e1"],
    }
    error = service.refused(EVIDENCE, owner="b", record_id=record["id"])
    assert error["code"] == "not_found"


def test_evidence_needs_no_pipeline(service: Service) -> None:
    """An event can be read from the moment of its receipt, organised or not."""
    service.ingest(event("e1", "刚刚"))
    (found,) = service.ask(EVIDENCE, event_ids=["e1"])["events"]
    assert found["text"] == "刚刚"


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({}, "record_id or event_ids"),
        ({"record_id": "r", "event_ids": ["e"]}, "record_id or event_ids"),
        ({"event_ids": []}, "event_ids"),
        ({"event_ids": ["e"] * 201}, "event_ids"),
        ({"event_ids": ["e"], "offset": -1}, "offset"),
        ({"event_ids": ["e"], "offset": 32_001}, "offset"),
        ({"event_ids": ["e"], "limit": 0}, "limit"),
        ({"event_ids": ["e"], "limit": 32_001}, "limit"),
        ({"event_ids": "e1"}, "event_ids"),
        ({"event_ids": ["e"], "lenght": 3}, "lenght"),
    ],
)
def test_params_have_limits(service: Service, params: dict[str, Any], named: str) -> None:
    """What is out of bounds is refused by name, not clamped."""
    error = service.refused(EVIDENCE, **params)
    assert (error["code"], named in error["message"]) == ("bad_request", True)


def test_an_unknown_record_is_not_found(service: Service) -> None:
    """Evidence of a record that isn't there is an error, not an empty answer."""
    assert service.refused(EVIDENCE, record_id="r-nope")["code"] == "not_found"
