"""Ways of doing that a user sets out: when, which steps, what if it fails, how to tell (mission D6).

A candidate, never a skill by itself: the program sees to that.
"""

import re
from dataclasses import dataclass

from pipeline.observers.offline.sentences import REDACTED
from pipeline.rules.lexicon import says_once
from pipeline.rules.phrasing import lowered
from pipeline.rules.wording import sentences
from storage.records.events import Event

MAX_STEPS = 20
_MAX_LENGTH = 600
_ENTRY = 200
_ENOUGH = 3
_TOPIC = 40
_TAUGHT = 2

_MAY_TEACH = re.compile(
    r"先|步|流程|做法|教|[这照按].{0,4}[弄做来操]|[1①][.、)．]|[Ff]irst|[Ss]tep|[Hh]ere'?s"
    r"|like this|[Tt]o \w[^.\n]{2,60}:|[Ww]ay we|[Hh]ow "
)
_TEACHES = re.compile(
    r"步骤|流程|操作方法|做法|(?:这么|这样|按这个|照这个|如下)(?:弄|做|来|操作|处理"
    r"|走)?(?:[：:，,]|就行)|教你|标准动作|\bsop\b"
    r"|\b(?:steps?|procedure|process|routine|checklist|workflow)\b[^.\n]{0,30}?(?:is|are)?\s?:"
    r"|\bhere'?s (?:how|what|the (?:way|drill|routine|process|procedure|recipe))\b|\bheres (?:how"
    r"|what)\b|(?:^|[.\n] ?)(?:how to|to|the way (?:we|to|i)|for) \w[^:.,\n]{2,60}: ?(?=\w)"
    r"|\blike (?:this|so)\s?:|\bas follows\b|\bfollow these\b|\bthe way (?:to|we)\b"
)
_WHENEVER = re.compile(
    r"以后|之后(?=[^，,。]{0,12}[，,]?\s?先)|今后|每(?:次|当|逢|天|周|月|个)|凡是|遇到|的时候"
    r"|(?<![同有随及暂临小])时[，,]|如果|要是|一旦|的话|(?:^"
    r"|[。\n])[^，,。：:\n]{2,24}[：:，,]\s?(?=先|首先|第一步|1[.、)])"
    r"|\b(?:when|whenever|if|every|each|for|to|before|after|once"
    r"|new)\b[^.\n]{2,90}?[,:] ?(?:please |always |you |just ){0,4}(?=first\b|1[.)])|(?:^"
    r"|[.\n] ?)[\w /'-]{3,40}[:?] (?=first\b|1[.)])"
)
_FIRST = re.compile(
    r"首先|第[一1]步|先(?![生进前后锋知天例别])|\bfirst(?: of all)?\b,?(?! (?:i|we|he|she|they"
    r"|time|day|thing|draft|one|floor|name)\b)|\bstart by\b"
)
_NUMBER = re.compile(
    r"(?:^|(?<=[\s，,；;：:。.]))(?:\d{1,2}[.)、．](?!\d)|[(（]\d{1,2}[)）]"
    r"|第[一二三四五六七八九十\d]{1,2}步[，,：:是]?|step \d{1,2}[:.,)]?|[①-⑩])\s?"
)
_BREAK = re.compile(
    r"\n{1,9}|→|->|[;；。]|\.(?=\s|$)|[，,]?\s?(?:然后|接着|随后|最后|其次|再然后|完了(?:以后|之后)?"
    r"|最终)(?:再|就|把)?(?=[^，,。])|[，,]\s?(?:之后|再|就|并且?)?|,? (?:and )?(?:then|finally"
    r"|lastly|afterwards?|after that|next|last of all|at the end|in the end)\b,?|, (?:and )?"
)
_FAILS = re.compile(
    r"(?:如果|要是|若|一旦|假如|万一|还是)[^，,。\n]{0,24}(?:失败|报错|出错|不行|不成功|不通|没成"
    r"|错|异常|超时|卡住|没有?反应|不对|找不到|草稿|拒绝)|失败(?:了|的话)|不行(?:的话|就)|(?:不对"
    r"|不符|报错)(?:就|的话)"
    r"|\b(?:if|when|in case|should)\b[^,.\n]{0,60}\b(?:fails?|errors?|breaks?|doesn't|does not"
    r"|won't|isn't|not|times? out|goes wrong|crash(?:es)?|rejected|missing|stuck|still)\b"
    r"|\botherwise\b|\bif not\b"
)
_CONDITION = re.compile(r"^(?:如果|要是|若|一旦|假如|万一|\bif\b|\bwhen\b|\bin case\b)")
_CHECKS = re.compile(
    r"核对|核实|确认|检查|验证|才算|看看|看到|看一下|确保|测试页|抽查|\b(?:verify|check|confirm"
    r"|make sure|ensure|should (?:say|show|read|see|be)|test page|double-check|look for)\b"
)
_COLON = re.compile(r"[：:]")
_ENDS = re.compile(r"[。！!；;\n]|\.(?=\s|$)")
_REMARK = re.compile(
    r"^(?:一般|通常|基本上?|应该|这样)?(?:就)?(?:好了|行了|可以了|搞定了?|完事了?|没问题了?"
    r"|ok了?)$|^(?:that'?s it|done|easy|simple|and so on|etc)$"
)
_LEAD = re.compile(
    r"^(?:\s|[，,：:；;.\-–—]){0,4}(?:首先|先|再|然后|接着|最后|就|并|然後|\bfirst(?: of all)?\b"
    r"|\bthen\b|\bfinally\b|\band\b|\bnext\b|\blastly\b|\byou\b|\bplease\b|\balways\b)[，,:]?\s?"
)
_NARRATES = re.compile(
    r"我(?:们)?(?:今天|昨天|刚才|早上|上午|下午|就|都|也|是)?先|(?:他|她|同事|老板)[^，,。]{0,4}先"
    r"|先(?:是)?[^，,。]{1,12}了[，,。]|\bfirst,? (?:i|we|he|she|they)\b|\bi (?:first|then)\b"
)


