"""Erasing: what follows a request to forget until no byte is left, durable and tried again.

Runs in the gateway, which alone writes the index folder, in a thread of its own. Every forgetting
under way is worked on together: the index is written anew once for all of them. What stands in the
way is named, and tried again after a while; a crash leaves everything to be taken up at the start.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from pipeline.errors import LostRaceError
from pipeline.forgetting.checking import Looking, Task
from pipeline.forgetting.forgetter import Forgetter
from pipeline.forgetting.terms import BlindIndexError, left_over
from pipeline.forgetting.traces import Traces, Wanted
from pipeline.forgetting.words import Words
from storage.clock import Clock
from storage.errors import MemoryServiceError
from storage.faults import faults
from storage.records.forgetting import Forgetting, ForgettingStep
from storage.repositories import forgetting
from storage.search_index import SearchIndex
from storage.writer import Writer

log = logging.getLogger(__name__)

IDLE_S: Final = 1.0
_STEPS: Final = list(ForgettingStep)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the service keeps what: `folders` are looked through, with all below but `skipped`."""

    state: Path
    database: Path
    lock: Path
    folders: tuple[Path, ...]
    skipped: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Ports:
    """What erasing works with.

    Attributes:
        writer: The process's writer.
        clock: When a further attempt is due.
        forgetter: Takes away what a great forgetting has left.
        words: Takes words out of index entries.
        traces: What to look for.
        rewrite_index: Builds the lexical index again from its rows.
        index: The lexical index.
        refresh_exports: Writes an owner's exports anew; names those that it could not.
        look: The byte check.
        backoff: Milliseconds to wait after so many failures, `longest_ms` at most.
    """

    writer: Writer
    clock: Clock
    forgetter: Forgetter
    words: Words
    traces: Traces
    rewrite_index: Callable[[str], None]
    index: SearchIndex
    refresh_exports: Callable[[str], Sequence[Path]]
    look: Looking
    backoff: Callable[[int], int]
    longest_ms: int


class HeldUpError(Exception):
    """Something stands in the way; `remaining` names it, without any text of the user's."""

    def __init__(self, remaining: Sequence[str]) -> None:
        self.remaining = tuple(remaining)
        super().__init__("; ".join(remaining))


