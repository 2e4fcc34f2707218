"""Assembling hits within a budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.recall.assembling import MAX_SPANS, collapse, cost, evidence_of, excerpt, pack
from pipeline.text.budget import estimate_tokens
from storage.records.events import Event, Role
from storage.records.knowledge import Authority, Record, RecordKind, RecordStatus, Span
from storage.records.recall import Hit, Reason

pytestmark = pytest.mark.unit


def event(seq: int, text: str) -> Event:
    """A user's event."""
    return Event("local", f"ev{seq}", "user.message", 1000 + seq, Role.USER, seq, text)


def record(content: str, *spans: Span) -> Record:
    """An active fact that rests on spans."""
    return Record(
        id=f"rec-{content[:4]}",
        owner_scope="local",
        subject_id="@owner",
        kind=RecordKind.FACT,
        content=content,
        observed_at=1000,
        recorded_at=1000,
        status=RecordStatus.ACTIVE,
        authority=Authority.USER,
        evidence=spans,
    )


def span(seq: int, quote: str) -> Span:
    """A span at the start of an event's text."""
    return Span(f"ev{seq}", seq, 0, len(quote), quote)


def of_event(seq: int, text: str) -> Hit:
    """An event's hit."""
    return Hit(1.0, (Reason.KEYWORD,), event=event(seq, text))


def test_an_event_collapses_into_the_record_that_quotes_it() -> None:
    """One place for both, the better of the two."""
    homes = {"e:1": "r:a", "r:a": "r:a", "e:2": "e:2"}

    assert collapse(["e:2", "e:1", "r:a"], homes) == ["e:2", "r:a"]
    assert collapse(["e:3"], homes) == []


def test_evidence_prefers_what_the_question_met() -> None:
    """Of many spans the few told are those whose events matched, then the first ones."""
    spans = [span(n, f"话{n}") for n in range(1, 7)]
    events = {n: event(n, f"话{n}") for n in (1, 2, 3, 5, 6)}

    told = evidence_of(record("内容", *spans), events, matched={5})

    assert [s.seq for s, _ in told] == [5, 1, 2]
    assert len(told) == MAX_SPANS


def test_items_and_tokens_are_both_limits() -> None:
    """The best come first, and what is left out is told."""
    hits = [of_event(n, "报销要用新模板") for n in range(5)]
    each = cost(hits[0])

    by_items = pack(hits, items=3, tokens=1000)
    assert (len(by_items.hits), by_items.tokens, by_items.truncated) == (3, 3 * each, True)
    whole = pack(hits, items=9, tokens=1000)
    assert (whole.hits, whole.truncated) == (tuple(hits), False)


def test_a_record_is_told_whole_or_not_at_all() -> None:
    """Quotes give way before the content does; what can't fit makes room for what can."""
    quotes = [span(n, "原话" * 10) for n in (1, 2)]
    evidence = tuple((s, event(s.seq, s.quote)) for s in quotes)
    big = Hit(1.0, (Reason.KEYWORD,), record=record("很长" * 30, *quotes), evidence=evidence)
    small = Hit(0.5, (Reason.KEYWORD,), record=record("短"))

    content = estimate_tokens("很长" * 30)
    kept = pack([big], items=5, tokens=content + estimate_tokens("原话" * 10))
    assert kept.hits[0].record == big.record
    assert len(kept.hits[0].evidence) == 1
    assert kept.truncated
    assert pack([big, small], items=5, tokens=content - 1).hits == (small,)


def test_a_long_event_leaves_room_for_the_others() -> None:
    """A long text takes its share at most, cut to where the question's terms stand."""
    long = of_event(1, "unrelated words " * 400 + "the template is on the share " + "tail " * 300)
    packed = pack(
        [long, *[of_event(n, "短句") for n in range(2, 6)]], items=5, tokens=200, terms=["templat"]
    )

    assert len(packed.hits) == 5
    assert packed.truncated
    first = packed.hits[0].event
    assert first is not None
    assert "template is on the share" in first.text
    assert first.id == "ev1"


@given(
    texts=st.lists(st.text("报销模板 ab1，。😀", max_size=300), max_size=6),
    items=st.integers(1, 5),
    tokens=st.integers(1, 300),
)
def test_the_budget_is_never_exceeded(texts: list[str], items: int, tokens: int) -> None:
    """Whatever the texts, items and tokens stay within, in order."""
    hits = [of_event(n, text) for n, text in enumerate(texts)]
    packed = pack(hits, items=items, tokens=tokens, terms=["模板"])

    assert len(packed.hits) <= items
    assert packed.tokens == sum(cost(hit) for hit in packed.hits) <= tokens
    seqs = [hit.event.seq for hit in packed.hits if hit.event]
    assert seqs == sorted(seqs)


@given(text=st.text(max_size=400), tokens=st.integers(16, 100), terms=st.lists(st.text(max_size=3)))
def test_an_excerpt_is_verbatim_within_its_tokens(text: str, tokens: int, terms: list[str]) -> None:
    """Between its ellipses an excerpt is a piece of the text, and it fits."""
    piece = excerpt(text, tokens, terms)

    assert estimate_tokens(piece) <= tokens
    assert piece == text or piece.removeprefix("…").removesuffix("…") in text
