"""What the *filter* stage makes of an event: audit or memory, alone or merged, now or in time.

Pure and without a tokenizer, since it runs for every event (mission C1; spec: protocol,
Conventions in `data`). An event's role decides, never its kind alone: a kind is a caller's word.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from pipeline.rules.lexicon import says_correction
from storage.records.events import Event, Role

FINAL_STATES = frozenset({"done", "failed", "cancelled"})
"""Task states that end a task (spec: protocol, Conventions in `data`)."""

RECORD_EDIT = "record.edit"
"""The user's words that an import has taken from an edited document; their effect is there already.
The wire takes no event of this kind."""

URGENT_STATES = FINAL_STATES | {"blocked"}
"""Task states that close a package at once (mission C2)."""


@dataclass(frozen=True, slots=True)
class Classification:
    """What the filter says of one event.

    `audit`: kept but not organised, for the stable `reason`. `signature`: events of a lane with
    the same one are repeats of each other. `repeat_audit`: a repeat goes to audit instead of
    being counted. `urgent`: the package closes with this event.
    """

    audit: bool
    reason: str
    signature: str | None = None
    urgent: bool = False
    repeat_audit: bool = False


def classify(event: Event) -> Classification:
    """Whether an event is audit or memory, and what it is a repeat of.

    Source: mission C1, C2 and B5.
    """
    if event.role is Role.EXTERNAL:
        return _merged("external", event, keep_quantities=True)
    if not event.text.strip() and not event.data:
        return Classification(audit=True, reason="empty")
    if event.role is Role.USER:
        return _user(event)
    if event.kind == "task.state":
        return _task_state(event)
    if event.role is Role.SUPERVISOR:
        return Classification(audit=False, reason="supervisor")
    return _work(event)


def effective(event: Event) -> bool:
    """Whether an event counts among a package's 20 (mission C2)."""
    return not classify(event).audit


def ordinary_action(event: Event) -> bool:
    """Whether a call or receipt is about one of the small steps that work consists of.

    Its `data.action` tells, or the text's first word where there is none.
    """
    action = _datum(event, "action")
    if isinstance(action, str) and action.strip():
        words = [word for word in _ACTION_PARTS.split(action.casefold()) if word]
        return bool(words) and all(word in _ORDINARY for word in words)
    return len(event.text) <= _SHORT and _ORDINARY_TEXT.match(event.text) is not None


def _user(event: Event) -> Classification:
    if event.kind == RECORD_EDIT:
        return Classification(audit=True, reason="record_edit")
    urgent = event.kind == "user.correction" or says_correction(event.text)
    return Classification(audit=False, reason="user", urgent=urgent)


def _task_state(event: Event) -> Classification:
    state = _datum(event, "state")
    if state in URGENT_STATES:
        return Classification(audit=False, reason=f"task_{state}", urgent=True)
    if state in {"queued", "running"} and not event.text.strip():
        return Classification(audit=True, reason="task_progress")
    return _merged("task_state", event)


def _work(event: Event) -> Classification:
    if event.kind == "executor.call":
        ordinary = ordinary_action(event)
        return Classification(audit=ordinary, reason="ordinary_action" if ordinary else "call")
    if event.kind == "executor.receipt":
        return _receipt(event)
    if event.kind in _SINGLE:
        return Classification(audit=False, reason=_SINGLE[event.kind])
    if event.kind in _REPORTS:
        return _merged(_REPORTS[event.kind], event, keep_quantities=True)
    return _observation(event)


def _receipt(event: Event) -> Classification:
    ok = _datum(event, "ok")
    if ok is False or (ok is None and _FAILED.search(event.text)):
        return _merged("error", event)
    if ordinary_action(event):
        return Classification(audit=True, reason="ordinary_action")
    signature = _signature(event, keep_quantities=False)
    return Classification(audit=False, reason="receipt", signature=signature, repeat_audit=True)


def _observation(event: Event) -> Classification:
    if _UNCHANGED.fullmatch(event.text.strip()):
        return Classification(audit=True, reason="no_change")
    if _FAILED.search(event.text):
        return _merged("error", event, keep_quantities=True)
    return _merged("observation", event, keep_quantities=True)


