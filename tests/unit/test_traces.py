"""The list of what to look for: private, durable, and gone for good at the end."""

import os
from pathlib import Path

import pytest

from pipeline.forgetting import traces
from pipeline.forgetting.traces import Traces

pytestmark = pytest.mark.unit

TEXT = "雨后枇杷树下的木箱 violet umbrella"


@pytest.fixture
def kept(tmp_path: Path) -> Traces:
    """Lists in a folder that is not there yet."""
    return Traces(tmp_path / "forgetting")


def test_what_is_added_is_read_back(kept: Traces) -> None:
    """Pieces and terms, of several additions, each once."""
    kept.add("f-1", [TEXT], [("words", "枇杷"), ("ids", "bx_1")])
    kept.add("f-1", [TEXT, "another text of it"], [("words", "枇杷")])
    found = kept.read("f-1")
    assert found is not None
    assert {b"another text of it", "雨后枇杷树下的木".encode()} <= found.pieces
    assert found.terms == {("words", "枇杷"), ("ids", "bx_1")}
    assert found.sampled is False
    lines = kept.path("f-1").read_text().splitlines()
    assert len(lines) == len(set(lines))


def test_there_is_none_before(kept: Traces) -> None:
    """Nothing to read is not the same as an empty list."""
    assert kept.read("f-1") is None
    kept.add("f-1")
    found = kept.read("f-1")
    assert found is not None
    assert found.pieces == frozenset()


def test_it_is_for_its_owner_alone_and_in_no_plain_words(kept: Traces) -> None:
    """Others can't read it, and a search for the words does not find it."""
    kept.add("f-1", [TEXT], [("words", "umbrella")])
    assert kept.path("f-1").stat().st_mode & 0o777 == 0o600
    assert kept.folder.stat().st_mode & 0o777 == 0o700
    content = kept.path("f-1").read_bytes()
    assert content.isascii()
    assert b"umbrella" not in content


def test_a_line_that_a_crash_has_cut_is_left_out(kept: Traces) -> None:
    """What it was for has not gone yet."""
    kept.add("f-1", [TEXT])
    whole = kept.read("f-1")
    with kept.path("f-1").open("a") as file:
        file.write("p e99ba")
    assert kept.read("f-1") == whole


def test_a_great_forgetting_is_looked_for_by_a_sample(
    kept: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many pieces and terms at most, from all over, and it is said that there were more."""
    monkeypatch.setattr(traces, "MOST_PIECES", 10)
    monkeypatch.setattr(traces, "MOST_TERMS", 3)
    texts = [f"the memory of day {n:03} in full" for n in range(40)]
    kept.add("f-1", texts[:20], [("words", f"t{n}") for n in range(9)])
    kept.add("f-1", texts[20:], [("words", f"u{n}") for n in range(9)])
    found = kept.read("f-1")
    assert found is not None
    assert 5 <= len(found.pieces) <= 10
    assert len(found.terms) == 3
    assert found.sampled is True


def test_it_is_overwritten_before_it_goes(kept: Traces) -> None:
    """What is left on the disk under its name is nothing."""
    kept.add("f-1", [TEXT])
    other = kept.folder / "linked"
    os.link(kept.path("f-1"), other)
    kept.destroy("f-1")
    assert not kept.path("f-1").exists()
    assert set(other.read_bytes()) == {0}
    kept.destroy("f-1")


def test_orphans_go_and_others_stay(kept: Traces) -> None:
    """Lists of forgettings that are known are kept."""
    assert kept.remove_orphans(set()) == 0
    for name in ("f-1", "f-2", "f-3"):
        kept.add(name, [TEXT])
    assert kept.remove_orphans({"f-2"}) == 2
    assert [path.name for path in kept.folder.iterdir()] == ["f-2"]
