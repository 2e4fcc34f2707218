"""File names out of ids, character by character."""

import pytest

from pipeline.rules.naming import MAX_NAME, file_name, link

pytestmark = pytest.mark.unit

_NAMES = {
    "plain": ("expense.2024-01_a", "expense.2024-01_a"),
    "Chinese": ("报销单", "报销单"),
    "rare hanzi": ("㐀䶿一鿿", "㐀䶿一鿿"),
    "a capital": ("aBc", "a%42c"),
    "capitals of other scripts": ("été", "%C3%A9t%C3%A9"),
    "a space": ("a b", "a%20b"),
    "a percent sign": ("a%20b", "a%2520b"),
    "a slash": ("a/b", "a%2Fb"),
    "a character of four bytes": ("𠮷", "%F0%A0%AE%B7"),
    "half a surrogate pair": ("\ud800", "%ED%A0%80"),
    "a dot first": (".profile", "%2Eprofile"),
    "a dash first": ("-rf", "%2Drf"),
    "an underscore first": ("_x", "%5Fx"),
    "a parent folder": ("..", "%2E%2E"),
    "a dot last": ("报销.", "报销%2E"),
    "a dot inside": ("a.b", "a.b"),
    "a digit first": ("7x", "7x"),
    "an encoded character first": ("@owner", "%40owner"),
}


@pytest.mark.parametrize(("name", "made"), _NAMES.values(), ids=_NAMES)
def test_what_is_not_safe_everywhere_is_encoded(name: str, made: str) -> None:
    """A name reads like its id where no file system could fold it into another's (spec: quality)."""
    assert file_name(name) == made


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("con", "%63on"),
        ("con.txt", "%63on.txt"),
        ("prn", "%70rn"),
        ("aux", "%61ux"),
        ("nul.", "%6Eul%2E"),
        ("com1", "%63om1"),
        ("lpt9.报销", "%6Cpt9.报销"),
        ("index", "%69ndex"),
        ("index.md", "%69ndex.md"),
        ("export", "%65xport"),
        ("contract", "contract"),
        ("com", "com"),
        ("auxiliary", "auxiliary"),
        ("报销con", "报销con"),
    ],
)
def test_names_that_mean_something_else_are_taken_by_nobody(name: str, made: str) -> None:
    """Devices of Windows with any ending, and the names that an export keeps for itself."""
    assert file_name(name) == made


def test_the_longest_name_is_kept_whole() -> None:
    """A name of just the bound's bytes has no digest; one byte more, and it has."""
    assert file_name("a" * MAX_NAME) == "a" * MAX_NAME
    assert "~" in file_name("a" * (MAX_NAME + 1))


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a" * 130, "a" * 80),
        ("报" * 50, "报" * 26),
        ("a" + "报" * 50, "a" + "报" * 26),
        ("A" * 50, "%41" * 26),
        ("ab" + "A" * 50, "ab" + "%41" * 26),
    ],
)
def test_a_long_name_is_cut_between_characters(name: str, kept: str) -> None:
    """At most 80 bytes stay, no character and no code of one is parted, and a digest follows."""
    made = file_name(name)
    front, _, digest = made.partition("~")
    assert front == kept
    assert len(digest) == 32
    assert set(digest) <= set("0123456789abcdef")
    assert len(made.encode()) <= MAX_NAME


@pytest.mark.parametrize("name", ["报" * 60, "expense-" * 20, "\ud800" * 40])
def test_long_names_that_begin_alike_differ(name: str) -> None:
    """The digest is the whole id's, and the same in every run."""
    assert file_name(name) == file_name(name)
    assert file_name(name) != file_name(f"{name}x")


def test_a_cut_name_is_the_same_in_every_version() -> None:
    """An export over last year's finds the file that it wrote then."""
    assert file_name("报" * 50).endswith("~8691d2851eca60fbf96fb0f6f5b2d1d9")


@pytest.mark.parametrize(
    ("names", "way"),
    [
        (("报销", "r-1.md"), "%E6%8A%A5%E9%94%80/r-1.md"),
        (("a/b", "c"), "a%2Fb/c"),
        (("a b.md",), "a%20b.md"),
        (("%2Ex",), "%252Ex"),
    ],
)
def test_a_link_leads_to_the_name_as_it_is(names: tuple[str, ...], way: str) -> None:
    """Each name is encoded once more, so that a reader of Markdown finds the file on disk."""
    assert link(*names) == way
