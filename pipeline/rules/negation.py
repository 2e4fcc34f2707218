"""The negation guard: statements that share their words and say the opposite, or something else.

Likeness of words is no likeness of meaning: 喜欢 and 不喜欢, allow and forbid, 日出 and 日落, 3 点 and
4 点 share almost everything (mission C5; issue: negation guard). Closed lexicons, no model.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from pipeline.rules import opposites
from pipeline.rules.wording import simplified
from pipeline.text.numerals import to_figures

_HAN_SIGN: Final = "[\u3400-\u9fff\uf900-\ufaff]"
_FIGURES: Final = "#"
_ENOUGH: Final = 2
"""Signs that two skeletons must share: below it everything would resemble everything."""


@dataclass(frozen=True, slots=True)
class Stance:
    """A statement taken apart.

    `skeleton` is what opposed statements have in common, empty where that is next to nothing.
    `negated`, `sides` (of opposites) and `values` (quantities, days, choices) are what they may
    differ in; `names` are figures and names, which stay in the skeleton.
    """

    skeleton: str
    negated: bool
    sides: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, str], ...]
    names: frozenset[str]


def differ(first: str, second: str) -> bool:
    """Whether two texts can't be the same statement, however much they share.

    >>> differ("我喜欢香菜", "我不喜欢香菜"), differ("每天三点备份", "每天4点备份")
    (True, True)
    >>> differ("报销用新模板", "Use the new template for expenses")
    False
    """
    return _differ(stance(first), stance(second))


def opposed(first: str, second: str) -> bool:
    """Whether two texts say the same of each other's opposite, or of another quantity.

    Names may differ and both be true, so they oppose nothing.

    >>> opposed("Allow uploads", "Forbid uploads"), opposed("喜欢看日出", "喜欢看日落")
    (True, True)
    >>> opposed("不讨厌香菜", "喜欢香菜"), opposed("给王经理发周报", "给李经理发周报")
    (False, False)
    """
    return _opposed(stance(first), stance(second))


def _differ(first: Stance, second: Stance) -> bool:
    if first.negated is not second.negated or first.names != second.names:
        return True
    if first.skeleton and first.skeleton == second.skeleton:
        return (first.sides, first.values) != (second.sides, second.values)
    # Two ways of putting it, or two languages: each tells only what it happens to mention.
    sides, others = _chosen(first), _chosen(second)
    if any(sides[group] != others[group] for group in sides.keys() & others.keys()):
        return True
    return _figures(first) != _figures(second)


def _opposed(first: Stance, second: Stance) -> bool:
    if not first.skeleton or first.skeleton != second.skeleton:
        return False
    turned = sum(
        side != other for (_, side), (_, other) in zip(first.sides, second.sides, strict=True)
    )
    if first.values != second.values:
        return first.negated is second.negated
    return (turned + (first.negated is not second.negated)) % 2 == 1


def _chosen(of: Stance) -> dict[str, str]:
    return {group: side for group, side in (*of.sides, *of.values) if group[0] != _FIGURES}


def _figures(of: Stance) -> frozenset[str]:
    return frozenset(figure for unit, figure in of.values if unit[0] == _FIGURES)


# ---- taking a text apart ----------------------------------------------------


def stance(text: str) -> Stance:
    """Take a statement apart."""
    plain = simplified(unicodedata.normalize("NFKC", text)).replace("’", "'")
    reader = _Reader()
    for match in _TOKEN.finditer(to_figures(plain).casefold()):
        reader.take(match)
    enough = reader.weight >= _ENOUGH
    return Stance(
        skeleton=" ".join(reader.skeleton) if enough else "",
        negated=reader.negated,
        sides=tuple(reader.sides),
        values=tuple(reader.values),
        names=frozenset(reader.names) | frozenset(_names(plain)),
    )


@dataclass(slots=True)
class _Reader:
    skeleton: list[str] = field(default_factory=list)
    negated: bool = False
    sides: list[tuple[str, str]] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    weight: int = 0

    def take(self, match: re.Match[str]) -> None:
        figure = match["figure"] or match["sum"] or match["clock"]
        if figure is not None:
            unit = f"{_FIGURES}{match['unit'] or ''}"
            self._keep(unit, 1)
            self.values.append((unit, _plain_figure(figure)))
            return
        word = match["han"] or match["word"]
        if match["word"] and word.endswith("n't") and word not in _KNOWN:
            self.negated = not self.negated
            return
        self._take_word(word)

    def _take_word(self, word: str) -> None:
        if word in opposites.LIGHT:
            return
        if word in opposites.NEGATIONS or word in opposites.POSITIVES:
            self.negated = not self.negated
            if word not in opposites.POSITIVES:
                return
            word = opposites.POSITIVES[word]
        elif word in _SIDES:
            group, side = _SIDES[word]
            self.sides.append((group, side))
            word = group
        elif word in _CHOSEN:
            group, choice = _CHOSEN[word]
            self.values.append((group, choice))
            word = group
        word = opposites.SYNONYMS.get(word, word)
        if any(char.isdigit() for char in word):
            self.names.append(word)
        self._keep(_stem(word), 1 if _HAN.fullmatch(word) else _ENOUGH)

    def _keep(self, word: str, weight: int) -> None:
        self.skeleton.append(word)
        self.weight += weight


def _stem(word: str) -> str:
    """An English word without a plural's or a third person's s."""
    plural = word.isascii() and len(word) > 3 and word.endswith("s") and not word.endswith("ss")  # noqa: PLR2004
    return word[:-1] if plural else word


def _plain_figure(text: str) -> str:
    figure = text.replace(",", "")
    return (figure.rstrip("0").rstrip(".") if "." in figure else figure).lstrip("0") or "0"


def _names(text: str) -> Iterator[str]:
    """Who and what is named: capitalised words within a sentence, surnames with a title."""
    for match in _NAMED.finditer(text):
        if match["capital"]:
            yield match["capital"].casefold()
        elif match["titled"]:
            yield match["titled"]


def _group(table: Iterable[tuple[str, ...]]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for entries in table:
        names = [sorted(opposites.surfaces(entry)) for entry in entries]
        group = f"<{names[0][-1]}>"
        for surfaces in names:
            found.update(dict.fromkeys(surfaces, (group, surfaces[-1])))
    return found


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


_SIDES: Final = _group(opposites.OPPOSITES)
_CHOSEN: Final = _group(opposites.CHOICES)
_KNOWN: Final = (
    opposites.NEGATIONS
    | opposites.NO_NEGATIONS
    | opposites.LIGHT
    | opposites.POSITIVES.keys()
    | opposites.SYNONYMS.keys()
    | _SIDES.keys()
    | _CHOSEN.keys()
)
_HAN: Final = re.compile(_HAN_SIGN)
_HAN_WORDS: Final = frozenset(word for word in _KNOWN if _HAN.match(word))
_PHRASES: Final = frozenset(word for word in _KNOWN if " " in word)
_UNIT: Final = _any_of(opposites.surfaces(opposites.UNITS))
_FIGURE: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
# 3号 is a day, 3号楼 a house and 第3张 one of several: only the day is a quantity.
_TOKEN: Final = re.compile(
    rf"(?<![a-z0-9.第])(?P<figure>{_FIGURE})\s?(?P<unit>%|{_UNIT}|号(?![楼线店机库桌房门院]))(?![a-z])"
    rf"|[$¥€£]\s?(?P<sum>{_FIGURE})"
    r"|(?<![a-z0-9])(?P<clock>\d{1,2}:\d{2})(?!\d)"
    rf"|(?P<word>\b(?:{_any_of(_PHRASES)})\b|[a-z0-9]+(?:[-_.'][a-z0-9]+)*)"
    rf"|(?P<han>{_any_of(_HAN_WORDS)}|{_HAN_SIGN})"
)
_SURNAMES: Final = (
    "王李张刘陈杨黄赵周吴徐孙马胡朱郭何罗高林郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢"
    "姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_NAMED: Final = re.compile(
    rf"(?P<titled>[{_SURNAMES}](?:{_any_of(opposites.surfaces(opposites.TITLES))}))"
    r"|(?<![\w.!?。！？\n])(?<![.!?。！？\n] )(?<!^)(?P<capital>(?!I\b|I')[A-Z][A-Za-z]+)\b"
)
