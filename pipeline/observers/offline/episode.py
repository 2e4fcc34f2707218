"""One episode a package of work: goal, actions, result, what failed, what is left (mission D1).

Built from verbatim parts, each of them quoted as evidence. External text is never among them:
it can be found as the event it is, and an episode that tells it would carry it into contexts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.observers.offline.cues import episode_cues
from pipeline.observers.offline.sentences import REDACTED
from pipeline.observers.offline.silence import asks
from pipeline.rules.filtering import FINAL_STATES, classify, ordinary_action
from pipeline.rules.phrasing import lowered
from pipeline.rules.wording import chinese, clip, content_words, sentences, simplified
from storage.records.events import Event, Role
from storage.records.knowledge import Proposal, Quote, RecordKind
from storage.records.runs import PackagedEvent, WorkPackage

_CONTENT = 600
_LONG = 120
_LIMITS = {"action": 80, "seen": 80, "report": 220}

_LABELS = {
    "goal": ("目标", "Goal"),
    "decision": ("决定", "Decision"),
    "action": ("操作", "Action"),
    "artifact": ("产物", "Artifact"),
    "seen": ("观察", "Observed"),
    "failure": ("失败", "Failed"),
    "unanswered": ("无结果", "No result"),
    "report": ("报告", "Report"),
    "passed": ("验证通过", "Verified"),
    "refuted": ("验证未通过", "Verification failed"),
    "checked": ("验证", "Verification"),
    "done": ("任务报告完成", "Task reported done"),
    "failed": ("任务失败", "Task failed"),
    "cancelled": ("任务取消", "Task cancelled"),
    "blocked": ("任务受阻", "Task blocked"),
    "left": ("剩余", "Left"),
}
"""How parts are named, in Chinese and English, and their order. What an action reports and what a
check found have different names (mission A4)."""

_KEEP = {
    "goal": 1, "decision": 2, "action": 3, "artifact": 3, "seen": 2, "failure": 3, "unanswered": 2,
    "report": 2, "passed": 2, "refuted": 2, "checked": 2, "left": 2,
}  # fmt: skip
_TALK = frozenset({Role.USER, Role.SUPERVISOR, Role.EXTERNAL})
_STATES = frozenset({*FINAL_STATES, "blocked"})
_RESULTS = frozenset({"passed", "refuted", "checked", *_STATES})
_WORTH = _RESULTS | {"artifact", "failure", "unanswered", "report"}
_FIRST_TO_FIT = (
    "goal", "failure", "unanswered", "refuted", "passed", "checked", *sorted(_STATES), "artifact",
    "left", "report", "decision", "action", "seen",
)  # fmt: skip

_LEFT = re.compile(
    r"剩余|还剩|还需|还差|待办|待(?:确认|处理|补|审(?!核$)|修|人工|定)|未完成"
    r"|下一步(?=[：:是要，,])|没有?做完|遗留"
    r"|需要(?:用户|人工|清理|更换)|建议(?:更换|重试)"
    r"|\b(?:remaining|left to|next steps?|to-?do|still (?:need|missing|open|to)|pending|not yet"
    r"|to be confirmed"
    r"|needs? (?:a human|the user))\b",
    re.IGNORECASE,
)
_LOG_HEAD = re.compile(
    r"\s{0,4}(?:\[?\d{4}[-/]\d{1,2}[-/]\d{1,2}[T ]?[\d:.,+Z-]{0,24}\]?\s{1,4})?(?:[\w.-]{1,40}\[\d{1,9}\]:?\s{1,4})?"
    r"(?:\[?(?:ERROR|FATAL|CRITICAL|WARN(?:ING)?|INFO)\]?:?\s{1,4})?"
)
"""What a log line begins with and nobody looks for: time, process, level."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A verbatim piece of one event, and what it is in the story."""

    name: str
    text: str
    event: Event
    count: int = 1


def episode(work: WorkPackage) -> Proposal | None:
    """The package's episode, or None when nothing in it has come to a result."""
    if all(item.event.role in _TALK for item in work.events):
        return None
    parts = [part for part in _parts(work.events) if REDACTED not in part.text]
    names = {part.name for part in parts}
    if not names & _WORTH and not {"goal", "action"} <= names:
        return None
    told = _fitting(_kept(parts))
    in_chinese = chinese(" ".join(part.text for part in told))
    return Proposal(
        kind=RecordKind.EPISODE,
        content=_join(told, in_chinese=in_chinese),
        evidence=tuple(dict.fromkeys(Quote(part.event.id, part.text) for part in told)),
        cues=_cues(work, told),
    )


def _parts(items: Iterable[PackagedEvent]) -> Iterator[_Part]:
    for item in items:
        event = item.event
        if event.role is Role.EXTERNAL or not event.text.strip():
            continue
        name = _name(item)
        if name is not None:
            yield _Part(name, _verbatim(name, event), event, item.count)
        if _may_leave(event):
            yield from _left(event)


