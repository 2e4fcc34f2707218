"""How a person wants to be spoken to: language, length, tone, form of address."""

import re

from pipeline.observers.offline.sentences import Sentence
from pipeline.observers.offline.verbs import ORDERED
from pipeline.rules.phrasing import Table

_LANGUAGE = r"(?:中文|英文|英语|普通话|粤语|日语|繁体(?:中文)?|简体(?:中文)?)"
_TONGUE = (
    r"(?:english|chinese|german|french|spanish|japanese|mandarin|cantonese|italian|dutch|plain"
    r"|simple|bullet|short)"
)
_MANNERS = Table(
    (
        "我",
        (
            r"(?:跟|和|对|给)我(?:说话|讲话|回复|回答|解释|汇报|沟通|回消息|写东西)[^。\n]{0,8}?(?:简|短"
            r"|直接|详|慢|快|正式|随意|轻松|用|别|不|先|要)"
        ),
    ),
    (
        "回答 回复 答复 说话 讲话 解释 总结 汇报 说明 回话",
        (
            r"(?:回答|回复|答复|说话|讲话|解释|总结|汇报|说明|回话)(?:的时候|时"
            r"|我)?[^。，,\n]{0,6}?(?:尽量|请|要|可以|就|最好|得)?(?:简短|简洁|简单|精简|详细|直接|口语化"
            r"|正式|随意|具体|短|长)(?!的)(?:一?些|一?点儿?|就好|即可|为主|就行|吧)?"
        ),
    ),
    (
        "用 说 讲 写",
        rf"(?:用|说|讲|写){_LANGUAGE}(?:来|跟我|和我|给我)?(?:回|答|说|沟通|交流|聊|写|跟|就|吧)",
    ),
    ("先", r"先(?:说|给|讲|写|放)(?:结论|重点|结果|要点)"),
    (
        "举例 举个例子 分点 条列 列点 一步一步 通俗 打比方 式 格式 列表 表格 要点 语气 口吻",
        (
            r"(?:解释|回答|回复|说明|讲|汇报|总结|回)[^，,。]{0,12}?(?:举例|举个例子|分点|条列|列点"
            r"|一步一步|通俗|打比方)|用[^，,。]{1,8}(?:式|格式|列表|表格|要点|语气|口吻)(?:来)?(?:回答"
            r"|回复|回|说|写|汇报|总结)"
        ),
    ),
    (
        "直说 重点 开门见山 长话短说",
        r"有话直说|直说(?:就好|就行|吧)|(?:讲|说|挑)重点|开门见山|长话短说",
    ),
    (
        "温度 日期 时间 金额 数字 单位 价格 重量",
        (
            r"(?:^|[，,。])(?:温度|日期|时间|金额|数字|单位|价格|重量|距离)(?:请|都|统一)?(?:用|写成|按"
            r"|以)(?!了)"
        ),
    ),
    (
        "语 文 话",
        r"(?:回复|回答|说话|沟通|聊天|写)(?:请|都|就|的时候)?用[^，,。的]{1,4}(?:语|文|话)",
    ),
    (
        "点 些 别那么 不要太 别太",
        (
            r"(?:能不能|可以|请|麻烦|以后|再|尽量)[^，,。]{0,6}(?:简洁|简短|详细|正式|口语化?|随意|轻松"
            r"|直接|具体|短)(?:一?些|一?点)|(?:别那么|别太|不要太|不要那么)(?:正式|啰嗦|客气|官方|长|严肃"
            r"|啰唆)"
        ),
    ),
    ("回我", r"回我(?:消息|讯息|信息|话|邮件)?[^，,。]{0,6}(?:简短|短|快|直接|用)"),
    ("都 其他 一律", rf"(?:其他|都|一律)(?:用|说|写){_LANGUAGE}"),
    (
        "别 不要 少",
        (
            r"(?:别|不要|少)(?:跟我|和我|再)?(?:绕弯子|啰嗦|说废话|废话|客套|卖关子|太长|长篇大论|讲大道理"
            r"|用敬语|用表情|发表情|加表情|说教)"
        ),
    ),
    (
        "叫我 称呼",
        (
            r"(?<![他她妈爸人家会来去])叫我(?!去|来|做|帮|起|把|给|别|不|先|一起|吃|买|早|回|怎么|带|写|等"
            r"|过|看|明|出|下班|开会|一声|一下)[^，,。！\s]{1,8}(?:就行|就好|就可以|吧|即可|好了)?"
            r"|别(?:再)?叫我|(?:别|不要|请|可以|就)称呼我|称呼我"
        ),
    ),
    (
        "keep make keeping making",
        (
            r"\b(?:keep(?:ing)?|mak(?:e|ing)) (?:your |the |all |my |it |things )?(?:answers?|repl(?:y"
            r"|ies)|responses?|messages?|explanations?|summar(?:y|ies)|updates?|(?:e-?)?mails?|texts?|it"
            r"|them|things)?(?: to me)? ?(?:short(?:er)?|brief(?:er)?|concise|simple(?:r)?|long(?:er)?"
            r"|(?:more )?detailed|to the point|formal|casual|under|below)\b"
        ),
    ),
    (
        "answer reply write respond speak talk explain text",
        (
            rf"{ORDERED}(?:always )?(?:answer|reply|write|respond|speak|talk|explain|text)(?: to me"
            rf"| me)?\b[^.\n]{{0,24}}\b(?:in {_TONGUE}|briefly|concisely|formally|informally)"
        ),
    ),
    (
        "short brief concise detailed shorter longer first front",
        (
            r"\b(?:short|brief|concise|detailed|shorter|longer) (?:answers?|repl(?:y|ies)|responses?"
            r"|explanations?|messages?),? (?:please|only|always)|\b(?:bottom line|conclusion|tl;?dr|answer"
            r"|result|summary) (?:first|up front)"
        ),
    ),
    (
        "call calls go pronouns",
        (
            r"(?:^|[.,;:!] ?|\b(?:please|just|can|to|and|so|on|everyone|friends) )calls? me (?!when|if"
            r"|back|at|on|later|tomorrow|today|tonight|before|after|about|in|as soon|the|a\b|any|whenever"
            r"|by|for|please|again|asap|now|to|crazy|old)[a-z]|\bi go by \w|\bmy pronouns\b"
        ),
    ),
    (
        "talk write speak explain step examples example",
        (
            rf"{ORDERED}(?:use|write|give|explain|show|say|put|avoid)\b[^.\n]{{2,60}} when (?:you(?:'re)?"
            rf"|you are) (?:talk|writ|repl|answer|speak|explain|text)\w{{0,24}}|{ORDERED}explain (?:things|it"
            r"|everything|stuff|concepts)?(?: to me)? ?(?:step by step|simply|with examples|in detail"
            r"|like i)"
        ),
    ),
    (
        "plainly bluntly directly simply clearly slowly",
        (
            rf"{ORDERED}(?:speak|talk|write|be)(?: to me| with me)? (?:more )?(?:plainly|bluntly|directly"
            r"|simply|clearly|slowly|plain|blunt|direct)\b"
        ),
    ),
    (
        "concise formal casual detailed brief direct friendly verbose technical chatty wordy",
        (
            r"\b(?:a bit |a little |be |much )?(?:more|less|so|too) (?:concise|formal|casual|detailed"
            r"|brief|direct|friendly|verbose|technical|chatty|wordy)\b(?=[^.\n]{0,12}(?:please|$|[.!?])"
            r"| with me)"
        ),
    ),
    (
        "answers replies responses messages",
        (
            r"\b(?:your|the|all) (?:answers|replies|responses|messages) (?:to me )?(?:should be "
            rf"|must be )?in {_TONGUE}"
        ),
    ),
    (
        "dates date times numbers amounts temperatures units prices",
        (
            r"(?:^|[,.;] ?|\buse )(?:dates?|times|numbers|amounts|temperatures|units|prices) (?:in"
            r"|as) [\w -]{2,24}"
        ),
    ),
    ("straight formalities", r"\bgive it to me straight\b|\bdrop the formalit"),
    ("point", r"\bget (?:straight |right )?to the point\b"),
    ("skip", r"\bskip (?:the|all) (?:small ?talk|pleasantries|intros?|fluff|preamble|apologies)"),
    (
        "emoji emojis small talk smalltalk jargon fluff exclamation filler pleasantries smileys sugar",
        (
            r"\b(?:no|less|fewer|without|don'?t (?:use|add|send)|do not (?:use|add)|never use"
            r"|stop (?:using|with)|skip) (?:the |any |so many )?(?:emojis?|jargon|small ?talk|fluff"
            r"|exclamation|filler|pleasantries|smileys)\b|\b(?:don'?t|do not) sugar-?coat"
        ),
    ),
)
_TO_OTHERS = re.compile(
    r"(?<!其)他(?!们家)|她|客户|\bto (?:him|her|them|customers?|clients?|the board)\b"
)

TABLES = (_MANNERS,)
"""For a test that no row is hidden by the words that it needs."""


def manner(sentence: Sentence) -> int | None:
    """Where a sentence tells how its speaker wants to be spoken to, or None."""
    match = _MANNERS.find(sentence)
    return match.start() if match and not _TO_OTHERS.search(sentence.low) else None
