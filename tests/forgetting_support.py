"""A memory whose records are exactly what a test proposes, and a look at all that is left of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from storage.database import database
from tests.crash.harness import wait_until
from tests.service_support import Service, event

EXPENSE = [{"id": "expense", "title": "报销"}]

Json = dict[str, Any]


def proposal(kind: str, content: str, quotes: Mapping[str, str], **more: Any) -> Json:
    """What a worker proposes; `quotes` are the words of each event, by its id."""
    evidence = [{"event": name, "quote": quote} for name, quote in quotes.items()]
    return {"kind": kind, "content": content, "evidence": evidence} | more


class Memory:
    """A service whose packages are observed by the test.

    Args:
        service: One that leaves observing to an outside worker.
    """

    def __init__(self, service: Service) -> None:
        self.service = service

    def hear(self, *events: Json, owner: str = "local") -> None:
        """Take events in, as far as a ready package."""
        self.service.ingest(*events, owner=owner)
        self.service.ask("ops.flush", owner=owner)

    def claim(self, **params: Any) -> Json:
        """The next package."""
        found: list[Json] = self.service.ask("memory.observation.claim", worker="w", **params)[
            "packages"
        ]
        return found[0]

    def commit(self, package: Json, *proposals: Json) -> Json:
        """Hand proposals in; each has to be accepted."""
        nothing = {} if proposals else {"nothing_worth_keeping": "nothing"}
        answer: Json = self.service.ask(
            "memory.observation.commit",
            package_id=package["id"],
            token=package["token"],
            proposals=list(proposals),
            **nothing,
        )
        return answer

    def learn(self, *events: Json, proposals: list[Json], owner: str = "local") -> list[str]:
        """Take events of one package in, propose, settle and publish; the accepted records' ids."""
        self.hear(*events, owner=owner)
        answer = self.commit(self.claim(owner=owner), *proposals)
        assert answer["rejected"] == [], answer
        self.service.work()
        return [item["record_id"] for item in answer["accepted"]]

    def learn_one(self, event_id: str, text: str, kind: str = "rule", **more: Any) -> str:
        """One event that says one thing; the record's id."""
        said = event(event_id, text, objects=EXPENSE, **more)
        fields = {"class": "project"} if kind == "fact" else {}
        made = proposal(kind, text, {event_id: text}, **fields)
        return self.learn(said, proposals=[made])[0]

    # ---- forgetting ----------------------------------------------------------

    def preview(self, owner: str = "local", **select: Any) -> Json:
        """What would go."""
        found: Json = self.service.ask("memory.forget", owner=owner, select=select)
        assert found["dry_run"] is True
        return found

    def forget(self, owner: str = "local", **select: Any) -> Json:
        """Forget; the answer of the first transaction."""
        found: Json = self.service.ask("memory.forget", owner=owner, select=select, dry_run=False)
        assert found["dry_run"] is False
        return found

    def status(self, forget_id: str, owner: str = "local") -> Json:
        """How far a forgetting has come."""
        found: Json = self.service.ask("memory.forget.status", owner=owner, forget_id=forget_id)
        return found

    def erased(self, begun: Json, owner: str = "local") -> Json:
        """Wait until erasing has come to an end, whichever; its status."""
        forget_id = begun["forget_id"]
        return wait_until(
            lambda: s if (s := self.status(forget_id, owner))["state"] != "erasing" else None,
            "an end of erasing",
        )

    def forget_wholly(self, owner: str = "local", **select: Any) -> Json:
        """Forget, and wait until no byte is left."""
        done = self.erased(self.forget(owner, **select), owner)
        assert (done["state"], done["remaining"]) == ("done", []), done
        return done

    # ---- what is left ---------------------------------------------------------

    def told(self, owner: str = "local") -> str:
        """Everything that anybody can be told of an owner's memory, as one text."""
        return "\n".join(orjson.dumps(part).decode() for part in self._told(owner))

    def _told(self, owner: str) -> Iterator[Any]:
        ask = self.service.ask
        records = self.service.records(owner=owner)
        yield records
        for record in records:
            yield ask("memory.record.history", owner=owner, record_id=record["id"])
            yield ask("memory.evidence.get", owner=owner, record_id=record["id"])
        yield ask("snapshot.get", owner=owner)
        objects = ask("memory.object.list", owner=owner, limit=200)["items"]
        yield objects
        for found in objects:
            yield ask("snapshot.get", owner=owner, object=found["id"])
        yield self.service.packages()
        yield ask("ops.dead.list", limit=200)

    def recall(self, request_id: str, query: str, owner: str = "local", **more: Any) -> Json:
        """Ask a question, and wait for its answer to be kept."""
        asked = {"request_id": request_id, "query": query, "owner": owner} | more

        def answered() -> Json | None:
            found: Json = self.service.ask("memory.continuity.recall", **asked)
            return found if found["state"] != "pending" and _kept(owner, request_id) else None

        return wait_until(answered, "an answer")


def _kept(owner: str, request_id: str) -> bool:
    row = database.execute_sql(
        "SELECT 1 FROM recall_request WHERE owner = ? AND request_id = ? AND result IS NOT NULL",
        (owner, request_id),
    ).fetchone()
    return row is not None


def files_with(folder: Path, *texts: str) -> list[str]:
    """The files below a folder that hold any of these, in any encoding they might stand in.

    Only once no service of this process has its database open: reading it drops its locks.
    """
    wanted = [form for text in texts for form in _forms(text)]
    return [
        path.name
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(form in path.read_bytes() for form in wanted)
    ]


def _forms(text: str) -> Iterator[bytes]:
    yield text.encode()
    yield text.encode("utf-16-le")
    yield text.encode("utf-16-be")
    yield orjson.dumps(text)[1:-1]
    yield text.encode("ascii", "backslashreplace")
