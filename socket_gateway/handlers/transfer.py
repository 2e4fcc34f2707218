"""Export and import: memory as documents, a page or a batch a call (mission D9)."""

import asyncio
from collections import Counter
from typing import Any, Final

import orjson

from pipeline.errors import LostRaceError
from pipeline.runner import Work
from pipeline.transfer.deciding import Outcome, Version
from pipeline.transfer.documents import Cursor, Phase, begin, page
from pipeline.transfer.importing import Importer, Item, Prepared
from socket_gateway import protocol
from socket_gateway.handlers.services import Services, told
from storage.errors import BadRequestError, BusyError
from storage.repositories import tombstones

Json = dict[str, Any]

RACE_TRIES: Final = 5
_WRITES: Final = frozenset({Outcome.CREATED, Outcome.UPDATED})


class Transfer:
    """Serves `memory.export` and `memory.import`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._importer = Importer(services.intake, services.redactor, tombstones)

    def export(self, params: protocol.ExportParams) -> "asyncio.Future[Json]":
        """Serve `memory.export`.

        Raises:
            BadRequestError: `after` is no `next` of an earlier page.
        """
        cursor = None if params.after is None else _cursor(params.after)
        return self._services.read(self._page, params, cursor)

    def _page(self, params: protocol.ExportParams, cursor: Cursor | None) -> Json:
        found = page(params.owner, cursor or begin(params.owner), params.limit)
        return {
            "documents": [{"path": part.path, "text": part.text} for part in found.documents],
            "next": None if found.next is None else _told(found.next),
            "at": self._services.now(),
            "moved": found.moved,
        }

    async def take_in(self, params: protocol.ImportParams) -> Json:
        """Serve `memory.import`.

        Raises:
            BusyError: Memory moved on each time that the documents had been weighed.
        """
        for _ in range(RACE_TRIES):
            prepared = await self._prepared(params)
            changes = any(item.decision.outcome in _WRITES for item in prepared.items)
            if params.dry_run or not changes:
                return _answer(prepared, dry_run=params.dry_run)
            try:
                await self._services.write("operator", self._importer.apply, prepared)
            except LostRaceError:
                continue
            self._services.wake(Work.FILTER)
            return _answer(prepared, dry_run=False)
        raise BusyError(
            "Memory changed again and again meanwhile; nothing was changed. Send it again.",
            retry_after_ms=1_000,
        )

    async def _prepared(self, params: protocol.ImportParams) -> Prepared:
        services = self._services
        texts = [document.text for document in params.documents]
        return await services.loop.run_in_executor(
            services.slow, told, self._importer.prepare, params.owner, texts, services.now()
        )


# ---- cursors ---------------------------------------------------------------


def _told(cursor: Cursor) -> str:
    parts = [cursor.phase.value, cursor.after, cursor.part, cursor.settled]
    return orjson.dumps(parts).decode()


def _cursor(text: str) -> Cursor:
    try:
        phase, after, part, settled = orjson.loads(text)
        if not isinstance(after, str) or not _is_count(part) or not _is_count(settled):
            raise ValueError  # noqa: TRY301 - one refusal for whatever is wrong
        return Cursor(Phase(phase), after, part, settled)
    except (ValueError, TypeError):
        raise BadRequestError("after: give the `next` of the page before, as it is.") from None


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= protocol.MAX_INT


# ---- answers ---------------------------------------------------------------


def _answer(prepared: Prepared, *, dry_run: bool) -> Json:
    outcomes = [_outcome(place, item) for place, item in enumerate(prepared.items)]
    counts = Counter(outcome["outcome"] for outcome in outcomes)
    return {"outcomes": outcomes, "counts": dict(sorted(counts.items())), "dry_run": dry_run}


def _outcome(place: int, item: Item) -> Json:
    decision = item.decision
    more = {
        "form": decision.form,
        "id": decision.id,
        "code": decision.code,
        "reason": decision.reason,
        "field": decision.field,
        "line": decision.line,
        "expected": _version(decision.expected),
        "current": _version(decision.current),
        "missing": list(item.missing) or None,
        "redactions": dict(item.redactions) or None,
    }
    told = {"index": place, "outcome": decision.outcome.value}
    return told | {name: value for name, value in more.items() if value is not None}


def _version(version: Version | None) -> Json | None:
    if version is None:
        return None
    found = {"revision": version.revision, "object_revision": version.object_revision}
    return {name: value for name, value in found.items() if value is not None}
