"""Why a proposal has no effect: its shape, its evidence, or that it is no news.

The reason is what a trace shows for ever, so that it is held to the letter here.
"""

from dataclasses import replace
from typing import Any

import pytest

from pipeline.rules.validating import (
    MAX_CONTENT,
    MAX_CUE,
    MAX_ENTRIES,
    MAX_KEY,
    MAX_PROPOSALS,
    MAX_QUOTE,
)
from storage.records.events import OWNER_OBJECT, Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    Proposal,
    Quote,
    RecordKind,
    RejectionCode,
    Scope,
    Span,
)
from tests.observer_support import AT, DAY, EXPENSE, Said, quote, record
from tests.proposal_support import EN, ZH, Refused, check, claim, rule, told

pytestmark = pytest.mark.unit

BOTH = pytest.mark.parametrize("text", [ZH, EN], ids=["zh", "en"])
MARKED = "hidden-part"


_LONG = "a text is longer than its limit"
_MANY = f"a list has more than {MAX_ENTRIES} entries"
_EMPTY = "it is empty, or repeats itself"


def changed(proposal: Proposal, name: str, value: Any) -> Proposal:
    """The proposal with another value of one name."""
    return replace(proposal, **{name: value})


def _of_length(length: int) -> str:
    """A text without a loop in it, and of no word that anybody else says."""
    return " ".join(f"q{n}w" for n in range(length))[:length].ljust(length, "q")


@pytest.mark.parametrize("name", ["conditions", "steps", "failure", "verify"])
def test_each_entry_has_its_bound(name: str) -> None:
    """The longest entry is taken, one code point more is not (spec: protocol, Proposals)."""
    said = (Said(ZH),)
    for length, code in ((MAX_CONTENT, None), (MAX_CONTENT + 1, RejectionCode.TOO_LONG)):
        entries: Any = ("好的做法", _of_length(length))
        proposal = changed(rule(ZH), name, entries)
        check(Refused(said, proposal, code, _LONG if code else None))


@pytest.mark.parametrize("name", ["conditions", "steps", "failure", "verify", "cues"])
def test_each_list_has_its_bound(name: str) -> None:
    """Twenty entries are taken, one more is not (spec: protocol, Proposals)."""
    entries: Any = tuple(f"第{n}条 no {n}" for n in range(MAX_ENTRIES + 1))
    check(Refused((Said(ZH),), changed(rule(ZH), name, entries[:-1])))
    check(Refused((Said(ZH),), changed(rule(ZH), name, entries), RejectionCode.TOO_LONG, _MANY))


_BOUNDS: dict[str, tuple[int, str]] = {
    "key": (MAX_KEY, "key"),
    "value": (MAX_CONTENT, "value"),
    "cue": (MAX_CUE, "cues"),
}


@pytest.mark.parametrize(("limit", "name"), _BOUNDS.values(), ids=_BOUNDS)
def test_key_value_and_cues_have_bounds(limit: int, name: str) -> None:
    """Each by itself, to the code point (spec: protocol, Proposals)."""
    for length, code in ((limit, None), (limit + 1, RejectionCode.TOO_LONG)):
        text: Any = _of_length(length)
        proposal = changed(rule(ZH), name, (text,) if name == "cues" else text)
        check(Refused((Said(ZH),), proposal, code, _LONG if code else None))


@pytest.mark.parametrize("sign", ["报", "a "])
def test_content_and_quotes_have_bounds(sign: str) -> None:
    """A content may have 600 code points, a quote what an event's text may have."""
    words = _of_length(MAX_CONTENT - len(sign))
    for text, code in ((sign + words, None), (f"{sign}{words}x", RejectionCode.TOO_LONG)):
        check(Refused((Said(text),), rule(text), code, _LONG if code else None))
    whole = sign + _of_length(MAX_QUOTE + 1 - len(sign))
    for text, code in ((whole[:-1], None), (whole, RejectionCode.TOO_LONG)):
        proposal = rule(ZH, evidence=(quote(ZH), quote(text, 1)))
        check(Refused((Said(ZH), Said(text)), proposal, code, _LONG if code else None))


