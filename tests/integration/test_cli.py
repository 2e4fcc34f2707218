"""The command line against the service: what it prints, how it ends, and that replay loses nothing."""

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from socket_gateway import cli
from socket_gateway.cli import main
from socket_gateway.cli.output import Output
from socket_gateway.cli.replay import show
from socket_gateway.cli.shown import safe_json
from socket_gateway.cli.status import watched
from socket_gateway.client import MemoryClient, Ports, RetryPolicy
from socket_gateway.framing import Request
from socket_gateway.protocol import PositionsResult
from socket_gateway.replaying.errors import ReplayError, StalledError
from socket_gateway.replaying.publishing import PublicationWait
from socket_gateway.replaying.replay import Replay, Report
from socket_gateway.replaying.sending import Sender
from storage.errors import DiskFullError
from tests.service_support import Service, event
from tests.socket_support import PATIENCE_S, running_server

pytestmark = pytest.mark.integration

ROOT = Path(cli.__file__).parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs a command against the service: its exit status, output and errors."""
    monkeypatch.setenv("DESKPAW_STATE_DIR", str(service.state))

    def command(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        return status, told.out, told.err

    return command


def log_of(folder: Path, *rows: dict[str, Any], name: str = "log.jsonl") -> Path:
    """A file with a JSON line for each row."""
    file = folder / name
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


def chat(number: int, text: str = "好的", owner: str = "家") -> dict[str, Any]:
    """A line of a chat corpus."""
    return {
        "id": f"c{number}",
        "owner": owner,
        "session": "s",
        "at": f"2025-06-01T10:{number % 60:02}:00",
        "speaker": "用户",
        "text": text,
    }


def remembered(service: Service, text: str, event_id: str = "e1") -> None:
    """Let the service keep what a user said."""
    service.ingest(event(event_id, text))
    service.settle()


# ---- exit status and errors ------------------------------------------------


def test_nobody_there_is_status_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command that asks the service says how to start it, and exits 3."""
    monkeypatch.setenv("DESKPAW_STATE_DIR", str(tmp_path))
    log = log_of(tmp_path, chat(1))
    commands = [
        ["status"], ["recall", "问"], ["record", "list"], ["record", "get", "r"],
        ["record", "history", "r"], ["evidence", "r"], ["fate", "e"],
        ["record", "confirm", "r", "--event", "e", "--quote", "好"],
        ["record", "correct", "r", "好的", "--event", "e", "--quote", "好"],
        ["packages"], ["dead", "list"], ["dead", "requeue"], ["dead", "discard", "1"],
        ["stage", "pause", "index"], ["stage", "resume", "index"], ["replay", str(log)],
    ]  # fmt: skip
    for command in commands:
        assert main(command) == 3, command
        assert "deskpaw-memory serve" in capsys.readouterr().err


def test_refusal_is_status_1_and_usage_2(run: Run) -> None:
    """What the service refuses exits 1, and what isn't a command exits 2; JSON says it as JSON."""
    status, out, err = run("record", "get", "nothing", "--json")
    assert (status, out, json.loads(err)["error"]["code"]) == (1, "", "not_found")
    assert run("record", "get", "nothing")[2].startswith("not_found: ")
    assert run("stage", "pause", "observing")[0] == 2
    assert run("recall")[0] == 2
    assert run("recall", "问", "--owner", "a\x07")[0] == 2
    assert run("replay", "/nothing/here")[0] == 2


@pytest.mark.parametrize("name", ["x", "记"])
@pytest.mark.parametrize("command", [["status"], ["recall", "问"], ["record", "list", "--json"]])
def test_socket_path_too_long_is_status_1(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, command: list[str]
) -> None:
    """A path that no socket can have is told by its variable, not as a missing service."""
    monkeypatch.setenv("DESKPAW_MEMORY_SOCKET", str(tmp_path / (name * 108)))
    status, out, err = run(*command)
    assert (status, out) == (1, "")
    assert "DESKPAW_MEMORY_SOCKET" in err
    assert "serve" not in err


def test_wrong_setting_is_status_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that isn't known is an error with the nearest known one."""
    monkeypatch.setenv("DESKPAW_MEMORY_SOCKET__IDLE", "5")
    status, _, err = run("config", "show")
    assert status == 1
    assert "socket.idle_ms" in err


