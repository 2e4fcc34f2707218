"""Records as Markdown and back: nothing is lost, nothing is guessed, nothing can pose as structure."""

import re
from dataclasses import fields, replace
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pipeline.projections import markdown
from pipeline.rules.sealing import is_ours, is_sealed
from pipeline.transfer.reading import ReadIndex, ReadObject, ReadRecord, read
from pipeline.transfer.refusals import Unreadable
from storage.records.knowledge import (
    Authority,
    MemoryObject,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)
from storage.records.transfer import Listed
from tests.record_strategies import IDS, OBJECTS, RECORDS, TEXTS, TIMES, VALUES

pytestmark = pytest.mark.unit

NOW: Final = 1_767_225_600_000
PLAIN: Final = Record(
    id="r-1",
    owner_scope="local",
    subject_id="报销",
    kind=RecordKind.RULE,
    content="以后报销都用新模板",
    observed_at=NOW,
    recorded_at=NOW,
    status=RecordStatus.ACTIVE,
    authority=Authority.USER,
    evidence=(Span("e1", -1, 0, 9, "以后报销都用新模板"),),
)

# ---- any record ------------------------------------------------------------


def test_every_field_of_a_record_is_in_a_document() -> None:
    """But for the package, which is a number of one database, no field can be forgotten here."""
    assert {field.name for field in fields(Record)} - VALUES.keys() == {"package_id"}


@settings(max_examples=150, deadline=None)
@given(record=RECORDS)
@example(replace(PLAIN, content="```\n````\n"))
@example(replace(PLAIN, content="digest: 0\n---\n"))
def test_any_record_comes_back_as_it_was(record: Record) -> None:
    """Every field, whatever stands in it, is the same after it was written and read."""
    text = markdown.record_text(record)
    assert read(text) == ReadRecord(record, sealed=True)
    assert is_ours(text)


@settings(max_examples=80, deadline=None)
@given(record=RECORDS)
def test_what_editors_do_to_a_file_changes_no_record(record: Record) -> None:
    """Other line ends, a byte order mark and a cut last line end are no edit."""
    text = "\ufeff" + markdown.record_text(record).replace("\n", "\r\n").removesuffix("\r\n")
    assert read(text) == ReadRecord(record, sealed=True)
    assert is_ours(text)


@settings(max_examples=80, deadline=None)
@given(record=RECORDS)
def test_nothing_invisible_and_no_structure_of_others_is_in_a_file(record: Record) -> None:
    """No control or directing character stands raw, and a reader sees one block of code at most."""
    text = markdown.record_text(record)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]", text)
    body = text[text.index("\n---\n", 4) + 5 :]
    tokens = [token.type for token in MarkdownIt("commonmark").parse(body)]
    assert tokens in (["fence"], ["paragraph_open", "inline", "paragraph_close"])


_listed = st.builds(
    Listed, IDS, st.sampled_from(RecordKind), st.sampled_from(RecordStatus), TEXTS, TIMES
)


@settings(max_examples=80, deadline=None)
@given(item=OBJECTS, listed=st.lists(_listed, max_size=4))
def test_any_object_comes_back_as_it_was(item: MemoryObject, listed: list[Listed]) -> None:
    """An object's document gives the object back, whatever its list of records says."""
    assert read(markdown.object_text(item, listed)) == ReadObject(item, sealed=True)
    assert read(markdown.more_text(item, listed)) == ReadIndex()


@settings(max_examples=150, deadline=None)
@given(listed=st.lists(_listed, min_size=1, max_size=3), item=OBJECTS)
def test_a_list_has_links_to_files_and_nothing_else(
    listed: list[Listed], item: MemoryObject
) -> None:
    """Titles and contents are words: no image, no link of theirs, no tag and no heading."""
    text = markdown.more_text(item, listed)
    body = text[text.index("\n---\n", 4) + 5 :]
    tokens = [
        part
        for token in MarkdownIt("commonmark").parse(body)
        for part in (token.children or [token])
    ]
    links = [str(token.attrGet("href")) for token in tokens if token.type == "link_open"]
    assert len(links) == len(listed)
    assert all(re.fullmatch(r"[A-Za-z0-9._~%-]+\.md", link) for link in links)
    kinds = {token.type for token in tokens}
    assert not kinds & {"image", "html_inline", "html_block", "code_inline", "fence"}
    headings = sum(token.type == "heading_open" for token in tokens)
    assert headings <= 1 + len({item.kind for item in listed}) * len(listed)


