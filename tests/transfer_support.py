"""Exports and imports through the socket, and the edits that people make in between."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pipeline.projections.markdown import record_text
from storage.records.events import Role
from storage.records.knowledge import Authority, Origin, Record, RecordKind, RecordStatus, Span
from tests.service_support import DAY, NOW, Service, event

Documents = dict[str, str]

CHINESE: Final = "以后报销都用新模板"
ENGLISH: Final = "From now on always use the new template for expense claims."

FOREIGN: Final = Record(
    id="r-foreign",
    owner_scope="local",
    subject_id="报销",
    kind=RecordKind.RULE,
    content="以后报销都用蓝色模板",
    observed_at=NOW - DAY,
    recorded_at=NOW - DAY,
    status=RecordStatus.ACTIVE,
    authority=Authority.USER,
    evidence=(Span("e-foreign", -1, 0, 10, "以后报销都用蓝色模板"),),
    origins=(Origin("e-foreign", NOW - DAY, Role.USER),),
    revision=3,
    object_revision=7,
)
"""A record of another memory, as an export of that one has it."""


def exported(service: Service, owner: str = "local", limit: int = 100) -> Documents:
    """All documents of an owner, by path."""
    found: Documents = {}
    after: str | None = None
    while True:
        more = {} if after is None else {"after": after}
        page = service.ask("memory.export", owner=owner, limit=limit, **more)
        assert len(page["documents"]) <= limit
        for document in page["documents"]:
            assert document["path"] not in found
            found[document["path"]] = document["text"]
        after = page["next"]
        if after is None:
            return found


def record_documents(documents: Documents) -> Documents:
    """The documents of records alone."""
    return {path: text for path, text in documents.items() if "deskpaw-memory: record 1" in text}


def taken_in(
    service: Service, *texts: str, owner: str = "local", dry_run: bool = False
) -> list[Any]:
    """Import documents; what became of each."""
    documents = [{"path": f"{n}.md", "text": text} for n, text in enumerate(texts)]
    outcomes: list[Any] = []
    for start in range(0, len(documents), 200):
        result = service.ask(
            "memory.import",
            owner=owner,
            documents=documents[start : start + 200],
            dry_run=dry_run,
        )
        assert [item["index"] for item in result["outcomes"]] == list(
            range(len(documents[start : start + 200]))
        )
        outcomes += result["outcomes"]
    return outcomes


def outcomes(service: Service, *texts: str, **more: Any) -> list[str]:
    """Import documents; the outcomes alone."""
    return [item["outcome"] for item in taken_in(service, *texts, **more)]


def document_of(service: Service, record_id: str, owner: str = "local") -> str:
    """A record's document as it is exported now."""
    wanted = f'id: "{record_id}"\n'
    (text,) = [
        text for text in record_documents(exported(service, owner)).values() if wanted in text
    ]
    return text


def with_content(document: str, content: str) -> str:
    """The document with another content between its fences."""
    head, _, _ = document.partition("\n```text\n")
    return f"{head}\n```text\n{content}\n```\n"


def with_field(document: str, name: str, value: str | None) -> str:
    """The document with a field set to what is given, as it stands in YAML, or without it."""
    lines = document.split("\n")
    kept = [line for line in lines if not line.startswith(f"{name}: ")]
    if value is not None:
        kept.insert(kept.index("---", 1), f"{name}: {value}")
    return "\n".join(kept)


def forged(record: Record) -> str:
    """A document that says whatever somebody wants it to say, with a right seal."""
    return record_text(record)


@contextmanager
def another_service(state: Path) -> Iterator[Service]:
    """A service of its own on an empty state folder; the one before it must have been stopped."""
    made = Service(state)
    made.start()
    try:
        yield made
    finally:
        made.stop()


def secret() -> str:
    """What no rule may let through."""
    return "AKIA" + "QYLPMN5HHHFPZAM2"


def said(service: Service, text: str, event_id: str = "e1", **more: Any) -> Any:
    """Let the service keep one thing that a user said of 报销; its record."""
    service.ingest(event(event_id, text, **{"objects": [{"id": "报销"}]} | more))
    service.settle()
    (record,) = [found for found in service.records() if found["content"] == text]
    return record
