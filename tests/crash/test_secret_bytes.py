"""Secrets sent in through every door, with a kill in the middle: not a byte of them in any file."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from socket_gateway import protocol
from socket_gateway.client import MemoryClient, ServiceError
from storage.errors import ErrorCode
from tests.crash.clients import Event
from tests.crash.harness import Place, wait_until
from tests.unit.redaction_cases import Case, ValueMaker, make_cases

pytestmark = [pytest.mark.crash, pytest.mark.timeout(180)]

SEED = 77_001
TRACE = 8
"""Characters from which on a value can't stand in a file by chance."""

WORKER = "worker"


def event(event_id: str, text: str, **more: Any) -> Event:
    """A user's message."""
    source = {"role": "user", "stream": "chat", **more.pop("source", {})}
    base = {"v": 1, "id": event_id, "kind": "user.message", "at": 1_790_000_000_000}
    return {**base, "source": source, "text": text, **more}


def cases() -> list[Case]:
    """The labelled set of the redactor's own tests, with values of this test's own."""
    return [case for case in make_cases(SEED) if case.secrets]


def ingested(place: Place, client: MemoryClient, found: list[Case]) -> None:
    """Every case as text, as data and as reference; the service is killed half-way."""
    half = len(found) // 2
    for place_in, case in enumerate(found):
        if place_in == half:
            place.kill_all()
            place.serve()
        role = "supervisor" if case.by_model else "user"
        source = {"role": role, "ref": case.text[:2_000]}
        sent = event(f"e{place_in}", case.text, source=source, data={"note": [case.text]})
        client.ingest([sent])


class Secrets:
    """One secret for each door, and what the door is given."""

    def __init__(self) -> None:
        self._maker = ValueMaker(SEED + 1)
        self.values: list[str] = []

    def new(self) -> str:
        """A vendor's token, which no door may let through."""
        self.values.append(self._maker.github())
        return self.values[-1]


def through_other_doors(client: MemoryClient, secrets: Secrets) -> None:
    """A speaker, a stream, a title, keys and depths of data, a question and its purpose."""
    new = secrets.new
    client.ingest(
        [
            event("speaker", "谁在说话", source={"speaker": new()}),
            event("stream", "在哪里说", source={"stream": new()}),
            event("title", "名字", objects=[{"id": "thing", "title": f"令牌 {new()}"}]),
            event("key", "数据", data={new(): 1, "a": {"b": [{"c": f"token {new()}"}]}}),
        ]
    )
    client.recall(f"令牌 {new()} 在哪里", request_id="asked", purpose=f"for {new()}")
    client.recall(f"where is {new()}", request_id="not waited for", wait_ms=0)