def test_a_document_reads_well() -> None:
    """A person sees the fields in words, times with their zone, and the content as it is."""
    text = markdown.record_text(replace(PLAIN, valid_to=NOW, scope=Scope(("报销",), once=True)))
    assert text.split("digest: ")[0] == (
        "---\n"
        "deskpaw-memory: record 1\n"
        'id: "r-1"\n'
        'owner: "local"\n'
        'subject: "报销"\n'
        "kind: rule\n"
        "status: active\n"
        "authority: user\n"
        "revision: 1\n"
        "object_revision: 0\n"
        "observed_at: 2026-01-01T08:00:00.000+08:00\n"
        "recorded_at: 2026-01-01T08:00:00.000+08:00\n"
        "valid_to: 2026-01-01T08:00:00.000+08:00\n"
        'scope: {objects: ["报销"], once: true}\n'
        "evidence:\n"
        '  - {event: "e1", start: 0, end: 9, quote: "以后报销都用新模板"}\n'
    )
    assert text.endswith("---\n\n```text\n以后报销都用新模板\n```\n")


# ---- edits -----------------------------------------------------------------


def edited(before: str, after: str, record: Record = PLAIN) -> Any:
    """What is read of a record's document in which somebody has replaced something."""
    text = markdown.record_text(record)
    assert before in text
    return read(text.replace(before, after))


def test_an_edit_breaks_the_seal_and_is_read() -> None:
    """A changed content is read as it stands, and the document is no longer as it was written."""
    found = edited("都用新模板\n```", "都用 new template\n```")
    assert found == ReadRecord(replace(PLAIN, content="以后报销都用 new template"), sealed=False)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-03-31", 1_774_886_400_000),
        ("2026-03-31T18:00", 1_774_951_200_000),
        ("2026-03-31T18:00:00Z", 1_774_980_000_000),
        ('"2026-03-31T18:00:00.250+08:00"', 1_774_951_200_250),
    ],
)
def test_times_are_read_as_people_write_them(written: str, meant: int) -> None:
    """A day is its beginning, and what names no zone is Beijing's time."""
    assert edited("kind: rule\n", f"kind: rule\nvalid_to: {written}\n").record.valid_to == meant


