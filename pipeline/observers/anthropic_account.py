"""What asking a model costs, noted for each package, and held to the day's budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from pipeline.observers.anthropic_faults import BudgetSpentError
from pipeline.observers.schemas import ReplyModel
from pipeline.rules.workdays import BEIJING, DAY_STARTS, workday
from storage.clock import Clock
from storage.records.usage import ModelCall
from storage.repositories import observer_batches, usage
from storage.writer import Writer

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Asked:
    """For which claim of which package a model was asked, and as part of which batch."""

    package_id: int
    fence: int
    attempt: int = 0
    batch_id: str | None = None


class Account:
    """The calls of a model and the day's budget, which begins anew with each workday.

    Every token counts alike, read from the cache or not. A call is made while any budget is left,
    so a day costs at most one answer more than its budget for each observation under way.

    Args:
        writer: The process's writer.
        clock: Which day it is.
        daily_tokens: The budget; 0 for none.
    """

    def __init__(self, writer: Writer, clock: Clock, daily_tokens: int) -> None:
        self._writer = writer
        self._clock = clock
        self._daily_tokens = daily_tokens

    def note(self, answered: Sequence[tuple[Asked, ReplyModel]]) -> None:
        """Make durable what answers have cost, whatever becomes of them; each one once."""
        if answered:
            now = self._clock.now_ms()
            calls = [_call(asked, reply, now) for asked, reply in answered]
            self._writer.call("observe", partial(usage.write, calls))

    def left(self) -> int | None:
        """Tokens of the day's budget that are left, batches that are out counted in full."""
        if not self._daily_tokens:
            return None
        start, _ = day_around(self._clock.now_ms())
        return self._daily_tokens - usage.spent_since(start) - observer_batches.tokens_out()

    def spent_until(self) -> int | None:
        """When the next budget begins, epoch milliseconds; None while something of this is left."""
        left = self.left()
        if left is None or left > 0:
            return None
        return day_around(self._clock.now_ms())[1]

    def check(self) -> None:
        """Let a call be made.

        Raises:
            BudgetSpentError: Nothing is left of the day's budget.
        """
        until = self.spent_until()
        if until is not None:
            raise BudgetSpentError(retry_after_ms=until - self._clock.now_ms())


def _call(asked: Asked, reply: ReplyModel, now: int) -> ModelCall:
    used = reply.usage
    return ModelCall(
        package_id=asked.package_id,
        fence=asked.fence,
        attempt=asked.attempt,
        at=now,
        model=reply.model,
        stop_reason=reply.stop_reason,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_input_tokens or 0,
        cache_write_tokens=used.cache_creation_input_tokens or 0,
        batch_id=asked.batch_id,
    )


def day_around(now_ms: int) -> tuple[int, int]:
    """Start and end of a moment's workday, 03:30 to 03:30 Beijing time (mission F2).

    >>> [(at - 1_767_225_600_000) / 3_600_000 for at in day_around(1_767_225_600_000)]
    [-4.5, 19.5]
    """
    day = datetime.fromisoformat(workday(now_ms)).replace(tzinfo=BEIJING) + DAY_STARTS
    return int(day.timestamp() * 1000), int((day + _DAY).timestamp() * 1000)