def _verbatim(name: str, event: Event) -> str:
    text = event.text
    if name == "goal":
        text = _head(event)
    elif name in {"failure", "seen"}:
        head = _LOG_HEAD.match(text)
        rest = text[head.end() :] if head else text
        text = rest if content_words(rest) else text
    return clip(text, _LIMITS.get(name, _LONG))


def _name(item: PackagedEvent) -> str | None:
    event = item.event
    if event.role is Role.USER:
        head = _head(event)
        return "goal" if content_words(head) and not _asks(head) else None
    if event.role is Role.SUPERVISOR:
        return "decision" if event.kind == "supervisor.decision" else None
    if item.unanswered:
        return "unanswered"
    if event.kind == "task.state":
        state = _datum(event, "state")
        # The text of a task that begins is its title.
        return state if state in _STATES else "goal" if state in {"queued", "running"} else None
    if event.kind == "verification.result" and event.role is Role.VERIFICATION:
        return _verdict(event)
    return _BY_REASON.get(classify(event).reason)


_BY_REASON = {
    "error": "failure",
    "receipt": "action",
    "call": "action",
    "artifact": "artifact",
    "report": "report",
    "observation": "seen",
    "schedule": "goal",
}


def _verdict(event: Event) -> str:
    match _datum(event, "passed"):
        case True:
            return "passed"
        case False:
            return "refuted"
        case _:
            return "checked"


def _datum(event: Event, name: str) -> str | bool | None:
    value = event.data.get(name) if event.data else None
    return value if isinstance(value, (str, bool)) else None


def _asks(text: str) -> bool:
    return asks(lowered(simplified(text)).strip())


def _head(event: Event) -> str:
    start, end = next(sentences(event.text), (0, len(event.text)))
    return event.text[start:end]


def _may_leave(event: Event) -> bool:
    """Whether an event's words may tell what is left: a button's name does not."""
    if event.role in {Role.RUNTIME, Role.VERIFICATION}:
        return True
    return event.role is Role.EXECUTOR and not ordinary_action(event)


def _left(event: Event) -> Iterator[_Part]:
    for start, end in sentences(event.text):
        sentence = event.text[start:end]
        if _LEFT.search(simplified(sentence)):
            yield _Part("left", clip(sentence, _LONG), event)


def _kept(parts: Sequence[_Part]) -> list[_Part]:
    """Of each name the last few, the goal being the first; a text is told once.

    Checks and ends stand in the order in which they came, so that the last word is the last.
    """
    kept: list[_Part] = []
    texts: set[str] = set()
    for name, limit in ((name, _KEEP.get(name, 1)) for name in _LABELS):
        named = _counted(part for part in parts if part.name == name and part.text not in texts)
        chosen = named[:limit] if name == "goal" else named[-limit:]
        texts.update(part.text for part in chosen)
        kept.extend(chosen)
    came = iter(sorted((p for p in kept if p.name in _RESULTS), key=lambda p: p.event.seq))
    return [next(came) if part.name in _RESULTS else part for part in kept]


def _counted(parts: Iterable[_Part]) -> list[_Part]:
    """The same failure, or the same text, once, with how often it came."""
    told: dict[str, _Part] = {}
    for part in parts:
        signature = classify(part.event).signature if part.name == "failure" else None
        before = told.get(signature or part.text)
        count = part.count + (before.count if before else 0)
        told[signature or part.text] = replace(before or part, count=count)
    return list(told.values())


def _fitting(parts: Sequence[_Part]) -> list[_Part]:
    """The parts that fit into a content together, the weightier ones first, in their own order."""
    room = _CONTENT
    chosen: list[int] = []
    for at in sorted(range(len(parts)), key=lambda at: _FIRST_TO_FIT.index(parts[at].name)):
        size = max(len(_told(parts[at], in_chinese=way)) for way in (True, False)) + 2
        if size <= room:
            room -= size
            chosen.append(at)
    return [parts[at] for at in sorted(chosen)]


def _join(parts: Sequence[_Part], *, in_chinese: bool) -> str:
    told = [_told(part, in_chinese=in_chinese) for part in parts]
    return ("；" if in_chinese else "; ").join(told)


def _told(part: _Part, *, in_chinese: bool) -> str:
    label = _LABELS[part.name][0 if in_chinese else 1]
    times = f"（×{part.count}）" if in_chinese else f" (×{part.count})"
    text = part.text.rstrip("。.；;:： ")
    return f"{label}{'：' if in_chinese else ': '}{text}{times if part.count > 1 else ''}"


def _cues(work: WorkPackage, told: Sequence[_Part]) -> tuple[str, ...]:
    refs = (ref for item in work.events for ref in item.event.objects)
    named = next((ref for ref in refs if ref.id == work.package.object_id), None)
    failures = [part.text for part in told if part.name in {"failure", "refuted", "blocked"}]
    return episode_cues(named, failures, (part.text for part in told))
