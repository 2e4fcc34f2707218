"""What a person sets right, takes back, or has changed their mind about (mission C5)."""

import re

from pipeline.observers.offline.sentences import FEW_WORDS, Sentence
from pipeline.observers.offline.verbs import START
from pipeline.rules.lexicon import corrects
from pipeline.rules.phrasing import Table
from pipeline.rules.wording import content_words

_STATES = re.compile(r"是|应该|改|叫|为|在|用|\d|\b(?:is|are|was|were|be|should|it's|use)\b")
_NAME = r"[\w$€£.'’ -]"

_CONTRASTS = Table(
    ("不", r"^不[，,]\s?(?:是|应该|要)(?!吗)"),
    (
        "不是",
        (
            r"^[^，,。？?！!]{0,16}\d[^，,。？?！!]{0,12}[，,]\s?不是[^，,。？?]{0,6}\d[^，,。？?]{0,12}(?:[。！!]"
            r"|$)"
        ),
    ),
    ("不用 不再用", r"用[^，,。？?]{1,16}[，,]\s?不(?:再)?用[^，,。？?]{1,16}了"),
    (
        "not",
        (
            r"^(?:no,? |sorry,? |actually,? )?(?:the |from |on |in |at "
            r"|to )?[\w$€£.'-]{2,20}(?: [\w$€£.'-]{1,20}){0,3}, not (?:the |to |on |in |from |at )?(?!only"
            r"|just|that|sure|bad|yet|now|really|too|so|urgent"
            r"|bad)[\w$€£.'-]{2,20}(?: [\w$€£.'-]{1,20}){0,3}[.!]?$"
        ),
    ),
    (
        "not",
        (
            r"^not (?!bad|sure|yet|now|really|too|so|that|much|a|at|only|just|urgent"
            r"|necessar)[\w$€£.'-]{2,20}(?: [\w$€£.'-]{1,20}){0,2}[,.] ?[\w$€£.'-]{2,20}(?: [\w$€£.'-]{1,20}){0,3}[.!]?$"
        ),
    ),
    ("不叫 不在", r"不(?:叫|在)[^，,。？?\n]{1,16}[，,]\s?(?:而)?(?:是|叫|在)(?!吗)"),
    ("不是", r"(?<!是)是(?!不是)[^，,。？?\n不]{1,14}不是(?!吗|很|我|说|吧)[^，,。？?\n]{1,14}"),
    ("的是", r"你(?:写|填|发|订|用|记|存|买)的是[^，,。]{1,16}[，,]"),
    (
        "wrote put said typed entered used booked sent",
        (
            r"\bit'?s [^,.]{1,30}, (?:but )?you (?:wrote|put|said|typed|entered|used|booked|sent)\b"
            r"|\byou (?:wrote|put|said|typed|entered|used|booked|sent) [^,.]{1,30}, (?:but )?it'?s\b"
        ),
    ),
    (
        "不是",
        r"(?<![是要你])不是[^，,。？?！!\n]{1,24}[，,]?\s?(?:而)?(?:应该|应当)?是(?!吗|吧|不是)",
    ),
    (
        "不是 不叫",
        (
            r"(?:是|叫|改成|写|为)[^，,。？?\n]{1,24}[，,]\s?(?:而)?(?:不是|不叫)(?!吗|很|我"
            r"|说)[^，,。？?\n]{1,24}(?:[。！!了]|$)"
        ),
    ),
    (
        "我",
        r"我(?:刚才|之前|上次|明明)?(?:说|指|要|讲)的(?:明明|其实)?(?:是|就是)|我(?:的意思|意思)是",
    ),
    ("应该 应当", r"应[该当](?:是|用|叫|写|填|改成|为|在)(?!吧|不会|没|[^。]{0,40}吧[。！!~]?$)"),
    (
        "isn't is wasn't aren't not",
        (
            r"\b(?:isn't|is not|wasn't|aren't|not) [\w$€£.,'’ -]{1,40}?[,;:—-] ?(?:but |it'?s |it is "
            r"|they'?re |that'?s |the |my |our |make it )"
        ),
    ),
    (
        "not",
        (
            r"\b(?:it'?s(?! (?:fine|ok|okay|good|great|cool|nice|true|all|enough|on))|is|are|was|said"
            rf"|meant|use|called|want|wanted) [\w$€£.'’ -]{{1,40}}?(?:, ?| -{{1,3}} |(?<=said) "
            r"|(?<=meant) )not (?!only|just|that|sure|bad|to |yet|so |too |very )[\w$€£-]"
            rf"|\bnot {_NAME}{{1,24}} but \w"
        ),
    ),
    (
        "should",
        (
            r"\bshould (?:be|have been|say|read|go to) (?!fine|ok|good|done|ready|here|back|there|able"
            r"|easy|fun|enough|careful)"
        ),
    ),
)
_MARKS = Table(
    ("错了", r"(?:^|[，,。！!\s])[\u4e00-\u9fff]{1,5}错了(?=[，,。！!]|$)"),
    (
        "反 错 混 岔 串 不对 有误 不太对",
        (
            r"(?:搞|弄|记|给|写|说|填|打|听|理解|看|算|订|选|拼|发|加|存)(?:反|错|混|岔|串)了?|(?:名字"
            r"|日期|时间|地址|金额|数字|人|号码|数量|单位)(?:不对|错了|有误|不太对)"
        ),
    ),
    (
        "不对 错了 不是 更正 纠正 订正 等等 等一下 口误",
        (
            r"(?:^|[，,。！!\s])(?:不对|错了|不是(?:的|这样|啦)|更正|纠正|订正|等等|等一下"
            r"|口误)(?![劲外称吗])"
        ),
    ),
    (
        (
            "wrong incorrect mistaken misspelled misspelt mistyped mixed misspoke misread misheard "
            "misunderstood typo correction mistake off outdated"
        ),
        (
            r"\b(?:wrong(?! (?:to|with)\b)|incorrect|mistaken|misspelled|misspelt|mistyped|mixed (?:that|this|it|them) up"
            r"|misspoke|misread|misheard|misunderstood|mixed up|typo|correction|my mistake|outdated"
            r"|out of date)\b|\b(?:amount|number|total|figure|date|sum|count|price|time)s? (?:is|are|was"
            r"|were) (?:a bit |way )?off\b"
        ),
    ),
    (
        "that's",
        r"\bthat'?s (?:not (?:right|correct|quite right|what i|it|my|the)|(?:an? |the )?old)\b",
    ),
    ("no nope", r"^(?:no|nope)(?: no)?[,.!] "),
    (
        "meant scratch bad spelled correct",
        (
            r"\blet me correct (?:myself|that)\b|\bi meant\b|\bscratch that\b|\bmy bad\b"
            r"|\bspelled (?:with )?\w"
        ),
    ),
)
_UPDATES = Table(
    ("那是 这是", r"[那这]是(?:去年|以前|之前|旧|老|上个?[月周]|过去)的?"),
    ("changed", r"\b(?:has|have) changed(?:[,;:.]|$)"),
    ("last", r"\bthat was last (?:year|month|week|quarter)'?s?\b"),
    (
        "更新 改 修改 纠正 订正",
        r"(?:更新|改|修改|纠正|订正)(?:一下|过来|下)(?:吧|哈)?[。！!]?$|^(?:改|更新|纠正)一下[：:，,]",
    ),
    (
        "换 走了 调走 离职 搬 停用 作废 改 过时 过期 变",
        (
            r"(?:换人|走了|调走|离职|过期|搬走|搬家|停用|作废|换成|改成|改为|改名|过时|换了|变了"
            r"|换号)(?:了)?[^。]{0,20}(?:现在|新的|改)"
        ),
    ),
    ("现在", r"(?:了|过期|不再)[^，,。]{0,6}[，,]\s?现在"),
    ("搬", r"(?:公司|办公室|我们|团队|工位|仓库)[^，,。]{0,8}搬(?:到|去|至)[^，,。]{2,12}了"),
    (
        "changed switched moved migrated",
        (
            r"\b(?:i|we)(?:'ve| have)? (?:changed|switched|moved|migrated) (?:my|our|the|over"
            r"|to)\b[^.\n]{0,40}\b(?:to|it'?s|now)\b"
        ),
    ),
    ("now", r"\bis (?:our|my|the) [\w ]{2,20} now\b"),
    ("change update set", r"\b(?:change|update|set) (?:my|our) [\w ]{2,20} to \w"),
    ("现在", r"现在(?:的)?[^，,。]{1,8}(?:是|换成|改成|改为|叫)(?!什么|谁|哪)"),
    ("早就 已经", r"(?:早就|已经)(?:不|没)(?:再)?[^，,。]{1,16}了[，,]?\s?(?:现在|改)"),
    (
        "update fix correct change",
        r"\b(?:please )?(?:update|fix|correct|change) (?:that|this|it|your (?:notes|records|memory))\b",
    ),
    ("now", r"\b(?:is|are) now [\w]|\bnow (?:lives?|works?|goes|uses)\b"),
    (
        "changed moved new",
        (
            r"\b(?:has|have) (?:changed|moved) to\b|\bchanged[,;:.] (?:the )?new (?:one|number|address"
            r"|name) is\b|\b(?:the )?new (?:one|number|address|name) is\b"
        ),
    ),
    (
        "longer anymore any",
        (
            r"\bno longer\b.{0,60}\b(?:now|instead|it'?s)\b|(?:n't|\bnot) [^.\n]{2,40} any ?(?:more"
            r"|longer)[,;.] "
        ),
    ),
    (
        "make",
        (
            r"^(?:no,? |sorry,? |actually,? |wait,? ){0,4}make (?:that|it) (?!a|up|work|easy|so|clear|quick"
            r"|better|happen)\w"
        ),
    ),
)
_RETHINKS = Table(
    ("主意 想法 想了想 重新想", r"改(?:变)?(?:了)?主意|改(?:变)?(?:了)?想法|重新想了|想了想"),
    ("不用 不要", r"不[用要][^，,。]{1,10}了[，,]?\s?(?:改|换|以后)"),
    ("还是", r"还是(?:改|用|换|走|按|写)[^，,。]{1,16}吧"),
    (
        "取消 作废 不算 撤 不用 算了 改",
        (
            r"(?:之前|刚才|上次|原来|以前|先前)(?:说|讲|定|提|设|让你)(?:的|过的?)?[^。]{1,30}(?:取消|作废"
            r"|不算|撤销|撤回|不用了?|算了|改成|改为|别)|(?:取消|撤销|撤回|作废)(?:之前|刚才|上次|那条"
            r"|那个|原来)"
        ),
    ),
    (
        "取消 作废 停掉 删掉 不用了",
        (
            r"(?:规则|规矩|提醒|约定|设置|安排|习惯|那条|那个)[^，,。]{0,4}(?:取消|作废|不算数|停掉|删掉"
            r"|不用了)"
        ),
    ),
    ("forget", r"\bforget (?:about )?the [\w ]{1,20}(?:rule|reminder|thing|limit)\b"),
    ("mind thought", r"\bchanged my mind\b|\bon second thoughts?\b"),
    (
        "longer anymore any",
        (
            r"\bi no longer (?:want|need|like|use|prefer|drink|eat|live|work)\b|\b(?:don'?t"
            r"|do not) (?:want|need|like|use) [^.\n]{2,50} (?:any ?more|any longer)\b|\b(?:rule|policy"
            r"|that|it)\b[^.\n]{0,40} no longer applies\b"
        ),
    ),
    (
        "stop",
        (
            rf"{START}stop (?:send|do|us|post|includ|ask|remind|add|call|notify|ping|messag|email|interrupt"
            r"|suggest|show|open|apologi[sz]|summari[sz]|translat|writ|reply|delet|chang|sav"
            rf"|copy)\w{{0,3}}ing\b"
        ),
    ),
    ("back", r"\bi take (?:that|it) back\b"),
    (
        "forget ignore disregard cancel scrap drop",
        (
            r"\b(?:forget|ignore|disregard|cancel|scrap|drop) (?:what i said|the (?:rule|thing"
            r"|reminder) (?:about|for)|my (?:earlier|previous|last)|the (?:earlier|previous|old))"
        ),
    ),
)
_ACTUALLY = Table(
    (
        "其实 实际上 准确 确切",
        (
            r"(?:^|[，,。：:\s])(?:其实|实际上|准确地?说|确切地?说)(?!我(?:不|很|挺|觉得|还好|也|都)|也|还"
            r"|就|挺|很|不)[^。\n]{0,30}(?:是|在|叫|用|改)"
        ),
    ),
    (
        "actually fact precise sorry",
        (
            r"\b(?:actually|in fact|to be precise|sorry),? (?:i(?:'m| am| live| moved| work| use| need"
            r"| meant)|it(?:'s| is)(?! (?:so |very |quite |really |pretty |all ){0,4}(?:great|good|fine|ok"
            r"|okay|nice|cool|perfect|funny|true|not|right|working|better))|the \w{1,24}|my \w{1,24}|we)\b"
        ),
    ),
)

