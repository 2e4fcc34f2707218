"""Records: units of memory, with their versions and the evidence they rest on."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from storage.database import database
from storage.errors import NotFoundError
from storage.records.finding import Forms
from storage.records.knowledge import (
    Authority,
    FactClass,
    Record,
    RecordKind,
    RecordStatus,
    Span,
)
from storage.repositories.codec import digest, dump, knowledge_fields, load, reach, sparse

_OWN_COLUMNS: Final = frozenset(
    {
        "id", "owner_scope", "subject_id", "kind", "content", "key", "observed_at", "recorded_at",
        "status", "authority", "revision", "object_revision", "valid_from", "valid_to",
        "package_id", "evidence",
    }
)  # fmt: skip
_SELECT: Final = (
    "SELECT id, owner_scope, subject_id, kind, content, observed_at, recorded_at, status,"
    " authority, revision, object_revision, key, valid_from, valid_to, package_id, rest FROM record"
)
_COLUMNS: Final = (
    "id, owner_scope, subject_id, kind, content, normal, skeleton, reach, key, fact_class, scoped,"
    " observed_at, recorded_at, status, authority, revision, object_revision, valid_from, valid_to,"
    " rest, package_id, due_at"
)
_CHANGED: Final = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", ")[2:])
# What a record is rolled up by is no part of it, and stays.
_WRITE: Final = (
    f"INSERT INTO record ({_COLUMNS}, rolled_by) VALUES ({','.join('?' * 23)})"  # noqa: S608 - columns only
    f" ON CONFLICT (owner_scope, id) DO UPDATE SET {_CHANGED}"
)
_ROLL_UP: Final = "UPDATE record SET rolled_by = ? WHERE owner_scope = ? AND id = ?"
_IN_LIMIT: Final = 500
_NO_DAY: Final = 2**62
_WRITE_VERSION: Final = (
    "INSERT OR REPLACE INTO record_version (owner_scope, record_id, revision, recorded_at, body)"
    " VALUES (?,?,?,?,?)"
)
_WRITE_EVIDENCE: Final = (
    'INSERT OR IGNORE INTO evidence (owner_scope, record_id, seq, start, "end", event_id, quote)'
    " VALUES (?,?,?,?,?,?,?)"
)


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


def from_stored(text: str) -> Record:
    """A record back from the JSON text of its stored body."""
    return from_body(load(text))


# ---- writing ---------------------------------------------------------------


def write(records: Sequence[Record], *, forms: Callable[[Record], Forms]) -> None:
    """Insert or replace records, each with its version and its evidence.

    Args:
        records: In their new versions; roll-ups together with what they link, or after it.
        forms: What a record is found by; kept as digests, so that repeats and opposites are found
            without reading every record.
    """
    connection = database.connection()
    connection.executemany(_WRITE, [_row(record, forms(record)) for record in records])
    rolled = [(r.id, r.owner_scope, name) for r in records for name in r.links]
    if rolled:
        connection.executemany(_ROLL_UP, rolled)
    connection.executemany(
        _WRITE_VERSION,
        [(r.owner_scope, r.id, r.revision, r.recorded_at, dump(body(r))) for r in records],
    )
    connection.executemany(
        "DELETE FROM evidence WHERE owner_scope = ? AND record_id = ?",
        [(r.owner_scope, r.id) for r in records],
    )
    connection.executemany(
        _WRITE_EVIDENCE,
        [
            (r.owner_scope, r.id, span.seq, span.start, span.end, span.event_id, span.quote)
            for r in records
            for span in r.evidence
        ],
    )


def _row(record: Record, forms: Forms) -> tuple[Any, ...]:
    return (
        record.id, record.owner_scope, record.subject_id, record.kind.value, record.content,
        digest(forms.normal), digest(forms.skeleton), reach(record.scope), record.key,
        record.fact_class, int(_is_scoped(record)),
        record.observed_at, record.recorded_at,
        record.status.value, int(record.authority), record.revision, record.object_revision,
        record.valid_from, record.valid_to, dump(sparse(record, leave_out=_OWN_COLUMNS)),
        record.package_id, _due(record), record.id if record.links else None,
    )  # fmt: skip


def _due(record: Record) -> int | None:
    """When a commitment is due, for those without a day after all others; nothing else is owed."""
    if record.kind is not RecordKind.COMMITMENT:
        return None
    return _NO_DAY if record.due_at is None else record.due_at


def _is_scoped(record: Record) -> bool:
    """Whether it holds elsewhere than its subject says."""
    return bool(record.scope.objects) or record.scope.task is not None


# ---- reading ---------------------------------------------------------------


def by_ids(owner: str, ids: Collection[str]) -> list[Record]:
    """An owner's records of these ids, in order of id."""
    found: list[Record] = []
    wanted = sorted(ids)
    for start in range(0, len(wanted), _IN_LIMIT):
        part = wanted[start : start + _IN_LIMIT]
        found += _found(owner, f"id IN ({_marks(part)}) ORDER BY id", part)
    return found


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
    owner: str, subjects: Collection[str], statuses: Collection[RecordStatus], *, limit: int
) -> list[Record]:
    """An owner's newest records about any of these objects, in any of these statuses."""
    ways = [
        ("subject_id = ? AND status = ?", (subject, status.value))
        for subject in subjects
        for status in statuses
    ]
    return _newest(owner, ways, limit)


