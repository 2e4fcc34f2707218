"""The lexical index against a plain model, and against every kind of damage to its folder."""

import json
import shutil
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.records.recall import IndexEntry
from storage.search_index import DamagedIndexError, IndexQuery, IndexWriteError, SearchIndex

pytestmark = pytest.mark.integration

VERSION = 7


def entry(seq: int, document: str, words: str, **more: str) -> IndexEntry:
    """An entry of the owner `local`."""
    return IndexEntry(seq, "local", document, seq, {"words": words, **more})


def gone(seq: int, document: str) -> IndexEntry:
    """An entry that takes a document of `local` out."""
    return IndexEntry(seq, "local", document, seq, gone=True)


def reopened(folder: Path) -> SearchIndex:
    """The index of a folder, opened."""
    return SearchIndex.open(folder, tokenizer_version=VERSION)


def found(index: SearchIndex, *words: str, owner: str = "local") -> list[str]:
    """The documents that hold any of the words."""
    return [hit.document for hit in index.search(owner, IndexQuery({"words": words}), 100)]


def filled(folder: Path) -> SearchIndex:
    """An index of two commits, one document of the first replaced and one taken out."""
    index = reopened(folder)
    index.apply([entry(n, f"e:{n}", f"报销 invoice n{n}") for n in range(1, 9)])
    index.apply([entry(9, "e:3", "模板 template"), gone(10, "e:4")])
    return index


def segment_files(folder: Path) -> list[Path]:
    """The files of the only generation's segments."""
    return sorted(p for p in folder.glob("*/*") if p.suffix not in {".json", ".lock"})


def test_finds_chinese_and_english_terms_best_first(tmp_path: Path) -> None:
    """More of the question's terms in a document rank it higher, in both languages."""
    index = reopened(tmp_path)
    index.apply([entry(1, "e:1", "报销 invoice"), entry(2, "r:b", "报销"), entry(3, "e:3", "天气")])

    assert found(index, "报销", "invoice") == ["e:1", "r:b"]
    assert found(index, "absent", "没有") == []


def test_the_newest_entry_of_a_document_holds(tmp_path: Path) -> None:
    """A replaced document is found by its new terms alone, a gone one not at all."""
    index = filled(tmp_path)

    assert found(index, "n3") == []
    assert found(index, "template") == ["e:3"]
    assert "e:4" not in found(index, "报销")
    assert index.documents == 7
    assert index.position == 10


def test_the_last_of_several_entries_in_one_batch_holds(tmp_path: Path) -> None:
    """Replacing and removing within a batch gives what entry by entry would."""
    index = reopened(tmp_path)
    index.apply(
        [entry(1, "e:1", "old"), entry(2, "e:1", "new"), entry(3, "e:2", "x"), gone(4, "e:2")]
    )

    assert found(index, "old", "new", "x") == ["e:1"]
    assert found(index, "old") == []


def test_an_owner_finds_only_what_is_theirs(tmp_path: Path) -> None:
    """The owner filter holds and adds nothing to the score."""
    index = reopened(tmp_path)
    index.apply([entry(1, "e:1", "报销"), IndexEntry(2, "other", "e:2", 2, {"words": "报销"})])
    mine, theirs = (
        index.search(owner, IndexQuery({"words": ["报销"]}), 10) for owner in ("local", "other")
    )

    assert [hit.document for hit in mine] == ["e:1"]
    assert [hit.document for hit in theirs] == ["e:2"]
    assert mine[0].score == pytest.approx(theirs[0].score)
    assert found(index, "报销", owner="nobody") == []


def test_weights_multiply_a_fields_score(tmp_path: Path) -> None:
    """The same term counts by the field that it stands in."""
    index = reopened(tmp_path)
    index.apply([entry(1, "e:1", "alpha", cues="beta"), entry(2, "e:2", "beta", cues="alpha")])
    terms = {"words": ["alpha"], "cues": ["alpha"]}

    light = index.search("local", IndexQuery(terms, {"cues": 0.5}), 2)
    heavy = index.search("local", IndexQuery(terms, {"cues": 2.0}), 2)

    assert [hit.document for hit in light] == ["e:1", "e:2"]
    assert [hit.document for hit in heavy] == ["e:2", "e:1"]
    assert heavy[0].score == pytest.approx(4 * light[1].score)