@pytest.mark.parametrize(
    "verb",
    [
        "serve", "status", "recall", "record", "record list", "record get", "record history",
        "record confirm", "record correct", "evidence", "fate", "packages", "dead", "dead list",
        "dead requeue", "dead discard", "stage",
        "stage pause", "stage resume", "replay", "config", "config show",
    ],
)  # fmt: skip
def test_help_has_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verb's help shows how it is used, without colours where nobody looks."""
    assert main([*verb.split(), "--help"]) == 0
    told = capsys.readouterr().out
    assert f"Example: deskpaw-memory {verb}" in told
    assert "\x1b" not in told


def test_shell_completion(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shell is told the commands that begin like what was typed."""
    monkeypatch.setenv("_DESKPAW_MEMORY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "deskpaw-memory re")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert main([]) == 0
    offered = capsys.readouterr().out.split()
    assert sorted(offered) == ["rebuild", "recall", "record", "reindex", "replay"]


# ---- what is shown ---------------------------------------------------------


def test_status_says_what_the_service_says(run: Run, service: Service) -> None:
    """Status shows health and positions, and as JSON the method's own result."""
    remembered(service, "以后简短一点。")
    assert "received 1, organized 1, published 1" in run("status")[1]
    found = json.loads(run("status", "--json")[1])
    assert found["health"]["positions"]["published"] == 1
    assert found["owners"] == ["local"]


def test_watched_status_outlasts_a_service_that_is_away(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    """Watching goes on when the service is gone for a while."""

    def ticks() -> Iterator[None]:
        yield
        service.stop()
        yield
        service.start()
        yield

    policy = RetryPolicy(attempts=1)
    with MemoryClient(service.settings.paths.socket, policy=policy) as client:
        watched(client, Output(as_json=True), ticks())
    told = capsys.readouterr()
    assert [json.loads(line)["owners"] for line in told.out.splitlines()] == [[], []]
    assert json.loads(told.err)["error"]["code"] == "unavailable"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("以后报销单一律用 BX-T-2025 模板。", "报销单用哪个模板？"),
        (
            "From now on always use template BX-T-2025 for expense claims.",
            "Which template do expense claims use?",
        ),
    ],
)
def test_recall_shows_record_and_verbatim_words(
    run: Run, service: Service, text: str, question: str
) -> None:
    """An answer shows what was found, why, and the exact words with event, date and role."""
    remembered(service, text)
    status, out, _ = run("recall", question, "--limit", 3)
    assert status == 0
    assert out.startswith("complete")
    assert f"│ {text}" in out
    assert "╰ e1, 2026-01-01 08:00, user" in out
    found = json.loads(run("recall", question, "--json")[1])
    assert found["hits"][0]["evidence"][0]["event"] == "e1"


@pytest.mark.parametrize(
    ("text", "question"),
    [("楼下新开了一家面馆。", "面馆"), ("A noodle shop opened downstairs.", "noodle shop")],
)
def test_recall_says_that_no_record_holds_an_event(
    run: Run, service: Service, text: str, question: str
) -> None:
    """An event that was observed and became no record is not told as one that still waits."""
    remembered(service, text)
    assert service.positions()["published"] == 1
    out = run("recall", question)[1]
    assert text in out
    assert "no valid record holds it" in out
    assert "not observed yet" not in out


def test_record_and_its_evidence(run: Run, service: Service) -> None:
    """A record is listed, shown, and traced to the span that it rests on."""
    remembered(service, "以后报销单一律用 BX-T-2025 模板。")
    _, out, _ = run("record", "list", "--status", "active")
    header, row = (line.split("\t") for line in out.splitlines())
    assert header[0] == "id"
    assert "BX-T-2025" in row[-1]
    record_id = row[0]
    assert record_id in run("record", "get", record_id)[1]
    assert len(run("record", "history", record_id)[1].splitlines()) == 2
    assert "e1[0:" in run("evidence", record_id)[1]
    found = json.loads(run("evidence", record_id, "--json")[1])
    assert found == service.ask("memory.evidence.get", record_id=record_id)


def test_text_of_others_does_not_drive_the_terminal(run: Run, service: Service) -> None:
    """Escapes, C1 controls and direction marks in kept text are written out, in JSON too."""
    remembered(service, "以后模板用 BX\x1b[2J\x9b31m\u202egnp.exe 好吗，一律这样。")
    for command in (("recall", "模板"), ("record", "list"), ("recall", "模板", "--json")):
        out = run(*command)[1]
        assert "BX" in out
        assert not set("\x1b\x9b\u202e") & set(out)


def test_json_keeps_its_value_when_made_safe() -> None:
    """Written-out characters are the same characters to whoever reads the JSON."""
    value = {"a": "\x9b\u202e\u2028好\n"}
    assert json.loads(safe_json(json.dumps(value, ensure_ascii=False))) == value


