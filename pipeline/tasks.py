"""The tasks that a stock `huey_consumer pipeline.tasks.huey` runs.

Importing this opens no database and starts no thread: both happen in the consumer's start-up hook.
A task is a wake-up and nothing more; what is to be done stands in the ledger.
"""

import logging
import os
import threading
from collections.abc import Callable

from pipeline.runner import MAX_CLAIMS, MAX_PASSES, Runner, Work, describe
from pipeline.runtime import WorkerRuntime
from pipeline.settings import load
from pipeline.task_queue import make_queue

log = logging.getLogger(__name__)

settings, _ = load()
huey = make_queue(settings.paths.queue)

EXIT_FAILED = 1

_building = threading.Lock()
_started: list[WorkerRuntime] = []
_workers_up = 0


@huey.on_startup()  # type: ignore[untyped-decorator]  # huey is untyped
def start() -> None:
    """Build the runtime once, however many worker threads start."""
    global _workers_up  # noqa: PLW0603 - the count of threads that share one runtime
    with _building:
        _workers_up += 1
        if not _started:
            logging.basicConfig(
                level=settings.log.level.upper(),
                format="%(asctime)s %(levelname)s %(name)s %(message)s",
            )
            # The consumer has given this logger a handler of its own.
            logging.getLogger("huey").propagate = False
            _started.append(_build())


def _build() -> WorkerRuntime:
    """Build the runtime, or end the process: Huey would go on without one and do nothing for ever."""
    try:
        return WorkerRuntime(settings, enqueue)
    except BaseException as error:  # noqa: BLE001 - whatever it is, whoever started us tries again
        log.error("the consumer can't start: %s", describe(error))  # noqa: TRY400 - a trace could hold text
        logging.shutdown()
        os._exit(EXIT_FAILED)


@huey.on_shutdown()  # type: ignore[untyped-decorator]  # huey is untyped
def stop() -> None:
    """Close the runtime when the last worker thread has ended."""
    global _workers_up  # noqa: PLW0603 - the count of threads that share one runtime
    with _building:
        _workers_up -= 1
        if _workers_up == 0 and _started:
            _started.pop().close()


@huey.task(name="filter")  # type: ignore[untyped-decorator]  # huey is untyped
def filter_events() -> None:
    """Pass over new events, then work off what became due by it."""
    if _work(lambda runner: runner.filter_events()) >= MAX_PASSES:
        enqueue(Work.FILTER)
    advance.call_local()


@huey.task(name="advance")  # type: ignore[untyped-decorator]  # huey is untyped
def advance() -> None:
    """Work off packages that are due; what is left is another task's, so that a drain ends soon.

    Fewer claims than a call may make mean that nothing is left, and then nobody is woken for it.
    """
    if _work(lambda runner: runner.advance()) >= MAX_CLAIMS:
        enqueue(Work.ADVANCE)


def _work(function: Callable[[Runner], int]) -> int:
    """Run a task; what goes wrong is logged without its text, and the ticker tries again."""
    try:
        return function(_started[0].runner)
    except Exception as error:  # noqa: BLE001 - huey would log a trace, which could hold text
        log.error("a task failed: %s", describe(error))  # noqa: TRY400 - the same
        return 0


_TASKS = {Work.FILTER: filter_events, Work.ADVANCE: advance}


def enqueue(work: Work) -> None:
    """Put a wake-up on the queue, unless enough of them wait there already."""
    if huey.pending_count() < settings.worker.threads:
        _TASKS[work]()
