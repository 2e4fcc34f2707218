"""What can go wrong with the lexical index, and the guard against Tantivy's panics."""

from collections.abc import Iterator
from contextlib import contextmanager

from storage.errors import UnavailableError


class DamagedIndexError(UnavailableError):
    """The lexical index is damaged; it is rebuilt from its rows, try again later."""


class IndexWriteError(UnavailableError):
    """The lexical index could not be written; see that its folder is writable and has room."""


@contextmanager
def guarded() -> Iterator[None]:
    """Turn a Rust panic into a `DamagedIndexError`.

    Raises:
        DamagedIndexError: The code inside met bytes that it could not have written.
    """
    try:
        yield
    except BaseException as error:
        # Not an Exception and not importable: it would end a thread past every handler.
        if type(error).__name__ != "PanicException":
            raise
        raise DamagedIndexError from error
