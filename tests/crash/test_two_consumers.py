"""Several consumers at once: no effect twice, no package stuck, whoever is killed."""

import random

import pytest

from tests.crash.clients import Book
from tests.crash.harness import Place, wait_until
from tests.crash.stored import check_all

pytestmark = [pytest.mark.crash, pytest.mark.timeout(240)]


@pytest.mark.parametrize("number", [2, 4])
def test_consumers_share_the_work(place: Place, number: int) -> None:
    """One is killed in the middle and comes back; in the end all is published, each effect once."""
    book, chance = Book(), random.Random(number)  # noqa: S311 - repeatable, not secret
    place.settings["OBSERVER__CONCURRENCY"] = number
    gateway = place.serve("--no-worker")
    consumers = [place.consume() for _ in range(number)]
    place.wait_ok()
    with place.client() as client:
        for _ in range(8):
            book.send(client, book.new(50, chance))
        wait_until(lambda: client.packages(state="leased").items, "a package under work")
        consumers.pop().kill()
        consumers.append(place.consume())
        for _ in range(4):
            book.send(client, book.new(50, chance))
        place.wait_published()
    for tree in (*consumers, gateway):
        tree.terminate()
    check_all(place, book)


def test_a_package_is_taken_over_when_its_only_holder_dies(place: Place) -> None:
    """Of two consumers one is killed while it alone can hold a lease; the other goes on."""
    book, chance = Book(), random.Random(9)  # noqa: S311 - repeatable, not secret
    gateway = place.serve("--no-worker")
    first = place.consume()
    place.wait_ok()
    with place.client() as client:
        for _ in range(4):
            book.send(client, book.new(50, chance))
        wait_until(lambda: client.packages(state="leased").items, "a package under work")
        first.kill()
        place.consume()
        place.wait_published()
    gateway.terminate()
    place.kill_all()
    check_all(place, book)