def test_context_is_searched_together_with_the_words(tmp_path: Path) -> None:
    """A turn that holds the question's words itself is ahead of the turn after it."""
    index = reopened(tmp_path)
    index.apply([entry(1, "e:1", "报销"), entry(2, "e:2", "好的", context="报销")])
    query = IndexQuery({"words": ["报销"], "context": ["报销"]})

    assert [hit.document for hit in index.search("local", query, 9)] == ["e:1", "e:2"]


@pytest.mark.parametrize("word", ["", "a:b", "*", "/x/", "😀", "a\0b", "长" * 70_000])
def test_any_term_may_be_asked_for(tmp_path: Path, word: str) -> None:
    """A term is never read as query syntax and never fails."""
    index = filled(tmp_path)

    assert found(index, word) == []
    assert found(index, word, "template") == ["e:3"]


def test_a_reopened_index_goes_on_where_it_stood(tmp_path: Path) -> None:
    """Closing loses neither documents nor the position."""
    filled(tmp_path).close()
    index = reopened(tmp_path)

    assert index.rebuilt_reason is None
    assert index.position == 10
    assert found(index, "template") == ["e:3"]
    index.apply([entry(11, "e:11", "later")])
    assert found(index, "later") == ["e:11"]


def test_another_tokenizer_version_begins_anew(tmp_path: Path) -> None:
    """Terms of two tokenizer versions never meet in one index."""
    filled(tmp_path).close()
    index = SearchIndex.open(tmp_path, tokenizer_version=VERSION + 1)

    assert index.rebuilt_reason == "the index was made by another tokenizer version"
    assert (index.position, index.documents, index.whole) == (0, 0, False)


def test_a_commit_whose_manifest_was_not_written_counts(tmp_path: Path) -> None:
    """A kill between a commit and its manifest costs no rebuilding."""
    index = filled(tmp_path)
    manifest = next(tmp_path.glob("*/manifest.json"))
    before = manifest.read_bytes()
    index.apply([entry(11, "e:11", "later")])
    index.close()
    manifest.write_bytes(before)
    index = reopened(tmp_path)

    assert index.rebuilt_reason is None
    assert found(index, "later") == ["e:11"]


def damaged_copies(folder: Path, scratch: Path) -> Iterable[tuple[str, Path]]:
    """Copies of an index, each with one segment file flipped in one bit, cut, or removed."""
    for number, file in enumerate(segment_files(folder)):
        for way in ("flipped", "cut", "removed"):
            copy = scratch / f"{number}{way}"
            shutil.copytree(folder, copy)
            target = copy / file.relative_to(folder)
            content = bytearray(target.read_bytes())
            content[len(content) // 3] ^= 4
            if way == "flipped":
                target.write_bytes(content)
            elif way == "cut":
                target.write_bytes(content[:-9])
            else:
                target.unlink()
            yield f"{way} {file.suffix}", copy


def test_equal_scores_are_ordered_newest_first(tmp_path: Path) -> None:
    """Documents that match alike come in one order, whatever segment they are in."""
    index = reopened(tmp_path)
    for n in (3, 1, 2):
        index.apply([IndexEntry(index.position + 1, "local", f"e:{n}", n, {"words": "报销"})])

    assert found(index, "报销") == ["e:3", "e:2", "e:1"]


def test_any_damaged_segment_file_begins_anew(tmp_path: Path) -> None:
    """One flipped bit, a cut or a missing file is noticed before anything is mapped."""
    filled(tmp_path / "sound").close()
    copies = list(damaged_copies(tmp_path / "sound", tmp_path / "damaged"))
    assert len(copies) > 30

    for what, copy in copies:
        index = reopened(copy)
        assert index.rebuilt_reason is not None, what
        assert (index.position, found(index, "报销")) == (0, []), what
        index.apply([entry(1, "e:1", "报销")])
        assert found(index, "报销") == ["e:1"], what
        index.close()


def test_a_flipped_meta_file_is_harmless_or_begins_anew(tmp_path: Path) -> None:
    """Whatever bit of `meta.json` flips, the index opens, whole or empty, and takes entries."""
    filled(tmp_path / "sound").close()
    meta = next((tmp_path / "sound").glob("*/meta.json"))
    size = meta.stat().st_size
    answers = set()

    for place in range(0, size, 67):
        copy = tmp_path / str(place)
        shutil.copytree(tmp_path / "sound", copy)
        target = copy / meta.relative_to(tmp_path / "sound")
        content = bytearray(target.read_bytes())
        content[place] ^= 1
        target.write_bytes(content)
        index = reopened(copy)
        answers.add((index.position, tuple(found(index, "template")), index.documents))
        index.apply([entry(11, "e:11", "later")])
        assert found(index, "later") == ["e:11"]
        index.close()

    assert answers <= {(0, (), 0), (10, ("e:3",), 7)}


@pytest.mark.parametrize("name", ["manifest.json", "meta.json", ".managed.json"])
@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"[]", b"{}"])
def test_garbage_in_a_json_file_begins_anew_or_is_mended(
    tmp_path: Path, name: str, content: bytes
) -> None:
    """The index opens whatever stands in its small files."""
    filled(tmp_path).close()
    next(tmp_path.glob(f"*/{name}")).write_bytes(content)
    index = reopened(tmp_path)

    assert index.position in {0, 10}
    index.apply([entry(11, "e:11", "later")])
    assert found(index, "later") == ["e:11"]


