"""The service is driven in any order and compared with a plain model of its rules.

An outside worker proposes what the events say, and now and then something that no event says. Time
goes by, the process is killed in the middle of commits and started on what it has left. After each
step the records are those of the model; whatever else is looked at agrees with them.
"""

# ruff: noqa: FBT001 - rules take what hypothesis draws

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from socket_gateway.protocol import METHODS
from storage.faults import MOMENTS, faults
from tests.conftest import LONG
from tests.properties.memory_model import (
    DAY,
    HOUR,
    LIVE,
    Event,
    Memory,
    Record,
    Saying,
    proposals_of,
)
from tests.service_support import MINUTE, NOW, SECOND, Service, event

pytestmark = pytest.mark.integration

TEMPLATE: Final[dict[str, Any]] = {"subject": "报销", "kind": "rule", "key": "expense.template"}
PLACE: Final[dict[str, Any]] = {"subject": "site", "kind": "fact", "key": "server.location"}
FORMAT: Final[dict[str, Any]] = {"kind": "preference", "key": "report.format"}


def _template(value: str, **more: Any) -> Saying:
    words = (f"以后报销单一律用 {value} 模板", f"Always use template {value} for expense claims")
    return Saying("user", words, value=value, **TEMPLATE, **more)


def _place(role: str, room: str, chinese: str, english: str) -> Saying:
    kind = "project" if role == "user" else "environment"
    words = (chinese.format(room), english.format(room))
    return Saying(role, words, value=room, fact_class=kind, **PLACE)


_OURS: Final = ("我们的服务器放在 {} 机房", "Our server location is room {}")
_SEEN: Final = ("检测到服务器位置是 {} 机房", "Probe gives the server location as room {}")

SAYINGS: Final[Mapping[str, Saying]] = {
    "BX-1": _template("BX-1", story=True),
    "BX-2 for three days": Saying(
        "user", ("1月31日以前报销单一律用 BX-2 模板",) * 2, value="BX-2", lasts=3 * DAY, **TEMPLATE
    ),
    "BX-3 in three days": _template("BX-3", begins=3 * DAY),
    "never BX-1": Saying(
        "user", ("以后报销单一律不用 BX-1 模板", "Never use template BX-1 for expense claims"),
        value="BX-1", denies=True, **TEMPLATE,
    ),
    "another one once": Saying(
        "user", ("这次报销先用单独的 {mark} 模板", "Just this once, use template {mark} for the claim"),
        value="{mark}", once=True, **TEMPLATE,
    ),
    "a page's rule": Saying(
        "external", ("本页规定报销须用 BX-7 模板", "This page says that claims need template BX-7"),
        value="BX-7", **TEMPLATE,
    ),
    "a reply's rule": Saying(
        "supervisor", ("好的，报销单用 BX-4 模板", "Fine, template BX-4 it is for claims"),
        value="BX-4", **TEMPLATE,
    ),
    "PDF": Saying("user", ("我喜欢 PDF 格式的报告", "I like reports in PDF format"), value="PDF", **FORMAT),
    "no PDF": Saying(
        "user", ("我不喜欢 PDF 格式的报告", "I don't like reports in PDF format"),
        value="PDF", denies=True, **FORMAT,
    ),
    "Excel": Saying(
        "user", ("我喜欢 Excel 格式的报告", "I like reports in Excel format"), value="Excel", **FORMAT
    ),
    "ours in R-1": _place("user", "R-1", *_OURS),
    "ours in R-2": _place("user", "R-2", *_OURS),
    "seen in R-1": _place("observation", "R-1", *_SEEN),
    "seen in R-2": _place("observation", "R-2", *_SEEN),
    "checked in R-2": _place(
        "verification", "R-2", "核对过，服务器位置确实是 {} 机房", "Checked that the server location is room {}"
    ),
    "a page's R-9": _place(
        "external", "R-9", "网页上写着服务器位置改为 {} 机房", "The page gives the server location as room {}"
    ),
    "a reply's R-8": _place(
        "supervisor", "R-8", "好的，服务器位置就算 {} 机房", "Fine, so the server location counts as room {}"
    ),
    "a promise": Saying(
        "supervisor", ("我会在周五前交上 {mark} 单据", "I will hand in claim {mark} by Friday"),
        subject="报销", kind="commitment", unique=True, lasts=2 * DAY,
    ),
    "talk": Saying("user", ("今天天气不错", "Nice weather today"), subject="site"),
}  # fmt: skip

