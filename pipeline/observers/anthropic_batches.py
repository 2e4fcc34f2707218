"""Reading a backlog as message batches: half the price, and up to a day's wait.

A batch holds no lease. It is an answer prepared in advance: its id is kept beside the packages that
were sent with it, these are due again when it is time to ask about it, and whoever claims one then
takes its answer from the batch, judged like any other. The answers stay with the server, so that
nothing which a model wrote is kept before it was judged. A batch that was sent and not noted is
money wasted and nothing else; so is an answer that comes too late.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from pipeline.observers.anthropic_account import Account, Asked
from pipeline.observers.anthropic_client import MessagesClient
from pipeline.observers.anthropic_faults import WaitsForBatchError
from pipeline.observers.anthropic_request import most_tokens, request_of
from pipeline.observers.port import ObserverFault
from pipeline.observers.reading import work_package
from pipeline.observers.schemas import ReplyModel
from pipeline.settings import ObserverSettings
from storage.clock import Clock
from storage.records.events import Priority
from storage.records.runs import WorkPackage
from storage.records.usage import BatchEntry
from storage.repositories import observer_batches
from storage.writer import Writer

log = logging.getLogger(__name__)

MOST_PACKAGES: Final = 200
"""Packages a batch, so that its answers fit into memory."""

_BATCHES_HELD: Final = 4
_LONGEST_MS: Final = 25 * 3_600_000
"""A batch ends within a day, as the API has it; nobody waits longer for one."""
_REFUSED_FOR_MS: Final = 600_000

Answers = Mapping[str, ReplyModel | None]


class Batches:
    """Message batches under way.

    Args:
        settings: When packages are sent as a batch, and how often it is asked about.
        client: The server.
        account: What batches may cost and did.
        writer: The process's writer.
        clock: When to ask again.
    """

    def __init__(
        self,
        settings: ObserverSettings,
        client: MessagesClient,
        account: Account,
        writer: Writer,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._client = client
        self._account = account
        self._writer = writer
        self._clock = clock
        self._guard = threading.Lock()
        self._held: dict[str, Answers] = {}
        self._refused_until = 0

    def any_out(self) -> bool:
        """Whether a package waits for a batch, whose answers are paid for whatever the budget says."""
        return observer_batches.out() > 0

    def answer(self, work: WorkPackage) -> ReplyModel | None:
        """The answer of the batch that a package was sent with, None when there is none.

        Raises:
            WaitsForBatchError: The batch has not ended; its packages are due again later.
        """
        entry = observer_batches.entry(work.package.id)
        if entry is None:
            return None
        with self._guard:
            answers = self._answers(entry)
        reply = answers.get(_name(entry.package_id))
        if reply is None:
            self.drop(entry.package_id)
        return reply

    def drop(self, package_id: int) -> None:
        """Let a package be read by itself from now on."""
        self._write(partial(observer_batches.drop, [package_id]))

    def send(self, work: WorkPackage) -> None:
        """Send a package together with the backlog behind it, if there is one.

        What can't wait and what has failed before is left out, and where the server takes no batch
        none is sent for a while.

        Raises:
            WaitsForBatchError: It was sent; its packages are due again later.
        """
        package = work.package
        if package.attempt or package.priority < Priority.NORMAL:
            return
        with self._guard:
            now = self._clock.now_ms()
            if now < self._refused_until or not self._sent(work, now):
                return
        raise self._waits()

    def _sent(self, work: WorkPackage, now: int) -> bool:
        chosen = self._affordable([work, *self._backlog(work, now)])
        if len(chosen) < self._settings.batch_backlog:
            return False
        requests = {
            _name(one.package.id): request_of(one, self._settings, batch=True) for one, _ in chosen
        }
        try:
            batch_id = self._client.send_batch(requests)
        except ObserverFault as fault:
            log.warning("no batch is sent for a while: %s", fault.message)
            self._refused_until = now + _REFUSED_FOR_MS
            return False
        entries = [
            BatchEntry(one.package.id, one.package.fence, batch_id, now, tokens)
            for one, tokens in chosen
        ]
        until = now + self._settings.batch_poll_ms
        self._write(partial(observer_batches.add, entries, until=until))
        log.info("%d packages were sent as a message batch", len(entries))
        return True

    def _backlog(self, work: WorkPackage, now: int) -> list[WorkPackage]:
        waiting = observer_batches.unsent(now, MOST_PACKAGES - 1)
        if len(waiting) + 1 < self._settings.batch_backlog:
            return []
        return [work_package(package, work.budget) for package in waiting]

    def _affordable(self, works: list[WorkPackage]) -> list[tuple[WorkPackage, int]]:
        """As many as the day's budget has room for, each with what it may cost at most."""
        left = self._account.left()
        chosen = []
        for work in works:
            tokens = most_tokens(work, self._settings)
            if left is not None:
                left -= tokens
                if left < 0:
                    break
            chosen.append((work, tokens))
        return chosen

    def _answers(self, entry: BatchEntry) -> Answers:
        """The answers of a batch; none of one that never ends.

        Raises:
            WaitsForBatchError: It has not ended, or the server doesn't tell.
        """
        if entry.batch_id in self._held:
            return self._held[entry.batch_id]
        now = self._clock.now_ms()
        if now - entry.sent_at > _LONGEST_MS:
            return {}
        try:
            found = self._client.batch_results(entry.batch_id)
        except ObserverFault as fault:
            log.warning("a message batch can't be asked about: %s", fault.message)
            found = None
        if found is None:
            until = now + self._settings.batch_poll_ms
            self._write(partial(observer_batches.postpone, entry.batch_id, until))
            raise self._waits()
        self._note(entry.batch_id, found)
        while len(self._held) >= _BATCHES_HELD:
            self._held.pop(next(iter(self._held)))
        self._held[entry.batch_id] = found
        return found

    def _note(self, batch_id: str, found: Answers) -> None:
        """Note what a batch has cost."""
        answered = [
            (Asked(entry.package_id, entry.fence, batch_id=batch_id), reply)
            for entry in observer_batches.of_batch(batch_id)
            if (reply := found.get(_name(entry.package_id))) is not None
        ]
        self._account.note(answered)

    def _waits(self) -> WaitsForBatchError:
        return WaitsForBatchError(retry_after_ms=self._settings.batch_poll_ms)

    def _write(self, change: Callable[[], None]) -> None:
        self._writer.call("observe", change)


def _name(package_id: int) -> str:
    return f"package-{package_id}"
