"""The queue file is deleted or spoiled while the service runs: work goes on by itself."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.clients import Book
from tests.crash.harness import CONSUMER, GATEWAY, Place, Tree, wait_until
from tests.crash.stored import check_all

pytestmark = [pytest.mark.crash, pytest.mark.timeout(120)]


def delete(queue: Path) -> None:
    """Delete the queue file and what SQLite keeps beside it."""
    for path in (queue, *_beside(queue)):
        path.unlink(missing_ok=True)


def delete_alone(queue: Path) -> None:
    """Delete the queue file; its log stays."""
    queue.unlink()


def fill(queue: Path) -> None:
    """Write garbage over the file, in place."""
    with queue.open("r+b") as file:
        file.write(random.Random(7).randbytes(40_000))  # noqa: S311 - repeatable, not secret


def replace(queue: Path) -> None:
    """Put another file of garbage in its place."""
    fresh = queue.with_name("fresh")
    fresh.write_bytes(random.Random(8).randbytes(40_000))  # noqa: S311 - repeatable, not secret
    fresh.replace(queue)


def _beside(queue: Path) -> list[Path]:
    return [queue.with_name(queue.name + suffix) for suffix in ("-wal", "-shm")]


@pytest.mark.parametrize("damage", [delete, delete_alone, fill, replace])
def test_work_goes_on_when_the_queue_is_lost(place: Place, damage: Callable[[Path], None]) -> None:
    """Nothing restarts; health and log say what happened; what came before and after is published."""
    book, chance = Book(), random.Random(1)  # noqa: S311 - repeatable, not secret
    tree = place.serve()
    place.wait_ok()
    with place.client() as client:
        book.send(client, book.new(60, chance))
        damage(place.queue)
        book.send(client, book.new(60, chance))
        place.wait_published()
        book.send(client, book.new(1, chance))
        found = place.wait_published()
    assert found.status == "ok"
    assert found.queue is not None
    assert found.queue.replaced >= 1
    assert any("queue file was lost" in reason for reason in found.reasons)
    assert "the queue file" in place.log.read_text(encoding="utf-8")
    assert "starting it again" not in place.log.read_text(encoding="utf-8")
    wait_until(lambda: both_on(tree, place.queue), "both processes on the file that is there")
    assert tree.terminate() == 0
    check_all(place, book)


def both_on(tree: Tree, queue: Path) -> bool:
    """Whether gateway and consumer hold the queue that stands under its path, and no deleted one."""
    for module in (GATEWAY, CONSUMER):
        held = open_queue_files(tree, module)
        if str(queue) not in held or any(name.endswith("(deleted)") for name in held):
            return False
    return True


def open_queue_files(tree: Tree, module: str) -> set[str]:
    """The files of the queue that a child has open, as the system names them."""
    child = tree.child(module)
    assert child is not None
    folder = Path(f"/proc/{child.pid}/fd")
    names = set()
    for entry in folder.iterdir():
        try:
            names.add(os.readlink(entry))  # noqa: PTH115 - a name, not a path: it may say "(deleted)"
        except FileNotFoundError:
            continue
    return {name for name in names if "queue.sqlite3" in name}


def test_an_operator_may_open_the_queue_with_a_tool(place: Place) -> None:
    """Whoever looks into the queue and closes it does not take its log from under the service."""
    tree = place.serve()
    place.wait_ok()
    # A process of its own with its own SQLite, as an operator's tool is.
    look = Tree(["-c", _LOOK, str(place.queue)], {}, place.log)
    assert look.wait_gone() == 0
    assert both_on(tree, place.queue)
    consumer = tree.child(CONSUMER)
    assert consumer is not None
    consumer.kill()
    place.wait_ok()
    with place.client() as client:
        client.flush()
    wait_until(lambda: _depth(place) == 0, "the new consumer to see the gateway's wake-up")


_LOOK = """
import sqlite3, sys
queue = sqlite3.connect(sys.argv[1])
queue.execute("SELECT count(*) FROM task").fetchall()
queue.close()
"""


def _depth(place: Place) -> int | None:
    found = place.health()
    return found.queue.depth if found and found.queue else None
