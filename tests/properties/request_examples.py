"""Valid params for every method, in Chinese and English, as tests change them."""

import itertools
from collections.abc import Callable
from typing import Any, Final

from pipeline.projections.markdown import object_text, record_text
from socket_gateway.protocol.base import LAST_TIME
from storage.records.events import ObjectKind
from storage.records.knowledge import (
    Authority,
    MemoryObject,
    ObjectState,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)
from tests.service_support import DAY, NOW, event

Json = dict[str, Any]

WORK: Final = "work"
"""No method: the consumer does all that is due."""


class World:
    """What the requests of one example can refer to: its owner, and ids that answers have named."""

    def __init__(self, number: int) -> None:
        self.owner = f"owner-{number}"
        self.other = f"other-{number}"
        self.events = ["e-0"]
        self.records = ["r-0"]
        self.forgetting = "f-0"
        self.record: Json = {"id": "r-0", "object_revision": 0}
        self.package: Json = {"id": 1, "token": 1, "events": [{"id": "e-0", "text": "好的"}]}
        self._ids = itertools.count(1)

    @property
    def ids(self) -> list[str]:
        """Every id that may stand where another does."""
        return [*self.events, *self.records, self.owner, self.other, "expense", "报销", "t1"]

    def event(self, text: str, **more: Any) -> Json:
        """A valid event under a fresh id, with each optional field."""
        full: Json = {
            "objects": [{"id": "expense", "kind": "project", "title": "报销"}, {"id": "报销"}],
            "task": {"id": "t1", "version": 1},
            "request_id": "q1",
            "causes": [self.events[-1]],
            "priority": "high",
            "data": {"字段": {"nested": [1, None, "值"]}},
            "recalled": [self.records[-1]],
            "expires_at": NOW + DAY,
            "stream": "chat-1",
            "speaker": "张三",
            "ref": "file:///报销.xlsx",
        }
        return event(f"e-{next(self._ids)}", text, **(full | more))

    def learn(self, method: str, result: Json) -> None:
        """Remember what an answer named."""
        if method == "memory.events.ingest":
            self.events += [item["id"] for item in result["accepted"]]
        elif method == "memory.record.list":
            self.records += [item["id"] for item in result["items"]]
        elif method == "memory.record.get":
            self.record = result
        elif method in {"memory.record.confirm", "memory.record.correct"}:
            self.record = result["record"]
        elif method == "memory.observation.commit":
            self.records += [item["record_id"] for item in result["accepted"]]
        elif method == "memory.forget" and result.get("forget_id"):
            self.forgetting = result["forget_id"]
        elif method == "memory.observation.claim" and result["packages"]:
            self.package = result["packages"][0]

    def proposal(self, **more: Any) -> Json:
        """A proposal with each optional field, resting on the last claimed package."""
        said = self.package["events"][0]
        full: Json = {
            "kind": "rule", "content": said["text"] or "好的", "subject": "expense",
            "evidence": [{"event": said["id"], "quote": said["text"]}], "key": "expense.template",
            "value": "新模板", "scope": {"objects": ["expense"], "task": "t1", "once": False},
            "valid_from": NOW, "valid_to": NOW + DAY, "review_at": NOW + DAY,
            "supersedes": self.records[1:][-1:], "conditions": ["月底"], "steps": ["fill it in"],
            "failure": ["超时"], "verify": ["sent"], "cues": ["报销", "expenses"],
        }  # fmt: skip
        return full | more


def _chinese(w: World) -> Json:
    said = ("以后报销都用新模板", "我叫张伟", "明天下午3点提醒我交报告", "不对，其实用旧模板")
    events = [w.event(text) for text in said]
    return {"owner": w.owner, "events": events + _requests(w, "确认这条记录", "改成蓝色的吧")}


def _english(w: World) -> Json:
    said = ("Always use the new template.", "My name is John.", "Remind me tomorrow at 3 pm.")
    events = [w.event(text, at=NOW - DAY) for text in said]
    return {
        "owner": w.owner,
        "events": events + _requests(w, "Confirm this record.", "Make it blue."),
    }


def _requests(w: World, *said: str) -> list[Json]:
    """What the user says of records, after everything else."""
    return [w.event(text, at=NOW + at) for at, text in enumerate(said, start=20)]


def _asked(w: World, place: int, quote: str, **more: Any) -> Json:
    """A request in the words of one of the last events that were ingested."""
    return {
        "owner": w.owner, "record_id": w.record["id"],
        "expected_revision": w.record["object_revision"],
        "user_request": {"event_id": w.events[place:][0], "quote": quote},
    } | more  # fmt: skip


def _run(w: World) -> Json:
    """A call, its result, what became of the task, and words from outside."""
    return {
        "owner": w.owner,
        "events": [
            w.event("打开报销系统", role="executor", kind="executor.call", data={"action": "open"}),
            w.event("ok", role="executor", data={"ok": True, "action": "open"}),
            w.event("", role="runtime", data={"state": "done"}),
            w.event("Sent.", role="verification", data={"passed": True}),
            w.event("屏幕上是报销页面", role="observation"),
            w.event("New template: see page 3", role="external"),
        ],
    }


