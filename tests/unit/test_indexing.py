"""What of an event or a record goes into the index, and under which field it is found."""

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.rules.indexing import (
    NEARBY,
    NEIGHBOURS,
    SHORT_TURN,
    EventIndexer,
    Turns,
    event_document,
    record_document,
    record_entry,
)
from pipeline.text.budget import estimate_tokens
from pipeline.text.calendar_terms import day_of, day_terms
from pipeline.text.tokenise import BilingualTokenizer, Terms
from storage.records.events import Event, ObjectRef, Role
from storage.records.recall import IndexEntry
from tests.observer_support import AT, record

pytestmark = pytest.mark.unit


def day_words(at: int) -> list[str]:
    """The terms of a time's day."""
    day = day_of(at)
    assert day is not None
    return day_terms(day)


DAY_TERMS = day_words(AT)


class Spaces:
    """A tokenizer that cuts at spaces, so that a test sees which text went where.

    Words that begin with `#` are ids. `cuts` are the texts that it was given.
    """

    version = 0

    def __init__(self) -> None:
        self.cuts: list[str] = []

    def index(self, text: str, *, at_ms: int | None = None) -> Terms:
        """The words, then the day's terms."""
        self.cuts.append(text)
        day = day_of(at_ms)
        words = text.split()
        return Terms(
            (*words, *(day_terms(day) if day else ())),
            tuple(word for word in words if word.startswith("#")),
        )

    def query(self, text: str, *, now_ms: int | None = None) -> Terms:
        """As the index has it."""
        return self.index(text, at_ms=now_ms)

    def warm(self) -> None:
        """There is nothing to load."""


def turn(seq: int, text: str = "", **more: Any) -> Event:
    """A message of the stream `s`."""
    made: dict[str, Any] = {"owner": "local", "id": f"e{seq}", "kind": "user.message", "at": AT}
    return Event(role=Role.USER, seq=seq, text=text, **(made | {"stream": "s"} | more))


def entry(event: Event, before: Sequence[Event] = ()) -> IndexEntry:
    """The entry of an event behind others."""
    return EventIndexer(Spaces()).entry(event, before)


# ---- events --------------------------------------------------------------------


@pytest.mark.parametrize("text", ["报销单 已提交", "the claim is submitted"])
def test_an_event_is_found_by_its_words_and_its_day(text: str) -> None:
    """Its document, owner and time are its own; a field without a term is left out."""
    assert entry(turn(7, text)) == IndexEntry(
        0, "local", "e:7", AT, {"words": " ".join((text, *DAY_TERMS))}
    )


def test_an_event_is_found_by_who_speaks_and_what_it_is_about() -> None:
    """Speaker, titles and reference are words of it, and an object without a title goes by its id."""
    named = turn(
        1,
        "好",
        speaker="王经理 #w",
        ref="mail #7",
        objects=(ObjectRef("expense", None, "报销"), ObjectRef("#o2")),
    )
    found = entry(named).fields
    assert found["words"] == " ".join(("好", *DAY_TERMS, "王经理 #w 报销 #o2 mail #7"))
    assert found["ids"] == "#w #o2 #7"


def test_names_are_no_part_of_one_another() -> None:
    """Each stands in a line of its own, so that no term is made of two of them."""
    tokenizer = Spaces()
    EventIndexer(tokenizer).entry(turn(1, "x", speaker="甲", ref="乙"), ())
    assert tokenizer.cuts == ["x", "甲\n乙"]


def test_an_id_is_listed_once() -> None:
    """Text and names may give the same identifier; in `ids` how often tells nothing."""
    found = entry(turn(1, "#b #a #b", ref="#a #c")).fields
    assert found["ids"] == "#b #a #c"


# ---- turns before --------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "answer"), [("报销 截止 几号", "20号"), ("which day", "Monday")]
)
def test_a_short_turn_is_found_by_what_was_asked_before_it(before: str, answer: str) -> None:
    """An answer seldom repeats the question's words; the day it has of its own (C6)."""
    found = entry(turn(2, answer), [turn(1, before)]).fields
    assert found["context"] == before
    assert found["words"] == " ".join((answer, *DAY_TERMS))


def test_all_turns_before_count_in_their_order() -> None:
    """The words of both stand there, the older turn's first."""
    found = entry(turn(3, "c"), [turn(1, "甲 a"), turn(2, "乙 b")]).fields
    assert found["context"] == "甲 a 乙 b"


def test_the_first_turn_has_nothing_before_it() -> None:
    """No field without a term is stored."""
    assert "context" not in entry(turn(1, "a")).fields


def test_a_turn_without_words_lends_none() -> None:
    """A turn before that says nothing leaves no empty field behind."""
    assert "context" not in entry(turn(2, "a"), [turn(1, "")]).fields


def _sized(tokens: int) -> str:
    text = "报"
    while estimate_tokens(f"{text}销") <= tokens:
        text += "销"
    return text


SHORT, LONG = _sized(SHORT_TURN), f"{_sized(SHORT_TURN)}销"


def test_the_longest_short_turn_has_the_bound_s_tokens() -> None:
    """The bound itself still counts as short, for the turn and for those before it."""
    assert estimate_tokens(SHORT) == SHORT_TURN
    found = entry(turn(2, SHORT), [turn(1, SHORT)]).fields
    assert found["context"] == SHORT


