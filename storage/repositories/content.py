"""Everything that the database holds, value by value: for telling what is still there, and why."""

from collections.abc import Collection, Iterator
from typing import Any, Final

from storage.database import database
from storage.repositories.codec import load

_BATCH: Final = 500

_DERIVED: Final = frozenset(
    {
        "evidence",
        "index_entry",
        "object",
        "package",
        "proposal",
        "record",
        "record_change",
        "record_version",
        "snapshot",
        "stage_output",
    }
)
"""Tables whose words come from elsewhere: that they hold a word does not say that it may be there."""


def values() -> Iterator[tuple[str, bytes]]:
    """Every text and blob of every table by the table's name, some hundred rows a query.

    What the tables are called and made of is among it: that, too, stands in the file.
    """
    yield from _schema()
    for table in _tables():
        for row in _rows(table):
            for value in row.values():
                yield from ((table, part) for part in _bytes(value))


def sources(suspects: Collection[int]) -> Iterator[bytes]:
    """What may rightly hold a word after a forgetting: sources, and what rests on them alone.

    Events, what callers have given, and what workers have said that never saw what went. What was
    said of a package that has lost something does not count: its words have to stand elsewhere. Imported
    records rest on nothing here, so they are sources of their own.

    Args:
        suspects: Packages that have lost events, or words of them.
    """
    yield from (part for _, part in _schema())
    for table in _tables():
        if table in _DERIVED:
            continue
        for row in _rows(table):
            told = {name: value for name, value in row.items() if name != "result"}
            for value in told.values():
                yield from _bytes(value)
    yield from (part for row in _rows("object") for part in _bytes(row["id"]))
    for row in _rows("proposal"):
        if row["package_id"] not in suspects:
            made = load(row["record"]) if row["record"] else {}
            made.pop("evidence", None)
            yield from _strings([load(row["proposal"]), made])
    for row in _rows("package"):
        if row["id"] not in suspects:
            for value in row.values():
                yield from _bytes(value)
    yield from _of_records(frozenset(suspects))
    yield from _of_entries()


def _of_records(suspects: Collection[int]) -> Iterator[bytes]:
    """Words of records and of their versions, their quotes of events here apart."""
    standing = {(row["owner_scope"], row["id"]) for row in _rows("record")}
    suspected = set()
    for row in _rows("record_version"):
        name = (row["owner_scope"], row["record_id"])
        if name in standing and load(row["body"]).get("package_id") in suspects:
            suspected.add(name)
    for row in _rows("record_version"):
        name = (row["owner_scope"], row["record_id"])
        if name not in standing:
            continue
        body = load(row["body"])
        quoted = body.pop("evidence", ())
        here = any(seq > 0 for _, seq, *_ in quoted)
        if here and name in suspected:
            continue
        yield from _strings(body)
        yield from (part for _, seq, *_, quote in quoted if seq < 0 for part in _bytes(quote))


def _of_entries() -> Iterator[bytes]:
    """Index entries of documents that stand: they hold words in a form that no source has."""
    rows = database.execute_sql(
        "SELECT i.fields FROM index_entry i WHERE EXISTS (SELECT 1 FROM event e WHERE"
        " i.document = 'e:' || e.seq AND e.owner = i.owner) OR EXISTS (SELECT 1 FROM record r WHERE"
        " i.document = 'r:' || r.id AND r.owner_scope = i.owner)"
    )
    yield from (part for (fields,) in rows for part in _bytes(fields))


def _strings(value: Any) -> Iterator[bytes]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    else:
        yield from _bytes(value)


def _bytes(value: object) -> Iterator[bytes]:
    if isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        yield value


def _schema() -> Iterator[tuple[str, bytes]]:
    for row in database.execute_sql("SELECT name, sql FROM sqlite_master").fetchall():
        yield from (("sqlite_master", text.encode()) for text in row if text)


def _tables() -> list[str]:
    rows = database.execute_sql(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " ORDER BY name"
    )
    return [name for (name,) in rows.fetchall()]


def _rows(table: str) -> Iterator[dict[str, Any]]:
    """A table's rows, some hundred a query so that nobody waits."""
    keys = database.execute_sql(
        "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,)
    ).fetchall()
    names = [name for (name,) in keys] or ["rowid"]
    order = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("?" * len(names))
    after: tuple[object, ...] | None = None
    while True:
        where = f" WHERE ({order}) > ({marks})" if after is not None else ""
        found = database.execute_sql(
            f'SELECT {order}, * FROM "{table}"{where} ORDER BY {order} LIMIT ?',  # noqa: S608 - names of ours
            (*(after or ()), _BATCH),
        )
        columns = [told[0] for told in found.description][len(names) :]
        rows = found.fetchall()
        yield from (dict(zip(columns, row[len(names) :], strict=True)) for row in rows)
        if len(rows) < _BATCH:
            return
        after = tuple(rows[-1][: len(names)])
