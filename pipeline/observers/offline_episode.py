"""One episode a package of work: goal, actions, result, what failed, what is left (mission D1).

Built from verbatim parts, each of them quoted as evidence. External text is never among them:
it can be found as the event it is, and an episode that tells it would carry it into contexts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.observers import offline_lexicon as words
from pipeline.rules.filtering import FINAL_STATES, classify
from pipeline.rules.wording import chinese, clip, content_words, sentences, simplified
from storage.records.events import Event, ObjectKind, Role
from storage.records.knowledge import Proposal, Quote, RecordKind
from storage.records.runs import PackagedEvent, WorkPackage

_CONTENT = 600
_CUE = 40
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
"""How parts are named, in Chinese and English. What an action reports and what a check found
have different names (mission A4)."""

_KEEP = {
    "goal": 1, "decision": 2, "action": 3, "artifact": 3, "seen": 2, "failure": 3, "unanswered": 2,
    "report": 2, "passed": 2, "refuted": 2, "checked": 2, "left": 2,
}  # fmt: skip
_TALK = frozenset({Role.USER, Role.SUPERVISOR, Role.EXTERNAL})
_STATES = frozenset({*FINAL_STATES, "blocked"})
_WORTH = _STATES | {"artifact", "failure", "unanswered", "report", "passed", "refuted", "checked"}
_FIRST_TO_FIT = (
    "goal", "failure", "unanswered", "refuted", "passed", "checked", *sorted(_STATES), "artifact",
    "left", "report", "decision", "action", "seen",
)  # fmt: skip


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
    parts = [part for part in _parts(work.events) if words.REDACTED not in part.text]
    if not any(part.name in _WORTH for part in parts):
        return None
    told = _fitting(_kept(parts))
    in_chinese = chinese(" ".join(part.text for part in told))
    return Proposal(
        kind=RecordKind.EPISODE,
        content=_join(told, in_chinese=in_chinese),
        evidence=tuple(dict.fromkeys(Quote(part.event.id, part.text) for part in told)),
        cues=tuple(_cues(work, told)),
    )


def _parts(items: Iterable[PackagedEvent]) -> Iterator[_Part]:
    for item in items:
        event = item.event
        if event.role is Role.EXTERNAL or not event.text.strip():
            continue
        name = _name(item)
        if name is not None:
            text = _head(event) if name == "goal" else event.text
            yield _Part(name, clip(text, _LIMITS.get(name, _LONG)), event, item.count)
        if event.role in {Role.EXECUTOR, Role.RUNTIME, Role.VERIFICATION}:
            yield from _left(event)


def _name(item: PackagedEvent) -> str | None:
    event = item.event
    if event.role is Role.USER:
        head = _head(event)
        return "goal" if content_words(head) and not _asks(head) else None
    if event.kind == "supervisor.decision" and event.role is Role.SUPERVISOR:
        return "decision"
    if item.unanswered:
        return "unanswered"
    if event.kind == "task.state":
        state = _datum(event, "state")
        return state if isinstance(state, str) and state in _STATES else None
    if event.kind == "verification.result" and event.role is Role.VERIFICATION:
        return _verdict(event)
    return _BY_REASON.get(classify(event).reason) if event.role is not Role.SUPERVISOR else None


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


def _datum(event: Event, name: str) -> object:
    return event.data.get(name) if event.data else None


def _asks(text: str) -> bool:
    return words.QUESTION.search(simplified(text).strip()) is not None


def _head(event: Event) -> str:
    start, end = next(sentences(event.text), (0, len(event.text)))
    return event.text[start:end]


def _left(event: Event) -> Iterator[_Part]:
    for start, end in sentences(event.text):
        sentence = event.text[start:end]
        if words.LEFT.search(simplified(sentence)):
            yield _Part("left", clip(sentence, _LONG), event)


def _kept(parts: Sequence[_Part]) -> list[_Part]:
    """Of each name the last few, the goal being the first; a text is told once."""
    kept: list[_Part] = []
    texts: set[str] = set()
    for name, limit in ((name, _KEEP.get(name, 1)) for name in _LABELS):
        named = _counted(part for part in parts if part.name == name and part.text not in texts)
        chosen = named[:limit] if name == "goal" else named[-limit:]
        texts.update(part.text for part in chosen)
        kept.extend(chosen)
    return kept


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
    text = part.text.rstrip("。.；; ")
    return f"{label}{'：' if in_chinese else ': '}{text}{times if part.count > 1 else ''}"


def _cues(work: WorkPackage, told: Sequence[_Part]) -> Iterator[str]:
    """How an object that has long been quiet may be asked for: by its name and what failed."""
    named = next(
        (
            ref
            for item in work.events
            for ref in item.event.objects
            if ref.id == work.package.object_id
        ),
        None,
    )
    if named is None:
        return
    title = clip(named.title or named.id, _CUE // 2)
    if named.kind is ObjectKind.ASSET:
        yield title
    for part in told:
        if part.name in {"failure", "refuted", "blocked"}:
            yield clip(f"{title} {part.text}", _CUE)