EXCHANGED: Final = ("ingest", "observe", "act", "forget")
WORKED: Final = ("filter", "close", "merge", "index", "publish", "age")
MOST: Final = 12
_crashes = st.none() | st.sampled_from(MOMENTS)
_picks = st.integers(0, 2**16)


class Killed:
    """A service that is killed, and lives on in a copy of the files that it had at that moment."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mm-"))
        self._lives = 0
        self.steps = 0
        self.service = self._begun(self._folder / "0", NOW)

    def _begun(self, state: Path, now: int) -> Service:
        service = Service(state, {"DESKPAW_MEMORY_OBSERVER__KIND": "external"})
        service.clock.set(now)
        service.start()
        return service

    def end(self) -> None:
        """Stop, and remove everything."""
        faults.disarm()
        self.service.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def dying(self, point: str | None) -> Iterator[None]:
        """Whatever is done here is done by a process that dies at that fault point, if it comes there.

        The state folder is copied then and there, and a new process has the copy. Tells by `died`.
        """
        self.died = False
        if point is None:
            yield
            return
        left = self._folder / str(self._lives + 1)

        def copied() -> None:
            _copy(self.service.state, left)
            self.died = True

        faults.arm(point, action=copied)
        try:
            yield
        finally:
            faults.disarm()
            if self.died:
                self._lives += 1
                self.service.stop()
                shutil.rmtree(self.service.state)
                self.service = self._begun(left, self.service.clock.now)

    def kill(self) -> None:
        """Kill it while nothing is under way."""
        with self.dying("operator.before_commit"):
            self.service.in_writer(lambda: None)


def _alike(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Tell what differs, and no more."""
    names = sorted(found.keys() | expected.keys())
    odd = [name for name in names if found.get(name) != expected.get(name)]
    told = (f"{name}: is {found.get(name)}\n should be {expected.get(name)}" for name in odd)
    assert not odd, "\n".join(told)


def _copy(state: Path, left: Path) -> None:
    """Copy what stands in the files; the index may be written meanwhile, and is disposable."""
    for path in sorted(state.rglob("*")):
        to = left / path.relative_to(state)
        if path.is_file():
            to.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                shutil.copy2(path, to)


