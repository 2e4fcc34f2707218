"""Records: units of memory, with their versions and the evidence they rest on."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from storage.errors import NotFoundError
from storage.records.knowledge import Authority, Record, RecordKind, RecordStatus, Span
from storage.repositories.codec import dump, knowledge_fields, load, sparse
from storage.tables import EvidenceRow, RecordRow, RecordVersionRow

_OWN_COLUMNS: Final = frozenset(
    {
        "id", "owner_scope", "subject_id", "kind", "content", "key", "observed_at", "recorded_at",
        "status", "authority", "revision", "object_revision", "valid_from", "valid_to",
        "package_id", "evidence",
    }
)  # fmt: skip


def body(record: Record) -> dict[str, Any]:
    """A record as JSON holds it."""
    made = sparse(record)
    made["evidence"] = [
        [span.event_id, span.seq, span.start, span.end, span.quote] for span in record.evidence
    ]
    return made


def from_body(stored: dict[str, Any]) -> Record:
    """A record back from its stored body."""
    made = knowledge_fields(stored)
    made["kind"] = RecordKind(made["kind"])
    made["status"] = RecordStatus(made["status"])
    made["authority"] = Authority(made["authority"])
    made["evidence"] = tuple(Span(*parts) for parts in made.get("evidence", ()))
    return Record(**made)


def write(records: Sequence[Record]) -> None:
    """Insert or replace records, each with its version and its evidence."""
    for record in records:
        RecordRow.insert(
            id=record.id,
            owner_scope=record.owner_scope,
            subject_id=record.subject_id,
            kind=record.kind.value,
            content=record.content,
            key=record.key,
            observed_at=record.observed_at,
            recorded_at=record.recorded_at,
            status=record.status.value,
            authority=int(record.authority),
            revision=record.revision,
            object_revision=record.object_revision,
            valid_from=record.valid_from,
            valid_to=record.valid_to,
            rest=dump(sparse(record, leave_out=_OWN_COLUMNS)),
            package_id=record.package_id,
        ).on_conflict_replace().execute()
        RecordVersionRow.insert(
            owner_scope=record.owner_scope,
            record_id=record.id,
            revision=record.revision,
            recorded_at=record.recorded_at,
            body=dump(body(record)),
        ).on_conflict_replace().execute()
        _write_evidence(record)


def _write_evidence(record: Record) -> None:
    for span in record.evidence:
        EvidenceRow.insert(
            owner_scope=record.owner_scope,
            record_id=record.id,
            seq=span.seq,
            start=span.start,
            end=span.end,
            event_id=span.event_id,
            quote=span.quote,
        ).on_conflict_replace().execute()


def _records(query: Any) -> list[Record]:
    rows = list(query)
    spans: dict[tuple[str, str], list[Span]] = {}
    ids = [row.id for row in rows]
    for start in range(0, len(ids), 500):
        evidence = (
            EvidenceRow.select()
            .where(EvidenceRow.record_id.in_(ids[start : start + 500]))
            .order_by(EvidenceRow.seq, EvidenceRow.start)
        )
        for row in evidence:
            spans.setdefault((row.owner_scope, row.record_id), []).append(
                Span(row.event_id, row.seq, row.start, row.end, row.quote)
            )
    return [_record(row, tuple(spans.get((row.owner_scope, row.id), ()))) for row in rows]


def _record(row: RecordRow, evidence: tuple[Span, ...]) -> Record:
    return Record(
        id=row.id,
        owner_scope=row.owner_scope,
        subject_id=row.subject_id,
        kind=RecordKind(row.kind),
        content=row.content,
        observed_at=row.observed_at,
        recorded_at=row.recorded_at,
        status=RecordStatus(row.status),
        authority=Authority(row.authority),
        evidence=evidence,
        revision=row.revision,
        object_revision=row.object_revision,
        key=row.key,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        package_id=row.package_id,
        **knowledge_fields(load(row.rest)),
    )


def by_ids(owner: str, ids: Collection[str]) -> list[Record]:
    """An owner's records of these ids, in order of id."""
    return _records(
        RecordRow.select()
        .where(RecordRow.owner_scope == owner, RecordRow.id.in_(list(ids)))
        .order_by(RecordRow.id)
    )


def get(owner: str, record_id: str) -> Record:
    """One record.

    Raises:
        NotFoundError: The owner has none of that id.
    """
    found = by_ids(owner, [record_id])
    if not found:
        raise NotFoundError("There is no record of that id for this owner.")
    return found[0]


def of_subjects(
    owner: str, subjects: Collection[str], statuses: Collection[RecordStatus]
) -> list[Record]:
    """An owner's records about any of these objects, in any of these statuses."""
    return _records(
        RecordRow.select()
        .where(
            RecordRow.owner_scope == owner,
            RecordRow.subject_id.in_(list(subjects)),
            RecordRow.status.in_([status.value for status in statuses]),
        )
        .order_by(RecordRow.observed_at.desc(), RecordRow.id)
    )


def of_kinds(
    owner: str, kinds: Collection[RecordKind], statuses: Collection[RecordStatus], *, limit: int
) -> list[Record]:
    """An owner's newest records of any of these kinds, in any of these statuses."""
    return _records(
        RecordRow.select()
        .where(
            RecordRow.owner_scope == owner,
            RecordRow.kind.in_([kind.value for kind in kinds]),
            RecordRow.status.in_([status.value for status in statuses]),
        )
        .order_by(RecordRow.observed_at.desc(), RecordRow.id)
        .limit(limit)
    )


def listing(
    owner: str,
    *,
    subject: str | None = None,
    kind: RecordKind | None = None,
    status: RecordStatus | None = None,
    after: str = "",
    limit: int = 50,
) -> list[Record]:
    """An owner's records above an id, in order of id."""
    query = RecordRow.select().where(RecordRow.owner_scope == owner, RecordRow.id > after)
    if subject is not None:
        query = query.where(RecordRow.subject_id == subject)
    if kind is not None:
        query = query.where(RecordRow.kind == kind.value)
    if status is not None:
        query = query.where(RecordRow.status == status.value)
    return _records(query.order_by(RecordRow.id).limit(limit))


def history(owner: str, record_id: str) -> list[Record]:
    """Every version of a record, oldest first.

    Raises:
        NotFoundError: The owner has none of that id.
    """
    rows = (
        RecordVersionRow.select()
        .where(RecordVersionRow.owner_scope == owner, RecordVersionRow.record_id == record_id)
        .order_by(RecordVersionRow.revision)
    )
    found = [from_body(load(row.body)) for row in rows]
    if not found:
        raise NotFoundError("There is no record of that id for this owner.")
    return found


def resting_on(owner: str, seqs: Collection[int]) -> dict[int, list[str]]:
    """The ids of the records that quote these events, by sequence number."""
    found: dict[int, list[str]] = {}
    rows = (
        EvidenceRow.select(EvidenceRow.seq, EvidenceRow.record_id)
        .where(EvidenceRow.owner_scope == owner, EvidenceRow.seq.in_(list(seqs)))
        .distinct()
        .order_by(EvidenceRow.seq, EvidenceRow.record_id)
    )
    for row in rows:
        found.setdefault(row.seq, []).append(row.record_id)
    return found


def of_package(package_id: int) -> list[Record]:
    """The records that a package's proposals led to."""
    return _records(RecordRow.select().where(RecordRow.package_id == package_id))
