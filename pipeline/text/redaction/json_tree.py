"""Walking JSON: every string is text, and a name such as `password` tells what its value is."""

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from pipeline.text.redaction import values
from pipeline.text.redaction.numbers import is_bank_card, is_chinese_id, names_other_number
from pipeline.text.redaction.spans import Kind

JsonScalar: TypeAlias = str | int | float | bool | None
JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        Kind.CODE,
        re.compile(
            r"(?:^|_)(?:otp|(?:verification|verify|security|sms|auth|one_time|login|2fa|mfa|recovery|backup)_(?:code|pin)s?)$"
            r"|(?:验证|驗證|校验|動態|动态|短信)[码碼]$"
        ),
    ),
    (
        Kind.PASSWORD,
        re.compile(
            r"(?:^|_|[a-z])(?:password|passwd|passphrase|passcode|pwd)s?\d?$|(?:^|_)(?:pass|pw|pin|pin_code|psk)$"
            r"|(?:密[码碼]|口令|提取码|解锁码)$"
        ),
    ),
    (
        Kind.KEY,
        re.compile(
            r"(?:^|_)(?:api|app|access|secret|private|encryption|signing|client|master|account|consumer)_?(?:access_?)?(?:key|secret)s?$"
            r"|(?:^|_)(?:secret|secret_id|credential)s?$|(?:密[钥鑰]|私[钥鑰])$"
        ),
    ),
    (
        Kind.TOKEN,
        re.compile(
            r"^(?!.*(?:page|next|continuation|cursor|sync|max|min|fencing|lease)_?token)(?:.{0,40}(?:_|[a-z]))?token$"
            r"|^(?:proxy_)?authorization$|(?:^|_)(?:jwt|bearer)$|令牌$|凭证$"
        ),
    ),
    (Kind.COOKIE, re.compile(r"(?:^|_)cookies?$")),
    (
        Kind.RECOVERY_PHRASE,
        re.compile(
            r"(?:^|_)(?:mnemonic|(?:seed|recovery|secret|backup)_(?:phrase|words))$|助[记記]词$"
        ),
    ),
    (
        Kind.REASONING,
        re.compile(
            r"^(?:reasoning_(?:content|details|text|summary)|thinking(?:_content|_blocks|_text)?|redacted_thinking|thought_?(?:signature|process)"
            r"|chain_of_thoughts?|encrypted_content|hidden_reasoning|inner_monologue|scratchpad|思考(?:过程|内容)|思维链|推理过程)$"
        ),
    ),
)
_REASONING_BY_MODEL = frozenset({"reasoning", "thought", "thoughts", "cot", "思考", "推理"})
_REASONING_TYPES = re.compile(
    r"(?:redacted_)?(?:thinking|reasoning|thought)(?:[._](?:text|content|encrypted|summary|delta))?"
)
_REASONING_KEPT = frozenset({"type", "id", "index", "role"})
_LABELS = frozenset(
    {
        "name",
        "key",
        "field",
        "label",
        "header",
        "control",
        "element",
        "placeholder",
        "title",
        "target",
        "字段",
        "名称",
        "标签",
    }
)
_VALUES = frozenset(
    {
        "value",
        "text",
        "content",
        "input",
        "data",
        "val",
        "typed",
        "keys",
        "current",
        "new",
        "old",
        "值",
        "内容",
        "输入",
    }
)
_LABEL_END = re.compile(r"(?:\s|[:：*]|_?(?:field|input|box)|输入?框|[框栏])+$")
# A word alone, or a very short name: no rule finds anything in these, so that they need no look.
_HARMLESS = re.compile(r"[A-Za-z_.-]{1,32}|[A-Za-z0-9_.-]{1,8}|[\u4e00-\u9fff]{1,4}")
_SCHEME = re.compile(r"^(?:bearer|basic|token|digest)\s+", re.IGNORECASE)
_SHORTEST_TOKEN = 4
_SHORTEST_COOKIE = 6
_LONGEST_NAME = 64
_CARD_FROM = 10**11


@lru_cache(maxsize=8192)
def kind_of_name(name: str) -> Kind | None:
    """What the value under a name such as `dbPassword`, `api-key` or `密码` is."""
    if len(name) > _LONGEST_NAME:
        return None
    plain = re.sub(r"[-.\s]+", "_", _CAMEL.sub("_", name.strip())).lower()
    return next((kind for kind, pattern in _NAMES if pattern.search(plain)), None)


