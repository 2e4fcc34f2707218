"""What the user's word makes of records: pure, so that a replay comes to the same."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rules.confirming import Confirmation, confirm, corrected, proposal_of, taken_up
from pipeline.rules.relating import DISABLED
from pipeline.rules.reviewing import ReviewTimes, review_at
from pipeline.rules.settling import Settlement, settle
from pipeline.rules.sources import MAX_EVIDENCE
from storage.records.events import Event, Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    ProfileKind,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)
from tests.observer_support import AT, DAY, record

pytestmark = pytest.mark.unit

KEY = "expense.template"
TIMES = ReviewTimes()
SAID_AT = AT + 5 * DAY


def event(text: str = "对，以后报销都用新模板", at: int = SAID_AT) -> Event:
    """The user speaks, five days on."""
    return Event("local", "e9", "user.message", at, Role.USER, seq=9, text=text)


def span(of: Event) -> Span:
    """All of it."""
    return Span(of.id, of.seq, 0, len(of.text), of.text)


def confirmed(known: Record, *others: Record, at: int = SAID_AT) -> dict[str, Record]:
    """What stands after the user has confirmed a record."""
    words = event(at=at)
    found = confirm([known, *others], Confirmation.of(known, span(words), words, TIMES))
    assert found.inserts == ()
    assert all(changed.revision == 2 for changed in found.updates)
    return {item.id: item for item in (known, *others)} | {item.id: item for item in found.updates}


def new(**changes: Any) -> Record:
    """The record that is confirmed."""
    return record("r-new", "报销用新模板", **{"key": KEY, **changes})


def old(**changes: Any) -> Record:
    """What says something else in its place."""
    return record("r-old", "报销用旧模板", **{"key": KEY, **changes})


def at_odds(one: Record, other: Record) -> tuple[Record, Record]:
    """Two records that name each other as a conflict."""
    return (
        replace(one, conflicts_with=(other.id,)),
        replace(other, conflicts_with=(one.id,)),
    )


# ---- confirming --------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (RecordStatus.CANDIDATE, None),
        (RecordStatus.ARCHIVED, DISABLED),
        (RecordStatus.ARCHIVED, "retention"),
        (RecordStatus.ACTIVE, None),
    ],
)
def test_a_confirmed_record_holds_on_the_users_word(
    status: RecordStatus, reason: str | None
) -> None:
    """It is active with the user's authority, words and time, and looked at again later."""
    known = new(status=status, reason=reason, authority=Authority.INFERENCE, review_at=AT + 1)
    held = confirmed(known)["r-new"]
    assert (held.status, held.reason, held.authority) == (
        RecordStatus.ACTIVE,
        None,
        Authority.USER,
    )
    assert held.evidence == (*known.evidence, span(event()))
    assert [origin.role for origin in held.origins if origin.event_id == "e9"] == [Role.USER]
    assert held.observed_at == SAID_AT + 1
    assert held.review_at == held.observed_at + TIMES.rule * DAY
    assert (held.content, held.kind, held.scope, held.package_id) == (
        known.content,
        known.kind,
        known.scope,
        known.package_id,
    )


def test_a_promise_keeps_its_day() -> None:
    """Who confirms a promise does not move its due day."""
    due = new(kind=RecordKind.COMMITMENT, key=None, review_at=AT + DAY)
    assert confirmed(due)["r-new"].review_at == AT + DAY


@pytest.mark.parametrize("kind", [RecordKind.EPISODE, RecordKind.CUE])
def test_a_story_stays_its_tellers(kind: RecordKind) -> None:
    """A story that is brought back weighs what its weakest teller weighs (B5)."""
    told = new(kind=kind, key=None, status=RecordStatus.ARCHIVED, authority=Authority.EXTERNAL)
    held = confirmed(told)["r-new"]
    assert (held.status, held.authority) == (RecordStatus.ACTIVE, Authority.EXTERNAL)


@pytest.mark.parametrize(
    "other",
    [
        old(),
        old(status=RecordStatus.CANDIDATE),
        old(authority=Authority.OBSERVATION, day=1),
    ],
    ids=["a statement", "a candidate", "an observation"],
)
def test_what_disputes_it_yields(other: Record) -> None:
    """The user's later word supersedes the other side, linked, and the conflict is over (C5)."""
    known, rival = at_odds(new(), other)
    stands = confirmed(known, rival)
    assert stands["r-old"].status is RecordStatus.SUPERSEDED
    assert stands["r-new"].supersedes == ("r-old",)
    assert stands["r-new"].conflicts_with == stands["r-old"].conflicts_with == ()


