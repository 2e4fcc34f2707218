"""Integration: what SQLite leaves behind in unused room of its pages is found and overwritten."""

import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.forgetting import checking
from pipeline.forgetting.checking import CheckFailedError, Finding, Looking, Task
from storage import database_pages
from storage.clock import ManualClock
from storage.database import database, open_database
from storage.migrations.registry import migrate
from storage.quiet import empty_log, quiet
from storage.writer import Writer

pytestmark = pytest.mark.integration


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """An opened database with all tables."""
    found = tmp_path / "data" / "memory.sqlite3"
    opened = open_database(found)
    migrate(ManualClock())
    yield found
    opened.close()


def fill(number: int, seed: int = 1) -> list[str]:
    """Versions of records under ids in no order, as digests are; each holds a word of its own."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    rows = []
    for place in range(number):
        letters = chance.choices("abcdefghij", k=chance.choice([10, 60, 200, 700]))
        word = f"MARK{seed:02}x{place:06}-{''.join(letters)}"
        rows.append(("local", f"r-{chance.getrandbits(48):012x}", word))
    with database.savepoint() if database.in_transaction() else database.atomic("IMMEDIATE"):
        database.connection().executemany(
            "INSERT INTO record_version (owner_scope, record_id, revision, recorded_at, body)"
            " VALUES (?,?,1,1,?)",
            rows,
        )
    return [word for _, _, word in rows]


def delete(words: list[str]) -> None:
    """Delete the rows that hold these."""
    with database.atomic("IMMEDIATE"):
        marks = ",".join("?" * len(words))
        database.execute_sql(f"DELETE FROM record_version WHERE body IN ({marks})", tuple(words))  # noqa: S608 - marks only


def still_in(path: Path, words: list[str]) -> list[str]:
    """Which of these stand in the file, once the log is empty."""
    lock = path.with_name("lock")
    assert empty_log(lock)
    database.close()
    raw = path.read_bytes()
    return [word for word in words if word[:20].encode() in raw]


def task(path: Path, words: list[str], *, sweep: bool = False) -> Task:
    """Look for words in the database and its folder."""
    return Task(
        database=str(path),
        lock=str(path.with_name("lock")),
        folders=(str(path.parent),),
        skipped=(),
        pieces=tuple(word[:20].encode().hex() for word in words),
        sweep=sweep,
    )


def test_deleting_leaves_copies_behind(path: Path) -> None:
    """Why all this: `secure_delete` overwrites rows, not the copies that page splits have left."""
    words = fill(2_000)
    gone = words[::4]
    delete(gone)
    assert still_in(path, gone) != []


@pytest.mark.parametrize("sweep", [False, True])
def test_a_look_overwrites_what_was_left_behind(path: Path, *, sweep: bool) -> None:
    """Afterwards the words are nowhere, the other rows are whole, and the file is sound."""
    words = fill(2_000)
    gone = words[::4]
    delete(gone)
    found = checking.check(task(path, [] if sweep else gone, sweep=sweep))
    assert found.busy is False
    assert found.left == {}
    assert found.cleared > 0
    open_database(path)
    assert still_in(path, gone) == []
    rows = {row[0] for row in database.execute_sql("SELECT body FROM record_version").fetchall()}
    assert rows == set(words) - set(gone)
    assert database.execute_sql("PRAGMA integrity_check").fetchone() == ("ok",)


def test_it_may_be_done_while_others_write(path: Path) -> None:
    """Writers wait their turn; nothing that they write is lost or damaged."""
    words = fill(1_000)
    gone = words[::3]
    delete(gone)
    stop = threading.Event()
    written: list[int] = []

    def write() -> None:
        with Writer(database.obj, path.with_name("lock")) as writer:
            while not stop.is_set():
                number = len(written)
                more = writer.call("operator", lambda n=number: fill(3, seed=1_000 + n))  # type: ignore[misc]
                written.append(len(more))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        found = [Looking()(task(path, gone)) for _ in range(3)]
    finally:
        stop.set()
        thread.join()
    assert [one.left for one in found if not one.busy] == [{}] * 3
    assert written
    count = database.execute_sql("SELECT count(*) FROM record_version").fetchone()[0]
    assert count == len(words) - len(gone) + sum(written)
    assert database.execute_sql("PRAGMA integrity_check").fetchone() == ("ok",)
    assert still_in(path, gone) == []


def test_what_rows_still_hold_is_explained_and_the_rest_is_told_by_file(path: Path) -> None:
    """A word in a row is no remains; in a file that no row explains it is."""
    words = fill(50)
    database.execute_sql(
        "INSERT INTO waiting_call (seq, owner, lane, event_id, since) VALUES (1, ?, '', '', 0)",
        (words[0],),
    )
    (path.parent / "notes.txt").write_text(f"{words[0]} and lost-forever-and-ever")
    wanted = [words[0], "lost-forever-and-ever"]
    assert checking.check(task(path, wanted)).left == {str(path.parent / "notes.txt"): 1}


def test_a_short_text_is_told_from_names_of_fields(path: Path) -> None:
    """What is as short as a word counts where rows can explain it; tables' own names are explained."""
    fill(10)
    (path.parent / "meta.json").write_text('{"context": 1, "nothing_kept": 2}')
    assert checking.check(task(path, ["context", "nothing", "record_version"])).left == {}


