"""What a forgetting takes along and what stays: each rule, in both languages."""

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.rules import forgetting
from pipeline.rules.forgetting import FILLER
from storage.records.events import Event, Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    Origin,
    Proposal,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)

pytestmark = pytest.mark.unit

DAY = 86_400_000
AT = 1_772_500_000_000


def said(name: str, text: str, role: Role = Role.USER, *, at: int = AT) -> Event:
    """An event that says something."""
    seq = int(name[1:])
    return Event("local", name, "user.message", at, role, seq=seq, text=text)


def on(*events: Event, content: str = "", **more: Any) -> Record:
    """A record that quotes the whole of some events."""
    spans = tuple(Span(e.id, e.seq, 0, len(e.text), e.text) for e in events)
    fields: dict[str, Any] = {
        "id": "r-1",
        "owner_scope": "local",
        "subject_id": "expense",
        "kind": RecordKind.RULE,
        "content": content or events[0].text,
        "observed_at": AT + 9 * DAY,
        "recorded_at": AT,
        "status": RecordStatus.ACTIVE,
        "authority": Authority.USER,
        "evidence": spans,
        "origins": tuple(Origin(e.id, e.at, e.role) for e in events),
    }
    return Record(**fields | more)


def left(record: Record, *standing: Event, told: Sequence[Record] = ()) -> Record | None:
    """The record on these events alone."""
    return forgetting.on_other_sources(record, {e.id: e for e in standing}, told)


# ---- places --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "places", "expected"),
    [
        ("以后用新模板", [(0, 2)], f"{FILLER * 2}用新模板"),
        ("use the new one", [(4, 7), (12, 15)], f"use {FILLER * 3} new {FILLER * 3}"),
        ("a𠮷👍🏽b", [(1, 4)], f"a{FILLER * 3}b"),
        ("short", [(3, 99)], f"sho{FILLER * 2}"),
        ("same", [], "same"),
    ],
)
def test_covered_words_keep_their_places(
    text: str, places: list[forgetting.Place], expected: str
) -> None:
    """As many fillers as code points: spans of others stay where they are, beyond the BMP, too."""
    found = forgetting.covered(text, places)
    assert found == expected
    assert len(found) == len(text)


def test_the_filler_is_no_word() -> None:
    """It can't be quoted, joins no words, and is written as one character in JSON."""
    assert not FILLER.isalnum()
    assert not FILLER.isspace()
    assert len(FILLER) == 1


@pytest.mark.parametrize(
    ("places", "kept", "expected"),
    [
        ([(0, 4)], [], ((0, 4),)),
        ([(0, 4)], [(0, 4)], ()),
        ([(0, 9)], [(3, 5)], ((0, 3), (5, 9))),
        ([(0, 3), (3, 6)], [], ((0, 6),)),
        ([(2, 5)], [(0, 3)], ((3, 5),)),
        ([(5, 7), (0, 2)], [(9, 12)], ((0, 2), (5, 7))),
        ([], [(0, 3)], ()),
    ],
)
def test_what_others_rest_on_is_left_out(
    places: list[forgetting.Place],
    kept: list[forgetting.Place],
    expected: tuple[forgetting.Place, ...],
) -> None:
    """Code point by code point, in order, joined where they touch."""
    assert forgetting.uncovered(places, kept) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((0, 3), (3, 5), False),
        ((0, 4), (3, 5), True),
        ((4, 6), (3, 9), True),
        ((5, 6), (3, 5), False),
    ],
)
def test_places_overlap_by_a_code_point(
    one: forgetting.Place, other: forgetting.Place, *, expected: bool
) -> None:
    """Ends are exclusive: touching is no overlap."""
    assert forgetting.overlap(one, [other]) is expected
    assert forgetting.overlap(other, [one]) is expected


# ---- what stays ----------------------------------------------------------------


@pytest.mark.parametrize("text", ["报销用蓝色模板", "Use the blue template"])
def test_a_statement_stays_on_the_source_that_said_it_too(text: str) -> None:
    """Evidence, origins, time and authority are those of what is left."""
    gone, stays = said("e1", text), said("e2", f"{text}.", at=AT + DAY)
    found = left(on(gone, stays, content=text), stays)
    assert found is not None
    assert found.content == text
    assert [span.event_id for span in found.evidence] == ["e2"]
    assert [origin.event_id for origin in found.origins] == ["e2"]
    assert found.observed_at == AT + DAY
    assert found.authority is Authority.USER
    assert found.status is RecordStatus.ACTIVE


def test_nothing_stays_on_nothing() -> None:
    """Without a source there is no record."""
    assert left(on(said("e1", "报销用蓝色模板"))) is None


