"""Looking a sentence up in tables of phrasings."""

import pytest

from pipeline.rules.phrasing import Table, lowered, phrase_of

pytestmark = pytest.mark.unit

LIKES = Table(
    ("喜欢 爱", r"我(?:喜欢|爱)(?:吃|喝)?"),
    ("like love", r"\bi (?:like|love)\b"),
    ("don't", r"\bdon't like\b"),
    ("tea 茶", r"tea|茶"),
)


def found(text: str) -> list[str]:
    """The words that each matching row meets, in the rows' order."""
    return [match.group() for match in LIKES.matches(phrase_of(text))]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我喜欢喝茶", ["我喜欢喝", "茶"]),
        ("我喜歡喝茶", ["我喜欢喝", "茶"]),
        ("我爱吃", ["我爱吃"]),
        ("茶，我爱", ["我爱", "茶"]),
        ("I LIKE tea", ["i like", "tea"]),
        ("Tea, which I love", ["i love", "tea"]),
        ("I don’t like it", ["don't like"]),
        ("I like it, you don't like it", ["i like", "don't like"]),
        ("我喜欢 tea", ["我喜欢", "tea"]),
        ("我讨厌它", []),
        ("I hate it", []),
        ("I unlike", []),
        ("", []),
    ],
)
def test_each_row_that_matches_is_found_once_in_order(text: str, words: list[str]) -> None:
    """In either language, whatever its case, script and apostrophes."""
    assert found(text) == words
    first = LIKES.find(phrase_of(text))
    assert (first and first.group()) == (words[0] if words else None)


def test_a_row_is_tried_only_where_one_of_its_words_occurs() -> None:
    """A pattern whose words are missing from the sentence is not looked at: that is what is saved."""
    table = Table(("never 从不", r"x"), ("z", r"y"))
    assert table.find(phrase_of("x only")) is None
    assert table.find(phrase_of("never x")) is not None
    assert table.find(phrase_of("从不 x")) is not None


def test_a_word_counts_as_a_whole_and_a_stem_anywhere() -> None:
    """Latin words are compared whole, with an apostrophe also in parts; Chinese has no spaces."""
    table = Table(("art", r"a"), ("从", r"从"))
    assert table.find(phrase_of("party")) is None
    assert table.find(phrase_of("art's a mess")) is not None
    assert table.find(phrase_of("自从那时")) is not None


def test_a_row_hidden_behind_its_words_is_told() -> None:
    """A pattern that matches without any of its words would never be found: the table is wrong."""
    table = Table(("never", r"ever\b"), ("从不", r"不"), ("x", r"x"))
    assert table.hidden(phrase_of("ever, 不 x")) == [r"ever\b", "不"]
    assert table.hidden(phrase_of("never 从不 x")) == []


@pytest.mark.parametrize(
    ("text", "low"),
    [
        ("Don’t", "don't"),
        ("ÄÖ", "äö"),
        ("İx’Y", "İx'y"),
        ("ΑΒ İ", "αβ İ"),
        ("报销 ABC", "报销 abc"),
        ("it's", "it's"),
    ],
)
def test_every_position_agrees(text: str, low: str) -> None:
    """What is found in lower case is cut out of the text itself, so that no sign may become two."""
    assert lowered(text) == low
    assert len(lowered(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "han", "vocabulary"),
    [
        ("I don't KNOW", False, {"i", "don't", "don", "t", "know"}),
        ("用 BX-2026 模板", True, {"bx"}),
        ("123", False, set()),
    ],
)
def test_a_phrase_knows_its_words(text: str, han: bool, vocabulary: set[str]) -> None:  # noqa: FBT001 - a table's column
    """Letters alone make a Latin word; figures and Han characters are none."""
    phrase = phrase_of(text)
    assert (phrase.han, set(phrase.vocabulary)) == (han, vocabulary)


def test_a_phrase_keeps_its_case_beside_what_is_looked_at() -> None:
    """Simplified, with straight apostrophes only where the tables look."""
    phrase = phrase_of("請 Use X’s")
    assert (phrase.plain, phrase.low) == ("请 Use X’s", "请 use x's")
