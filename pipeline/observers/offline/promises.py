"""What a supervisor commits itself to (mission D1, D7)."""

import re

from pipeline.observers.offline.duties import clause_of
from pipeline.observers.offline.reminders import DONE
from pipeline.observers.offline.sentences import Sentence
from pipeline.observers.offline.verbs import DELIVERS, VERB
from pipeline.rules.due import find_due
from pipeline.rules.phrasing import Table

_PROMISES = Table(
    (
        "我",
        (
            r"我(?:们)?(?:这边)?(?:会|将|一定|再|就|来|去|明|后|今|下|周|月|等|随后|稍后|晚点|马上|保证"
            rf"|承诺)[^。？?\n]{{0,40}}?{DELIVERS}|我[^。，,？?\n]{{0,16}}?(?:发给?您|发给?你|给您|给你"
            r"|告诉您|告诉你|汇报)"
        ),
    ),
    (
        "后 了 结果",
        (
            r"(?:完成|做完|办完|弄完|处理完|查完|跑完|好了|有结果)(?:后|之后|以后|了)?[，,]?(?:我)?(?:就"
            r"|会|再|第一时间)?(?:通知|告诉|汇报|提醒|回复)(?:你|您)"
        ),
    ),
    (
        "给 告诉 答复 发",
        (
            r"(?:^|[，,])(?:我)?(?:会)?(?:今晚|今天|明天|明早|后天|下周|周[一二三四五六日]|稍后|晚点|之后"
            r"|随后)[^。，,？?\n]{0,12}?(?:给您|给你|告诉您|告诉你|发您|发你|回复您|答复)"
        ),
    ),
    ("let promise", r"\bi(?:'ll| will) let you know\b|\bi promise (?:to|i'?ll|that)\b"),
    ("会 将", rf"^(?:好的?[，,。])?(?:会|将|一定会)[^。？?\n]{{0,30}}?{DELIVERS}"),
    (
        "will i'll we'll you'll am i'm shall",
        (
            r"\b(?:i|we)(?:'ll| will| am going to|'m going to| shall)\b(?! (?:not|never|need you|assume"
            r"|probably|try|avoid|keep (?:it|that|this) in mind))(?: also| then"
            rf"| now)?(?: [a-z-]{{1,40}})?[^.\n]{{0,60}}?\b(?:{VERB}|re[a-z]{{2,8}}|look|investigate|finish|fix"
            r"|call|follow up|work on)\b"
            r"|\bwill be (?:done|ready|sent|finished|delivered|submitted|completed)\b|\byou(?:'ll"
            r"| will) (?:have|get|receive) (?:it|the|my|an?)\b"
        ),
    ),
)
_REPORTS_BACK = re.compile(
    r"(?:有(?:消息|结果|进展|回复|眉目|情况)|完成|做完|办完|弄完|处理完|好了|结束|查到|搞定|修好"
    r"|跑完|出结果)(?:后|之后|了|以后)?[^。\n]{0,8}?(?:通知|告诉|汇报|提醒|同步|跟你说|跟您说|回复"
    r"|发|给)(?:给)?(?:你|您)?|(?:通知|告诉|汇报给?|回复|同步给)(?:你|您)|我(?:保证|承诺|答应)"
    r"|\b(?:let you know|notify you|report back|get back to you|tell you|keep you (?:posted"
    r"|updated|informed)|update you|send you|come back to you|follow up)\b|\bi promise\b"
)
_SOFT = re.compile(
    r"不(?:一定|敢|能|确定|保证|打算|会|想|可能|太?确定)|没法|无法|可能(?!性)|也许|大概|或许"
    r"|说不定|尽量|争取|看情况|再说|要不要|建议|可以(?:帮|为)?(?:您|你)?[^，,。]{0,10}(?:吗|如果)"
    r"|如果您?(?:需要|愿意|想)|需要的话|要的话|随时"
    r"|\b(?:can'?t|cannot|won't|not|might|may|maybe|perhaps|probably|possibly"
    r"|if you(?:'d)? (?:want|like|wish|need)|would you like|i could|i can|should i|shall i|suggest"
    r"|recommend|could|hopefully|try to|unless)\b"
)

TABLES = (_PROMISES,)
"""For a test that no row is hidden by the words that it needs."""


def promises(sentence: Sentence) -> bool:
    """Whether a supervisor commits itself to something that is still to come."""
    low = sentence.low
    match = _PROMISES.find(sentence)
    if match is None or _SOFT.search(low) or DONE.search(low, *clause_of(low, match.end() - 1)):
        return False
    return _REPORTS_BACK.search(low) is not None or find_due(low, sentence.event.at) is not None