def test_a_long_turn_borrows_and_lends_nothing() -> None:
    """It says enough itself, and would drown what stands beside it (docs/benchmarks.md)."""
    assert "context" not in entry(turn(2, LONG), [turn(1, "a")]).fields
    found = entry(turn(3, "c"), [turn(1, LONG), turn(2, "b")]).fields
    assert found["context"] == "b"


def test_a_time_outside_of_any_calendar_takes_no_day() -> None:
    """A turn's words stand as they are where its day can't be told."""
    far = 10**17
    found = entry(turn(2, "b", at=far), [turn(1, "a", at=far)]).fields
    assert (found["words"], found["context"]) == ("b", "a")


def test_a_text_is_cut_once() -> None:
    """Cutting costs more than all else here: a turn's neighbours use what was cut for itself."""
    tokenizer = Spaces()
    indexer = EventIndexer(tokenizer)
    first, second, third = turn(1, "一"), turn(2, "two"), turn(3, "三")
    indexer.entry(first, ())
    indexer.entry(second, [first])
    indexer.entry(third, [first, second])
    assert tokenizer.cuts == ["一", "two", "三"]


def test_a_repeat_is_found_by_its_ids_alone() -> None:
    """A thousand repeats of an error would fill every answer about it, but one id finds its own."""
    repeat = turn(4, "上传失败 #x #x failed", speaker="#x #y")
    assert EventIndexer(Spaces()).repeat(repeat) == IndexEntry(
        0, "local", event_document(4), AT, {"ids": "#x #y"}
    )


def test_the_tokenizer_of_the_service_serves_as_well() -> None:
    """With the real one a Chinese and an English word of a mixed text are both found."""
    found = EventIndexer(BilingualTokenizer()).entry(turn(1, "明天提交 expenses 报销单"), ()).fields
    assert {"报销", "expens"} <= set(found["words"].split())


# ---- which turns are neighbours -------------------------------------------------


def seqs(events: Sequence[Event]) -> list[int]:
    """The sequence numbers of events."""
    return [event.seq for event in events]


def test_a_turn_s_neighbours_are_the_newest_before_it() -> None:
    """At most two of the same stream, whichever streams come between them."""
    turns = Turns()
    found = [seqs(turns.before(turn(seq))) for seq in range(1, 5)]
    assert found == [[], [1], [1, 2], [2, 3]]
    assert seqs(turns.before(turn(5, stream="t"))) == []
    assert seqs(turns.before(turn(6))) == [3, 4]
    assert NEIGHBOURS == 2


def test_an_event_without_a_stream_has_no_neighbours() -> None:
    """It is no turn of any conversation, and nobody's neighbour."""
    turns = Turns()
    turns.before(turn(1))
    assert seqs(turns.before(turn(2, stream=None))) == []
    assert seqs(turns.before(turn(3))) == [1]


def test_a_distant_turn_is_no_neighbour() -> None:
    """A conversation taken up again after long begins anew; it stays the next one's."""
    turns = Turns()
    turns.before(turn(1))
    assert seqs(turns.before(turn(NEARBY))) == [1]
    assert seqs(turns.before(turn(NEARBY + 1))) == [NEARBY]
    assert seqs(turns.before(turn(2 * NEARBY))) == [NEARBY + 1]


def test_what_was_said_before_this_run_is_asked_for_once_a_stream() -> None:
    """The store gives the newest turns at a stream's first event; later ones come by themselves."""
    asked: list[int] = []

    def load(event: Event) -> Sequence[Event]:
        asked.append(event.seq)
        return [turn(event.seq - 2, stream=event.stream), turn(event.seq - 1, stream=event.stream)]

    turns = Turns(load)
    assert seqs(turns.before(turn(10))) == [8, 9]
    assert seqs(turns.before(turn(11))) == [9, 10]
    assert seqs(turns.before(turn(20, stream="t"))) == [18, 19]
    assert asked == [10, 20]


# ---- records -------------------------------------------------------------------


def test_a_record_is_found_by_all_it_says() -> None:
    """Its cues are a field of their own: they are questions, and weigh otherwise."""
    made = record(
        "r-1",
        "报销 #a #b",
        value="模板 v",
        conditions=("条件 one",),
        steps=("步骤 two",),
        failure=("失败 three",),
        verify=("检查 four",),
        cues=("怎么 报销", "how #c"),
    )
    assert record_entry(made, Spaces()) == IndexEntry(
        0,
        "local",
        record_document("r-1"),
        AT,
        {
            "words": " ".join(
                ("报销 #a #b 模板 v expense 条件 one 步骤 two 失败 three 检查 four", *DAY_TERMS)
            ),
            "ids": "#a #b",
            "cues": "怎么 报销 how #c",
        },
    )


def test_a_record_s_parts_are_no_part_of_one_another() -> None:
    """Each text stands in a line of its own, and so does each cue."""
    tokenizer = Spaces()
    record_entry(record("r-1", "甲", value="乙", cues=("c", "d")), tokenizer)
    assert tokenizer.cuts == ["甲\n乙\nexpense", "c\nd"]


def test_a_record_without_cues_has_no_such_field() -> None:
    """Nor any word for a value that it lacks; its day is when it was observed, not recorded."""
    made = record("r-1", "用新模板", day=1)
    assert record_entry(made, Spaces()).fields == {
        "words": " ".join(("用新模板", "expense", *day_words(made.observed_at)))
    }
    assert record_entry(made, Spaces()).at == made.observed_at


def test_documents_are_named_by_what_they_hold() -> None:
    """An event's and a record's names never meet, whatever a record's id is."""
    assert (event_document(12), record_document("r-12")) == ("e:12", "r:r-12")
