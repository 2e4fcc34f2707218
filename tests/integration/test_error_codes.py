"""Every error code of the closed set, reached for real, and what all errors have in common."""

import ast
import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from socket_gateway.assembly import READ_THREADS
from socket_gateway.protocol import METHODS
from storage.database import database
from storage.errors import DiskFullError, ErrorCode
from tests.service_support import Service, event
from tests.socket_support import PATIENCE_S

pytestmark = pytest.mark.integration

TESTS: Final = Path(__file__).parents[1]

PROOFS: Final = {
    ErrorCode.BAD_JSON: "integration/test_transport.py::test_bad_json_is_refused_and_the_connection_goes_on",
    ErrorCode.BAD_REQUEST: "integration/test_ingest.py::test_a_bad_event_fails_the_whole_call_by_name",
    ErrorCode.UNKNOWN_METHOD: "integration/test_error_codes.py::test_an_unknown_method_is_told",
    ErrorCode.TOO_LARGE: "integration/test_transport.py::test_a_line_without_end_is_refused_before_its_end",
    ErrorCode.DEADLINE: "integration/test_transport.py::test_a_request_has_its_time_to_arrive",
    ErrorCode.BUSY: "integration/test_transport.py::test_the_sixty_fifth_connection_is_busy",
    ErrorCode.FORBIDDEN: "integration/test_transport.py::test_another_users_connection_is_forbidden",
    ErrorCode.NOT_FOUND: "integration/test_observation.py::test_an_unknown_package_is_not_found",
    ErrorCode.CONFLICT: "integration/test_ingest.py::test_a_known_id_with_other_content_is_a_conflict",
    ErrorCode.REVISION_CONFLICT: "integration/test_records_objects.py::test_a_moved_revision_is_refused_with_both_numbers",
    ErrorCode.STALE: "integration/test_observation.py::test_a_lease_that_ended_passes_to_another",
    ErrorCode.EXPIRED: "integration/test_transport.py::test_the_codes_of_refusals_pass_through",
    ErrorCode.UNAVAILABLE: "integration/test_error_codes.py::test_a_database_that_takes_no_writes_is_unavailable",
    ErrorCode.DISK_FULL: "integration/test_error_codes.py::test_a_full_disk_acknowledges_nothing",
    ErrorCode.INTERNAL: "integration/test_error_codes.py::test_what_nobody_foresaw_is_internal_and_says_nothing",
}
"""Which test reaches which code through a socket."""


def test_every_code_has_its_proof() -> None:
    """The table above names a test that exists for each code of the closed set, and no other."""
    assert PROOFS.keys() == set(ErrorCode)
    for proof in PROOFS.values():
        file, _, name = proof.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(
    "method", ["memory.event.ingest", "HEALTH", "", "健康", "memory.events.ingest ", "ops"]
)
def test_an_unknown_method_is_told(service: Service, method: str) -> None:
    """A method is known by its exact name, and an unknown one is not repeated."""
    error = service.refused(method)
    assert error["code"] == "unknown_method"
    assert not method or method not in error["message"]


# ---- the disk --------------------------------------------------------------


def fill_disk(service: Service) -> None:
    """Leave the database no page more than it has."""
    service.in_writer(lambda: database.execute_sql("PRAGMA max_page_count = 1"))


def free_disk(service: Service) -> None:
    """Give it room again."""
    service.in_writer(lambda: database.execute_sql("PRAGMA max_page_count = 1000000"))


def big(event_id: str) -> dict[str, Any]:
    """An event that needs new pages."""
    return event(event_id, "大" * 30_000)


def test_a_full_disk_acknowledges_nothing(service: Service) -> None:
    """With no room left ingest answers `disk_full`, stores nothing, and works once there is room."""
    service.ingest(event("e1", "before"))
    fill_disk(service)
    error = service.refused("memory.events.ingest", events=[big("e2")])
    assert error["code"] == "disk_full"
    assert service.ask("health")["status"] == "failing"
    free_disk(service)

    assert service.ask("memory.evidence.get", event_ids=["e1", "e2"])["missing"] == ["e2"]
    assert service.ingest(big("e2"))[0] == {"id": "e2", "seq": 2, "duplicate": False}
    service.settle()
    assert service.positions()["published"] == 2