class Eraser:
    """Sees forgettings through.

    Args:
        ports: What it works with.
        places: Where things lie.
    """

    def __init__(self, ports: Ports, places: Places) -> None:
        self._ports = ports
        self._places = places
        self._wanted = threading.Event()

    def wake(self) -> None:
        """Look at once whether there is something to do."""
        self._wanted.set()

    def end(self) -> None:
        """Come back soon, once the event that `run` was given is set."""
        self._ports.look.stop()
        self.wake()

    def run(self, stop: threading.Event) -> None:
        """Erase until `stop` is set."""
        while not stop.is_set():
            self._wanted.clear()
            if not self._worked() and not stop.is_set():
                self._wanted.wait(IDLE_S)

    def _worked(self) -> bool:
        """Work on what is due, whatever happens; whether there was anything."""
        try:
            return self.erase_due()
        except Exception as error:  # noqa: BLE001 - one bad round must not end all later ones
            log.error("erasing failed: %s", _told(error))  # noqa: TRY400 - a trace could hold text
            return False

    def erase_due(self) -> bool:
        """Work on every forgetting that is due; whether there was any."""
        now = self._ports.clock.now_ms()
        due = [found for found in forgetting.under_way() if self._is_due(found, now)]
        try:
            self._erase(due)
        except Exception as error:
            # Nobody foresaw it, so it may well come again: not at once.
            self._hold_all_up(due, f"an error that nobody foresaw: {type(error).__name__}")
            raise
        return bool(due)

    def _erase(self, due: list[Forgetting]) -> None:
        ready = [found for found in due if self._step(found, self._prepare)]
        ready = [forgetting.get(found.owner, found.id) for found in ready]
        for steps in (self._index, self._exports, self._bytes):
            ready = steps(ready)
        for found in [one for one in due if one.step is ForgettingStep.CLOSING] + ready:
            self._step(found, self._close)

    def _is_due(self, found: Forgetting, now: int) -> bool:
        # A clock that was set back must not let a forgetting wait for the old time.
        ahead = found.next_attempt_at - now
        return ahead <= 0 or ahead > self._ports.longest_ms + 1

    def tidy(self) -> None:
        """Remove what requests have left that ended before their first transaction.

        Only while none can be under way: before the gateway serves any.
        """
        try:
            known = {found.id for found in forgetting.under_way()}
            self._ports.traces.remove_orphans(known)
        except OSError as error:
            log.warning("lists of forgettings can't be removed: %s", error.strerror)

    # ---- the steps of one forgetting ---------------------------------------------

    def _step(self, found: Forgetting, work: Callable[[Forgetting], bool]) -> bool:
        """Do something for one forgetting; whether it can go on."""
        try:
            return work(found)
        except HeldUpError as held:
            self._hold_up(found, held.remaining)
        except (MemoryServiceError, LostRaceError, OSError) as error:
            self._hold_up(found, [f"{found.step}: {_told(error)}"])
        return False

    def _prepare(self, found: Forgetting) -> bool:
        """Take away what is left of the rows, then the words that index entries hold."""
        if found.step is ForgettingStep.CLOSING:
            return False
        if self._ports.traces.read(found.id) is None:
            raise HeldUpError(
                ["bytes: the list of what to look for is lost, so that nobody can look for it"]
            )
        while found.step is ForgettingStep.ROWS:
            found = self._ports.forgetter.take_next(found)
        if found.step is ForgettingStep.WORDS:
            self._ports.words.take_out(found)
            self._enter([found], ForgettingStep.INDEX)
        return True

    def _close(self, found: Forgetting) -> bool:
        faults.fire("erase.before_closing")
        self._ports.traces.destroy(found.id)
        faults.fire("erase.after_closing")
        now = self._ports.clock.now_ms()
        self._ports.writer.call("erase", partial(forgetting.finish, found.id, now))
        log.info("%s is done: no byte is left", found.id)
        return True

    # ---- the steps of all of them at once ------------------------------------------

    def _index(self, ready: list[Forgetting]) -> list[Forgetting]:
        """Write the lexical index anew, without the words that are in no entry any more."""
        now, later = _until(ForgettingStep.INDEX, ready)
        if not now:
            return later
        faults.fire("erase.before_index")
        try:
            self._ports.rewrite_index("something was forgotten")
            terms = {pair for found in now for pair in self._wanted_of(found).terms}
            left = left_over(self._ports.index, terms)
        except (MemoryServiceError, OSError) as error:
            return later + self._hold_all_up(now, f"index: {_told(error)}")
        except BlindIndexError:
            return later + self._hold_all_up(now, "index: it can't be looked through")
        faults.fire("erase.after_index")
        if left:
            return later + self._hold_all_up(now, f"index: {left} terms are left in its files")
        return later + self._enter(now, ForgettingStep.EXPORTS)

    def _exports(self, ready: list[Forgetting]) -> list[Forgetting]:
        """Write the exports in the state folder anew."""
        now, later = _until(ForgettingStep.EXPORTS, ready)
        done = [found for found in now if self._step(found, self._refresh_exports)]
        return later + self._enter(done, ForgettingStep.BYTES)

    def _refresh_exports(self, found: Forgetting) -> bool:
        failed = self._ports.refresh_exports(found.owner)
        if failed:
            raise HeldUpError([f"{self._named(path)}: it can't be written anew" for path in failed])
        return True

    def _bytes(self, ready: list[Forgetting]) -> list[Forgetting]:
        """Look through all files for what was forgotten."""
        if not ready:
            return []
        faults.fire("erase.before_bytes")
        try:
            found = self._ports.look(self._task(self._wanted_of(one) for one in ready))
        except (MemoryServiceError, OSError) as error:
            return self._hold_all_up(ready, f"bytes: {_told(error)}")
        faults.fire("erase.after_bytes")
        if found.busy:
            return self._hold_all_up(
                ready,
                f"{self._named(self._places.database)}-wal: a reader holds on to the write-ahead"
                " log; it is emptied when that has ended",
            )
        if found.left:
            told = [
                f"{self._named(Path(name))}: {number} pieces of what was forgotten are left"
                for name, number in sorted(found.left.items())
            ]
            # Whatever it is in, all of it is made anew before the next look.
            self._enter(ready, ForgettingStep.INDEX)
            return self._hold_all_up(ready, *told)
        return self._enter(ready, ForgettingStep.CLOSING)

    def _task(self, wanted: Iterable[Wanted]) -> Task:
        places = self._places
        all_wanted = list(wanted)
        pieces = {piece.hex() for one in all_wanted for piece in one.pieces}
        return Task(
            database=str(places.database),
            lock=str(places.lock),
            folders=tuple(map(str, places.folders)),
            skipped=tuple(map(str, (*places.skipped, self._ports.traces.folder))),
            pieces=tuple(sorted(pieces)),
            sweep=any(one.sampled for one in all_wanted),
            suspects=tuple(sorted({number for one in all_wanted for number in one.suspects})),
        )

    def _wanted_of(self, found: Forgetting) -> Wanted:
        wanted = self._ports.traces.read(found.id)
        if wanted is None:
            raise OSError(0, "the list of what to look for is lost")
        return wanted

    # ---- the ledger ------------------------------------------------------------------

    def _enter(self, ready: list[Forgetting], step: ForgettingStep) -> list[Forgetting]:
        """Let these go on to a step; they themselves."""
        for found in ready:
            self._ports.writer.call("erase", partial(forgetting.enter, found.id, step))
        return ready

    def _hold_all_up(self, ready: Sequence[Forgetting], *remaining: str) -> list[Forgetting]:
        for found in ready:
            self._hold_up(found, remaining)
        return []

    def _hold_up(self, found: Forgetting, remaining: Sequence[str]) -> None:
        wait = self._ports.backoff(found.attempt)
        due = self._ports.clock.now_ms() + wait
        self._ports.writer.call(
            "erase", partial(forgetting.hold_up, found.id, remaining, next_attempt_at=due)
        )
        log.warning(
            "%s is held up, next attempt in %d ms: %s", found.id, wait, "; ".join(remaining)
        )

    def _named(self, path: Path) -> str:
        """A file as people know it: below the state folder, where it lies there."""
        state = self._places.state
        return str(path.relative_to(state)) if path.is_relative_to(state) else str(path)


def _until(
    step: ForgettingStep, ready: Sequence[Forgetting]
) -> tuple[list[Forgetting], list[Forgetting]]:
    """Those that have a step still before them, and those that are past it."""
    last = _STEPS.index(step)
    now = [found for found in ready if _STEPS.index(found.step) <= last]
    return now, [found for found in ready if found not in now]


def _told(error: BaseException) -> str:
    """What an error says, where the service has written it; else its type."""
    if isinstance(error, MemoryServiceError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
