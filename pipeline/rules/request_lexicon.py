"""Closed bilingual lexicons: how one agrees, asks for something to hold, denies, asks, puts off.

All of them take text whose Traditional characters are folded (`pipeline.rules.wording.simplified`).
"""

import re

from storage.records.knowledge import RecordKind

_FLAGS = re.IGNORECASE

CLAUSE = re.compile(
    r"[，,、。；;：:！!？?\n]|\.(?=\s|$)|\b(?:but|instead)\b|而是|但是?|改用|改为|改成"
)
"""Where what is denied ends and what is affirmed begins."""

NAMED = re.compile(
    r"(?:改成|改为|改用|换成|叫(?:做|作)?|名为|是|用|为|\b(?:to|called|named|use|is|as|the))[：:]?\s?"
    r"[“\"「『《](?P<name>[^”\"」』》\n，。,.!?！？]{1,24})[”\"」』》]",
    _FLAGS,
)
"""A name that its speaker puts between quotation marks, which makes it nobody else's words."""

_AGREES = re.compile(
    r"^\W*(?:好(?:的|吧|啊|呀|嘞)?|行(?:吧|啊)?|可以(?:的|了)?|嗯+|是(?:的|啊)?|对(?:的|啊|呀)?|没错|没问题|当然|同意"
    r"|ok(?:ay)?|yes|yep|yeah|yup|sure|right|correct|exactly|absolutely|definitely|of course|agreed|fine"
    r"|no problem|sounds good)(?=$|\W|[请就这那把用按照一帮启确恢记])",
    _FLAGS,
)

_BEGINS = r"(?:^|[，,。.；;：:！!\n]\s{0,4}|"
_LEAD_ZH = (
    _BEGINS
    + r"请你?|麻烦你?|帮我|给我|我|就|都|现在|正式|重新|可以|已经?|特此|把[^，,。\n]{1,24}?)"
)
_LEAD_EN = (
    r"(?:(?:^|[,.;:!\n-])\s{0,4}(?:and |so |then )?|\b(?:please|you (?:can|may|should)|yes|yep|yeah|ok(?:ay)?|sure|right"
    r"|go ahead(?: and)?|let['’]?s|i (?:want you to|['’]d like (?:you )?to|hereby|now)|i['’]d like (?:you )?to"
    r"|always) )"
)
_REQUESTS = re.compile(
    # Someone who says 确认一下 or "confirm whether" wants to be told, not to be believed.
    _LEAD_ZH
    + r"确认(?!一下|下(?!来)|过|是否|是不是|有没有|能不能|的时候|之?[前后]|以[前后]|按钮|页|框|码|函|邮件|收货|付款|订单)"
    r"|"
    + _LEAD_ZH
    + r"(?:启用|恢复|激活|打开|采纳|采用|批准|保留)(?!了?[吗没]|之?[前后]|以[前后]|时|失败|按钮|页|正常|出厂|默认|密码|网络)"
    r"|记住(?!了|密码|没)|记下来?(?!了)|就这么(?:办|定|做|用|记)|就这样(?:办|定|做|用|吧)?|照这个(?:办|来|做|用)|照办|照此"
    r"|(?:这|那)(?:一)?(?:条|个|项|样|些|套)?[^，,。\n]{0,8}(?:是对的|没错|没问题|正确|属实|有效|算数|照旧|可以用|继续用)"
    r"|" + _BEGINS + r"我)(?:同意|批准|认可|赞成)"
    r"|"
    + _LEAD_EN
    + r"(?:re-?)?(?:confirm(?:ed)?(?! (?:whether|if|with|what|who|when|the (?:order|payment|booking)))"
    r"|enable|activate|reinstate|restore|approved?|adopt|accept|keep|use|apply|remember|bring|turn on|switch on)\b"
    r"|\b(?:that|this|it)(?: [\w ]{1,40}?)?(?:['’]s| is| was| still is| still)? (?:right|correct|true|valid|fine|good|holds|stands|applies)\b(?! (?:if|when|unless))"
    r"|\bi (?:confirm|approve|agree|accept)\b(?! (?:whether|if))|\bgo ahead\b|\b(?:turn|switch) (?:it|this|that|the [^,.]{1,40}) (?:back )?on\b"
    r"|\b(?:is|are|it['’]s|that['’]s) (?:hereby )?(?:confirmed|approved|enabled)\b",
    _FLAGS,
)

