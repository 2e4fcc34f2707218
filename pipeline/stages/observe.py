"""*observe*: an observer proposes, the program validates, both are kept (mission C3, C4, C9)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import accumulate
from typing import Any

from pipeline.observers.port import Observer
from pipeline.observers.reading import work_package
from pipeline.rules import validating
from pipeline.rules.borrowing import DATA_ROLES
from pipeline.rules.reviewing import ReviewTimes
from pipeline.stages.completing import completed
from pipeline.stages.contract import Applied, each
from storage.clock import Clock
from storage.errors import BadRequestError
from storage.records.events import OWNER_OBJECT
from storage.records.finding import Wanted
from storage.records.knowledge import Proposal, Record, RejectionCode
from storage.records.runs import Observation, Package, Stage, Verdict, WorkPackage
from storage.repositories import comparing, events, objects, proposals, records

NEAR_TEXTS = 100
"""How many texts of pages, screens and tools before a package's end its proposals are held against."""

NEAR_SIGNS = 200_000
"""Code points that these texts have together, but for the newest: a bound on time, and on no text."""

WITHHELD = "(withheld: it held what must not be kept)"


@dataclass(frozen=True, slots=True)
class Judged:
    """An observation after validation: each proposal with its verdict, and its record if accepted."""

    observation: Observation
    judged: tuple[tuple[Proposal, Record | None, Verdict], ...]


class Observe:
    """Builds what the observer sees, asks it, and judges the answer.

    Args:
        observer: Who proposes.
        has_secret: Whether a text holds what must not be kept.
        clock: When records are recorded.
        budget: Tokens of input that an observer may be given.
        review: After how long records are looked at again.
    """

    stage = Stage.OBSERVE

    def __init__(
        self,
        observer: Observer,
        has_secret: Callable[[str], bool],
        clock: Clock,
        *,
        budget: int,
        review: ReviewTimes | None = None,
    ) -> None:
        self.observer = observer
        self._has_secret = has_secret
        self._clock = clock
        self._budget = budget
        self._review = review or ReviewTimes()

    def work(self, package: Package) -> WorkPackage:
        """What an observer gets to see of a package."""
        return work_package(package, self._budget)

    def compute(self, claimed: Sequence[Package]) -> Mapping[int, Any]:
        """Ask the observer about each package."""
        return each(claimed, self._observe)

    def _observe(self, package: Package) -> Judged:
        work = self.work(package)
        return self.judge(work, self.observer.observe(work))

    def judge(self, work: WorkPackage, observation: Observation) -> Judged:
        """Validate an observation, whoever made it.

        Raises:
            BadRequestError: Neither proposals nor a reason why there are none.
        """
        if not observation.proposals and not observation.nothing_worth_keeping:
            raise BadRequestError(
                "A commit without proposals needs nothing_worth_keeping: say why there are none."
            )
        work = self._with_near(self._with_named(work, observation))
        named = {OWNER_OBJECT, work.package.object_id}
        for item in work.events:
            named.update(ref.id for ref in item.event.objects)
        for proposal in observation.proposals:
            named.update(proposal.scope.objects)
            if proposal.subject is not None:
                named.add(proposal.subject)
        known = objects.known(work.package.owner, named) | {OWNER_OBJECT}
        validated = validating.validate(
            observation.proposals,
            work,
            objects=frozenset(known),
            has_secret=self._has_secret,
            now_ms=self._clock.now_ms(),
        )
        judged = []
        for proposal, found in zip(observation.proposals, validated, strict=True):
            record = found.record and completed(found.record, work, self._review)
            record_id = record.id if record else None
            kept = proposal if record else self._withheld(proposal, found.code)
            verdict = Verdict(found.index, record_id, found.code, found.reason)
            judged.append((kept, record, verdict))
        return Judged(observation, tuple(judged))

    def _with_named(self, work: WorkPackage, observation: Observation) -> WorkPackage:
        """The package, also knowing the records that events recalled and proposals would replace.

        By name or by filling their slot.
        """
        wanted = {record for item in work.events for record in item.event.recalled}
        for proposal in observation.proposals:
            wanted.update(proposal.supersedes)
        named = records.by_ids(work.package.owner, wanted) if wanted else []
        found = {record.id: record for record in (*named, *_filling(work, observation))}
        missing = found.keys() - {record.id for record in work.known}
        return replace(work, known=(*work.known, *(found[name] for name in sorted(missing))))

    @staticmethod
    def _with_near(work: WorkPackage) -> WorkPackage:
        """The package, with what its speakers may have read before on pages, screens and in tools."""
        package = work.package
        found = events.told_before(package.owner, package.last_seq, DATA_ROLES, NEAR_TEXTS)
        signs = list(accumulate(len(event.text) for event in reversed(found)))
        near = max(1, sum(total <= NEAR_SIGNS for total in signs))
        return replace(work, near=tuple(found[-near:]))

    def _withheld(self, proposal: Proposal, code: RejectionCode | None) -> Proposal:
        """A rejected proposal as it may be kept: its rejection may have come before a look for secrets.

        Those beyond the bound are not looked at, so that a flood of them costs nothing.
        """
        if code is RejectionCode.TOO_MANY:
            return Proposal(proposal.kind, WITHHELD, ())
        if self._has_secret("\n".join(_strings(astuple(proposal)))):
            return Proposal(proposal.kind, WITHHELD, ())
        return proposal

    def apply(self, package: Package, computed: Judged, now: int) -> Applied:  # noqa: ARG002 - the contract's
        """Keep the proposals with their verdicts."""
        proposals.write(package.id, computed.judged)
        answer = {
            "accepted": [
                {"index": verdict.index, "record_id": verdict.record_id}
                for _, record, verdict in computed.judged
                if record
            ],
            "rejected": [
                {"index": verdict.index, "code": verdict.code, "reason": verdict.reason}
                for _, record, verdict in computed.judged
                if record is None
            ],
        }
        return Applied(answer, computed.observation.nothing_worth_keeping)


def _filling(work: WorkPackage, observation: Observation) -> Iterator[Record]:
    """The records that stand in the slots which proposals name."""
    for proposal in observation.proposals[: validating.MAX_PROPOSALS]:
        if proposal.key is not None:
            scope = replace(proposal.scope, objects=tuple(sorted(set(proposal.scope.objects))))
            slot = (proposal.key, scope)
            about = (proposal.subject or work.package.object_id,)
            yield from comparing.comparable(work.package.owner, Wanted(about, slots=(slot,)))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _strings(part)