def test_a_manifest_of_another_shape_begins_anew(tmp_path: Path) -> None:
    """Values that are no numbers are damage, not an error."""
    filled(tmp_path).close()
    manifest = next(tmp_path.glob("*/manifest.json"))
    values = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(values | {"opstamp": "many"}))

    assert reopened(tmp_path).position == 0


def test_foreign_files_in_the_folder_stay(tmp_path: Path) -> None:
    """Only generations are removed, whatever else lies there."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "007").mkdir()
    filled(tmp_path).close()
    reopened(tmp_path).close()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["007", "1", "notes"]


def test_a_folder_that_cant_be_made_is_told(tmp_path: Path) -> None:
    """Without a place to write, opening fails with the service's own error."""
    (tmp_path / "file").write_text("")

    with pytest.raises(IndexWriteError):
        reopened(tmp_path / "file" / "index")


def test_the_leftover_of_a_failed_start_is_no_obstacle(tmp_path: Path) -> None:
    """A half-made next generation is replaced."""
    index = filled(tmp_path)
    (tmp_path / "2").mkdir()
    index.start_over("test")

    assert [path.name for path in tmp_path.iterdir()] == ["2"]
    assert index.position == 0


def test_an_unfinished_generation_is_removed(tmp_path: Path) -> None:
    """A rewrite that a kill cut short leaves the sealed generation in use."""
    filled(tmp_path).close()
    shutil.copytree(tmp_path / "1", tmp_path / "2")
    (tmp_path / "2" / "manifest.json").unlink()
    index = reopened(tmp_path)

    assert index.position == 10
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_an_older_generation_is_never_fallen_back_to(tmp_path: Path) -> None:
    """The older one may hold what has been forgotten: damage to the newer begins anew."""
    filled(tmp_path).close()
    shutil.copytree(tmp_path / "1", tmp_path / "2")
    segment_files(tmp_path / "2" / "..")[-1].write_bytes(b"")
    index = reopened(tmp_path)

    assert index.position == 0
    assert [path.name for path in tmp_path.iterdir()] == ["3"]


def test_rewriting_leaves_no_term_of_a_deleted_document(tmp_path: Path) -> None:
    """Deleting leaves terms in the files; a rewrite from the rows takes them out."""
    index = filled(tmp_path)
    assert index.document_frequencies(["n4", "n5"]) == {"n4": 1, "n5": 1}

    rows = [entry(n, f"e:{n}", f"报销 n{n}") for n in (1, 5)]
    index.rewrite([rows, [gone(10, "e:4")]], reason="forgetting")

    assert index.document_frequencies(["n4", "n5"]) == {"n4": 0, "n5": 1}
    assert (index.position, index.whole, index.rebuilt_reason) == (10, True, "forgetting")
    assert [path.name for path in tmp_path.iterdir()] == ["2"]
    index.close()
    assert found(reopened(tmp_path), "n5") == ["e:5"]


