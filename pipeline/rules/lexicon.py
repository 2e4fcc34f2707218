"""Closed bilingual lexicons: the slots that records fill, and wordings that change a rule.

Closed on purpose: what is not listed gives no slot, and without a slot nothing is superseded
automatically (spec: protocol, Who wins).
"""

import re

from pipeline.rules.phrasing import Phrase, Table, phrase_of
from pipeline.rules.slot_table import ASPECTS, NAMES, OWN_SLOTS, THINGS
from pipeline.rules.wording import simplified

_FLAGS = re.IGNORECASE

_SLOTS = tuple((key, re.compile(pattern, _FLAGS)) for key, pattern in OWN_SLOTS)
_THINGS = tuple((key, re.compile(pattern, _FLAGS)) for key, pattern in THINGS)
_ASPECTS = tuple((key, re.compile(pattern, _FLAGS)) for key, pattern in ASPECTS)

_CORRECTION = Table(
    (
        "不对 不是这样 更正 纠正 订正",
        r"(?:^|[，。！!,;；\s])(?:(?<!对)不对(?![劲外称应的])|不是这样|更正|纠正|订正)",
    ),
    (
        "错了",
        (
            r"(?:^|[，。！!,;；\s])(?:你|我|这|那|上面|刚才|之前|前面)?(?:都|又|是|说|写|记|搞|弄|填"
            r"|理解){0,4}错了"
        ),
    ),
    ("我", r"我(?:的意思|说的|指的)(?:其实)?是(?!不是)"),
    (
        "忽略 忘掉 别管 撤回 不要管 作废",
        r"(?:忽略|忘掉|别管|撤回|不要管|作废)(?:之前|前面|刚才|上面|上一)",
    ),
    ("不是", r"不是[^，,。]{1,20}[，,]\s?(?:而)?是"),
    ("correction", r"\bcorrection\s?[:,]"),
    (
        "that's that",
        r"\bthat(?:'s| is| was) (?:wrong|incorrect|not right|not what i (?:said|meant))\b",
    ),
    ("wrong", r"\byou (?:got|have|'ve got) (?:it|that|this) wrong\b"),
    ("meant misspoke", r"(?<!what )\bi (?:actually )?meant\b(?! to\b)|\bi misspoke\b"),
    ("mistaken wrong", r"\bi was (?:wrong|mistaken)[,:;]? (?:it|the|my)\b"),
    (
        "ignore forget disregard scratch strike",
        (
            r"\b(?:ignore|forget|disregard|scratch|strike) (?:that\b(?! feeling)|what i (?:said|told)"
            r"|(?:the|my) (?:previous|earlier|last) (?:one|message|note|instruction))"
        ),
    ),
)
_ONCE = Table(
    (
        "次 回",
        (
            r"(?:这|此|本)(?:一)?(?:次|回)(?!性|经历|机会|教训|事件)|(?<!每)(?:仅此|仅限|单)一?次(?!性|数)"
            r"|就(?:一)?次(?![^，,。]{0,4}(?:过|了))"
        ),
    ),
    (
        "份 单 张 笔 批 篇 封 趟",
        (
            r"(?:这|本)(?:一)?(?:份|单|张|笔|批|篇|封|趟)(?=[^，,。]{0,16}(?:先|破例|单独|就|不用|免|特殊"
            r"|可以))"
        ),
    ),
    (
        "今天 今晚 只 仅 就",
        (
            r"(?:今天|今晚)(?:例外|先|就|破例|可以|不用)|(?:只(?:有)?|仅(?:限)?|就)(?:今天|今晚"
            r"|这(?:一)?[次回份单张天笔]|本周|这周)"
        ),
    ),
    (
        "破例 例外 下不为例 暂时先 特批 特殊情况",
        (
            r"破例|(?<!没有)(?<!无)(?<!不)例外|下不为例|暂时先|特批|特殊情况(?=[，,]?[^，,。]{0,8}(?:先|就"
            r"|可以|不用))"
        ),
    ),
    (
        "这周 本周 这星期 这个月 这月 本月 这季度 这天",
        (
            r"(?:这|本)(?:周|星期|个?月|天|季度)的?(?:那?[份单封次篇])?[^，,。]{0,6}?(?:先|就|破例|例外"
            r"|单独|不用|可以|免)"
        ),
    ),
    (
        "once time one",
        (
            r"\b(?:just |only )?(?:for )?this (?:once|one time|time|one)\b|\bfor this one\b|\bjust once\b"
            r"|\b(?:one|single) time only\b|\bone-time\b"
        ),
    ),
    (
        "only just",
        (
            r"\b(?:only|just) (?:for )?(?:today|now|tonight)\b|\bfor (?:this|the) \w{1,20} only\b"
            r"|\b(?:today|tonight|this \w{1,20}) only\b"
        ),
    ),
    ("off", r"\bone[- ]off\b"),
    (
        "exception",
        r"(?<!no )(?<!without )\b(?:make|as|is) (?:an|one) exception\b|\bexceptionally\b",
    ),
    (
        "this",
        (
            r"\b(?:for|with|on) this (?:\w{1,24} )?(?:one|claim|report|email|mail|release|invoice|order"
            r"|proposal|document|meeting|trip|ticket|deploy(?:ment)?)\b"
        ),
    ),
)
_GLOBAL = re.compile(
    r"所有|一律|任何|无论|不管|凡是|全部|总是|永远|始终|(?<![点号分日])以后|今后|从现在起|从今"
    r"|每次|每个"
    r"|\b(?:always|never|all|any|every|everything|everywhere|whenever|from now on|in future"
    r"|in the future|going forward)\b",
    _FLAGS,
)
_ASSENT = re.compile(
    r"(?:好|好的|好吧|好啊|行|行吧|可以|嗯{1,9}|是|是的|对|对的|没问题|同意|确认|当然|谢谢|收到|知道了"
    r"|明白"
    r"|ok(?:ay)?|yes|yep|yeah|sure|right|fine|thanks?|thank you|agreed|confirm(?:ed)?|got it"
    r"|go ahead"
    r"|sounds good|no problem|of course|[\s,，.。!！~～]){1,40}",
    _FLAGS,
)


