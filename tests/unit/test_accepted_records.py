"""The record that an accepted proposal becomes, field by field."""

from dataclasses import replace
from typing import Any

import pytest

from pipeline.rules.cases import record_id
from storage.records.events import ObjectRef, Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    ProfileKind,
    Proposal,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)
from tests.observer_support import AT, DAY, EXPENSE, Said, quote, record
from tests.proposal_support import EN, ZH, claim, done, helper, page, rule, told

pytestmark = pytest.mark.unit

OTHER = ObjectRef("other")


def made(said: tuple[Said, ...], proposal: Proposal, *known: Record) -> Record:
    """The record of a proposal that must be accepted."""
    (found,) = told(said, proposal, known=known)
    assert found.record is not None, found.reason
    return found.record


@pytest.mark.parametrize(
    ("said", "ways"),
    [
        ("以后报销都用新模板，先贴发票再签字，旧模板会被退回，交之前看一遍", ("先贴发票再签字", "旧模板会被退回", "交之前看一遍")),
        (
            "From now on always use the new template, staple receipts first, old ones come back, check the total",
            ("staple receipts first", "old ones come back", "check the total"),
        ),
    ],
    ids=["zh", "en"],
)  # fmt: skip
def test_a_record_holds_all_that_was_proposed(said: str, ways: tuple[str, str, str]) -> None:
    """Nothing of an accepted proposal is lost, and nothing of it is made up (C4)."""
    step, failure, verify = ways
    scope = Scope(objects=(EXPENSE.id, "other"), task="t")
    proposal = rule(
        said,
        conditions=(step,),
        steps=(step,),
        failure=(failure,),
        verify=(verify,),
        cues=("怎么报销", "how to claim"),
        scope=scope,
        valid_from=AT,
        review_at=AT + 9 * DAY,
        supersedes=("r-0",),
        key="expense.template",
    )
    found = made(
        (Said(said, objects=(EXPENSE, OTHER), task="t"),),
        proposal,
        record(
            "r-0",
            "报销用旧模板" if step.startswith("先") else "use the old template",
            day=-1,
            scope=scope,
        ),
    )
    span = Span("e0", 1, 0, len(said), said)
    assert found == Record(
        id=record_id("local", RecordKind.RULE, said, [span]),
        owner_scope="local",
        subject_id=EXPENSE.id,
        kind=RecordKind.RULE,
        content=said,
        observed_at=AT,
        recorded_at=AT + DAY,
        status=RecordStatus.ACTIVE,
        authority=Authority.USER,
        evidence=(span,),
        key="expense.template",
        scope=scope,
        valid_from=AT,
        review_at=AT + 9 * DAY,
        supersedes=("r-0",),
        conditions=(step,),
        steps=(step,),
        failure=(failure,),
        verify=(verify,),
        cues=("怎么报销", "how to claim"),
        package_id=7,
    )


def test_a_record_without_a_subject_is_about_its_package_s_object() -> None:
    """Who names none speaks of what the events are about."""
    assert made((Said(ZH),), rule(ZH, subject=None)).subject_id == EXPENSE.id


def test_a_scope_s_objects_are_a_set() -> None:
    """Named twice or in another order they are the same scope."""
    said = (Said(ZH, objects=(EXPENSE, OTHER)),)
    scopes = [("other", EXPENSE.id), (EXPENSE.id, "other", EXPENSE.id)]
    found = [made(said, rule(ZH, scope=Scope(objects=objects))).scope for objects in scopes]
    assert found == [Scope(objects=(EXPENSE.id, "other"))] * 2


@pytest.mark.parametrize(
    ("kind", "given", "kept"),
    [
        (RecordKind.FACT, FactClass.PROFILE, (FactClass.PROFILE, ProfileKind.IDENTITY)),
        (RecordKind.FACT, FactClass.PROJECT, (FactClass.PROJECT, None)),
        (RecordKind.RULE, FactClass.PROJECT, (None, None)),
        (RecordKind.PREFERENCE, None, (None, None)),
    ],
)
def test_only_a_fact_has_a_class_and_only_a_profile_a_kind(
    kind: RecordKind, given: FactClass | None, kept: tuple[Any, ...]
) -> None:
    """What a model says too much is left out."""
    proposal = claim(kind, ZH, fact_class=given, profile_kind=ProfileKind.IDENTITY)
    found = made((Said(ZH),), proposal)
    assert (found.fact_class, found.profile_kind) == kept


def test_a_record_was_observed_with_its_newest_evidence() -> None:
    """In whatever order it is quoted; recorded is when it was judged."""
    proposal = rule(ZH, evidence=(quote(ZH, 2), quote(ZH, 0)))
    found = made((Said(ZH), Said("好"), Said(ZH)), proposal)
    assert (found.observed_at, found.recorded_at) == (AT + 2_000, AT + DAY)