class TreeWalk:
    """One walk over a JSON value that hands every string to `on_text` and hides named secrets.

    `counts` tells afterwards what was hidden because of its name alone.
    """

    def __init__(self, on_text: Callable[[str], str], *, by_model: bool) -> None:
        self.counts: Counter[str] = Counter()
        self._on_text = on_text
        self._by_model = by_model

    def walk(self, value: JsonValue, kind: Kind | None = None, name: str = "") -> JsonValue:
        """Give the value as it may be kept.

        Args:
            value: A JSON value.
            kind: What the value is by its name, if that names a secret.
            name: The name it stands under, "" for none.
        """
        if isinstance(value, dict):
            return self._walk_object(value, kind)
        if isinstance(value, list):
            if kind is Kind.REASONING and value:
                return self._hidden(kind)
            return [self.walk(each, kind, name) for each in value]
        if kind is not None and _is_secret(value, kind):
            return self._hidden(kind)
        if isinstance(value, str):
            return value if _is_other_number(name, value) else self._walk_text(value)
        return self._walk_number(value, name)

    def _walk_object(self, value: dict[str, JsonValue], kind: Kind | None) -> JsonValue:
        if self._is_reasoning(value):
            return {key: self._walk_thought(key, each) for key, each in value.items()}
        labelled = kind or _label_kind(value)
        result: dict[str, JsonValue] = {}
        for key, each in value.items():
            new_key = self._walk_text(key)
            while new_key in result:
                new_key += "#"
            result[new_key] = self.walk(each, self._kind_under(key, labelled), key)
        return result

    def _walk_thought(self, key: str, value: JsonValue) -> JsonValue:
        kept = key in _REASONING_KEPT or isinstance(value, bool) or not value
        return value if kept or value == Kind.REASONING.marker else self._hidden(Kind.REASONING)

    def _walk_text(self, text: str) -> str:
        return text if not text or _HARMLESS.fullmatch(text) else self._on_text(text)

    def _kind_under(self, key: str, labelled: Kind | None) -> Kind | None:
        kind = kind_of_name(key)
        if kind is None and self._by_model and key.lower() in _REASONING_BY_MODEL:
            return Kind.REASONING
        if kind is None and labelled and (labelled is Kind.COOKIE or key.lower() in _VALUES):
            return labelled
        return kind

    def _is_reasoning(self, value: dict[str, JsonValue]) -> bool:
        if value.get("thought") is True and "text" in value:
            return True
        kind = value.get("type")
        return (
            isinstance(kind, str)
            and len(value) > 1
            and _REASONING_TYPES.fullmatch(kind) is not None
        )

    def _walk_number(self, value: JsonScalar, name: str) -> JsonValue:
        if isinstance(value, bool) or not isinstance(value, int) or value < _CARD_FROM:
            return value
        digits = str(value)
        if len(digits) == len("110101190001010000") and is_chinese_id(digits):
            return self._hidden(Kind.ID_NUMBER)
        if (
            len(digits) > len("12345678901234")
            and is_bank_card(digits)
            and not names_other_number(name)
        ):
            return self._hidden(Kind.BANK_CARD)
        return value

    def _hidden(self, kind: Kind) -> str:
        self.counts[kind.value] += 1
        return kind.marker


def _label_kind(value: dict[str, JsonValue]) -> Kind | None:
    for key, each in value.items():
        if key.lower() in _LABELS and isinstance(each, str):
            kind = kind_of_name(_LABEL_END.sub("", each[:_LONGEST_NAME]))
            if kind is not None:
                return kind
    return None


def _is_other_number(name: str, value: str) -> bool:
    return len(value) < _LONGEST_NAME and value.isdigit() and names_other_number(name)


def _is_secret(value: JsonScalar, kind: Kind) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    if not isinstance(value, str):
        return kind in {Kind.PASSWORD, Kind.CODE} or (
            kind in {Kind.TOKEN, Kind.KEY} and abs(value) >= 10**5
        )
    if kind is Kind.REASONING:
        return bool(value.strip()) and value != kind.marker
    if not value or values.is_placeholder(value) or _is_talk(value):
        return False
    if kind is Kind.COOKIE:
        return len(value) >= _SHORTEST_COOKIE
    return kind in {Kind.PASSWORD, Kind.CODE} or len(value) >= _SHORTEST_TOKEN


def _is_talk(value: str) -> bool:
    """Whether a value speaks of a secret, as a label, a hint or a type does."""
    if re.search(r"[\u3400-\u9fff]", value):
        return not values.is_hanzi_secret(value)
    words = _SCHEME.sub("", value).split()
    return (
        any(word.lower() in values.PLAIN_WORDS for word in words)
        if len(words) > 1
        else values.is_plain_word(value)
    )
