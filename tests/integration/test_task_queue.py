"""The queue of wake-ups: a file that may be lost, and payloads that hold nothing but a name."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cysqlite
import orjson
import pytest
from huey import Huey
from huey.registry import Message

from pipeline.runner import Work
from pipeline.task_queue import JsonSerializer, make_queue
from pipeline.wake import Waker

pytestmark = pytest.mark.integration

PATIENCE_S = 20.0


class Queue:
    """A queue with one task, and what that task has done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.huey = make_queue(path)
        self.ran: list[Any] = []
        self.task = self.huey.task(name="advance")(lambda *args: self.ran.append(args))

    def drain(self) -> int:
        """Run what waits, as a consumer does; how much it was."""
        count = 0
        while (task := self.huey.dequeue()) is not None:
            self.huey.execute(task)
            count += 1
        return count

    def payloads(self) -> list[bytes]:
        """What stands in the file."""
        connection = cysqlite.connect(str(self.path))
        rows = connection.execute("SELECT data FROM task").fetchall()
        connection.close()
        return [bytes(row[0]) for row in rows]


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    """A queue on a file that isn't there yet."""
    made = Queue(tmp_path / "data" / "queue.sqlite3")
    yield made
    made.huey.storage._drop_connection()


def test_nothing_is_opened_before_the_first_use(queue: Queue) -> None:
    """Making a queue touches no file, so that importing the tasks doesn't either."""
    assert not queue.path.parent.exists()
    queue.task()
    assert queue.path.stat().st_mode & 0o777 == 0o600
    assert queue.path.parent.stat().st_mode & 0o777 == 0o700


def test_what_is_enqueued_is_run(queue: Queue) -> None:
    """A wake-up comes out as it went in."""
    queue.task()
    queue.task(7)
    assert queue.huey.pending_count() == 2
    assert queue.drain() == 2
    assert queue.ran == [(), (7,)]
    assert queue.huey.pending_count() == 0


def test_a_payload_is_json_with_a_name_and_ids(queue: Queue) -> None:
    """Nothing in the file is anything but JSON: nobody can make the service unpickle."""
    queue.task(7)
    (payload,) = queue.payloads()
    found = orjson.loads(payload)
    assert found.keys() == {"id", "name", "args"}
    assert found["name"].endswith("advance")
    assert found["args"] == [7]


def test_a_message_survives_its_way(queue: Queue) -> None:
    """What the serializer writes it reads back."""
    serializer = JsonSerializer()
    sent = Message("id-1", "advance", args=(1, "二"))
    read = serializer.deserialize(serializer.serialize(sent))
    assert (read.id, read.name, read.args, read.kwargs) == ("id-1", "advance", (1, "二"), {})
    assert queue.huey.serializer.__class__ is JsonSerializer


def test_results_are_not_kept(queue: Queue) -> None:
    """The queue remembers nothing of what its tasks returned."""
    queue.task()
    queue.drain()
    assert queue.huey.result_count() == 0


# ---- a file that is lost ---------------------------------------------------


def delete(path: Path) -> None:
    """Remove the file alone, as somebody tidying up would."""
    path.unlink()


def delete_all(path: Path) -> None:
    """Remove the file and what lies beside it."""
    for file in path.parent.glob(path.name + "*"):
        file.unlink()


def fill(path: Path) -> None:
    """Overwrite it in place with what is no database."""
    path.write_bytes(b"garbage " * 1_000)


def replace(path: Path) -> None:
    """Put another queue's file in its place."""
    other = make_queue(path.with_name("other.sqlite3"))
    other.task(name="advance")(lambda: None)()
    other.storage._drop_connection()
    path.with_name("other.sqlite3").replace(path)


