"""The tables of the first release."""

from storage.database import database
from storage.tables import TABLES

_INDEXES = (
    # Positions ask for the lowest sequence that is still under way; done work must cost nothing.
    """CREATE INDEX package_under_way ON package (owner, stage, first_seq)
    WHERE state IN ('open', 'ready', 'leased')""",
    "CREATE INDEX package_to_close ON package (close_at) WHERE state = 'open'",
    "CREATE INDEX package_leased ON package (lease_until) WHERE state = 'leased'",
    "CREATE INDEX package_dead ON package (owner, id) WHERE state = 'dead'",
)


def apply() -> None:
    """Create the tables and the partial indexes."""
    database.create_tables(TABLES, safe=False)
    for statement in _INDEXES:
        database.execute_sql(statement)
