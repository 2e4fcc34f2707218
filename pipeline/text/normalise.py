"""One form for texts that people read as the same: width, script, marks that can't be seen.

Source: spec: design, Chinese.
"""

import re
import unicodedata
from functools import cache

from zhconv_rs import zhconv

# What no term may hold: controls, and halves of surrogate pairs, which zhconv refuses.
_UNUSABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Joiners, direction marks, variation selectors, soft hyphens, tag characters: invisible, so dropped.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
_LAST_COMBINING = 0x1E94A
_MAX_MARKS = 8
# One Arabic ligature becomes 18 characters; a text made of them would cost as many times more.
_MAX_GROWTH = 4


@cache
def _too_many_marks() -> re.Pattern[str]:
    """Return a pattern for the marks of one base character beyond the first few.

    Unicode normalisation sorts a run of marks in quadratic time, so a hostile run is cut first.
    """
    marks = "".join(chr(c) for c in range(0x300, _LAST_COMBINING) if unicodedata.combining(chr(c)))
    return re.compile(f"([{marks}]{{{_MAX_MARKS}}})[{marks}]+")


def fold(text: str) -> str:
    """Return `text` in compatibility form (NFKC), in Simplified Chinese, visible characters only.

    Words that the regions have different ones for become the mainland's (軟體 is 软件). Case is kept, since identifiers are cut by it. Never raises, for any `str`.

    >>> fold("報銷單ＢＸ－２０２４")
    '报销单BX-2024'
    """
    text = _UNUSABLE.sub(" ", text)
    if text.isascii():
        return text
    text = _too_many_marks().sub(r"\1", _INVISIBLE.sub("", text))
    compatible = unicodedata.normalize("NFKC", text)[: _MAX_GROWTH * len(text)]
    return zhconv(compatible, "zh-CN")
