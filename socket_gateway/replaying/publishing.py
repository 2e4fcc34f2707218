"""The wait until what was sent is part of the published memory."""

from collections.abc import Callable, Mapping
from typing import Final

from socket_gateway.client import MemoryClient, Ports
from socket_gateway.protocol import PositionsResult
from socket_gateway.replaying.errors import StalledError

_LOOK_S: Final = 0.2
_FLUSH_EVERY: Final = 5
_PATIENCE_S: Final = 120.0


class PublicationWait:
    """Closes open packages and watches the owners' positions.

    Args:
        client: Whom to ask.
        ports: Time.
        patience_s: Without any movement for this long the wait is given up.
    """

    def __init__(
        self, client: MemoryClient, ports: Ports | None = None, *, patience_s: float = _PATIENCE_S
    ) -> None:
        self._client = client
        self._ports = ports or Ports()
        self._patience_s = patience_s

    def until(
        self, heights: Mapping[str, int], progress: Callable[[int], None]
    ) -> dict[str, PositionsResult]:
        """Wait until each owner's published position has reached a sequence number.

        Args:
            heights: The sequence numbers by owner.
            progress: Told each time how many events are still under way.

        Returns:
            The owners' last positions.

        Raises:
            StalledError: Nothing moved for too long; the message says what the service says.
        """
        found: dict[str, PositionsResult] = {}
        moved_at = self._ports.clock()
        rounds = 0
        waiting = dict(heights)
        while waiting:
            before = dict(found)
            self._look(waiting, found, flush=rounds % _FLUSH_EVERY == 0)
            progress(sum(found[owner].backlog for owner in waiting))
            waiting = {o: seq for o, seq in waiting.items() if found[o].published < seq}
            if found != before:
                moved_at = self._ports.clock()
            elif self._ports.clock() - moved_at > self._patience_s:
                raise self._stalled(found, waiting)
            rounds += 1
            if waiting:
                self._ports.sleep(_LOOK_S)
        progress(0)
        return found

    def _look(
        self, waiting: Mapping[str, int], found: dict[str, PositionsResult], *, flush: bool
    ) -> None:
        for owner in waiting:
            if flush:
                # The filter may have opened packages since the last time.
                self._client.flush(owner)
            found[owner] = self._client.positions(owner)

    def _stalled(
        self, found: Mapping[str, PositionsResult], waiting: Mapping[str, int]
    ) -> StalledError:
        left = sum(found[owner].backlog for owner in waiting)
        reasons = "; ".join(self._client.health().reasons) or "the service names no reason"
        return StalledError(
            f"All events are durable, but {left:,} are not published and nothing moves:"
            f" {reasons}. They will be when it does; see `deskpaw-memory status`."
        )