def test_what_took_its_place_meanwhile_yields() -> None:
    """A disabled record that is brought back supersedes what holds in its slot by then."""
    stands = confirmed(new(status=RecordStatus.ARCHIVED, reason=DISABLED), old(day=1))
    assert stands["r-old"].status is RecordStatus.SUPERSEDED
    assert stands["r-new"].supersedes == ("r-old",)


def test_a_newer_word_of_the_user_is_not_overridden() -> None:
    """A late confirmation never comes back over what the user has said since (A5)."""
    known, rival = at_odds(new(), old(day=7))
    stands = confirmed(known, rival)
    assert stands["r-old"].status is RecordStatus.ACTIVE
    assert stands["r-new"].status is RecordStatus.SUPERSEDED


def test_a_newer_weaker_word_stays_in_conflict() -> None:
    """What was observed later, on less authority, neither wins nor goes (Who wins)."""
    known, rival = at_odds(new(), old(day=7, authority=Authority.OBSERVATION))
    stands = confirmed(known, rival)
    assert {stands["r-old"].status, stands["r-new"].status} == {RecordStatus.ACTIVE}
    assert stands["r-new"].conflicts_with == ("r-old",)


def test_a_newer_candidate_does_not_unseat_what_is_confirmed() -> None:
    """What the user has said since, but which does not hold yet, stays beside it as a conflict (F3)."""
    known, rival = at_odds(new(), old(day=7, status=RecordStatus.CANDIDATE))
    stands = confirmed(known, rival)
    assert stands["r-new"].status is RecordStatus.ACTIVE
    assert stands["r-old"].status is RecordStatus.CANDIDATE
    assert stands["r-new"].conflicts_with == ("r-old",)


@pytest.mark.parametrize(
    "status", [RecordStatus.SUPERSEDED, RecordStatus.EXPIRED, RecordStatus.ARCHIVED]
)
def test_a_conflict_with_what_counts_no_longer_is_over(status: RecordStatus) -> None:
    """A side that is gone or over is neither named nor superseded any more."""
    known, rival = at_odds(new(), old(day=7, status=status))
    known = replace(known, conflicts_with=("r-gone", "r-old"))
    stands = confirmed(known, rival)
    assert (stands["r-new"].status, stands["r-new"].conflicts_with) == (RecordStatus.ACTIVE, ())
    assert (stands["r-old"].status, stands["r-old"].conflicts_with) == (status, ())


@pytest.mark.parametrize(
    "apart",
    [{"scope": Scope(task="t1")}, {"key": "expense.deadline"}, {"subject_id": "other"}],
    ids=["scope", "slot", "subject"],
)
def test_a_conflict_by_words_alone_ends_and_both_stay(apart: dict[str, Any]) -> None:
    """What has no place in common is not superseded, whatever had set it against the record."""
    known, rival = at_odds(new(), old(**apart))
    stands = confirmed(known, rival)
    assert {stands["r-old"].status, stands["r-new"].status} == {RecordStatus.ACTIVE}
    assert stands["r-new"].conflicts_with == stands["r-old"].conflicts_with == ()


def test_an_exception_replaces_nothing() -> None:
    """A confirmed exception holds beside the rule (D5)."""
    stands = confirmed(new(scope=Scope(once=True)), old())
    assert {item.status for item in stands.values()} == {RecordStatus.ACTIVE}


def test_evidence_stays_within_its_bound() -> None:
    """A record that rests on very much keeps its first words and the user's."""
    many = tuple(Span(f"e{n}", n, 0, 2, "以后") for n in range(MAX_EVIDENCE))
    held = confirmed(new(evidence=many))["r-new"]
    assert len(held.evidence) == MAX_EVIDENCE
    assert {many[0], span(event())} < set(held.evidence)