TABLES = (
    _CONTRASTS,
    _MARKS,
    _UPDATES,
    _RETHINKS,
    _ACTUALLY,
)
"""For a test that no row is hidden by the words that it needs."""


def correction(sentence: Sentence, *, answered: bool) -> int | None:
    """Where a sentence sets something right, or None.

    `answered` tells that somebody spoke or did something before it, which it may be about: by
    itself, "actually" sets nothing right.
    """
    rethought = _RETHINKS.find(sentence)
    if rethought is not None and sentence.words >= FEW_WORDS:
        return rethought.start()
    contrast = _CONTRASTS.find(sentence)
    if contrast is not None and sentence.words > 1:
        return contrast.start() if _placed(sentence, answered) or _MARKS.find(sentence) else None
    told = _told_by(sentence, answered=answered)
    return told if told is not None and _placed(sentence, answered) else None


def _told_by(sentence: Sentence, *, answered: bool) -> int | None:
    marked = _MARKS.find(sentence)
    if marked is not None and says_more(sentence):
        return marked.start()
    told = _UPDATES.find(sentence)
    if told is None:
        told = _ACTUALLY.find(sentence)
        told = told if told is not None and (answered or sentence.slot is not None) else None
    at = told.start() if told is not None else (0 if corrects(sentence) else None)
    return at if at is not None and sentence.words >= FEW_WORDS else None


def marked(sentence: Sentence) -> bool:
    """Whether a sentence says that something is wrong."""
    return _MARKS.find(sentence) is not None


def only_marks(sentence: Sentence) -> bool:
    """Whether a sentence says that something is wrong, and not what."""
    return marked(sentence) and not says_more(sentence)


def says_more(sentence: Sentence) -> bool:
    """Whether a sentence says something beside its mark of correction."""
    rest = sentence.low
    for match in _MARKS.matches(sentence):
        rest = rest.replace(match.group(), " ")
    words = len(content_words(rest))
    return words >= FEW_WORDS or (words > 0 and _STATES.search(rest) is not None)


def _placed(sentence: Sentence, answered: bool) -> bool:  # noqa: FBT001 - of one caller's
    """Whether it is plain what a sentence is about: talk by itself sets nothing right."""
    event = sentence.event
    told = bool(event.objects) or event.task_id is not None or event.kind == "user.correction"
    return answered or told or sentence.slot is not None