@pytest.mark.parametrize("kind", [RecordKind.EPISODE, RecordKind.PROCEDURE, RecordKind.CUE])
def test_what_is_composed_goes_with_any_source(kind: RecordKind) -> None:
    """Its words come from all of them, whoever said which."""
    text = "报销用蓝色模板"
    one, two = said("e1", text), said("e2", text)
    assert left(on(one, two, kind=kind), two) is None


@pytest.mark.parametrize(
    ("content", "stays"),
    [
        ("报销用蓝色模板，周五交", "周五交"),
        ("Use the blue template and hand in on Friday", "hand in on Friday"),
        ("→ ✓", "周五交"),
    ],
)
def test_a_record_with_words_of_its_own_goes(content: str, stays: str) -> None:
    """No word may stay that only what is gone has said."""
    one, two = said("e1", content), said("e2", stays)
    assert left(on(one, two, content=content), two) is None


def test_values_lists_and_cues_are_words_too() -> None:
    """A value or a condition of what is gone takes the record along; a cue alone is left out."""
    one, two = said("e1", "报销用蓝色模板，老张批"), said("e2", "报销用蓝色模板")
    plain = on(one, two, content="报销用蓝色模板")
    for more in ({"value": "老张"}, {"conditions": ("老张批",)}, {"verify": ("老张",)}):
        assert left(on(one, two, content="报销用蓝色模板", **more), two) is None
    with_cues = on(one, two, content=plain.content, cues=("蓝色模板", "老张"), key="expense.x")
    found = left(with_cues, two)
    assert found is not None
    assert found.cues == ("蓝色模板",)
    assert found.key == "expense.x"


def test_it_goes_on_in_the_words_of_what_is_left() -> None:
    """What a standing source has said on its own replaces the words, the newest of several."""
    slot: dict[str, Any] = {"key": "expense.template", "value": "蓝"}
    gone, old, new = (
        said("e1", "听老张的用蓝的"),
        said("e2", "蓝色的模板"),
        said("e3", "模板要蓝的"),
    )
    told = [
        on(new, id="r-9", observed_at=AT + 3, cues=("蓝",), valid_to=AT + DAY, **slot),
        on(old, id="r-8", observed_at=AT + 2, **slot),
    ]
    found = left(on(gone, old, new, content=gone.text, **slot), old, new, told=told)
    assert found is not None
    assert (found.id, found.content, found.cues) == ("r-1", new.text, ("蓝",))
    assert found.valid_to == AT + DAY
    assert [span.event_id for span in found.evidence] == ["e2", "e3"]


@pytest.mark.parametrize(
    "other",
    [
        {"kind": RecordKind.PREFERENCE},
        {"subject_id": "another"},
        {"scope": Scope(task="t")},
        {"value": "红"},
        {"key": "another.slot"},
    ],
)
def test_words_of_another_statement_are_not_its_own(other: dict[str, Any]) -> None:
    """Kind, subject, scope, slot and value have to be the same."""
    slot: dict[str, Any] = {"key": "expense.template", "value": "蓝"}
    gone, stays = said("e1", "听老张的用蓝的"), said("e2", "蓝色的模板")
    told = [on(stays, **slot | other)]
    assert left(on(gone, stays, content=gone.text, **slot), stays, told=told) is None


def test_a_proposal_that_rests_on_what_goes_gives_no_words() -> None:
    """Its words may come from there."""
    gone, stays = said("e1", "听老张的用蓝的"), said("e2", "蓝色的模板")
    both = on(gone, stays, content="老张说用蓝色的模板", key="k", value="蓝")
    record = on(gone, stays, content=gone.text, key="k", value="蓝")
    assert left(record, stays, told=[both]) is None


def test_the_opposite_is_not_the_same_words() -> None:
    """A value in a slot does not make 喜欢 and 不喜欢 one statement."""
    gone, stays = said("e1", "我喜欢香菜"), said("e2", "我不喜欢香菜")
    slot: dict[str, Any] = {"key": "food", "value": "香菜"}
    record = on(gone, stays, content=gone.text, **slot)
    found = left(record, stays, told=[on(stays, **slot)])
    assert found is None or found.content == gone.text


# ---- who is left to say it -----------------------------------------------------


def test_what_needs_the_user_goes_without_his_word() -> None:
    """A rule rests on the user; that an executor has said it too does not carry it."""
    text = "报销用蓝色模板"
    user, executor = said("e1", text), said("e2", text, Role.EXECUTOR)
    record = on(user, executor)
    assert left(record, executor) is None
    assert left(record, user) is not None