_FACT = Proposal(RecordKind.FACT, ZH, (quote(ZH),), subject=EXPENSE.id)
_SHAPES: dict[str, tuple[Proposal, str]] = {
    "nothing said": (rule("……", evidence=(quote(ZH),)), _EMPTY),
    "a loop": (rule("好的" * 9, evidence=(quote(ZH),)), _EMPTY),
    "an empty cue": (rule(ZH, cues=("模板", " ")), _EMPTY),
    "an empty step": (rule(ZH, steps=("!!",)), _EMPTY),
    "an empty check": (rule(ZH, verify=("ok", "")), _EMPTY),
    "a fact of no class": (_FACT, "a fact names its class"),
    "a profile of no kind": (
        replace(_FACT, fact_class=FactClass.PROFILE), "a profile fact names its profile_kind",
    ),
    "an end before its start": (
        rule(ZH, valid_from=AT + DAY, valid_to=AT + DAY - 1), "its validity ends before it starts",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("proposal", "reason"), _SHAPES.values(), ids=_SHAPES)
def test_what_says_nothing_is_degenerate(proposal: Proposal, reason: str) -> None:
    """Whatever a model sends must say something, and be of a known shape (C4)."""
    check(Refused((Said(ZH),), proposal, RejectionCode.DEGENERATE, reason))


def test_a_validity_of_one_moment_is_one() -> None:
    """It ends when it starts: empty, and still not before."""
    proposal = replace(
        _FACT, fact_class=FactClass.PROJECT, valid_from=AT + 2 * DAY, valid_to=AT + 2 * DAY
    )
    check(Refused((Said(ZH),), proposal))


@pytest.mark.parametrize("name", ["content", "key", "value", "conditions", "steps", "failure", "verify", "cues"])  # fmt: skip
def test_a_secret_is_found_wherever_it_stands(name: str) -> None:
    """Nothing of a proposal is stored unseen (C4)."""
    given: Any = f"{ZH} {MARKED}"
    single = name in {"content", "key", "value"}
    proposal = changed(rule(ZH), name, given if single else ("好的做法", given))
    (found,) = told((Said(ZH),), proposal, marked=MARKED)
    assert (found.code, found.reason) == (
        RejectionCode.SENSITIVE, "it holds a secret or hidden reasoning",
    )  # fmt: skip


# ---- evidence ---------------------------------------------------------------------


_ABSENT = "its evidence is not in the package"
_WORDLESS = "a quote holds no word"
_EVIDENCE: dict[str, tuple[tuple[Quote, ...], RejectionCode, str]] = {
    "none": ((), RejectionCode.NO_SOURCE, "it names no evidence"),
    "an event from elsewhere": ((quote(ZH, 9),), RejectionCode.NO_SOURCE, _ABSENT),
    "one of two from elsewhere": ((quote(ZH), quote(ZH, 9)), RejectionCode.NO_SOURCE, _ABSENT),
    "signs alone": ((quote("，"),), RejectionCode.NO_SOURCE, _WORDLESS),
    "the mark of a secret": ((quote("[redacted:token]"),), RejectionCode.NO_SOURCE, _WORDLESS),
    "other words": (
        (quote("报销都用旧模板"),), RejectionCode.QUOTE_NOT_FOUND, "a quote is not in its event's text",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("evidence", "code", "reason"), _EVIDENCE.values(), ids=_EVIDENCE)
def test_evidence_must_be_found_word_for_word(
    evidence: tuple[Quote, ...], code: RejectionCode, reason: str
) -> None:
    """What can't be traced has no effect (C4)."""
    check(Refused((Said(ZH),), rule(ZH, evidence=evidence), code, reason))


def test_a_word_beside_a_mark_is_a_quote() -> None:
    """Only the mark itself is nobody's word."""
    text = f"{ZH} [redacted:token] 确实"
    check(Refused((Said(text),), rule(ZH, evidence=(quote(ZH), quote("[redacted:token] 确实")))))


@BOTH
def test_a_quote_given_twice_is_one(text: str) -> None:
    """The record's evidence names each place once, in the order it was given."""
    proposal = rule(text, evidence=(quote(text, 1), quote(text, 0), quote(text, 1)))
    (found,) = told((Said(text), Said(text)), proposal)
    assert found.record is not None
    assert found.record.evidence == (
        Span("e1", 2, 0, len(text), text),
        Span("e0", 1, 0, len(text), text),
    )


# ---- repeats ----------------------------------------------------------------------


_TWICE = "the package proposes it twice"


@BOTH
def test_a_thing_is_proposed_once(text: str) -> None:
    """The same words of the same kind, subject and scope, be the evidence another (C5)."""
    said = (Said(text), Said(text), Said(text))
    first, again = rule(text), rule(f" {text.upper()}。", evidence=(quote(text, 1),))
    other = rule(text, 1, subject=OWNER_OBJECT)
    scoped = rule(text, 2, scope=Scope(objects=(EXPENSE.id,)))
    found = told(said, first, again, other, scoped)
    assert [one.code for one in found] == [None, RejectionCode.DUPLICATE, None, None]
    assert found[1].reason == _TWICE


@BOTH
def test_two_scopes_on_one_source_are_one_record(text: str) -> None:
    """A record's id knows no scope: the second would overwrite the first."""
    found = told((Said(text),), rule(text), rule(text, scope=Scope(objects=(EXPENSE.id,))))
    assert [(one.code, one.reason) for one in found] == [
        (None, None), (RejectionCode.DUPLICATE, _TWICE),
    ]  # fmt: skip


def test_what_was_refused_was_not_proposed() -> None:
    """A refused proposal stands in nobody's way."""
    bad = rule(ZH, supersedes=("r-9",))
    found = told((Said(ZH),), bad, rule(ZH))
    assert [one.code for one in found] == [RejectionCode.SCOPE_WIDENED, None]


@pytest.mark.parametrize("text", ["报销系统周三维护", "the expense system is down on Wednesdays"])
def test_what_is_known_from_other_words_is_not_known_from_these(text: str) -> None:
    """Only the same source adds nothing; kind, subject and scope must be the same, too (C5)."""
    span = Span("e0", 1, 0, len(text), text)
    known = record(
        "r-1", text, kind=RecordKind.FACT, authority=Authority.OBSERVATION, evidence=(span,)
    )
    said = (Said(text, Role.EXECUTOR, "executor.observation"),)
    proposal = claim(RecordKind.FACT, text, fact_class=FactClass.ENVIRONMENT)
    same = "it is known from the same source"
    check(Refused(said, proposal, RejectionCode.DUPLICATE, same, (known,)))
    others: list[dict[str, Any]] = [
        {"kind": RecordKind.EPISODE},
        {"subject_id": "other"},
        {"scope": Scope(task="t")},
        {"content": f"{text} 另外 x"},
        {"evidence": (replace(span, end=3),)},
    ]
    for changes in others:
        check(Refused(said, proposal, known=(replace(known, **changes),)))


@BOTH
def test_what_a_request_has_taken_up_is_known(text: str) -> None:
    """The user's record of these very words is one source with what is read in them (C5)."""
    span = Span("e0", 1, 0, len(text), text)
    known = record("r-1", f"{text}。", evidence=(span,))
    taken = "a request of the user has taken its words up"
    check(Refused((Said(text),), rule(text), RejectionCode.DUPLICATE, taken, (known,)))
    check(Refused((Said(text),), claim(RecordKind.EPISODE, text), known=(known,)))


def test_the_thirteenth_proposal_is_told_the_bound() -> None:
    """Each beyond the twelfth has no effect, whatever it says."""
    texts = [f"第{n}条：报销用 {n} 号模板" for n in range(MAX_PROPOSALS + 2)]
    found = told([Said(text) for text in texts], *(rule(text, n) for n, text in enumerate(texts)))
    assert [one.index for one in found] == list(range(MAX_PROPOSALS + 2))
    assert [one.code for one in found] == [None] * MAX_PROPOSALS + [RejectionCode.TOO_MANY] * 2
    assert found[-1].reason == f"at most {MAX_PROPOSALS} a package"
