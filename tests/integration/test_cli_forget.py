"""Integration: `forget` shows first, asks, and waits until no byte is left."""

import json
import sys
from collections.abc import Callable

import pytest
import typer

from socket_gateway.cli import forget, main
from socket_gateway.cli.output import Output
from storage.database import database
from tests.conftest import StartService
from tests.forgetting_support import EXPENSE, Memory, proposal
from tests.service_support import event

pytestmark = pytest.mark.integration

Run = Callable[..., tuple[int, str, str]]
TEXT = "报销用蓝色模板 the blue template"


@pytest.fixture
def memory(start_service: StartService) -> Memory:
    """A memory that holds what a test proposes."""
    made = Memory(start_service(observer__kind="external"))
    made.learn_one("a", TEXT)
    return made


@pytest.fixture
def run(memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `forget` against the service: its exit status, output and errors."""
    monkeypatch.setenv("DESKPAW_STATE_DIR", str(memory.service.state))

    def command(*arguments: str) -> tuple[int, str, str]:
        status = main(["forget", *arguments])
        told = capsys.readouterr()
        return status, told.out, told.err

    return command


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, *, agrees: bool) -> list[str]:
    """Let somebody sit there who answers so; what is asked of him."""
    asked: list[str] = []

    def confirm(question: str) -> bool:
        asked.append(question)
        return agrees

    monkeypatch.setattr(Output, "is_terminal", property(lambda self: not self.as_json))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "confirm", confirm)
    return asked


def test_without_a_terminal_it_only_shows(memory: Memory, run: Run) -> None:
    """Nobody could say yes, so nothing is forgotten, and it is said how to."""
    status, told, note = run("--event", "a")
    assert status == 0
    assert TEXT in told
    assert "1 events, 1 records" in told
    assert "--yes" in note
    assert len(memory.service.records()) == 1


def test_a_person_is_asked_and_may_say_no(
    memory: Memory, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The preview comes first; a no changes nothing."""
    asked = at_a_terminal(monkeypatch, agrees=False)
    status, told, _ = run("--event", "a")
    assert (status, len(asked)) == (0, 1)
    assert TEXT in told
    assert len(memory.service.records()) == 1


def test_a_yes_forgets_and_waits_for_the_end(
    memory: Memory, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After it, no byte is left, and that is what is said."""
    at_a_terminal(monkeypatch, agrees=True)
    status, told, _ = run("--event", "a")
    assert status == 0
    assert "done" in told.splitlines()[-1]
    assert memory.service.records() == []


def test_json_previews_and_with_yes_forgets(memory: Memory, run: Run) -> None:
    """For machines: the preview, or the state of what was begun."""
    (record,) = memory.service.records()
    preview = json.loads(run("--record", record["id"], "--json")[1])
    assert preview["dry_run"] is True
    assert [item["id"] for item in preview["preview"]["records"]] == [record["id"]]
    status, told, _ = run("--record", record["id"], "--yes", "--json")
    assert (status, json.loads(told)["state"]) == (0, "done")
    again = json.loads(run("--status", json.loads(told)["forget_id"], "--json")[1])
    assert again["counts"]["records"] == 1


def test_what_stays_is_shown(memory: Memory, run: Run) -> None:
    """Records that stay with less, and those that keep words from being overwritten."""
    text = "共同的话，一半的话"
    one, other = memory.learn(
        event("b", text, objects=EXPENSE),
        proposals=[
            proposal("rule", text, {"b": text}),
            proposal("fact", "共同的话", {"b": "共同的话"}, **{"class": "project"}),
        ],
    )
    told = run("--record", one)[1]
    assert f"other records rest on them: {other}" in told
    memory.learn_one("c", TEXT, at=memory.service.clock.now)
    told = run("--event", "a")[1]
    assert "stays as this" in told


def test_nothing_named_and_unknown_things_are_mistakes(run: Run) -> None:
    """Usage without a selection, a failure where it is unknown; a day that is none."""
    assert run()[0] == 2
    assert run("--event", "nobody's")[0] == 1
    status, _, error = run("--before", "gestern")
    assert status == 1
    assert "2026-01-31" in error


def test_a_day_begins_in_beijing(memory: Memory, run: Run) -> None:
    """`--before` takes a day, a moment with its zone, or milliseconds."""
    memory.learn_one("c", "后来的话", at=forget.when("2026-03-02"))
    told = json.loads(run("--before", "2026-03-02", "--json")[1])
    assert told["counts"]["events"] == 1
    told = json.loads(run("--before", "2026-03-02T00:00:01+08:00", "--json")[1])
    assert told["counts"]["events"] == 2


def test_what_stands_in_the_way_is_status_1(memory: Memory, run: Run) -> None:
    """A forgetting that is held up says by what, and fails."""
    with database.atomic(lock_type="DEFERRED"):
        database.execute_sql("SELECT count(*) FROM event").fetchone()
        status, told, _ = run("--event", "a", "--yes")
    assert status == 1
    assert "memory.sqlite3-wal" in told
    assert memory.service.records() == []


def test_who_does_not_wait_is_told_how_to_look(memory: Memory, run: Run) -> None:
    """Erasing goes on behind."""
    del memory
    status, told, note = run("--event", "a", "--yes", "--no-wait")
    assert status == 0
    assert "erasing" in told
    assert "forget --status f-" in note
