"""Everything that the database holds, value by value: for telling what is still there."""

from collections.abc import Iterator
from typing import Final

from storage.database import database

_BATCH: Final = 500


def values() -> Iterator[bytes]:
    """Every text and blob of every table, some hundred rows a query so that nobody waits."""
    tables = database.execute_sql(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " ORDER BY name"
    ).fetchall()
    for (table,) in tables:
        yield from _of_table(table)


def _of_table(table: str) -> Iterator[bytes]:
    keys = database.execute_sql(
        "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,)
    ).fetchall()
    order = ", ".join(f'"{name}"' for (name,) in keys) or "rowid"
    marks = ", ".join("?" * (len(keys) or 1))
    after: tuple[object, ...] | None = None
    while True:
        where = f" WHERE ({order}) > ({marks})" if after is not None else ""
        rows = database.execute_sql(
            f'SELECT {order}, * FROM "{table}"{where} ORDER BY {order} LIMIT ?',  # noqa: S608 - names of ours
            (*(after or ()), _BATCH),
        ).fetchall()
        for row in rows:
            for value in row:
                if isinstance(value, str):
                    yield value.encode("utf-8", "surrogatepass")
                elif isinstance(value, bytes):
                    yield value
        if len(rows) < _BATCH:
            return
        after = tuple(rows[-1][: len(keys) or 1])
