"""Kills of a real worker around what it notes of a model: an answer may be lost, an effect is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from socket_gateway import protocol
from tests.crash.harness import Place, wait_until
from tests.model_server import ModelServer, model_server
from tests.model_support import explicit_rules

pytestmark = [pytest.mark.crash, pytest.mark.timeout(180)]

RULES = ["以后报销都用新模板", "From now on use the new expense template", "以后周报用英文写"]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server whose model notices explicit rules."""
    with model_server(explicit_rules) as serving:
        yield serving


@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
@pytest.mark.parametrize("batches", ["false", "true"], ids=["direct", "batch"])
def test_a_kill_beside_the_model_costs_a_call_and_no_record(
    place: Place, server: ModelServer, tmp_path: Path, batches: str, moment: str
) -> None:
    """Killed while an answer's cost, or a batch that was sent, is noted: asked again, kept once."""
    # What *observe* commits first is what it notes of the model, before any proposal is kept.
    point = f"observe.{moment}"
    place.settings |= {
        "FAULTS__KILL_AT": point,
        "FAULTS__ONCE_FOLDER": tmp_path,
        "OBSERVER__KIND": "anthropic",
        "OBSERVER__MODEL": server.name,
        "OBSERVER__API_KEY": server.key,
        "OBSERVER__BASE_URL": server.url,
        "OBSERVER__BATCHES": batches,
        "OBSERVER__BATCH_BACKLOG": 3,
        "OBSERVER__BATCH_POLL_MS": 1_000,
    }
    place.serve()
    place.wait_gateway()
    with place.client(attempts=100) as client:
        client.pause("observe")
        for number, text in enumerate(RULES):
            source = {"role": "user", "stream": f"s{number}"}
            said = {"v": 1, "id": f"e{number}", "kind": "user.message", "at": 1_767_225_600_000}
            client.ingest([said | {"source": source, "text": text}])
        client.flush()
        client.resume("observe")

        def published() -> bool:
            server.end_batches()
            at = client.positions()
            return at.backlog == 0 and at.published == at.received

        wait_until(published, "everything published")
        found = client.records(protocol.RecordListParams(limit=50)).items
        assert sorted(record.content for record in found) == sorted(RULES)
        assert client.health().dead == 0
    assert (tmp_path / point).exists()
    assert bool(server.batches) is (batches == "true")
