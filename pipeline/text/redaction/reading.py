"""Reading the value that follows a name such as "password is": where it begins and ends."""

import re
from typing import NamedTuple

from pipeline.text.redaction import values

_LONGEST = 256
_OPENING = re.compile(r"[\"'“‘「『《【`*]{1,3}|\\[\"']")
_CLOSING = {
    '"': '"', "'": "'", "`": "`", "*": "*", "“": "”", "‘": "’", "「": "」", "『": "』", "《": "》", "【": "】",
}  # fmt: skip
_ASCII_RUN = re.compile(rf"[!-~]{{1,{_LONGEST}}}")
_HANZI_RUN = re.compile(r"[\u3400-\u9fff][\u3400-\u9fff!-~]{1,23}")
# What ends a value although it is no space: the next field, a closing quote, a closing tag.
_CUT = re.compile(
    r";(?=\s|$|[\w ]{1,32}=)|[\"'`](?=[\s,;:)\]}]|$)|</|,(?=\s|$|[\w-]{1,32}[=:]|[\"'])"
    r"|&(?=[\w.-]{1,32}=)|\\[nrt\"']"
)
_SENTENCE_END = re.compile(
    r"[ \t]{0,2}(?:$|[.,;!?)\n\r\"'，。；！？、）”」|]|(?:and|but|for|on|please|thanks|until|so|if|not)\b|请|不要|别|，)"
)
_SHORTEST = 3
_SHORTEST_NUMBER = 4
_SHORTEST_WORD = 4


class Value(NamedTuple):
    """A candidate: `text[start:end]`, and whether quotes mark it off."""

    text: str
    start: int
    end: int
    quoted: bool = False
    after: str = ""


def read_value(text: str, position: int) -> Value | None:
    """Read what stands at `position`: a quoted value, a run of ASCII, or hanzi."""
    opening = _OPENING.match(text, position)
    if opening:
        closing = "\\" + opening[0][1] if opening[0][0] == "\\" else _CLOSING[opening[0][-1]]
        start = opening.end()
        end = text.find(closing, start, start + _LONGEST)
        # A closing "**" looks like an opening one: bold text that holds spaces is no value.
        barred = "\n " if closing == "*" else "\n"
        if end > start and not any(mark in text[start:end] for mark in barred):
            return Value(text[start:end], start, end, quoted=True, after=text[end + 1 : end + 16])
        position = start
    run = _ASCII_RUN.match(text, position) or _HANZI_RUN.match(text, position)
    if run is None:
        return None
    cut = _CUT.search(run[0], 1)
    found = (run[0][: cut.start()] if cut else run[0]).rstrip(".,;:?)]}>\"'`*|")
    if values.is_word(found.rstrip("!")):
        found = found.rstrip("!")
    end = run.start() + len(found)
    return Value(found, run.start(), end, after=text[end : end + 16])


def is_password(value: Value, *, words: bool, code: bool = False) -> bool:
    """Whether a value read after a password's name is one.

    `words`: a bare word may be a password here, as after "my password is". `code`: the text
    is an assignment, so that a bare name may be a variable.
    """
    text = value.text
    if (
        len(text) < _SHORTEST
        or not any(map(str.isalnum, text))
        or values.is_placeholder(text)
        or values.is_plain_word(text)
    ):
        return False
    if values.is_measure(text, value.after):
        return False
    if text.isdigit():
        return len(text) >= _SHORTEST_NUMBER
    if "\u3400" <= text[0] <= "\u9fff":
        return value.quoted or (words and _is_pass_phrase(text))
    return _is_ascii_password(value, words=words, code=code)


def _is_ascii_password(value: Value, *, words: bool, code: bool) -> bool:
    text = value.text
    reads_as_code = values.is_code(text)
    if value.quoted:
        return not reads_as_code or " " in text
    if reads_as_code and (code or "(" in text):
        return False
    if not values.is_word(text):
        return True
    return words and len(text) >= _SHORTEST_WORD and bool(_SENTENCE_END.match(value.after))


def _is_pass_phrase(text: str) -> bool:
    return values.is_hanzi_secret(text) and (len(text) >= _SHORTEST_WORD or not text.isalpha())
