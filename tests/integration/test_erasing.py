"""Integration: erasing goes on until no byte is left, names what stands in the way, and tries again."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline.forgetting.checking import CheckFailedError, Looking
from socket_gateway.cli.app import run
from storage.database import database
from storage.records.forgetting import ForgettingStep
from storage.repositories import forgetting
from storage.search_index import SearchIndex
from tests.conftest import StartService
from tests.crash.harness import wait_until
from tests.forgetting_support import Memory, files_with
from tests.service_support import DAY, event

pytestmark = pytest.mark.integration

BURIED = "雨后枇杷树下的木箱 under the violet umbrella"


@pytest.fixture
def memory(start_service: StartService) -> Memory:
    """A memory that holds what a test proposes."""
    return Memory(start_service(observer__kind="external"))


def blocked(memory: Memory, begun: Any) -> list[str]:
    """What stands in the way of a forgetting, once something does."""
    found = wait_until(
        lambda: s if (s := memory.status(begun["forget_id"]))["state"] == "blocked" else None,
        "a forgetting that is held up",
    )
    assert found["finished_at"] is None
    assert found["next_attempt_at"] is not None
    remaining: list[str] = found["remaining"]
    assert BURIED not in str(remaining)
    return remaining


def done_at_last(memory: Memory, begun: Any) -> None:
    """Let time go by until a forgetting is done."""
    wait_until(lambda: _done_by_now(memory, begun), "an end")
    memory.service.stop()
    assert files_with(memory.service.state, BURIED, BURIED[:8]) == []


@contextmanager
def reader() -> Iterator[None]:
    """Somebody who reads and does not come to an end."""
    with database.atomic(lock_type="DEFERRED"):
        database.execute_sql("SELECT count(*) FROM event").fetchone()
        yield


# ---- what stands in the way --------------------------------------------------------


def test_a_reader_blocks_until_it_has_ended(memory: Memory) -> None:
    """The write-ahead log can't be emptied under a reader: it is named, and then it is done."""
    memory.learn_one("a", BURIED)
    with reader():
        begun = memory.forget(event_ids=["a"])
        assert any("memory.sqlite3-wal" in text for text in blocked(memory, begun))
        health = memory.service.ask("health")
        assert health["status"] == "degraded"
        assert any(begun["forget_id"] in reason for reason in health["reasons"])
    done_at_last(memory, begun)


def test_a_copy_in_a_file_of_somebody_blocks_until_it_is_gone(memory: Memory) -> None:
    """A file in the state folder that holds the words is named; nothing is promised meanwhile."""
    memory.learn_one("a", BURIED)
    copy = memory.service.state / "cache" / "my notes.txt"
    copy.parent.mkdir(exist_ok=True)
    copy.write_text(f"x{BURIED}x", encoding="utf-8")
    begun = memory.forget(event_ids=["a"])
    (remaining,) = blocked(memory, begun)
    assert remaining.startswith("cache/my notes.txt: ")
    copy.unlink()
    done_at_last(memory, begun)


def test_words_that_stand_in_what_is_left_are_no_remains(memory: Memory) -> None:
    """The same words in another event that stays hold nothing up."""
    memory.learn_one("a", BURIED)
    memory.service.ingest(event("b", f"又说了一遍：{BURIED}"))
    memory.forget_wholly(event_ids=["a"])
    assert memory.service.ask("memory.evidence.get", event_ids=["b"])["missing"] == []


