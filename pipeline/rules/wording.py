"""Plain looks at a text: its content words, its sentences, whether it loops.

No tokenizer: these rules run for every event, and must give the same answer in every version.
"""

import re
import unicodedata
from collections.abc import Iterator

from pipeline.rules.characters import TO_SIMPLIFIED

_WORDS = re.compile(r"[a-z0-9]+(?:[-_.'][a-z0-9]+)*|[\u3400-\u9fff\uf900-\ufaff]+")
_HAN_STOP = re.compile(r"[的了是在我你他她它们这那和与就都也很吧呢吗啊呀把被请要会有不个为]")
_STOP = frozenset(
    re.findall(
        r"\S+",
        "a an the and or but of to in on at for with by is are was were be been am i you he she it"
        " we they my your his her its our their me him them this that these those do does did not"
        " no so as from will would can could should have has had please just i'm it's don't i'll",
    )
)
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
# A full stop inside a word or number, or behind an abbreviation, ends no sentence.
_INNER_STOP = (
    r"\.(?=\S)|(?<=\bMr)\.|(?<=\bMs)\.|(?<=\bMrs)\.|(?<=\bDr)\.|(?<=\bvs)\.|(?<=\bNo)\.(?= \d)"
    r"|(?<=\be\.g)\.|(?<=\bi\.e)\.|(?<=\b[ap]\.m)\.(?= [a-z])"
)
_SENTENCE = re.compile(
    rf"[^。！？!?；;\n.]+(?:(?:{_INNER_STOP})[^。！？!?；;\n.]*)*[。！？!?；;.]*"
)
_LOOP = re.compile(r"(.{1,60}?)\1{4,}", re.DOTALL)
_LOOP_SHARE = 0.5
_GRAM = 6
_GRAMS_NEEDED = 60
_DISTINCT_SHARE = 0.4


def simplified(text: str) -> str:
    """The text with the common Traditional characters folded, every position kept.

    >>> simplified("以後請記得")
    '以后请记得'
    """
    return text if text.isascii() else text.translate(TO_SIMPLIFIED)


def normalised(text: str) -> str:
    """Width, case, spaces and closing punctuation taken out of a comparison.

    >>> normalised("Ｈello,  World。") == normalised("hello, world")
    True
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(" .。!！?？,，;；")


def content_words(text: str) -> frozenset[str]:
    """Words that carry meaning: Latin words and numbers, and pairs of Han characters.

    >>> sorted(content_words("Send the report 报销单"))
    ['report', 'send', '报销', '销单']
    """
    folded = unicodedata.normalize("NFKC", simplified(text)).casefold()
    words: set[str] = set()
    for run in _WORDS.findall(folded):
        words.update(_pairs(run) if _HAN.match(run) else {run} - _STOP)
    return frozenset(words)


def _pairs(run: str) -> Iterator[str]:
    for part in _HAN_STOP.split(run):
        if len(part) == 1:
            yield part
        yield from (part[at : at + 2] for at in range(len(part) - 1))


def chinese(text: str) -> bool:
    """Whether a text is better answered in Chinese: Han characters outnumber Latin words.

    >>> chinese("部署 main 分支失败"), chinese("the 部署 step failed again")
    (True, False)
    """
    return len(_HAN.findall(text)) > len(re.findall(r"[A-Za-z]+", text))


def has_han(text: str) -> bool:
    """Whether a text holds a Han character."""
    return _HAN.search(text) is not None


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a text starts and ends, in code points, outer spaces left out.

    >>> text = "好的。以后用新模板！ Version 2.5 is out."
    >>> [text[start:end] for start, end in sentences(text)]
    ['好的。', '以后用新模板！', 'Version 2.5 is out.']
    """
    for match in _SENTENCE.finditer(text):
        sentence = match.group()
        start = match.start() + len(sentence) - len(sentence.lstrip())
        end = match.start() + len(sentence.rstrip())
        if start < end:
            yield start, end


def clip(text: str, limit: int) -> str:
    """The start of a text, at most `limit` code points: verbatim, with no mark added.

    A cut falls at the last space or comma of the second half, where there is one.

    >>> clip("上传失败，请重试", 6)
    '上传失败'
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[:limit]
    cut = max(head.rfind(mark) for mark in " ，,。;；\n")
    return (head[:cut] if cut >= limit // 2 else head).rstrip()


def degenerate(text: str) -> bool:
    """Whether a text says nothing: no word in it, or the same thing again and again (mission G3).

    >>> degenerate("…… !!"), degenerate("好的好的好的好的好的好的"), degenerate("报销用新模板")
    (True, True, False)
    """
    if not _WORDS.search(text.casefold()) and not any(char.isalnum() for char in text):
        return True
    loop = max((len(match.group()) for match in _LOOP.finditer(text)), default=0)
    if loop > len(text) * _LOOP_SHARE:
        return True
    grams = [text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)]
    return len(grams) >= _GRAMS_NEEDED and len(set(grams)) < len(grams) * _DISTINCT_SHARE