def slot_of(text: str) -> str | None:
    """The slot that a statement fills, or None: attribute and object, polarity and value left out.

    Source: protocol, Who wins.

    >>> slot_of("报销以后都用新模板"), slot_of("Never use the old expense template")
    ('expense.template', 'expense.template')
    >>> slot_of("今天天气不错") is None
    True
    """
    plain = simplified(text)
    own = _first(_SLOTS, plain)
    if own is not None:
        return own
    thing = _first(_THINGS, plain)
    aspect = _first(_ASPECTS, plain) if thing else None
    return f"{thing}.{aspect}" if aspect else None


def may_fill(key: str, text: str) -> bool:
    """Whether a statement can be about a slot of the lexicon, or about any other one.

    About its thing or its aspect at least; which of them fills a slot, `slot_of` tells.

    >>> may_fill("printer.location", "打印机搬到三楼了"), may_fill("printer.location", "我喜欢深色")
    (True, False)
    >>> may_fill("theme", "我喜欢深色")
    True
    """
    plain = simplified(text)
    thing, _, aspect = key.partition(".")
    own = [pattern for name, pattern in _SLOTS if name == key]
    parts = [pattern for name, pattern in _THINGS if name == thing]
    parts += [pattern for name, pattern in _ASPECTS if name == aspect]
    wanted = own or parts
    return not wanted or any(pattern.search(plain) for pattern in wanted)


def slot_cues(key: str | None) -> tuple[str, ...]:
    """How one may ask for a slot of a thing, in both languages; none for the other slots.

    >>> slot_cues("expense.template"), slot_cues("identity.name")
    (('报销模板', 'expense template'), ())
    """
    names = [NAMES.get(part) for part in (key or "").partition("@")[0].split(".")]
    if len(names) != 2 or names[0] is None or names[1] is None:  # noqa: PLR2004
        return ()
    (thing, en_thing), (aspect, en_aspect) = names[0], names[1]
    return (thing + aspect, f"{en_thing} {en_aspect}")


def _first(table: tuple[tuple[str, re.Pattern[str]], ...], text: str) -> str | None:
    return next((key for key, pattern in table if pattern.search(text)), None)


def says_correction(text: str) -> bool:
    """Whether a person takes something back or sets it right in so many words.

    >>> says_correction("不对，截止日是20号"), says_correction("I meant the blue one")
    (True, True)
    >>> says_correction("你看这样对不对")
    False
    """
    return corrects(phrase_of(text))


def corrects(phrase: Phrase) -> bool:
    """The same of a text that is ready for the tables."""
    return _CORRECTION.find(phrase) is not None


def says_once(text: str) -> bool:
    """Whether a statement is about this one time (mission D5).

    >>> says_once("这次先不用模板"), says_once("Skip it just this once"), says_once("一次性杯子")
    (True, True, False)
    """
    return find_once(phrase_of(text)) is not None


def find_once(phrase: Phrase) -> int | None:
    """Where a statement says that it is about this one time, or None.

    >>> find_once(phrase_of("付款照旧，这次先不用问我")), find_once(phrase_of("没有例外"))
    (5, None)
    """
    match = _ONCE.find(phrase)
    return match.start() if match else None


def says_always(text: str) -> bool:
    """Whether a statement claims to hold beyond what it was said about.

    >>> says_always("所有项目都一样"), says_always("Use the blue template")
    (True, False)
    """
    return _GLOBAL.search(simplified(text)) is not None


def mere_assent(text: str) -> bool:
    """Whether a text only agrees, so that it can carry no content of its own.

    >>> mere_assent("好的，可以"), mere_assent("Yes, sure!"), mere_assent("好的，用模板B")
    (True, True, False)
    """
    return _ASSENT.fullmatch(simplified(text).strip()) is not None
