"""Credentials of programs: keys and tokens by name, headers, cookies, URLs, commands, key blocks."""

import re
from collections.abc import Iterator

from pipeline.text.redaction import values
from pipeline.text.redaction.reading import Value, is_password, read_value
from pipeline.text.redaction.spans import Kind, Span

_NAME = (
    r"(?:(?:api|app|access|auth|secret|private|client|master|encryption|encrypt|signing|sign|session|refresh|bot|webhook|account|storage|service"
    r"|deploy|license|user|security|bearer|id|oauth|corp|sub(?:scription)?|aes|hmac|consumer)[ _.-]?(?:access[ _.-]?)?(?:key|token|secret|credential)s?(?![a-z])"
    r"|secret[ _-]?id(?![a-z])|access[ _-]?key[ _-]?(?:id|secret)(?![a-z])|(?<![a-z])(?:secret|token|credential|license|key|ak|sk)(?![a-z])"
    r"|(?:访问|接口|身份|登录|刷新|机器人)?令牌|密[钥鑰]|私[钥鑰]|凭[证据]|憑證|授[权權][码碼]|激活[码碼]|序列密钥|api\s?key)"
)
_SIGN = r"(?::=|[:：]|=>|->|→|={1,3}|>|\||是|为|為)"
_NAMED = re.compile(
    rf"(?P<name>{_NAME})[\"'`*]{{0,2}}\\?[\"']?\]?(?:\s?[（(][^()（）\n]{{0,24}}[)）])?(?:\s(?:for|of)\s(?:[\w.-]{{1,24}}\s){{0,3}}[\w.-]{{1,32}})?(?:\s{{0,3}}(?P<sign>{_SIGN})|\s{{1,3}}(?P<verb>is|was|to)\s)?\s{{0,3}}"
)
# What a label names, its value holds: an environment variable's, a form field's.
_LABELLED = re.compile(
    rf"(?:name|key|label|字段|名称)[\"']?\s{{0,2}}[:=：]\s{{0,2}}[\"']?[\w.-]{{0,40}}?(?P<name>{_NAME}|passw(?:or)?d|passphrase|pwd|密[码碼]|口令)[\"']?[,\s]{{1,16}}"
    r"[\"']?(?:value|值)[\"']?\s{0,2}[:=：]\s{0,2}"
)
# "page token", "public key" and "token id" name no secret.
_HARMLESS_BEFORE = re.compile(
    r"(?:page|next|continuation|cursor|sync|public|cache|idempotency|primary|foreign|partition|sort|object|redis|answer|max|min|num|eos|bos|pad|stop|fencing|lease)[ _.-]?$"
)
# Mail providers' authorisation codes are sixteen small letters.
_MAIL_CODE_NAME = re.compile(r"授[权權][码碼]")
_MAIL_CODE = re.compile(r"[a-z]{16}")
_LONG = 16
# A bare "key" is a button, a column or a hash more often: its value must look the part.
_VAGUE_NAMES = frozenset({"key", "ak", "sk"})
_VERY_LONG = 20
_LONG_WORD = 12
_SHORTEST_COOKIE = 6  # shorter ones are settings such as a theme or a language
_MAX_VALUE = 4096