def test_a_confirmation_comes_back_from_the_journal() -> None:
    """The journal keeps places and times and no text; with the event it gives the same again."""
    words = event("那好，对，以后报销都用新模板。")
    part = Span(words.id, words.seq, 3, 14, words.text[3:14])
    made = Confirmation.of(new(), part, words, TIMES)
    body = made.body()
    assert Confirmation.from_body("r-new", body, words) == made
    assert not any("报销" in str(value) for value in body.values())


_statements = st.builds(
    lambda key, day, status, authority, scope: replace(
        old(key=key, day=day), status=status, authority=authority, scope=scope
    ),
    st.sampled_from([KEY, "expense.deadline", None]),
    st.integers(-3, 9),
    st.sampled_from(list(RecordStatus)),
    st.sampled_from([Authority.USER, Authority.OBSERVATION, Authority.INFERENCE]),
    st.sampled_from([Scope(), Scope(once=True), Scope(task="t1")]),
)


@given(drawn=st.lists(_statements, max_size=5), disputes=st.sets(st.integers(0, 4)))
def test_other_records_make_no_difference(drawn: list[Record], disputes: set[int]) -> None:
    """A confirmation comes to the same whether it sees the whole subject or what concerns it."""
    others = [replace(item, id=f"r-{at}", content=f"旧{at}") for at, item in enumerate(drawn)]
    named = tuple(item.id for at, item in enumerate(others) if at in disputes)
    known = replace(new(), conflicts_with=named)
    others = [
        replace(item, conflicts_with=(known.id,)) if item.id in named else item for item in others
    ]
    words = event()
    wish = Confirmation.of(known, span(words), words, TIMES)
    near = [item for item in others if item.key == KEY or item.id in named]
    whole = _by_id(confirm([known, *others], wish))
    assert whole == _by_id(confirm([*reversed(near), known], wish))
    held = whole[known.id]
    assert held.status in {RecordStatus.ACTIVE, RecordStatus.SUPERSEDED}
    stands = {item.id: item for item in others} | whole
    for name in held.conflicts_with:
        assert known.id in stands[name].conflicts_with


def _by_id(found: Settlement) -> dict[str, Record]:
    return {item.id: item for item in found.updates}


# ---- correcting --------------------------------------------------------------


def right(known: Record, content: str = "报销用蓝色模板", text: str = "改用蓝色模板") -> Record:
    """The record that takes its place, as settling leaves it."""
    words = event(text)
    made = corrected(known, content, span(words), words)
    found = settle([made], [known])
    (kept,) = found.inserts
    return kept


def test_a_correction_takes_the_old_ones_place() -> None:
    """The same kind, slot, scope and subject, on the user's word; settling supersedes the old."""
    known = record(
        "r-old",
        "报销用旧模板",
        key=KEY,
        kind=RecordKind.FACT,
        fact_class=FactClass.PROFILE,
        profile_kind=ProfileKind.WORK_STYLE,
        authority=Authority.OBSERVATION,
        status=RecordStatus.CANDIDATE,
        scope=Scope(objects=("expense",), task="t1"),
        value="旧模板",
        steps=("填单",),
        valid_to=AT + 99 * DAY,
    )
    made = right(known)
    for field in ("subject_id", "kind", "key", "scope", "fact_class", "profile_kind", "valid_to"):
        assert getattr(made, field) == getattr(known, field)
    assert (made.status, made.authority, made.value, made.steps) == (
        RecordStatus.ACTIVE,
        Authority.USER,
        None,
        (),
    )
    assert made.supersedes == ("r-old",)
    assert made.evidence[0].quote == "改用蓝色模板"
    assert made.observed_at == SAID_AT + 1


def test_setting_a_draft_right_does_not_approve_it() -> None:
    """A corrected draft is a draft, an approved procedure stays approved (F4)."""
    draft = old(kind=RecordKind.PROCEDURE, key=None, status=RecordStatus.CANDIDATE)
    assert right(draft).status is RecordStatus.CANDIDATE
    assert right(replace(draft, status=RecordStatus.ACTIVE)).status is RecordStatus.ACTIVE


def test_what_is_over_is_followed_by_what_holds() -> None:
    """The correction of an expired record has no end that is past already, and links it."""
    over = old(status=RecordStatus.EXPIRED, valid_to=AT + DAY)
    made = right(over)
    assert (made.valid_to, made.supersedes, made.status) == (
        None,
        ("r-old",),
        RecordStatus.ACTIVE,
    )


