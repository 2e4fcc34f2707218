"""`memory.forget` and `memory.forget.status`: the preview, the deed, and how far erasing has come."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from pipeline.forgetting.checking import Looking
from pipeline.forgetting.erasing import Eraser, Places, Ports
from pipeline.forgetting.forgetter import Forgetter, Preview
from pipeline.forgetting.planning import Plan
from pipeline.forgetting.traces import Traces
from pipeline.forgetting.words import Words
from pipeline.recall.follower import Follower
from pipeline.runner import Runner, Work
from pipeline.runtime import Core
from pipeline.settings import Paths
from pipeline.text.tokenise import Tokenizer
from pipeline.transfer.state_exports import refresh_exports
from socket_gateway import protocol
from socket_gateway.handlers.services import Services, told
from storage.records.forgetting import Forgetting, ForgettingState, ForgettingStep, Selection
from storage.repositories import forgetting
from storage.search_index import SearchIndex

Json = dict[str, Any]

PATIENCE_S: Final = 3.0
"""How long a request to forget very much goes on before it is answered; the rest goes behind it."""

_SHOWN: Final = 200
_STILL: Final[Mapping[ForgettingStep, str]] = {
    ForgettingStep.ROWS: "rows: more of what was selected is still being taken away",
    ForgettingStep.WORDS: "words: index entries are still to be made anew",
    ForgettingStep.INDEX: "index: its files are still to be written anew",
    ForgettingStep.EXPORTS: "exports: they are still to be written anew",
    ForgettingStep.BYTES: "bytes: files are still to be looked through",
    ForgettingStep.CLOSING: "closing: the list of what was looked for is still to go",
}


class Forgets:
    """Serves both methods.

    Args:
        services: The gateway's parts.
        forgotten: Told whose memory has lost something, on the loop, before the answer goes out.
    """

    def __init__(self, services: Services, forgotten: Callable[[str], object]) -> None:
        self._services = services
        self._forgotten = forgotten

    async def forget(self, params: protocol.ForgetParams) -> Json:
        """Serve `memory.forget`.

        Raises:
            BadRequestError: It selects nothing, or names what this owner doesn't have.
            BusyError: The owner's memory changes again and again.
            UnavailableError: What to look for afterwards can't be written down.
        """
        services = self._services
        wanted = _selection(params.select)
        if params.dry_run:
            found = await self._slowly(services.forgetter.preview, params.owner, wanted)
            return {"dry_run": True, "counts": found.counts, "preview": _preview(found)}
        end = services.loop.time() + PATIENCE_S
        begun = await self._slowly(
            partial(services.forgetter.forget, patient=lambda: services.loop.time() < end),
            params.owner,
            wanted,
        )
        self._forgotten(params.owner)
        services.eraser.wake()
        services.wake(Work.ADVANCE)
        return {
            "dry_run": False,
            "forget_id": begun.id,
            "state": begun.state.value,
            "counts": begun.counts,
            "remaining": _remaining(begun),
        }

    async def status(self, params: protocol.ForgetStatusParams) -> Json:
        """Serve `memory.forget.status`.

        Raises:
            NotFoundError: This owner has asked for no such forgetting.
        """
        found = await self._services.read(forgetting.get, params.owner, params.forget_id)
        blocked = found.state is ForgettingState.BLOCKED
        return {
            "forget_id": found.id,
            "state": found.state.value,
            "counts": found.counts,
            "remaining": _remaining(found),
            "requested_at": found.requested_at,
            "finished_at": found.finished_at,
            "next_attempt_at": found.next_attempt_at if blocked else None,
        }

    def _slowly(self, function: Callable[..., Any], *args: Any) -> "asyncio.Future[Any]":
        """Run in the one thread for what may take long."""
        services = self._services
        return services.loop.run_in_executor(services.slow, partial(told, function, *args))


def _selection(select: protocol.ForgetSelect) -> Selection:
    return Selection(
        record_ids=tuple(select.record_ids or ()),
        event_ids=tuple(select.event_ids or ()),
        task_ids=tuple(select.task_ids or ()),
        object_id=select.object,
        before=select.before,
    )


def _remaining(found: Forgetting) -> list[str]:
    """What stands in the way; else what is still to be done."""
    if found.state is ForgettingState.DONE:
        return []
    if found.remaining:
        return list(found.remaining)
    steps = list(_STILL)
    return [_STILL[step] for step in steps[steps.index(found.step) :]]


# ---- the preview -----------------------------------------------------------------


def _preview(found: Preview) -> Json:
    plan = found.plan
    lists: Json = {
        "records": [
            {
                "id": record.id,
                "kind": record.kind.value,
                "subject_id": record.subject_id,
                "content": record.content,
                "why": why.value,
            }
            for record, why in plan.records
        ],
        "events": _events(plan),
        "changed": [
            {
                "id": record.id,
                "kind": record.kind.value,
                "subject_id": record.subject_id,
                "content": record.content,
            }
            for record in plan.changed
        ],
        "holders": list(plan.holders),
    }
    shown: Json = {name: items[:_SHOWN] for name, items in lists.items()}
    return shown | {"truncated": any(len(items) > _SHOWN for items in lists.values())}


def _events(plan: Plan) -> list[Json]:
    whole = [
        {"id": e.id, "seq": e.seq, "kind": e.kind, "at": e.at, "text": e.text[:_SHOWN]}
        for e in plan.events
    ]
    parts = [
        {
            "id": item.event.id,
            "seq": item.event.seq,
            "kind": item.event.kind,
            "at": item.event.at,
            "text": " … ".join(item.event.text[start:end] for start, end in item.places)[:_SHOWN],
            "places": [{"start": start, "end": end} for start, end in item.places],
        }
        for item in plan.covered
    ]
    return whole + parts


# ---- putting it together -----------------------------------------------------------


def make_forgetting(
    core: Core,
    tokenizer: Tokenizer,
    index: SearchIndex,
    follower: Follower,
    runner: Runner,
) -> tuple[Forgetter, Eraser]:
    """What takes away, and what sees to it that no byte is left."""
    paths = core.settings.paths
    traces = Traces(paths.database.with_name("forgetting"))
    forgetter = Forgetter(core.writer, core.clock, traces, tokenizer.version)
    ports = Ports(
        writer=core.writer,
        clock=core.clock,
        forgetter=forgetter,
        words=Words(core.writer, tokenizer, traces),
        traces=traces,
        rewrite_index=follower.rewrite,
        index=index,
        refresh_exports=partial(refresh_exports, paths.state / "exports"),
        look=Looking(),
        backoff=runner.backoff,
        longest_ms=core.settings.pipeline.backoff_cap_ms,
    )
    return forgetter, Eraser(ports, _places(paths))


def _places(paths: Paths) -> Places:
    apart = () if paths.bundles.is_relative_to(paths.state) else (paths.bundles,)
    return Places(
        state=paths.state,
        database=paths.database,
        lock=paths.write_lock,
        folders=(paths.state, *apart),
        # Rules and dictionaries are made from installed packages: their words are everybody's.
        skipped=(paths.cache / "kingfisher", paths.cache / "jieba.cache"),
    )
