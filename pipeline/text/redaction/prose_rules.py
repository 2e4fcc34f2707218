"""Passwords, one-time codes and recovery phrases as people write them, Chinese and English.

All patterns run on lower-cased text and bound every quantifier; what they find is read
from the text itself, since capitals tell a password from a word.
"""

import re
from collections.abc import Iterator

from pipeline.text.redaction import values
from pipeline.text.redaction.reading import Value, is_password, read_value
from pipeline.text.redaction.spans import Kind, Span

_NAME = (
    r"(?:密\s?[码碼](?:[锁鎖])?|卡密(?![码碼])|口令|暗[号號]|通行[码碼]|(?:解[锁鎖]|提取|恢复|恢復|备用|備用|安全|门禁|門禁)[码碼]|pin\s?[码碼]"
    r"|p[a4@]ss[ _-]?w[o0]r[dt]\d?(?![a-z])|p a s s w o r d|パスワード|identified\sby(?=\s)|wi-?fi\skey(?![a-z])|passwd\d?(?![a-z])|pass[ _-]?phrase(?![a-z])|pass[ _-]?code(?![a-z])"
    r"|pwd\d?(?![a-z])|(?<![a-z])(?:pw|psw|psk|pass|pin(?:\s(?:code|number))?)(?![a-z]))"
)
_THING = r"(?:[\w.'’@/%-]{1,32}\s){0,7}[\w.'’@/%-]{1,32}"
_FOR = rf"(?:\s(?:for|to|of|on|at|in|from)\s{_THING}(?=\s?(?::|：|=|->|→|\sis\b|\swas\b|是|为)))?"
_NOTE = r"(?:\s?[（(][^()（）\n]{0,24}[)）])?"
_BOX = r"(?:(?:输入)?[框栏欄][里裡中内]?|内容|內容|明文|本身|从[^\s，。,]{1,8}(?:起|开始))?"
_ADVERB = (
    r"(?:现在|目前|还|就|仍然?|一直|都|已经?|被|我|他|她|给你|统一|一般|平时|通常|默认|初始|临时|应该|可能|好像|大概|记得|新的?"
    r"|原来|以前|之前|用的|要|得)"
)
_NOW = rf"{_BOX}{_ADVERB}{{0,3}}"
_ZH_IS = r"(?:是|为|為|係|(?:改|换|換|設|设|设置|設置|设定|設定|定|更新|更改|更換|修改|变|變更|重置|写)(?:成了?|为了?|為了?|到|的是|了)|叫做?|用的?是?|填的?|输入?的?是?|记成|は)"
_EN_IS = (
    r"(?:,\s[^,.\n]{1,40},)?\s(?:is|was|are|will be|would be|should be|should now be|will now be|has been|is being|used to be)"
    r"(?:\s(?:now|still|just|currently|simply|actually|probably|always|set to|changed to|reset to|updated to)){0,2}"
)
_SIGN = r"(?::=|[:：]{1,2}|=>|->|→|={1,3}|>|\|)"
_TO = r"\s(?:has been |was |is )?(?:(?:set|changed|reset|updated|switched)\s)?(?:to|as)\s"
_ASIDE = r"\s?[,，?？.。!！;；]\s?(?:it'?s|it is|it was|就是|是|应该是)"
_QUOTE = r"[\"'`*]{0,2}\\?[\"']?\]?"
_FOLLOWS = r"(?:如下|同上|见下|見下|在下面|\s(?:as follows|below|here|again))?"

