"""When a request is sent again, and when after.

Only what changes nothing by coming twice is repeated after a lost answer; a refusal that says
"later" is repeated for every method (spec: protocol, Error codes).
"""

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception

from socket_gateway.client.errors import NotReachableError, ServiceError
from storage.errors import ErrorCode

_READ = "it only reads"

REPEATABLE: Final = {
    "health": _READ,
    "memory.events.ingest": "an event's id makes the second one a duplicate",
    "memory.positions": _READ,
    "memory.evidence.get": _READ,
    "memory.observation.commit": "the same commit under the same token gets the same answer",
    "memory.continuity.recall": "the same request id is the same request",
    "snapshot.get": _READ,
    "memory.record.get": _READ,
    "memory.record.list": _READ,
    "memory.record.history": _READ,
    "memory.record.confirm": "the same request gets the same answer",
    "memory.record.correct": "the same request gets the same answer",
    "memory.object.get": _READ,
    "memory.object.list": _READ,
    "memory.forget.status": _READ,
    "memory.export": _READ,
    "memory.import": "what the first one has taken in is found unchanged",
    "ops.status": _READ,
    "ops.flush": "a closed package stays closed",
    "ops.fate": _READ,
    "ops.rebuild": "a second rebuild finds nothing to do",
    "ops.reindex": "a second one finds nothing to do",
    "ops.snapshot.rebuild": "a second one finds nothing to do",
    "ops.operation.get": _READ,
    "ops.packages": _READ,
    "ops.dead.list": _READ,
    "ops.stage.pause": "a paused stage stays paused",
    "ops.stage.resume": "a running stage stays running",
}
"""Methods that may be sent again though the first may have been done, and why.

Not among them: `claim` (each leases other packages), `fail` and `object.put` (the second would be
refused as stale though the first was done), `forget` (what the second selects would be unknown),
`dead.requeue` and `dead.discard` (between the two a package may have been parked anew).
"""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a call goes on trying.

    Attributes:
        attempts: Requests sent at most, the first one counted.
        first_wait_s: Longest wait after the first failure; it doubles with each.
        longest_wait_s: The longest of those waits. `retry_after_ms` of the service may exceed it.
        total_s: A call that would have to wait beyond this gives up at once.
        answer_s: How long an answer may take; above the service's own 5 s and 5 s.
    """

    attempts: int = 6
    first_wait_s: float = 0.05
    longest_wait_s: float = 2.0
    total_s: float = 30.0
    answer_s: float = 15.0


@dataclass(frozen=True, slots=True)
class Ports:
    """Time and chance, passed in so that tests can hold them. Times are seconds."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    async_sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    new_id: Callable[[], str] = lambda: uuid.uuid4().hex


class Repeating:
    """The rule for one call: exponential waits with full jitter, bounded by count and time."""

    def __init__(self, method: str, policy: RetryPolicy, ports: Ports) -> None:
        self._method = method
        self._policy = policy
        self._ports = ports
        self._end = ports.clock() + policy.total_s

    def blocking(self) -> Retrying:
        """What runs a blocking call under this rule."""
        return Retrying(
            sleep=self._ports.sleep,
            retry=retry_if_exception(self._may_repeat),
            wait=self._wait_s,
            stop=self._is_over,
            reraise=True,
        )

    def asynchronous(self) -> AsyncRetrying:
        """What runs a coroutine under this rule."""
        return AsyncRetrying(
            sleep=self._ports.async_sleep,
            retry=retry_if_exception(self._may_repeat),
            wait=self._wait_s,
            stop=self._is_over,
            reraise=True,
        )

    def _may_repeat(self, error: BaseException) -> bool:
        if isinstance(error, NotReachableError):
            return not error.may_have_run or self._method in REPEATABLE
        if not isinstance(error, ServiceError):
            return False
        if error.code is ErrorCode.DEADLINE:
            # What a request has begun goes on after its deadline: as good as a lost answer.
            return self._method in REPEATABLE
        return error.code.retryable

    def _wait_s(self, state: RetryCallState) -> float:
        policy = self._policy
        doubled: float = policy.first_wait_s * 2.0 ** (state.attempt_number - 1)
        own = self._ports.jitter() * min(policy.longest_wait_s, doubled)
        error = state.outcome.exception() if state.outcome else None
        asked = getattr(error, "retry_after_ms", None) or 0
        # The jitter stays on top, so that all who were sent away don't come back at once.
        return own + asked / 1_000

    def _is_over(self, state: RetryCallState) -> bool:
        spent = state.attempt_number >= self._policy.attempts
        return spent or self._ports.clock() + state.upcoming_sleep > self._end
