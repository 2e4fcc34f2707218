"""Stages that an operator has paused."""

from storage.records.runs import Stage
from storage.tables import StageControlRow


def pause(stage: Stage, now: int) -> None:
    """Let no package of a stage be claimed until it is resumed."""
    StageControlRow.insert(stage=stage.value, paused_at=now).on_conflict_ignore().execute()


def resume(stage: Stage) -> None:
    """Let a paused stage go on."""
    StageControlRow.delete().where(StageControlRow.stage == stage.value).execute()


def paused() -> dict[str, int]:
    """The paused stages, each with when it was paused."""
    return {row.stage: row.paused_at for row in StageControlRow.select()}


def is_paused(stage: Stage) -> bool:
    """Whether an operator has paused the stage."""
    return stage.value in paused()