def test_terminal_gets_colours_and_whole_ids(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table on a terminal has colours, and never cuts an id or leaves words out."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "50"}.items():
        monkeypatch.setenv(name, value)
    Output(as_json=False).table(
        ["id", "status", "content"], [["r-" + "7" * 24, "active", "报销单模板" * 20]]
    )
    told = capsys.readouterr().out
    assert "r-" + "7" * 24 in told
    assert "\x1b[32m" in told
    assert "…" not in told
    assert sum(told.count(hanzi) for hanzi in "报销单模板") == 100


def test_config_show_says_where_values_come_from(run: Run, service: Service) -> None:
    """Each setting has key, value and source."""
    rows = json.loads(run("config", "show", "--json")[1])["settings"]
    (state,) = [row for row in rows if row["key"] == "paths.state"]
    assert state == {
        "key": "paths.state", "value": str(service.state), "source": "DESKPAW_STATE_DIR",
    }  # fmt: skip
    shown = run("config", "show")[1]
    assert "socket.line_bytes\t1048576\tdefault" in shown
    assert f"paths.socket\t{service.state / 'memory.sock'}\tDESKPAW_STATE_DIR" in shown


# ---- operators -------------------------------------------------------------


def test_stage_is_paused_and_resumed(run: Run) -> None:
    """A paused stage is named until it is resumed."""
    assert "observe since" in run("stage", "pause", "observe")[1]
    assert json.loads(run("status", "--json")[1])["paused"].keys() == {"observe"}
    assert run("stage", "resume", "observe")[1] == "No stage is paused.\n"


def test_packages_are_listed_page_by_page(run: Run, service: Service) -> None:
    """Packages come with their state, and a page says how to get the next."""
    for number in range(3):
        remembered(service, f"以后 {number} 点提醒我。", f"e{number}")
    _, out, err = run("packages", "--state", "done", "--limit", 2)
    header, *rows = (line.split("\t") for line in out.splitlines())
    assert [row[header.index("state")] for row in rows] == ["done", "done"]
    assert [row[header.index("closed by")] for row in rows] == ["flush", "flush"]
    assert "--after 2" in err
    assert json.loads(run("packages", "--after", 2, "--json")[1])["items"][0]["id"] == 3


def test_dead_letter_is_requeued_and_discarded(run: Run, service: Service) -> None:
    """A parked package is listed with its cause, put back to work, and given up."""
    service.ingest(event("e1", "以后简短一点。"))
    service.ask("ops.flush")
    for _ in range(service.settings.pipeline.attempts):
        service.clock.advance(service.settings.pipeline.backoff_cap_ms)
        service.runner.filter_events()
        service.sweep()
        for package in service.ask("memory.observation.claim", worker="w")["packages"]:
            service.ask(
                "memory.observation.fail",
                package_id=package["id"],
                token=package["token"],
                error="no model",
            )
    (row,) = [line.split("\t") for line in run("dead", "list")[1].splitlines()[1:]]
    assert (row[0], row[-2]) == ("1", "e1")
    assert run("dead", "requeue", 1)[1] == "back to work: 1\n"
    assert run("dead", "discard", 1)[0] == 1


# ---- replay ----------------------------------------------------------------


def test_replay_sends_events_and_chats_in_both_languages(
    run: Run, service: Service, tmp_path: Path
) -> None:
    """Both forms go in, owners are kept, and the counts are told."""
    first = log_of(tmp_path, event("e1", "Hello"), event("e2", "你好", stream="desk"))
    second = log_of(tmp_path, *(chat(n) for n in range(450)), name="chat.jsonl")
    status, out, _ = run("replay", first, second, "--no-wait", "--json")
    found = json.loads(out)
    assert (status, found["accepted"], found["duplicates"]) == (0, 452, 0)
    assert service.positions("家")["received"] == 452
    assert service.ask("memory.evidence.get", event_ids=["e2"])["events"][0]["text"] == "你好"


def test_bad_line_stops_replay_before_anything_is_sent(
    run: Run, service: Service, tmp_path: Path
) -> None:
    """One unfit line in any file and nothing is sent, unless it may be skipped."""
    good = log_of(tmp_path, chat(1))
    bad = log_of(tmp_path, chat(2), chat(3) | {"at": "昨天"}, name="bad.jsonl")
    status, out, err = run("replay", good, bad, "--no-wait")
    assert (status, out) == (1, "")
    assert f"{bad}:2: at: must be an ISO time" in err
    assert service.positions("家")["received"] == 0
    details = json.loads(run("replay", bad, "--no-wait", "--json")[2])["error"]["details"]
    assert details["lines"][0]["line"] == 2
    assert run("replay", good, bad, "--no-wait", "--skip-bad")[0] == 1
    assert service.positions("家")["received"] > 0


def test_replay_again_sends_nothing_again(run: Run, service: Service, tmp_path: Path) -> None:
    """What was acknowledged is skipped; without its note it comes back as duplicates."""
    log = log_of(tmp_path, chat(1), chat(2))
    run("replay", log, "--no-wait")
    assert json.loads(run("replay", log, "--no-wait", "--json")[1])["skipped"] == 2
    for note in (service.settings.paths.cache / "replay").iterdir():
        note.unlink()
    assert json.loads(run("replay", log, "--no-wait", "--json")[1])["duplicates"] == 2


def test_replay_into_an_emptied_service_sends_all(
    run: Run, service: Service, tmp_path: Path
) -> None:
    """A note of another database is not believed."""
    log = log_of(tmp_path, chat(1), chat(2))
    run("replay", log, "--no-wait")
    service.stop()
    for file in service.settings.paths.database.parent.iterdir():
        file.unlink()
    service.start()
    assert json.loads(run("replay", log, "--no-wait", "--json")[1])["accepted"] == 2


def test_replay_counts_what_was_redacted(run: Run, tmp_path: Path) -> None:
    """Secrets in a log are counted by kind in the summary."""
    log = log_of(
        tmp_path,
        chat(1, "我的密码是 hunter-" + "7" * 9),
        chat(2, "my password is Tr0ub" + "4dor&3"),
    )
    found = json.loads(run("replay", log, "--no-wait", "--json")[1])
    assert sum(found["redactions"].values()) >= 2


def test_replay_waits_until_all_is_published(service: Service, tmp_path: Path) -> None:
    """The wait flushes, follows the positions, and ends with everything published."""
    log = log_of(tmp_path, *(chat(n, "以后简短一点。", f"o{n % 3}") for n in range(9)))
    told: list[tuple[str, int, int]] = []
    with MemoryClient(service.settings.paths.socket) as client:
        replay = Replay(
            client, Sender(client), tmp_path / "notes", told=lambda *step: told.append(step)
        )
        report = replay.send(replay.survey([log], skip_bad=False))
        replay.wait(report, PublicationWait(client, Ports(sleep=lambda _: service.work())))
    assert {owner: at.backlog for owner, at in report.positions.items()} == {
        "o0": 0, "o1": 0, "o2": 0,
    }  # fmt: skip
    assert not report.failed
    assert told[-1][:1] == ("publishing",)
    assert told[-1][1] == told[-1][2] > 0


def test_wait_gives_up_when_nothing_moves(service: Service) -> None:
    """Without a consumer the wait ends, says why, and that the events are safe."""
    service.ingest(event("e1", "好"))
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    with MemoryClient(service.settings.paths.socket) as client:
        wait = PublicationWait(client, Ports(clock=lambda: now[0], sleep=sleep), patience_s=5)
        with pytest.raises(StalledError, match="All events are durable, but 1 are not published"):
            wait.until({"local": 1}, lambda _: None)


def test_conflict_names_the_line(service: Service, tmp_path: Path) -> None:
    """An id that the service knows with other content stops the replay at its line."""
    service.ingest(event("e2", "A"))
    log = log_of(tmp_path, event("e1", "甲"), event("e2", "乙"))
    with pytest.raises(ReplayError) as refusal:
        sent(service.settings.paths.socket, log, tmp_path / "notes")
    assert [(fault.line, fault.field) for fault in refusal.value.faults] == [(2, "id")]
    assert isinstance(refusal.value.__cause__, Exception)
    assert service.positions()["received"] == 1


def test_replay_goes_on_where_it_broke_off(tmp_path: Path) -> None:
    """After a failure in the middle the next replay begins behind what was acknowledged."""
    log = log_of(tmp_path, *(event(f"e{n}", "好") for n in range(50)))
    kept: list[str] = []
    full = [True]

    def serve(request: Request) -> object:
        if request.method == "memory.events.ingest" and full[0] and len(kept) >= 20:
            raise DiskFullError
        return served(request, kept)

    policy = RetryPolicy(attempts=2)
    with running_server(tmp_path / "s", serve):
        with pytest.raises(Exception, match="no room"):
            sent(tmp_path / "s", log, tmp_path / "notes", policy=policy, batch=2)
        assert len(kept) == 20
        full[0] = False
        report = sent(tmp_path / "s", log, tmp_path / "notes", batch=2)
    assert kept == [f"e{n}" for n in range(50)]
    assert report.files[0].skipped == 20


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_stopped_replay_says_how_to_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
) -> None:
    """Ctrl-C in the middle tells how many events are safe, and ends like any program it stops."""
    log = log_of(tmp_path, *(event(f"e{n}", "好") for n in range(20)))
    kept: list[str] = []
    stopped = threading.Event()
    waiting = threading.get_ident()

    def serve(request: Request) -> object:
        if request.method == "health":
            return {"status": "ok", "reasons": [], "version": "1", "uptime_ms": 1}
        if len(kept) == 10:
            signal.pthread_kill(waiting, signal.SIGINT)
            stopped.wait(PATIENCE_S)
        return served(request, kept)

    monkeypatch.setenv("DESKPAW_STATE_DIR", str(tmp_path))
    with running_server(tmp_path / "memory.sock", serve):
        try:
            status = main(["replay", str(log), "--batch", "5", "--no-wait", *more])
        finally:
            stopped.set()
    told = capsys.readouterr()
    assert status == 130
    if more:
        assert json.loads(told.out) == {"stopped_after": 10}
    else:
        assert told.err == "stopped after 10 events; start it again to go on\n"