class MemoryMachine(RuleBasedStateMachine):
    """Everything that may happen to a memory."""

    def __init__(self) -> None:
        super().__init__()
        self.killed = Killed()
        self.memory = Memory()
        self.marks = 0
        self.heights = {"received": 0, "organized": 0, "published": 0}
        self.forgettings: list[str] = []

    @property
    def service(self) -> Service:
        """The process of now."""
        return self.killed.service

    @property
    def now(self) -> int:
        """The time of now."""
        return self.service.clock.now

    def teardown(self) -> None:
        """In the end everything is worked off, and looked at from all sides."""
        try:
            self.drain()
            self.everything_agrees()
        finally:
            self.killed.end()

    def drain(self) -> None:
        """Work everything off; what a worker has lost or given back has its time first."""
        for _ in range(5):
            self.observe(None, None)
            self.work(None)
            if not self.service.positions()["backlog"]:
                return
            self.service.clock.advance(20 * MINUTE)

    # ---- asking --------------------------------------------------------------

    def ask(self, method: str, operation: str, crash: str | None, **params: Any) -> Any:
        """Ask; should the service be killed meanwhile, ask the same of the next process.

        What was answered once is answered again, whatever was durable when the process ended.
        """
        with self.killed.dying(crash and f"{operation}.{crash}"):
            first = self.service.exchange(method, params)
        if not self.killed.died:
            return first
        return self.service.exchange(method, params)

    def record_of(self, record_id: str) -> Any:
        """A record as the service gives it."""
        return self.service.ask("memory.record.get", record_id=record_id)

    def pick(self, number: int, wanted: Callable[[Record], bool]) -> Record | None:
        """One of the model's records."""
        found = sorted(filter(wanted, self.memory.records.values()), key=lambda one: one.id)
        return found[number % len(found)] if found else None

    # ---- events --------------------------------------------------------------

    def said(
        self, saying: Saying, language: int, lag: int = 0, prefix: str = "", **more: Any
    ) -> Event:
        """A new event of now, or of some time ago."""
        self.service.clock.advance(SECOND)
        self.marks += 1
        mark = f"zq{self.marks:04d}"
        content = saying.words[language].format(mark=mark)
        text = f"{prefix}{content}" + (f", see {mark}." if content.isascii() else f"，见 {mark}。")
        return Event(f"e{self.marks}", self.now - lag, saying, content, text, mark, **more)

    def wire(self, told: Event) -> dict[str, Any]:
        """An event as a client sends it."""
        objects = (
            {} if told.saying.subject == "@owner" else {"objects": [{"id": told.saying.subject}]}
        )
        request = {"request_id": told.request_id} if told.request_id else {}
        recalled = {"recalled": list(told.recalled)} if told.recalled else {}
        return event(
            told.id, told.text, role=told.saying.role, at=told.at, **objects, **request, **recalled
        )

    def take_in(self, *told: Event, crash: str | None = None) -> None:
        """Ingest new events."""
        events = [self.wire(one) for one in told]
        answer = self.ask("memory.events.ingest", "ingest", crash, events=events)
        assert answer["ok"], answer
        for one, receipt in zip(told, answer["result"]["accepted"], strict=True):
            again = self.killed.died and crash == "after_commit"
            assert (receipt["id"], receipt["duplicate"]) == (one.id, again)
            assert receipt["seq"] > max((old.seq for old in self.memory.events.values()), default=0)
            one.seq = receipt["seq"]
            self.memory.events[one.id] = one

    @rule(
        saying=st.sampled_from(list(SAYINGS)),
        language=st.integers(0, 1),
        lag=st.sampled_from([0, 0, 0, HOUR + 500, 26 * HOUR + 250, 4 * DAY + 125]),
        request=st.sampled_from([None, None, None, "q1"]),
        recalled=st.none() | _picks,
        crash=_crashes,
    )
    def ingest(
        self, saying: str, language: int, lag: int, request: str | None,
        recalled: int | None, crash: str | None,
    ) -> None:  # fmt: skip
        """Somebody says something, perhaps with a record in view, perhaps a while ago."""
        seen = None
        if recalled is not None:
            seen = self.pick(recalled, lambda one: one.subject == SAYINGS[saying].subject)
        told = self.said(
            SAYINGS[saying], language, lag, request_id=request, recalled=(seen.id,) if seen else ()
        )
        self.take_in(told, crash=crash)

    @rule(first=st.sampled_from(list(SAYINGS)), second=st.sampled_from(list(SAYINGS)))
    def ingest_together(self, first: str, second: str) -> None:
        """Two things are said at the same instant."""
        one, other = self.said(SAYINGS[first], 0), self.said(SAYINGS[second], 1)
        one.at = other.at
        self.take_in(one, other)

    @precondition(lambda self: self.memory.events)
    @rule(pick=_picks, changed=st.booleans())
    def ingest_again(self, pick: int, changed: bool) -> None:
        """A known id is a duplicate, or a conflict; a forgotten one stays forgotten."""
        told = list(self.memory.events.values())[pick % len(self.memory.events)]
        sent = self.wire(told)
        if changed:
            sent["text"] += "改"
        answer = self.service.exchange("memory.events.ingest", {"events": [sent]})
        if changed and not told.wordless:
            assert answer["error"]["code"] == "conflict"
            return
        (receipt,) = answer["result"]["accepted"]
        forgotten = {"forgotten": True} if told.wordless else {}
        assert receipt == {"id": told.id, "seq": told.seq, "duplicate": True} | forgotten

    # ---- the worker ----------------------------------------------------------

    @rule(
        spoil=st.none() | st.sampled_from(["quote", "none", "object", "twice", "long"]),
        crash=_crashes,
    )
    def observe(self, spoil: str | None, crash: str | None) -> None:
        """A worker takes all packages that there are, and proposes what their events say."""
        self.service.ask("ops.flush")
        for _ in range(20):
            packages = self.service.ask("memory.observation.claim", worker="w", max=8)["packages"]
            if not packages:
                return
            for package in packages:
                self.propose(package, spoil, crash)
                spoil = crash = None
        raise AssertionError("there are ever more packages")

    def propose(self, package: Any, spoil: str | None, crash: str | None) -> None:
        """Hand in proposals for a package; each is judged as the rules have it."""
        sent, new, allowed = self.proposals_for(package)
        spoilt = _spoilt(
            [one for one, codes in zip(sent, allowed, strict=True) if codes == {None}], spoil
        )
        if spoilt:
            sent.append(spoilt[0])
            allowed.append({spoilt[1]})
        more = {} if sent else {"nothing_worth_keeping": "只是闲聊"}
        answer = self.ask(
            "memory.observation.commit", "observe", crash,
            package_id=package["id"], token=package["token"], proposals=sent, **more,
        )  # fmt: skip
        assert answer["ok"], answer
        result = answer["result"]
        codes = dict.fromkeys(item["index"] for item in result["accepted"])
        codes |= {item["index"]: item["code"] for item in result["rejected"]}
        assert sorted(codes) == list(range(len(sent)))
        for at, may in enumerate(allowed):
            assert codes[at] in (may if at < MOST else {"too_many"}), (sent[at], result)
        for item in result["accepted"]:
            new[item["index"]].id = item["record_id"]
        self.memory.pending[package["id"]] = [new[item["index"]] for item in result["accepted"]]

    def proposals_for(
        self, package: Any
    ) -> tuple[list[dict[str, Any]], list[Record], list[set[str | None]]]:
        """What an honest worker proposes, what would become of it, and the codes it may get."""
        sent: list[dict[str, Any]] = []
        new: list[Record] = []
        allowed: list[set[str | None]] = []
        for item in package["events"]:
            told = self.memory.events[item["id"]]
            assert not told.observed, "an event is in two packages"
            assert not told.forgotten
            told.observed = True
            if told.blank:
                assert told.mark not in item["text"]
                continue
            assert item["text"] == told.text
            for proposal, record in proposals_of(told):
                codes = self.memory.verdict(record, told)
                same = [at for at, one in enumerate(new) if one.content == record.content]
                same = [at for at in same if None in codes & allowed[at]]
                if same:
                    _say_once_more(sent[same[0]], new[same[0]], proposal, record)
                    allowed[same[0]] |= codes
                    continue
                sent.append(proposal)
                new.append(record)
                allowed.append(codes)
        return sent, new, allowed

    @rule()
    def lose_a_lease(self) -> None:
        """A worker that is too late changes nothing; its package passes to another."""
        self.service.ask("ops.flush")
        late = self.service.ask("memory.observation.claim", worker="late", lease_ms=1_000)[
            "packages"
        ]
        if not late:
            return
        self.service.clock.advance(2 * SECOND)
        self.service.sweep()
        self.aged()
        self.service.clock.advance(20 * MINUTE)
        found = self.service.ask("memory.observation.claim", worker="w", max=8)["packages"]
        error = self.service.refused(
            "memory.observation.commit", package_id=late[0]["id"], token=late[0]["token"],
            proposals=[], nothing_worth_keeping="晚了",
        )  # fmt: skip
        assert error["code"] == "stale"
        for package in found:
            self.propose(package, None, None)

    @rule(crash=st.none() | st.tuples(st.sampled_from(WORKED), st.sampled_from(MOMENTS)))
    def work(self, crash: tuple[str, str] | None) -> None:
        """A consumer does all that there is to do, perhaps in two lives."""
        self.aged()
        with self.killed.dying(crash and ".".join(crash)):
            self.service.work()
        self.settled()
        while self.memory.pending:
            assert self.killed.died
            self.aged()
            self.service.work()
            self.settled()
            # What the dead process had leased passes to nobody before its time.
            self.service.clock.advance(20 * MINUTE)

    def settled(self) -> None:
        """The rules say the same of what is behind its merging as the service."""
        items = self.service.packages()
        self.memory.settle({row["id"] for row in items if row["stage"] in {"observe", "merge"}})
        self.aged()

    def aged(self) -> None:
        """The rules say what is over."""
        self.memory.age(self.now, self.service.positions()["organized"])

    @rule(
        by=st.sampled_from([MINUTE, HOUR, 3 * HOUR, DAY, DAY, 3 * DAY + HOUR, "border", "after"]),
        work=st.booleans(),
    )
    def let_time_go_by(self, by: int | str, work: bool) -> None:
        """Up to a minute before the workday's border, to a minute behind it, or by so much."""
        if isinstance(by, str):
            ahead = (19 * HOUR + 30 * MINUTE - self.now) % DAY
            by = ahead + MINUTE if by == "after" else max(ahead - MINUTE, MINUTE)
        self.service.clock.advance(by)
        if work:
            self.work(None)

    # ---- the user's word -----------------------------------------------------

    @precondition(lambda self: self.memory.records)
    @rule(pick=_picks, moved=st.booleans(), crash=_crashes)
    def confirm(self, pick: int, moved: bool, crash: str | None) -> None:
        """The user says yes to a record."""
        record = self.pick(pick, lambda one: one.kind != "episode")
        if record is None:
            return
        told = self.request_for(record, record.content, ("对，", "Yes, "))
        code = self.memory.refuses_to_confirm(record, self.now)
        answer = self.act("memory.record.confirm", record, told, moved, crash)
        if moved:
            assert answer["error"]["code"] in {"revision_conflict", code}
            return
        assert answer.get("error", {}).get("code") == code, (record, answer)
        if code is None:
            self.memory.confirm(record, told)

    @precondition(lambda self: self.memory.records)
    @rule(
        pick=_picks, saying=_picks, language=st.integers(0, 1), moved=st.booleans(), crash=_crashes
    )
    def correct(
        self, pick: int, saying: int, language: int, moved: bool, crash: str | None
    ) -> None:
        """The user sets a record right, to something else that fills its slot."""
        record = self.pick(pick, lambda one: one.key is not None and not one.once)
        if record is None:
            return
        others = [
            one
            for one in SAYINGS.values()
            if one.role == "user" and one.key == record.key and not one.once
        ]
        instead = others[saying % len(others)]
        content = instead.words[language]
        told = self.request_for(record, content, ("更正：", "Correction: "), instead)
        new = self.memory.corrected(record, told)
        code = self.memory.refuses_to_correct(new, record)
        answer = self.act("memory.record.correct", record, told, moved, crash, content=content)
        if moved:
            assert answer["error"]["code"] in {"revision_conflict", code}
            return
        assert answer.get("error", {}).get("code") == code, (record, content, answer)
        if code is None:
            new.id = answer["result"]["record"]["id"]
            new.value = answer["result"]["record"].get("value")
            self.memory.correct(record, new)

    def request_for(
        self, record: Record, content: str, prefixes: tuple[str, str], like: Saying | None = None
    ) -> Event:
        """The user's words, taken in."""
        language = int(content.isascii())
        words = content if language == 0 or content[0] == "I" else content[0].lower() + content[1:]
        words = words if prefixes[0] != "更正：" else content
        denies = like.denies if like else record.denies
        saying = Saying("user", (words, words), subject=record.subject, denies=denies)
        told = self.said(saying, language, prefix=prefixes[language])
        told.content = content
        self.take_in(told)
        return told

    def act(
        self, method: str, record: Record, told: Event, moved: bool, crash: str | None, **more: Any
    ) -> Any:
        """Ask for a change of a record, in the user's words."""
        revision = self.record_of(record.id)["object_revision"]
        return self.ask(
            method, "act", crash, record_id=record.id, expected_revision=revision + moved,
            user_request={"event_id": told.id, "quote": told.text}, **more,
        )  # fmt: skip

    # ---- forgetting ----------------------------------------------------------

    @precondition(lambda self: self.memory.records and "memory.forget" in METHODS)
    @rule(pick=_picks, crash=_crashes)
    def forget_a_record(self, pick: int, crash: str | None) -> None:
        """A record goes, with the words that no other record rests on."""
        record = self.pick(pick, lambda _: True)
        assert record is not None
        self.forget({"record_ids": [record.id]}, crash)
        self.memory.forget_record(record)

    @precondition(lambda self: self.memory.events and "memory.forget" in METHODS)
    @rule(pick=_picks, crash=_crashes)
    def forget_an_event(self, pick: int, crash: str | None) -> None:
        """An event goes, with what rests on nothing else."""
        told = list(self.memory.events.values())[pick % len(self.memory.events)]
        if told.forgotten:
            answer = self.service.refused("memory.forget", select={"event_ids": [told.id]})
            assert answer["code"] == "bad_request"
            return
        self.forget({"event_ids": [told.id]}, crash)
        self.memory.forget_events([told.id])

    def forget(self, select: Mapping[str, Any], crash: str | None) -> None:
        """Look first, then do it."""
        before = self.listed()
        self.service.ask("memory.forget", select=select)
        assert self.listed() == before
        answer = self.ask("memory.forget", "forget", crash, select=select, dry_run=False)
        if self.killed.died and crash == "after_commit" and "event_ids" in select:
            assert answer["error"]["code"] == "bad_request", "it is forgotten already"
            return
        if not answer["ok"]:
            assert self.killed.died
            assert answer["error"]["code"] == "bad_request", answer
            return
        self.forgettings.append(answer["result"]["forget_id"])

    # ---- crashes and repairs -------------------------------------------------

    @rule(lost=st.sets(st.sampled_from(["queue", "index", "cache"])))
    def crash(self, lost: set[str]) -> None:
        """The process is killed while it is idle; what can be made anew may be gone, too."""
        self.killed.kill()
        if not lost:
            return
        self.service.stop()
        for name in lost & {"index", "cache"}:
            shutil.rmtree(self.service.state / name, ignore_errors=True)
        if "queue" in lost:
            for path in (self.service.state / "data").glob("queue.sqlite3*"):
                path.unlink()
        self.service.start()

    @rule()
    def restart(self) -> None:
        """The process is stopped as it should be."""
        self.service.restart()

    @rule(dry_run=st.booleans())
    def rebuild(self, dry_run: bool) -> None:
        """Records that are made anew are the same; so is all that is made of them, once it is."""
        before = self.listed()
        at_rest = self.is_at_rest()
        report = self.carried_out("ops.rebuild", dry_run=dry_run)
        parts = report.values() if at_rest else [report.get("records", {})]
        assert not [part for part in parts if sum(part.values()) != part.get("same", 0)], report
        assert self.listed() == before

    def is_at_rest(self) -> bool:
        """Whether nothing is left to be indexed, published or erased."""
        states = {row["state"] for row in self.service.packages()}
        return states <= {"done"} and not self.still_erasing()

    def still_erasing(self) -> list[Any]:
        """The forgettings that are not done."""
        asked = [
            self.service.ask("memory.forget.status", forget_id=name)
            for name in set(self.forgettings)
        ]
        return [found for found in asked if found["state"] != "done"]

    def carried_out(self, method: str, **params: Any) -> Any:
        """A long operation's report, once it has ended."""
        begun = self.service.ask(method, **params)
        done = threading.Event()
        self.service.services.operations.submit(done.set)
        assert done.wait(60)
        found = self.service.ask("ops.operation.get", operation_id=begun["operation_id"])
        assert found["state"] == "done", found
        return found["report"]

    # ---- what holds ----------------------------------------------------------

    def listed(self) -> list[Any]:
        """All records."""
        found = self.service.ask("memory.record.list", limit=200)
        assert found["next"] is None
        return list(found["items"])

    @invariant()
    def records_are_those_of_the_model(self) -> None:
        """Status, words, evidence and links are as the rules have them."""
        found = {item["id"]: item for item in self.listed()}
        shown = {
            name: {
                "subject_id": item["subject_id"],
                "kind": item["kind"],
                "content": item["content"],
                "key": item.get("key"),
                "status": item["status"],
                "evidence": sorted({span["event"] for span in item["source_refs"]}),
                "conflicts_with": sorted(item.get("conflicts_with", [])),
            }
            for name, item in found.items()
        }
        _alike(shown, self.memory.shown())
        assert not [item for item in found.values() if item.get("missing_evidence")]
        for name, record in self.memory.records.items():
            winners = {item["id"] for item in found.values() if name in item.get("supersedes", [])}
            assert winners <= record.beaten_by, (name, winners, record)
            assert bool(winners) == bool(record.beaten_by), (name, winners, record)

    @invariant()
    def positions_only_grow(self) -> None:
        """Received, organized and published, none before the other."""
        found = self.service.positions()
        for name, before in self.heights.items():
            assert found[name] >= before, (found, self.heights)
            self.heights[name] = found[name]
        assert found["received"] >= found["organized"] >= found["published"]
        last = max((one.seq for one in self.memory.events.values()), default=0)
        assert (found["received"], found["dead"]) == (last, 0)

    def everything_agrees(self) -> None:
        """Once all is worked off: positions, fates, histories, evidence, views, recalls, rebuilds."""
        self.records_are_those_of_the_model()
        self.positions_only_grow()
        found = self.service.positions()
        assert (found["published"], found["backlog"]) == (found["received"], 0), found
        told = [self.fates_are_told(), self.records_are_told(), self.views_show_what_holds()]
        self.erased()
        assert self.is_at_rest()
        self.rebuild(dry_run=True)
        self.rebuild(dry_run=False)
        self.nothing_forgotten_is_told(told)

    def fates_are_told(self) -> Any:
        """Each event has one fate, and its records are those that rest on it."""
        answers = []
        for told in self.memory.events.values():
            fate = self.service.ask("ops.fate", event_id=told.id)
            answers.append(fate)
            assert fate["event"]["seq"] == told.seq
            fated = "forgotten" if told.wordless else "packaged" if told.observed else "merged"
            assert fate["fate"] == fated
            resting = {one.id for one in self.memory.records.values() if told.id in one.evidence}
            assert {one["id"] for one in fate["records"]} == resting
        return answers

    def records_are_told(self) -> Any:
        """Revisions grow by one; the last one is what is shown; each quote stands where it should."""
        answers = []
        for name, record in self.memory.records.items():
            history = self.service.ask("memory.record.history", record_id=name)["items"]
            revisions = [item["revision"] for item in history]
            assert revisions == list(range(revisions[0], revisions[0] + len(revisions)))
            shown = self.record_of(name)
            assert {**history[-1], "source_refs": 0} == {**shown, "source_refs": 0}
            proven = self.service.ask("memory.evidence.get", record_id=name)
            texts = {item["id"]: item["text"] for item in proven["events"]}
            assert (set(texts), list(proven["missing"])) == (set(record.evidence), [])
            for span in proven["spans"]:
                assert texts[span["event"]][span["start"] : span["end"]] == span["quote"]
            answers += [history, proven]
        return answers

    def views_show_what_holds(self) -> Any:
        """Snapshots and recalls show nothing that is over as if it held, and find what holds."""
        answers: list[Any] = []
        for subject in ("报销", "site", "@owner"):
            view = self.service.ask("snapshot.get", object=subject)
            shown = {item["record_id"] for part in view["sections"] for item in part["items"]}
            assert {self.memory.records[name].status for name in shown} <= {"active"}
            answers.append(view)
        for number, record in enumerate(self.memory.records.values()):
            found = self.recalled(f"q{number}", record)
            hits = [*found["binding"], *found["hits"]]
            names = {hit["record"]["id"] for hit in hits if "record" in hit}
            assert {self.memory.records[name].status for name in names} <= set(LIVE)
            assert record.status != "active" or record.id in names, (record, found)
            assert not {hit["event"]["id"] for hit in hits if "event" in hit} & record.evidence
            answers.append(found)
        return answers

    def recalled(self, request_id: str, record: Record) -> Any:
        """The result of a question in a record's own words."""
        for _ in range(1_000):
            found = self.service.ask(
                "memory.continuity.recall", request_id=request_id, query=record.content,
                objects=[record.subject], budget={"items": 100, "tokens": 32_000},
            )  # fmt: skip
            if found["state"] != "pending":
                return found
        raise AssertionError("the recall never ended")

    def nothing_forgotten_is_told(self, told: Any) -> None:
        """No word that was forgotten is in any answer, nor, once it is said, in any file."""
        text = orjson.dumps(told).decode()
        gone = [one.mark for one in self.memory.events.values() if one.wordless]
        assert not [mark for mark in gone if mark in text]
        for mark in gone:
            assert not self.service.holds_bytes(mark)

    def erased(self) -> None:
        """Wait until it is said that no byte is left."""
        pause = threading.Event()
        found: list[Any] = []
        for _ in range(1_000):
            found = self.still_erasing()
            if not found:
                return
            due = [one["next_attempt_at"] for one in found if one["state"] == "blocked"]
            self.service.clock.set(max([*due, self.now]))
            pause.wait(0.02)
        raise AssertionError(f"not erased: {found}")


