"""Telling a secret value from a placeholder, a code expression or an ordinary word."""

import re

# Words that follow "password is" or "token:" in talk about passwords and in code.
PLAIN_WORDS = frozenset(
    """
    a about above after again all already also always an and another any are as at back bad bare basic be been before
    being below bearer between blank bool boolean both but by bytes can case change changed changing char check checked clear
    common compromised confirm correct could created credentials default deleted different disabled disclosed does dict
    display done double easy either else email empty enabled encrypted enough entered error even every example exactly
    expired expires expiring exposed fail failed failing false field fields fine first float for forgotten form found from
    full generated generating get getting given good got gone great had handled hard has hash hashed have here hex hidden
    how i if important in incorrect input insecure int integer invalid is it its itself just keep kept kind known last later leaked
    less like list locked login long longer lost made managed manager mandatory masked matched may me mentioned mine
    mismatch missing more most must my name needed never new next nil no none nonempty normal not nothing now null number
    obj object obvious of off ok okay old on once one only optional or other our out outdated over own part per perfect plain policy
    private prompt protected public put really refused rejected related removed repeated required requires reset returned
    right rotated safe same saved secret secrets secure sent set shared should shown simple so some something soon static still
    stored str string strong stuff such sure table temporary text than that the their them then there these they
    this those through to token tokens too true type unable unchanged undefined under unique unknown unsafe until
    updated used user username usually valid validate validated validation value values vault verified verify very visible void was we
    weak were what when where whether which while who why will with within without working would wrong written yes yet you your
    account admin-only alphanumeric ascii base64 wpa wpa2 wpa3 wep bcrypt argon2 scrypt sha1 sha256 sha512 sha-256 md5 pbkdf2 hmac utf8 utf-8 jwt oauth
    oauth2 sso ldap saml kerberos aes-256 aes256 rsa-2048 rsa 2fa mfa totp v1 v2 http https i18n l10n base32 uuid uuid4 uuidv4
    password passwords passwd passphrase passcode pwd pin pass code key keys credential apikey api_key login
    securestr secretstr optional[str] varchar char(64) varchar(255) 1password keepass bitwarden lastpass dashlane
    """.split()  # noqa: SIM905 - far shorter than a list
)
_PLACEHOLDER = re.compile(
    r"[*•●x.·_\-#…?]{1,64}"
    r"|<.{0,128}|\[[^\]]{0,128}\]?|\{.{0,128}|[（(].{0,128}"
    r"|\$(?:[A-Z_][A-Z0-9_]{0,64}|[a-z_]{1,64}|[{(].{0,128})|%(?:[a-z]|\(.{0,64}|[A-Z_]{1,64}%)"
    r"|(?i:(?:your|my|the|some|new|old|user|db|example|sample)[_ -](?:\w{1,16}[_-]){0,3}"
    r"(?:password|passwd|pwd|pass|secret|token|key|here|value))"
    r"|(?i:(?:sk|ghp|gho|akia|pk)[-_]?(?:\.{2,}|…|\*{2,}|x{3,}).{0,64})"
    r"|(?:process\.env|os\.|env\.|environ|secrets?\.|vars\.|config\.|settings\.|getenv|vault:|op://).{0,128}"
    r"|~?/[\w.-]{1,64}/[\w./-]{0,128}|https?://.{0,128}"
)
_MASKS = ("***", "...", "…", "••", "xxxxx")
_CODE = re.compile(
    r"[a-z_][a-z0-9_]{0,40}(?:\.[a-z_][a-z0-9_]{0,40}){0,6}[(\[].{0,128}"
    r"|[a-z_]{1,40}(?:\.[a-z_]{1,40}){1,6}"
    r"|[a-z]{1,24}(?:_[a-z]{1,24}){1,5}",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]{1,32}(?:['’-][a-z]{1,32}){0,4}", re.IGNORECASE)
_ADJECTIVE = re.compile(
    r".{2,}(?:ed|ing|able|ible|ly|less|ful|ive|ous|ary|ory|tion|sion|ment|ness)"
)
_MEASURE = re.compile(
    r"\d{1,5}[x×*]\d{1,5}|\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,2})?|\d{1,6}(?:[+~–-]{1,2}\d{0,4})?-?(?:characters?|chars?|digits?|letters?|bits?|bytes?|days?|hours?|minutes?|mins?"
    r"|seconds?|ms|s|px|k|m|kb|mb|gb|st|nd|rd|th|x|%|factor)",
    re.IGNORECASE,
)
_DATE = re.compile(r"(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?")
_QUANTITY = re.compile(r"[\d.~–-]{1,12}")
_MEASURED = re.compile(
    r"\s{0,2}-?(?:个|位|次|天|月|年|日|号|分钟|小时|秒|分|种|条|元|块|项|处|页|行|步|人|字|岁|点|版|倍|%|characters?|chars?|digits?|letters?"
    r"|bits?|days?|hours?|minutes?|mins?|seconds?|times|tokens?|attempts?|users?|people|words?|steps?|years?|months?)"
)
_HANZI_IN_PROSE = re.compile(
    r"[什么没不无忘自己要见找问同空略请在存由用未可已太错的他她它谁哪怎多少被有会能该这那吗呢吧啊和与或及跟很都也就还再]|保密|随机|默认|[长長]度|[设設]置|重置|修改|登[录錄]"
)
_SHORTEST_KEY = 8
_LETTER = re.compile(r"[a-z]", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret without being one: masks, variables, paths."""
    return any(mask in value for mask in _MASKS) or _PLACEHOLDER.fullmatch(value) is not None


def is_code(value: str) -> bool:
    """Whether the value reads as an expression of program text: a call, an attribute, a name."""
    return _CODE.fullmatch(value) is not None and not (
        _DIGIT.search(value) and "(" not in value and "[" not in value
    )


def is_plain_word(value: str) -> bool:
    """Whether the value is a word that talk about passwords uses of itself."""
    low = value.lower()
    if low in PLAIN_WORDS or not low:
        return True
    if not _WORD.fullmatch(low):
        return False
    return any(
        part in PLAIN_WORDS or _ADJECTIVE.fullmatch(part) for part in re.split(r"['’-]", low)
    )


def is_date(value: str) -> bool:
    """Whether the value is a date such as 2024-05-01."""
    return _DATE.fullmatch(value) is not None


def is_time(value: str) -> bool:
    """Whether the value is a time of day such as 12:30."""
    return _TIME.fullmatch(value) is not None


def is_word(value: str) -> bool:
    """Whether the value is letters alone, perhaps hyphened, without an inner capital."""
    return _WORD.fullmatch(value) is not None and value[1:] == value[1:].lower()


def is_measure(value: str, after: str) -> bool:
    """Whether a number counts something: `8-character`, or 6 followed by 位 or "digits"."""
    if not value[:1].isdigit():
        return False
    if _QUANTITY.fullmatch(value):
        return _MEASURED.match(after) is not None
    return _MEASURE.fullmatch(value) is not None


def is_hanzi_secret(value: str) -> bool:
    """Whether a run that begins with hanzi reads as a pass phrase and not as a sentence."""
    return not _HANZI_IN_PROSE.search(value)


def is_strong(value: str) -> bool:
    """Whether the value looks made by a machine: 8 characters or more, letters and digits mixed."""
    if len(value) < _SHORTEST_KEY or not (_LETTER.search(value) and _DIGIT.search(value)):
        return False
    return not is_placeholder(value) and not is_code(value)


def is_uuid(value: str) -> bool:
    """Whether the value is a UUID, which names far more often than it opens."""
    return _UUID.fullmatch(value) is not None