_THING = (
    r"(?:记录|记忆|内容|条目|这一?条|那一?条|上面一?条|刚才一?条|record|memory|entry|item|note)"
)
_OF_KIND = {
    RecordKind.RULE: r"规则|规矩|规定|rules?|instruction",
    RecordKind.PREFERENCE: r"偏好|喜好|习惯|preference",
    RecordKind.FACT: r"事实|信息|情况|资料|facts?|information",
    RecordKind.PROCEDURE: r"流程|步骤|做法|方法|技能|procedure|skill|steps|workflow",
    RecordKind.CORRECTION: r"更正|纠正|修改|correction",
    RecordKind.COMMITMENT: r"承诺|约定|提醒|待办|commitment|promise|reminder",
    RecordKind.EPISODE: r"经过|总结|episode|summary",
    RecordKind.CUE: r"线索|cue",
}
_POINTS = r"(?:[这那该此](?:一|几|两|些)?[条个项套份些]?(?:新的?|旧的?)?|上面的?|刚才的?|\b(?:this|that|the|these|those|my)\s(?:\w+\s)?)"

_ASKS = re.compile(
    r"[?？]\s*[\"”’」』]?\s*$|(?:吗|呢|么|嘛)[。！!~～.]*$|要不要|是不是|对不对|好不好|行不行|可不可以|能不能|有没有|会不会|该不该"
    r"|^(?:为什么|为何|怎么|怎样|什么|谁|哪|请问|是否|几)"
    r"|^\s*(?:(?:and|so|but|ok(?:ay)?|hey|well),? )?(?:should|shall|do(?! (?:it|so|this|that|use|keep|enable|confirm))|does|did|is|are|was"
    r"|were|can|could|would|will|may|might|what|which|who|whom|whose|when|where|why|how|have|has)\b(?! do\b)",
    _FLAGS,
)

_EXCEPTS = re.compile(
    r"不经|未经|不用问|不必问|除非|除了|\b(?:without|unasked|unless|except)\b", _FLAGS
)

_VERB_ZH = (
    r"(?:确认|启用|恢复|激活|打开|采纳|采用|批准|同意|保留|记住?|用这|这样|对[的吧]?$|属实|正确)"
)
_VERB_EN = (
    r"(?:confirm|enable|activate|reinstate|restore|approve|adopt|accept|keep|use|apply|remember|agree|want|need"
    r"|right|correct|true|ok|sure)"
)
_UNDOES = re.compile(
    r"删除|删掉|删了|移除|去掉|忘掉|停用|停掉|关掉|关闭|作废|撤销|撤回|取消|废除|废弃|废止|改成|改为|改用|换成|换用|改一改|改掉|别留"
    r"|\b(?:delete|remove|forget|drop|disable|deactivate|discard|cancel|revoke|undo|scrap|stop|replace)\b|\bget rid\b"
    r"|\b(?:turn|switch) (?:\w+ ){0,4}off\b|\b(?:change|switch) (?:\w+ ){0,3}to\b|\binstead\b",
    _FLAGS,
)
_WILLS = re.compile(rf"{_VERB_ZH}|\b{_VERB_EN}\b", _FLAGS)
_REFUSES = re.compile(
    r"^\W*(?:不(?!错|过|仅|但|同|断|久|少|论|管|如|妨|愧)|别(?!的|人|处)|没有|算了|等等|等一?下|等会|先不|先别|暂时?不|取消|停用|撤回|作废|删掉"
    r"|no\b(?! problem| doubt)|nope\b|nah\b|not\b|wait\b|hold on|never ?mind|cancel|stop\b|disable|don['’]?t\b|do not\b)"
    r"|(?:不|没|勿|未|别|拒绝|停止|无法)(?:想|要|能|会|用|必|再|先|是|该|准|许|打算|急着|给我|去|太|敢){0,3}"
    + _VERB_ZH
    + r"|(?:\bnot|n['’]t|\bnever|\bwithout|\bno longer)\s(?:\w+\s){0,2}"
    + _VERB_EN
    + r"\b",
    _FLAGS,
)

