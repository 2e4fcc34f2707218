"""Who bears a record out: counted by origin, not by how often a thing is told."""

from typing import Any

import pytest

from pipeline.rules.sources import (
    borne_out_twice,
    independent,
    joined,
    origin_of,
    witnesses,
)
from storage.records.events import Event, Role
from storage.records.knowledge import Authority, Origin, Record, Span
from tests.observer_support import AT, DAY, record

pytestmark = pytest.mark.unit


def happened(event_id: str, **more: Any) -> Event:
    """An executor's event."""
    return Event("local", event_id, "executor.observation", AT, more.pop("role", Role.EXECUTOR),
                 **more)  # fmt: skip


def chain(event: Event, *before: Event) -> tuple[str, ...]:
    """The chain of an event among others."""
    return origin_of(event, {known.id: known for known in before}, {}).chain


def resting(*origins: Origin, record_id: str = "r-1") -> Record:
    """A record on one span of each of these events."""
    spans = tuple(
        Span(origin.event_id, number + 1, 0, 2, "打印") for number, origin in enumerate(origins)
    )
    return record(record_id, "打印机在三楼", evidence=spans, origins=origins)


def seen(event_id: str, *, day: int = 0, role: Role = Role.OBSERVATION, **more: Any) -> Origin:
    """An origin on a day."""
    return Origin(event_id, AT + day * DAY, role, **more)


# ---- where an event comes from ----------------------------------------------


def test_an_event_that_nothing_led_to_is_its_own_origin() -> None:
    """No request and no cause: there is no chain to keep."""
    assert chain(happened("e1")) == ()


def test_a_chain_leads_to_its_first_event_and_its_requests() -> None:
    """A call, its receipt and what follows share the request and the message that led to them."""
    asked = happened("e1", role=Role.USER)
    call = happened("e2", causes=("e1",), request_id="q1")
    receipt = happened("e3", request_id="q1")
    follow = happened("e4", causes=("e2",))
    assert chain(call, asked) == ("e:e1", "q:q1")
    assert chain(receipt) == ("e:e3", "q:q1")
    assert chain(follow, asked, call) == ("e:e1", "q:q1")


def test_a_cause_that_nobody_knows_is_where_the_chain_begins() -> None:
    """Two events that name the same unknown cause are still one source."""
    assert chain(happened("e1", causes=("gone",))) == ("e:gone",)


def test_causes_in_a_circle_and_long_ones_come_to_an_end() -> None:
    """A caller can't make the walk endless."""
    one, two = happened("e1", causes=("e2",)), happened("e2", causes=("e1",))
    assert chain(one, two) == ()
    long = [happened(f"e{n}", causes=(f"e{n + 1}",)) for n in range(3 * 64)]
    (last,) = chain(long[0], *long)
    assert last == f"e:e{64}"


def test_who_has_seen_a_roll_up_has_seen_what_it_tells() -> None:
    """A speaker with a story in view had its sources in view, too."""
    event = happened("e1", recalled=("r-story",))
    assert origin_of(event, {}, {"r-story": ("r-1", "r-2")}).recalled == ("r-story", "r-1", "r-2")


# ---- what is independent ----------------------------------------------------

STANDING = resting(seen("e1", chain=("e:e0", "q:q1")))


@pytest.mark.parametrize(
    ("origin", "counts"),
    [
        (seen("e2"), True),
        (seen("e2", role=Role.USER), True),
        (seen("e2", role=Role.VERIFICATION), True),
        (seen("e1"), False),
        (seen("e2", chain=("q:q1",)), False),
        (seen("e2", chain=("e:e0",)), False),
        (seen("e2", chain=("e:e1",)), False),
        (seen("e0"), False),
        (seen("e2", role=Role.SUPERVISOR), False),
        (seen("e2", role=Role.EXTERNAL), False),
        (seen("e2", recalled=("r-1",)), False),
        (seen("e2", recalled=("r-other",)), True),
    ],
    ids=["another", "user", "check", "same event", "same request", "same cause", "its effect",
         "its cause", "restated", "page", "in view", "other in view"],
)  # fmt: skip
def test_only_what_comes_from_elsewhere_bears_out(origin: Origin, counts: bool) -> None:  # noqa: FBT001 - a table's column
    """Not the same event, request or cause, no restatement, no page, nothing told in view (C5)."""
    new = resting(origin, record_id="r-2")
    assert independent(new, STANDING) == ((origin,) if counts else ())


