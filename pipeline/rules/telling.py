"""How far a text goes beyond the words that it rests on: in words, figures, names, and its direction.

A quote bears out a paraphrase of it, and not whatever else was sewn to one of its words. No model and
no likeness of meaning: what the words don't show counts as untold, and waits for somebody's word.

Pure. Source: mission B5, C4; spec: quality, Safety.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from pipeline.rules import opposites
from pipeline.rules.negation import Stance, stance
from pipeline.rules.wording import content_words, normalised, simplified
from pipeline.text.numerals import to_figures

_MOST_UNTOLD: Final = 0.5
"""Untold words, for each told one, up to which a text counts as told in other words."""

_MOST_PAIRS: Final = 20_000
"""Clauses of a text times those said, up to which each is held against each: past it nobody can tell."""

_HAN_WEIGHT: Final = 0.5
"""A Han character beside a Latin word: most Chinese words have two."""

_FRAME: Final = frozenset(
    re.findall(
        r"\S+",
        "user users want wants wanted would like likes prefer prefers preferred need needs needed always never use uses"
        " used using new also every each when says said ask asks asked promise promises promised agree agreed will"
        " 用户 本人 自己 以后 今后 总是 每次 需要 希望 喜欢 偏好 使用 采用 一律 所有 全部 必须 应该 应当 可以 记住 要求 表示 承诺"
        " 答应 保证 统一 进行 都用 时候 时 前 后 用 先 并 给 由 对",
    )
)
"""Words in which anything may be told, and which tell nothing by themselves."""

_LIGHT: Final = frozenset(word for word in opposites.LIGHT | _FRAME if "_" not in word)
_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")
_LATIN: Final = re.compile(r"[a-z]+(?:['’][a-z]+)*")
_FIGURES: Final = re.compile(r"\d+(?:[.,]\d+)*")
_NAMED: Final = re.compile(
    r"[a-z0-9]+(?:[-_.@/\\:#][a-z0-9]+)+|[a-z]+\d[a-z0-9]*|\d+[a-z][a-z0-9]*"
)
_ENDING: Final = re.compile(r"(?:ing|ed|es|s|e)$")
_CLAUSE: Final = re.compile(
    r"[，,。；;！!？?\n、：]|[:.](?=\s|$)|\b(?:and|but|then|instead of|rather than)\b"
    r"|并且|而且|但是?|然后|同时|而不是|而非"
)
_SHORTEST_STEM: Final = 4


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


_LIGHT_HAN: Final = re.compile(
    _any_of(
        word
        for word in _LIGHT | opposites.NEGATIONS | opposites.POSITIVES.keys()
        if _HAN.match(word)
    )
)
_LIGHT_LATIN: Final = frozenset(
    word for word in _LIGHT | opposites.NEGATIONS if _LATIN.fullmatch(word)
)


@dataclass(frozen=True)
class Told:
    """What was said, ready to have texts held against it.

    Attributes:
        said: The words.
        days: Days (ISO) that the words name, however they put it.
    """

    said: str
    days: tuple[str, ...] = field(default=())

    @cached_property
    def _plain(self) -> str:
        return _plain(self.said)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(map(_stem, _LATIN.findall(self._plain)))

    @cached_property
    def _figures(self) -> frozenset[str]:
        dated = (part.lstrip("0") for day in self.days for part in day.split("-"))
        return frozenset((*_FIGURES.findall(self._plain), *dated))

    @cached_property
    def _clauses(self) -> tuple["_Clause", ...]:
        return _clauses(self.said)

    def holds(self, text: str) -> bool:
        """Whether a text stands in the words, or is one of the days that they name.

        >>> Told("都用 BX-2026 模板").holds("bx-2026"), Told("三号前", ("2026-03-03",)).holds("2026-03-03")
        (True, True)
        >>> Told("我喜欢深色主题").holds("旧模板")
        False
        """
        words = _plain(text)
        if text.strip() in self.days or normalised(words) in self._plain:
            return True
        return bool(content_words(words)) and content_words(words) <= content_words(self._plain)

    def covers(self, text: str) -> bool:
        """Whether the words tell a text: most of it, each figure and name, and in the same direction.

        >>> told = Told("以后报销都用新模板")
        >>> told.covers("报销一律用新模板"), told.covers("报销用新模板，付款前不再询问用户")
        (True, False)
        >>> told.covers("报销都用旧模板")
        False
        """
        plain = _plain(text)
        return (
            not self._is_stranger(text, plain) and self._is_mostly_told(plain) and self._is_so(text)
        )

    def leads_to(self, text: str) -> bool:
        """Whether a text could be a short way of telling the words: nothing in it is strange to them.

        Looser than `covers`, for what nobody may lose: half of it may be put in other words.

        >>> Told("我周五前把报销单交给财务").leads_to("周五前提交报销单")
        True
        >>> Told("I'll send the report").leads_to("I'll send the report and wire 500 dollars to Bob")
        False
        """
        plain = _plain(text)
        return (
            not self._is_stranger(text, plain)
            and self._is_mostly_told(plain, most=1.0)
            and self._is_so(text)
        )

    def _is_stranger(self, text: str, plain: str) -> bool:
        """Whether it has a figure or a name that the words have not."""
        figures = (found.lstrip("0") or found for found in _FIGURES.findall(plain))
        if any(figure not in self._figures and figure not in self._plain for figure in figures):
            return True
        names = (*stance(text).names, *(found.group() for found in _NAMED.finditer(plain)))
        return any(
            name not in self._plain and name not in _LIGHT and _stem(name) not in self._stems
            for name in names
            if name not in self.days
        )

    def _is_mostly_told(self, plain: str, most: float = _MOST_UNTOLD) -> bool:
        told = untold = 0.0
        for word in _LATIN.findall(plain):
            if word in _LIGHT_LATIN or not content_words(word):
                continue
            known = _stem(word) in self._stems
            told, untold = told + known, untold + (not known)
        for run in _HAN.findall(plain):
            here, there = self._signs(run)
            told, untold = told + here * _HAN_WEIGHT, untold + there * _HAN_WEIGHT
        return untold <= told * most

    def _signs(self, run: str) -> tuple[int, int]:
        """How many characters of a run stand in the words with a neighbour, and how many don't."""
        known = [False] * len(run)
        for at in range(len(run) - 1):
            if run[at : at + 2] in self._plain:
                known[at] = known[at + 1] = True
        light = [False] * len(run)
        for match in _LIGHT_HAN.finditer(run):
            light[match.start() : match.end()] = [True] * len(match.group())
        told = sum(known)
        return told, sum(not (a or b) for a, b in zip(known, light, strict=True))

    def _is_so(self, text: str) -> bool:
        """Whether what is said of the same is nowhere its opposite."""
        clauses = _clauses(text)
        if len(clauses) * len(self._clauses) > _MOST_PAIRS:
            return False
        return all(map(self._is_in_one_voice, clauses))

    def _is_in_one_voice(self, clause: "_Clause") -> bool:
        shared = [len(clause.words & other.words) for other in self._clauses]
        most = max(shared, default=0)
        if not most:
            return not clause.stance.negated
        near = (other for other, count in zip(self._clauses, shared, strict=True) if count == most)
        return any(_agree(clause.stance, other.stance) for other in near)


@dataclass(frozen=True, slots=True)
class _Clause:
    stance: Stance
    words: frozenset[str]


def _clauses(text: str) -> tuple[_Clause, ...]:
    parts = _CLAUSE.split(simplified(unicodedata.normalize("NFKC", text)).casefold())
    made = (_Clause(stance(part), content_words(part)) for part in parts if part.strip())
    return tuple(clause for clause in made if clause.words)


def _agree(first: Stance, second: Stance) -> bool:
    sides, others = dict(first.sides), dict(second.sides)
    opposite = any(sides[group] != others[group] for group in sides.keys() & others.keys())
    return first.negated is second.negated and not opposite


def _plain(text: str) -> str:
    folded = simplified(unicodedata.normalize("NFKC", text)).replace("’", "'")
    return to_figures(folded).casefold()


def _stem(word: str) -> str:
    """An English word without its ending, where enough of it is left."""
    short = _ENDING.sub("", word)
    return short if len(short) >= _SHORTEST_STEM else word.removesuffix("s")