def test_a_word_across_two_reads_of_a_file_is_found(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are read in pieces, and a find may begin in one and end in the next."""
    monkeypatch.setattr(checking, "_CHUNK", 16)
    (path.parent / "notes.txt").write_text("0123456789lost-forever-and-ever")
    found = checking.check(task(path, ["lost-forever-and-ever"]))
    assert list(found.left.values()) == [1]


def test_links_and_sockets_are_not_followed(path: Path, tmp_path: Path) -> None:
    """What lies elsewhere is not the service's to look into."""
    (tmp_path / "elsewhere.txt").write_text("lost-forever-and-ever")
    (path.parent / "link").symlink_to(tmp_path / "elsewhere.txt")
    os.mkfifo(path.parent / "pipe")
    assert checking.check(task(path, ["lost-forever-and-ever"])).left == {}


def test_a_reader_is_told_as_busy(path: Path) -> None:
    """Nothing is known while the write-ahead log can't be emptied."""
    fill(10)
    with database.atomic(lock_type="DEFERRED"):
        database.execute_sql("SELECT count(*) FROM record_version").fetchone()
        thread: list[Finding] = []
        other = threading.Thread(target=lambda: thread.append(Looking()(task(path, ["x" * 20]))))
        other.start()
        other.join()
    assert thread == [Finding(busy=True)]


def test_quiet_is_not_so_under_a_reader(path: Path) -> None:
    """A reader keeps the log, and then nobody may touch the file."""
    fill(10)
    seen: list[bool] = []

    def look() -> None:
        with quiet(path, path.with_name("lock")) as alone:
            seen.append(alone)
        database.close()

    with database.atomic(lock_type="DEFERRED"):
        database.execute_sql("SELECT count(*) FROM record_version").fetchone()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [False]


def test_pages_in_caches_count_for_nothing_after_quiet(path: Path) -> None:
    """A connection that has read a page before does not write its old unused room back."""
    words = fill(1_000)
    gone = words[::3]
    delete(gone)
    database.execute_sql("SELECT count(*) FROM record_version").fetchone()
    assert checking.Looking()(task(path, gone)).left == {}
    fill(300, seed=7)
    assert still_in(path, gone) == []


def test_an_answer_that_is_none_is_an_error(path: Path) -> None:
    """A look that ends otherwise has not looked."""
    broken = Task(str(path.with_name("missing")), str(path.with_name("lock")), (), (), ("00",))
    with pytest.raises(CheckFailedError, match="status 1"):
        Looking()(broken)


def test_pages_of_other_kinds_have_no_unused_room(path: Path) -> None:
    """Overflow and free pages are left alone, and so is what only looks like a B-tree's page."""
    size = 4_096
    assert database_pages.unused(bytes(size)) is None
    inside = bytearray(size)
    inside[0], inside[4], inside[5:7] = 13, 1, (200).to_bytes(2)
    inside[8:10] = (100).to_bytes(2)
    assert database_pages.unused(bytes(inside)) is None, "a cell outside of its place"
    inside[8:10] = (300).to_bytes(2)
    assert database_pages.unused(bytes(inside)) == (10, 200)
    first = bytes(100) + bytes(inside[: size - 100])
    assert database_pages.unused(first, first=True) == (110, 200)
    descriptor = os.open(path, os.O_RDONLY)
    assert database_pages.page_size(descriptor) == size
    os.close(descriptor)
