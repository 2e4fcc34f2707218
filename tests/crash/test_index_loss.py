"""The index folder is deleted or truncated between two runs: it is built anew, recall finds again."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from socket_gateway.client import MemoryClient
from tests.crash.clients import Book, Event
from tests.crash.harness import Place, wait_until
from tests.crash.stored import check_all

pytestmark = [pytest.mark.crash, pytest.mark.timeout(120)]

Damage = Callable[[Path], None]


def delete(index: Path) -> None:
    """Delete the folder."""
    shutil.rmtree(index)


def truncate(ending: str) -> Damage:
    """Cut each file of that ending in half."""

    def cut(index: Path) -> None:
        found = list(index.rglob(f"*{ending}"))
        assert found
        for path in found:
            with path.open("r+b") as file:
                file.truncate(path.stat().st_size // 2)

    return cut


DAMAGES = {
    "deleted": delete,
    "store": truncate(".store"),
    "terms": truncate(".term"),
    "meta": truncate("meta.json"),
    "manifest": truncate("manifest.json"),
}


def find(client: MemoryClient, event: Event) -> bool:
    """Whether recall finds an event by its own words, alone or as what a record rests on."""
    found = set()
    for hit in client.recall(event["text"]).hits:
        found |= {quoted.event for quoted in hit.evidence}
        found |= {hit.event.id} if hit.event else set()
    return event["id"] in found


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_built_anew(place: Place, damage: str) -> None:
    """Health and log say why; Chinese and English questions find what they found before."""
    book, chance = Book(), random.Random(3)  # noqa: S311 - repeatable, not secret
    sent = book.new(150, chance)
    first = place.serve()
    place.wait_gateway()
    asked = sent[40], sent[90]
    asked[0]["text"] = "雨后的枇杷树下埋着一把旧钥匙"
    asked[1]["text"] = "The lighthouse ledger mentions a violet umbrella"
    with place.client() as client:
        book.send(client, sent)
        place.wait_published()
        assert all(find(client, event) for event in asked)
    first.kill()
    DAMAGES[damage](place.index)
    second = place.serve()
    place.wait_gateway()
    with place.client() as client:
        wait_until(lambda: all(find(client, event) for event in asked), "recall to find again")
    found = place.wait_published()
    assert any("index was built anew" in reason for reason in found.reasons)
    assert "lexical index begun anew" in place.log.read_text(encoding="utf-8")
    assert second.terminate() == 0
    check_all(place, book)
