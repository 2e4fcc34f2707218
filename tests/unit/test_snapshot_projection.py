"""Snapshots as a pure projection: bounded, ordered, and the same for the same records."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.projections import snapshot
from pipeline.text.budget import estimate_tokens
from storage.records.events import OWNER_OBJECT
from storage.records.knowledge import (
    Authority,
    FactClass,
    ProfileKind,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
)

pytestmark = pytest.mark.unit


def record(record_id: str, kind: RecordKind = RecordKind.RULE, **more: Any) -> Record:
    """An active record of an object."""
    made: dict[str, Any] = {
        "owner_scope": "local",
        "subject_id": "expense",
        "content": f"内容 {record_id}",
        "observed_at": 1_000,
        "recorded_at": 1_000,
        "status": RecordStatus.ACTIVE,
        "authority": Authority.USER,
    }
    return Record(id=record_id, kind=kind, **made | more)


def of_object(*records: Record, limit: int = 2_000) -> snapshot.Sections:
    """An object's sections."""
    return snapshot.object_sections(records, limit=limit, tokens=estimate_tokens)


def of_owner(*records: Record, limit: int = 1_000) -> snapshot.Sections:
    """The core's sections."""
    return snapshot.core_sections(records, limit=limit, tokens=estimate_tokens)


def ids(sections: snapshot.Sections) -> dict[str, list[str]]:
    """Record ids by section."""
    return {
        section["name"]: [item["record_id"] for item in section["items"]] for section in sections
    }


def test_kinds_have_their_sections_in_the_order_of_their_claim() -> None:
    """What binds comes first, episodes last, and cues, which are no facts, never."""
    kinds = [
        RecordKind.EPISODE, RecordKind.PROCEDURE, RecordKind.FACT, RecordKind.PREFERENCE,
        RecordKind.COMMITMENT, RecordKind.RULE, RecordKind.CORRECTION, RecordKind.CUE,
    ]  # fmt: skip
    sections = of_object(*[record(f"r{n}", kind) for n, kind in enumerate(kinds)])
    assert ids(sections) == {
        "binding": ["r5", "r6"],
        "commitments": ["r4"],
        "preferences": ["r3"],
        "facts": ["r2"],
        "procedures": ["r1"],
        "episodes": ["r0"],
    }


def test_no_records_make_no_sections() -> None:
    """Empty sections are left out."""
    assert of_object() == ()
    assert of_owner() == ()


def test_the_stronger_and_the_newer_come_first() -> None:
    """Within a section authority orders, then time, then id."""
    sections = of_object(
        record("d", authority=Authority.OBSERVATION, observed_at=9_000),
        record("b", observed_at=2_000),
        record("c", observed_at=1_000),
        record("a", observed_at=2_000),
    )
    assert ids(sections)["binding"] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("content", ["报销必须先贴发票再签字", "attach the receipt first"])
def test_what_does_not_fit_is_left_out_whole_and_counted(content: str) -> None:
    """The budget takes the most important records, and says how many more there are."""
    cost = estimate_tokens(content)
    sections = of_object(
        *[record(f"r{n}", content=content, observed_at=n) for n in range(5)], limit=2 * cost
    )
    (section,) = sections
    assert [item["record_id"] for item in section["items"]] == ["r4", "r3"]
    assert section["left_out"] == 3
    assert snapshot.make("o", "x", sections, now=1, tokens=estimate_tokens).tokens == 2 * cost


def test_a_section_without_room_still_tells_its_number() -> None:
    """A reader learns that there are episodes although none of them fits."""
    sections = of_object(
        record("r1", content="字" * 20), record("e1", RecordKind.EPISODE, content="字" * 20),
        limit=estimate_tokens("字" * 20),
    )  # fmt: skip
    assert ids(sections) == {"binding": ["r1"], "episodes": []}
    assert sections[1]["left_out"] == 1


