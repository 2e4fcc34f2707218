"""Compaction: many records of an object told as one story, each of them left as it is.

Pure. The words are the sources' own, quoted from their events; what an action reported and what a
check found keep different names (mission A4, C5; spec: design, Ledger and packages).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pipeline.rules.cases import record_id
from pipeline.rules.filtering import FINAL_STATES, classify
from pipeline.rules.sources import MAX_EVIDENCE, ordered
from pipeline.rules.wording import chinese, clip, degenerate, normalised, simplified
from storage.records.events import Event, Role
from storage.records.knowledge import Record, RecordKind, RecordStatus, Span

MOST_SOURCES: Final = 200
"""Records that one roll-up links, and active ones not rolled up that an object has at most."""

LEAST_EPISODES: Final = 2
"""Stories that make a longer one; a single one tells itself."""

_CONTENT: Final = 600
_CUES: Final = 8
_BETWEEN: Final = 2

_PARTS: Final = {
    "goal": ("目标", "Goal", 2, 120),
    "done": ("操作", "Done", 5, 60),
    "reported": ("任务状态", "Task state", 2, 80),
    "verified": ("验证通过", "Verified", 2, 80),
    "refuted": ("验证未通过", "Verification failed", 2, 80),
    "failed": ("失败", "Failed", 3, 80),
    "left": ("剩余", "Left", 3, 80),
    "said": ("说过", "Said", 12, 80),
}
"""Of each part its names, how many of it are told at most, and in how many code points each."""

_FIRST_TO_FIT: Final = ("goal", "verified", "refuted", "reported", "left", "failed", "done", "said")
_LATEST: Final = frozenset({"done", "reported", "verified", "refuted", "failed", "left", "said"})
_LEFT: Final = re.compile(
    r"剩余|还剩|还需|还差|待办|待(?:确认|处理|补|审)|未完成|下一步|没有?做完"
    r"|\b(?:remaining|left to do|next steps?|to-?do|still (?:need|missing|open|to)|pending|not yet)\b",
    re.IGNORECASE,
)

_FIGURE: Final = re.compile(r"\d+|[零〇一二三四五六七八九十百千两]+")


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    span: Span
    at: int


def roll_up(
    sources: Sequence[Record], events: Mapping[int, Event], *, package_id: int, now_ms: int
) -> Record | None:
    """An episode of what these records of one object tell, linked to all of them.

    Args:
        sources: Active records that no other roll-up links, the oldest first.
        events: The events that they quote, by sequence number; one that is gone is not told.
        package_id: The compaction that makes it.
        now_ms: When it is recorded.

    Returns:
        The episode; None where there is too little to tell, or it would say nothing.
    """
    episodes = [record for record in sources if record.kind is RecordKind.EPISODE]
    if len(episodes) < LEAST_EPISODES and len(sources) < MOST_SOURCES:
        return None
    told = _fitting(_chosen(list(_told(sources, events, tells=bool(episodes)))))
    content = _join(told)
    if degenerate(content) or normalised(content) in {normalised(r.content) for r in sources}:
        return None
    spans = ordered(dict.fromkeys(part.span for part in told))
    quoted = {span.event_id for span in spans}
    first = sources[0]
    return Record(
        id=record_id(first.owner_scope, RecordKind.EPISODE, content, spans),
        owner_scope=first.owner_scope,
        subject_id=first.subject_id,
        kind=RecordKind.EPISODE,
        content=content,
        observed_at=max(record.observed_at for record in sources),
        recorded_at=now_ms,
        status=RecordStatus.ACTIVE,
        authority=min(record.authority for record in sources),
        evidence=spans,
        cues=_cues(episodes),
        links=tuple(sorted(record.id for record in sources)),
        origins=tuple(
            {o.event_id: o for r in sources for o in r.origins if o.event_id in quoted}.values()
        ),
        package_id=package_id,
    )


def _told(
    sources: Sequence[Record], events: Mapping[int, Event], *, tells: bool
) -> Iterator[_Part]:
    """The parts of the stories; of statements only what is owed, unless there is no story.

    What an earlier story left over the later ones have seen to, or tell again.
    """
    last = max(sources, key=lambda record: (record.kind is RecordKind.EPISODE, record.observed_at))
    for record in sources:
        story = record.kind is RecordKind.EPISODE
        owed = record.kind is RecordKind.COMMITMENT
        if tells and not (story or owed):
            continue
        for span in record.evidence:
            event = events.get(span.seq)
            if event is None or event.role is Role.EXTERNAL or not span.stands_in(event.text):
                continue
            name = _name(event, span.quote) if story else "left" if owed else "said"
            cut = _cut(span, _PARTS[name][3])
            over = story and name == "left" and record.id != last.id
            if cut is not None and not over:
                yield _Part(name, cut, event.at)


def _name(event: Event, quote: str) -> str:
    """What a quote is in the story: its event's role and kind decide, as they do for trust."""
    if event.role is Role.USER:
        return "goal"
    if event.kind == "task.state":
        return _of_state(event)
    if event.kind == "verification.result" and event.role is Role.VERIFICATION:
        passed = (event.data or {}).get("passed")
        return "verified" if passed is True else "refuted" if passed is False else "done"
    if _LEFT.search(simplified(quote)):
        return "left"
    return "failed" if classify(event).reason == "error" else "done"


