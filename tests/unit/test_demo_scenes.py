"""What the demo's scenes are made of, and how they look into files."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scripts.demo.files import look
from scripts.demo.story import LOG, scene
from socket_gateway.protocol import Event

pytestmark = pytest.mark.unit

LINES = LOG.read_text(encoding="utf-8").splitlines()
LOGGED = {event["id"]: event for event in map(json.loads, LINES)}
TOLD: list[dict[str, Any]] = [*scene("conflict")["events"], *scene("forgetting")["events"]]


def test_scenes_go_on_after_the_log() -> None:
    """What is told in the scenes are events of the wire, new ones, said after the log's last."""
    last = max(event["at"] for event in LOGGED.values())
    for event in TOLD:
        Event.model_validate(event)
        assert event["id"] not in LOGGED
        assert event["at"] > last


def test_the_correction_is_in_the_log() -> None:
    """The log's rule and the user's correction of it are the events that the scene names."""
    part = scene("correction")
    assert LOGGED[part["old"]]["at"] < LOGGED[part["new"]]["at"]
    assert LOGGED[part["new"]]["kind"] == "user.correction"


def test_scenes_speak_both_languages() -> None:
    """The conflict is told and asked about in English, what is forgotten in Chinese."""
    for name, in_chinese in (("conflict", False), ("forgetting", True)):
        part = scene(name)
        for text in (part["question"], *(event["text"] for event in part["events"])):
            assert bool(re.search(r"[\u4e00-\u9fff]", text)) is in_chinese


def test_the_words_to_be_forgotten_are_told_nowhere_else() -> None:
    """Each word that is looked for stands in what is forgotten, not in the log or the question."""
    part = scene("forgetting")
    told = " ".join(event["text"] for event in part["events"])
    for word in part["words"]:
        assert word in told
        assert word not in part["question"]
        assert not any(word in line for line in LINES)
    assert {thing["id"] for event in part["events"] for thing in event["objects"]} == {
        part["object"]
    }


def test_the_demos_readme_names_what_is_told() -> None:
    """The README tells of each event of the scenes, and of no other."""
    text = LOG.with_name("README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"later-\d{4}", text)) == {event["id"] for event in TOLD}


@pytest.mark.parametrize("word", ["尿酸", "zebra"])
@pytest.mark.parametrize("how", ["utf-8", "utf-16-le", "json"])
def test_a_word_in_a_file_is_found(word: str, how: str, tmp_path: Path) -> None:
    """A word is found in whatever file it stands, in each spelling that a program may write."""
    folder = tmp_path / "data"
    folder.mkdir()
    tmp_path.joinpath("clean").write_bytes(b"nothing")
    content = json.dumps(word).encode() if how == "json" else word.encode(how)
    folder.joinpath("held").write_bytes(b"\x00" * 3 + content + b"\xff")
    found = look(tmp_path, ["absent", word])
    assert found.holding == (Path("data/held"),)
    assert found.files == 2
    assert found.size == 7 + 4 + len(content)


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    """A folder without the word holds it in no file."""
    tmp_path.joinpath("file").write_text("血糖 zeb ra", encoding="utf-8")
    assert look(tmp_path, ["尿酸", "zebra"]).holding == ()