_SUPPOSES = re.compile(
    r"如果|假如|要是|假设|万一|倘若|除非|等[^，,。]{1,12}(?:再|了再|之?后|以后)|再(?:说|看|议|考虑|想想)|以后再|改天|回头再|考虑|也许|可能|大概|说不定|待定"
    r"|\b(?:if|unless|(?<!this )(?<!just )once|until|suppose|imagine|maybe|perhaps|probably|might|later|not yet|think about|we['’]ll see|let me (?:think|check|see)"
    r"|depends?|depending)\b",
    _FLAGS,
)

_TAKES_BACK = re.compile(
    r"^\W*(?:不对|不是|不行|算了|等等|等一?下|先不|先别|还是(?:不|别|算)|取消|撤回|作废|别(?!的|人)|不要|不用)|(?:还是|又|再)(?:不要|别|算了)|我(?:反悔|改主意|说错)"
    r"|^\W*(?:no\b(?! problem)|wait\b|hold on|actually|never ?mind|scratch|forget (?:it|that)|on second thought|don['’]?t\b|do not\b|stop\b|cancel)"
    r"|\bi (?:changed my mind|take (?:it|that) back|misspoke)\b",
    _FLAGS,
)


def agrees(text: str) -> bool:
    """Whether a text begins with a yes.

    >>> agrees("好的，就这么办"), agrees("Yes, please"), agrees("好像是这样")
    (True, True, False)
    """
    return _AGREES.search(text) is not None


def requests(text: str) -> bool:
    """Whether a text asks, or declares, that something holds from now on.

    >>> requests("确认，以后用新模板"), requests("请你确认一下"), requests("please enable it")
    (True, False, True)
    """
    return _REQUESTS.search(text) is not None


def names_kind(text: str, kind: RecordKind) -> bool:
    """Whether a text points at a record of that kind, or at what was noted, as such.

    >>> names_kind("启用这个流程", RecordKind.PROCEDURE), names_kind("启用这个流程", RecordKind.FACT)
    (True, False)
    """
    pattern = rf"{_THING}|{_POINTS}(?:[^，,。\n]{{0,6}}?|(?:\w+\s)?)(?:{_OF_KIND[kind]})"
    return re.search(pattern, text, _FLAGS) is not None


def asks(text: str) -> bool:
    """Whether a text is a question.

    >>> asks("要启用吗"), asks("Should I enable it"), asks("启用它")
    (True, True, False)
    """
    return _ASKS.search(text.strip()) is not None


def excepts(text: str) -> bool:
    """Whether a clause holds only without something: it then says little without that part.

    >>> excepts("never pay without asking"), excepts("pay the invoice")
    (True, False)
    """
    return _EXCEPTS.search(text) is not None


def refuses(text: str) -> bool:
    """Whether a text turns down what was asked.

    >>> refuses("先不启用"), refuses("No, don't"), refuses("没错，启用")
    (True, True, False)
    """
    return _REFUSES.search(text) is not None


def undoes(text: str) -> bool:
    """Whether a text wants something gone, or changed into something else.

    >>> undoes("好的，删掉这条规则"), undoes("yes, switch it off"), undoes("switch it on")
    (True, True, False)
    """
    return _UNDOES.search(text) is not None


def wills(text: str) -> bool:
    """Whether a clause speaks of something's being made to hold, be it for or against.

    >>> wills("我不觉得应该启用"), wills("I would rather not keep it"), wills("it rains")
    (True, True, False)
    """
    return _WILLS.search(text) is not None


def supposes(text: str) -> bool:
    """Whether a text makes something depend on something else, or puts it off.

    >>> supposes("如果老板同意就启用"), supposes("maybe later"), supposes("现在就启用")
    (True, True, False)
    """
    return _SUPPOSES.search(text) is not None


def takes_back(text: str) -> bool:
    """Whether a sentence undoes what was said just before.

    >>> takes_back("算了，先别启用"), takes_back("wait, not yet"), takes_back("谢谢")
    (True, True, False)
    """
    return _TAKES_BACK.search(text) is not None


def without_assent(text: str) -> str:
    """A text behind the yes that it begins with.

    >>> without_assent("没错，不要自动付款")
    '，不要自动付款'
    """
    found = _AGREES.search(text)
    return text[found.end() :] if found else text
