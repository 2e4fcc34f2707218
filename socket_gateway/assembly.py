"""The gateway's parts, put together while the socket already listens."""

import asyncio
import logging
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from pipeline import tasks
from pipeline.intake import Intake
from pipeline.rebuilding.rebuild import Rebuild
from pipeline.recall.follower import Follower
from pipeline.recall.service import Recaller
from pipeline.recall.store import StoredEntries, StoredMemory
from pipeline.runner import Work
from pipeline.runtime import (
    Core,
    make_observe,
    make_publish,
    make_redactor,
    make_runner,
    open_core,
)
from pipeline.settings import Settings
from pipeline.task_queue import queue_state
from pipeline.text.tokenise import BilingualTokenizer
from pipeline.wake import Waker
from socket_gateway.dispatch import Serve
from socket_gateway.handlers.acting import Acts
from socket_gateway.handlers.forgetting import Forgets, make_forgetting
from socket_gateway.handlers.health import Health
from socket_gateway.handlers.ingest import Ingest
from socket_gateway.handlers.memory import Memory
from socket_gateway.handlers.observation import Observing
from socket_gateway.handlers.operations import Operations
from socket_gateway.handlers.operators import Operators
from socket_gateway.handlers.recall import Recall
from socket_gateway.handlers.services import Services
from socket_gateway.handlers.tracing import Tracing
from socket_gateway.handlers.transfer import Transfer
from storage.repositories import operations, recalls
from storage.search_index import SearchIndex

log = logging.getLogger(__name__)

READ_THREADS = 4
RECALL_THREADS = 2


@dataclass(slots=True)
class Assembled:
    """What a warmed-up gateway runs on."""

    services: Services
    recall: Recall
    waker: Waker
    stop: threading.Event
    following: threading.Thread
    erasing: threading.Thread

    def handlers(self, health: Health) -> Mapping[str, Serve]:
        """Who serves each method."""
        services = self.services
        acts = Acts(services)
        forgets = Forgets(services, self.recall.look_again)
        memory = Memory(services)
        observing = Observing(services)
        long_ones = Operations(services)
        operators = Operators(services, health)
        transfer = Transfer(services)
        return {
            "health": health,
            "memory.events.ingest": Ingest(services),
            "memory.positions": memory.positions,
            "memory.evidence.get": memory.evidence,
            "memory.observation.claim": observing.claim,
            "memory.observation.commit": observing.commit,
            "memory.observation.fail": observing.fail,
            "memory.continuity.recall": self.recall,
            "snapshot.get": memory.snapshot,
            "memory.record.get": memory.record,
            "memory.record.list": memory.record_list,
            "memory.record.history": memory.record_history,
            "memory.record.confirm": acts.confirm,
            "memory.record.correct": acts.correct,
            "memory.object.put": memory.object_put,
            "memory.object.get": memory.object,
            "memory.object.list": memory.object_list,
            "memory.forget": forgets.forget,
            "memory.forget.status": forgets.status,
            "memory.export": transfer.export,
            "memory.import": transfer.take_in,
            "ops.status": operators.status,
            "ops.rebuild": long_ones.rebuild,
            "ops.reindex": long_ones.reindex,
            "ops.snapshot.rebuild": long_ones.snapshots,
            "ops.operation.get": long_ones.get,
            "ops.flush": operators.flush,
            "ops.fate": Tracing(services).fate,
            "ops.packages": operators.packages,
            "ops.dead.list": operators.dead,
            "ops.dead.requeue": operators.requeue,
            "ops.dead.discard": operators.discard,
            "ops.stage.pause": operators.pause,
            "ops.stage.resume": operators.resume,
        }

    async def close(self) -> None:
        """Finish what is under way, then close everything in the order of its use."""
        await self.recall.close()
        self.stop.set()
        self.services.eraser.end()
        await asyncio.to_thread(self._close_threads)

    def _close_threads(self) -> None:
        self.following.join()
        self.erasing.join()
        self.waker.close()
        self.services.operations.shutdown(cancel_futures=True)
        self.services.recalls.shutdown()
        self.services.slow.shutdown()
        self.services.reads.shutdown()
        self.services.index.close()
        self.services.core.close()


async def assemble(settings: Settings, loop: asyncio.AbstractEventLoop) -> Assembled:
    """Open and load everything, off the loop.

    Raises:
        MemoryServiceError: The database is refused.
    """
    core = await asyncio.to_thread(open_core, settings, loop.call_soon_threadsafe)
    services, waker = await asyncio.to_thread(_services, core, loop)
    recall = Recall(services)
    recall.take_up(await services.read(recalls.pending))
    await services.write("operation", operations.end_interrupted, services.now())
    stop = threading.Event()
    # Rows are written by the consumer, another process: what it commits is seen by looking.
    following = threading.Thread(
        target=services.follower.run, args=(stop, stop.wait), name="follower", daemon=True
    )
    following.start()
    await asyncio.to_thread(services.eraser.tidy)
    erasing = threading.Thread(target=services.eraser.run, args=(stop,), name="eraser", daemon=True)
    erasing.start()
    return Assembled(services, recall, waker, stop, following, erasing)


def _services(core: Core, loop: asyncio.AbstractEventLoop) -> tuple[Services, Waker]:
    settings = core.settings
    redactor = make_redactor(settings)
    tokenizer = BilingualTokenizer(settings.paths.cache)
    tokenizer.warm()
    index = SearchIndex.open(settings.paths.index, tokenizer_version=tokenizer.version)
    rebuilt = index.rebuilt_reason if StoredEntries().last_seq() else None
    if rebuilt is not None:
        log.warning("the lexical index is built anew from its rows: %s", rebuilt)
    observe = make_observe(core, redactor)
    waker = Waker({work: partial(tasks.enqueue, work) for work in Work})
    follower = Follower(index, StoredEntries())
    runner = make_runner(core, tokenizer, observe)
    forgetter, eraser = make_forgetting(core, tokenizer, index, follower, runner)
    services = Services(
        core=core,
        intake=Intake(redactor, core.clock),
        redactor=redactor,
        observe=observe,
        runner=runner,
        index=index,
        index_rebuilt=rebuilt,
        follower=follower,
        recaller=Recaller(StoredMemory(), index, tokenizer),
        wake=waker.wake,
        queue_state=partial(queue_state, tasks.huey),
        loop=loop,
        reads=ThreadPoolExecutor(READ_THREADS, "read"),
        recalls=ThreadPoolExecutor(RECALL_THREADS, "recall"),
        slow=ThreadPoolExecutor(1, "slow"),
        rebuild=Rebuild(core.writer, make_publish(core), tokenizer, follower.rewrite),
        operations=ThreadPoolExecutor(1, "operation"),
        forgetter=forgetter,
        eraser=eraser,
    )
    return services, waker