_NAMED = re.compile(
    rf"(?P<name>{_NAME})(?:['’]s(?=\s))?{_QUOTE}{_NOTE}{_FOR}"
    rf"(?:{_FOLLOWS}\s{{0,3}}(?P<sign>{_SIGN})|\s{{0,3}}(?P<zh>{_NOW}{_ZH_IS}[:：]?)|(?P<en>{_EN_IS}[:：]?(?=\s))"
    rf"|(?P<to>{_TO}|\s[-–—]{{1,2}}(?=\s))|(?P<aside>{_ASIDE}|[\u4e00-\u9fff]{{1,8}}[，,](?=\s?[!-~]))|(?P<none>(?:内容|內容|明文)?{_ADVERB}{{0,3}}))(?P<space>\s{{0,3}})"
)
_REMINDED = re.compile(rf"{_NAME}\s(?:reminder|update|info|details?|note)\s{{0,2}}{_SIGN}\s{{0,3}}")
_OWNED = re.compile(
    r"(?:\b(?:my|our|his|her|their|your|its|wi-?fi|admin|root|login|\w+'s)\b|我|他|她|你|咱|家|公司)[^\n.。,，]{0,24}$"
)
_PAIR = re.compile(
    r"(?:(?:(?:[账帐賬帳][号號户戶]|用户名?|user(?:name)?|login|credentials?|creds)\s?(?:[/、和&+]\s?(?:密[码碼]|pass(?:word)?|pw))?"
    r"|登录信息)(?:\sfor\s(?:[\w.-]{1,20}\s?){1,3})?\s?(?:[:：]|是|为|is\s|are\s)|(?:log ?in|sign in)\s(?:with|as|using)\s)"
    r"\s?(?:[!-.0-~]{1,64}\s?(?:[/|、]|\s(?:with|using|and)\s|\s)|[\w.@-]{1,64}:)\s?"
)
# A path names its folders by words and numbers: only what mixes in a sign is taken for a password.
_ACCOUNT_PAIR = re.compile(
    r"(?<![\w./-])(?:root|admin|administrator|sa|ubuntu|centos|postgres|oracle|mysql|deploy|ops|guest|pi|user)\s?/\s?"
    r"(?P<value>(?=[^\s/]{0,63}\d)(?=[^\s/]{0,63}[a-z])[a-z0-9][a-z0-9._-]{0,32}[@#!$^&*+][!-.0-~]{1,63})(?![\w/])"
)
_HOST_PAIR = re.compile(
    r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?:[:：]\d{1,5})?[^\n]{0,16}?(?<![\w./-])(?:root|admin|administrator|sa)\s"
    r"(?P<value>(?=[^\s/]{0,63}\d)(?=[^\s/]{0,63}[a-z])[a-z0-9][a-z0-9._-]{0,32}[#!$^&*+][!-.0-~]{1,63})(?![\w/])"
)
_NETWORK_PAIR = re.compile(
    r"(?<![a-z])wi-?fi\s?[:：]\s?[^\s/:：]{1,32}\s?/\s?(?P<value>[!-.0-~]{8,63})(?![\w/])"
)
_SET_BY_CALL = re.compile(
    rf"(?:define|set\w{{0,16}}|put\w{{0,8}}|add\w{{0,8}}|env\w{{0,8}})\s?\(\s?[\"'][\w.-]{{0,40}}?{_NAME}[\"']\s?,\s?(?=[\"'])"
)
_TYPED = re.compile(
    r"(?:\b(?:type|types|typed|typing|enter|entered|entering|input|fill|filled|put|paste|pasted)\s[\"'“`]?(?P<en>[!-~]{4,64}?)[\"'”`]?"
    r"\s(?:in|into|to|as|for)\s(?:[\w'’-]{1,20}\s){0,3}(?:password|passcode|passphrase|pin)(?![a-z])"
    r"|(?:输入|填入?|键入|粘贴|把)\s?[\"'“「`]?(?P<zh>[!-~]{4,64}?)[\"'”」`]?\s?(?:到|进|填[进入到]|输入|粘贴到|写[进到])[^\n，。]{0,6}?密[码碼])"
)
_AS_NAME = re.compile(
    r"(?:\s(?:is|was|as)\s(?:[\w'’-]{1,24}\s){0,4}(?:password|passcode|passphrase|pin|pw)"
    r"|\s?(?:这个|那个|这串|那串)(?:密[码碼](?![箱学學锁鎖])|口令)"
    r"|\s?(?:这个|那个)?(?:就?是|作为|作為|当做?|當|做|为)[^\s，。,.]{0,10}?(?:密[码碼]|口令))(?=[\s，。,.!！;；)）]|$|[登进去来解打就能可])"
)

