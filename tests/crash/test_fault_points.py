"""The real process is killed exactly at each named fault point, and nothing is lost or doubled."""

import fcntl
import itertools
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from pydantic import JsonValue

from socket_gateway import protocol
from socket_gateway.client import MemoryClient, NotReachableError, ServiceError
from storage.database import database
from storage.errors import ErrorCode
from storage.faults import FAULT_POINTS
from tests.crash.clients import Book, Event, make_event
from tests.crash.harness import Place, wait_until
from tests.crash.stored import check_all, opened

pytestmark = [pytest.mark.crash, pytest.mark.timeout(180)]

OPERATIONS = tuple(
    name
    for name in dict.fromkeys(point.partition(".")[0] for point in FAULT_POINTS)
    if name not in {"forget", "erase"}
)
"""What has fault points: the writer's operations, the wake-up, the follower; forgetting is elsewhere."""


class Bench:
    """A service that kills itself at an operation's points, and one who drives it there.

    Args:
        place: Where it runs.
        operation: Whose points are armed, each to kill once.
    """

    def __init__(self, place: Place, operation: str) -> None:
        self.place = place
        self.book = Book()
        self.points = {p for p in FAULT_POINTS if p.partition(".")[0] == operation}
        self.client: MemoryClient = place.client(attempts=200)
        self._once = place.folder / "once"
        self._once.mkdir()
        self.chance = random.Random(operation)  # noqa: S311 - repeatable, not secret
        place.settings["FAULTS__KILL_AT"] = ",".join(sorted(self.points))
        place.settings["FAULTS__ONCE_FOLDER"] = self._once

    def hit(self) -> set[str]:
        """The points that have killed a process."""
        return {path.name for path in self._once.iterdir()}

    def put_in(self, event: Event | None = None) -> str:
        """Ingest one event, through however many deaths; its id."""
        fresh = self.book.new(1, self.chance)[0]
        sent = {**fresh, **(event or {})}
        self.book.send(self.client, [sent])
        return str(sent["id"])

    def until_hit_again(self, drive: Callable[[int], None]) -> None:
        """Drive until each point has killed once.

        Raises:
            AssertionError: The drive does not lead to a point that is left.
        """
        for turn in itertools.count():
            before = len(self.hit())
            if before == len(self.points):
                return
            drive(turn)
            wait_until(partial(self._more_than, before), f"another kill of {self.points}")

    def _more_than(self, number: int) -> bool:
        return len(self.hit()) > number


def ingest(bench: Bench, turn: int) -> None:
    """Events come in; the consumer filters, observes, merges, indexes and publishes them."""
    del turn
    chance = random.Random(len(bench.book.acknowledged))  # noqa: S311 - repeatable, not secret
    said = make_event("x", 0, chance)
    # A correction closes its package at once and becomes a record.
    said |= {
        "id": f"correction-{len(bench.book.acknowledged)}",
        "kind": "user.correction",
        "source": {"role": "user"},
        "text": f"不对，第{len(bench.book.acknowledged)}张发票应该算在差旅费里",
    }
    bench.put_in()
    bench.put_in(said)


def put_object(bench: Bench, turn: int) -> None:
    """An object is put; a lost answer is followed by a look."""
    params = protocol.ObjectPutParams(id=f"对象-{turn}", title="asset")
    while True:
        try:
            bench.client.put_object(params)
        except NotReachableError:
            continue
        except ServiceError as error:
            if error.code is not ErrorCode.REVISION_CONFLICT:
                raise
        break
    found = bench.client.get_object(params.id)
    assert (found.title, found.revision) == ("asset", 1)


def recall(bench: Bench, turn: int) -> None:
    """A recall that its caller does not wait for."""
    request = f"r{turn}"
    asked = bench.client.recall("第1份报销单 report", request_id=request, wait_ms=0)
    assert asked.state in {"pending", "not_found", "complete"}
    wait_until(
        lambda: bench.client.recall("第1份报销单 report", request_id=request).state != "pending",
        "an answer to a pending recall",
    )


