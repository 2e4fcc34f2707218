"""The real process is killed at each point of forgetting and erasing, and no byte is left in the end."""

import itertools
from pathlib import Path

import pytest

from socket_gateway import protocol
from socket_gateway.client import MemoryClient, NotReachableError, ServiceError
from storage.errors import ErrorCode
from storage.faults import FAULT_POINTS
from tests.crash.harness import PATIENCE_S, Place, wait_until
from tests.crash.stored import opened, rows
from tests.forgetting_support import files_with
from tests.service_support import event

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]

POINTS = {p for p in FAULT_POINTS if p.partition(".")[0] in {"forget", "erase"}}
BURIED = "第{n}把旧钥匙埋在雨后的枇杷树下 old key {n} under the violet umbrella"
KEPT = "请记住：我喜欢把第{n}份周报写成一页表格"


def said(name: str, text: str) -> dict[str, object]:
    """An event that becomes a record."""
    return event(name, f"不对，{text}", kind="user.correction", stream=name)


def forgotten(client: MemoryClient, name: str) -> bool:
    """Whether nothing of an event is told any more."""
    return client.evidence(event_ids=[name]).missing == [name]


def forget(client: MemoryClient, name: str) -> None:
    """Forget an event, however often the service dies of it; a lost answer is followed by a look."""
    params = protocol.ForgetParams(select=protocol.ForgetSelect(event_ids=[name]), dry_run=False)
    while True:
        try:
            if forgotten(client, name):
                return
            client.forget(params)
        except NotReachableError:
            continue
        except ServiceError as error:
            if error.code is not ErrorCode.BAD_REQUEST:
                raise


def hit(once: Path) -> set[str]:
    """The points that have killed a process."""
    return {path.name for path in once.iterdir()}


def nothing_under_way(place: Place) -> bool:
    """Whether every forgetting has come to its end; only a service that answers is looked into."""
    if place.health() is None:
        return False
    with opened(place):
        return rows("SELECT count(*) FROM forgetting WHERE state != 'done'") == [(0,)]


def test_a_kill_at_each_point_of_forgetting_leaves_no_byte(place: Place) -> None:
    """Killed once at every point; then all of it is done, the rest is there, and nothing comes back."""
    once = place.folder / "once"
    once.mkdir()
    place.settings["FAULTS__KILL_AT"] = ",".join(sorted(POINTS))
    place.settings["FAULTS__ONCE_FOLDER"] = once
    tree = place.serve()
    place.wait_gateway()
    with place.client(attempts=200) as client:
        for n in itertools.count():
            before = hit(once)
            if before == POINTS:
                break
            assert n < 3 * len(POINTS), f"not reached: {POINTS - before}"
            client.ingest(
                [said(f"gone{n}", BURIED.format(n=n)), said(f"kept{n}", KEPT.format(n=n))]
            )
            client.flush()
            place.wait_published()
            forget(client, f"gone{n}")
            wait_until(lambda: nothing_under_way(place), "the end of erasing", 2 * PATIENCE_S)
        number = n
        for n in range(number):
            again = client.ingest([said(f"gone{n}", BURIED.format(n=n))]).accepted[0]
            assert (again.duplicate, again.forgotten) == (True, True)
            assert not forgotten(client, f"kept{n}")
    assert tree.terminate() == 0
    with opened(place):
        assert rows("PRAGMA integrity_check") == [("ok",)]
        assert set(rows("SELECT state FROM forgetting")) == {("done",)}
        assert rows("SELECT count(*) FROM forgetting_part") == [(0,)]
        assert rows("SELECT count(*) FROM event") == [(number,)]
    assert list((place.state / "data" / "forgetting").iterdir()) == []
    for n in range(number):
        assert (
            files_with(place.state, BURIED.format(n=n), f"第{n}把旧钥匙", f"old key {n} under")
            == []
        )
        assert files_with(place.state, KEPT.format(n=n)) != []


@pytest.mark.parametrize("moment", [1, 2, 4])
def test_a_kill_of_everything_at_any_moment_leaves_no_byte(place: Place, moment: int) -> None:
    """Gateway, consumer and whoever looks at the bytes die together; the next start ends it."""
    place.serve()
    place.wait_gateway()
    with place.client(attempts=200) as client:
        client.ingest([said("gone", BURIED.format(n=moment)), said("kept", KEPT.format(n=moment))])
        client.flush()
        place.wait_published()
        forget(client, "gone")
    wait_until(lambda: _at_work(place, moment) or nothing_under_way(place), "erasing under way")
    place.kill_all()
    place.serve()
    place.wait_gateway()
    wait_until(lambda: nothing_under_way(place), "the end of erasing")
    place.kill_all()
    with opened(place):
        assert rows("PRAGMA integrity_check") == [("ok",)]
        assert rows("SELECT state FROM forgetting") == [("done",)]
    assert files_with(place.state, BURIED.format(n=moment)) == []


def _at_work(place: Place, moment: int) -> bool:
    """Whether erasing has come that far: its steps, in order."""
    steps = ("rows", "words", "index", "exports", "bytes", "closing")
    with opened(place):
        found = rows("SELECT step FROM forgetting")
    return bool(found) and steps.index(found[0][0]) >= moment