EXAMPLES: Final[dict[str, list[Callable[[World], Json]]]] = {
    "health": [lambda _: {}],
    "memory.events.ingest": [_chinese, _english, _run],
    "ops.flush": [lambda w: {"owner": w.owner}, lambda _: {}],
    "memory.observation.claim": [
        lambda w: {"worker": "w1", "max": 2, "lease_ms": 60_000, "owner": w.owner},
        lambda _: {"worker": "工人"},
    ],
    "memory.observation.commit": [
        lambda w: _held(w, proposals=[w.proposal()]),
        lambda w: _held(w, proposals=[w.proposal(kind="fact", **{"class": "project"})]),
        lambda w: _held(w, proposals=[w.proposal(kind="commitment"), w.proposal(kind="cue")]),
        lambda w: _held(w, proposals=[], nothing_worth_keeping="只是闲聊"),
    ],
    "memory.observation.fail": [
        lambda w: _held(w, error="模型超时", retry_after_ms=1_000),
        lambda w: _held(w, error="model refused"),
    ],
    WORK: [lambda _: {}],
    "memory.record.list": [
        lambda w: {"owner": w.owner, "limit": 20},
        lambda w: {"owner": w.owner, "object": "expense", "kind": "rule", "status": "active",
                   "after": "r-0", "limit": 5},
    ],
    "memory.record.get": [lambda w: {"owner": w.owner, "record_id": w.records[-1]}],
    "memory.record.history": [lambda w: {"owner": w.owner, "record_id": w.records[-1]}],
    "memory.record.confirm": [
        lambda w: _asked(w, -2, "确认这条记录"),
        lambda w: _asked(w, -2, "Confirm this record."),
    ],
    "memory.record.correct": [
        lambda w: _asked(w, -1, "改成蓝色的吧", content="改成蓝色"),
        lambda w: _asked(w, -1, "Make it blue.", content="Make it blue"),
    ],
    "memory.evidence.get": [
        lambda w: {"owner": w.owner, "record_id": w.records[-1], "offset": 0, "limit": 10},
        lambda w: {"owner": w.owner, "event_ids": w.events[-3:], "offset": 2},
    ],
    "memory.continuity.recall": [
        lambda w: _question(w, "上个月的报销用什么模板？"),
        lambda w: _question(w, "Which template for BX-2024-001?", purpose="plan", include_past=True),
    ],
    "snapshot.get": [lambda w: {"owner": w.owner, "object": "expense"}, lambda w: {"owner": w.owner}],
    "memory.positions": [lambda w: {"owner": w.owner}],
    "memory.object.put": [
        lambda w: {"owner": w.owner, "id": "流程", "kind": "process", "title": "报销流程",
                   "state": "active", "expected_revision": 0},
    ],
    "memory.object.get": [lambda w: {"owner": w.owner, "id": "expense"}],
    "memory.object.list": [
        lambda w: {"owner": w.owner, "kind": "project", "state": "active", "after": "a", "limit": 9},
    ],
    "memory.export": [lambda w: {"owner": w.owner, "limit": 3}, lambda w: {"owner": w.owner}],
    "memory.import": [
        lambda w: _documents(w, "以后报销都用蓝色模板", dry_run=False),
        lambda w: _documents(w, "Always use the blue template."),
    ],
    "memory.forget": [
        lambda w: {"owner": w.owner, "select": {"event_ids": w.events[-1:]}, "dry_run": False},
        lambda w: {"owner": w.owner, "select": {"record_ids": w.records[-1:]}, "dry_run": False,
                   "reason": "用户说算了"},
        lambda w: {"owner": w.owner, "dry_run": True, "reason": "asked to",
                   "select": {"object": "报销", "before": NOW - DAY, "task_ids": ["t1"]}},
    ],
    "memory.forget.status": [lambda w: {"owner": w.owner, "forget_id": w.forgetting}],
    "ops.status": [lambda _: {}],
    "ops.rebuild": [lambda w: {"owner": w.owner, "dry_run": True}, lambda _: {}],
    "ops.reindex": [lambda w: {"owner": w.owner}],
    "ops.snapshot.rebuild": [lambda _: {"dry_run": True}],
    "ops.operation.get": [lambda _: {"operation_id": 1}],
    "ops.fate": [lambda w: {"event_id": w.events[-1], "owner": w.owner}],
    "ops.packages": [lambda _: {"state": "done", "after": 1, "limit": 10}],
    "ops.dead.list": [lambda _: {"after": 0, "limit": 10}],
    "ops.dead.requeue": [lambda _: {}, lambda _: {"ids": [1, 2]}],
    "ops.dead.discard": [lambda w: {"ids": [w.package["id"]]}],
    "ops.stage.pause": [lambda _: {"stage": "merge"}],
    "ops.stage.resume": [lambda _: {"stage": "merge"}],
}  # fmt: skip


def _held(w: World, **more: Any) -> Json:
    return {"package_id": w.package["id"], "token": w.package["token"]} | more


def _documents(w: World, content: str, **more: Any) -> Json:
    """A record of another memory, and its object."""
    record = Record(
        id=w.records[-1], owner_scope=w.owner, subject_id="报销", kind=RecordKind.RULE,
        content=content, observed_at=NOW, recorded_at=NOW, status=RecordStatus.ACTIVE,
        authority=Authority.USER, evidence=(Span(w.events[-1], -1, 0, len(content), content),),
        key="expense.template", value="模板", scope=Scope(("报销",), "t1"), valid_to=NOW + DAY,
    )  # fmt: skip
    about = MemoryObject(
        w.owner, "报销", ObjectKind.DOMAIN, "报销", ObjectState.ACTIVE, 3, NOW, NOW
    )
    texts = [record_text(record), object_text(about, [])]
    documents = [{"path": f"{n}.md", "text": text} for n, text in enumerate(texts)]
    return {"owner": w.owner, "documents": documents} | more


def _question(w: World, query: str, **more: Any) -> Json:
    return {
        "owner": w.owner, "request_id": f"q-{len(query)}", "query": query, "objects": ["expense"],
        "task": "t1", "budget": {"items": 5, "tokens": 500}, "intent_version": 1,
        "expires_at": LAST_TIME, "wait_ms": 75,
    } | more  # fmt: skip
