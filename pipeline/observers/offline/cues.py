"""What will bring a memory back: names, ids, codes and rare words (mission D1).

A cue is no fact, no command and no date.
"""

import re
from collections.abc import Iterable, Iterator

from pipeline.observers.offline.sentences import FEW_WORDS, Sentence
from pipeline.rules.phrasing import Table
from pipeline.rules.wording import clip, simplified
from storage.records.events import ObjectKind, ObjectRef

MAX_CUE = 40
"""Code points of a cue (spec: protocol, Proposals)."""

_MOST = 6
_ASIDE = re.compile(r"\s?[（(]")
_ASKED = Table(
    (
        "想起 想到 想想 联想到 翻出 提起 参考 看看",
        (
            r"(?:下次|下回|以后|将来|再(?:有|遇到|碰到|出现))[^。\n]{0,40}?(?:就)?(?:想起|想到|想想|联想到"
            r"|翻出|提起|参考|看看)(?:上次|这次|今天|那次|这个|那个)?"
        ),
    ),
    (
        "think remember recall bring come look refer",
        (
            r"\b(?:next time|when(?:ever)?|if)\b[^.\n]{2,80}?,? (?:think of|think back to|remember (?:this"
            r"|today|that|the|how)|recall|bring up|come back to|look (?:up|at) (?:this|today|the)"
            r"|refer (?:back )?to)\b"
        ),
    ),
)
_ID = re.compile(
    r"(?<![\w.-])(?=[\w.-]{3,40}(?![\w-]))(?=[\w.-]{0,40}\d)(?=[\w.-]{0,40}[A-Za-z])[A-Za-z0-9]{1,40}(?:[-_.][A-Za-z0-9]{1,40}){0,4}"
    r"|(?<!\w)[A-Z][a-z]{1,40}(?:[A-Z][a-z]{1,40}){1,8}(?:Error|Exception)?|\b[A-Z]{2,8}[-_]\d{1,10}\b"
    r"|(?<![\w/])/(?:[\w.-]{1,40}/){1,6}[\w.-]{1,40}"
    r"|\b(?:[Ee]rrno|HTTP|exit code|error code|错误码)\s?[:#]?\s?\d{1,6}|[\w-]{1,30}\.(?:pdf|xlsx?"
    r"|docx?|csv|zip|png|jpe?g|log|toml|json|ya?ml|sh|py|service|timer|conf)\b",
    re.ASCII,
)


TABLES = (_ASKED,)
"""For a test that no row is hidden by the words that it needs."""


def asked_cue(sentence: Sentence) -> int | None:
    """Where a user asks that something be thought of when something comes up, or None."""
    match = _ASKED.find(sentence)
    return match.start() if match and sentence.words >= FEW_WORDS else None


def ids(texts: Iterable[str]) -> Iterator[str]:
    """Ids, codes, paths and file names in texts, each once, long ones left out."""
    seen: set[str] = set()
    for text in texts:
        for match in _ID.finditer(text):
            found = match.group()
            if len(found) <= MAX_CUE and found.lower() not in seen:
                seen.add(found.lower())
                yield found


def episode_cues(
    named: ObjectRef | None, failures: Iterable[str], texts: Iterable[str]
) -> tuple[str, ...]:
    """How an episode may be asked for later: its object, what failed there, and the ids it names."""
    cues: dict[str, None] = {}
    if named is not None:
        title = clip(_ASIDE.split(named.title or named.id)[0], MAX_CUE // 2)
        if named.kind is ObjectKind.ASSET:
            cues[title] = None
        for failure in failures:
            cues[clip(f"{title} {failure}", MAX_CUE)] = None
    for found in ids(texts):
        cues[found] = None
    return tuple(list(cues)[:_MOST])


def quoted_names(sentence: Sentence) -> tuple[str, ...]:
    """The short names that a sentence puts in quotation marks."""
    found = re.findall(r"[“\"「『']([^”\"」』'\n]{1,40})[”\"」』']", sentence.verbatim)
    return tuple(dict.fromkeys(name.strip() for name in found if simplified(name).strip()))[:_MOST]
