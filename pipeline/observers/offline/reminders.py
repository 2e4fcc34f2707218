"""What a user asks to be reminded of, or vows (mission D1, D7)."""

import re

from pipeline.observers.offline.sentences import Sentence
from pipeline.observers.offline.verbs import ORDERED
from pipeline.rules.phrasing import Table

I_ZH = r"(?<![帮给替让叫跟对和问催])我(?:们)?"
"""Somebody's own deed, not one that is asked of another."""

_REMINDERS = Table(
    ("提醒", r"提醒(?:一下)?我(?!们)"),
    ("叫我 喊我", r"(?:叫|喊)我(?:一声|一下|起床|起来|出门|吃药|下班|开会|去)"),
    (
        "到时 提前 届时 记得",
        r"(?:到时候?|提前|届时|记得)(?:提前)?(?:叫|喊|说|告诉|通知|催|提醒)(?:我|一声|一下)",
    ),
    ("催 盯", r"(?:催|盯)(?:着)?(?:我|一下我|着点)"),
    ("忘 错过", r"(?:别|不要)让我(?:忘|错过)|(?:我)?怕(?:我|自己)?(?:会)?(?:忘|错过)|忘了就催"),
    ("remind 我", r"remind\s?(?:一下)?\s?我"),
    (
        "remind nudge ping poke alert",
        (
            rf"(?:{ORDERED}|, |\band |\d )(?:remind|nudge|ping|poke|alert) me\b(?! (?:of (?:my|the|when|how"
            r"|that time)|why|how|what|whether|if)\b)"
        ),
    ),
    (
        "forget miss",
        (
            r"\b(?:don'?t|do not|never) let me (?:forget|miss)\b|\bso (?:that )?i don'?t (?:forget|miss)\b"
            r"|\b(?:make sure|ensure) (?:that )?i (?:don'?t (?:forget|miss)|remember)\b|\bi(?:'ll| always"
            r"| might| tend to| will)? ?forget otherwise\b|\bafraid (?:that )?i'?ll forget\b"
        ),
    ),
    ("wake", rf"(?:{ORDERED}|, )wake me\b"),
    (
        "reminder heads nudge shout ring buzz",
        (
            r"\b(?:give me|send me|set|create|add|put)(?: up)? (?:an? )?(?:reminder|heads-?up|nudge|shout"
            r"|ring|buzz)\b"
        ),
    ),
)
_VOWS = Table(
    (
        "保证 承诺 答应 说好",
        (
            rf"{I_ZH}(?:已经|还|都|也|之前|跟[^，,。]{{1,4}}|向[^，,。]{{1,4}}|和[^，,。]{{1,4}}){{0,4}}(?:保证"
            r"|承诺|答应)(?!不了|过你吗)|说好了?(?:要|会|给)"
        ),
    ),
    ("欠", r"欠(?:着)?[^，,。]{1,12}(?:没|还|一份|一个)"),
    (
        "promise promised swear owe guarantee commit committed vow agreed told",
        (
            r"\bi (?:promise|promised|swear|guarantee|commit|committed|vow)(?: (?:you|him|her|them"
            r"|[a-z]{1,40}))? (?:to (?!be\b|always|love|never)|i'?(?:ll|d)\b|that i)|\bi owe (?!you (?:one|big"
            r"|so|a lot)\b|it|everything)\w{1,24} an? |\bi(?:'ve| have) (?:promised|committed|agreed) (?:to"
            r"|[a-z]{1,40} (?:to|i|that))\b|\bi told \w{1,24} (?:that )?i(?:'d|'ll| would| will)\b"
        ),
    ),
)
DENIED = re.compile(
    r"不(?:一定|敢(?:保证|说)|能保证|确定|保证|打算)|没法|无法|可能(?!性)|也许|大概|说不定|看情况"
    r"|别等我|\b(?:can'?t promise|cannot|can't|won't|might|may not|maybe|perhaps|probably|possibly"
    r"|not sure|don't count on|not able|no promises|i think i'll|i guess i'll)\b"
)
DONE = re.compile(
    r"(?:已经|刚刚?|早就)[^，,。]{0,12}(?:了|过)|(?:发|交|还|付|寄|处理|完成)(?:过去|出去"
    r"|上去)?了[。！!]?$|\b(?:already|have sent|have paid|did)\b"
)
RECURS = re.compile(
    r"每(?:天|日|周|月|年|个|次|晚|逢|到)|周[一二三四五六日]\s?(?:到|至|-|~)\s?周|工作日"
    r"|\b(?:every|each|whenever|always|daily|weekly|monthly|mondays|tuesdays|wednesdays|thursdays"
    r"|fridays|saturdays|sundays)\b"
)

TABLES = (_REMINDERS, _VOWS)
"""For a test that no row is hidden by the words that it needs."""


def reminder(sentence: Sentence) -> int | None:
    """Where a user asks to be reminded once, or vows something, or None."""
    low = sentence.low
    reminded = _REMINDERS.find(sentence)
    if reminded is not None:
        return None if RECURS.search(low) else reminded.start()
    vowed = _VOWS.find(sentence)
    if vowed is None or DENIED.search(low) or DONE.search(low):
        return None
    return vowed.start()
