"""Everything that a reader can ask of a memory, held against the plain model of its rules."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.properties.memory_model import LIVE, Memory, Record
from tests.service_support import Service

SUBJECTS = ("报销", "site", "@owner")


def records(service: Service, memory: Memory) -> None:
    """Status, words, evidence and links of all records are as the rules have them."""
    items = service.records()
    _alike({item["id"]: _read(item) for item in items}, memory.shown())
    assert not [item for item in items if item.get("missing_evidence")]
    for record in memory.records.values():
        winners = {item["id"] for item in items if record.id in item.get("supersedes", [])}
        assert winners <= record.beaten_by, (winners, record)
        assert bool(winners) == bool(record.beaten_by), record


def _read(item: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: item.get(name) for name in ("subject_id", "kind", "content", "key", "status")}
    shown["evidence"] = sorted({span["event"] for span in item["source_refs"]})
    shown["conflicts_with"] = sorted(item.get("conflicts_with", []))
    return shown


def _alike(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    names = sorted(found.keys() | expected.keys())
    odd = [name for name in names if found.get(name) != expected.get(name)]
    told = (f"{name}: is {found.get(name)}\n should be {expected.get(name)}" for name in odd)
    assert not odd, "\n".join(told)


def fates(service: Service, memory: Memory) -> Iterator[Any]:
    """Each event has one fate, and the records told of it are those that rest on it."""
    for told in memory.events.values():
        fate = service.ask("ops.fate", event_id=told.id)
        assert fate["event"]["seq"] == told.seq
        packaged = "packaged" if told.observed else "merged"
        assert fate["fate"] == ("forgotten" if told.wordless else packaged)
        resting = {one.id for one in memory.records.values() if told.id in one.evidence}
        assert {one["id"] for one in fate["records"]} == resting
        yield fate


def histories(service: Service, memory: Memory) -> Iterator[Any]:
    """Revisions grow by one; the last is what is shown; each quote stands where it should."""
    for record in memory.records.values():
        items = service.ask("memory.record.history", record_id=record.id)["items"]
        numbers = [item["revision"] for item in items]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        shown = service.ask("memory.record.get", record_id=record.id)
        assert {**items[-1], "source_refs": None} == {**shown, "source_refs": None}
        proven = service.ask("memory.evidence.get", record_id=record.id)
        texts = {item["id"]: item["text"] for item in proven["events"]}
        assert (texts.keys(), proven["missing"]) == (record.evidence, [])
        for span in proven["spans"]:
            assert texts[span["event"]][span["start"] : span["end"]] == span["quote"]
        yield items, proven


def snapshots(service: Service, memory: Memory) -> Iterator[Any]:
    """Published views show what holds, and nothing else."""
    for subject in SUBJECTS:
        view = service.ask("snapshot.get", object=subject)
        shown = {item["record_id"] for part in view["sections"] for item in part["items"]}
        assert {memory.records[name].status for name in shown} <= {"active"}
        yield view


def recalls(service: Service, memory: Memory, name: str) -> Iterator[Any]:
    """A question in a record's words finds it while it holds, and never as if it held still."""
    for number, record in enumerate(memory.records.values()):
        found = _answered(service, f"{name}-{number}", record)
        hits = [*found["binding"], *found["hits"]]
        names = {hit["record"]["id"] for hit in hits if "record" in hit}
        assert {memory.records[name].status for name in names} <= set(LIVE)
        assert record.status != "active" or record.id in names, (record, found)
        assert not {hit["event"]["id"] for hit in hits if "event" in hit} & record.evidence
        yield found


def _answered(service: Service, request_id: str, record: Record) -> Any:
    for _ in range(1_000):
        found = service.ask(
            "memory.continuity.recall",
            request_id=request_id,
            query=record.content,
            objects=[record.subject],
            budget={"items": 100, "tokens": 32_000},
        )
        if found["state"] != "pending":
            return found
    raise AssertionError("the recall never ended")