def test_evidence_without_an_origin_is_a_source_of_its_own() -> None:
    """What was imported or written before says of its event no more than its id."""
    bare = record("r-2", "打印机在三楼", origins=())
    assert [origin.event_id for origin in independent(bare, STANDING)] == ["e-r-2"]
    assert independent(bare, bare) == ()
    page = record("r-2", "打印机在三楼", authority=Authority.EXTERNAL)
    assert independent(page, STANDING) == ()


def test_what_one_chain_joins_is_one_source() -> None:
    """An event that belongs to two chains makes one of them."""
    apart = resting(seen("e1", chain=("q:a",)), seen("e2", chain=("q:b",)))
    assert len(witnesses(apart)) == 2
    joint = resting(*apart.origins, seen("e3", chain=("q:a", "q:b")))
    assert [[origin.event_id for origin in group] for group in witnesses(joint)] == [
        ["e1", "e2", "e3"]
    ]


@pytest.mark.parametrize(
    ("origins", "twice"),
    [
        ([seen("e1"), seen("e2", day=1)], True),
        ([seen("e1"), seen("e2")], False),
        ([seen("e1", chain=("q:a",)), seen("e2", day=1, chain=("q:a",))], False),
        ([seen("e1"), seen("e2", day=1, role=Role.SUPERVISOR)], False),
        ([seen("e1"), seen("e2", day=1, role=Role.EXTERNAL)], False),
        ([seen("e1"), seen("e2", day=1, recalled=("r-1",))], False),
        (
            [seen("e1", chain=("q:a",)), seen("e2", day=1, chain=("q:a",)), seen("e3", day=1)],
            True,
        ),
        ([seen("e2", day=1), seen("e1"), seen("e3", chain=("e:e1",), day=1)], True),
    ],
    ids=["two days", "one day", "one request", "restated", "page", "in view", "a second source",
         "any order"],
)  # fmt: skip
def test_two_workdays_of_two_sources(origins: list[Origin], twice: bool) -> None:  # noqa: FBT001 - a table's column
    """A fact about the surroundings needs two sources on two workdays (mission F3)."""
    assert borne_out_twice(resting(*origins)) is twice


def test_a_workday_ends_at_half_past_three() -> None:
    """Two looks on either side of 03:30 Beijing time are two days' looks, of midnight one's (F2)."""
    half_past_three = 1_772_566_200_000
    before, after = (Origin(f"e{n}", half_past_three - n, Role.OBSERVATION) for n in (1, 0))
    assert borne_out_twice(resting(before, after))
    midnight = half_past_three - 3 * 3_600_000 - 1_800_000
    before, after = (Origin(f"e{n}", midnight - n, Role.OBSERVATION) for n in (1, 0))
    assert not borne_out_twice(resting(before, after))


# ---- what is kept -----------------------------------------------------------


def test_joined_evidence_stands_in_sequence() -> None:
    """Whatever comes first, the record is the same: as it is read back from the store."""
    one = record("r-1", "x", evidence=(Span("e9", 9, 0, 1, "x"),))
    two = record("r-2", "x", evidence=(Span("e3", 3, 4, 5, "x"), Span("e3", 3, 0, 1, "x")))
    made = joined(one, two)
    assert [(span.seq, span.start) for span in made.evidence] == [(3, 0), (3, 4), (9, 0)]
    assert [origin.event_id for origin in made.origins] == ["e3", "e9"]
    assert made.id == "r-1"


def test_evidence_is_bounded_to_the_first_and_the_newest() -> None:
    """What was said a thousand times rests on the first time and the newest ones."""
    standing = resting(*[seen(f"e{n}", day=n) for n in range(32)])
    newer = Span("e99", 99, 0, 2, "打印")
    made = joined(
        standing, record("r-2", "打印机在三楼", evidence=(newer,), origins=(seen("e99"),))
    )
    kept = [span.event_id for span in made.evidence]
    assert len(kept) == 32
    assert kept[0] == "e0"
    assert "e1" not in kept
    assert kept[-1] == "e99"
    assert {origin.event_id for origin in made.origins} == set(kept)


def test_echoes_make_room_first() -> None:
    """A restatement never crowds out what a record rests on."""
    own = [seen(f"e{n}", day=n) for n in range(32 - 1)]
    standing = resting(*own, seen("echo", day=40, role=Role.SUPERVISOR))
    newer = Span("e99", 99, 0, 2, "打印")
    made = joined(
        standing, record("r-2", "打印机在三楼", evidence=(newer,), origins=(seen("e99"),))
    )
    kept = {span.event_id for span in made.evidence}
    assert kept == {origin.event_id for origin in own} | {"e99"}