def _merged(reason: str, event: Event, *, keep_quantities: bool = False) -> Classification:
    signature = _signature(event, keep_quantities=keep_quantities)
    return Classification(audit=False, reason=reason, signature=signature)


def _datum(event: Event, name: str) -> object:
    return event.data.get(name) if event.data else None


_SINGLE = {"executor.artifact": "artifact", "schedule.due": "schedule"}
_REPORTS = {"pi.report": "report", "verification.result": "verification"}
_ORDINARY = frozenset(
    re.findall(
        r"\S+",
        "click clicked clicks tap double right left middle single mouse move hover scroll up down drag"
        " drop key keys keyboard press keypress keydown keyup hotkey type typing text input wait sleep"
        " pause focus screenshot screen capture snapshot look cursor button to element window get state"
        " tree 点击 单击 双击 右键 左键 移动 悬停 滚动 拖动 拖拽 按键 快捷键 输入 键入 等待 聚焦 截图 截屏"
        " 鼠标 键盘",
    )
)
_ACTION_PARTS = re.compile(r"[^a-z\u4e00-\u9fff]+")
_SHORT = 80
_ORDINARY_TEXT = re.compile(
    r"\s*(?:成功|已|已经)?(?:点击|单击|双击|右键|移动鼠标|滚动|拖动|按下|截图|截屏)"
    r"|\s*(?:(?:double|right|left)[- ])?(?:clicked?|tapped|scrolled|hovered|dragged|pressed)\b"
    r"|\s*moved? (?:the )?(?:mouse|cursor)\b|\s*(?:took a )?screenshot\b",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(
    r"(?:界面|页面|屏幕|画面|状态|窗口)?(?:没有|无|未发生|未见|并无)(?:任何|明显)?(?:变化|改变|更新|变动)[。.]?"
    r"|(?:the )?(?:(?:screen|page|window|state|ui) (?:is |has )?)?(?:no|not|un)[ -]?changed?s?"
    r"(?: (?:detected|observed|since last))?\.?",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"失败|错误|异常|报错|超时|崩溃|拒绝(?:访问|连接)|无法|\b(?:error|fail(?:ed|ure|s)?|exception|timed? ?out"
    r"|timeout|crash(?:ed)?|refused|denied|unable to|cannot|can't)\b",
    re.IGNORECASE,
)

_UUID = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-7][0-9a-hjkmnp-tv-z]{25}\b"
_DATE = r"\d{4}(?:[-/]\d{1,2}[-/]\d{1,2}|年\d{1,2}月\d{1,2}日)"
_ZONE = r"(?:Z|[+-]\d{2}:?\d{2})?"
_SECONDS = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
# A time to the minute is a stamp where a log puts one, or a screen says when it was drawn; elsewhere it
# may be what has changed: when a meeting is, when something is due.
_STAMP = (
    rf"\b{_DATE}[T ]?{_SECONDS}{_ZONE}"
    rf"|(?<![^\n])[\[(（【]?{_DATE}[T ]?\d{{1,2}}:\d{{2}}{_ZONE}[\])）】]?(?=[\s:：|,，-])"
    rf"|[\[（(【](?:{_DATE}[T ]?)?\d{{1,2}}:\d{{2}}[\]）)】]"
    r"|(?:更新于|更新时间|刷新于|截图时间|当前时间|时间戳|截至|updated(?: at)?|refreshed(?: at)?|captured at|as of|timestamp|\bts|\bnow)"
    rf"\s?[=:：]?\s?(?:\d{{10,19}}\b|(?:{_DATE}[T ]?)?(?:上午|下午|晚上)?\d{{1,2}}:\d{{2}}(?:\s?[ap]m)?)"
)
_CLOCK = rf"(?<!\d){_SECONDS}(?!\d)"
_POINT = (
    r"[(（\[]\s*-?\d{1,6}(?:\.\d{1,6})?(?:\s*[,，]\s*-?\d{1,6}(?:\.\d{1,6})?){1,3}\s*[)）\]]"
    r"|\bat \d{1,5}\s?,\s?\d{1,5}\b"
)
_AXIS = r"\b[xy]\s*[=:：]\s*-?\d{1,6}(?:\.\d{1,6})?"
_HEX = r"\b(?:0x[0-9a-f]{1,40}|(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[0-9a-f]{8,64})\b"
_NUMERAL = r"(?:\d{1,9}|[一二三四五六七八九十百两]{1,5})"
_SPAN = (
    rf"{_NUMERAL}(?:\.\d{{1,6}})?\s?(?:ms|s|secs?|seconds?|毫秒|秒)(?![a-z])"
    rf"|(?:等待?了?|耗时|用时|已?运行了?|持续了?|took|waited|elapsed|running for|after)\s?[:：]?\s?{_NUMERAL}\s?(?:分钟?|minutes?|mins?|m)(?![a-z])"
    rf"|{_NUMERAL}\s?(?:分钟前|minutes? ago|mins? ago)"
)
_COUNT = (
    rf"第\s?{_NUMERAL}\s?次(?=重试|刷新|尝试|轮询|检查|心跳|连接)"
    r"|\b(?:attempt|retry|retries|try|refresh|poll|tick|heartbeat|iteration)\s?[#:=]?\s?\d{1,9}"
    r"|(?:\b(?:pid|tid|process(?: id)?|thread(?: id)?)|进程号?|线程号?)\s?[#:=：-]?\s?\d{1,9}"
)
_TEMPORARY = r"/(?:tmp|temp|var/folders)/[^\s/]{1,80}"
_VOLATILE = f"{_UUID}|{_STAMP}|{_CLOCK}|{_POINT}|{_AXIS}|{_TEMPORARY}|{_HEX}|{_SPAN}|{_COUNT}"
# A status or exit code tells errors apart, and so does an id of letters and digits (BX-2024-001).
_KEPT = (
    r"(?P<kept>(?:\b(?:code|status|https?|errno|exit|error)|错误码|状态码|代码|错误)\s?[:=：#]?\s?\d{1,6}"
    r"|[a-z]{1,12}[-_]?\d[-_a-z0-9]*)"
)
_MASK = re.compile(_VOLATILE, re.IGNORECASE | re.ASCII)
_SHORT_HEX = r"\b(?=[a-f]{0,7}\d)(?=\d{0,7}[a-f])[0-9a-f]{4,7}\b"
_MASK_NUMBERS = re.compile(
    rf"{_VOLATILE}|{_SHORT_HEX}|{_KEPT}|第[一二三四五六七八九十百两]{{1,5}}次|\d+(?:[.,:]\d+)*",
    re.IGNORECASE | re.ASCII,
)


