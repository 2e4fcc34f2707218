"""Which packages a model reads as part of a message batch.

An entry stands until its package has left *observe*; it holds no text, since the answers stay with
the server until they are needed. Functions that write run inside a transaction of the writer.
"""

from collections.abc import Sequence

from storage.database import database
from storage.records.events import Priority
from storage.records.runs import Package, PackageState, PackageWork, Stage
from storage.records.usage import BatchEntry
from storage.repositories import ledger
from storage.tables import ObserverBatchRow

# A lease may end while its package waits for a batch, so a leased one counts too.
_WAITING = (
    "SELECT id FROM package WHERE stage = 'observe' AND state IN ('ready', 'leased')"
    " AND id = observer_batch.package_id"
)


def unsent(now: int, limit: int) -> list[Package]:
    """The oldest packages that are due at *observe*, new to the model, and can wait for a batch."""
    rows = database.execute_sql(
        "SELECT id FROM package WHERE state = ? AND stage = ? AND next_attempt_at <= ?"
        " AND attempt = 0 AND work = ? AND priority >= ?"
        " AND NOT EXISTS (SELECT 1 FROM observer_batch b WHERE b.package_id = package.id)"
        " AND NOT EXISTS (SELECT 1 FROM observer_usage u WHERE u.package_id = package.id)"
        " ORDER BY id LIMIT ?",
        (
            PackageState.READY.value, Stage.OBSERVE.value, now, PackageWork.EVENTS.value,
            int(Priority.NORMAL), limit,
        ),
    ).fetchall()  # fmt: skip
    found = [ledger.get(package_id) for (package_id,) in rows]
    return [package for package in found if package is not None]


def add(entries: Sequence[BatchEntry], *, until: int) -> None:
    """Note what was sent, and let those packages wait until that time.

    A package that another process has sent meanwhile stays in that batch.
    """
    database.execute_sql(f"DELETE FROM observer_batch WHERE NOT EXISTS ({_WAITING})")  # noqa: S608 - names of ours
    database.connection().executemany(
        "INSERT OR IGNORE INTO observer_batch (package_id, fence, batch_id, sent_at, tokens)"
        # What was sent may hold what was forgotten meanwhile: then the fence has moved on.
        " SELECT id, fence, ?, ?, ? FROM package WHERE id = ? AND fence = ?",
        [(e.batch_id, e.sent_at, e.tokens, e.package_id, e.fence) for e in entries],
    )
    for batch_id in {entry.batch_id for entry in entries}:
        postpone(batch_id, until)


def postpone(batch_id: str, until: int) -> None:
    """Let the packages of a batch wait until that time, epoch milliseconds."""
    database.execute_sql(
        "UPDATE package SET next_attempt_at = max(next_attempt_at, ?) WHERE state = 'ready'"
        " AND stage = 'observe'"
        " AND id IN (SELECT package_id FROM observer_batch WHERE batch_id = ?)",
        (until, batch_id),
    )


def entry(package_id: int) -> BatchEntry | None:
    """The batch that a package is in."""
    row = ObserverBatchRow.get_or_none(ObserverBatchRow.package_id == package_id)
    if row is None:
        return None
    return BatchEntry(row.package_id, row.fence, row.batch_id, row.sent_at, row.tokens)


def of_batch(batch_id: str) -> list[BatchEntry]:
    """The packages of a batch."""
    rows = ObserverBatchRow.select().where(ObserverBatchRow.batch_id == batch_id)
    return [
        BatchEntry(row.package_id, row.fence, row.batch_id, row.sent_at, row.tokens) for row in rows
    ]


def drop(package_ids: Sequence[int]) -> None:
    """Let packages be read one by one again."""
    for package_id in package_ids:
        database.execute_sql("DELETE FROM observer_batch WHERE package_id = ?", (package_id,))


def tokens_out() -> int:
    """What the answers that are still out may cost at most, in tokens."""
    row = database.execute_sql(
        "SELECT coalesce(sum(tokens), 0) FROM observer_batch"  # noqa: S608 - names of ours
        " WHERE NOT EXISTS (SELECT 1 FROM observer_usage u"
        " WHERE u.package_id = observer_batch.package_id AND u.fence = observer_batch.fence)"
        f" AND EXISTS ({_WAITING})"
    ).fetchone()
    return int(row[0])


def out() -> int:
    """How many packages wait for a batch."""
    row = database.execute_sql(
        f"SELECT count(*) FROM observer_batch WHERE EXISTS ({_WAITING})"  # noqa: S608 - names of ours
    ).fetchone()
    return int(row[0])