_WEIGHTS: dict[str, tuple[tuple[Said, ...], Proposal, Authority, RecordStatus]] = {
    "a user's rule": ((Said(EN),), rule(EN), Authority.USER, RecordStatus.ACTIVE),
    "a user's way of doing": (
        (Said(ZH),), claim(RecordKind.PROCEDURE, ZH), Authority.USER, RecordStatus.CANDIDATE,
    ),
    "what was seen": (
        (done("报销系统在维护"),),
        claim(RecordKind.FACT, "报销系统在维护", fact_class=FactClass.ENVIRONMENT),
        Authority.OBSERVATION, RecordStatus.CANDIDATE,
    ),
    "what a user says of the surroundings": (
        (Said("报销系统在维护"),),
        claim(RecordKind.FACT, "报销系统在维护", fact_class=FactClass.ENVIRONMENT),
        Authority.USER, RecordStatus.CANDIDATE,
    ),
    "what was checked": (
        (Said("总额是 300 元", Role.VERIFICATION, "verification.result"),),
        claim(RecordKind.FACT, "总额是 300 元", fact_class=FactClass.ENVIRONMENT),
        Authority.VERIFICATION, RecordStatus.CANDIDATE,
    ),
    "a supervisor's promise": (
        (helper("I will send the claim by Friday"),),
        claim(RecordKind.COMMITMENT, "I will send the claim by Friday"),
        Authority.INFERENCE, RecordStatus.ACTIVE,
    ),
    "a promise of both": (
        (Said("周五前交报销单"), helper("我会在周五前交报销单")),
        claim(RecordKind.COMMITMENT, "周五前交报销单", quote("周五前交报销单"),
              quote("我会在周五前交报销单", 1)),
        Authority.USER, RecordStatus.ACTIVE,
    ),
    "a promise that the user only asked about": (
        (Said("周五前是不是要交报销单？"), helper("我会在周五前交报销单")),
        claim(RecordKind.COMMITMENT, "周五前交报销单", quote("周五前是不是要交报销单"),
              quote("我会在周五前交报销单", 1)),
        Authority.INFERENCE, RecordStatus.ACTIVE,
    ),
    "a story": (
        (Said("提交报销单"), done("报销单已提交")),
        claim(RecordKind.EPISODE, "提交报销单，已提交", quote("提交报销单"), quote("报销单已提交", 1)),
        Authority.OBSERVATION, RecordStatus.ACTIVE,
    ),
    "a story in a page's words": (
        (Said("看看这个页面"), page("服务器已经迁到新机房")),
        claim(RecordKind.EPISODE, "服务器已经迁到新机房", quote("看看这个页面")),
        Authority.EXTERNAL, RecordStatus.ACTIVE,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("said", "proposal", "authority", "status"), _WEIGHTS.values(), ids=_WEIGHTS
)
def test_a_record_weighs_what_its_speakers_weigh(
    said: tuple[Said, ...], proposal: Proposal, authority: Authority, status: RecordStatus
) -> None:
    """By the roles of its evidence, and begins as a candidate where something has to bear it out."""
    found = made(said, proposal)
    assert (found.authority, found.status) == (authority, status)


# ---- ids -----------------------------------------------------------------------------


_SPANS = (Span("e0", 1, 0, 3, "新模板"), Span("e1", 2, 4, 6, "ab"))


def test_a_record_s_id_is_the_same_in_every_version() -> None:
    """A replay of last year's proposals finds last year's records (A6)."""
    assert record_id("local", RecordKind.RULE, "新模板", _SPANS) == "r-d570e84dca1f31a3577cadc8"
    assert record_id("local", RecordKind.RULE, "新模板", _SPANS[::-1]) == record_id(
        "local", RecordKind.RULE, "新模板", _SPANS
    )


@pytest.mark.parametrize(
    ("owner", "kind", "content", "spans"),
    [
        ("other", RecordKind.RULE, "新模板", _SPANS),
        ("local", RecordKind.FACT, "新模板", _SPANS),
        ("local", RecordKind.RULE, "新模板。", _SPANS),
        ("local", RecordKind.RULE, "新模板", _SPANS[:1]),
        ("local", RecordKind.RULE, "新模板", (replace(_SPANS[0], start=1), _SPANS[1])),
        ("local", RecordKind.RULE, "新模板", (replace(_SPANS[0], end=2), _SPANS[1])),
        ("local", RecordKind.RULE, "新模板", (replace(_SPANS[0], event_id="e2"), _SPANS[1])),
    ],
)
def test_another_owner_kind_content_or_evidence_has_another_id(
    owner: str, kind: RecordKind, content: str, spans: tuple[Span, ...]
) -> None:
    """No two records that differ in what they are share one (A6)."""
    assert record_id(owner, kind, content, spans) != record_id(
        "local", RecordKind.RULE, "新模板", _SPANS
    )
