"""The database file before anybody opens it: whose is it?

Apart from `storage.database`, since the gateway wants to know before it imports a database driver.
"""

from pathlib import Path
from typing import Final

from storage.errors import MemoryServiceError, UnavailableError

APPLICATION_ID: Final = 0x4450_4D31
"""Written into the file's header: what tells our database from everybody else's."""

_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\x00"
_ID_BYTES: Final = slice(68, 72)


class ForeignDatabaseError(MemoryServiceError):
    """The database file is not this service's; move it away or name another path."""


def check_is_ours(path: Path) -> None:
    """Look at a file's header without opening it as a database, so that nothing is touched.

    Args:
        path: The database file. A missing or an empty one is fine: it will be created.

    Raises:
        ForeignDatabaseError: It is no SQLite file, or one of another program.
        UnavailableError: It can't be read.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnavailableError(f"{path} can't be read: {error.strerror}") from error
    if not header:
        return
    if not header.startswith(_MAGIC):
        raise ForeignDatabaseError(
            f"{path} is not a SQLite database. It was not touched; move it away, or set"
            " DESKPAW_MEMORY_DB to another path."
        )
    if int.from_bytes(header[_ID_BYTES], "big") != APPLICATION_ID:
        raise ForeignDatabaseError(
            f"{path} is another program's database (a DeskPaw memory of an older service belongs"
            " into ~/.deskpaw/memory-legacy/). It was not touched; move it away, or set"
            " DESKPAW_MEMORY_DB to another path."
        )
