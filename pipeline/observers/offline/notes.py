"""What a user asks to be noted, and what a private word of theirs means."""

from pipeline.observers.offline.sentences import FEW_WORDS, Sentence
from pipeline.rules.phrasing import Table

_REMEMBER = Table(
    (
        "记一下 记下来 记好 帮我记 记住",
        r"(?<![我还没会能都你他她])(?:记一下|记下来|记好|帮我记|记住)(?!了|没|吗)",
    ),
    ("备注 备忘 顺便说", r"(?<![我还没])(?:备注|备忘)一下|顺便说(?:一下)?[，,：:]"),
    (
        "remember note keep",
        (
            r"(?:^|[,;:] ?|\bplease |\bcan you |\balso )(?:remember|note|keep in mind)(?: that\b|:|,? (?:i"
            r"|my|our|we|the)\b)(?! (?:time|day|first|last|good)\b)"
        ),
    ),
    (
        "reference record fyi information",
        r"\bfor (?:future reference|the record|your (?:information|records?|reference))\b|\bfyi\b",
    ),
)
_QUOTED = "(?:\ufffc{2,40}|[“\"「'][^”\"」'\n]{1,40}[”\"」'])"
_MEANINGS = Table(
    (
        "指 意思 就是 代表 我是说",
        (
            r"(?:说|提到|讲到|提起|写|叫)(?:的)?[“\"「\ufffc]?[^，,。]{1,24}[”\"」]?(?:的时候|时"
            r"|[，,])?\s?(?:就是|就是指|指的(?:就)?是|是指|我指的是|我是说|意思是|代表)"
            rf"|{_QUOTED}\s?(?:就是指|指的是|是指|意思是)"
        ),
    ),
    (
        "say mention talk",
        (
            r"\b(?:when(?:ever)? i (?:say|mention|talk about)|by)\b[^.,]{2,40},? (?:i (?:mean"
            r"|am talking about|'m talking about)|it means|that means|that's|that is)\b"
        ),
    ),
    (
        "means stands refers short",
        (
            rf"(?:^(?!it\b|this\b|that\b|which\b|what\b|he\b|she\b)[\w-]{{2,16}}|{_QUOTED}) (?:means"
            r"|stands for|refers to|is short for) (?!that|a lot|so much|i\b|we\b|you\b|everything"
            r"|the world)"
        ),
    ),
    ("nickname shorthand codeword", r"\bis (?:our|my) (?:nickname|code ?word|shorthand) for\b"),
)

TABLES = (_REMEMBER, _MEANINGS)
"""For a test that no row is hidden by the words that it needs."""


def noted(sentence: Sentence) -> int | None:
    """Where a sentence asks that it be noted, or None."""
    match = _REMEMBER.find(sentence)
    return match.start() if match and sentence.words >= FEW_WORDS - 1 else None


def meaning(sentence: Sentence) -> int | None:
    """Where a sentence tells what a private word means, or None."""
    match = _MEANINGS.find(sentence)
    return match.start() if match and sentence.words >= FEW_WORDS else None
