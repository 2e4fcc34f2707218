"""The tables of the offline observer: nothing hidden, nothing unbounded, nothing lost in Traditional."""

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Literal

import pytest
from zhconv_rs import zhconv

from pipeline.observers import offline
from pipeline.observers.offline import OfflineObserver
from pipeline.rules import clock_times, due, lexicon, periods, slot_values, validity
from pipeline.rules.phrasing import Table, phrase_of
from pipeline.rules.wording import sentences, simplified
from storage.records.events import Role
from tests.observer_support import Said, package_of
from tests.unit import offline_cases as cases

pytestmark = pytest.mark.unit

MODULES = [
    importlib.import_module(f"pipeline.observers.offline.{found.name}")
    for found in pkgutil.iter_modules(offline.__path__)
]
RULES = [clock_times, due, lexicon, periods, slot_values, validity]
TABLES = [
    table
    for module in MODULES
    for table in getattr(module, "TABLES", ())
    if isinstance(table, Table)
]
SENTENCES = [
    text for name, texts in sorted(vars(cases).items()) if name.isupper() for text in texts
]
DEMO = Path(__file__).parents[2] / "scripts" / "demo" / "events.jsonl"


def patterns(module: ModuleType) -> Iterator[re.Pattern[str]]:
    """Every pattern of a module, in tables and by itself."""
    for value in vars(module).values():
        if isinstance(value, re.Pattern):
            yield value
        elif isinstance(value, Table):
            yield from value.patterns


def unbounded(parsed: object) -> bool:
    """Whether a parsed pattern repeats something without end."""
    for op, argument in parsed:  # type: ignore[attr-defined]
        if op in {_constants.MAX_REPEAT, _constants.MIN_REPEAT}:
            if argument[1] == _constants.MAXREPEAT or unbounded(argument[2]):
                return True
        elif op is _constants.SUBPATTERN:
            if unbounded(argument[-1]):
                return True
        elif op is _constants.BRANCH:
            if any(map(unbounded, argument[1])):
                return True
        elif op in {_constants.ASSERT, _constants.ASSERT_NOT} and unbounded(argument[1]):
            return True
    return False


@pytest.mark.parametrize("module", [*MODULES, *RULES], ids=lambda module: module.__name__)
def test_every_quantifier_has_a_bound(module: ModuleType) -> None:
    """A hostile text can't make a pattern run on and on."""
    endless = [p.pattern for p in patterns(module) if unbounded(_parser.parse(p.pattern, p.flags))]
    assert endless == []


def demo_texts() -> list[str]:
    """The demo log's texts."""
    lines = DEMO.read_text(encoding="utf-8").splitlines()
    return [str(json.loads(line).get("text", "")) for line in lines]


def test_no_row_is_hidden_by_the_words_it_needs() -> None:
    """A pattern that matches is always tried: one of its needed words occurs in what it matches."""
    hidden = []
    for text in (*SENTENCES, *demo_texts()):
        plain = simplified(text)
        for start, end in sentences(plain):
            phrase = phrase_of(plain[start:end])
            hidden += [(found, phrase.plain) for table in TABLES for found in table.hidden(phrase)]
    assert hidden == []


@pytest.mark.parametrize("form", ["zh-Hant", "zh-TW", "zh-HK"])
def test_traditional_chinese_reads_like_simplified(
    form: Literal["zh-Hant", "zh-TW", "zh-HK"],
) -> None:
    """Whatever the characters, and the words of the regions, the same kinds are found."""
    observer = OfflineObserver()

    def kinds(text: str) -> list[str]:
        before = Said("好的。", Role.SUPERVISOR, "supervisor.reply", objects=())
        work = package_of([before, Said(text, objects=())])
        return [str(proposal.kind) for proposal in observer.observe(work).proposals]

    chinese = [text for text in SENTENCES if not text.isascii()]
    assert len(chinese) > 100
    differing = [text for text in chinese if kinds(text) != kinds(zhconv(text, form))]
    assert differing == []


@pytest.mark.parametrize(
    "unit",
    [
        "a", "always ", "我", "以后", "如果", "不是", "“", '"', "'", "先", "1. ", "他说", "小李说", "每",
        "the must ", "if a, ", "i'm ", "not x, ", "\n", "。", "，", "at 3 ", "3月", "下下", "```", "> ",
        "http://a.b/", "A1-", "remind me ", "first ", "name: x\n", "翻译：", "write mail: ", "每次都先", "0",
        "from ", "周一到", "[redacted:x] ", "(", "\ufffc",
    ],
)  # fmt: skip
@pytest.mark.parametrize("role", [Role.USER, Role.SUPERVISOR, Role.OBSERVATION])
def test_endless_text_is_read_to_its_end(unit: str, role: Role) -> None:
    """The longest text there can be, made of what patterns begin with, is answered, and briefly."""
    text = (unit * 32_000)[:32_000]
    answer = OfflineObserver().observe(package_of([Said("ok"), Said(text, role)]))
    assert sum(len(proposal.content) for proposal in answer.proposals) < 32_000