def test_authority_is_of_what_is_left() -> None:
    """A fact that the user has said and a check has seen weighs what the check weighs."""
    text = "服务器在三号机房"
    user, check = said("e1", text), said("e2", text, Role.VERIFICATION)
    record = on(user, check, kind=RecordKind.FACT, fact_class=FactClass.ENVIRONMENT)
    found = left(record, check)
    assert found is not None
    assert found.authority is Authority.VERIFICATION


@pytest.mark.parametrize(
    ("role", "later", "status"),
    [
        (Role.OBSERVATION, DAY, RecordStatus.ACTIVE),
        (Role.OBSERVATION, 60_000, RecordStatus.CANDIDATE),
        (Role.USER, 60_000, RecordStatus.ACTIVE),
    ],
)
def test_what_surrounds_us_is_seen_on_two_days_again(
    role: Role, later: int, status: RecordStatus
) -> None:
    """With fewer days left it waits for another, unless the user's word is among what is left."""
    text = "构建超时 build times out"
    first = said("e1", text, Role.OBSERVATION, at=AT - 3 * DAY)
    second = said("e2", text, Role.OBSERVATION)
    third = said("e3", text, role, at=AT + later)
    record = on(first, second, third, kind=RecordKind.FACT, fact_class=FactClass.ENVIRONMENT)
    found = left(record, second, third)
    assert found is not None
    assert found.status is status


def test_other_statuses_stay_as_they_are() -> None:
    """What was superseded stays so: forgetting brings nothing back."""
    text = "报销用蓝色模板"
    one, two = said("e1", text), said("e2", text)
    for status in RecordStatus:
        found = left(on(one, two, status=status), two)
        assert found is not None
        assert found.status is status


# ---- mentions ------------------------------------------------------------------


def test_mentions_of_what_goes_are_dropped() -> None:
    """From each kind of link, and nothing else is changed."""
    links: dict[str, Any] = {
        "supersedes": ("r-2", "r-3"),
        "conflicts_with": ("r-3",),
        "links": ("r-3", "r-4"),
    }
    record = on(said("e1", "报销用蓝色模板"), **links)
    found = forgetting.released(record, {"r-3"})
    assert (found.supersedes, found.conflicts_with, found.links) == (("r-2",), (), ("r-4",))
    assert forgetting.released(record, {"r-9"}) == record


@pytest.mark.parametrize("name", ["supersedes", "conflicts_with", "links"])
def test_a_version_that_names_what_goes_is_told(name: str) -> None:
    """By any of its links."""
    links: dict[str, Any] = {name: ("r-2",)}
    record = on(said("e1", "报销用蓝色模板"), **links)
    assert forgetting.names(record, {"r-2"})
    assert not forgetting.names(record, {"r-3"})


def test_a_version_that_quotes_what_goes_is_told() -> None:
    """An event that goes whole, or words of it that are overwritten."""
    record = on(said("e1", "报销用蓝色模板"))
    assert forgetting.quotes(record, {1}, {})
    assert forgetting.quotes(record, set(), {1: [(6, 9)]})
    assert not forgetting.quotes(record, {2}, {1: [(7, 9)], 2: [(0, 3)]})


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"content": "报销用新模板。"}, {"content": "报销用新模板"}, True),
        ({"content": "Use  THE one"}, {"content": "use the one"}, True),
        (
            {"content": "a", "key": "k", "value": "v"},
            {"content": "b", "key": "k", "value": "v"},
            True,
        ),
        (
            {"content": "a", "key": "k", "value": "v"},
            {"content": "b", "key": "k", "value": "w"},
            False,
        ),
        ({"content": "a", "key": "k"}, {"content": "b", "key": "k"}, False),
        ({"content": "a", "value": "v"}, {"content": "b", "value": "v"}, False),
    ],
)
def test_the_same_words_are_told_again(
    one: dict[str, Any], other: dict[str, Any], *, expected: bool
) -> None:
    """Equal but for form, or the same value in the same slot."""
    first, second = (Proposal(RecordKind.RULE, evidence=(), **said) for said in (one, other))
    assert forgetting.same_words(first, second) is expected


def test_everything_that_a_record_says_is_listed() -> None:
    """Content, value, slot and every list; not what is empty."""
    lists: dict[str, Any] = {
        name: (f"{name} 一",) for name in ("conditions", "steps", "failure", "verify", "cues")
    }
    record = on(said("e1", "内容"), value="值", key="slot", **lists)
    assert set(forgetting.texts_of(record)) == {"内容", "值", "slot", *sum(lists.values(), ())}
    assert forgetting.texts_of(on(said("e1", "内容"))) == ("内容",)