def test_an_export_that_can_not_be_written_anew_blocks(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named; the rest of what is to be erased is not held up by it."""
    memory.learn_one("a", BURIED)
    stuck = [memory.service.state / "exports" / "monthly"]
    _set_port(memory, monkeypatch, refresh_exports=lambda _owner: stuck)
    begun = memory.forget(event_ids=["a"])
    assert blocked(memory, begun) == ["exports/monthly: it can't be written anew"]
    stuck.clear()
    done_at_last(memory, begun)


def test_an_export_is_written_anew(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record's file goes from an export in the state folder."""
    memory.learn_one("a", BURIED)
    memory.learn_one("b", "留下来的话")
    state = memory.service.state
    monkeypatch.setenv("DESKPAW_STATE_DIR", str(state))
    assert run(["export"]) == 0

    def exported() -> str:
        return "".join(path.read_text() for path in (state / "exports").rglob("*.md"))

    assert BURIED in exported()
    memory.forget_wholly(event_ids=["a"])
    assert BURIED not in exported()
    assert "留下来的话" in exported()


def test_terms_that_are_left_in_the_index_block(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is looked through for words that no entry holds any more, and made anew again."""
    memory.learn_one("a", BURIED)
    memory.learn_one("b", "留下来的话")
    wait_until(lambda: memory.service.services.follower.lag == 0, "an index that has followed")
    real = memory.service.services.follower.rewrite
    _set_port(memory, monkeypatch, rewrite_index=lambda _reason: None)
    begun = memory.forget(event_ids=["a"])
    (remaining,) = blocked(memory, begun)
    assert "terms are left" in remaining
    _set_port(memory, monkeypatch, rewrite_index=real)
    done_at_last(memory, begun)


def test_an_index_that_finds_nothing_proves_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word that must be there is looked up, too; where it is missing nothing is promised."""
    memory.learn_one("a", BURIED)
    memory.learn_one("b", "留下来的话")
    frequencies = SearchIndex.document_frequencies
    monkeypatch.setattr(
        SearchIndex,
        "document_frequencies",
        lambda _self, terms, _field="words": dict.fromkeys(terms, 0),
    )
    begun = memory.forget(event_ids=["a"])
    assert blocked(memory, begun) == ["index: it can't be looked through"]
    monkeypatch.setattr(SearchIndex, "document_frequencies", frequencies)
    done_at_last(memory, begun)


def test_a_check_that_fails_is_tried_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends the byte check, it is made once more."""
    memory.learn_one("a", BURIED)

    def fail(_self: Looking, _task: object) -> object:
        raise CheckFailedError("The byte check ended with status 1 and no answer.")

    look = Looking.__call__
    monkeypatch.setattr(Looking, "__call__", fail)
    begun = memory.forget(event_ids=["a"])
    (remaining,) = blocked(memory, begun)
    assert remaining.startswith("bytes: ")
    monkeypatch.setattr(Looking, "__call__", look)
    done_at_last(memory, begun)


def test_without_the_list_nothing_is_promised(memory: Memory) -> None:
    """Where it is lost what to look for, nobody can tell that it is nowhere."""
    memory.learn_one("a", BURIED)
    folder = memory.service.state / "data" / "forgetting"
    with reader():
        begun = memory.forget(event_ids=["a"])
        blocked(memory, begun)
        (folder / begun["forget_id"]).unlink()
    memory.service.clock.advance(DAY)
    memory.service.services.eraser.wake()
    wait_until(lambda: "lost" in str(memory.status(begun["forget_id"])["remaining"]), "a lost list")


# ---- by and by ---------------------------------------------------------------------


def test_what_to_look_for_is_private_and_goes(memory: Memory) -> None:
    """The list stands beside the database for its owner alone, without a plain word, until it is done."""
    memory.learn_one("a", BURIED)
    folder = memory.service.state / "data" / "forgetting"
    with reader():
        begun = memory.forget(event_ids=["a"])
        blocked(memory, begun)
        listed = folder / begun["forget_id"]
        assert listed.stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o777 == 0o700
        assert BURIED.encode()[:12].hex() in listed.read_text()
    done_at_last(memory, begun)
    assert list(folder.iterdir()) == []


def test_a_list_without_a_forgetting_goes_at_the_start(memory: Memory) -> None:
    """A request that ended before its first transaction leaves nothing behind for good."""
    service = memory.service
    traces = service.services.eraser._ports.traces
    traces.add("f-orphan", [BURIED])
    service.restart()
    folder = service.state / "data" / "forgetting"
    wait_until(lambda: list(folder.iterdir()) == [], "the orphan's end")


def test_erasing_goes_on_after_a_restart(memory: Memory) -> None:
    """What is under way stands in the database, and is taken up by the next gateway."""
    memory.learn_one("a", BURIED)
    with reader():
        begun = memory.forget(event_ids=["a"])
        blocked(memory, begun)
    memory.service.restart()
    done_at_last(memory, begun)


def test_a_clock_that_was_set_back_holds_nothing_up(memory: Memory) -> None:
    """A next attempt that lies too far ahead to be true is due at once."""
    memory.learn_one("a", BURIED)
    with reader():
        begun = memory.forget(event_ids=["a"])
        blocked(memory, begun)
    memory.service.clock.advance(-DAY)
    memory.service.services.eraser.wake()
    assert wait_until(
        lambda: memory.status(begun["forget_id"])["state"] == "done", "an end under the old clock"
    )


def test_what_is_late_does_not_start_from_the_beginning(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is written anew once, however often the bytes are looked for."""
    memory.learn_one("a", BURIED)
    written = []
    real = memory.service.services.follower.rewrite

    def count(reason: str) -> None:
        written.append(reason)
        real(reason)

    _set_port(memory, monkeypatch, rewrite_index=count)
    with reader():
        begun = memory.forget(event_ids=["a"])
        blocked(memory, begun)
    assert forgetting.get("local", begun["forget_id"]).step is ForgettingStep.BYTES
    done_at_last(memory, begun)
    assert len(written) == 1


def test_several_are_erased_together(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One index is written for all that are under way."""
    written = []
    real = memory.service.services.follower.rewrite

    def count(reason: str) -> None:
        written.append(reason)
        real(reason)

    for name in "abc":
        memory.learn_one(name, f"第{name}件{BURIED}")
    with reader():
        first = memory.forget(event_ids=["a"])
        blocked(memory, first)
        _set_port(memory, monkeypatch, rewrite_index=count, backoff=lambda _failures: 1)
        others = [memory.forget(event_ids=[name]) for name in "bc"]
        for begun in others:
            blocked(memory, begun)
    assert 1 <= len(written) <= 2
    for begun in (first, *others):
        wait_until(partial(_done_by_now, memory, begun), "an end of all")


def test_one_bad_round_does_not_end_the_others(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever nobody foresaw is logged by its type, and tried again."""
    memory.learn_one("a", BURIED)
    failed: list[bool] = []

    def fail(_owner: str) -> list[Path]:
        if not failed:
            failed.append(True)
            raise ArithmeticError(BURIED)
        return []

    _set_port(memory, monkeypatch, refresh_exports=fail)
    begun = memory.forget(event_ids=["a"])
    assert blocked(memory, begun) == ["an error that nobody foresaw: ArithmeticError"]
    done_at_last(memory, begun)


# ---- helpers -----------------------------------------------------------------------


def _done_by_now(memory: Memory, begun: Any) -> bool:
    """Let time go by, and look whether a forgetting is done."""
    memory.service.clock.advance(DAY)
    memory.service.services.eraser.wake()
    return bool(memory.status(begun["forget_id"])["state"] == "done")


def _set_port(memory: Memory, monkeypatch: pytest.MonkeyPatch, **ports: Any) -> None:
    eraser = memory.service.services.eraser
    monkeypatch.setattr(eraser, "_ports", replace(eraser._ports, **ports))
