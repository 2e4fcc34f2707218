"""Observers against their shared suite, and what a worker may say on the wire."""

from pathlib import Path
from typing import cast

import pytest
from pydantic import TypeAdapter, ValidationError

from pipeline.errors import SettingsError
from pipeline.observers.offline import OfflineObserver
from pipeline.observers.port import Observer, ObserverFault
from pipeline.observers.registry import OBSERVERS, Parts, make_observer
from pipeline.observers.schemas import ProposalModel
from pipeline.settings import load
from storage.clock import ManualClock
from storage.errors import ErrorCode, UnavailableError
from storage.records.events import Role
from storage.records.knowledge import RecordKind
from storage.records.runs import FaultKind, Observation, WorkPackage
from storage.writer import Writer
from tests.contract.observer_suite import CHECKS, CHINESE, Check, Observe
from tests.observer_support import Said, package_of

pytestmark = pytest.mark.contract

PROPOSALS = TypeAdapter(list[ProposalModel])


def worker(work: WorkPackage) -> Observation:
    """An outside worker: answers in the wire's words, and knows only explicit rules."""
    said = [
        {
            "kind": "rule",
            "content": item.event.text,
            "evidence": [{"event": item.event.id, "quote": item.event.text}],
        }
        for item in work.events[:5]
        if item.event.role is Role.USER and item.event.text.startswith(("以后", "From now on"))
        if len(item.event.text) <= 100
    ]
    proposals = tuple(item.to_proposal() for item in PROPOSALS.validate_python(said))
    return Observation(proposals, None if proposals else "no explicit rule")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "observe", [OfflineObserver().observe, worker], ids=["offline", "external"]
)
def test_an_observer_keeps_its_promises(observe: Observe, check: Check) -> None:
    """Every observer passes the same checks, whoever does the reading (mission C3)."""
    check(observe)


def make(state: Path, kind: str) -> Observer:
    """The observer of that kind, with settings that each of them can do with."""
    named = {"KIND": kind, "MODEL": "a-model", "API_KEY": "a-word"}
    environ = {f"DESKPAW_MEMORY_OBSERVER__{name}": value for name, value in named.items()}
    settings, _ = load({"DESKPAW_STATE_DIR": str(state)} | environ)
    # Nothing is written before there is a package.
    return make_observer(Parts(settings, ManualClock(), cast("Writer", None)))


@pytest.mark.parametrize("kind", sorted(OBSERVERS))
def test_observers_are_made_by_their_word(tmp_path: Path, kind: str) -> None:
    """The setting's word makes the observer of that name."""
    observer = make(tmp_path, kind)
    assert observer.name == kind
    assert observer.batch >= 1


def test_an_unknown_observer_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    """The message names what there is."""
    with pytest.raises(SettingsError) as caught:
        make(tmp_path, "oracle")
    assert all(kind in caught.value.message for kind in OBSERVERS)


def test_external_packages_wait_for_their_worker(tmp_path: Path) -> None:
    """Nobody in the pipeline reads for an outside worker."""
    observer = make(tmp_path, "external")
    assert not observer.ready()
    with pytest.raises(UnavailableError, match=r"memory\.observation\.claim"):
        observer.observe(package_of(CHINESE))


def test_a_fault_tells_its_kind() -> None:
    """The ledger reads from a fault whether trying again may help."""
    fault = ObserverFault(FaultKind.TRANSIENT, retry_after_ms=500)
    assert (fault.kind, fault.code, fault.retry_after_ms) == (
        FaultKind.TRANSIENT,
        ErrorCode.UNAVAILABLE,
        500,
    )


def test_the_wire_s_names_reach_the_record_s_names() -> None:
    """Every field of a proposal on the wire arrives under its inner name."""
    proposal = ProposalModel.model_validate(
        {
            "kind": "fact",
            "content": "我住在杭州",
            "subject": "@owner",
            "key": "identity.residence",
            "value": "杭州",
            "class": "profile",
            "profile_kind": "identity",
            "evidence": [{"event": "e0", "quote": "住在杭州"}],
            "scope": {"objects": ["a"], "task": "t", "once": True},
            "valid_from": 1,
            "valid_to": 2,
            "review_at": 3,
            "supersedes": ["r-1"],
            "conditions": ["c"],
            "steps": ["s"],
            "failure": ["f"],
            "verify": ["v"],
            "cues": ["q"],
        }
    ).to_proposal()
    assert proposal.kind is RecordKind.FACT
    assert (proposal.fact_class, proposal.profile_kind) == ("profile", "identity")
    assert proposal.evidence[0].event_id == "e0"
    assert (proposal.scope.objects, proposal.scope.task, proposal.scope.once) == (("a",), "t", True)
    assert (proposal.valid_from, proposal.valid_to, proposal.review_at) == (1, 2, 3)
    assert (proposal.supersedes, proposal.cues) == (("r-1",), ("q",))
    assert (proposal.conditions, proposal.steps) == (("c",), ("s",))
    assert (proposal.failure, proposal.verify) == (("f",), ("v",))


@pytest.mark.parametrize(
    "proposal",
    [
        {"kind": "rule", "content": "x"},
        {"kind": "order", "content": "x", "evidence": []},
        {"kind": "rule", "content": "x", "evidence": [], "authority": "user"},
        {"kind": "rule", "content": 5, "evidence": []},
        {"kind": "fact", "content": "x", "evidence": [], "fact_class": "profile"},
    ],
)
def test_what_can_t_be_read_is_refused(proposal: dict[str, object]) -> None:
    """Missing fields, unknown kinds and fields, and wrong types fail the whole answer."""
    readable = {"kind": "rule", "content": "x", "evidence": []}
    with pytest.raises(ValidationError):
        PROPOSALS.validate_python([readable, proposal])


def test_a_long_proposal_is_read_so_that_it_can_be_rejected_alone() -> None:
    """Sizes are the program's to judge, one proposal at a time (spec: protocol, Proposals)."""
    long = {"kind": "rule", "content": "长" * 700, "evidence": []}
    assert ProposalModel.model_validate(long).to_proposal().content == "长" * 700


def test_repeated_failures_are_told_with_their_count() -> None:
    """An episode says how often something failed, and keeps success apart from proof (A4)."""
    said = [
        Said("上传失败", Role.EXECUTOR, "executor.receipt", {"ok": False}, count=3),
        Said("提交成功", Role.EXECUTOR, "executor.receipt", {"ok": True}),
        Said("状态仍是草稿", Role.VERIFICATION, "verification.result", {"passed": False}),
    ]
    (episode,) = OfflineObserver().observe(package_of(said)).proposals
    assert episode.content == "操作：提交成功；失败：上传失败（×3）；验证未通过：状态仍是草稿"
