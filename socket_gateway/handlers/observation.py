"""Observation by an outside worker: claim, commit, fail (spec: protocol, Observation)."""

from dataclasses import replace
from hashlib import blake2b
from typing import Any

import orjson
from pydantic import TypeAdapter

from pipeline.observers.port import ObserverFault
from pipeline.observers.schemas import ProposalModel
from pipeline.runner import Work
from pipeline.stages.observe import Judged
from socket_gateway import protocol, shapes
from socket_gateway.dispatch import validated_list
from socket_gateway.handlers.services import Services
from storage.errors import BadRequestError, ConflictError, NotFoundError, StaleError
from storage.records.knowledge import Record
from storage.records.runs import FaultKind, Observation, Package, PackageState, Stage, WorkPackage
from storage.repositories import evidence, ledger

Json = dict[str, Any]

OUTSIDE = "outside"
_PROPOSALS = TypeAdapter(list[ProposalModel])


class Observing:
    """Serves outside workers. Leases decide between them and the built-in observer."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def claim(self, params: protocol.ClaimParams) -> Json:
        """Serve `memory.observation.claim`."""
        settings = self._services.core.settings.pipeline
        wanted = ledger.Claim(
            stage=Stage.OBSERVE,
            now=self._services.now(),
            lease_ms=params.lease_ms,
            hard_ms=settings.lease_hard_ms,
            by=OUTSIDE,
            limit=params.max,
            owner=params.owner,
            apart=True,
        )
        claimed = await self._services.write("claim", ledger.claim, wanted)
        works = await self._services.read(self._works, claimed)
        return {"packages": [shapes.work_package(work) for work in works]}

    def _works(self, claimed: list[Package]) -> list[WorkPackage]:
        works = [self._services.observe.work(package) for package in claimed]
        return [replace(work, known=_proven(work)) for work in works]

    async def commit(self, params: protocol.CommitParams) -> Json:
        """Serve `memory.observation.commit`.

        Raises:
            NotFoundError: There never was such a package.
            StaleError: The lease has passed to another, or a split has taken the package away.
            BadRequestError: A proposal can't be read, or there is neither a proposal nor a reason.
            ConflictError: Under this token other proposals were committed.
        """
        proposals = validated_list(_PROPOSALS, params.proposals, "proposals")
        if not proposals and not (params.nothing_worth_keeping or "").strip():
            raise BadRequestError(
                "nothing_worth_keeping: a commit without proposals needs it; say why there are none."
            )
        digest = _digest(params)
        again = await self._services.read(_answered, params.package_id, params.token, digest)
        if again is not None:
            return again
        observation = Observation(
            tuple(item.to_proposal() for item in proposals),
            None if proposals else params.nothing_worth_keeping,
        )
        judged = await self._services.read(self._judge, params, observation)
        if isinstance(judged, dict):
            return judged
        answer = await self._services.write("external", self._apply, *judged, digest)
        self._services.wake(Work.ADVANCE)
        return answer

    def _judge(
        self, params: protocol.CommitParams, observation: Observation
    ) -> tuple[Package, Judged] | Json:
        """The package and what validation says; the answer itself where it has been given by now."""
        try:
            package = _held(params.package_id, params.token)
        except StaleError:
            again = _answered(params.package_id, params.token, _digest(params))
            if again is None:
                raise
            return again
        return package, self._services.observe.judge(
            self._services.observe.work(package), self._clean(observation)
        )

    def _clean(self, observation: Observation) -> Observation:
        """A worker's reason is kept, so it is redacted like everything that is."""
        reason = observation.nothing_worth_keeping
        if reason is None:
            return observation
        cleaned = self._services.redactor.redact_many([reason], by_model=[True])[0].text
        return Observation(observation.proposals, cleaned)

    def _apply(self, package: Package, judged: Judged, digest: str) -> Json:
        now = self._services.now()
        if not ledger.holds(package):
            # The same commit may have been sent twice at once; then both get the one answer.
            again = _answered(package.id, package.fence, digest)
            if again is None:
                raise _stale(package.id)
            return again
        applied = self._services.observe.apply(package, judged, now)
        answer = {"digest": digest, "told": applied.answer}
        advanced = ledger.advance(package, now=now, answer=answer, nothing=applied.nothing)
        if advanced is not None:
            ledger.release(advanced)
        return _commit_answer(applied.answer)

    async def fail(self, params: protocol.FailParams) -> Json:
        """Serve `memory.observation.fail`.

        Raises:
            NotFoundError: There never was such a package.
            StaleError: The lease has passed to another, or a split has taken the package away.
        """
        package = await self._services.read(_held, params.package_id, params.token)
        cleaned = self._services.redactor.redact_many([params.error], by_model=[True])[0].text
        # A worker that names a time expects it to pass by then; the others blame the package.
        passing = params.retry_after_ms is not None
        error = ObserverFault(FaultKind.TRANSIENT if passing else FaultKind.CONTENT, cleaned)
        return await self._services.read(self._fail, package, error, params.retry_after_ms)

    def _fail(self, package: Package, error: ObserverFault, retry_after_ms: int | None) -> Json:
        due = self._services.runner.fail(package, error, retry_after_ms=retry_after_ms)
        if due is None:
            raise _stale(package.id)
        after = ledger.get(package.id)
        state = after.state if after else PackageState.READY
        return {"state": state.value, "next_attempt_at": due or None}


def _proven(work: WorkPackage) -> tuple[Record, ...]:
    """What is known, on the evidence that still stands: a worker is shown no other."""
    return tuple(item.record for item in evidence.proven(work.package.owner, work.known))


def _held(package_id: int, token: int) -> Package:
    package = ledger.get(package_id)
    if package is None:
        if ledger.was_given(package_id):
            raise _stale(package_id)
        raise NotFoundError("There is no package of that id.")
    held = package.state is PackageState.LEASED and package.stage is Stage.OBSERVE
    if not held or package.fence != token:
        raise _stale(package_id)
    return package


def _stale(package_id: int) -> StaleError:
    return StaleError(
        "The lease of this package is over; claim again and take what you get.",
        details={"package_id": package_id, "moved": "lease"},
    )


def _answered(package_id: int, token: int, digest: str) -> Json | None:
    """The answer that this very commit got before, if it did.

    Raises:
        ConflictError: What was committed under this token is something else.
    """
    output = ledger.output(package_id, Stage.OBSERVE)
    if output is None or output[0] != token:
        return None
    if output[1].get("digest") != digest:
        raise ConflictError(
            "Other proposals were committed under this token; nothing was changed. Claim again.",
            details={"package_id": package_id},
        )
    return _commit_answer(output[1]["told"])


def _digest(params: protocol.CommitParams) -> str:
    """What makes two commits the same."""
    said = [params.proposals, params.nothing_worth_keeping]
    return blake2b(orjson.dumps(said, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def _commit_answer(answer: Any) -> Json:
    return {"state": PackageState.READY.value, **answer}