@pytest.mark.parametrize("word", ["yes", "no", "null", "2026-01-01", "1.5", "~", "0x1f", "好的"])
def test_no_word_is_taken_for_something_else(word: str) -> None:
    """What stands there without quotes is the text that stands there."""
    assert edited("kind: rule\n", f"kind: rule\nvalue: {word}\n").record.value == word


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ("kind: rule", "kind: law", "kind"),
        ("status: active", "status: 有效", "status"),
        ("authority: user", "authority: 4", "authority"),
        ("revision: 1", "revision: one", "revision"),
        ("revision: 1", "revision: 01", "revision"),
        ("revision: 1", "revision: 9223372036854775808", "revision"),
        ("revision: 1", "revision: 9007199254740993", "revision"),
        ('id: "r-1"', 'id: ""', "id"),
        ('id: "r-1"', 'id: ["r-1"]', "id"),
        ('owner: "local"', f'owner: "{"x" * 201}"', "owner"),
        ('subject: "报销"\n', "", "subject"),
        ("2026-01-01T08:00:00.000+08:00\nrec", "20260101\nrec", "observed_at"),
        ("2026-01-01T08:00:00.000+08:00\nrec", "yesterday\nrec", "observed_at"),
        ("2026-01-01T08:00:00.000+08:00\nrec", "1969-12-31\nrec", "observed_at"),
        ("2026-01-01T08:00:00.000+08:00\nrec", "9999-12-31\nrec", "observed_at"),
        ("kind: rule\n", "kind: rule\nscope: always\n", "scope"),
        ("kind: rule\n", "kind: rule\nscope: {once: maybe}\n", "scope"),
        ("kind: rule\n", "kind: rule\nscope: {everywhere: true}\n", "scope"),
        ("kind: rule\n", "kind: rule\nsteps: one\n", "steps"),
        ("kind: rule\n", "kind: rule\nsteps: [[a]]\n", "steps"),
        ("start: 0", "start: -1", "evidence"),
        (', quote: "以后报销都用新模板"', "", "evidence"),
        ("kind: rule\n", "kind: rule\norigins: [{event: e1}]\n", "origins"),
        ("kind: rule\n", "kind: rule\norigins: [{event: e1, at: 2026-01-01, role: king}]\n", "origins"),
        ("```text\n", "", "content"),
        ("```text\n", "note\n```text\n", "content"),
        ("\n```\n", "\n", "content"),
        ("record 1", "record 2", "deskpaw-memory"),
    ],
)  # fmt: skip
def test_what_can_t_be_read_is_refused_by_its_field(before: str, after: str, field: str) -> None:
    """A value that a field can't have is refused and named, never guessed."""
    with pytest.raises(Unreadable) as refused:
        edited(before, after)
    assert refused.value.field == field
    assert after.strip() not in str(refused.value) or len(after.strip()) < 3


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("kind: rule\n", "kind: rule\nkinds: rule\n", 7),
        ("kind: rule\n", "kind: rule\nkind: fact\n", 7),
        ("kind: rule\n", "kind: &a rule\n", 6),
        ("kind: rule\n", "kind: *a\n", 6),
        ("kind: rule\n", "kind: !!str rule\n", 6),
        ("kind: rule\n", "kind: [[[[rule]]]]\n", 6),
        ("kind: rule\n", "kind: 'rule\n", None),
        ("kind: rule\n", "kind: rule: rule\n", 6),
        ("kind: rule\n", "kind: rule\n... \n", None),
        ("kind: rule\n", "kind: rule\n--- \nkind: rule\n", None),
        ("kind: rule\n", "kind: rule\n\x07\n", None),
    ],
)
def test_what_is_no_plain_front_matter_is_refused(
    before: str, after: str, line: int | None
) -> None:
    """Twice, by reference, with a tag, nested or broken: refused, with the line where it stands."""
    with pytest.raises(Unreadable) as refused:
        edited(before, after)
    assert refused.value.code == "unreadable"
    assert line is None or refused.value.line == line


@pytest.mark.parametrize(
    "text",
    ["", "\n", "# 笔记\n", "---\n", "---\nid: x\n", "---\nid: x\n---\n", "---\n---\n", "[]", "---\n- a\n---\n"],
)  # fmt: skip
def test_what_is_no_document_of_ours_is_refused(text: str) -> None:
    """A note that somebody has put beside the documents is none of them."""
    with pytest.raises(Unreadable) as refused:
        read(text)
    assert refused.value.code in {"not_a_record", "unreadable"}
    assert not is_sealed(text)


@settings(max_examples=150, deadline=None)
@given(
    junk=st.text(
        st.sampled_from("---\n:[]{}&*!|>%@`'\"#, \t\\aé报0")
        | st.characters(exclude_categories=["Cs"]),
        max_size=60,
    )
)
def test_no_front_matter_does_more_than_be_refused(junk: str) -> None:
    """Whatever stands between the lines, it is read or refused."""
    for text in (f"---\n{junk}\n---\n", f"---\ndeskpaw-memory: record 1\n{junk}\n---\n", junk):
        with pytest.raises(Unreadable):
            read(text)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_refused_at_once(opening: str) -> None:
    """A hundred thousand brackets cost no more than the first four."""
    with pytest.raises(Unreadable):
        read(f"---\nid: {opening * 100_000}\n---\n")
