"""The outside worker's observer against the shared suite, with the socket in between."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from pipeline.observers.offline import OfflineObserver
from storage.records.events import Event, ObjectRef, Role
from storage.records.runs import Observation, PackagedEvent, WorkPackage
from tests.contract.observer_suite import CHECKS, Check
from tests.observer_support import package_of

if TYPE_CHECKING:
    from tests.service_support import Service

pytestmark = pytest.mark.contract


class OutsideWorker:
    """Brings a package's events in, claims what becomes of them, and commits what it makes of it.

    It reads with the offline rules, from nothing but what the wire has told it.
    """

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._owners = 0

    def observe(self, work: WorkPackage) -> Observation:
        """An observation by way of the socket; of several packages where the filter made several."""
        if not work.events:
            return OfflineObserver().observe(work)
        self._owners += 1
        owner = f"owner-{self._owners}"
        self._service.ingest(*[_on_the_wire(item.event) for item in work.events], owner=owner)
        self._service.ask("ops.flush", owner=owner)
        proposals: list[Any] = []
        reasons: list[str] = []
        while claimed := self._claim(owner):
            made = OfflineObserver().observe(_as_told(claimed))
            self._commit(claimed, made)
            proposals += made.proposals
            reasons += filter(None, [made.nothing_worth_keeping])
        return Observation(tuple(proposals), None if proposals else "; ".join(reasons))

    def _claim(self, owner: str) -> Any:
        claimed = self._service.ask("memory.observation.claim", worker="tester", owner=owner)
        return next(iter(claimed["packages"]), None)

    def _commit(self, claimed: Any, made: Observation) -> None:
        answer = self._service.ask(
            "memory.observation.commit",
            package_id=claimed["id"],
            token=claimed["token"],
            proposals=[_proposal(item) for item in made.proposals],
            **({} if made.proposals else {"nothing_worth_keeping": made.nothing_worth_keeping}),
        )
        assert len(answer["accepted"]) == len(made.proposals), answer["rejected"]


def _on_the_wire(event: Event) -> dict[str, Any]:
    made: dict[str, Any] = {
        "v": 1,
        "id": event.id,
        "kind": event.kind,
        "at": event.at,
        "source": {"role": event.role.value},
        "text": event.text,
        "objects": [{"id": ref.id, "title": ref.title} for ref in event.objects],
    }
    return made | ({"data": dict(event.data)} if event.data else {})


def _as_told(claimed: Any) -> WorkPackage:
    """The package as its worker has to understand it: from the claim alone."""
    events = [
        PackagedEvent(
            Event(
                owner=claimed["owner"],
                id=told["id"],
                kind=told["kind"],
                at=told["at"],
                role=Role(told["role"]),
                seq=told["seq"],
                text=told["text"],
                data=told.get("data"),
                objects=()
                if claimed["object"].startswith("@")
                else (ObjectRef(claimed["object"]),),
            ),
            told["count"],
            told["first_at"],
            told["last_at"],
        )
        for told in claimed["events"]
    ]
    return WorkPackage(package_of([]).package, tuple(events))


def _proposal(made: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "kind": made.kind.value,
        "content": made.content,
        "evidence": [{"event": quote.event_id, "quote": quote.quote} for quote in made.evidence],
        "scope": {"objects": list(made.scope.objects), "once": made.scope.once},
    }
    plain = ("subject", "key", "value", "valid_from", "valid_to", "review_at")
    told |= {name: getattr(made, name) for name in plain if getattr(made, name) is not None}
    lists = ("conditions", "steps", "failure", "verify", "cues")
    told |= {name: list(getattr(made, name)) for name in lists if getattr(made, name)}
    if made.fact_class is not None:
        told["class"] = made.fact_class.value
    if made.profile_kind is not None:
        told["profile_kind"] = made.profile_kind.value
    return told


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_outside_worker_keeps_an_observers_promises(
    start_service: Callable[..., "Service"], check: Check
) -> None:
    """An observer behind the socket passes the same checks as one within (mission C3)."""
    check(OutsideWorker(start_service(observer__kind="external")).observe)
