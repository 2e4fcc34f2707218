"""`memory.export` and `memory.import`: memory as documents, and whole again elsewhere."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.rebuilding.replaying import replay
from pipeline.transfer import documents as transfer_documents
from storage.database import database
from storage.records.knowledge import (
    Change,
    RecordKind,
)
from storage.repositories import journal, records
from storage.repositories.scratch import scratch
from tests.service_support import DAY, NOW, Service, event
from tests.transfer_support import (
    CHINESE,
    ENGLISH,
    FOREIGN,
    another_service,
    document_of,
    exported,
    forged,
    outcomes,
    record_documents,
    said,
    taken_in,
    with_content,
)

pytestmark = pytest.mark.integration


def a_rich_memory(service: Service) -> None:
    """Records of many kinds and every relation, in two languages, about several objects."""
    service.ask("memory.object.put", id="expense", kind="domain", title="报销 # 1", state="dormant")
    service.ask("memory.object.put", id="Printer", kind="asset", title="打印机 <b>")
    about = [{"id": "expense"}]
    service.ingest(
        event("e1", CHINESE, objects=about, at=NOW),
        event("e2", "My name is John Smith.", at=NOW + 1),
        event("e3", "明天下午3点提醒我交报告", at=NOW + 2, objects=[{"id": "周报", "title": "周报"}]),
        event("e4", "这次报销先用旧模板", at=NOW + 3, objects=[{"id": "trip"}]),
        event("e5", "屏幕上显示打印机缺纸", role="observation", at=NOW + 4, objects=[{"id": "Printer"}]),
    )  # fmt: skip
    service.settle()
    service.ingest(
        event("e6", "不对，以后报销都用旧模板", kind="user.correction", objects=about, at=NOW + DAY)
    )
    service.settle()


def shown(records: list[Any]) -> list[Any]:
    """Records as they are listed, but for the evidence that another database doesn't have."""
    left_out = {"source_refs", "missing_evidence"}
    return [{k: v for k, v in record.items() if k not in left_out} for record in records]


# ---- export ----------------------------------------------------------------


def test_an_export_has_each_record_each_object_and_an_index(service: Service) -> None:
    """One document a record in its object's folder, one an object, and lists that link them all."""
    a_rich_memory(service)
    documents = exported(service)
    records = service.records()
    objects = service.ask("memory.object.list")["items"]

    assert len(record_documents(documents)) == len(records) > 4
    for record in records:
        (path,) = [p for p in documents if p.endswith(f"/{record['id']}.md")]
        assert f'id: "{record["id"]}"' in documents[path]
        folder_index = documents[path.rsplit("/", 1)[0] + "/INDEX.md"]
        assert f"({record['id']}.md)" in folder_index
    assert len([p for p in documents if p.endswith("/INDEX.md")]) == len(objects)
    assert documents["INDEX.md"].count("/INDEX.md)") == len(objects)
    assert {p.split("/")[0] for p in documents} == {
        "expense", "%50rinter", "周报", "trip", "%40owner", "INDEX.md"
    }  # fmt: skip


@pytest.mark.parametrize("limit", [1, 2, 3, 200])
def test_pages_of_any_size_give_the_same_documents(service: Service, limit: int) -> None:
    """Pages put together are the whole export, whatever their size."""
    a_rich_memory(service)
    assert exported(service, limit=limit) == exported(service)


