"""Proposals with what they are judged beside, for tests of why one takes no effect."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.rules.validating import Validated, validate
from storage.records.events import Role
from storage.records.knowledge import Proposal, Quote, Record, RecordKind, RejectionCode
from tests.observer_support import AT, DAY, EXPENSE, Said, package_of, quote

ZH = "以后报销都用新模板，别用旧的"
EN = "From now on always use the new expense template"


@dataclass(frozen=True)
class Refused:
    """A proposal with what it is judged beside, and what it must be told; no code: it takes effect."""

    said: tuple[Said, ...]
    proposal: Proposal
    code: RejectionCode | None = None
    reason: str | None = None
    known: tuple[Record, ...] = ()


def rule(text: str, number: int = 0, **changes: Any) -> Proposal:
    """A rule about expenses in the words of the event of that number."""
    made = Proposal(RecordKind.RULE, text, (quote(text, number),), subject=EXPENSE.id)
    return replace(made, **changes)


def told(said: Sequence[Said], *proposals: Proposal, known: Sequence[Record] = (),
         marked: str | None = None) -> tuple[Validated, ...]:  # fmt: skip
    """The verdicts; what holds the mark counts as secret."""
    return validate(
        proposals,
        package_of(said, known=known),
        objects=frozenset({EXPENSE.id, "other"}),
        has_secret=lambda text: marked is not None and marked in text,
        now_ms=AT + DAY,
    )


def check(case: Refused) -> None:
    """The verdict is the expected one, to the letter."""
    (found,) = told(case.said, case.proposal, known=case.known)
    assert (found.code, found.reason) == (case.code, case.reason)
    assert (found.record is None) is (case.code is not None)


def page(text: str) -> Said:
    """What a page says."""
    return Said(text, Role.EXTERNAL, "external.content")


def helper(text: str) -> Said:
    """What a supervisor says."""
    return Said(text, Role.SUPERVISOR, "supervisor.reply")


def done(text: str) -> Said:
    """What an executor reports."""
    return Said(text, Role.EXECUTOR, "executor.receipt")


def claim(kind: RecordKind, text: str, *quotes: Quote, **changes: Any) -> Proposal:
    """A proposal about expenses with these quotes."""
    made = Proposal(kind, text, quotes or (quote(text),), subject=EXPENSE.id)
    return replace(made, **changes)