_CODE = (
    r"(?:(?:验证|驗證|认证|認證|校验|校驗|动态|動態|短信|确认|確認|登[录錄入]|授权|授權|一次性|随机|安全|取款|激活|兑换)[码碼]"
    r"|(?:动态|一次性|临时)(?:密[码碼]|口令)|验证器[^\n。.\d]{0,6}?码|(?:收到|发来?|给|短信)的码"
    r"|(?:手机|手機|动态|動態|安全)令牌(?:上|里|裡)?(?:显示|顯示)?(?=[^\d\n]{0,3}\d{6}(?!\d))"
    r"|\bcomb(?:o|ination)(?=\s(?:for|to|of|on)\s(?:the|my|our|your|his|her)\s(?:[\w'-]{1,16}\s)?(?:safe|lock|locker|vault|gate|garage|suitcase|bike))"
    r"|\botp\b|\b(?:verification|security|one[- ]?time|log[- ]?in|sign[- ]?in|access|auth|authentication|authorization|confirmation"
    r"|(?:front |back )?(?:gate|door|alarm|entry|lock(?:er|box)?|safe|garage|building|gym|vault)(?=\s(?:code|pin|combination))"
    r"|2fa|mfa|two[- ]factor|2-step|sms|recovery|backup|device|unlock|activation)\s?(?:code|pin|password|passcode|combination)(?P<many>s?)\b(?:\s?#?\d{1,2}(?=\s?[:：]))?)"
)
_DIGITS = (
    r"(?<![0-9a-z])(?P<code>(?:[a-z]{1,2}-)?\d{4,8}|\d{3}[ -]\d{3,4}|\d{2}-\d{2}-\d{2}|\d(?: \d){3,7}|[零〇一二三四五六七八九幺]{4,8}"
    r"|(?=[a-z]{0,7}\d)(?=\d{0,7}[a-z])[a-z0-9]{4,8}|[a-z0-9]{4,5}-[a-z0-9]{4,5}(?:-[a-z0-9]{4,5}){0,3})(?![0-9a-z])(?![.-]\d)(?!-[a-z])"
)
_LINK = r"\s{0,2}(?:[:：=]|->|→|\bis\b|\bwas\b|是|为|為)?\s{0,2}[:：]?\s{0,2}[“\"'「『【\[(（*`]{0,2}\s?"
_NAMED_CODE = re.compile(rf"{_CODE}{_FOR}(?:{_LINK}|(?P<gap>[^\d\n。.a-z]{{1,12}}?)){_DIGITS}")
_YOUR_CODE = re.compile(
    rf"\byour\s(?:(?!zip|postal|post|area|country|colou?r|source|status|error|exit|promo|coupon|booking|qr|tax|product|item)[\w-]{{1,20}}\s){{0,3}}"
    rf"code\s{{0,2}}(?:is|:|：){_LINK}(?P<code>\d{{4,8}}|\d{{3}}[ -]\d{{3}})(?![0-9a-z])"
)
_PLAIN_CODE = re.compile(
    r"(?:^|[\n.!。，,】\]] ?|(?:whatsapp|google|apple|telegram|microsoft|facebook|amazon|signal|wechat|steam|discord|github|paypal|bank)\s)"
    r"code\s?(?:[:：]|是|is\s)?\s?(?P<code>\d{6}|\d{3}-\d{3})(?![\w-])"
    r"|\bcode\s(?:that\s)?(?:they|you|he|she|it|i|we|the bank|google|apple)\s(?:just\s|have\s|has\s)?(?:text|sent|send|sms|gave|got|received?|email)\w{0,6}\s(?:\w{1,10}\s){0,2}(?:is|was)\s(?P<told>\d{4,8})(?![\w-])"
)
_CARD_CODE = re.compile(
    r"(?:\bcvv2?|\bcvc2?|安全[码碼])\s{0,2}(?:[:：=]|是|为|\bis\b)?\s{0,2}(?P<code>\d{3,4})(?![0-9a-z])"
)
_MORE_CODES = re.compile(
    r"[\s,，、;]{1,3}(?:\d{1,2}[.):]\s?)?(?P<code>(?=[a-z-]{0,8}\d)[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){0,3})(?![0-9a-z])"
)
_FROM_TO = re.compile(
    rf"{_NAME}[^\n]{{0,24}}?(?:\bfrom\s(?P<old>[!-~]{{4,64}})\sto\s|从\s?(?P<alt>[!-~]{{4,64}}?)\s?(?:改|换|变)(?:成|为|到)\s?)"
)
_CODE_FIRST = re.compile(
    r"(?<![\w.-])(?P<code>[a-z]-\d{4,8}|\d{4,8}|\d{3}[ -]\d{3})\s?(?:[)）」”】]?\s?(?:is\s|是|为|為|as\s|作为)|[（(\[【])\s?(?:your|您的?|你的?|the|本次|此次|当前)?"
    r"(?:\s?(?:[\w'’-]{1,20}\s){0,3}|[^\n。.,，a-z]{0,12}?)(?:code(?!\s?(?:review|base|freeze|block|team))|验证码|驗證碼|校验码|动态码|动态密码|otp|passcode)(?![a-z])"
)
_USE_CODE = re.compile(
    r"(?:\b(?:use|enter|type|input)\s(?:the\s)?(?:code\s?)?|输入|填写?)\s?(?P<code>\d{6,8}(?=\s?to (?:finish|complete|continue))|\d{4,8}|\d{3}[ -]\d{3})\s?"
    r"(?:to (?:verify|log|sign|confirm|authenticate)|(?<=\d{6} )to (?:finish|complete|continue)|as (?:your|the) (?:code|otp|verification|login|pin|passcode)|来?(?:登录|验证|完成|确认))"
)
_MESSAGE_CODE = re.compile(
    r"(?:短信|簡訊|短讯|手机上?)[^\n。\d]{0,8}?(?:数字|號碼|号码|那串|内容)[^\n。\d]{0,4}?(?P<code>\d{4,8})(?!\d)[^\n。\d]{0,10}?(?:验证|驗證)"
)
_CODE_TALK = re.compile(r"服务|接口|端口|功能|有效|超时|模块|版本|[编单]号|长度|[价金]额|费用|错误")

