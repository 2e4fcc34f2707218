"""Two different ids never have one file name, on no file system."""

import unicodedata
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.rules.naming import MAX_NAME, file_name

pytestmark = pytest.mark.unit

_ODD = [
    "a", "A", "ä", "Ä", "a\u0308", "ß", "ss", "ẞ", "ſ", "s", "K", "k", "\u212a", "ı", "i", "İ", "ﬁ", "fi",
    "报销", "報銷", "豈", "\uf900", "㐀", "𠮷", "ガ", "カ\u3099", "한", "\u1112\u1161\u11ab", "Ａ", "a.", "a ",
    ".a", "..", ".", "-a", "_a", "~a", "%", "%25", "%2525", "%E6%8A%A5", "%41", "con", "CON", "con.md", "nul",
    "com1", "lpt9.x", "index", "INDEX", "index-2", "export.json", "exports", "a/b", "a\\b", "a:b", "a*?", "\0",
    "\n", "@owner", "x" * 120, "x" * 121, "x" * 200, "报" * 40, "报" * 41, "报" * 200, "👍" * 30, "👍" * 200,
]  # fmt: skip
_ids = st.sampled_from(_ODD) | st.text(min_size=1, max_size=200)
_few = st.text(st.sampled_from("aA.%~-_报Ää\u0308iİ/1"), min_size=1, max_size=6)
_RESERVED = {"con", "prn", "aux", "nul", *(f"{n}{d}" for n in ("com", "lpt") for d in range(10))}


def _as_any_file_system_has_it(name: str) -> set[str]:
    """The forms in which file systems may compare a name."""
    return {
        unicodedata.normalize(form, unicodedata.normalize(form, name).casefold())
        for form in ("NFC", "NFD", "NFKC", "NFKD")
    }


@settings(max_examples=500, deadline=None)
@given(one=_ids | _few, other=_ids | _few)
@example("İ", "i\u0307")
@example("x" * 121, "x" * 122)
def test_two_ids_have_two_names(one: str, other: str) -> None:
    """Neither letter case nor Unicode form, neither cutting nor escaping, brings two names together."""
    same = _as_any_file_system_has_it(file_name(one)) & _as_any_file_system_has_it(file_name(other))
    assert bool(same) == (one == other)


@settings(max_examples=500, deadline=None)
@given(name=_ids | _few)
def test_a_name_is_safe_everywhere(name: str) -> None:
    """One short component that no system refuses, hides or takes for a device or for an index."""
    made = file_name(name)
    assert 0 < len(made.encode()) <= MAX_NAME
    assert not set(made) & set('/\\:*?"<>| \0')
    assert made.isprintable()
    assert made[0] not in ".-_~"
    assert made[-1] != "."
    assert made.split(".")[0] not in _RESERVED
    assert not made.startswith(("index", "export"))


@settings(max_examples=300, deadline=None)
@given(name=_few | st.text(min_size=1, max_size=9))
def test_a_short_name_can_be_read_back(name: str) -> None:
    """A name that is not cut is its id, percent-encoded."""
    try:
        assert unquote(file_name(name), errors="surrogatepass") == name
    except UnicodeDecodeError:
        assert any("\ud800" <= char <= "\udfff" for char in name)


def test_chinese_names_stay_readable() -> None:
    """Han characters have one form and no case: they stand for themselves."""
    assert file_name("二零二六年三月报销") == "二零二六年三月报销"
    assert file_name("expense.2026-03") == "expense.2026-03"
