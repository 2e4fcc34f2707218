"""Chinese numerals as figures: 二十三 is 23, 二〇二四 is 2024.

Source: spec: design, Chinese.
"""

import re

_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_BIG_UNITS = {"万": 10**4, "亿": 10**8}
MEASURES = "个年月日号天岁周点分秒时楼层次元块斤米人只台张本件条位名家页章集期届折倍度遍趟套间门份"
# Words that only look like a count: "a", "a little", "very".
_NO_COUNTS = frozenset(
    {"十分", *(f"一{measure}" for measure in "个点次份件套名家位只张条本块时间门")}
)
# The word before: 第二 is an ordinal, 星期三 a weekday.
_RUN = re.compile(
    "(?<![第周期拜初零〇一二三四五六七八九十百千万亿两])[零〇一二三四五六七八九十百千万亿两]{1,16}"
)
_SCALED = re.compile(r"(?<![0-9.])([0-9]{1,9})(?:\.([0-9]{1,4}))?([百千万亿])(?![百千万亿])")
_MIN_BARE_DIGITS = 3


def value_of(numeral: str) -> int | None:
    """Return the value of a Chinese numeral, or None when it isn't a well-formed one.

    >>> value_of("一千二百"), value_of("三万零五"), value_of("二〇二四"), value_of("千万")
    (1200, 30005, 2024, None)
    """
    if all(c in _DIGITS for c in numeral):
        return int("".join(str(_DIGITS[c]) for c in numeral))
    if numeral[0] not in _DIGITS and numeral[0] != "十":
        return None
    total = section = digit = 0
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _UNITS:
            section, digit = section + (digit or 1) * _UNITS[char], 0
        elif char == "亿":
            total, section, digit = (total + section + digit) * _BIG_UNITS[char], 0, 0
        else:
            total, section, digit = total + (section + digit) * _BIG_UNITS[char], 0, 0
    return total + section + digit


def to_figures(text: str) -> str:
    """Return `text` with its Chinese numerals written in figures where they count something.

    A single numeral is changed only before a measure word, and idioms (千万, 十分) are left.

    >>> to_figures("三月二十五号花了三万，十分开心")
    '3月25号花了30000，十分开心'
    """
    text = _RUN.sub(_figures, text)
    return _SCALED.sub(_scaled, text)


def _figures(match: re.Match[str]) -> str:
    numeral = match[0]
    following = match.string[match.end() : match.end() + 1]
    counts = following != "" and following in MEASURES
    if numeral + following in _NO_COUNTS:
        return numeral
    bare = all(c in _DIGITS for c in numeral)
    long_enough = len(numeral) >= _MIN_BARE_DIGITS if bare else len(numeral) > 1
    if not (long_enough or (counts and len(numeral) == 1)):
        return numeral
    if bare:
        return "".join(str(_DIGITS[c]) for c in numeral)
    value = value_of(numeral)
    return numeral if value is None else str(value)


def _scaled(match: re.Match[str]) -> str:
    whole, fraction, unit = match[1], match[2] or "", match[3]
    factor = _UNITS.get(unit) or _BIG_UNITS[unit]
    scaled, rest = divmod(int(whole + fraction) * factor, 10 ** len(fraction))
    return match[0] if rest else str(scaled)
