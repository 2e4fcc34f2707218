"""What an observer is: it reads a package and proposes; it decides nothing (mission C3)."""

from typing import Protocol

from storage.errors import ErrorCode, MemoryServiceError
from storage.records.runs import FaultKind, Observation, WorkPackage


class Observer(Protocol):
    """Reads packages. Holds no transaction and no lease, and keeps nothing of what it proposes.

    Every implementation passes `tests/contract/observer_suite.py`.
    """

    name: str
    """The word of `observer.kind` in the settings."""

    batch: int
    """How many packages one claim may take for it."""

    def ready(self) -> bool:
        """Whether the pipeline's own worker may ask it now; until then it claims no package."""
        ...

    def observe(self, work: WorkPackage) -> Observation:
        """Propose records for a package, or say why nothing in it is worth keeping.

        Every proposal quotes events of the package verbatim. Proposals are present exactly when
        there is no reason given.

        Raises:
            ObserverFault: It could not be done; the package backs off or is parked.
        """
        ...


class ObserverFault(MemoryServiceError):  # noqa: N818 - a fault, as the ledger names it
    """The observer could not read this package; it is tried again or parked."""

    code = ErrorCode.UNAVAILABLE

    def __init__(
        self, kind: FaultKind, message: str | None = None, *, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(message, retry_after_ms=retry_after_ms)
        self.kind = kind