_HEADER = re.compile(
    r"authorization[\"']?\s{0,2}[:=：]\s{0,2}[\"']?(?:(?:bearer|basic|token|digest|negotiate|apikey|bot)\s{1,3})?"
    rf"(?P<value>[a-z0-9._~+/=:%-]{{8,{_MAX_VALUE}}})"
)
_BEARER = re.compile(rf"\bbearer\s{{1,3}}(?P<value>[a-z0-9._~+/=-]{{12,{_MAX_VALUE}}})")
_COOKIES = re.compile(r"cookies?2?[\"']?\s{0,2}(?:[:=：]|是|为)\s{0,2}[\"'“]?(?=[\w.-]{1,64}=)")
_COOKIE = re.compile(r"(?P<name>[\w.-]{1,64})=(?P<value>[^\s;,\"'，。；”]{1,2048})(?:;\s{0,2})?")
_COOKIE_ATTRIBUTE = frozenset({"path", "domain", "expires", "max-age", "samesite", "version"})
_SESSION = re.compile(
    r"(?<![\w.-])(?:sessdata|[\w.]{0,24}sess(?:ion)?(?:_?id)?|phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|bili_jct|bduss|stoken|z_c0|csrf_?token"
    r"|xsrf-token|sid|remember_token|li_at|c_user|xs|ct0)\s{0,2}[=：:]\s{0,2}[\"']?(?P<value>[a-z0-9%*._~+/=-]{12,2048})"
)
_USERINFO = re.compile(
    r"(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}://(?!(?:localhost|[\w-]{1,32}\.[\w.-]{1,64}):\d{1,5}@)[^\s/@:\"'<>]{0,64}:(?P<value>[^\s@\"'<>]{1,128}(?:@[^\s@/\"'<>]{1,64})?)@(?=[\w\[.-])"
)
_TOKEN_USERINFO = re.compile(r"(?<![a-z0-9])https?://(?P<value>[a-z0-9_-]{20,255})@")
_QUERY = re.compile(
    r"[?&#;](?P<name>access_?token|refresh_?token|id_?token|token|auth|api_?key|key|sig|signature|sign|secret|client_secret|password|passwd|pwd|session"
    r"|ticket|x-amz-signature|x-amz-credential|x-amz-security-token|code)=(?P<value>[^\s&#;\"'<>，。；）)]{4,2048})"
)
_QUERY_LONG = frozenset(
    {"key", "code", "sign", "sig", "signature", "auth", "ticket", "session", "token"}
)
_WEBHOOK = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows)/|(?:discord(?:app)?\.com/api/webhooks/\d{5,25}/)|/open-apis/bot/v2/hook/"
    r"|\.webhook\.office\.com/webhookb2/|api\.telegram\.org/bot|sctapi\.ftqq\.com/|maker\.ifttt\.com/trigger/\w{1,64}/with/key/)(?P<value>[\w/@:.-]{16,512})"
)
_COMMANDS = re.compile(
    r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:(?P<a>[^\s\"']{1,128})"
    r"|\bsshpass\s{1,3}-p\s{0,3}[\"']?(?P<b>[^\s\"']{3,128})"
    r"|\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,200}?\s-p[\"']?(?P<c>[^\s\"'-][^\s\"']{2,127})"
    r"|\b(?:docker|podman|helm|az|oc)\b[^\n]{0,80}?\blogin\b[^\n]{0,120}?\s-p[ =][\"']?(?P<d>[^\s\"']{3,128})"
    r"|\bredis-cli\b[^\n]{0,120}?\s-a\s{1,3}[\"']?(?P<e>[^\s\"']{3,128})"
    r"|\becho\s{1,3}(?:-n\s)?[\"']?(?P<f>[^\s\"'|]{3,128})[\"']?\s{0,3}\|\s{0,3}sudo\b[^\n]{0,40}?-s"
    r"|\becho\s{1,3}[\"']?[\w.-]{1,32}:(?P<g>[^\s\"'|]{3,128})[\"']?\s{0,3}\|\s{0,3}(?:sudo\s)?chpasswd"
    r"|\bnet\s{1,3}user\s{1,3}[\w.-]{1,32}\s{1,3}(?P<h>[^\s/*][^\s]{3,127})"
    r"|-pass(?:in|out)?\s{1,3}pass:(?P<i>[^\s\"']{3,128})"
    r"|\b(?:requirepass|masterauth)\s{1,3}[\"']?(?P<j>[^\s\"']{3,128})"
    r"|\b(?:smbclient|smbmap|rpcclient|net\srpc)\b[^\n]{0,120}?\s-u\s{0,2}[\"']?[\w.\\-]{1,64}%(?P<k>[^\s\"']{3,128})"
    r"|\b(?:unzip|zip)\b[^\n]{0,80}?\s-p\s{1,2}[\"']?(?P<l>[^\s\"'-][^\s\"']{2,127})"
    r"|\b(?:7z[azr]?|rar|unrar)\b[^\n]{0,120}?\s-p[\"']?(?P<m>[^\s\"'-][^\s\"']{2,127})"
    r"|\bopenssl\b[^\n]{0,120}?\s-k\s{1,2}[\"']?(?P<n>[^\s\"']{3,128})"
    r"|\bhtpasswd\b[^\n]{0,40}?\s-\w{0,4}b\w{0,4}\s{1,2}\S{1,128}\s[\w.-]{1,64}\s{1,2}[\"']?(?P<p>[^\s\"']{3,128})"
    r"|\b(?:useradd|usermod)\b[^\n]{0,80}?\s-p\s{1,2}[\"']?(?P<q>[^\s\"'-][^\s\"']{2,127})"
    r"|\bwpa_passphrase\s{1,2}[\"']?[^\s\"']{1,32}[\"']?\s{1,2}[\"']?(?P<r>[^\s\"']{8,63})"
    r"|(?<![\w.-])[a-z*][\w.*-]{0,63}:5432:[\w.*-]{1,64}:[\w.*-]{1,64}:(?P<o>[^\s:]{3,128})"
)
_BLOCK = re.compile(r"-----begin [a-z0-9 ]{0,30}private key(?: block)?-----")
_BLOCK_END = re.compile(r"-----end [a-z0-9 ]{0,30}private key(?: block)?-----")
_BLOCK_BODY = re.compile(r"(?:[a-z0-9+/=:\s\\-]|,){0,20000}")
_BODY_AT_LEAST = 40
_FORMATS = re.compile(
    r"(?<![A-Za-z0-9_-])(?:(?P<id>(?:AKIA|ASIA)[A-Z0-9]{16}|AKID[A-Za-z0-9]{13,40}|LTAI[A-Za-z0-9]{12,24})|AIza[\w-]{35}|gh[pousr]_[A-Za-z0-9]{30,255}"
    r"|github_pat_\w{22,255}|glpat-[\w-]{20,64}|sk-[A-Za-z0-9_-]{20,255}|[srp]k_live_[A-Za-z0-9]{16,128}|xox[abeprs]-[\w-]{10,255}|hf_[A-Za-z]{30,64}"
    r"|npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,255}|eyJ[\w-]{8,2048}\.eyJ[\w-]{8,4096}\.[\w-]{8,1024}|AGE-SECRET-KEY-1[A-Z0-9]{58}|dop_v1_[a-f0-9]{64}"
    r"|ntn_[A-Za-z0-9]{40,64}|key-[0-9a-f]{32}|sk\.eyJ[\w-]{20,512}\.[\w-]{16,64}|dckr_pat_[\w-]{20,64}|(?:\d{6}-){7}\d{6}"
    r"|hv[sb]\.[\w-]{24,255}|tskey-[\w-]{16,128}|SG\.[\w-]{16,32}\.[\w-]{32,64}|\d{8,10}:AA[\w-]{33})(?![A-Za-z0-9])"
)
# A key id and its secret are written next to each other more often than each is named.
_SECRET_NEARBY = re.compile(
    r"[^\n]{0,24}?(?<![A-Za-z0-9/+])(?P<value>[A-Za-z0-9/+]{30,44}={0,2})(?![A-Za-z0-9/+=])"
)


def credential_spans(text: str, low: str) -> Iterator[Span]:
    """Find programs' credentials; `low` is `text` in lower case."""
    yield from _named(text, low)
    yield from _labelled(text, low)
    yield from _headers_and_cookies(text, low)
    yield from _urls(text, low)
    yield from _commands(text, low)
    yield from _key_blocks(low)
    yield from _formats(text)


def _named(text: str, low: str) -> Iterator[Span]:
    for found in _NAMED.finditer(low):
        signed = bool(found["sign"] or found["verb"])
        if found["name"] == "key" and not signed:
            continue
        if _HARMLESS_BEFORE.search(low, max(0, found.start() - 16), found.start()):
            continue
        value = read_value(text, found.end())
        if value is not None and _is_credential(value, found["name"], signed=signed):
            yield Span(value.start, value.end, _kind_of(found["name"]))


def _labelled(text: str, low: str) -> Iterator[Span]:
    for found in _LABELLED.finditer(low):
        value = read_value(text, found.end())
        if value is None or values.is_placeholder(value.text) or values.is_code(value.text):
            continue
        if is_password(value, words=False):
            yield Span(value.start, value.end, _kind_of(found["name"]))


def _is_credential(value: Value, name: str, *, signed: bool) -> bool:
    if values.is_measure(value.text, value.after) or " " in value.text or not value.text.isascii():
        return False
    strong = values.is_strong(value.text)
    if name in _VAGUE_NAMES:
        return strong and len(value.text) >= _VERY_LONG and not values.is_uuid(value.text)
    if not signed:
        if _MAIL_CODE_NAME.match(name) and _MAIL_CODE.fullmatch(value.text):
            return True
        return strong and len(value.text) >= _LONG and not values.is_uuid(value.text)
    if not name.isascii() and len(value.text) >= _LONG_WORD:
        return not values.is_placeholder(value.text) and not values.is_code(value.text)
    return strong or (value.text.isdigit() and len(value.text) > _LONG)


def _kind_of(name: str) -> Kind:
    return Kind.KEY if re.search(r"key|secret|[钥鑰]|^[as]k$", name) else Kind.TOKEN


def _headers_and_cookies(text: str, low: str) -> Iterator[Span]:
    for pattern in (_HEADER, _BEARER):
        for found in pattern.finditer(low):
            start, end = found.span("value")
            if _is_header_value(text[start:end]):
                yield Span(start, end, Kind.TOKEN)
    for found in _COOKIES.finditer(low):
        yield from _cookie_values(text, low, found.end())
    for found in _SESSION.finditer(low):
        start, end = found.span("value")
        if values.is_strong(text[start:end]) and not values.is_uuid(text[start:end]):
            yield Span(start, end, Kind.COOKIE)


def _is_header_value(value: str) -> bool:
    if values.is_placeholder(value) or values.is_plain_word(value.rstrip(".:")):
        return False
    return (
        any(character.isdigit() or character == "=" for character in value)
        or len(value) > _LONG + 4
    )


def _cookie_values(text: str, low: str, position: int) -> Iterator[Span]:
    while found := _COOKIE.match(low, position):
        start, end = found.span("value")
        value = text[start:end]
        if (
            found["name"] not in _COOKIE_ATTRIBUTE
            and len(value) >= _SHORTEST_COOKIE
            and not values.is_placeholder(value)
        ):
            yield Span(start, end, Kind.COOKIE)
        position = found.end()


def _urls(text: str, low: str) -> Iterator[Span]:
    for found in _USERINFO.finditer(low):
        start, end = found.span("value")
        if not values.is_placeholder(text[start:end]):
            yield Span(start, end, Kind.PASSWORD)
    for pattern in (_TOKEN_USERINFO, _WEBHOOK):
        for found in pattern.finditer(low):
            start, end = found.span("value")
            if values.is_strong(text[start:end]):
                yield Span(start, end, Kind.TOKEN)
    for found in _QUERY.finditer(low):
        start, end = found.span("value")
        if _is_query_secret(found["name"], text[start:end]):
            yield Span(start, end, Kind.PASSWORD if found["name"][0] == "p" else Kind.TOKEN)


def _is_query_secret(name: str, value: str) -> bool:
    if values.is_placeholder(value) or values.is_plain_word(value) or values.is_code(value):
        return False
    return name not in _QUERY_LONG or (values.is_strong(value) and len(value) >= _LONG)


def _commands(text: str, low: str) -> Iterator[Span]:
    for found in _COMMANDS.finditer(low):
        start, end = found.span(found.lastgroup or 0)
        value = text[start:end]
        if value.isascii() and is_password(Value(value, start, end, quoted=True), words=True):
            yield Span(start, end, Kind.PASSWORD)


def _key_blocks(low: str) -> Iterator[Span]:
    position = 0
    while found := _BLOCK.search(low, position):
        body = _BLOCK_BODY.match(low, found.end())
        position = body.end() if body else found.end()
        closing = _BLOCK_END.search(low, found.end(), found.end() + 20000)
        if closing:
            position = closing.end()
        if position - found.end() >= _BODY_AT_LEAST:
            yield Span(found.start(), position, Kind.KEY)


def _formats(text: str) -> Iterator[Span]:
    for found in _FORMATS.finditer(text):
        recovery = found[0].replace("-", "").isdigit()
        if found["id"] or recovery or values.is_strong(found[0]):
            kind = Kind.KEY if found["id"] or recovery else Kind.TOKEN
            yield Span(found.start(), found.end(), kind)
        if found["id"]:
            secret = _SECRET_NEARBY.match(text, found.end())
            if secret and values.is_strong(secret["value"].lstrip("/")):
                yield Span(*secret.span("value"), Kind.KEY)
