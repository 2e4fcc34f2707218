"""What a user will do, has to do or asks to be done by a day (mission D1, D7)."""

import re

from pipeline.observers.offline.reminders import DENIED, DONE, I_ZH, RECURS
from pipeline.observers.offline.sentences import Sentence
from pipeline.observers.offline.verbs import DELIVERS, ORDERED, START, VERB
from pipeline.rules.due import find_due
from pipeline.rules.phrasing import Table

_GIVES = (
    r"(?:send|give|bring|submit|provide|finish|deliver|upload|share|pay|reply|report|complete"
    r"|notify|remind|tell you|let you know|get back"
    r"|get (?:it|them|this|that)|prepare|confirm|handle|hand (?:in|over)|forward|sign|return|fix"
    r"|write|draft|review|call|email|mail"
    r"|have (?:it|the|that|them) (?:ready|done|finished)|do (?:it|that)|push|publish|transfer"
    r"|settle|renew|book|file)"
)
_DAY_EN = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: next week)?|(?:mon|tues?|wed|thurs?|fri)\b)"
)
_DATED = Table(
    (
        "记得 忘",
        rf"(?:^|[，,。\s]|请|你|也)(?:记得|别忘了?|不要忘记?|千万别忘)[^。\n]{{0,24}}?{DELIVERS}",
    ),
    (
        "我",
        (
            rf"{I_ZH}[^。，,？?\n]{{0,30}}?(?:(?:给|发|交|寄|送|还|转|补|提供|回复|付|回电|汇报|告诉"
            rf"|通知)[^。，,]{{0,20}}?(?:你|您|过去|过来|回去|上去|出去|给[\u4e00-\u9fff]{{1,4}})"
            rf"|完成|[做弄写审改看处理]{{1,2}}完|搞定|提交|交上|发布|补上|补齐|还清|交付|[备弄]好|准备好"
            rf"|整理好|回复|(?:前|之前|内|以内)[^。，,]{{0,20}}?{DELIVERS})"
            rf"|{I_ZH}(?:会|一定|一定会|将)[^。，,？?\n]{{0,30}}?{DELIVERS}"
        ),
    ),
    ("forget remember", r"\b(?:don'?t|do not) forget to\b|(?:^|[.,;:] ?|\bplease )remember to\b"),
    (
        "i'll will am i'm shall",
        (
            r"\bi(?:'ll| will| am going to|'m going to|'m gonna|'ll have| shall)\b(?! (?:never|probably"
            rf"|maybe|not|try|see if|be able|think|miss|love))[^.\n]{{0,50}}?\b{_GIVES}\b"
        ),
    ),
)
_OWES = Table(
    (
        "要 得 必须 需要 应该 截止 到期 交",
        (
            r"(?<![不只重想])(?:要|得|必须|需要|应该)(?!是|么|求|不要|到了)[^。？?\n]{0,30}|(?:截止|到期)"
            r"|交(?=[^。，,]{0,8}$)"
        ),
    ),
    (
        "have has need needs must got due expires expire supposed should",
        r"\b(?:have to|has to|need to|needs to|must|got to|supposed to|due|expires?|should)\b",
    ),
)
_LIMIT = re.compile(
    r"(?:前(?!台|面|端|后|任|一)|之前|以前|之内|以内|内(?!部|容|存)|截止|到期|底)|\b(?:by|before"
    r"|within|no later than|due|deadline|expires?)\b"
)
_DAY_NAMED = (
    r"(?:今晚|明天|明早|明晚|后天|大后天|(?:下下|下|这|本)?(?:周|星期"
    r"|礼拜)[一二三四五六日天](?:之?前)?|下(?:个)?(?:周|月)(?:\d{1,2}号)?|(?:这|本"
    r"|下)?(?:个)?月底前?|\d{1,2}月\d{1,2}[日号]|\d{1,2}号"
    r"|[\d一二两三四五六七八九十半]{1,3}\s?个?(?:天|周|小时|分钟|星期|月)(?:之|以)?后)"
)
_LATER = Table(
    (
        "天 早 晚 周 星期 礼拜 月 号 后",
        (
            rf"(?:^|[，,。：:\s])(?:等|到|过)?{_DAY_NAMED}(?:早上|上午|中午|下午"
            rf"|晚上)?(?:[\d一二两三四五六七八九十:：]{{1,5}}点?(?:半)?)?(?:前|之前|左右"
            r"|的时候)?[，,]?\s?(?:再|你|请|麻烦你?|记得|要|都)?"
            r"(?:帮我|替我|给我|给[^我，,。]{1,10}(?:发|打|回|寄|送)|把|叫我|检查|看(?:一眼|一下|看)"
            r"|查(?:一下|看)|确认|催|问|联系|取|续费)"
            rf"|{_DAY_NAMED}前[^，,。]{{0,6}}(?:把|给|发|交)"
        ),
    ),
    (
        (
            "in within on next this by tomorrow tonight at monday tuesday wednesday thursday friday "
            "saturday sunday"
        ),
        (
            r"(?:^|[.,;:] ?|\b(?:and|then|also|please) )(?:(?:in|within) (?:an?|one|two|three|four|five"
            rf"|six|half an|a couple of|a few|\d{{1,3}}) (?:minute|hour|day|week|month)s?|(?:on |next "
            rf"|this |by )?{_DAY_EN}|tomorrow|tonight|next (?:week|month)|by [\w ]{{2,20}}"
            rf"|at \d[\w:]{{0,5}}(?: ?[ap]m)?)"
            rf"(?:,? (?:morning|afternoon|evening|at [\w:]{{1,8}}(?: ?[ap]m)?|please"
            rf"|by \w{{2,10}})){{0,4}},? (?:please |can you |could you |just |also )?(?:{VERB})\b"
        ),
    ),
    (
        "on next this tomorrow tonight monday tuesday wednesday thursday friday saturday sunday",
        (
            rf"{START}(?:call|ring|phone|visit|pay|renew|submit|return|pick up|drop off|water|take|bring"
            rf"|hand in|turn in|file|send|post|mail|email|text|ping)\b[^.\n]{{2,60}}? (?:on |next "
            rf"|this )?(?:{_DAY_EN}|tomorrow|tonight)(?: (?:morning|afternoon|evening"
            rf"|at [\w:]{{1,8}}(?: ?[ap]m)?))?[.!]?$"
        ),
    ),
    (
        "know tell notify alert update report",
        (
            r"\b(?:let me know|tell me|notify me|alert me|report back|update me)\b[^.\n]{0,24}? (?:on|at"
            r"|by|tomorrow|next|in) "
        ),
    ),
    (
        "by before later",
        (
            rf"{ORDERED}{VERB}\b[^.\n]{{2,80}}? (?:by|before|no later than) (?:(?:next |this )?{_DAY_EN}"
            r"|tomorrow|tonight|noon|eod|cob|the end|end of|the \d|\d|(?:jan|feb|mar|apr|may|jun|jul|aug"
            r"|sep|oct|nov|dec)\w{0,24})"
        ),
    ),
)

TABLES = (_DATED, _OWES, _LATER)
"""For a test that no row is hidden by the words that it needs."""


def duty(sentence: Sentence) -> int | None:
    """Where a user says that something will or must be done by a day, or None."""
    low = sentence.low
    match = _DATED.find(sentence)
    if match is None:
        owed = _OWES.find(sentence)
        match = owed if owed is not None and _limited(low, owed.start()) else None
    match = match or _LATER.find(sentence)
    if match is None or RECURS.search(low) or DENIED.search(low) or DONE.search(low):
        return None
    due = find_due(low, sentence.event.at) if sentence.timed else None
    return match.start() if due else None


def _limited(low: str, at: int) -> bool:
    """Whether the clause at a place names a limit, so that what has to be done is due."""
    return _LIMIT.search(low, *clause_of(low, at)) is not None


def clause_of(low: str, at: int) -> tuple[int, int]:
    """Where the clause around a place starts and ends: commas part clauses."""
    start = max(low.rfind("，", 0, at), low.rfind(",", 0, at)) + 1
    ends = [end for mark in "，," if (end := low.find(mark, at)) >= 0]
    return start, min([*ends, len(low)])
