"""Long operations that an operator has asked for: running, done or failed, with their report."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from storage.database import database
from storage.errors import NotFoundError
from storage.repositories.codec import dump, load
from storage.tables import OperationRow


class OperationState(StrEnum):
    """How far a long operation has come."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Operation:
    """A long operation; `report` holds counts and ids, `error` the service's own words."""

    id: int
    kind: str
    state: OperationState
    started_at: int
    owner: str | None = None
    finished_at: int | None = None
    report: dict[str, Any] = field(default_factory=dict)
    error: str | None = None


def start(kind: str, owner: str | None, now: int) -> Operation:
    """Note that an operation has begun."""
    number = OperationRow.insert(
        kind=kind, owner=owner, state=OperationState.RUNNING.value, started_at=now, report="{}"
    ).execute()
    return Operation(int(number), kind, OperationState.RUNNING, now, owner)


def report(operation_id: int, told: dict[str, Any]) -> None:
    """Note how far an operation has come."""
    OperationRow.update(report=dump(told)).where(OperationRow.id == operation_id).execute()


def finish(operation_id: int, now: int, *, error: str | None = None) -> None:
    """Note that an operation has ended, well or not."""
    state = OperationState.FAILED if error else OperationState.DONE
    OperationRow.update(state=state.value, finished_at=now, error=error).where(
        OperationRow.id == operation_id
    ).execute()


def get(operation_id: int) -> Operation:
    """One operation.

    Raises:
        NotFoundError: There is none of that id.
    """
    row = OperationRow.get_or_none(OperationRow.id == operation_id)
    if row is None:
        raise NotFoundError("There is no operation of that id.")
    return Operation(
        id=row.id,
        kind=row.kind,
        state=OperationState(row.state),
        started_at=row.started_at,
        owner=row.owner,
        finished_at=row.finished_at,
        report=load(row.report),
        error=row.error,
    )


def end_interrupted(now: int) -> int:
    """Fail what was running when the process ended; how many there were."""
    cursor = database.execute_sql(
        "UPDATE operation SET state = 'failed', finished_at = ?, error = ? WHERE state = 'running'",
        (now, "The service was stopped meanwhile; ask again."),
    )
    return int(cursor.rowcount)
