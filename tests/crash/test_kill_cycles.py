"""kill -9 of everything at random moments, while clients write and files get lost in between."""

import random
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.crash.clients import Book, write_until_death
from tests.crash.harness import Place
from tests.crash.stored import check_all

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]

CYCLES = 11
SEEDS = (1, 2, 3, 5, 8)
"""Runs of so many cycles each: 55 kills."""

WRITERS = ((1,), (1, 2, 3), (1, 5, 20), (1, 10, 50))
"""Event counts of a request that each client draws from."""

Damage = Callable[[Place, random.Random], None]


def nothing(place: Place, chance: random.Random) -> None:
    """Leave all files as they are."""


def lose_queue(place: Place, chance: random.Random) -> None:
    """Delete the queue file, with or without what SQLite keeps beside it."""
    place.queue.unlink(missing_ok=True)
    if chance.random() < 0.5:
        for suffix in ("-wal", "-shm"):
            place.queue.with_name(place.queue.name + suffix).unlink(missing_ok=True)


def spoil_queue(place: Place, chance: random.Random) -> None:
    """Fill the queue file with garbage, sometimes behind a good header."""
    header = chance.choice((b"", b"SQLite format 3\x00"))
    place.queue.write_bytes(header + chance.randbytes(chance.choice((10, 4_096, 20_000))))


def lose_index(place: Place, chance: random.Random) -> None:  # noqa: ARG001 - one shape for all
    """Delete the index folder."""
    shutil.rmtree(place.index, ignore_errors=True)


def cut_index(place: Place, chance: random.Random) -> None:
    """Truncate a file of the index."""
    files = sorted(path for path in place.index.rglob("*") if path.is_file())
    if files:
        chosen = chance.choice(files)
        with chosen.open("r+b") as file:
            file.truncate(chosen.stat().st_size // 2)


DAMAGES: tuple[Damage, ...] = (nothing, lose_queue, spoil_queue, lose_index, cut_index)


def live_and_die(place: Place, book: Book, chance: random.Random) -> None:
    """One life: start, check what was acknowledged before, write, die."""
    before = list(book.acknowledged)
    tree = place.serve()
    place.wait_gateway()
    with place.client() as client:
        book.check_served(client, chance.sample(before, min(400, len(before))))
    if chance.random() < 0.5:
        place.wait_ok()
    with ThreadPoolExecutor(len(WRITERS)) as pool:
        writing = [
            pool.submit(write_until_death, place, book, chance.getrandbits(32), sizes)
            for sizes in WRITERS
        ]
        threading.Event().wait(chance.uniform(0.1, 1.2))
        tree.kill()
    for client_end in writing:
        client_end.result()
    chance.choice(DAMAGES)(place, chance)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_acknowledged_is_lost_or_doubled(place: Place, seed: int) -> None:
    """After each kill, and in the end: every acknowledged event once, published, file sound."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    book = Book()
    for _ in range(CYCLES):
        live_and_die(place, book, chance)
    tree = place.serve()
    place.wait_published()
    with place.client() as client:
        book.check_served(client, list(book.acknowledged))
    assert tree.terminate() == 0
    check_all(place, book)


def test_damages_touch_what_they_name(place: Place) -> None:
    """The ways in which files get lost between two lives do find their files."""
    tree = place.serve()
    place.wait_ok()
    tree.kill()
    chance = random.Random(0)  # noqa: S311 - repeatable, not secret
    sizes = {path: path.stat().st_size for path in _files(place.index)}
    cut_index(place, chance)
    assert {path: path.stat().st_size for path in _files(place.index)} != sizes
    spoil_queue(place, chance)
    assert place.queue.stat().st_size >= 10
    lose_queue(place, chance)
    lose_index(place, chance)
    assert not place.queue.exists()
    assert not place.index.exists()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