def _say_once_more(
    sent: dict[str, Any], known: Record, proposal: Mapping[str, Any], record: Record
) -> None:
    """One proposal for what a package says twice, on the evidence of both."""
    evidence = [*sent["evidence"], *proposal["evidence"]]
    known.evidence |= record.evidence
    if record.said_at > known.said_at:
        sent.update(proposal)
        known.said_at = record.said_at
        known.valid_from, known.valid_to = record.valid_from, record.valid_to
    sent["evidence"] = evidence


def _spoilt(sent: list[dict[str, Any]], how: str | None) -> tuple[dict[str, Any], str] | None:
    """A proposal that must not take effect, made from one that may, and its code."""
    if how is None or not sent:
        return None
    good = sent[0]
    quote = good["evidence"][0]
    match how:
        case "quote":
            return good | {"evidence": [quote | {"quote": "谁也没有说过的话"}]}, "quote_not_found"
        case "none":
            return good | {"evidence": []}, "no_source"
        case "object":
            return good | {"subject": "nobody-knows"}, "unknown_object"
        case "long":
            return good | {"content": "以后报销都用新模板，" * 1 + "长句" * 300}, "too_long"
        case _:
            return good, "duplicate"


@pytest.mark.usefixtures("_compiled_once")
@pytest.mark.timeout(7_200)
def test_memory_behaves_as_its_rules_say() -> None:
    """In whatever order things happen, the service holds what the plain model of its rules holds."""
    chosen = settings(
        deadline=None, report_multiple_bugs=False, suppress_health_check=list(HealthCheck)
    )
    if settings.get_current_profile_name() != LONG:
        chosen = settings(chosen, max_examples=20, stateful_step_count=25)
    run_state_machine_as_test(MemoryMachine, settings=chosen)
