"""The small parent: drains on SIGTERM, brings dead children back, and takes them with it."""

import json
import os
import random
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.crash.clients import Book, write_until_death
from tests.crash.harness import CONSUMER, GATEWAY, Place, Tree, wait_until
from tests.crash.stored import check_all

pytestmark = [pytest.mark.crash, pytest.mark.timeout(120)]


def child(tree: Tree, module: str) -> psutil.Process:
    """The tree's child that runs this module, once there is one."""
    return wait_until(lambda: tree.child(module), f"a running {module}")


def test_sigterm_drains_under_load(place: Place) -> None:
    """It ends in time with status 0, though clients write, and keeps what it said yes to."""
    book = Book()
    tree = place.serve()
    place.wait_ok()
    with ThreadPoolExecutor(3) as pool:
        writing = [
            pool.submit(write_until_death, place, book, seed, (1, 5, 20)) for seed in range(3)
        ]
        wait_until(lambda: len(book.acknowledged) > 100, "some load")
        assert tree.terminate() == 0
    for client_end in writing:
        client_end.result()
    # The parent kills, and says so, what has not ended after ten seconds.
    assert "did not drain in time" not in place.log.read_text(encoding="utf-8")
    assert not place.socket.exists()
    tree = place.serve()
    place.wait_published()
    assert tree.terminate() == 0
    check_all(place, book)


def test_serve_says_as_json_when_it_listens(place: Place) -> None:
    """One line names the socket and the process to end, once, however often the gateway starts."""
    tree = place.serve("--json")
    assert tree.process.stdout is not None
    assert json.loads(tree.process.stdout.readline()) == {
        "socket": str(place.socket), "pid": tree.process.pid,
    }  # fmt: skip
    place.wait_ok()
    gateway = child(tree, GATEWAY)
    gateway.kill()
    wait_until(lambda: (c := tree.child(GATEWAY)) and c.pid != gateway.pid, "another gateway")
    place.wait_ok()
    tree.process.terminate()
    assert tree.process.stdout.read() == b""
    assert tree.wait_gone() == 0


def test_a_killed_consumer_comes_back(place: Place) -> None:
    """Health is degraded while there is none, ok again with another; the gateway stays."""
    tree = place.serve()
    place.wait_ok()
    gateway, consumer = child(tree, GATEWAY), child(tree, CONSUMER)
    consumer.kill()
    wait_until(lambda: (h := place.health()) and h.status == "degraded", "degraded health")
    found = place.wait_ok()
    assert found.queue is not None
    assert found.queue.consumer_seen_ms is not None
    assert child(tree, CONSUMER).pid != consumer.pid
    assert child(tree, GATEWAY).pid == gateway.pid
    assert "consumer ended with status -9" in place.log.read_text(encoding="utf-8")


def test_a_killed_gateway_comes_back(place: Place) -> None:
    """Clients reach it again, with everything acknowledged; the consumer stays."""
    book, chance = Book(), random.Random(4)  # noqa: S311 - repeatable, not secret
    tree = place.serve()
    place.wait_ok()
    gateway, consumer = child(tree, GATEWAY), child(tree, CONSUMER)
    with place.client(attempts=200) as client:
        book.send(client, book.new(20, chance))
        gateway.kill()
        book.send(client, book.new(20, chance))
        book.check_served(client, list(book.acknowledged))
    assert child(tree, GATEWAY).pid != gateway.pid
    assert child(tree, CONSUMER).pid == consumer.pid
    place.wait_published()
    assert tree.terminate() == 0
    check_all(place, book)


def test_children_die_with_their_parent(place: Place) -> None:
    """SIGKILL to the parent alone leaves no orphan that would go on with old code."""
    tree = place.serve()
    place.wait_ok()
    children = [child(tree, GATEWAY), child(tree, CONSUMER)]
    os.kill(tree.process.pid, signal.SIGKILL)
    tree.wait_gone()
    wait_until(lambda: not any(_lives(one) for one in children), "the end of both children")
    assert [_lives(one) for one in children] == [False, False]


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("content", [b"just some text, no database", None])
def test_a_foreign_database_is_refused(place: Place, content: bytes | None) -> None:
    """Exit status 1 with the path named; not a byte of it changes, and nothing is put beside it."""
    path = place.folder / "other" / "memory.sqlite3"
    path.parent.mkdir()
    if content is None:
        _make_foreign_database(place, path)
    else:
        path.write_bytes(content)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    place.settings["DB"] = path
    assert place.serve().wait_gone() == 1
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
    assert str(path) in place.log.read_text(encoding="utf-8")


def _make_foreign_database(place: Place, path: Path) -> None:
    made = Tree(["-c", _FOREIGN, str(path)], {}, place.log)
    assert made.wait_gone() == 0


# A process of its own: two SQLite libraries do not go together in one.
_FOREIGN = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1])
other.execute("CREATE TABLE memory (id INTEGER)")
other.commit()
other.close()
"""


def test_a_second_service_is_refused(place: Place) -> None:
    """Exit status 1 with the socket named; the first one goes on."""
    first = place.serve()
    place.wait_ok()
    gateway, consumer = child(first, GATEWAY), child(first, CONSUMER)
    assert place.serve().wait_gone() == 1
    assert str(place.socket) in place.log.read_text(encoding="utf-8")
    assert place.wait_ok().status == "ok"
    assert [child(first, GATEWAY).pid, child(first, CONSUMER).pid] == [gateway.pid, consumer.pid]