def test_a_full_disk_is_told_whoever_shares_the_commit(service: Service) -> None:
    """Requests of one group commit all hear `disk_full`, and none of them is half done."""
    fill_disk(service)
    writer = service.services.core.writer
    lines = (
        request(1, "memory.object.put", {"id": "o1"}),
        request(2, "memory.events.ingest", {"events": [big("e1")]}),
        request(3, "memory.object.put", {"id": "o3"}),
    )

    def send_all() -> None:
        # The writer is busy with this very function while they come in, so they are one group.
        for line in lines:
            service.client.send(line)
        wait_until(lambda: writer.depth() == 3)

    service.in_writer(send_all)
    answers = [service.client.answer() for _ in range(3)]
    free_disk(service)

    assert [answer["ok"] for answer in answers] == [False] * 3
    assert {answer["error"]["code"] for answer in answers} == {"disk_full"}
    assert service.ask("memory.evidence.get", event_ids=["e1"])["missing"] == ["e1"]
    assert service.ingest(big("e1"))[0]["duplicate"] is False


def test_a_full_disk_parks_no_package(service: Service) -> None:
    """A stage that can't be written for want of room is tried again; it is no package's fault."""
    text = "。".join(f"以后第{n}类单据都必须放进第{n}号柜子里面" * 3 for n in range(20))
    service.ingest(event("e1", text, objects=[{"id": "o"}]), big("e2"))
    service.ask("ops.flush")
    for _ in range(12):
        fill_disk(service)
        # What can't even be noted for want of room is raised; the ticker tries again.
        with contextlib.suppress(DiskFullError):
            service.runner.advance()
        free_disk(service)
        service.clock.advance(20 * 60_000)
        service.sweep()
        if service.positions()["published"] == 2:
            break
    service.clock.advance(20 * 60_000)
    service.work()
    assert service.positions()["dead"] == 0
    assert service.positions()["published"] == 2
    assert all(row["events"] <= 2 for row in service.packages())


def test_a_database_that_takes_no_writes_is_unavailable(service: Service) -> None:
    """A refused write is `unavailable` with a time to retry; reading goes on meanwhile."""
    service.ingest(event("e1", "before"))
    service.in_writer(lambda: database.execute_sql("PRAGMA query_only = ON"))
    error = service.refused("memory.events.ingest", events=[event("e2", "x")])
    assert (error["code"], error["retry_after_ms"]) == ("unavailable", 1_000)
    (kept,) = service.ask("memory.evidence.get", event_ids=["e1"])["events"]
    assert kept["text"] == "before"
    service.in_writer(lambda: database.execute_sql("PRAGMA query_only = OFF"))
    assert service.ingest(event("e2", "x"))[0]["duplicate"] is False


def test_a_database_that_can_not_be_opened_is_unavailable(service: Service) -> None:
    """A read that needs the file and doesn't find it is `unavailable`, not `internal`."""
    data = service.state / "data"
    data.rename(service.state / "away")
    # Threads that have read keep the file open: each has to close it, so that it must be opened.
    together = threading.Barrier(READ_THREADS)

    def close() -> None:
        together.wait(PATIENCE_S)
        database.close()

    for closing in [service.services.reads.submit(close) for _ in range(READ_THREADS)]:
        closing.result(PATIENCE_S)
    error = service.refused("memory.record.list")
    (service.state / "away").rename(data)
    assert error["code"] == "unavailable"


# ---- nothing foreseen ------------------------------------------------------


