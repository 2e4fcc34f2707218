"""`memory.continuity.recall`: at most 75 ms of the caller's time, then `pending` and on behind.

The same request id is the same request for ever: with other params it is a conflict, and what was
found for it is kept (mission E1, E3; spec: protocol, Recall).
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import Any, Final

import orjson

from socket_gateway import protocol, shapes
from socket_gateway.dispatch import validate
from socket_gateway.handlers.services import Services, told
from storage.errors import (
    BadRequestError,
    BusyError,
    ConflictError,
    StaleError,
    UnavailableError,
)
from storage.records.recall import RecallQuery, RecallResult, RecallState
from storage.repositories import recalls, snapshots, tombstones
from storage.repositories.recalls import StoredRecall

log = logging.getLogger(__name__)

Json = dict[str, Any]
Key = tuple[str, str]

_LEAVE_MS: Final = 10
"""What of the caller's 75 ms is left for making a pending request durable."""

_RETRY_MS: Final = 1_000
_REMEMBERED_S: Final = 30.0
_UNREADABLE: Final = RecallResult(
    RecallState.UNAVAILABLE, gaps=("The store can't be read now; ask again.",)
)
MAX_UNDER_WAY: Final = 256
"""Recalls under way at once; the next is told to come back."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found, and the owner's count of forgettings before anybody looked."""

    result: Json
    forgotten: int


