"""What is searched for once something is forgotten, and the search."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text import needles
from pipeline.text.needles import Finder, pieces

pytestmark = pytest.mark.unit

_texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=300
) | st.text('报销用新模板 the blue\n"\\', max_size=300)


@pytest.mark.parametrize(
    "text",
    [
        "以后报销都用新模板，周五之前交",
        "Remember: I prefer report 7 as a short table",
        "混合 mixed 文字 with 字母 and 数字 12345",
        "𠮷野家👍🏽真好吃" * 3,
    ],
)
def test_every_stretch_of_a_text_holds_a_piece(text: str) -> None:
    """However it was cut off at both ends: twice a piece's length always holds a whole one."""
    wanted = pieces(text)
    encoded = text.encode()
    size = 2 * needles.PIECE
    finder = Finder(wanted)
    for start in range(max(1, len(encoded) - size)):
        assert finder.found(encoded[start : start + size])


@given(_texts)
def test_a_piece_is_the_same_in_json(text: str) -> None:
    """No piece holds what JSON writes otherwise; each stands in the text as it is."""
    written = json.dumps(text, ensure_ascii=False).encode()
    for piece in pieces(text):
        assert piece in text.encode()
        assert piece in written
        assert needles.LEAST <= len(piece) <= needles.PIECE


@given(_texts)
def test_no_character_is_cut(text: str) -> None:
    """Each piece is UTF-8 by itself."""
    for piece in pieces(text):
        assert piece.decode() in text


@pytest.mark.parametrize("text", ["", "好", "ok", "12345", "……！！", "·" * 40, '"\\"\n\t'])
def test_what_would_stand_anywhere_is_not_searched_for(text: str) -> None:
    """Too short, or no word at all."""
    assert pieces(text) == []


def test_a_short_text_is_a_piece_itself() -> None:
    """A name is looked for, though it is short; beside longer pieces short ones only make noise."""
    assert pieces("张伟") == ["张伟".encode()]
    assert [piece.decode() for piece in pieces('"周五" 以后报销都用新模板')] == [
        "以后报销都用新模",
        "后报销都用新模板",
    ]


def test_a_very_long_text_gives_pieces_from_all_over() -> None:
    """A sample, from the start to the end."""
    text = " ".join(f"word{n}" for n in range(6_000))
    found = pieces(text)
    assert len(found) <= needles.MOST_OF_ONE
    places = [text.encode().index(piece) for piece in found]
    assert places[0] == 0
    assert max(b - a for a, b in itertools.pairwise(places)) < 10 * needles.PIECE
    assert places[-1] > len(text) - 10 * needles.PIECE


def test_a_finder_tells_which_and_where() -> None:
    """Each piece by its place in the list, overlapping ones too."""
    finder = Finder([b"abab", b"bab", b"zz"])
    assert sorted(finder.places(b"xababab")) == [(0, 1), (0, 3), (1, 2), (1, 4)]
    assert finder.found(b"xbab") == {1}
    assert finder.found(b"") == frozenset()


def test_nothing_finds_nothing() -> None:
    """Without pieces no content holds any."""
    assert Finder([]).found(b"anything") == frozenset()