def operator(bench: Bench, turn: int) -> None:
    """A stage is paused and resumed."""
    del turn
    bench.client.pause("publish")
    assert bench.client.resume("publish").paused == {}


def claim_one(bench: Bench) -> protocol.ClaimedPackage:
    """A package for an outside worker; a claim whose answer is lost comes back by its lease."""

    def claimed() -> protocol.ClaimedPackage | None:
        try:
            packages = bench.client.claim(protocol.ClaimParams(worker="w", lease_ms=1_000)).packages
        except NotReachableError:
            return None
        return packages[0] if packages else None

    return wait_until(claimed, "a package to claim")


def external(bench: Bench, turn: int) -> None:
    """An outside worker claims a package and hands in what it made of it."""
    del turn
    bench.put_in()
    commit_one(bench)


def commit_one(bench: Bench) -> None:
    """Claim and commit one package; the same commit again gives the same answer."""
    package = claim_one(bench)
    first = package.events[0]
    quoted: dict[str, JsonValue] = {"event": first.id, "quote": first.text}
    params = protocol.CommitParams(
        package_id=package.id,
        token=package.token,
        proposals=[{"kind": "episode", "content": first.text, "evidence": [quoted]}],
    )
    try:
        done = bench.client.commit(params)
    except ServiceError as error:
        # It was killed for longer than its lease: another claim gets it.
        if error.code is not ErrorCode.STALE:
            raise
        return
    assert bench.client.commit(params) == done


def fail(bench: Bench, turn: int) -> None:
    """An outside worker gives a package back."""
    del turn
    bench.put_in()
    package = claim_one(bench)
    params = protocol.FailParams(
        package_id=package.id, token=package.token, error="今天不行 not today", retry_after_ms=1
    )
    try:
        bench.client.fail(params)
    except NotReachableError:
        return
    except ServiceError as error:
        if error.code is not ErrorCode.STALE:
            raise


def act(bench: Bench, turn: int) -> None:
    """The user confirms a record and sets it right; asked again, both answer the same."""
    client, about = bench.client, {"objects": [{"id": f"act-{turn}"}], "source": {"role": "user"}}
    bench.put_in(about | {"id": f"said-{turn}", "text": f"以后{turn}号报销都用新模板"})
    client.flush()
    wanted = protocol.RecordListParams(object=f"act-{turn}")
    (record,) = wait_until(lambda: client.records(wanted).items, "a record to confirm")
    yes = bench.put_in(about | {"id": f"yes-{turn}", "text": "确认这条规则"})
    confirm = protocol.ConfirmParams(
        record_id=record.id,
        expected_revision=record.object_revision,
        user_request=protocol.UserRequest(event_id=yes, quote="确认这条规则"),
    )
    held = client.confirm(confirm)
    assert client.confirm(confirm) == held
    text = f"以后{turn}号报销改用旧模板"
    no = bench.put_in(about | {"id": f"no-{turn}", "text": text})
    correct = protocol.CorrectParams(
        record_id=record.id,
        expected_revision=held.record.object_revision,
        content=f"以后{turn}号报销都用旧模板",
        user_request=protocol.UserRequest(event_id=no, quote=text),
    )
    made = client.correct(correct)
    assert client.correct(correct) == made
    statuses = sorted(found.status for found in client.records(wanted).items)
    assert statuses == ["active", "superseded"]


def rebuild(bench: Bench, turn: int) -> None:
    """Records and entries are lost behind the service's back; an operator has them made anew."""
    ingest(bench, turn)
    bench.place.wait_published()
    with opened(bench.place):
        database.execute_sql("DELETE FROM record")
        database.execute_sql("DELETE FROM index_entry")

    def done() -> bool:
        try:
            found = bench.client.rebuild()
            while found.state == "running":
                found = bench.client.operation(found.operation_id)
        except NotReachableError:
            return False
        return found.state == "done"

    wait_until(done, "the records made anew")