@dataclass(frozen=True, slots=True)
class Procedure:
    """The steps of a stretch of text, and what it says around them."""

    start: int
    end: int
    conditions: tuple[str, ...]
    steps: tuple[str, ...]
    failure: tuple[str, ...]
    verify: tuple[str, ...]


def may_teach(plain: str) -> bool:
    """Whether a text may set out a way of doing at all."""
    return _MAY_TEACH.search(plain) is not None


def procedure(event: Event, text: str) -> Procedure | None:
    """The way of doing that a text sets out, or None. `text` is what `own_text` gives of `event`.

    Asked for once (先下载再发给我) it is work, not a way of doing: it must be told for whenever
    something happens, or as how it is done.
    """
    low = lowered(text)
    frame = _TEACHES.search(low) or _WHENEVER.search(low)
    if frame is None or says_once(low) or _NARRATES.search(low):
        return None
    start = _told_from(low, frame.start())
    end = min(len(low), start + _MAX_LENGTH)
    taught = _TEACHES.search(low, start, end) is not None
    head = _head_end(low, frame.start(), end)
    if head is None or REDACTED in event.text[start:end]:
        return None
    return _made(event.text, low, (start, head, end), enough=_TAUGHT if taught else _ENOUGH)


def _told_from(low: str, at: int) -> int:
    """Where the sentence at a place starts, or the short question that it answers."""
    before = [(start, end) for start, end in sentences(low) if start <= at]
    if (
        len(before) > 1
        and low[before[-2][1] - 1] in "?？"
        and before[-2][1] - before[-2][0] <= _TOPIC
    ):
        return before[-2][0]
    return before[-1][0] if before else 0


def _head_end(low: str, frame: int, end: int) -> int | None:
    """Where the first step begins."""
    numbers = list(_NUMBER.finditer(low, frame, end))
    first = _FIRST.search(low, frame, end)
    if len(numbers) >= _TAUGHT and (first is None or numbers[0].start() <= first.start()):
        return numbers[0].start()
    if first is not None:
        return first.start()
    colon = _COLON.search(low, frame, end)
    taught = _TEACHES.search(low, frame, end) is not None
    return colon.end() if colon and taught else None


def _made(text: str, low: str, zone: tuple[int, int, int], *, enough: int) -> Procedure | None:
    start, head, end = zone
    steps: list[str] = []
    failure: list[str] = []
    verify: list[str] = []
    last = head
    for here, there in _pieces(low, head, end):
        piece = text[here:there].strip(" ，,。.;；：:\n")
        plain = low[here:there].strip(" ，,。.;；：:\n")
        if not piece or _REMARK.match(plain):
            continue
        if failure and here < last:
            continue
        if _FAILS.search(plain) or _CONDITION.match(plain):
            told_end = _sentence_end(low, here, end)
            failure.append(text[here:told_end].strip(" ，,\n"))
            last = told_end
            continue
        steps.append(_without_lead(piece, plain)[:_ENTRY])
        if _CHECKS.search(plain):
            verify.append(steps[-1])
        last = max(last, there)
    if len(steps) + bool(failure) < enough:
        return None
    condition = text[start:head].strip(" ，,：:\n")
    return Procedure(
        start=start,
        end=last,
        conditions=(condition[:_ENTRY],) if condition else (),
        steps=tuple(steps[:MAX_STEPS]),
        failure=tuple(entry[:_ENTRY] for entry in failure[:MAX_STEPS]),
        verify=tuple(verify[:MAX_STEPS]),
    )


def _pieces(low: str, head: int, end: int) -> list[tuple[int, int]]:
    numbers = list(_NUMBER.finditer(low, head, end))
    if len(numbers) >= _TAUGHT:
        starts = [match.end() for match in numbers]
        ends = [match.start() for match in numbers[1:]]
        tail = _sentence_end(low, starts[-1], end)
        pieces = list(zip(starts, [*ends, tail], strict=True))
        return pieces + _split(low, tail, end)
    return _split(low, head, end)


def _split(low: str, head: int, end: int) -> list[tuple[int, int]]:
    pieces = []
    at = head
    for match in _BREAK.finditer(low, head, end):
        pieces.append((at, match.start()))
        at = match.end()
    return [*pieces, (at, end)]


def _sentence_end(low: str, at: int, end: int) -> int:
    ended = _ENDS.search(low, at, end)
    return ended.start() if ended else end


def _without_lead(piece: str, plain: str) -> str:
    lead = _LEAD.match(plain)
    return piece[lead.end() :] if lead and lead.end() < len(piece) else piece
