"""Why a proposal has no effect: it reaches too far, or something newer stands.

The reason is what a trace shows for ever, so that it is held to the letter here.
"""

from dataclasses import replace
from typing import Any

import pytest

from storage.records.events import OWNER_OBJECT, ObjectRef
from storage.records.knowledge import (
    Authority,
    FactClass,
    RecordKind,
    RecordStatus,
    RejectionCode,
    Scope,
)
from tests.observer_support import AT, EXPENSE, Said, quote, record
from tests.proposal_support import ZH, Refused, check, claim, done, rule

pytestmark = pytest.mark.unit

_SEEN: dict[str, Any] = {"fact_class": FactClass.ENVIRONMENT}

_OTHER = ObjectRef("other")
_STRANGER = "it names an object nobody knows"
_ABOUT_ANOTHER = "its evidence is about another object"
_ANOTHER_TASK = "its evidence is about another task"
_ONE_TIME = "the user spoke of one time only"
_ONE_OBJECT = "the user spoke of one object only"
_PREFERS = "我喜欢深色主题"
_WIDER = RejectionCode.SCOPE_WIDENED
_REACH: dict[str, Refused] = {
    "an unknown subject": Refused(
        (Said(ZH),), rule(ZH, subject="nobody"), RejectionCode.UNKNOWN_OBJECT, _STRANGER
    ),
    "an unknown object of its scope": Refused(
        (Said(ZH),), rule(ZH, scope=Scope(objects=(EXPENSE.id, "nobody"))),
        RejectionCode.UNKNOWN_OBJECT, _STRANGER,
    ),
    "a known object of which nobody spoke": Refused(
        (Said(ZH),), rule(ZH, subject="other"), _WIDER, _ABOUT_ANOTHER
    ),
    "an object of its scope of which nobody spoke": Refused(
        (Said(ZH),), rule(ZH, scope=Scope(objects=("other",))), _WIDER, _ABOUT_ANOTHER
    ),
    "an object that the event names": Refused(
        (Said(ZH, objects=(EXPENSE, _OTHER)),), rule(ZH, subject="other")
    ),
    "a task of which nobody spoke": Refused(
        (Said(ZH, task="t"),), rule(ZH, scope=Scope(task="u")), _WIDER, _ANOTHER_TASK
    ),
    "the task of its event": Refused((Said(ZH, task="t"),), rule(ZH, scope=Scope(task="t"))),
    "one time as a rule": Refused(
        (Said("这次报销用旧模板"),), rule("报销用旧模板", evidence=(quote("这次报销用旧模板"),)),
        _WIDER, _ONE_TIME,
    ),
    "one time in English": Refused(
        (Said("just this once use the old template"),),
        rule("use the old template", evidence=(quote("just this once use the old template"),)),
        _WIDER, _ONE_TIME,
    ),
    "one time as one time": Refused(
        (Said("这次报销用旧模板"),), rule("这次报销用旧模板", scope=Scope(once=True))
    ),
    "one time, and ever since": Refused(
        (Said("从这次起以后报销都用旧模板"),), rule("从这次起以后报销都用旧模板")
    ),
    "a correction of one time": Refused(
        (Said("这次报销应该是300元"),), claim(RecordKind.CORRECTION, "这次报销应该是300元")
    ),
    "one object as everything": Refused(
        (Said("报销先贴发票再签字"),), rule("报销先贴发票再签字", subject=OWNER_OBJECT),
        _WIDER, _ONE_OBJECT,
    ),
    "a procedure for one object as everything": Refused(
        (Said("staple receipts first"),),
        claim(RecordKind.PROCEDURE, "staple receipts first", subject=OWNER_OBJECT),
        _WIDER, _ONE_OBJECT,
    ),
    "one object, and always": Refused(
        (Said("以后都要先贴发票再签字"),), rule("以后都要先贴发票再签字", subject=OWNER_OBJECT)
    ),
    "what somebody likes": Refused(
        (Said(_PREFERS),), claim(RecordKind.PREFERENCE, _PREFERS, subject=OWNER_OBJECT)
    ),
    "said of nothing in particular": Refused(
        (Said("先贴发票再签字", objects=()),), rule("先贴发票再签字", subject=OWNER_OBJECT)
    ),
    "said of an object and of nothing": Refused(
        (Said("报销先贴发票"), Said("先贴发票再签字", objects=())),
        rule("先贴发票再签字", evidence=(quote("先贴发票"), quote("先贴发票再签字", 1)),
             subject=OWNER_OBJECT),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", _REACH.values(), ids=_REACH)
def test_a_proposal_reaches_no_further_than_its_words(case: Refused) -> None:
    """Not beyond the objects, the task, and the one time that were spoken of (C4, D5)."""
    check(case)


# ---- what stands already ---------------------------------------------------------------


_NEWER = "it supersedes a newer or stronger record"
_STANDING = record("r-1", "报销用旧模板", day=-1)
_REPLACES = rule(ZH, supersedes=("r-1",))
_OVER = RejectionCode.OVERRIDES_NEWER
_STANDING_CASES: dict[str, Refused] = {
    "an older one of the same reach": Refused((Said(ZH),), _REPLACES, known=(_STANDING,)),
    "one that is not known": Refused(
        (Said(ZH),), _REPLACES, _WIDER, "it supersedes a record of another object"
    ),
    "one of another subject": Refused(
        (Said(ZH),), _REPLACES, _WIDER, "it supersedes a record of another object",
        (replace(_STANDING, subject_id="other"),),
    ),
    "one of another scope": Refused(
        (Said(ZH),), _REPLACES, _WIDER, "it supersedes a record of another scope",
        (replace(_STANDING, scope=Scope(task="t")),),
    ),
    "one of the same moment": Refused(
        (Said(ZH),), _REPLACES, known=(replace(_STANDING, observed_at=AT),)
    ),
    "a newer one": Refused(
        (Said(ZH),), _REPLACES, _OVER, _NEWER, (replace(_STANDING, observed_at=AT + 1),)
    ),
    "a stronger one": Refused(
        (done("报销系统在维护"),),
        claim(RecordKind.FACT, "报销系统在维护", supersedes=("r-1",), **_SEEN), _OVER, _NEWER,
        (replace(_STANDING, kind=RecordKind.FACT, authority=Authority.VERIFICATION),),
    ),
    "one of something else": Refused(
        (Said(ZH),), _REPLACES, _WIDER, "its quote is not about the record it supersedes",
        (record("r-1", "会议室提前一天预订", day=-1),),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", _STANDING_CASES.values(), ids=_STANDING_CASES)
def test_a_record_is_replaced_by_what_is_newer_and_of_its_reach(case: Refused) -> None:
    """Only same subject and scope, nothing newer or stronger, and only what was spoken of (C5)."""
    check(case)


_PLACE = "a newer correction stands in its place"
_CORRECTION = record(
    "r-1", "报销截止日是20号", kind=RecordKind.CORRECTION, day=1, key="expense.deadline"
)
_LATE_CASES: dict[str, tuple[dict[str, Any], bool]] = {
    "a newer correction": ({}, True),
    "what has replaced another": ({"kind": RecordKind.FACT, "supersedes": ("r-0",)}, True),
    "no correction": ({"kind": RecordKind.FACT}, False),
    "an older one": ({"observed_at": AT - 1}, False),
    "one of the same moment": ({"observed_at": AT}, False),
    "a weaker one": ({"authority": Authority.VERIFICATION}, False),
    "one of another slot": ({"key": "expense.template"}, False),
    "one of another subject": ({"subject_id": "other"}, False),
    "one of another scope": ({"scope": Scope(task="t")}, False),
    "one that holds no longer": ({"status": RecordStatus.SUPERSEDED}, False),
    "one that waits": ({"status": RecordStatus.CANDIDATE}, False),
}


@pytest.mark.parametrize("text", ["报销截止日是25号", "the expense deadline is the 25th"])
@pytest.mark.parametrize(("changes", "refused"), _LATE_CASES.values(), ids=_LATE_CASES)
def test_a_late_statement_yields_to_a_newer_correction_of_its_slot(
    changes: dict[str, Any], text: str, *, refused: bool
) -> None:
    """What was set right stays so, however late the old statement comes (A5, C4)."""
    known = (replace(_CORRECTION, **changes),)
    code, reason = (_OVER, _PLACE) if refused else (None, None)
    late = claim(RecordKind.FACT, text, fact_class=FactClass.PROJECT)
    check(Refused((Said(text),), late, code, reason, known))


_ENDED = "it would have ended before it was said"


@pytest.mark.parametrize(
    ("kind", "end", "code"),
    [
        (RecordKind.RULE, AT, RejectionCode.DEGENERATE),
        (RecordKind.PREFERENCE, AT - 1, RejectionCode.DEGENERATE),
        (RecordKind.RULE, AT + 1, None),
        (RecordKind.EPISODE, AT, None),
    ],
)
def test_what_binds_has_not_ended_when_it_is_said(
    kind: RecordKind, end: int, code: RejectionCode | None
) -> None:
    """A story may be over; a rule that never held is no rule."""
    case = Refused((Said(ZH),), claim(kind, ZH, valid_to=end), code, _ENDED if code else None)
    check(case)