def test_counts_of_one_are_singular(capsys: pytest.CaptureFixture[str]) -> None:
    """A replay of one owner says so."""
    positions = PositionsResult(received=1, organized=1, published=1, backlog=0, dead=1)
    report = Report([], {"local": positions}, newly_dead=Counter({"local": 1}))
    show(report, Output(as_json=False))
    told = capsys.readouterr().out
    assert "1 package of local" in told
    assert "for 1 owner\n" in told


def test_rate_is_kept(tmp_path: Path) -> None:
    """With a rate the events go in even portions over the time that they are due."""
    log = log_of(tmp_path, *(event(f"e{n}") for n in range(10)))
    now = [0.0]
    at: list[float] = []

    def sleep(seconds: float) -> None:
        now[0] += seconds

    def serve(request: Request) -> object:
        if request.method == "memory.events.ingest":
            at.append(now[0])
        return served(request, [])

    with running_server(tmp_path / "s", serve):
        ports = Ports(clock=lambda: now[0], sleep=sleep)
        sent(tmp_path / "s", log, tmp_path / "notes", ports=ports, rate=4.0)
    assert at == [0.0, 1.0, 2.0]


def sent(
    socket: Path, log: Path, notes: Path, policy: RetryPolicy | None = None, **how: Any
) -> Report:
    """Send a log with a sender of one's own."""
    ports = how.get("ports") or Ports(sleep=lambda _: None)
    with MemoryClient(socket, policy=policy, ports=ports) as client:
        replay = Replay(client, Sender(client, **how), notes)
        return replay.send(replay.survey([log], skip_bad=False))