_PHRASE_NAME = re.compile(
    r"(?:助[记記]词|助記詞|(?:恢复|恢復|种子|種子|备份|密语|钱包)(?:短语|短語|词组?|詞)|(?:seed|recovery|secret|backup|wallet|mnemonic)\s(?:recovery\s)?(?:phrase|words?)|mnemonic|\bseed(?=\s?[:：=]))"
    r"[^\n]{0,40}?(?:[:：=]|是|为|\bis\b|\bare\b|->)\s{0,3}[\"'“「`\[]{0,2}\s{0,3}"
)
_PHRASE = re.compile(
    r"(?:\d{1,2}[.)、:]?\s?)?[a-z]{3,8}(?:[\s,，、\"']{1,4}(?:\d{1,2}[.)、:]?\s?)?[a-z]{3,8}){11,23}(?![a-z])"
    r"|[\u4e00-\u9fff](?:[ ,，、\u3000][\u4e00-\u9fff]){11,23}"
)
_NO_PHRASE_WORD = re.compile(
    r"\b(?:the|and|for|are|not|but|your|should|from|have|has|was|were|which|also|never)\b"
)


def prose_spans(text: str, low: str) -> Iterator[Span]:
    """Find passwords, codes and recovery phrases; `low` is `text` in lower case."""
    yield from _named_passwords(text, low)
    yield from _paired_passwords(text, low)
    yield from _passwords_first(text, low)
    yield from _changed_passwords(text, low)
    yield from _typed_passwords(text, low)
    yield from _codes(low)
    yield from _recovery_phrases(low)


def _named_passwords(text: str, low: str) -> Iterator[Span]:
    for found in _NAMED.finditer(low):
        value = _value_after(text, low, found)
        if value is not None:
            yield Span(value.start, value.end, Kind.PASSWORD)


def _value_after(text: str, low: str, found: re.Match[str]) -> Value | None:
    value = read_value(text, found.end())
    if value is None:
        return None
    short_name = found["name"] in {"pass", "pin", "pw"}
    if found["none"] is not None:
        accepted = _is_bare_password(value, found, low)
    elif found["sign"]:
        code = "=" in found["sign"]
        accepted = is_password(value, words=not code and found["sign"] != "|", code=True)
    elif found["zh"]:
        accepted = is_password(value, words=True)
    elif found["en"]:
        owned = _OWNED.search(low[max(0, found.start() - 40) : found.start()]) is not None
        accepted = is_password(value, words=owned and not short_name)
        accepted = accepted and not (found["name"] == "pass" and value.text.isdigit())
    else:
        accepted = is_password(value, words=False) and _has_digit(value.text)
    return value if accepted else None


