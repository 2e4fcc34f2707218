"""Finding a quote in the text it was taken from."""

import pytest

from pipeline.rules.locating import locate

pytestmark = pytest.mark.unit

_FOUND: dict[str, tuple[str, str, tuple[int, int] | None]] = {
    "Chinese": ("新模板", "以后都用新模板", (4, 7)),
    "English": ("new", "use the new one", (8, 11)),
    "the whole text": ("报销", "报销", (0, 2)),
    "the first of two": ("报销", "报销先报销", (0, 2)),
    "nothing": ("", "报销", None),
    "another word": ("旧模板", "以后都用新模板", None),
    "another case": ("New", "use the new one", None),
    "longer than the text": ("报销单", "报销", None),
    "composed, in a decomposed text": ("café", "the cafe\u0301 is closed", (4, 9)),
    "decomposed, in a composed text": ("cafe\u0301", "the café is closed", (4, 8)),
    "as it stands before any other form": ("e\u0301", "é e\u0301", (2, 4)),
    "a letter without its accent": ("cafe", "cafe\u0301", None),
    "a letter that stands alone later": ("e", "e\u0301 e", (3, 4)),
    "a letter with two accents": ("e\u0301", "e\u0301\u0302", None),
    "an accent alone": ("\u0301", "e\u0301", None),
    "an accent that begins a quote": ("\u0301x", "e\u0301x", None),
    "overlapping itself": ("aa", "a\u0301aaa", (2, 4)),
    "right behind a cut one": ("a", "a\u0301a\u0301a", (4, 5)),
    "full width is another sign": ("ＡＢ", "AB", None),
}


@pytest.mark.parametrize(("quote", "text", "place"), _FOUND.values(), ids=_FOUND)
def test_a_quote_is_found_to_the_code_point(
    quote: str, text: str, place: tuple[int, int] | None
) -> None:
    """In its canonical forms and no others, and never so that a combined character is cut."""
    assert locate(quote, text) == place
