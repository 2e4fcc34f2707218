"""Characters that nobody sees: taken out, except where they do the work that a script has for them.

Tag characters, zero-width spaces and directional overrides carry words past a reader's eyes and
into a model (mission B5). Joiners and variation selectors do the same, but emoji, Indic and Arabic
scripts need them: one stays where such a script puts one, and never a run of them.
"""

import re
from typing import Final

_TAGS: Final = "\U000e0000-\U000e007f"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_MONGOLIAN_MARKS: Final = "\u180b-\u180f"
_DIRECTION_MARKS: Final = "\u061c\u200e\u200f"
_JOINER, _NON_JOINER, _ZERO_SPACE = "\u200d", "\u200c", "\u200b"
_NEVER_SEEN: Final = (
    "\u00ad\u034f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a"
)
_INVISIBLE: Final = (
    f"{_TAGS}{_SELECTORS}{_MONGOLIAN_MARKS}{_DIRECTION_MARKS}{_JOINER}{_NON_JOINER}{_ZERO_SPACE}"
    f"{_NEVER_SEEN}"
)
_RUN: Final = re.compile(f"[{_INVISIBLE}]+")

ANY_INVISIBLE: Final = re.compile(f"[{_INVISIBLE}]")
"""Finds whether there is one at all."""

_EMOJI: Final = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f"
    "\u24c2\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# Forms of East Asian punctuation, of mathematical signs, of Myanmar and Phags-pa letters.
_VARIED: Final = re.compile("[\u3000-\u303f\uff01-\uff1f\u2200-\u22ff\u2a00-\u2aff\u1000-\u109f\ua840-\ua87f]")  # fmt: skip
_MONGOLIAN: Final = re.compile("[\u1807\u1820-\u18aa]")
_JOINED: Final = re.compile(
    "[\u0600-\u06ff\u0700-\u074f\u0750-\u077f\u07c0-\u07ff\u0840-\u085f\u0860-\u086f\u0870-\u08ff"
    "\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1820-\u18aa\ua840-\ua87f\ua8e0-\ua8ff\ufb50-\ufdff"
    "\ufe70-\ufefc\U00011000-\U000116ff\U0001e900-\U0001e95f]"
)
_SPACELESS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aad\ua9e0-\ua9ff\uaa60-\uaadf]")  # fmt: skip
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u061b\u061d-\u07ff\u0840-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")  # fmt: skip
_FLAG: Final = "\U0001f3f4"
_FLAGS: Final = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_KEYCAP: Final = "\u20e3"
_PLAIN_SELECTORS: Final = "\ufe0e\ufe0f"


def visible(text: str) -> tuple[str, int]:
    """Take out what can't be seen, and tell at how many places there was something.

    Again gives the same text. Texts that hold none come back as they are.

    >>> visible("付\u200b款 👩\u200d💻"), visible("plain")
    (('付款 👩\u200d💻', 1), ('plain', 0))
    """
    if text.isascii() or not _RUN.search(text):
        return text, 0
    pieces: list[str] = []
    places = position = 0
    lines = _Lines(text)
    for run in _RUN.finditer(text):
        kept = _Run(text, run.start(), run.end(), lines).kept()
        if len(kept) < run.end() - run.start():
            places += 1
            pieces += (text[position : run.start()], kept)
            position = run.end()
    pieces.append(text[position:])
    return "".join(pieces), places


class _Lines:
    """The lines of a text, asked from its start to its end: each is looked at once.

    A hostile text is one long line with thousands of places to ask about.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = -1
        self._right_to_left = False

    def right_to_left_at(self, place: int) -> bool:
        """Whether the line at a place holds a letter that is written from right to left."""
        if place > self._end:
            start = self._text.rfind("\n", self._end + 1, place) + 1 or self._end + 1
            end = self._text.find("\n", place)
            self._end = end if end >= 0 else len(self._text)
            found = _RIGHT_TO_LEFT.search(self._text, start, self._end)
            self._right_to_left = found is not None
        return self._right_to_left


class _Run:
    """Invisible characters in a row, between what is seen before and after them."""

    def __init__(self, text: str, start: int, end: int, lines: _Lines) -> None:
        self._lines = lines
        self._start = start
        self._run = text[start:end]
        self._before = text[start - 1 : start]
        self._after = text[end : end + 1]

    def kept(self) -> str:
        """Those that do work here, each sort once."""
        flag = self._flag()
        made: list[str] = [flag] if flag else []
        for character in self._run[len(flag) :]:
            if self._works(character, first=not made) and character not in made:
                made.append(character)
        return "".join(made)

    def _flag(self) -> str:
        if self._before != _FLAG:
            return ""
        return next((flag for flag in _FLAGS if self._run.startswith(flag)), "")

    def _works(self, character: str, *, first: bool) -> bool:
        if character == _JOINER:
            between = _EMOJI.match(self._before) and _EMOJI.match(self._after)
            return bool(between or _JOINED.match(self._before))
        if character == _NON_JOINER:
            return _JOINED.match(self._before) is not None
        if character == _ZERO_SPACE:
            return bool(_SPACELESS.match(self._before) and _SPACELESS.match(self._after))
        if character in _DIRECTION_MARKS:
            return self._lines.right_to_left_at(self._start)
        if "\u180b" <= character <= "\u180f":
            return first and _MONGOLIAN.match(self._before) is not None
        return first and self._selects(character)

    def _selects(self, character: str) -> bool:
        """Whether it is a variation selector behind a character that has variations."""
        if "\U000e0100" <= character <= "\U000e01ef":
            return _HAN.match(self._before) is not None
        if not "\ufe00" <= character <= "\ufe0f":
            return False
        if character in _PLAIN_SELECTORS:
            if self._before in "0123456789#*":
                return bool(self._before) and self._after == _KEYCAP
            return _EMOJI.match(self._before) is not None
        return bool(_HAN.match(self._before) or _VARIED.match(self._before))