class Recall:
    """Serves recall requests, and finishes those that were answered with `pending`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._under_way: dict[Key, asyncio.Task[_Answer]] = {}
        self._digests: dict[Key, bytes] = {}
        """What the ids of the last seconds stand for; the table knows the older ones."""
        self._background: set[asyncio.Future[Any]] = set()
        self._promised: set[Key] = set()
        """Requests whose callers were answered with `pending`."""
        self._closing = False
        self._intents: dict[str, int] = {}
        """The newest intent version noted for each owner, so that a known one costs no write."""

    async def __call__(self, params: protocol.RecallParams) -> Json:
        """Serve `memory.continuity.recall`.

        Raises:
            BadRequestError: An id holds what looks like a secret; the message names the field.
            ConflictError: The request id is known with other params.
        """
        began = self._services.loop.time()
        key = (params.owner, params.request_id)
        digest = _digest(params)
        # Told before anything is awaited: while one request is looked up, another under the same id
        # may begin and end.
        if self._digests.setdefault(key, digest) != digest:
            raise _conflict()
        self._services.loop.call_later(_REMEMBERED_S, self._digests.pop, key, None)
        try:
            stored = await self._services.read(self._known, params)
        except UnavailableError:
            return shapes.recall(params.request_id, _UNREADABLE)
        if stored is not None and stored.params_hash != digest:
            raise _conflict()
        if stored is not None and stored.result is not None:
            return self._still_valid(params, stored.result)
        await self._know_intent(params)
        task = self._under_way.get(key)
        if task is None:
            if len(self._under_way) >= MAX_UNDER_WAY:
                raise BusyError(retry_after_ms=_RETRY_MS)
            task = self._start(key, digest, params)
        spent_s = self._services.loop.time() - began
        wait_ms = min(params.wait_ms, self._services.core.settings.recall.wait_ms)
        wait_s = max(0.0, (wait_ms - _LEAVE_MS) / 1000 - spent_s)
        done, _ = await asyncio.wait({task}, timeout=wait_s)
        if done:
            return self._still_valid(params, task.result().result)
        self._promised.add(key)
        if not await self._store(params, digest, None):
            raise _conflict()
        return await self._services.read(self._pending, params)

    def _pending(self, params: protocol.RecallParams) -> Json:
        version = snapshots.memory_version(params.owner)
        pending = RecallResult(RecallState.PENDING, version, self._services.follower.lag)
        return shapes.recall(params.request_id, pending)

    def _known(self, params: protocol.RecallParams) -> StoredRecall | None:
        """The request as it stands already; ids are kept as they come, so they may hold no secret."""
        ids = {"owner": [params.owner], "request_id": [params.request_id],
               "task": [params.task or ""], "objects": params.objects}  # fmt: skip
        if self._services.redactor.has_secret("\n".join(chain(*ids.values()))):
            for field, values in ids.items():
                if any(map(self._services.redactor.has_secret, values)):
                    raise BadRequestError(
                        f"{field} holds what looks like a secret; send an id without one."
                    )
        return recalls.find(params.owner, params.request_id)

    def take_up(self, left: list[StoredRecall]) -> None:
        """Go on with requests that a gateway before this one had not finished."""
        for stored in left:
            key = (stored.owner, stored.request_id)
            try:
                params = validate(protocol.RecallParams, stored.params)
            except BadRequestError:
                # Written by a release with other limits. Nobody can finish it, and it must not
                # keep the service from starting; asked again, it is a new request.
                log.error("a pending recall can't be read and is left to its end")  # noqa: TRY400 - the message names fields of it
                continue
            self._promised.add(key)
            self._start(key, stored.params_hash, params)

    async def close(self) -> None:
        """Wait for what is under way; a request that was answered with `pending` is kept anyhow."""
        self._closing = True
        await asyncio.gather(*self._under_way.values(), *self._background, return_exceptions=True)

    def look_again(self, owner: str) -> None:
        """Let later requests of an owner be new ones: nothing is known that was before a forgetting."""
        for key in [key for key in self._digests if key[0] == owner]:
            del self._digests[key]
        for key in [key for key in self._under_way if key[0] == owner]:
            task = self._under_way.pop(key)
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    def _start(
        self, key: Key, digest: bytes, params: protocol.RecallParams
    ) -> asyncio.Task[_Answer]:
        task = asyncio.create_task(self._find(params))
        self._under_way[key] = task
        task.add_done_callback(lambda done: self._found(key, digest, params, done))
        return task

    async def _find(self, params: protocol.RecallParams) -> _Answer:
        forgotten, result = await self._services.loop.run_in_executor(
            self._services.recalls, self._look, _query(params)
        )
        return _Answer(shapes.recall(params.request_id, result), forgotten)

    def _look(self, query: RecallQuery) -> tuple[int, RecallResult]:
        try:
            forgotten = told(tombstones.count, query.owner)
            return forgotten, told(self._services.recaller.recall, query, self._services.now())
        except UnavailableError:
            return 0, _UNREADABLE

    def _found(
        self, key: Key, digest: bytes, params: protocol.RecallParams, task: asyncio.Task[_Answer]
    ) -> None:
        """Keep a result; until that is done the request counts as under way."""
        worth = not task.cancelled() and task.exception() is None
        if not worth or task.result().result["state"] == RecallState.UNAVAILABLE:
            self._under_way.pop(key, None)
            if key in self._promised and not self._closing:
                # Its caller was told that it goes on, so it does until there is an answer.
                self._services.loop.call_later(
                    _RETRY_MS / 1000, self._start_again, key, digest, params
                )
            return
        promised = key in self._promised
        self._promised.discard(key)
        # Nobody waits for this: the answer is right without it, and found again if it is lost.
        kept = asyncio.ensure_future(self._store(params, digest, task.result()))
        self._background.add(kept)
        again = partial(self._promise, key, digest, params) if promised else None
        kept.add_done_callback(lambda done: self._kept(key, done, again))

    def _start_again(self, key: Key, digest: bytes, params: protocol.RecallParams) -> None:
        if not self._closing and key not in self._under_way:
            self._start(key, digest, params)

    def _promise(self, key: Key, digest: bytes, params: protocol.RecallParams) -> None:
        """Find what was promised once more: what was found may tell of something forgotten."""
        self._promised.add(key)
        self._start_again(key, digest, params)

    def _kept(
        self, key: Key, future: "asyncio.Future[bool]", again: Callable[[], None] | None
    ) -> None:
        self._background.discard(future)
        self._under_way.pop(key, None)
        if future.cancelled() or future.exception() is None:
            return
        if isinstance(future.exception(), StaleError):
            if again is not None:
                again()
        else:
            log.warning("a recall result was not kept: %s", type(future.exception()).__name__)

    async def _store(
        self, params: protocol.RecallParams, digest: bytes, found: _Answer | None
    ) -> bool:
        """Keep a request, with its result once there is one; whether its id was free for it.

        Raises:
            StaleError: Something was forgotten since the result was found.
        """
        given = await self._services.read(self._cleaned, params)
        stored = StoredRecall(
            params.owner,
            params.request_id,
            given,
            digest,
            state=str(found.result["state"]) if found else "pending",
            result=found.result if found else None,
            forgotten=found.forgotten if found else None,
        )
        return await self._services.write("recall", recalls.write, stored, self._services.now())

    async def _know_intent(self, params: protocol.RecallParams) -> None:
        """Note an intent version before anything is looked for: older requests are out of date now."""
        version = params.intent_version
        if version is not None and version > self._intents.get(params.owner, -1):
            await self._services.write("recall", recalls.raise_intent, params.owner, version)
            self._intents[params.owner] = version

    def _cleaned(self, params: protocol.RecallParams) -> Json:
        """Params as they may be kept: free text redacted, and still within its limits."""
        given: Json = params.model_dump(exclude_defaults=True)
        free = {"query": protocol.MAX_TEXT, "purpose": protocol.MAX_PURPOSE}
        present = [name for name in free if given.get(name)]
        texts = [given[name] for name in present]
        redacted = self._services.redactor.redact_many(texts, by_model=[False] * len(texts))
        for name, text in zip(present, redacted, strict=True):
            given[name] = text.text[: free[name]]
        return given

    def _still_valid(self, params: protocol.RecallParams, result: Json) -> Json:
        """A kept result, unless its request's time is over by now."""
        if params.expires_at is not None and params.expires_at <= self._services.now():
            empty: Json = {"binding": [], "hits": [], "state": "expired", "expired": "request"}
            return result | empty
        return result


def _conflict() -> ConflictError:
    return ConflictError(
        "That request_id is known with other params; ask under a new one.",
        details={"field": "request_id"},
    )


def _query(params: protocol.RecallParams) -> RecallQuery:
    return RecallQuery(
        request_id=params.request_id,
        owner=params.owner,
        query=params.query,
        objects=tuple(params.objects),
        task=params.task,
        purpose=params.purpose,
        items=params.budget.items,
        tokens=params.budget.tokens,
        intent_version=params.intent_version,
        expires_at=params.expires_at,
        include_past=params.include_past,
    )


def _digest(params: protocol.RecallParams) -> bytes:
    """What makes two requests the same: everything but how long the caller waits."""
    given = params.model_dump(exclude={"wait_ms"})
    return blake2b(orjson.dumps(given, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()