def _of_state(event: Event) -> str:
    state = (event.data or {}).get("state")
    if state == "done":
        return "reported"
    return "failed" if state in {*FINAL_STATES, "blocked"} else "done"


def _cut(span: Span, limit: int) -> Span | None:
    """The start of a quote, still verbatim; None where it says nothing."""
    start = span.start + len(span.quote) - len(span.quote.lstrip())
    quote = clip(span.quote, limit).rstrip("。.；; ")
    if degenerate(quote):
        return None
    return Span(span.event_id, span.seq, start, start + len(quote), quote)


def _chosen(parts: Sequence[_Part]) -> list[_Part]:
    """Of each name the few that are told, in the order of the story.

    Of texts that differ in figures alone the newest is told: two hundred of them would be a loop.
    """
    chosen: list[_Part] = []
    texts: set[str] = set()
    for name, (_, _, limit, _) in _PARTS.items():
        named = sorted(
            (part for part in parts if part.name == name), key=lambda part: (part.at, part.span.seq)
        )
        newest = {_text(part): part for part in named}
        fresh = [part for part in named if newest[_text(part)] is part and _text(part) not in texts]
        kept = fresh[-limit:] if name in _LATEST else fresh[:limit]
        texts |= {_text(part) for part in kept}
        chosen += kept
    return chosen


def _text(part: _Part) -> str:
    return _FIGURE.sub("#", normalised(part.span.quote))


def _fitting(parts: Sequence[_Part]) -> list[_Part]:
    """The parts that fit into a content together, the weightier ones first, in their own order."""
    room = _CONTENT
    taken: set[int] = set()
    order = sorted(range(len(parts)), key=lambda at: (_FIRST_TO_FIT.index(parts[at].name), -at))
    for at in order:
        size = max(len(_line(parts[at], in_chinese=way)) for way in (True, False)) + _BETWEEN
        if size <= room and len(taken) < MAX_EVIDENCE:
            room -= size
            taken.add(at)
    return [part for at, part in enumerate(parts) if at in taken]


def _join(parts: Collection[_Part]) -> str:
    in_chinese = chinese(" ".join(part.span.quote for part in parts))
    lines = [_line(part, in_chinese=in_chinese) for part in parts]
    return ("；" if in_chinese else "; ").join(lines)


def _line(part: _Part, *, in_chinese: bool) -> str:
    zh, en, _, _ = _PARTS[part.name]
    return f"{zh}：{part.span.quote}" if in_chinese else f"{en}: {part.span.quote}"


def _cues(episodes: Sequence[Record]) -> tuple[str, ...]:
    newest = sorted(episodes, key=lambda record: (-record.observed_at, record.id))
    return tuple(dict.fromkeys(cue for record in newest for cue in record.cues))[:_CUES]
