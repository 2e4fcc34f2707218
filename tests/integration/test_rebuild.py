"""Rebuild: the same events and recorded proposals give the same records, snapshots and index."""

import threading
from typing import Any

import pytest

from storage.database import database
from storage.faults import faults
from tests.service_support import DAY, NOW, Service, event

pytestmark = pytest.mark.integration

SAID = (
    ("以后报销单一律用 BX-T-2025 模板。", "报销"),
    ("更正一下：报销单以后一律用 BX-T-2026 模板。", "报销"),
    ("Always deploy the site from the release branch.", "site"),
    ("I prefer short answers.", None),
    ("明天下午3点前我会把三月的报销单交上去。", "报销"),
)
DERIVED = ("record", "record_version", "evidence")


def filled(service: Service) -> Service:
    """A service that has seen statements, a correction and a task that failed once."""
    for number, (text, about) in enumerate(SAID):
        objects = [{"id": about}] if about else []
        service.ingest(
            event(f"u{number}", text, at=NOW + number * DAY, stream="chat", objects=objects)
        )
        service.clock.set(NOW + number * DAY)
        service.settle()
    for number, text in enumerate(("upload failed: timeout", "Uploaded 报销单.pdf")):
        service.ingest(
            event(
                f"x{number}", text, role="executor", at=NOW + 9 * DAY + number,
                objects=[{"id": "报销"}], task={"id": "t1", "version": 1},
                data={"ok": bool(number), "action": "upload_form"},
            )
        )  # fmt: skip
    service.settle()
    return service


def ended(service: Service, begun: dict[str, Any]) -> dict[str, Any]:
    """A long operation, once it has ended."""
    done = threading.Event()
    service.services.operations.submit(done.set)
    assert done.wait(60)
    found: dict[str, Any] = service.ask("ops.operation.get", operation_id=begun["operation_id"])
    return found


def carried_out(service: Service, method: str = "ops.rebuild", **params: Any) -> dict[str, Any]:
    """The report of a long operation that went well."""
    found = ended(service, service.ask(method, **params))
    assert found["state"] == "done", found
    return dict(found["report"])


def differing(report: dict[str, dict[str, int]]) -> int:
    """How much of a report is not the same."""
    return sum(n for counts in report.values() for what, n in counts.items() if what != "same")


