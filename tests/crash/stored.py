"""What the files hold, read through storage once no process works on them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from storage.database import database, open_database
from storage.records.events import Fate
from storage.records.runs import PackageState, PackageWork, Stage
from storage.repositories import events, ledger, positions, snapshots
from storage.repositories.codec import load
from tests.crash.clients import Book
from tests.crash.harness import Place

OWNER = "local"


@contextmanager
def opened(place: Place) -> Iterator[None]:
    """The place's database, opened in this process."""
    found = open_database(place.state / "data" / "memory.sqlite3")
    try:
        yield
    finally:
        found.close()


def rows(sql: str) -> list[tuple[Any, ...]]:
    """What a query gives."""
    return list(database.execute_sql(sql).fetchall())


def check_all(place: Place, book: Book) -> None:
    """The file is sound, and what clients know of is there once, published, with its effects."""
    with opened(place):
        assert rows("PRAGMA integrity_check") == [("ok",)]
        check_events(book)
        check_published()
        check_effects()


def check_events(book: Book) -> None:
    """Every acknowledged event once and word for word; a request without answer whole or not."""
    stored = {e.id: (e.seq, e.text) for e in events.after(OWNER, 0, 1_000_000)}
    known = book.acknowledged
    assert {event_id: stored.get(event_id) for event_id in known} == known
    rest = set(stored) - set(known)
    for request in (*book.unanswered, *book.again):
        ids = {event["id"] for event in request}
        assert ids & rest in (ids - set(known), set()), "half a request is there"
        rest -= ids
    assert not rest, "events are there that nobody sent"
    assert events.count(OWNER) == len(stored)


def check_published() -> None:
    """Nothing is left to do and nothing was parked."""
    at = positions.overall()
    assert (at.organized, at.published, at.backlog, at.dead) == (at.received, at.received, 0, 0)
    everything = ledger.listing(list(PackageState), after=0, limit=1_000_000)
    assert {package.state for package in everything} <= {PackageState.DONE}


def check_effects() -> None:
    """Each event has one fate and one package, and no stage's output was written twice."""
    fates = dict(rows("SELECT seq, fate FROM event_fate"))
    assert set(fates) == {seq for (seq,) in rows("SELECT seq FROM event")}
    packed = Counter(seq for (seq,) in rows("SELECT seq FROM package_event"))
    assert set(packed.values()) <= {1}
    assert set(packed) == {seq for seq, fate in fates.items() if fate == Fate.PACKAGED.value}
    _check_outputs()
    _check_entries(fates)


def _check_outputs() -> None:
    outputs = rows("SELECT package_id, stage, answer FROM stage_output")
    stages = (Stage.OBSERVE, Stage.MERGE, Stage.INDEX, Stage.PUBLISH)
    expected = Counter(
        (package_id, stage.value)
        for package_id, work in rows("SELECT id, work FROM package")
        for stage in (stages if work == PackageWork.EVENTS.value else stages[1:])
    )
    assert Counter((package_id, stage) for package_id, stage, _ in outputs) == expected
    answers = {(p, stage): load(answer) for p, stage, answer in outputs if answer}
    merged = [answer for (_, stage), answer in answers.items() if stage == Stage.MERGE.value]
    inserted = Counter(record for answer in merged for record in answer["records"])
    updated = Counter(record for answer in merged for record in answer["updated"])
    assert set(inserted.values()) <= {1}, "a record was made twice"
    revisions = dict(rows("SELECT id, revision FROM record"))
    assert set(revisions) == set(inserted)
    versions = Counter(record for (record,) in rows("SELECT record_id FROM record_version"))
    assert versions == inserted + updated, "a change of a record was written twice"
    published = [answer for (_, stage), answer in answers.items() if stage == Stage.PUBLISH.value]
    assert snapshots.memory_version(OWNER) == sum(answer["published"] for answer in published)


def _check_entries(fates: dict[int, str]) -> None:
    entries = Counter(document for (document,) in rows("SELECT document FROM index_entry"))
    found = {fate.value for fate in (Fate.PACKAGED, Fate.MERGED, Fate.WAITING)}
    of_events = {f"e:{seq}": 1 for seq, fate in fates.items() if fate in found}
    assert {d: n for d, n in entries.items() if d.startswith("e:")} == of_events
    versions = Counter(f"r:{record}" for (record,) in rows("SELECT record_id FROM record_version"))
    assert {d: n for d, n in entries.items() if d.startswith("r:")} == versions