def age(bench: Bench, turn: int) -> None:
    """A record is over by the clock as soon as it is kept, and ends with the next sweep."""
    bench.put_in({"text": f"第{turn}号临时安排 a plan for today"})
    package = claim_one(bench)
    quoted: dict[str, JsonValue] = {"event": package.events[0].id, "quote": package.events[0].text}
    params = protocol.CommitParams(
        package_id=package.id,
        token=package.token,
        proposals=[
            {
                "kind": "episode",
                "content": package.events[0].text,
                "evidence": [quoted],
                "valid_to": 1_000,
            }
        ],
    )
    try:
        bench.client.commit(params)
    except ServiceError as error:
        # It was killed for longer than its lease: another claim gets it.
        if error.code is not ErrorCode.STALE:
            raise


@contextmanager
def writers_held(place: Place) -> Iterator[None]:
    """Every writer waits, so that whoever has claimed packages keeps them."""
    lock = os.open(place.write_lock, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def renew(bench: Bench, turn: int) -> None:
    """Packages are under work for longer than half their lease."""
    del turn
    before = bench.hit()

    def hold_up() -> bool:
        if bench.hit() != before:
            return True
        client, place = bench.client, bench.place
        if not any(client.packages(state=state).items for state in ("ready", "leased")):
            bench.book.send(client, bench.book.new(200, bench.chance))
        with writers_held(place):
            if client.packages(state="leased").items:
                # The ticker stands still: it waits for the lock, in what it writes first.
                wait_until(lambda: _silent(place), "a renewal that waits for the lock")
        return False

    wait_until(hold_up, "a package under work")


def _silent(place: Place) -> bool:
    found = place.health()
    if found is None or found.queue is None:
        return False
    seen = found.queue.consumer_seen_ms
    return seen is not None and seen > 2_000


DRIVES: dict[str, Callable[[Bench, int], None]] = {
    **dict.fromkeys(
        ("ingest", "filter", "close", "claim", "observe", "merge", "index", "publish"), ingest
    ),
    "wake": ingest,
    "follow": ingest,
    "object": put_object,
    "recall": recall,
    "operator": operator,
    "external": external,
    "fail": fail,
    "renew": renew,
    "act": act,
    "operation": rebuild,
    "rebuild": rebuild,
    "age": age,
}
SETTINGS: dict[str, dict[str, object]] = {
    "external": {"OBSERVER__KIND": "external"},
    "fail": {"OBSERVER__KIND": "external"},
    "age": {"OBSERVER__KIND": "external", "RETENTION__SWEEP_MS": 100},
    # Nothing closes by age, so that renewing is the first thing that the ticker writes.
    "renew": {"PIPELINE__PACKAGE_AGE_MS": 600_000, "PIPELINE__LEASE_MS": 400},
}


def finish(bench: Bench) -> None:
    """Let everything be published, by an outside worker where there has to be one."""
    client = bench.client
    client.flush()
    if bench.place.settings.get("OBSERVER__KIND") == "external":

        def observed() -> bool:
            if client.positions().backlog == 0:
                return True
            claimed = client.claim(protocol.ClaimParams(worker="w", max=32)).packages
            for package in claimed:
                params = protocol.CommitParams(
                    package_id=package.id, token=package.token, proposals=[],
                    nothing_worth_keeping="nothing new",
                )  # fmt: skip
                client.commit(params)
            return False

        wait_until(observed, "all packages observed")
    bench.place.wait_published()
    # Packages that carry no events hold no position back.
    wait_until(
        lambda: not (client.packages(state="ready").items or client.packages(state="leased").items),
        "all packages done",
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_kill_at_each_point_loses_and_doubles_nothing(place: Place, operation: str) -> None:
    """Killed once at every point of an operation; then all is there once and published."""
    place.settings.update(SETTINGS.get(operation, {}))
    bench = Bench(place, operation)
    tree = place.serve()
    place.wait_gateway()
    with bench.client:
        bench.until_hit_again(partial(DRIVES[operation], bench))
        finish(bench)
        bench.book.check_served(bench.client, list(bench.book.acknowledged))
    assert bench.hit() == bench.points
    assert tree.terminate() == 0
    check_all(place, bench.book)