def _is_bare_password(value: Value, found: re.Match[str], low: str) -> bool:
    """Whether a value that follows a password's name with nothing between is one."""
    if found["name"] == "pass" and not low.startswith("-", found.start() - 1):
        return False
    if "\n" in found["space"] or (found["name"].isascii() and not (found["space"] or value.quoted)):
        return False
    option = low.startswith("--", found.start() - 2)
    if not is_password(value, words=option) or values.is_date(value.text):
        return False
    if found["name"].startswith("pin") and not value.text.isdigit():
        return False
    return option or value.quoted or (_has_digit(value.text) and not values.is_code(value.text))


def _paired_passwords(text: str, low: str) -> Iterator[Span]:
    for found in _PAIR.finditer(low):
        value = read_value(text, found.end())
        if value is None or values.is_time(value.text):
            continue
        apart = found[0].rstrip() != found[0] and value.text.isdigit()
        if not apart and is_password(value, words=False) and _has_digit(value.text):
            yield Span(value.start, value.end, Kind.PASSWORD)
    for pattern in (_ACCOUNT_PAIR, _HOST_PAIR, _NETWORK_PAIR):
        for found in pattern.finditer(low):
            yield from _with_digit(text, found.start("value"))
    for pattern in (_REMINDED, _SET_BY_CALL):
        for found in pattern.finditer(low):
            yield from _with_digit(text, found.end())


def _with_digit(text: str, position: int) -> Iterator[Span]:
    """What stands there, where it is no word: a digit is in it."""
    value = read_value(text, position)
    if value is not None and is_password(value, words=False) and _has_digit(value.text):
        yield Span(value.start, value.end, Kind.PASSWORD)


def _passwords_first(text: str, low: str) -> Iterator[Span]:
    for found in _AS_NAME.finditer(low):
        words = re.split(r"[^!-~]", text[max(0, found.start() - 64) : found.start()])
        candidate = words[-1].strip("\"'`“”(")
        end = text.rfind(candidate, 0, found.start()) + len(candidate)
        value = Value(candidate, end - len(candidate), end)
        if candidate and is_password(value, words=False) and _has_digit(candidate):
            yield Span(value.start, value.end, Kind.PASSWORD)


def _changed_passwords(text: str, low: str) -> Iterator[Span]:
    for found in _FROM_TO.finditer(low):
        start, end = found.span("old" if found["old"] else "alt")
        values_read = (Value(text[start:end], start, end), read_value(text, found.end()))
        for value in values_read:
            if value is not None and is_password(value, words=False) and _has_digit(value.text):
                yield Span(value.start, value.end, Kind.PASSWORD)


def _typed_passwords(text: str, low: str) -> Iterator[Span]:
    """What went into a password field, as a desktop agent reports it."""
    for found in _TYPED.finditer(low):
        start, end = found.span("en" if found["en"] else "zh")
        value = Value(text[start:end], start, end)
        if is_password(value, words=False) and _has_digit(value.text):
            yield Span(start, end, Kind.PASSWORD)


def _codes(low: str) -> Iterator[Span]:
    for pattern in (
        _NAMED_CODE,
        _YOUR_CODE,
        _CODE_FIRST,
        _USE_CODE,
        _PLAIN_CODE,
        _CARD_CODE,
        _MESSAGE_CODE,
    ):
        for found in pattern.finditer(low):
            start, end = found.span("told" if found.groupdict().get("told") else "code")
            gap = found.groupdict().get("gap")
            if gap and _CODE_TALK.search(gap):
                continue
            code = low[start:end]
            if values.is_measure(code, low[end : end + 16]) or values.is_plain_word(code):
                continue
            yield Span(start, end, Kind.CODE)
            if found.groupdict().get("many"):
                yield from _more_codes(low, end)


def _more_codes(low: str, position: int) -> Iterator[Span]:
    while found := _MORE_CODES.match(low, position):
        yield Span(*found.span("code"), Kind.CODE)
        position = found.end()


def _recovery_phrases(low: str) -> Iterator[Span]:
    for found in _PHRASE_NAME.finditer(low):
        phrase = _PHRASE.match(low, found.end())
        if phrase and not _NO_PHRASE_WORD.search(phrase[0]):
            yield Span(phrase.start(), phrase.end(), Kind.RECOVERY_PHRASE)


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)
