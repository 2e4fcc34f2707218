"""The answers of one connection, which leave in the order of their requests."""

import asyncio
from collections import deque
from collections.abc import Callable


class PendingAnswer:
    """The place of one answer in its connection's order.

    Attributes:
        request_id: Whom it answers.
        since: Loop time, in seconds, at which its request was whole.
        size: Bytes of the request.
        line: The encoded answer, once there is one.
        work: What gives the answer.
    """

    __slots__ = ("line", "request_id", "since", "size", "work")

    def __init__(
        self,
        request_id: str | int | None,
        since: float,
        size: int,
        work: "asyncio.Future[object] | None" = None,
    ) -> None:
        self.request_id = request_id
        self.since = since
        self.size = size
        self.line: bytes | None = None
        self.work = work


class AnswerQueue:
    """Holds back answers until those of earlier requests are out.

    The first entry is always one without an answer, so its age is the greatest of all.

    Args:
        write: Takes encoded answers, in request order.
    """

    __slots__ = ("_entries", "_write", "bytes_under_way")

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._entries: deque[PendingAnswer] = deque()
        self.bytes_under_way = 0
        """Request bytes whose answers are not out."""

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def oldest(self) -> PendingAnswer | None:
        """The request that has waited longest."""
        return self._entries[0] if self._entries else None

    def expect(self, entry: PendingAnswer) -> None:
        """Keep a place for an answer that comes later."""
        self._entries.append(entry)
        self.bytes_under_way += entry.size

    def put(self, line: bytes) -> None:
        """Answer the newest request at once, behind what is still under way."""
        if not self._entries:
            self._write(line)
            return
        entry = PendingAnswer(None, self._entries[-1].since, len(line))
        entry.line = line
        self.expect(entry)

    def settle(self, entry: PendingAnswer, line: bytes) -> None:
        """Fill a kept place and write every answer that is now at the front."""
        entry.line = line
        entries = self._entries
        while entries:
            ready = entries[0].line
            if ready is None:
                return
            self._write(ready)
            self.bytes_under_way -= entries.popleft().size

    def drop(self) -> None:
        """Give up every answer that is still held back."""
        self._entries.clear()
        self.bytes_under_way = 0
