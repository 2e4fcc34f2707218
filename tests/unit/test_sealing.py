"""Seals: which changes of a document break one, and which an editor makes by itself."""

from collections.abc import Callable

import pytest

from pipeline.rules.sealing import MARK, is_ours, is_sealed, plain, sealed

pytestmark = pytest.mark.unit

FIELDS = "deskpaw-memory: record 1\nid: r-1\n"
BODY = "\n以后用新模板\n\nuse the new template\n"


def test_a_seal_is_the_last_field() -> None:
    """Front matter, the seal, the body: as a reader and a parser of front matter expect it."""
    made = sealed(FIELDS, BODY)
    head, digest, rest = made.partition("digest: ")
    assert head == f"---\n{FIELDS}"
    assert digest
    assert rest[32:] == f"\n---\n{BODY}"
    assert set(rest[:32]) <= set("0123456789abcdef")


def test_a_seal_is_the_same_in_every_version() -> None:
    """An export of last year is still found to be as it was written."""
    assert "digest: 05685656613589146db1bbfa541c8f5c" in sealed(FIELDS, BODY)


@pytest.mark.parametrize("body", [BODY, "", "\n", "\ud800\n", "---\n", "digest: x\n---\n"])
def test_a_document_as_it_was_written_is_sealed(body: str) -> None:
    """Whatever its body is, be it nothing or front matter itself."""
    assert is_sealed(sealed(FIELDS, body))


_EDITORS: dict[str, Callable[[str], str]] = {
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: f"\ufeff{text}",
    "no last line end": lambda text: text.rstrip("\n"),
    "more line ends": lambda text: f"{text}\n\n",
}


@pytest.mark.parametrize("edit", _EDITORS.values(), ids=_EDITORS)
def test_what_editors_do_by_themselves_breaks_no_seal(edit: Callable[[str], str]) -> None:
    """Who only opened and saved a document has changed nothing of it."""
    assert is_sealed(edit(sealed(FIELDS, BODY)))


_CHANGES: dict[str, Callable[[str], str]] = {
    "a word more": lambda text: f"{text}x\n",
    "a word other": lambda text: text.replace("新", "旧"),
    "a field other": lambda text: text.replace("r-1", "r-2"),
    "a space": lambda text: text.replace("use ", "use  "),
    "the seal itself": lambda text: text.replace("digest: ", "digest: 0")[:-1],
    "no seal": lambda text: text.replace("digest: ", "digest "),
    "a line before": lambda text: f"x\n{text}",
    "two marks": lambda text: f"\ufeff\ufeff{text}",
}


@pytest.mark.parametrize("edit", _CHANGES.values(), ids=_CHANGES)
def test_any_other_change_breaks_a_seal(edit: Callable[[str], str]) -> None:
    """An import must ask before it takes over what somebody has edited."""
    assert not is_sealed(edit(sealed(FIELDS, BODY)))


def test_the_document_s_own_seal_counts() -> None:
    """A body that holds another document's seal is told by the one in front of it."""
    inner = sealed("a: 1\n", "好\n")
    made = sealed(FIELDS, inner)
    assert is_sealed(made)
    assert not is_sealed(made.replace("好", "坏"))


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        (sealed(FIELDS, BODY), True),
        (f"\ufeff---\r\n{MARK}: record 1\r\n", True),
        (f"---\n{MARK}:", True),
        (f"---\n{MARK} record", False),
        (f"---\nid: r-1\n{MARK}: record 1\n", False),
        (f"# {MARK}: 报销\n", False),
        ("", False),
    ],
)
def test_a_document_is_ours_by_its_first_field(text: str, ours: bool) -> None:  # noqa: FBT001 - a table's column
    """Also an edited one, by any editor: a folder may hold what somebody else has put there."""
    assert is_ours(text) is ours


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("甲\r\n乙\r\n", "甲\n乙\n"),
        ("\ufeffa", "a\n"),
        ("a\n\n\n", "a\n"),
        ("", "\n"),
        ("\n\nfirst", "\n\nfirst\n"),
        ("a\rb", "a\rb\n"),
        ("甲 \nX \t", "甲 \nX \t\n"),
        ("endX\n", "endX\n"),
    ],
)
def test_a_text_is_compared_as_it_is_written_here(text: str, written: str) -> None:
    """Line ends, the first mark and the end are an editor's; nothing else is."""
    assert plain(text) == written