def test_the_end_of_a_validity_is_exclusive() -> None:
    """An end that is reached when the user speaks is past, a later one stays."""
    assert right(old(status=RecordStatus.EXPIRED, valid_to=SAID_AT + 1)).valid_to is None
    assert right(old(valid_to=SAID_AT + 2)).valid_to == SAID_AT + 2


def test_a_promise_without_a_new_day_keeps_the_old_one() -> None:
    """What is due is due until another day is named; other kinds are reviewed by their kind's time."""
    promise = old(kind=RecordKind.COMMITMENT, key=None, review_at=AT + DAY)
    assert right(promise, "交蓝色的报销单", "交蓝色的").review_at == AT + DAY
    assert right(old(review_at=AT + DAY)).review_at is None


@pytest.mark.parametrize(
    ("content", "day"),
    [("周五前交报销单", "2026-03-13"), ("I'll send it by March 20", "2026-03-20")],
)
def test_a_corrected_promise_has_its_new_day(content: str, day: str) -> None:
    """The due day is read from the corrected words, told from when they were said."""
    promise = old(kind=RecordKind.COMMITMENT, key=None, review_at=AT + DAY)
    made = right(promise, content, content)
    assert made.value == day
    assert made.review_at is not None
    assert made.review_at > promise.observed_at + DAY


def test_the_same_correction_has_the_same_id() -> None:
    """Asked again it is the same record; other words, content or records make another."""
    words = event("改用蓝色模板")
    ids = {
        corrected(known, content, Span("e9", 9, start, 6, words.text[start:6]), words).id
        for known in (old(), new())
        for content in ("报销用蓝色模板", "报销用绿色模板")
        for start in (0, 2)
    }
    assert len(ids) == 8
    assert right(old()).id == right(old()).id


def test_its_proposal_says_the_same() -> None:
    """The proposal that is kept with a correction holds all that the record does."""
    made = right(old(kind=RecordKind.COMMITMENT, key=None), "周五前交", "周五前交")
    kept = proposal_of(made)
    for field in ("kind", "content", "key", "value", "scope", "review_at", "supersedes", "cues"):
        assert getattr(kept, field) == getattr(made, field)
    assert [(quote.event_id, quote.quote) for quote in kept.evidence] == [("e9", "周五前交")]
    assert review_at(made, TIMES) == made.review_at


# ---- one source --------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "where", "known", "expected"),
    [
        ("不对，截止日是20号", (0, 9), {}, True),
        ("截止日是20号", (3, 9), {}, True),
        ("截止日是20号", (8, 20), {}, True),
        ("截止日是20号", (9, 20), {}, False),
        ("截止日是20号", (0, 3), {"evidence": (Span("e9", 9, 3, 9, "截止日是20号"),)}, False),
        ("以后付款都先问我", (0, 20), {}, False),
        ("不对，截止日是20号", (0, 9), {"authority": Authority.OBSERVATION}, False),
        ("不对，截止日是20号", (0, 9), {"evidence": (Span("e8", 8, 0, 9, "不对，截止日是20号"),)}, False),
    ],
    ids=["the words", "a part", "overlapping", "behind", "before", "other words", "weaker", "other event"],
)  # fmt: skip
def test_words_that_a_request_has_taken_up_are_one_source(
    content: str, where: tuple[int, int], known: dict[str, Any], *, expected: bool
) -> None:
    """What an observer reads in the words of a request is no second statement (C5)."""
    words = "不对，截止日是20号，以后付款都先问我。"
    span = Span("e9", 9, *where, words[slice(*where)])
    made = record("r-made", "报销截止日是20号", evidence=(Span("e9", 9, 0, 9, words[:9]),))
    assert taken_up(content, [span], [old(), replace(made, **known)]) is expected
    assert taken_up(content, [span], []) is False
    assert taken_up(content, [], [made]) is False


def test_english_words_of_a_request_are_one_source_too() -> None:
    """The same holds whatever the language."""
    words = "No, the printer is on the third floor."
    here = Span("e9", 9, 0, len(words), words)
    made = record("r-made", "The printer is on the third floor.", evidence=(here,))
    assert taken_up(words, [here], [made])
    assert not taken_up("I like tea.", [here], [made])
