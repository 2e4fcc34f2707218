"""Hidden reasoning: the tags in which models wrap what is not meant for anyone.

Paired tags are removed from any text. In what a model wrote, an unclosed opening tag also
removes to the end and a lone closing one from the start. Tags quoted as code stay, and so
does what a user merely mentions (spec: protocol, Details settled, Files).
"""

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from pipeline.text.redaction.spans import Kind, Span

_NAME = (
    r"(?:[a-z]{2,12}[_:-]){0,2}"
    r"(?:think(?:ing)?|thoughts?|reasoning|rationale|scratch[_ -]?pad|monolog(?:ue)?|chain[_ -]of[_ -]thoughts?|cot"
    r"|(?:思考|推理)(?:过程|過程|内容|內容|步骤)?|思维链|思維鏈|内心独白)"
    r"(?:[_: -](?:process|content|block|mode|fast|faster|scratchpad|steps?|text|[0-9a-f]{4,12}))?"
)
# Names that also mean something harmless: taken for reasoning only in what models write.
_LOOSE_NAME = r"(?:analysis|reflection|deliberation|planning|inner_voice|internal)"
_LT = r"(?:<|&lt;|\\u003c|◁|＜|〈|‹)"
_GT = r"(?:>|&gt;|\\u003e|▷|＞|〉|›)"
_ATTRIBUTES = r"(?:\s{1,4}[^<>◁▷]{0,200})?"
_S = r"\s{0,4}"


def _tags(name: str) -> tuple[str, str]:
    opening = rf"{_LT}{_S}(?!end[_-]){name}{_ATTRIBUTES}{_S}(?<!/){_GT}"
    closing = rf"{_LT}{_S}\\?/{_S}{name}{_S}{_GT}"
    return opening, closing


_OPEN, _CLOSE = _tags(_NAME)
_LOOSE_OPEN, _LOOSE_CLOSE = _tags(_LOOSE_NAME)
_BRACKET = r"(?:think(?:ing)?|thoughts?|reasoning|(?:思考|推理)(?:过程|過程|内容|內容|步骤)?|思维链|思維鏈)"
_JOIN = r"[_\u2581]"
_OPENINGS = "|".join(
    (
        _OPEN,
        rf"\[{_S}{_BRACKET}{_S}\]|【{_S}{_BRACKET}{_S}】",
        rf"<{_S}\|{_S}(?!end[_\u2581-])(?:(?:begin|start){_JOIN}(?:of{_JOIN})?)?{_NAME}(?:_start|_begin)?{_S}\|{_S}>",
        r"<unused94>\s{0,4}thought",
    )
)
_CLOSINGS = "|".join(
    (
        _CLOSE,
        rf"\[{_S}/{_S}{_BRACKET}{_S}\]|【{_S}/{_S}{_BRACKET}{_S}】",
        rf"<{_S}\|{_S}(?:(?:end{_JOIN}(?:of{_JOIN})?|/){_NAME}|{_NAME}_end){_S}\|{_S}>",
        r"<unused95>",
        r"\bassistantfinal",
    )
)
# Parts of a chat format: their ends are ordinary elsewhere and close nothing on their own.
_CHANNELS = "|".join(
    (
        (
            r"(?:<\|start\|>\s{0,4}assistant\s{0,4})?<\|?channel\|?>\s{0,4}"
            r"(?:analysis|thought|thinking)\b(?:\s{0,4}<\|message\|>)?"
        ),
        rf"<{_S}details\s[^<>]{{0,80}}type{_S}={_S}[\"']?reasoning[^<>]{{0,120}}>",
    )
)
_ENDS = (
    r"<\|end\|>|<\|return\|>|<\|call\|>|<\|start\|>|<\|channel\|>\s{0,4}(?:final|commentary)|<channel\|>"
    r"|</details>"
)
_FENCE = r"`{1,32}|~{3,32}"


def _pattern(openings: str, closings: str) -> re.Pattern[str]:
    return re.compile(
        f"(?P<channel>{_CHANNELS})|(?P<end>{_ENDS})|(?P<open>{openings})|(?P<close>{closings})"
        f"|(?P<fence>{_FENCE})"
    )


_TAG = _pattern(_OPENINGS, _CLOSINGS)
_TAG_BY_MODEL = _pattern(f"{_OPENINGS}|{_LOOSE_OPEN}", f"{_CLOSINGS}|{_LOOSE_CLOSE}")

