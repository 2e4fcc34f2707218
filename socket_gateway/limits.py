"""How much one socket server takes, how long it waits, and what it has counted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a client may ask of the socket (spec: protocol, Transport; mission F8).

    Attributes:
        line_bytes: Bytes of a request line, its line end not counted.
        request_ms: From a request's first byte to its newline.
        answer_ms: From a whole request to its answer, and again for the client to read it.
        connections: Served at once; the next gets `busy`.
        idle_ms: A connection without a request under way is closed after this.
        pipelined: Requests of one connection under way at once; more wait in the socket.
    """

    line_bytes: int = 1_048_576
    request_ms: int = 5_000
    answer_ms: int = 5_000
    connections: int = 64
    idle_ms: int = 60_000
    pipelined: int = 64


@dataclass(slots=True)
class Counters:
    """What a server has seen since its start; numbers only.

    Attributes:
        open: Connections served now.
        accepted: Connections ever served.
        busy: Refused because all places were taken.
        forbidden: Refused because another user called.
        requests: Lines taken as requests, bad ones included.
        bad_lines: Lines that were no request: too long, not strict JSON, or another shape.
        deadlines: Requests that ran out of time.
        idle: Connections closed for doing nothing.
        unread: Connections cut because the client didn't read its answers.
    """

    open: int = 0
    accepted: int = 0
    busy: int = 0
    forbidden: int = 0
    requests: int = 0
    bad_lines: int = 0
    deadlines: int = 0
    idle: int = 0
    unread: int = 0