def test_long_lists_are_cut_into_parts(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many records and objects there are, every one is listed once."""
    service.ingest(
        *[
            event(f"e{n}", f"以后项目{n}的周报都用模板{n}", objects=[{"id": f"o{n % 3}"}])
            for n in range(12)
        ]
    )
    service.settle()
    monkeypatch.setattr(transfer_documents, "LISTED", 2)
    for limit in (1, 5, 200):
        documents = exported(service, limit=limit)
        for record in service.records():
            links = [p for p, text in documents.items() if f"({record['id']}.md)" in text]
            assert len(links) == 1
        assert {"INDEX.md", "INDEX-2.md", "o0/INDEX.md", "o0/INDEX-2.md"} <= documents.keys()


def test_an_export_that_records_moved_under_says_so(service: Service) -> None:
    """The last page tells that records have changed since the first one, and only then."""
    said(service, CHINESE)
    page = service.ask("memory.export", limit=1)
    assert not page["moved"]
    said(service, "以后报销都附发票", "e2")
    while page["next"] is not None:
        assert not page["moved"]
        page = service.ask("memory.export", limit=1, after=page["next"])
    assert page["moved"]
    assert service.ask("memory.export")["moved"] is False


@pytest.mark.parametrize(
    "after", ["x", "1", "[]", '["records"]', '["all","",0,0]', '["records",1,0,0]',
              '["records","",-1,0]', '["records","",true,0]', '["records","",0,99999999999999999999]']
)  # fmt: skip
def test_a_made_up_cursor_is_refused(service: Service, after: str) -> None:
    """A page begins where another ended, nowhere else."""
    error = service.refused("memory.export", after=after)
    assert (error["code"], "after" in error["message"]) == ("bad_request", True)


def test_an_empty_memory_is_an_empty_index(service: Service) -> None:
    """An owner without anything gets an index without anything."""
    assert list(exported(service, owner="nobody")) == ["INDEX.md"]


# ---- round trip ------------------------------------------------------------


def test_a_memory_comes_back_whole_in_an_empty_service(service: Service, tmp_path: Path) -> None:
    """Status, validity, supersession, conflicts, scope, revisions, owner: all of it is as it was."""
    a_rich_memory(service)
    before = exported(service)
    records = service.records()
    objects = service.ask("memory.object.list")["items"]
    assert {"active", "superseded"} <= {record["status"] for record in records}
    service.stop()

    with another_service(tmp_path / "other") as other:
        told = outcomes(other, *before.values())
        assert told.count("created") == len(records) + len(objects)
        assert set(told) == {"created", "ignored"}
        assert shown(other.records()) == shown(records)
        restored = other.ask("memory.object.list")["items"]
        for was, now in zip(objects, restored, strict=True):
            assert now["revision"] >= was["revision"]
            for field in ("id", "kind", "title", "state", "created_at"):
                assert now[field] == was[field]
        assert record_documents(exported(other)) == record_documents(before)


def test_what_came_in_is_found_and_published(service: Service, tmp_path: Path) -> None:
    """An imported record is in the index and in its object's snapshot, like any other."""
    said(service, CHINESE)
    said(service, ENGLISH, "e2", objects=[{"id": "claims"}])
    documents = exported(service)
    service.stop()
    with another_service(tmp_path / "other") as other:
        taken_in(other, *documents.values())
        other.work()
        assert {package["state"] for package in other.packages()} == {"done"}
        for number, (question, content) in enumerate(
            [("报销用什么模板？", CHINESE), ("Which template for expense claims?", ENGLISH)]
        ):
            answer = other.ask("memory.continuity.recall", request_id=f"q{number}", query=question)
            assert content in [
                hit["record"]["content"] for hit in answer["hits"] + answer["binding"]
            ]
        snapshot = other.ask("snapshot.get", object="报销")
        assert CHINESE in str(snapshot["sections"])


@pytest.mark.parametrize("again", [1, 2])
def test_importing_again_changes_nothing(service: Service, tmp_path: Path, again: int) -> None:
    """The second import of one export finds everything unchanged, and leaves no work behind."""
    a_rich_memory(service)
    documents = list(exported(service).values())
    service.stop()
    with another_service(tmp_path / "other") as other:
        taken_in(other, *documents)
        other.work()
        packages, records = other.packages(), other.records()
        for _ in range(again):
            assert set(outcomes(other, *documents)) == {"unchanged", "ignored"}
        assert (other.packages(), other.records()) == (packages, records)


def test_a_dry_run_is_the_default_and_writes_nothing(service: Service, tmp_path: Path) -> None:
    """Without `dry_run: false` it is only told what would become of the documents."""
    said(service, CHINESE)
    documents = [{"path": path, "text": text} for path, text in exported(service).items()]
    service.stop()
    with another_service(tmp_path / "other") as other:
        result = other.ask("memory.import", documents=documents)
        assert result["dry_run"] is True
        assert result["counts"] == {"created": 2, "ignored": 1}
        assert (other.records(), other.packages()) == ([], [])


def test_the_journal_knows_all_that_came_in(service: Service) -> None:
    """Each subject has one entry that says at which version all of its records stand."""
    first = said(service, CHINESE)
    taken_in(service, forged(FOREIGN), forged(replace(FOREIGN, id="r-2", content="附上发票")))
    entries = journal.of_subject("local", "报销")
    assert [entry.change for entry in entries] == [Change.VERSIONS]
    assert entries[0].body == {first["id"]: 1, "r-foreign": 3, "r-2": 3}
    taken_in(service, forged(replace(FOREIGN, id="r-3", content="先找主管签字")))
    assert journal.of_subject("local", "报销")[0].body.keys() >= {"r-2", "r-3", first["id"]}


def test_records_that_came_in_can_be_made_anew(service: Service) -> None:
    """What a rebuild makes of imported, edited and further records is what there is."""
    own = said(service, CHINESE)
    taken_in(service, forged(FOREIGN), forged(replace(FOREIGN, id="r-2", content="附上发票")))
    taken_in(service, with_content(document_of(service, own["id"]), "以后报销都用紫色模板"))
    said(service, "以后报销都附两张发票", "e2")
    stored = records.listing("local", subject="报销")
    assert len(stored) == 4
    with scratch():
        replay("local", "报销")
        made = records.listing("local", subject="报销")
    assert made == stored


@pytest.mark.parametrize("calls", [1, 2])
def test_what_rolls_records_up_may_come_in_before_them(service: Service, calls: int) -> None:
    """A record that another one links is known as rolled up, in whatever order they come."""
    roll = replace(
        FOREIGN,
        id="r-roll",
        kind=RecordKind.EPISODE,
        content="三月的报销都办完了",
        links=("r-foreign",),
    )
    documents = [forged(roll), forged(FOREIGN)]
    for first in range(0, 2, 3 - calls):
        taken_in(service, *documents[first : first + 3 - calls])
    rows = database.execute_sql("SELECT id, rolled_by FROM record").fetchall()
    assert dict(rows) == {"r-roll": "r-roll", "r-foreign": "r-roll"}


# ---- evidence --------------------------------------------------------------


@pytest.mark.parametrize("text", [f"😀 好的。{CHINESE}。谢谢", f"Hello 😀. {ENGLISH} Thanks!"])
def test_evidence_is_found_by_event_where_the_event_is(
    service: Service, tmp_path: Path, text: str
) -> None:
    """A record rests on this database's own events, whatever numbers they had in the other one."""
    service.ingest(*[event(f"x{n}", "好的") for n in range(5)])
    service.ingest(event("e1", text, objects=[{"id": "报销"}]))
    service.settle()
    (record,) = service.records(object="报销")
    documents = exported(service)
    service.stop()
    with another_service(tmp_path / "other") as other:
        other.ask("ops.stage.pause", stage="observe")
        other.ingest(event("e1", text, objects=[{"id": "报销"}]))
        told = taken_in(other, *documents.values())
        assert [item.get("missing") for item in told] == [None] * len(told)
        assert other.records(object="报销") == [record]
        found = other.ask("memory.evidence.get", record_id=record["id"])
        assert [part["id"] for part in found["events"]] == ["e1"]
        assert (found["spans"], found["missing"]) == (record["source_refs"], [])


def test_evidence_that_is_not_here_is_missing_and_kept(
    service: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without its event a record names what it lacks, without alarm; its quote is in the next export."""
    record = said(service, CHINESE)
    document = document_of(service, record["id"])
    service.stop()
    with another_service(tmp_path / "other") as other:
        (told,) = taken_in(other, document)
        assert told["missing"] == ["e1"]
        found = other.ask("memory.evidence.get", record_id=record["id"])
        assert (found["events"], found["spans"], found["missing"]) == ([], [], ["e1"])
        assert other.records(object="报销")[0]["missing_evidence"] == ["e1"]
        assert document_of(other, record["id"]) == document
    assert [line for line in caplog.messages if record["id"] in line] == []


def test_an_event_that_says_something_else_is_not_taken_for_evidence(
    service: Service, tmp_path: Path
) -> None:
    """An id alone proves nothing: where the words aren't, the event is missing."""
    record = said(service, CHINESE)
    document = document_of(service, record["id"])
    service.stop()
    with another_service(tmp_path / "other") as other:
        other.ask("ops.stage.pause", stage="observe")
        other.ingest(event("e1", "今天天气不错"))
        assert taken_in(other, document)[0]["missing"] == ["e1"]
        found = other.ask("memory.evidence.get", record_id=record["id"])
        assert (found["spans"], found["missing"]) == ([], ["e1"])