# Between two tags that a sentence names side by side stands hardly more than an "and".
_MENTION = re.compile(
    r"(?=\s{0,8}\S)[\s/、,，.。;；:：|]{0,4}(?:和|与|與|跟|及|以及|或者?|到|至|and|or|to|through|until|…)?"
    r"(?:\s(?:the|a|its))?(?:标签|標籤|tags?)?[\s/、,，.。;；:：|]{0,4}"
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "`": "`"}


class _Role(Enum):
    OPEN = "open"
    CLOSE = "close"
    CHANNEL = "channel"
    END = "end"
    FENCE = "fence"


_CLOSES = {_Role.CLOSE: _Role.OPEN, _Role.END: _Role.CHANNEL}


class _Tag(NamedTuple):
    start: int
    end: int
    role: _Role


def reasoning_spans(low: str, *, by_model: bool) -> list[Span]:
    """Find hidden reasoning in lower-cased text; `by_model`: a model wrote the text."""
    tags = list(_tags_of(low, by_model=by_model))
    if all(tag.role in {_Role.FENCE, _Role.END} for tag in tags):
        return []
    partner = _partners(tags)
    spans: list[Span] = []
    index = 0
    while index < len(tags):
        tag, other = tags[index], partner[index]
        if other is not None:
            if _is_hidden(low, tag, tags[other], by_model=by_model):
                spans.append(Span(tag.start, tags[other].end, Kind.REASONING))
            index = other
        elif by_model and tag.role in {_Role.OPEN, _Role.CHANNEL}:
            spans.append(Span(tag.start, len(low), Kind.REASONING))
            break
        elif by_model and tag.role is _Role.CLOSE:
            spans = [Span(0, tag.end, Kind.REASONING)]
        index += 1
    return spans


def _is_hidden(low: str, first: _Tag, last: _Tag, *, by_model: bool) -> bool:
    if first.role is _Role.FENCE:
        return False
    return by_model or not _MENTION.fullmatch(low, first.end, last.start)


def _tags_of(low: str, *, by_model: bool) -> Iterator[_Tag]:
    pattern = _TAG_BY_MODEL if by_model else _TAG
    for found in pattern.finditer(low):
        role = _Role(found.lastgroup)
        start, end = found.span()
        if role is _Role.FENCE or not _is_quoted(low, start, end):
            yield _Tag(start, end, role)


def _is_quoted(low: str, start: int, end: int) -> bool:
    before = low[start - 1] if start else ""
    return before in _QUOTES and low[end : end + 1] == _QUOTES[before]


def _partners(tags: Sequence[_Tag]) -> list[int | None]:
    """For each opening tag and opening fence the index of what closes it."""
    fences = _fence_partners(tags)
    partner = _tag_partners(tags, _inside_code(fences))
    # A stray backtick inside reasoning can make the closing tag look like code.
    blind = _tag_partners(tags, [False] * len(tags))
    return [
        first if first is not None else second if second is not None else third
        for first, second, third in zip(partner, blind, fences, strict=True)
    ]


def _tag_partners(tags: Sequence[_Tag], in_code: Sequence[bool]) -> list[int | None]:
    partner: list[int | None] = [None] * len(tags)
    waiting: dict[_Role, list[int]] = {_Role.OPEN: [], _Role.CHANNEL: []}
    for index, tag in enumerate(tags):
        if in_code[index]:
            continue
        if tag.role in waiting:
            waiting[tag.role].append(index)
        elif tag.role in _CLOSES and waiting[_CLOSES[tag.role]]:
            partner[waiting[_CLOSES[tag.role]].pop()] = index
    return partner


def _fence_partners(tags: Sequence[_Tag]) -> list[int | None]:
    partner: list[int | None] = [None] * len(tags)
    following: dict[int, int] = {}
    for index in range(len(tags) - 1, -1, -1):
        tag = tags[index]
        if tag.role is _Role.FENCE:
            length = tag.end - tag.start
            partner[index] = following.get(length)
            following[length] = index
    return partner


def _inside_code(fences: Sequence[int | None]) -> list[bool]:
    inside = [False] * len(fences)
    until = -1
    for index, partner in enumerate(fences):
        if index <= until:
            inside[index] = True
        elif partner is not None:
            until = partner
    return inside