def test_a_failed_rewrite_leaves_the_old_generation(tmp_path: Path) -> None:
    """Rows that can't be read end the rewrite and nothing else."""
    index = filled(tmp_path)

    def rows() -> Iterable[list[IndexEntry]]:
        yield [entry(1, "e:1", "half")]
        raise IndexWriteError

    with pytest.raises(IndexWriteError):
        index.rewrite(rows(), reason="forgetting")

    assert found(index, "template") == ["e:3"]
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_a_folder_removed_underneath_is_told_and_mended(tmp_path: Path) -> None:
    """Deleting the folder of a running index costs a start from nothing, nothing more."""
    index = filled(tmp_path / "index")
    shutil.rmtree(tmp_path / "index")

    with pytest.raises(DamagedIndexError):
        index.apply([entry(11, "e:11", "later")])
    reason = str(index.damage)
    index.start_over(reason)
    assert (index.position, index.damage, index.rebuilt_reason) == (0, None, reason)
    assert reason == "the index folder has vanished"
    index.apply([entry(11, "e:11", "later")])
    assert found(index, "later") == ["e:11"]


def test_searching_beside_writing_sees_whole_commits(tmp_path: Path) -> None:
    """A search sees both documents of a commit or neither."""
    index = reopened(tmp_path)
    done = threading.Event()
    sizes: set[int] = set()

    def search() -> None:
        while not done.is_set():
            sizes.add(len(found(index, "pair")))

    thread = threading.Thread(target=search)
    thread.start()
    for n in range(1, 13):
        index.apply([entry(2 * n, f"e:{n}", "pair"), entry(2 * n + 1, f"r:{n}", "pair")])
    done.set()
    thread.join()
    sizes.add(len(found(index, "pair")))

    assert max(sizes) == 24
    assert all(size % 2 == 0 for size in sizes)


def test_the_manifest_names_no_term(tmp_path: Path) -> None:
    """What is kept beside Tantivy's files holds counts and versions alone."""
    filled(tmp_path)
    manifest = json.loads(next(tmp_path.glob("*/manifest.json")).read_text())

    assert all(isinstance(value, int) for value in manifest.values())


DOCUMENTS = st.sampled_from(["e:1", "e:2", "e:3", "r:a", "r:b"])
WORDS = ("报销", "模板", "invoice")
STEP: st.SearchStrategy[tuple[str, list[tuple[str, str, set[str]]]]] = st.one_of(
    st.tuples(
        st.just("apply"),
        st.lists(
            st.tuples(
                DOCUMENTS, st.sampled_from(["local", "other"]), st.sets(st.sampled_from(WORDS))
            ),
            min_size=1,
            max_size=4,
        ),
    ),
    st.tuples(st.sampled_from(["reopen", "delete", "truncate", "rewrite"]), st.just([])),
)


class Modelled:
    """An index beside the rows that it follows, and the plain truth that these make."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[IndexEntry] = []
        self.index = reopened(folder)

    def step(self, what: str, changes: list[tuple[str, str, set[str]]]) -> None:
        """Do one thing to both; the index then follows its rows."""
        if what == "rewrite":
            self.index.rewrite([self.rows], reason="test")
        elif what != "apply":
            self.index.close()
            if what == "delete":
                shutil.rmtree(self.folder)
            elif what == "truncate":
                file = segment_files(self.folder)[0]
                file.write_bytes(file.read_bytes()[:-1])
            self.index = reopened(self.folder)
        for document, owner, words in changes:
            seq = len(self.rows) + 1
            fields = {"words": " ".join(sorted(words))}
            # An owner never changes: ids are global in the store.
            first = next((r.owner for r in self.rows if r.document == document), owner)
            self.rows.append(IndexEntry(seq, first, document, seq, fields, gone=not words))
        self.index.apply(self.rows[self.index.position :])

    def check(self) -> None:
        """The index answers every question as the newest rows do."""
        newest = {row.document: row for row in self.rows}
        held = [row for row in newest.values() if not row.gone]
        assert self.index.documents == len(held)
        for owner in ("local", "other"):
            for word in WORDS:
                mine = {r.document for r in held if r.owner == owner and word in r.fields["words"]}
                assert set(found(self.index, word, owner=owner)) == mine


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(STEP, max_size=6))
def test_follows_its_rows_through_any_damage(
    steps: list[tuple[str, list[tuple[str, str, set[str]]]]],
) -> None:
    """After any sequence of changes, restarts and damage the index says what its rows say."""
    with tempfile.TemporaryDirectory() as scratch:
        modelled = Modelled(Path(scratch) / "index")
        for what, changes in steps:
            modelled.step(what, changes)
            modelled.check()
        modelled.index.close()