def of_kinds(
    owner: str,
    kinds: Collection[RecordKind],
    *,
    subjects: Collection[str] | None = None,
    fact_class: FactClass | None = None,
    limit: int,
) -> list[Record]:
    """An owner's newest active records of these kinds.

    Args:
        owner: Whose.
        kinds: Any of these.
        subjects: About any of these; None means about anything.
        fact_class: Of facts, only those of this class.
        limit: How many at most.
    """
    ways: list[tuple[str, tuple[Any, ...]]] = []
    for kind in kinds:
        classed = fact_class is not None and kind is RecordKind.FACT
        narrow = " AND fact_class = ?" if classed else ""
        values: tuple[Any, ...] = (kind.value, fact_class) if classed else (kind.value,)
        if subjects is None:
            ways.append((f"kind = ? AND status = 'active'{narrow}", values))
        else:
            about = f"status = 'active' AND subject_id = ? AND +kind = ?{narrow}"
            ways += [(about, (subject, *values)) for subject in subjects]
    return _newest(owner, ways, limit)


def owed(owner: str, subject: str | None = None, *, limit: int) -> list[Record]:
    """An owner's open commitments, about one object or about any.

    Those first that are due first, behind them those without a day, the newest first.
    """
    about, values = ("", [owner]) if subject is None else ("AND subject_id = ?", [owner, subject])
    rows = database.execute_sql(
        "SELECT id FROM record WHERE kind = 'commitment' AND status = 'active'"  # noqa: S608 - conditions of ours only
        f" AND owner_scope = ? {about} ORDER BY due_at, observed_at DESC LIMIT ?",
        (*values, limit),
    )
    order = [row[0] for row in rows.fetchall()]
    found = {record.id: record for record in by_ids(owner, order)}
    return [found[record_id] for record_id in order]


def scoped(owner: str, kinds: Collection[RecordKind], *, limit: int) -> list[Record]:
    """An owner's newest active records of these kinds that name where they hold."""
    ways = [("kind = ? AND status = 'active' AND scoped = 1", (kind.value,)) for kind in kinds]
    return _newest(owner, ways, limit)