def rows(table: str) -> list[tuple[Any, ...]]:
    """All of a table, in the order of all columns."""
    found = database.execute_sql(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - names of ours
    return sorted((tuple(row) for row in found), key=repr)


def test_a_rebuild_of_what_is_well_changes_nothing(service: Service) -> None:
    """Statements, a correction, a commitment and an episode come out the same, to the byte."""
    filled(service)
    before = {table: rows(table) for table in (*DERIVED, "snapshot", "index_entry")}
    report = carried_out(service)
    assert differing(report) == 0, report
    assert report["records"]["same"] == len(before["record"]) > 4
    assert report["snapshots"]["same"] >= 3
    assert report["index"]["same"] > 0
    assert {table: rows(table) for table in before} == before


def test_lost_and_damaged_records_come_back(service: Service) -> None:
    """Records that were deleted or altered behind the service's back stand as they did."""
    filled(service)
    before = {table: rows(table) for table in DERIVED}

    def damage() -> None:
        database.execute_sql("DELETE FROM record WHERE subject_id = 'site'")
        database.execute_sql("UPDATE record SET content = '假的' WHERE subject_id = '报销'")
        database.execute_sql("DELETE FROM evidence WHERE record_id IN (SELECT id FROM record)")

    service.in_writer(damage)
    compared = carried_out(service, dry_run=True)
    assert compared["records"]["added"] == 1
    assert compared["records"]["changed"] >= 3
    assert rows("record") != before["record"]
    assert differing(carried_out(service)) > 0
    assert {table: rows(table) for table in DERIVED} == before
    assert differing(carried_out(service)) == 0


def test_lost_index_entries_and_snapshots_come_back(service: Service) -> None:
    """Without entries nothing would be found; a rebuild finds what is missing and writes it."""
    filled(service)

    def damage() -> None:
        database.execute_sql("DELETE FROM index_entry WHERE seq % 2 = 0")
        database.execute_sql("DELETE FROM snapshot WHERE object_id = '报销'")
        database.execute_sql("UPDATE snapshot SET hash = 'x' WHERE object_id = '@owner'")

    service.in_writer(damage)
    hashes = {row[:2]: row for row in rows("snapshot")}
    report = carried_out(service)
    assert report["index"]["added"] > 0
    assert (report["snapshots"]["added"], report["snapshots"]["changed"]) == (1, 1)
    assert {row[:2] for row in rows("snapshot")} > hashes.keys()
    assert differing(carried_out(service)) == 0


def test_a_confirmation_a_correction_and_an_end_are_replayed(service: Service) -> None:
    """What the user did to records, and what time did, is part of what is made anew."""
    filled(service)
    found = {record["kind"]: record for record in service.records(status="active")}
    rule = next(r for r in service.records(object="site") if r["status"] == "active")
    said = "不对，网站以后从 main 分支部署。"
    service.ingest(event("fix", said, at=NOW + 20 * DAY, objects=[{"id": "site"}]))
    service.clock.set(NOW + 20 * DAY)
    service.ask(
        "memory.record.correct",
        record_id=rule["id"],
        expected_revision=rule["object_revision"],
        content="网站以后从 main 分支部署。",
        user_request={"event_id": "fix", "quote": said},
    )
    service.settle()
    assert found
    statuses = {record["id"]: record["status"] for record in service.records()}
    assert statuses[rule["id"]] == "superseded"
    assert differing(carried_out(service)) == 0
    assert {record["id"]: record["status"] for record in service.records()} == statuses


def test_owners_are_rebuilt_apart(service: Service) -> None:
    """An operator may have one owner's memory made anew and leave the others as they are."""
    for owner in ("ann", "王伟"):
        service.ingest(event("u", "以后报销都用新模板。", objects=[{"id": "o"}]), owner=owner)
    service.settle()
    service.in_writer(lambda: database.execute_sql("DELETE FROM record"))
    assert carried_out(service, owner="ann")["records"] == {
        "same": 0, "changed": 0, "added": 1, "removed": 0,
    }  # fmt: skip
    assert not service.records(owner="王伟")
    assert len(service.records(owner="ann")) == 1


def test_an_operation_that_was_cut_off_says_so(service: Service) -> None:
    """After a restart nothing claims to be running still, and a made-up id is not found."""

    def begun() -> None:
        database.execute_sql(
            "INSERT INTO operation (kind, state, started_at, report) VALUES ('rebuild','running',1,'{}')"
        )

    service.in_writer(begun)
    service.restart()
    found = service.ask("ops.operation.get", operation_id=1)
    assert (found["state"], bool(found["error"])) == ("failed", True)
    assert service.refused("ops.operation.get", operation_id=77)["code"] == "not_found"


def test_a_subject_that_can_t_be_replayed_keeps_no_other_from_it(service: Service) -> None:
    """It is counted as failed and stands as it did; everything else is made anew."""
    filled(service)

    def damage() -> None:
        database.execute_sql(
            "UPDATE record_change SET change = 'expire', record_id = 'r-gone',"
            " body = '{\"reason\":\"validity\"}' WHERE subject_id = 'site'"
        )
        database.execute_sql("DELETE FROM record WHERE subject_id = '报销'")

    before = service.records(object="site")
    service.in_writer(damage)
    found = ended(service, service.ask("ops.rebuild"))
    assert found["state"] == "failed"
    assert "1 objects could not be made anew" in found["error"]
    assert found["report"]["records"]["failed"] == 1
    assert service.records(object="site") == before
    assert len(service.records(object="报销")) >= 3


def test_what_is_forgotten_meanwhile_is_not_written_back(service: Service) -> None:
    """Entries worked out before a forgetting are worked out again after it (mission D8)."""
    filled(service)
    service.in_writer(lambda: database.execute_sql("DELETE FROM index_entry"))
    faults.arm(
        "rebuild.before_entries",
        action=lambda: service.ask("memory.forget", select={"event_ids": ["u2"]}, dry_run=False),
    )
    report = carried_out(service)
    assert report["index"]["added"] > 0
    entries = database.execute_sql("SELECT document, fields FROM index_entry WHERE NOT gone")
    documents = dict(entries.fetchall())
    assert documents
    assert not [name for name, terms in documents.items() if "deploy" in terms]
    assert differing(carried_out(service)) == 0
