"""What records have to do with each other and with the journal: what replaced them, what last changed them."""

from collections.abc import Collection

from storage.database import database
from storage.records.knowledge import Record
from storage.repositories.events import parts


def superseding(owner: str, subject: str, ids: Collection[str]) -> dict[str, list[str]]:
    """Which records of a subject have replaced these, by the id of the replaced one."""
    found: dict[str, list[str]] = {}
    for part in parts(sorted(ids)):
        marks = ",".join("?" * len(part))
        rows = database.execute_sql(
            "SELECT replaced.value, r.id FROM record r, json_each(r.rest, '$.supersedes') replaced"  # noqa: S608 - marks only
            f" WHERE r.owner_scope = ? AND r.subject_id = ? AND replaced.value IN ({marks})"
            " ORDER BY r.observed_at, r.id",
            (owner, subject, *part),
        )
        for replaced, record_id in rows.fetchall():
            found.setdefault(replaced, []).append(record_id)
    return found


def changed_at(record: Record) -> int | None:
    """When a record's last change was made, in epoch milliseconds; None where no journal tells."""
    row = database.execute_sql(
        "SELECT at FROM record_change WHERE owner = ? AND subject_id = ? AND object_revision = ?"
        " ORDER BY seq DESC LIMIT 1",
        (record.owner_scope, record.subject_id, record.object_revision),
    ).fetchone()
    return int(row[0]) if row else None
