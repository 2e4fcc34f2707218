"""How many tokens a text may cost a model, estimated on the safe side without a vocabulary.

Source: spec: design, Token budgets; mission E4.
"""

import math
import re
import unicodedata
from collections import Counter
from functools import lru_cache

# Costs are whole sixtieths of a token, so that sums are exact.
_TOKEN = 60
_HANZI = 96
_ASTRAL = 222
_OTHER = 120
_SMALL_LETTER = 20
_SPACE = 9
_LAST_OF_BMP = "\uffff"

_MIXED_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]*+[0-9][A-Za-z0-9]*+")
_SMALL = re.compile(r"[a-z]")
_ZWJ = "\u200d"
_HIGH_SURROGATE = re.compile("[\ud800-\udbff]")
_LOW_SURROGATE = re.compile("[\udc00-\udfff]")
_SKIN_TONE = re.compile("[\U0001f3fb-\U0001f3ff]")
_REGIONAL = re.compile("[\U0001f1e6-\U0001f1ff]")


@lru_cache(maxsize=16384)
def _char_cost(char: str) -> int:
    """Return one character's cost in sixtieths, a small letter as in a plain word."""
    if char.isascii():
        if char == " ":
            return _SPACE
        return _SMALL_LETTER if char.islower() else _TOKEN
    if char > _LAST_OF_BMP:
        return _ASTRAL
    if "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff":
        return _HANZI
    return _OTHER


def _cost(text: str) -> int:
    total = sum(_char_cost(char) * count for char, count in Counter(text).items())
    for word in _MIXED_WORD.findall(text):
        total += (_TOKEN - _SMALL_LETTER) * len(_SMALL.findall(word))
    return total


def estimate_tokens(text: str) -> int:
    """Return an upper estimate of the tokens that `text` takes, rounded up.

    Per character: hanzi 1.6; beyond the BMP 3.7; other non-ASCII 2; digits, punctuation and
    capitals 1; small letters 1/3, or 1 in a word mixed with digits; a space 0.15. Line ends and
    other controls count 1.

    >>> estimate_tokens("")
    0
    >>> estimate_tokens("你好")
    4
    >>> estimate_tokens("six fixed"), estimate_tokens("x86")
    (3, 3)
    """
    return math.ceil(_cost(text) / _TOKEN)


def cut_to_tokens(text: str, limit: int) -> str:
    """Return the longest prefix of `text` that takes at most `limit` tokens.

    The prefix never ends inside a surrogate pair, before a combining mark, or inside an emoji
    joined from several characters.

    >>> cut_to_tokens("记住这件事", 4)
    '记住'
    """
    if limit <= 0:
        return ""
    # A character costs at least a space's share, so nothing beyond this can fit.
    window = text[: limit * _TOKEN // _SPACE + 1]
    low, high = 0, len(window)
    while low < high:
        middle = (low + high + 1) // 2
        if _cost(window[:middle]) <= limit * _TOKEN:
            low = middle
        else:
            high = middle - 1
    return text[: _boundary_at_or_before(text, low)]


def _boundary_at_or_before(text: str, end: int) -> int:
    while 0 < end < len(text) and _joined(text, end):
        end -= 1
    return end


def _joined(text: str, at: int) -> bool:
    """Whether the characters before and after position `at` are seen as one."""
    before, after = text[at - 1], text[at]
    if _ZWJ in {before, after} or unicodedata.category(after).startswith("M"):
        return True
    if _SKIN_TONE.match(after):
        return True
    if _HIGH_SURROGATE.match(before) and _LOW_SURROGATE.match(after):
        return True
    return bool(_REGIONAL.match(after)) and _regional_run(text, at) % 2 == 1


def _regional_run(text: str, end: int) -> int:
    """Return how many regional indicators stand directly before `end`; a flag is two."""
    start = end
    while start and _REGIONAL.match(text[start - 1]):
        start -= 1
    return end - start
