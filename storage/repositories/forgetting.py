"""Forgettings under way and done: the durable side of erasing.

Functions that write run inside a transaction of the writer.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from storage.database import database
from storage.errors import NotFoundError
from storage.records.forgetting import (
    Forgetting,
    ForgettingPart,
    ForgettingState,
    ForgettingStep,
)
from storage.repositories.codec import dump, load

_COLUMNS: Final = (
    "id, owner, state, step, requested_at, masked_from, object_id, counts, remaining, attempt,"
    " next_attempt_at, finished_at"
)


def create(new: Forgetting, parts: Sequence[ForgettingPart]) -> None:
    """Note a forgetting, and what of it later transactions are to take away."""
    database.execute_sql(
        f"INSERT INTO forgetting ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",  # noqa: S608 - columns only
        (
            new.id, new.owner, new.state.value, new.step.value, new.requested_at, new.masked_from,
            new.object_id, dump(dict(new.counts)), dump(list(new.remaining)), new.attempt,
            new.next_attempt_at, new.finished_at,
        ),
    )  # fmt: skip
    database.connection().executemany(
        "INSERT INTO forgetting_part (forgetting_id, place, records, seqs) VALUES (?,?,?,?)",
        [(new.id, part.place, dump(part.records), dump(part.seqs)) for part in parts],
    )


def get(owner: str, forgetting_id: str) -> Forgetting:
    """One forgetting.

    Raises:
        NotFoundError: The owner has asked for none of that id.
    """
    row = database.execute_sql(
        f"SELECT {_COLUMNS} FROM forgetting WHERE id = ? AND owner = ?",  # noqa: S608 - columns only
        (forgetting_id, owner),
    ).fetchone()
    if row is None:
        raise NotFoundError("There is no forgetting of that id for this owner.")
    return _forgetting(row)


def exists(forgetting_id: str) -> bool:
    """Whether a forgetting of that id was ever begun."""
    return bool(
        database.execute_sql("SELECT 1 FROM forgetting WHERE id = ?", (forgetting_id,)).fetchone()
    )


def under_way() -> list[Forgetting]:
    """Forgettings that are not done, the oldest first."""
    rows = database.execute_sql(
        f"SELECT {_COLUMNS} FROM forgetting WHERE state != 'done' ORDER BY requested_at, id"  # noqa: S608 - columns only
    )
    return [_forgetting(row) for row in rows.fetchall()]


def parts_left(forgetting_id: str) -> list[ForgettingPart]:
    """All that is still to be taken away."""
    rows = database.execute_sql(
        "SELECT place, records, seqs FROM forgetting_part WHERE forgetting_id = ? ORDER BY place",
        (forgetting_id,),
    )
    return [_part(row) for row in rows.fetchall()]


def end_part(forgetting_id: str, place: int, counts: Mapping[str, int]) -> None:
    """Note that a part has been taken away, and what there is gone by now."""
    database.execute_sql(
        "DELETE FROM forgetting_part WHERE forgetting_id = ? AND place = ?", (forgetting_id, place)
    )
    database.execute_sql(
        "UPDATE forgetting SET counts = ? WHERE id = ?", (dump(dict(counts)), forgetting_id)
    )


def enter(forgetting_id: str, step: ForgettingStep) -> None:
    """Note what is worked on from now; the object's name is needed for its rows alone."""
    keeps = "" if step is ForgettingStep.ROWS else ", object_id = NULL"
    database.execute_sql(
        f"UPDATE forgetting SET step = ?{keeps} WHERE id = ?",  # noqa: S608 - one of two constants
        (step.value, forgetting_id),
    )


def hold_up(forgetting_id: str, remaining: Sequence[str], *, next_attempt_at: int) -> None:
    """Note what stands in the way, and when to try again."""
    database.execute_sql(
        "UPDATE forgetting SET state = 'blocked', remaining = ?, attempt = attempt + 1,"
        " next_attempt_at = ? WHERE id = ?",
        (dump(list(remaining)), next_attempt_at, forgetting_id),
    )


def finish(forgetting_id: str, now: int) -> None:
    """Note that nothing is left."""
    database.execute_sql(
        "UPDATE forgetting SET state = 'done', remaining = '[]', finished_at = ? WHERE id = ?",
        (now, forgetting_id),
    )


def _forgetting(row: Sequence[Any]) -> Forgetting:
    (
        name, owner, state, step, requested_at, masked_from, object_id, counts, remaining, attempt,
        next_attempt_at, finished_at,
    ) = row  # fmt: skip
    return Forgetting(
        id=name,
        owner=owner,
        state=ForgettingState(state),
        step=ForgettingStep(step),
        requested_at=requested_at,
        masked_from=masked_from,
        object_id=object_id,
        counts=load(counts),
        remaining=tuple(load(remaining)),
        attempt=attempt,
        next_attempt_at=next_attempt_at,
        finished_at=finished_at,
    )


def _part(row: Sequence[Any]) -> ForgettingPart:
    place, found, seqs = row
    return ForgettingPart(place, tuple(load(found)), tuple(load(seqs)))