def refusing_doors(secret: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Requests that name something by a secret: it can't be cleaned, only refused."""
    found: dict[str, tuple[str, dict[str, Any]]] = {
        "object id": ("memory.object.put", {"id": secret}),
        "object title": ("memory.object.put", {"id": "ok", "title": secret}),
        "object owner": ("memory.object.put", {"id": "ok", "owner": secret}),
        "recall request": ("memory.continuity.recall", {"request_id": secret, "query": "什么"}),
        "recall owner": (
            "memory.continuity.recall",
            {"request_id": "q", "query": "什么", "owner": secret},
        ),
        "method": (secret, {}),
        "owner": ("memory.events.ingest", {"events": [event("a", "主人")], "owner": secret}),
    }
    fields: dict[str, dict[str, Any]] = {
        "id": {"id": secret},
        "kind": {"kind": secret},
        "object": {"objects": [{"id": secret}]},
        "task": {"task": {"id": secret, "version": 1}},
        "request": {"request_id": secret},
        "cause": {"causes": [secret]},
        "recalled": {"recalled": [secret]},
    }
    for name, more in fields.items():
        found[f"event {name}"] = ("memory.events.ingest", {"events": [event(name, "名字") | more]})
    return found


def refused(client: MemoryClient, secrets: Secrets) -> None:
    """Each is refused, and the answer does not repeat what it refuses."""
    taken = []
    for door in refusing_doors(""):
        secret = secrets.new()
        method, params = refusing_doors(secret)[door]
        try:
            client.call(method, params)
        except ServiceError as error:
            if error.code not in {ErrorCode.BAD_REQUEST, ErrorCode.UNKNOWN_METHOD}:
                raise
            assert secret not in error.message, door  # noqa: PT017 - every door has to be tried
        else:
            taken.append(door)
    assert taken == []
    # An unknown field has to be named; that the log does not name it too is seen in the end.
    with pytest.raises(ServiceError):
        client.call("health", {secrets.new(): 1})


def observed(client: MemoryClient, secrets: Secrets) -> None:
    """An outside worker puts secrets into every field it has, and into its excuses."""
    new = secrets.new
    failing, committing = (claim(client) for _ in range(2))
    client.fail(
        protocol.FailParams(
            package_id=failing.id, token=failing.token, error=f"密钥 {new()} 无效", retry_after_ms=1
        )
    )
    first = committing.events[0]
    quote = {"event": first.id, "quote": first.text}
    fields: list[dict[str, Any]] = [
        {"content": f"令牌是 {new()}"},
        {"content": "键", "key": new()},
        {"content": "值", "value": new()},
        {"content": "步骤", "kind": "procedure", "steps": [f"use {new()}"]},
        {"content": "条件", "kind": "procedure", "conditions": [f"when {new()}"]},
        {"content": "线索", "cues": [new()]},
        {"content": "引文", "evidence": [{"event": first.id, "quote": f"said {new()}"}]},
        {"content": "事件", "evidence": [{"event": new(), "quote": "x"}]},
        {"content": "对象", "subject": new()},
        {"content": "范围", "scope": {"objects": [new()]}},
        {"content": "取代", "supersedes": [new()]},
    ]
    proposals = [{"kind": "episode", "evidence": [quote], **more} for more in fields]
    params = protocol.CommitParams(
        package_id=committing.id, token=committing.token, proposals=proposals
    )
    client.commit(params)
    last = claim(client)
    client.commit(
        protocol.CommitParams(
            package_id=last.id,
            token=last.token,
            proposals=[],
            nothing_worth_keeping=f"only a token: {new()}",
        )
    )


def claim(client: MemoryClient) -> protocol.ClaimedPackage:
    """A package for the outside worker."""
    client.flush()
    params = protocol.ClaimParams(worker=WORKER, lease_ms=20_000)
    return wait_until(lambda: next(iter(client.claim(params).packages), None), "a package to claim")


def traces(secret: str) -> Iterator[bytes]:
    """The forms in which a secret could stand in a file, in small letters."""
    for line in secret.splitlines():
        if len(line) >= TRACE and not line.startswith("-----"):
            yield line.casefold().encode()
            yield json.dumps(line).strip('"').casefold().encode()


def found_in(place: Place, secrets: list[str]) -> list[str]:
    """In which files of the state folder and of the logs a secret stands."""
    wanted = {trace for secret in secrets for trace in traces(secret)}
    assert wanted
    hits = []
    for path in sorted(place.folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes().lower()
            hits += [f"{path.name}: {trace!r}" for trace in wanted if trace in content]
    return hits


def test_no_byte_of_a_secret_is_in_any_file(place: Place) -> None:
    """Database, its log, queue, index, cache and service log, after a kill and after the end."""
    place.settings |= {
        "OBSERVER__KIND": "external", "LOG__LEVEL": "debug", "REDACTION__PHONES": "redact",
    }  # fmt: skip
    labelled, secrets = cases(), Secrets()
    control = "控制词 lighthouse-umbrella-ledger"
    place.serve()
    place.wait_gateway()
    with place.client(attempts=200) as client:
        ingested(place, client, labelled)
        place.wait_gateway()
        through_other_doors(client, secrets)
        refused(client, secrets)
        client.ingest([event("control", control)])
        observed(client, secrets)
        wait_until(lambda: (h := place.health()) and h.index_lag == 0, "an index that has followed")
    everything = [*secrets.values, *(value for case in labelled for value in case.secrets)]
    random.Random(0).shuffle(everything)  # noqa: S311 - an order, not a secret
    place.kill_all()
    assert found_in(place, [control]), "a search that finds nothing proves nothing"
    assert found_in(place, everything) == []
    place.serve()
    place.wait_ok()
    place.kill_all()
    assert found_in(place, everything) == []
