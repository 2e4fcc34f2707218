"""Undoing disguises before the rules look: full-width letters, odd digits, invisible characters."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

# U+E000 is the wall that stands for earlier markers, so that none may come from outside.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ue000\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
# The full-width comma, colon, brackets and the like stay: every Chinese text has them and
# the rules know both forms, so that ordinary text needs no character-by-character work.
_LOOK_ALIKE = (
    "\uff02-\uff07\uff0a\uff0b\uff0d-\uff19\uff1c-\uff1e\uff20-\uff5e"
    "\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u2070-\u209c\u2100-\u214f\U0001d400-\U0001d7ff\u212a\u017f"
)
_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE}]")

DISGUISED = re.compile(f"[{_INVISIBLE}{_LOOK_ALIKE}]")


class Folded(NamedTuple):
    """A text as the rules see it.

    `offsets` has one entry more than `text`: where each of its characters stands in the
    original, and the original's length. None when the two have the same positions.
    """

    text: str
    offsets: Sequence[int] | None


def fold(text: str) -> Folded:
    """Give plain ASCII for disguised characters and leave invisible ones out."""
    if not DISGUISED.search(text):
        return Folded(text, None)
    kept: list[str] = []
    offsets: list[int] = []
    for position, character in enumerate(text):
        if _ANY_INVISIBLE.match(character):
            continue
        kept.append(_plain(character))
        offsets.append(position)
    offsets.append(len(text))
    return Folded("".join(kept), offsets)


def lowered(text: str) -> str:
    """Lower-case the text without changing its length."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _plain(character: str) -> str:
    if character.isascii():
        return character
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 and plain.isascii() else character