def test_a_small_record_may_use_the_room_that_a_large_one_left() -> None:
    """One record too large for the budget doesn't keep the others out."""
    sections = of_object(record("a", content="长" * 500), record("b", content="短"), limit=10)
    assert ids(sections)["binding"] == ["b"]


def test_the_core_holds_profile_general_rules_and_commitments() -> None:
    """Of all records the core takes only what is true everywhere, and what is promised."""
    owners: dict[str, Any] = {"subject_id": OWNER_OBJECT}
    profile: dict[str, Any] = {
        "fact_class": FactClass.PROFILE,
        "profile_kind": ProfileKind.IDENTITY,
    }
    sections = of_owner(
        record("general", **owners),
        record("of-object"),
        record("of-task", scope=Scope(task="t"), **owners),
        record("of-objects", scope=Scope(objects=("o",)), **owners),
        record("once", scope=Scope(once=True), **owners),
        record("name", RecordKind.FACT, **owners, **profile),
        record("fact", RecordKind.FACT, fact_class=FactClass.PROJECT, **owners),
        record("likes", RecordKind.PREFERENCE, **owners),
        record("likes-of-object", RecordKind.PREFERENCE),
        record("promise", RecordKind.COMMITMENT),
        record("episode", RecordKind.EPISODE, **owners),
    )
    assert ids(sections) == {
        "binding": ["general"],
        "profile": ["likes", "name"],
        "commitments": ["promise"],
    }


def test_an_item_says_what_its_reader_must_know() -> None:
    """Content, whose word and when always; slot, end, review, conflict and exception where set."""
    (plain,) = of_object(record("r1"))[0]["items"]
    assert plain == {
        "record_id": "r1",
        "kind": "rule",
        "content": "内容 r1",
        "authority": "user",
        "observed_at": 1_000,
    }
    (full,) = of_object(
        record("r1", key="expense.template", valid_to=9, review_at=8, conflicts_with=("r2",),
               scope=Scope(once=True))
    )[0]["items"]  # fmt: skip
    assert full == plain | {
        "key": "expense.template",
        "valid_to": 9,
        "review_at": 8,
        "conflicts_with": ["r2"],
        "once": True,
    }


RIVALS = [("我喜欢香菜", "我不喜欢香菜"), ("I like cilantro", "I don't like cilantro")]


@pytest.mark.parametrize(("one", "other"), RIVALS)
def test_both_sides_of_a_conflict_are_shown(one: str, other: str) -> None:
    """Who reads one side reads the other, though it may be no more than a candidate (C5)."""
    first = record("r1", content=one, conflicts_with=("r2", "r-gone"))
    second = record("r2", content=other, conflicts_with=("r1",), status=RecordStatus.CANDIDATE)
    sections = snapshot.object_sections(
        [first], rivals=[second], limit=2_000, tokens=estimate_tokens
    )
    (item,) = sections[0]["items"]
    assert item["conflicts"] == [
        {
            "record_id": "r2",
            "content": other,
            "status": "candidate",
            "authority": "user",
            "observed_at": 1_000,
        }
    ]
    made = snapshot.make("o", "x", sections, now=1, tokens=estimate_tokens)
    assert made.tokens == estimate_tokens(one) + estimate_tokens(other)


def test_the_other_side_counts_against_the_budget() -> None:
    """A record that fits only without what disputes it is left out: half a truth is none."""
    first = record("r1", content="字" * 10, conflicts_with=("r2",))
    second = record("r2", content="字" * 10)
    limit = estimate_tokens("字" * 10)
    sections = snapshot.object_sections(
        [first], rivals=[second], limit=limit, tokens=estimate_tokens
    )
    assert sections[0] == {"name": "binding", "items": [], "left_out": 1}