def served(request: Request, kept: list[str]) -> object:
    """What a service with endless room answers."""
    heights = {"received": len(kept), "organized": 0, "published": 0}
    if request.method == "memory.positions":
        return heights | {"backlog": 0, "dead": 0}
    if request.method == "memory.evidence.get":
        wanted = request.params["event_ids"]
        return {"events": [], "spans": [], "missing": [i for i in wanted if i not in kept]}
    kept += [one["id"] for one in request.params["events"]]
    accepted = [
        {"id": one["id"], "seq": number, "duplicate": False}
        for number, one in enumerate(request.params["events"], len(kept))
    ]
    return {"accepted": accepted, "position": heights}


# ---- serve and the demo ----------------------------------------------------


def test_serve_starts_before_anything_heavy_is_loaded() -> None:
    """`serve` becomes the supervisor without pydantic, typer or rich."""
    code = (
        "import os, sys\n"
        "heavy = ('pydantic', 'typer', 'rich', 'peewee', 'asyncio')\n"
        "os.execv = lambda path, args: sys.exit(print(args[1:], [m for m in heavy if m in sys.modules]))\n"
        "from socket_gateway.cli import main\n"
        "main(['serve', '--no-worker', '--json'])\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout == "['-m', 'socket_gateway.supervisor', '--no-worker', '--json'] []\n"


def test_demo_answers_with_evidence_and_cleans_up(tmp_path: Path) -> None:
    """The demo replays its log, answers from the expected evidence, and leaves nothing behind."""
    found = subprocess.run(
        [sys.executable, ROOT / "scripts" / "demo" / "play.py"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    for event_id in ("demo-0101", "demo-0175", "demo-0180", "demo-0142"):
        assert f"{event_id} · 2026-03-" in found.stdout
    assert list(tmp_path.iterdir()) == []