def _newest(owner: str, ways: Sequence[tuple[str, tuple[Any, ...]]], limit: int) -> list[Record]:
    """The newest records that match any of these conditions, each of which an index serves."""
    found: dict[str, int] = {}
    for where, values in ways:
        rows = database.execute_sql(
            f"SELECT id, observed_at FROM record WHERE owner_scope = ? AND {where}"  # noqa: S608 - conditions of ours only
            " ORDER BY observed_at DESC LIMIT ?",
            (owner, *values, limit),
        )
        found.update(rows.fetchall())
    newest = sorted(found, key=lambda record_id: (-found[record_id], record_id))[:limit]
    return sorted(by_ids(owner, newest), key=lambda record: (-record.observed_at, record.id))


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
    wanted = {"subject_id": subject, "kind": kind and kind.value, "status": status and status.value}
    chosen = {column: value for column, value in wanted.items() if value is not None}
    where = "".join(f" AND {column} = ?" for column in chosen)
    return _found(owner, f"id > ?{where} ORDER BY id LIMIT ?", (after, *chosen.values(), limit))


def _found(owner: str, where: str, values: Collection[Any]) -> list[Record]:
    rows = database.execute_sql(f"{_SELECT} WHERE owner_scope = ? AND {where}", (owner, *values))
    found = rows.fetchall()
    spans = _spans(owner, [row[0] for row in found])
    return [_record(row, tuple(spans.get(row[0], ()))) for row in found]


def _spans(owner: str, ids: Sequence[str]) -> dict[str, list[Span]]:
    spans: dict[str, list[Span]] = {}
    for start in range(0, len(ids), _IN_LIMIT):
        part = ids[start : start + _IN_LIMIT]
        rows = database.execute_sql(
            'SELECT record_id, event_id, seq, start, "end", quote FROM evidence'  # noqa: S608 - marks only
            f" WHERE owner_scope = ? AND record_id IN ({_marks(part)}) ORDER BY seq, start",
            (owner, *part),
        )
        for record_id, *span in rows.fetchall():
            spans.setdefault(record_id, []).append(Span(*span))
    return spans


def _record(row: Sequence[Any], evidence: tuple[Span, ...]) -> Record:
    (
        record_id, owner, subject, kind, content, observed_at, recorded_at, status, authority,
        revision, object_revision, key, valid_from, valid_to, package_id, rest,
    ) = row  # fmt: skip
    return Record(
        id=record_id,
        owner_scope=owner,
        subject_id=subject,
        kind=RecordKind(kind),
        content=content,
        observed_at=observed_at,
        recorded_at=recorded_at,
        status=RecordStatus(status),
        authority=Authority(authority),
        evidence=evidence,
        revision=revision,
        object_revision=object_revision,
        key=key,
        valid_from=valid_from,
        valid_to=valid_to,
        package_id=package_id,
        **knowledge_fields(load(rest)),
    )


def _marks(values: Collection[Any]) -> str:
    return ",".join("?" * len(values))


def history(owner: str, record_id: str) -> list[Record]:
    """Every version of a record, oldest first.

    Raises:
        NotFoundError: The owner has none of that id.
    """
    rows = database.execute_sql(
        "SELECT body FROM record_version WHERE owner_scope = ? AND record_id = ? ORDER BY revision",
        (owner, record_id),
    )
    found = [from_body(load(row[0])) for row in rows.fetchall()]
    if not found:
        raise NotFoundError("There is no record of that id for this owner.")
    return found


def subjects_of(owner: str, ids: Collection[str]) -> frozenset[str]:
    """What these records are about."""
    rows = database.execute_sql(
        f"SELECT DISTINCT subject_id FROM record WHERE owner_scope = ? AND id IN ({_marks(ids)})",  # noqa: S608 - marks only
        (owner, *ids),
    )
    return frozenset(row[0] for row in rows.fetchall())


def resting_on(owner: str, seqs: Collection[int]) -> dict[int, list[str]]:
    """The ids of the records that quote these events, by sequence number."""
    rows = database.execute_sql(
        "SELECT DISTINCT seq, record_id FROM evidence"  # noqa: S608 - marks only
        f" WHERE seq IN ({_marks(seqs)}) AND owner_scope = ? ORDER BY seq, record_id",
        (*seqs, owner),
    )
    found: dict[int, list[str]] = {}
    for seq, record_id in rows.fetchall():
        found.setdefault(seq, []).append(record_id)
    return found