def test_what_nobody_foresaw_is_internal_and_says_nothing(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """An unexpected failure answers `internal` without a word of the user's, here or in the log."""
    private_words = "张伟的私事 private matters"
    service.services.core.writer.call(
        "operator", lambda: database.execute_sql("ALTER TABLE event RENAME COLUMN text TO words")
    )
    error = service.refused("memory.events.ingest", events=[event("e1", private_words)])
    assert error["code"] == "internal"
    assert error.keys() == {"code", "message"}
    for told in (str(error), caplog.text):
        assert "张伟" not in told
        assert "private" not in told
    assert service.ask("health")["status"] == "failing"


def test_an_impossible_request_reaches_no_handler(service: Service) -> None:
    """A request that fails validation costs the database nothing."""
    before = service.services.core.writer.depth()
    service.refused("memory.events.ingest", events=[{"id": "e1"}])
    assert service.services.core.writer.depth() == before
    assert service.positions()["received"] == 0


# ---- nothing repeated ------------------------------------------------------

CANARY: Final = "金丝雀canary7f3a"

_PLACES: Final[dict[str, Callable[[str], tuple[str, dict[str, Any]]]]] = {
    "an id that is too long": lambda c: ("memory.events.ingest", {"events": [event(c * 20, "x")]}),
    "a role": lambda c: ("memory.events.ingest", {"events": [event("e", "x") | {"source": {"role": c}}]}),
    "a kind of object": lambda c: ("memory.object.put", {"id": "o", "kind": c}),
    "text in the wrong place": lambda c: ("memory.events.ingest", {"events": c}),
    "a version": lambda c: ("memory.events.ingest", {"events": [event("e", "x") | {"v": c}]}),
    "text that is too long": lambda c: ("memory.events.ingest", {"events": [event("e", c * 4_000)]}),
    "a record's id": lambda c: ("memory.record.get", {"record_id": c}),
    "a record's evidence": lambda c: ("memory.evidence.get", {"record_id": c}),
    "an object's id": lambda c: ("memory.object.get", {"id": c}),
    "a status": lambda c: ("memory.record.list", {"status": c}),
    "a stage": lambda c: ("ops.stage.pause", {"stage": c}),
    "a package's id": lambda c: ("memory.observation.fail", {"package_id": c, "token": 1, "error": c}),
    "a proposal": lambda c: ("memory.observation.commit", {"package_id": 1, "token": 1, "proposals": [{"kind": c, "content": 5}]}),
    "a reserved id": lambda c: ("memory.object.put", {"id": f"@{c}"}),
    "a query": lambda c: ("memory.continuity.recall", {"request_id": "q", "query": [c]}),
    "a number": lambda c: ("ops.packages", {"limit": c}),
}  # fmt: skip


@pytest.mark.parametrize("make", _PLACES.values(), ids=_PLACES)
def test_an_answer_never_repeats_what_was_refused(
    service: Service, make: Callable[[str], tuple[str, dict[str, Any]]]
) -> None:
    """Whatever value is wrong, the error names its place and not the value."""
    method, params = make(CANARY)
    error = service.refused(method, **params)
    assert error["code"] in {"bad_request", "not_found"}
    assert "canary" not in str(error)
    assert "金丝雀" not in str(error)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_names_an_unknown_field(service: Service, method: str) -> None:
    """No method ignores a field that it does not know."""
    error = service.refused(method, definitely_unknown=1)
    assert error["code"] == "bad_request"
    assert "definitely_unknown" in error["message"]
    assert "docs/protocol.md" in error["message"]


def test_a_long_unknown_name_is_cut(service: Service) -> None:
    """A field's name is the caller's text too: only its beginning is told."""
    error = service.refused("health", **{CANARY * 30: 1})
    assert len(error["message"]) < 200


def request(request_id: int, method: str, params: dict[str, Any]) -> bytes:
    """A request line, as the harness makes them, under an id of one's own."""
    return orjson.dumps({"id": request_id, "method": method, "params": params}) + b"\n"


def wait_until(reached: Callable[[], bool]) -> None:
    """Look until it is so."""
    for _ in range(10_000_000):
        if reached():
            return
    raise AssertionError("it never came to be")
