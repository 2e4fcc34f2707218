"""What the user lays down for good, and what they allow or ask for once (mission D1, D5)."""

import re
from itertools import chain

from pipeline.observers.offline.rules_chinese import CHINESE, CHINESE_CUSTOMS, CHINESE_OF_THINGS
from pipeline.observers.offline.rules_english import ENGLISH, ENGLISH_OF_THINGS
from pipeline.observers.offline.sentences import Sentence
from pipeline.observers.offline.verbs import ASKED, BIE, DO, DOES, ORDERED, VERB
from pipeline.rules.lexicon import find_once
from pipeline.rules.validity import find_validity, holds_for_a_time

_ONE_PLACE = re.compile(r"第[一二三四五六七八九十\d]{1,2}[条段页张行个句章]|这[条段页张行句]")
"""Said of one place in a text at hand."""

_TELLER_ZH = re.compile(
    r"(?<![给帮让跟对问叫替找为和比请把经到由等])(?:我们?|咱们?|[他她它]们?|人家)(?!的|这|那|要求"
    r"|希望|想让|要你|让你|建议你|需要你|写代码|公司|点头|同意|确认|批准|过目|看过)"
    r"|(?:老板|领导|主管|经理|同事|妈妈?|爸爸?|老婆|老公|孩子|儿子|女儿|朋友|室友|邻居"
    r"|小[\u4e00-\u9fff]|老[王李张刘陈]|[\u4e00-\u9fff]总)(?:也|都|总是|总|老|老是|经常|每次|每天)"
)
_CLAUSE = re.compile(r"[，,。；;：:！!？?\n]")

_TELLER_EN = re.compile(
    r"\b(?:i|we|he|she|they|people|my (?:wife|husband|boss|mom|mum|dad|kids?|son|daughter|friends?"
    r"|cat|dog))(?:'\w{1,24})? (?!want|need|expect|would like|prefer)(?:\w{1,24} ){0,3}$"
)
_FIRST_EN = re.compile(
    r"(?:^|[,;] ?|\b(?:and|but|so) )(?:i|we|he|she|they|let's)\b(?:'\w{1,24})? ?(?!want|need|expect"
    r"|would like)"
)

_ONCE_DOES = re.compile(
    rf"不用|不要|不必|{BIE}|先|跳过|免|直接|可以|就|例外|破例|{DOES}|{ASKED}"
    rf"|\b(?:skip|don'?t|do not|no need|may|can|exception|it's (?:ok|okay|fine)|{VERB})\b"
)
_ONCE_PAST = re.compile(
    r"(?:这|此)(?:一)?(?:次|回)[^，,。先不就别免]{0,16}(?:了$|过$|真|特别|非常|挺|很|终于|又|居然"
    r"|没)|(?:这|此)(?:次|回)(?:的)?(?:会|去|参观|见|旅|聚|活动|比赛|考试|出差)"
    r"|今天先(?:到这|这样|走|撤|下班|休息|聊到|不聊)|\bthis time (?:it|i|we|he|she|they|around|of"
    r"|last|next|tomorrow|the)\b|\b(?:check out|look at|love|like|see) this one\b"
)

_DAY_MS = 86_400_000
_STATES_ZH = re.compile(rf"{DO}|{DOES}|改|停|暂停|算|是|为|执行|生效|实行|启用")
_STATES_EN = re.compile(
    rf"\b(?:is|are|will be|goes?|go|must|should|has to|have to|moves?|appl(?:y|ies))\b"
    rf"|\b{VERB} (?:the|all|my|our|every|any|only|no)\b"
)
_ORDERS_EN = re.compile(rf"{ORDERED}(?:don'?t |do not |never |always )?{VERB}\b")


def rule(sentence: Sentence) -> int | None:
    """Where a sentence lays something down for good, or None."""
    at = _chinese(sentence) if sentence.han else None
    if at is None and sentence.vocabulary:
        at = _english(sentence)
    return at


def _chinese(sentence: Sentence) -> int | None:
    tables = [CHINESE]
    if sentence.event.objects and not _ONE_PLACE.search(sentence.low):
        tables.append(CHINESE_OF_THINGS)
    if not sentence.timed:
        tables.append(CHINESE_CUSTOMS)
    found = chain.from_iterable(rows.matches(sentence) for rows in tables)
    return next((m.start() for m in found if not _told_of(sentence.low, m)), None)


def _told_of(low: str, match: re.Match[str]) -> bool:
    """Whether the clause is about what somebody does, not about what is to be done."""
    start = 0
    for mark in _CLAUSE.finditer(low, 0, match.start()):
        start = mark.end()
    return _TELLER_ZH.search(low, start, match.end()) is not None


def _english(sentence: Sentence) -> int | None:
    tables = (ENGLISH, ENGLISH_OF_THINGS) if sentence.event.objects else (ENGLISH,)
    found = chain.from_iterable(rows.matches(sentence) for rows in tables)
    told = (m.start() for m in found if not _TELLER_EN.search(sentence.low, 0, m.start()))
    return next(told, None)


def bounded_rule(sentence: Sentence) -> int | None:
    """Where something is laid down from a day on, or until one, or None.

    It is said of things, not of what people do then.
    """
    low = sentence.low
    if not sentence.timed or not holds_for_a_time(low):
        return None
    validity = find_validity(low, sentence.event.at)
    at = _state_zh(low) if sentence.han else _state_en(low, ordered=validity.bare)
    if at is None:
        return None
    begins = validity.since is not None and validity.since > sentence.event.at - _DAY_MS
    return at if begins or validity.until is not None else None


def _state_zh(low: str) -> int | None:
    start = 0
    for end in [*(mark.end() for mark in _CLAUSE.finditer(low)), len(low)]:
        states = _STATES_ZH.search(low, start, end)
        if states and not _TELLER_ZH.search(low, start, end):
            return start
        start = end
    return None


def _state_en(low: str, *, ordered: bool) -> int | None:
    """Where something is ordered, or else stated of things."""
    order = _ORDERS_EN.search(low)
    if order is not None or ordered:
        return order.start() if order else None
    states = _STATES_EN.search(low)
    return states.start() if states and not _FIRST_EN.search(low) else None


def exception(sentence: Sentence) -> int | None:
    """Where a sentence asks for something this one time, or None."""
    low = sentence.low
    at = find_once(sentence)
    if at is None or _ONCE_PAST.search(low) or not _ONCE_DOES.search(low):
        return None
    told = _TELLER_ZH.search(low, 0, at) or _FIRST_EN.search(low, 0, at)
    return None if told or _TELLER_EN.search(low, 0, at) else at


TABLES = (
    CHINESE,
    CHINESE_CUSTOMS,
    CHINESE_OF_THINGS,
    ENGLISH,
    ENGLISH_OF_THINGS,
)
"""For a test that no row is hidden by the words that it needs."""
