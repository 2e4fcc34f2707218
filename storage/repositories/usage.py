"""What calls of a model have cost. Functions that write run inside a transaction of the writer."""

from collections.abc import Sequence
from dataclasses import fields

from storage.database import database
from storage.records.usage import ModelCall
from storage.tables import ObserverUsageRow

_TOKENS = "input_tokens + output_tokens + cache_read_tokens + cache_write_tokens"


def write(calls: Sequence[ModelCall]) -> None:
    """Note calls; one that is known by package and fence is left as it is."""
    database.connection().executemany(
        "INSERT OR IGNORE INTO observer_usage (package_id, fence, attempt, at, model, stop_reason,"
        " batch_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?)",
        [
            (
                call.package_id, call.fence, call.attempt, call.at, call.model, call.stop_reason,
                call.batch_id, call.input_tokens, call.output_tokens, call.cache_read_tokens,
                call.cache_write_tokens,
            )
            for call in calls
        ],
    )  # fmt: skip


def spent_since(start: int) -> int:
    """Tokens of all calls from that time on, epoch milliseconds."""
    row = database.execute_sql(
        f"SELECT coalesce(sum({_TOKENS}), 0) FROM observer_usage WHERE at >= ?",  # noqa: S608 - columns only
        (start,),
    ).fetchone()
    return int(row[0])


def of_package(package_id: int) -> list[ModelCall]:
    """The calls that were made for a package, in the order of its claims."""
    found = ObserverUsageRow.select().where(ObserverUsageRow.package_id == package_id)
    names = [field.name for field in fields(ModelCall)]
    return [
        ModelCall(**{name: getattr(row, name) for name in names})
        for row in found.order_by(ObserverUsageRow.fence)
    ]