def test_commitments_stand_in_the_order_of_their_days() -> None:
    """What is overdue, and then what is due next, comes before what is new or undated (D7)."""
    sections = of_object(
        record("undated", RecordKind.COMMITMENT, observed_at=9_000),
        record("later", RecordKind.COMMITMENT, review_at=8_000, observed_at=8_000),
        record("overdue", RecordKind.COMMITMENT, review_at=10, observed_at=5),
        record("ends", RecordKind.COMMITMENT, valid_to=500),
    )
    assert ids(sections)["commitments"] == ["overdue", "ends", "later", "undated"]


def test_a_story_that_a_longer_one_tells_leaves_it_the_room() -> None:
    """Its sources are counted as left out, and a rule that was rolled up still binds."""
    sections = of_object(
        record("r1"),
        record("e1", RecordKind.EPISODE),
        record("e2", RecordKind.EPISODE, observed_at=2_000),
        record("e3", RecordKind.EPISODE, observed_at=3_000),
        record("all", RecordKind.EPISODE, links=("e1", "e2", "r1"), observed_at=2_000),
    )
    assert ids(sections) == {"binding": ["r1"], "episodes": ["e3", "all"]}
    assert sections[1]["left_out"] == 2


def marks(now: int, *records: Record) -> dict[str, set[str]]:
    """What a reader is told of each record beside its words."""
    made = snapshot.make("local", "o", of_object(*records), now=1, tokens=estimate_tokens)
    read = snapshot.marked(made, now)
    assert read.hash == made.hash
    return {
        item["record_id"]: {"recheck", "overdue"} & item.keys()
        for section in read.sections
        for item in section["items"]  # type: ignore[attr-defined]  # as the projection makes them
    }


def test_past_its_review_a_record_is_marked_when_it_is_read() -> None:
    """The same snapshot is told otherwise once a review time has come (D5)."""
    state = record("state", RecordKind.FACT, fact_class=FactClass.ENVIRONMENT, review_at=100)
    lasting = record("lasting")
    owed = record("owed", RecordKind.COMMITMENT, review_at=100)
    ends = record("ends", RecordKind.COMMITMENT, valid_to=100)
    every = (state, lasting, owed, ends)
    assert marks(99, *every) == {"state": set(), "lasting": set(), "owed": set(), "ends": set()}
    assert marks(100, *every) == {
        "state": {"recheck"},
        "lasting": set(),
        "owed": {"overdue"},
        "ends": {"overdue"},
    }


def _made(sections: snapshot.Sections, now: int = 1) -> str:
    return snapshot.make("local", "o", sections, now=now, tokens=estimate_tokens).hash


def test_the_hash_is_of_the_content_alone() -> None:
    """Another time of publishing is no other content; another word is."""
    assert _made(of_object(record("a")), now=1) == _made(of_object(record("a")), now=2)
    assert _made(of_object(record("a"))) != _made(of_object(record("a", content="别的")))


_RECORDS = st.lists(
    st.builds(
        lambda n, kind, at, authority: record(
            f"r{n}", kind, observed_at=at, authority=authority, content="字" * (n % 40 + 1)
        ),
        st.integers(0, 200),
        st.sampled_from(RecordKind),
        st.integers(0, 3),
        st.sampled_from(Authority),
    ),
    max_size=25,
    unique_by=lambda made: made.id,
)


@given(_RECORDS, st.integers(1, 400), st.randoms())
def test_the_same_records_make_the_same_snapshot(
    records: list[Record], limit: int, chance: random.Random
) -> None:
    """Whatever order records are read in, the view is one, within its budget, and counts all."""
    shuffled = list(records)
    chance.shuffle(shuffled)
    sections = of_object(*records, limit=limit)
    assert _made(sections) == _made(of_object(*shuffled, limit=limit))
    made = snapshot.make("local", "o", sections, now=1, tokens=estimate_tokens)
    assert made.tokens <= limit
    shown = sum(len(section["items"]) + section["left_out"] for section in sections)
    assert shown == sum(1 for one in records if one.kind is not RecordKind.CUE)
