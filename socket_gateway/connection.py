"""One client's connection: its requests in, its answers out, its deadlines.

A plain asyncio protocol: no stream, no timer, and no task for a request whose handler answers at
once or gives a future, since 64 clients with tiny requests are bound by exactly that cost.
"""

import asyncio
from functools import partial
from typing import Protocol, cast

from socket_gateway.answers import AnswerQueue, PendingAnswer
from socket_gateway.framing import LineSplitter, RefusedRequestError, encode_error, parse_request
from socket_gateway.lifetimes import Phase, is_over, late_error
from socket_gateway.limits import Counters, Limits
from socket_gateway.outcomes import Handler, begin, settled_line
from storage.errors import BadJsonError, MemoryServiceError, TooLargeError


class Host(Protocol):
    """What a connection needs of its server."""

    loop: asyncio.AbstractEventLoop
    handler: Handler
    limits: Limits
    counters: Counters

    def arrived(self, connection: "Connection") -> None:
        """Serve, hold or refuse a new connection."""

    def released(self, connection: "Connection") -> None:
        """Give its place among the served to another."""

    def left(self, connection: "Connection") -> None:
        """Forget a connection whose socket is closed."""


class Connection(asyncio.Protocol):
    """Serves one client.

    Args:
        host: The server it belongs to.
    """

    __slots__ = (
        "_active_at",
        "_answers",
        "_host",
        "_input_over",
        "_line_since",
        "_phase_since",
        "_pumping",
        "_reading",
        "_splitter",
        "_write_blocked_since",
        "phase",
        "transport",
    )

    transport: asyncio.Transport

    def __init__(self, host: Host) -> None:
        self._host = host
        self._splitter = LineSplitter(host.limits.line_bytes)
        self.phase = Phase.HELD
        self._reading = True
        self._pumping = False
        self._input_over = False
        self._line_since: float | None = None
        self._write_blocked_since: float | None = None
        self._active_at = self._phase_since = host.loop.time()

    # ---- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask the server whether this client is served."""
        self.transport = cast("asyncio.Transport", transport)
        self._answers = AnswerQueue(self.transport.write)
        self._host.arrived(self)

    def data_received(self, data: bytes) -> None:
        """Serve the requests in these bytes."""
        if self.phase is Phase.OPEN:
            self._active_at = self._host.loop.time()
            self._splitter.feed(data)
            self._pump()
        elif self.phase is Phase.HELD:
            self._splitter.feed(data)
        elif self.phase is Phase.LINGERING:
            # Unread bytes would turn the client's clean end into a reset; now they are read.
            self._close()

    def eof_received(self) -> bool:
        """Go on answering a client that has closed its writing side."""
        self._input_over = True
        if self.phase is Phase.OPEN:
            self._plan_input()
        elif self.phase is Phase.LINGERING:
            self._close()
        return True

    def pause_writing(self) -> None:
        """Take no more requests of a client that doesn't read its answers."""
        self._write_blocked_since = self._host.loop.time()
        self._set_reading(on=False)

    def resume_writing(self) -> None:
        """Take requests again, since the client has read."""
        self._write_blocked_since = None
        if self.phase is Phase.OPEN:
            self._pump()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio names it)
        """Forget the client. What its requests have begun goes on."""
        self._move_to(Phase.CLOSED)
        self._answers.drop()
        self._host.released(self)
        self._host.left(self)

    # ---- called by the server

    def hold(self) -> None:
        """Read nothing until the server has decided."""
        self._set_reading(on=False)

    def open(self) -> None:
        """Begin to serve."""
        self._move_to(Phase.OPEN)
        # A connection that wasn't held has nothing to catch up with.
        if not self._reading:
            self._plan_input()

    def refuse(self, error: MemoryServiceError, *, linger: bool = True) -> None:
        """Say why this client isn't served, and close."""
        self.transport.write(encode_error(None, error))
        if linger:
            self._finish()
        else:
            self._close()

    def end(self) -> None:
        """Take no more requests, and close once the answers under way are out."""
        self._input_over = True
        if self.phase is Phase.OPEN:
            self._end()
        elif self.phase is not Phase.ENDING:
            self._close()

    def abort(self) -> None:
        """Close at once, whatever is under way."""
        self.transport.abort()

    def check_deadlines(self, now: float) -> None:
        """Act on what has lasted too long.

        Args:
            now: The loop's time in seconds.
        """
        limits = self._host.limits
        if self.phase is Phase.LINGERING or self.phase is Phase.CLOSED:
            if is_over(self._phase_since, now, limits.answer_ms):
                self.abort()
        elif self.phase is not Phase.HELD:
            oldest = self._answers.oldest
            if oldest is not None and is_over(oldest.since, now, limits.answer_ms):
                self._miss_answer(oldest)
            elif is_over(self._write_blocked_since, now, limits.answer_ms):
                self._host.counters.unread += 1
                self.abort()
            elif self.phase is Phase.OPEN:
                self._check_input(now)

    # ---- requests in

    def _pump(self) -> None:
        """Serve the whole lines that are here, as far as their answers have room."""
        # A write may call resume_writing, and so this, before it comes back.
        if self._pumping:
            return
        self._pumping = True
        lines_before = self._splitter.lines_ended
        try:
            self._serve_lines()
        finally:
            self._pumping = False
        if not self._splitter.in_line:
            self._line_since = None
        elif self._line_since is None or self._splitter.lines_ended != lines_before:
            self._line_since = self._active_at
        self._plan_reading()

    def _serve_lines(self) -> None:
        # One turn is bounded, so that a client with thousands of lines in one read waits in turn.
        for _ in range(self._host.limits.pipelined):
            if not (self._splitter.holds_data and self._has_room()):
                return
            try:
                line = self._splitter.take()
            except TooLargeError as error:
                self._host.counters.bad_lines += 1
                self._answers.put(encode_error(None, error))
                continue
            if line:
                self._serve(line)

    def _serve(self, line: bytes) -> None:
        host = self._host
        host.counters.requests += 1
        try:
            request = parse_request(line)
        except (BadJsonError, RefusedRequestError) as error:
            host.counters.bad_lines += 1
            request_id = error.request_id if isinstance(error, RefusedRequestError) else None
            self._answers.put(encode_error(request_id, error))
            return
        outcome = begin(host.handler, request)
        if isinstance(outcome, bytes):
            self._answers.put(outcome)
            return
        entry = PendingAnswer(request.id, host.loop.time(), len(line), outcome)
        self._answers.expect(entry)
        outcome.add_done_callback(partial(self._settle, entry))

    def _settle(self, entry: PendingAnswer, work: "asyncio.Future[object]") -> None:
        # Encoded even when the client has gone, so that an unexpected failure is always logged.
        line = settled_line(entry.request_id, work)
        open_ = self.phase is Phase.OPEN
        if not (open_ or self.phase is Phase.ENDING) or self.transport.is_closing():
            return
        self._active_at = self._host.loop.time()
        self._answers.settle(entry, line)
        if open_:
            self._plan_input()
        elif not self._answers:
            self._finish()

    def _has_room(self) -> bool:
        limits = self._host.limits
        answers = self._answers
        return (
            self._write_blocked_since is None
            and len(answers) < limits.pipelined
            and answers.bytes_under_way < limits.line_bytes
        )

    def _plan_input(self) -> None:
        """Go on with what is here already, or with the socket."""
        if self._splitter.holds_data:
            self._pump()
        else:
            self._plan_reading()

    def _plan_reading(self) -> None:
        if self._splitter.holds_data:
            self._set_reading(on=False)
            if self._has_room():
                self._host.loop.call_soon(self._continue)
        elif self._input_over:
            self._end_input()
        else:
            self._set_reading(on=self._has_room())

    def _continue(self) -> None:
        if self.phase is Phase.OPEN:
            self._pump()

    def _set_reading(self, *, on: bool) -> None:
        if on is self._reading or self.transport.is_closing():
            return
        self._reading = on
        if on:
            self.transport.resume_reading()
            # The time in which nothing was read isn't the client's.
            if self._line_since is not None:
                self._line_since = self._host.loop.time()
        else:
            self.transport.pause_reading()

    # ---- the end

    def _end_input(self) -> None:
        try:
            self._splitter.check_end()
        except BadJsonError as error:
            self._host.counters.bad_lines += 1
            self._answers.put(encode_error(None, error))
        self._end()

    def _check_input(self, now: float) -> None:
        limits, counters = self._host.limits, self._host.counters
        if self._reading and is_over(self._line_since, now, limits.request_ms):
            counters.deadlines += 1
            # A line already refused as too long has had its one answer.
            if not self._splitter.skipping:
                self._answers.put(encode_error(None, late_error("its newline", limits.request_ms)))
            self._end()
        elif (
            not self._answers
            and self._line_since is None
            and is_over(self._active_at, now, limits.idle_ms)
        ):
            counters.idle += 1
            self._end()

    def _miss_answer(self, entry: PendingAnswer) -> None:
        self._host.counters.deadlines += 1
        late = late_error("its answer", self._host.limits.answer_ms)
        self._answers.settle(entry, encode_error(entry.request_id, late))
        self._answers.drop()
        self._finish()
        # A bare future may belong to another thread, which would fail on a cancelled one.
        if isinstance(entry.work, asyncio.Task):
            entry.work.cancel()

    def _end(self) -> None:
        if not self._answers:
            self._finish()
            return
        self._move_to(Phase.ENDING)
        self._set_reading(on=False)

    def _finish(self) -> None:
        if self._input_over:
            self._close()
        else:
            self._linger()

    def _linger(self) -> None:
        """Close our side only, so that the client reads its last answer and then an end."""
        self._move_to(Phase.LINGERING)
        self._host.released(self)
        if self.transport.is_closing():
            return
        self.transport.write_eof()
        self._set_reading(on=True)

    def _close(self) -> None:
        self._move_to(Phase.CLOSED)
        self._host.released(self)
        self.transport.close()

    def _move_to(self, phase: Phase) -> None:
        self.phase = phase
        self._phase_since = self._host.loop.time()
