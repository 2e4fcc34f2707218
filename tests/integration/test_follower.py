"""The follower: rows into the lexical index, whatever happens to either."""

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.recall.follower import URGENT, Follower
from storage.errors import UnavailableError
from storage.records.recall import IndexEntry
from storage.search_index import IndexQuery, SearchIndex

pytestmark = pytest.mark.integration


class Rows:
    """Index entries in a list."""

    def __init__(self, count: int = 0) -> None:
        self.entries: list[IndexEntry] = []
        self.unavailable = False
        self.add(count)

    def add(self, count: int) -> None:
        """Append entries that each hold `报销` and their own number."""
        for _ in range(count):
            seq = self.last_seq() + 1
            fields = {"words": f"报销 n{seq}"}
            self.entries.append(IndexEntry(seq, "local", f"e:{seq}", seq, fields))

    def entries_after(self, seq: int, limit: int) -> Sequence[IndexEntry]:
        """The next entries in sequence."""
        if self.unavailable:
            raise UnavailableError
        return [entry for entry in self.entries if entry.seq > seq][:limit]

    def last_seq(self) -> int:
        """The last entry's number."""
        return self.entries[-1].seq if self.entries else 0


class Stop(threading.Event):
    """A stop signal that nobody waits for: it counts the waits and ends after some."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.waits = 0
        self.after = after

    def wait(self, timeout: float | None = None) -> bool:
        """Say at once whether it is time to stop."""
        assert timeout is not None
        self.waits += 1
        if self.waits >= self.after:
            self.set()
        return self.is_set()


@pytest.fixture
def index(tmp_path: Path) -> SearchIndex:
    """A new index."""
    return SearchIndex.open(tmp_path / "index", tokenizer_version=1)


def found(index: SearchIndex, word: str) -> int:
    """How many documents hold a word."""
    return len(index.search("local", IndexQuery({"words": [word]}), 100_000))


def test_takes_rows_over_in_bounded_batches(index: SearchIndex) -> None:
    """Each call commits one batch and tells position and lag."""
    commits: list[tuple[int, int]] = []
    rows = Rows(7)
    follower = Follower(index, rows, batch=3, on_commit=lambda at, lag: commits.append((at, lag)))

    assert [follower.follow_once() for _ in range(4)] == [3, 3, 1, 0]
    assert commits == [(3, 4), (6, 1), (7, 0)]
    assert found(index, "报销") == 7


def test_an_index_is_whole_once_it_has_held_every_row(index: SearchIndex, tmp_path: Path) -> None:
    """What is still being built is told from what only lags, across a restart."""
    rows = Rows(4)
    follower = Follower(index, rows, batch=3)

    states = [index.whole]
    for _ in range(2):
        follower.follow_once()
        states.append(index.whole)
    assert states == [False, False, True]
    rows.add(5)
    index.close()
    assert SearchIndex.open(tmp_path / "index", tokenizer_version=1).whole


def test_a_deleted_folder_is_filled_again(index: SearchIndex, tmp_path: Path) -> None:
    """After the loss of its folder the index comes back the same by itself."""
    rows = Rows(5)
    follower = Follower(index, rows)
    follower.follow_once()
    shutil.rmtree(tmp_path / "index")
    rows.add(1)
    stop = Stop(after=1)

    follower.run(stop, lambda _seconds: False)

    assert (index.position, found(index, "报销"), index.whole) == (6, 6, True)
    assert follower.fault is None


def test_an_index_ahead_of_its_rows_begins_anew(index: SearchIndex) -> None:
    """An older store that was restored is not answered for by a newer index."""
    Follower(index, Rows(9)).follow_once()
    older = Follower(index, Rows(4))

    older.follow_once()

    assert (index.position, found(index, "n9"), found(index, "n4")) == (4, 0, 1)


def test_rewriting_goes_through_all_rows(index: SearchIndex) -> None:
    """A rewrite ends at the last row and holds no term of what is no longer there."""
    rows = Rows(8)
    follower = Follower(index, rows, batch=3)
    for _ in range(3):
        follower.follow_once()
    del rows.entries[1]

    follower.rewrite("forgetting")

    assert index.document_frequencies(["n2", "n3"]) == {"n2": 0, "n3": 1}
    assert (index.position, follower.follow_once()) == (8, 0)


def test_a_short_tail_waits_for_company(index: SearchIndex) -> None:
    """After a commit the next one is held back, however many rows are announced."""
    rows = Rows(3)
    stop = Stop(after=10)
    commits: list[int] = []
    follower = Follower(index, rows, on_commit=lambda at, _lag: commits.append(at))

    follower.run(stop, lambda _seconds: True)

    assert commits == [3]
    assert stop.waits == 10


def test_a_long_tail_is_taken_over_at_once(index: SearchIndex) -> None:
    """Far behind, the follower commits batch after batch without a pause."""
    rows = Rows(3 * URGENT)
    stop = Stop(after=1)
    commits: list[int] = []
    follower = Follower(index, rows, batch=URGENT, on_commit=lambda at, _lag: commits.append(at))

    follower.run(stop, lambda _seconds: False)

    assert commits == [URGENT, 2 * URGENT]


def test_rows_that_cant_be_read_are_a_fault_that_passes(index: SearchIndex) -> None:
    """The follower lives on, tells the fault, and catches up when the rows are back."""
    rows = Rows(2)
    rows.unavailable = True
    follower = Follower(index, rows)
    faults: list[str | None] = []

    def wait(_seconds: float) -> bool:
        faults.append(follower.fault)
        rows.unavailable = False
        return True

    follower.run(Stop(after=1), wait)

    assert faults[0] is not None
    assert follower.fault is None
    assert found(index, "报销") == 2
