"""What can go wrong between us and a model's server, and what it says about the package.

A fault of the server, or of how it is asked, says nothing about the package: it is transient, so
that no package is split for it. What the model made of one package is a content fault. Messages
hold nothing of what was sent or received, since either may be the user's text.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

from pipeline.observers.port import ObserverFault
from storage.errors import UnavailableError
from storage.records.runs import FaultKind

_SERVER_ERROR: Final = 500
_FOR_EVER: Final = 1e12
_PASSING: Final = frozenset({408, 409, 429})
_ADVICE: Final = {
    401: "set observer.api_key",
    402: "look at the account's credit",
    403: "set observer.api_key to one that may use this model",
    404: "look at observer.base_url and observer.model",
}


class ServerFault(ObserverFault):
    """The model's server could not be asked, or does not answer as its API says.

    `again` says that the same request may succeed in a moment.
    """

    def __init__(
        self, message: str, *, again: bool = False, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(FaultKind.TRANSIENT, message, retry_after_ms=retry_after_ms)
        self.again = again


class BudgetSpentError(UnavailableError):
    """The day's tokens are spent; the package waits for the next workday."""


class WaitsForBatchError(UnavailableError):
    """The package is read as part of a message batch, which has not ended."""


def content_fault(message: str) -> ObserverFault:
    """A fault that the same package would bring again."""
    return ObserverFault(FaultKind.CONTENT, message)


def too_large(status: int) -> bool:
    """Whether a server refuses a request for its size, which a smaller package would not have."""
    return status == 413  # noqa: PLR2004 - the one status of that meaning


def fault_of(status: int, headers: Mapping[str, str], *, longest_wait_ms: int) -> ObserverFault:
    """The fault that a status of a server means.

    Args:
        status: An HTTP status from 400 on.
        headers: The response's, by names in lower case.
        longest_wait_ms: What a wait that the server asks for is cut to.
    """
    if too_large(status):
        return content_fault("The model's server finds the package too large (413).")
    if status in _PASSING or status >= _SERVER_ERROR:
        asked = retry_after_ms(headers)
        wait = None if asked is None else min(asked, longest_wait_ms)
        return ServerFault(
            f"The model's server can't answer now ({status}).", again=True, retry_after_ms=wait
        )
    advice = _ADVICE.get(status, "look at the observer settings: the model may not take them")
    return ServerFault(f"The model's server refuses ({status}): {advice}.")


def retry_after_ms(headers: Mapping[str, str]) -> int | None:
    """The wait that a server asks for, in milliseconds; None where it names none that makes sense.

    >>> retry_after_ms({"retry-after": "2"}), retry_after_ms({"retry-after-ms": "30"})
    (2000, 30)
    >>> retry_after_ms({"retry-after": "-1"}), retry_after_ms({"retry-after": "nan"})
    (None, None)
    """
    for name, factor in (("retry-after-ms", 1), ("retry-after", 1000)):
        try:
            asked = float(headers[name])
        except (KeyError, ValueError):
            continue
        if math.isfinite(asked) and asked >= 0:
            return int(min(asked, _FOR_EVER) * factor)
    return _until_date(headers)


def _until_date(headers: Mapping[str, str]) -> int | None:
    """A wait that is given as a date, measured by the server's own clock."""
    until, now = (_date(headers.get(name)) for name in ("retry-after", "date"))
    if until is None or now is None:
        return None
    return max(0, int((until - now).total_seconds() * 1000))


def _date(said: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(said or "")
    except ValueError:
        return None
    # One without an offset can't be compared with one that has it.
    return found if found.tzinfo is not None else None