def empty(path: Path) -> None:
    """Leave nothing in it."""
    for file in path.parent.glob(path.name + "-*"):
        file.unlink()
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [delete, delete_all, fill, replace, empty])
def test_a_lost_file_is_made_anew(queue: Queue, damage: Any) -> None:
    """After any loss the next wake-ups go through again, soon and without a restart."""
    queue.task()
    damage(queue.path)
    for _ in range(3):
        try:
            queue.task()
            queue.drain()
        except (cysqlite.Error, cysqlite.OperationalError):
            continue
    queue.drain()
    queue.ran.clear()
    queue.task(9)
    assert queue.drain() == 1
    assert queue.ran == [(9,)]
    assert queue.huey.storage.replaced >= (0 if damage is empty else 1)


def test_a_consumer_sees_what_another_process_puts_into_the_new_file(queue: Queue) -> None:
    """A running consumer doesn't stay with an unlinked file that nobody writes to any more."""
    queue.task()
    queue.drain()
    delete_all(queue.path)
    other = Queue(queue.path)
    other.task(5)
    assert queue.drain() == 1
    assert queue.ran[-1] == (5,)
    other.huey.storage._drop_connection()


def test_a_damaged_file_is_kept_aside(queue: Queue) -> None:
    """What was there instead of a queue is moved away, not thrown away."""
    queue.task()
    queue.huey.storage._drop_connection()
    fill(queue.path)
    queue.task()
    aside = queue.path.with_name(queue.path.name + ".damaged")
    assert aside.read_bytes().startswith(b"garbage")


def test_threads_share_a_lost_file(queue: Queue) -> None:
    """Several threads that find the file gone at once make one new one, and all go on."""
    queue.task()
    queue.drain()
    delete_all(queue.path)
    threads = [threading.Thread(target=queue.task, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert queue.drain() == 8
    assert queue.huey.storage.replaced == 1


def test_an_unreadable_payload_is_an_error_and_then_gone(queue: Queue) -> None:
    """What is no JSON fails alone; what comes after it is run."""
    queue.task(1)
    queue.drain()
    queue.huey.storage.enqueue(b"\x80\x04 not json")
    queue.task(2)
    with pytest.raises(orjson.JSONDecodeError):
        queue.huey.dequeue()
    assert queue.drain() == 1
    assert queue.ran[-1] == (2,)


# ---- waking ----------------------------------------------------------------


class Rings:
    """Counts wake-ups, and may fail."""

    def __init__(self) -> None:
        self.count = 0
        self.rang = threading.Event()
        self.error: Exception | None = None

    def __call__(self) -> None:
        """Ring."""
        self.count += 1
        self.rang.set()
        if self.error is not None:
            raise self.error


def test_many_wishes_are_one_wake_up() -> None:
    """Wake-ups that come close together are sent once, and the last is never dropped."""
    rings = Rings()
    waker = Waker({Work.FILTER: rings, Work.ADVANCE: Rings()})
    for _ in range(1_000):
        waker.wake(Work.FILTER)
    waker.close()
    assert 1 <= rings.count < 100


def test_a_wish_is_sent_before_the_end() -> None:
    """Closing sends what is still wanted."""
    rings = Rings()
    waker = Waker({Work.ADVANCE: rings})
    waker.wake(Work.ADVANCE)
    waker.close()
    assert rings.count == 1


def test_a_failing_queue_is_nobodys_problem(caplog: pytest.LogCaptureFixture) -> None:
    """A wake-up that can't be sent is logged by its kind alone, and the next one is tried."""
    rings = Rings()
    rings.error = RuntimeError("a private text")
    waker = Waker({Work.FILTER: rings})
    waker.wake(Work.FILTER)
    assert rings.rang.wait(PATIENCE_S)
    rings.rang.clear()
    waker.wake(Work.FILTER)
    assert rings.rang.wait(PATIENCE_S)
    waker.close()
    assert "a wake-up was lost: RuntimeError" in caplog.text
    assert "private" not in caplog.text


def test_a_queue_is_hueys_own(queue: Queue) -> None:
    """A stock consumer can run it."""
    assert isinstance(queue.huey, Huey)
    assert queue.huey.immediate is False
