"""A request to forget: what it would take, and then the deed, a transaction after the other.

The first transaction leaves everything that was selected gone, unless that is very much; then
it is the first of many, each of which leaves what it has taken gone for good, and what is left for
the next ones stands in the database. What goes is written down before each, for the byte check.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Final

from pipeline.errors import LostRaceError
from pipeline.forgetting import deed, planning, selecting
from pipeline.forgetting.caches import StoredRecalls
from pipeline.forgetting.planning import Plan
from pipeline.forgetting.traces import Traces
from storage.clock import Clock
from storage.errors import BusyError, UnavailableError
from storage.faults import faults
from storage.records.forgetting import (
    Forgetting,
    ForgettingPart,
    ForgettingState,
    ForgettingStep,
    Selection,
    Targets,
)
from storage.repositories import forgettable, forgetting, index, tombstones
from storage.writer import Writer

RACE_TRIES: Final = 20
_AGAIN_MS: Final = 200


@dataclass(frozen=True, slots=True)
class Preview:
    """What a request would take away, were it carried out now."""

    plan: Plan
    counts: Mapping[str, int]
    object_id: str | None


class Forgetter:
    """Takes away what requests select. Its methods block; call them off the loop.

    Args:
        writer: The process's writer.
        clock: When requests are recorded.
        traces: Where it is written down what to look for afterwards.
        tokenizer: The version that index entries are written under.
    """

    def __init__(self, writer: Writer, clock: Clock, traces: Traces, tokenizer: int) -> None:
        self._writer = writer
        self._clock = clock
        self._traces = traces
        self._tokenizer = tokenizer
        # A request and the erasing thread must not take the same part at once.
        self._taking = threading.Lock()

    def preview(self, owner: str, wanted: Selection) -> Preview:
        """What a request would take away.

        Raises:
            BadRequestError: It selects nothing, or names what this owner doesn't have.
        """
        with forgettable.reading():
            targets = selecting.resolve(owner, wanted)
            everything = ForgettingPart(0, targets.records, targets.seqs)
            plan = planning.make(owner, everything, targets)
            recalls = StoredRecalls(owner, plan.names, plan.asked).touched()
        counts = deed.counts(plan, recalls=len(recalls), object_id=targets.object_id)
        return Preview(plan, counts, targets.object_id)

    def forget(self, owner: str, wanted: Selection, *, patient: Callable[[], bool]) -> Forgetting:
        """Carry a request out.

        Args:
            owner: Whose memory.
            wanted: What is to be forgotten.
            patient: Whether whoever asked still waits; what is left then goes behind his back.

        Returns:
            The forgetting after its last transaction so far.

        Raises:
            BadRequestError: It selects nothing, or names what this owner doesn't have.
            BusyError: The owner's memory changes again and again.
            UnavailableError: What to look for afterwards can't be written down.
        """
        with self._taking:
            with forgettable.reading():
                targets = selecting.resolve(owner, wanted)
                begun = self._begun(owner, targets)
            first, *rest = selecting.parts(targets)
            self._take(begun, first, targets, rest)
            taken = forgetting.get(owner, begun.id)
        with suppress(BusyError, UnavailableError):
            while taken.step is ForgettingStep.ROWS and patient():
                taken = self.take_next(taken)
        return taken

    def take_next(self, under_way: Forgetting) -> Forgetting:
        """Take the next part of a forgetting away; the forgetting as it stands then.

        Raises:
            BusyError: The owner's memory changes again and again.
            UnavailableError: What to look for afterwards can't be written down.
        """
        with self._taking:
            left = forgetting.parts_left(under_way.id)
            if left:
                targets = Targets(
                    tuple(name for part in left for name in part.records),
                    tuple(seq for part in left for seq in part.seqs),
                    under_way.object_id,
                )
                now = forgetting.get(under_way.owner, under_way.id)
                self._take(now, left[0], targets, left[1:])
            return forgetting.get(under_way.owner, under_way.id)

    def _begun(self, owner: str, targets: Targets) -> Forgetting:
        now = self._clock.now_ms()
        told = repr((owner, now, tombstones.count(owner), targets))
        return Forgetting(
            id="f-" + blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
            owner=owner,
            state=ForgettingState.ERASING,
            step=ForgettingStep.ROWS,
            requested_at=now,
            masked_from=index.last_seq(),
            object_id=targets.object_id,
        )

    def _take(
        self,
        under_way: Forgetting,
        part: ForgettingPart,
        targets: Targets,
        rest: Sequence[ForgettingPart],
    ) -> None:
        for _ in range(RACE_TRIES):
            with forgettable.reading():
                seen = planning.make(under_way.owner, part, targets)
                recalls = StoredRecalls(under_way.owner, seen.names, seen.asked)
            self._write_down(under_way.id, [*seen.texts, *recalls.texts], seen.packages)
            try:
                self._writer.call(
                    "forget", partial(self._commit, under_way, part, targets, rest, seen, recalls)
                )
            except LostRaceError:
                continue
            return
        raise BusyError("The owner's memory changes again and again.", retry_after_ms=_AGAIN_MS)

    def _write_down(
        self, forgetting_id: str, texts: Sequence[str], suspects: Sequence[int]
    ) -> None:
        faults.fire("erase.before_traces")
        try:
            self._traces.add(forgetting_id, texts, suspects=suspects)
        except OSError as error:
            raise UnavailableError(
                f"{self._traces.folder} can't be written: {error.strerror}. Nothing was forgotten."
            ) from error
        faults.fire("erase.after_traces")

    def _commit(
        self,
        under_way: Forgetting,
        part: ForgettingPart,
        targets: Targets,
        rest: Sequence[ForgettingPart],
        seen: Plan,
        recalls: StoredRecalls,
    ) -> None:
        """One transaction: the part, and what is known of the forgetting from then on.

        Raises:
            LostRaceError: More would go by now than was written down.
        """
        plan = planning.make(under_way.owner, part, targets)
        if not plan.texts <= seen.texts:
            raise LostRaceError
        taken = deed.apply(
            plan,
            now=self._clock.now_ms(),
            tokenizer=self._tokenizer,
            recalls=recalls.touched,
            object_id=None if rest else under_way.object_id,
        )
        counts = {kind: under_way.counts.get(kind, 0) + number for kind, number in taken.items()}
        first = part.place == 0
        if first:
            forgetting.create(replace(under_way, counts=counts), rest)
        else:
            forgetting.end_part(under_way.id, part.place, counts)
        if not rest:
            forgetting.enter(under_way.id, ForgettingStep.WORDS)
