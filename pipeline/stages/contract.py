"""The contract of a stage: compute without a transaction, apply within one.

A stage never moves the ledger and never opens a transaction; the runner does both, so that a
stage's output and its ledger row are one commit (spec: design, invariant 3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from storage.errors import MemoryServiceError
from storage.records.runs import Package, Stage


class PanicError(MemoryServiceError):
    """An extension gave up in a way that is no ordinary exception."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What a stage leaves in the ledger: an answer to repeat, or why nothing was kept."""

    answer: object = None
    nothing: str | None = None


class StageWork(Protocol):
    """One stage's work on packages."""

    stage: Stage

    def compute(self, claimed: Sequence[Package]) -> Mapping[int, Any]:
        """Work out what is to be written for each package.

        May call a model, the tokenizer or the disk; no transaction is open.

        Returns:
            For each package id what `apply` needs, or the exception that it failed with.
        """
        ...

    def apply(self, package: Package, computed: Any, now: int) -> Applied:
        """Write what was computed for one package; runs inside the runner's transaction.

        Raises:
            LostRaceError: What it was computed from has changed; compute again.
        """
        ...


def each(packages: Sequence[Package], work: Any) -> dict[int, Any]:
    """Apply a function to packages one by one, keeping each one's failure to itself."""
    made: dict[int, Any] = {}
    for package in packages:
        try:
            made[package.id] = work(package)
        except (KeyboardInterrupt, SystemExit):
            raise
        except Exception as error:  # noqa: BLE001 - the ledger keeps it, and the rest goes on
            made[package.id] = error
        except BaseException as error:  # noqa: BLE001 - an extension's panic
            made[package.id] = PanicError(f"An extension panicked: {type(error).__name__}.")
    return made