_VOLATILE_NAMES = frozenset(
    re.findall(
        r"\S+",
        "x y w h width height left top right bottom bbox box rect region coordinate coordinates coords position pos"
        " point at time timestamp ts captured_at seen_at taken_at duration duration_ms elapsed elapsed_ms latency_ms"
        " took_ms request_id trace_id span_id session_id event_id call_id frame frame_id screenshot screenshot_id image"
        " image_id nonce attempt attempts retry retries pid tid seq 坐标 位置 时间 时间戳 耗时 次数 序号",
    )
)


def _signature(event: Event, *, keep_quantities: bool) -> str:
    """A digest of what an event says, without what differs at each repeat.

    Quantities stay in observations and reports: a changed one is a key change, not a repeat.
    """
    said = event.text
    if event.data:
        said += "\n" + json.dumps(_lasting(event.data), ensure_ascii=False, sort_keys=True)
    if keep_quantities:
        text = _MASK.sub("#", said)
    else:
        text = _MASK_NUMBERS.sub(lambda match: match["kept"] or "#", said)
    facts = [repr(_datum(event, name)) for name in ("action", "ok", "passed", "state")]
    parts = (event.kind, event.role, event.subject_id, *facts, " ".join(text.casefold().split()))
    return blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()


def _lasting(value: object) -> object:
    """Data without what differs at each look at the same thing."""
    if isinstance(value, Mapping):
        return {
            name: _lasting(each)
            for name, each in value.items()
            if name.casefold() not in _VOLATILE_NAMES
        }
    return [_lasting(each) for each in value] if isinstance(value, list) else value
