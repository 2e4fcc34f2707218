"""Letters that pass for others: a text with each replaced by what it is read as, lengths kept.

Light on purpose: widths, styled letters and the Cyrillic, Greek and small capital letters that look
like Latin ones. What it gives is for finding places, never for keeping.
"""

import re
import unicodedata
from typing import Final

_STYLED: Final = re.compile(
    "[\u00aa\u00ba\u02b0-\u02e3\u1d2c-\u1d6a\u2070-\u209c\u2100-\u214f\u2460-\u24ff\ua7f8\uff02-\uff07"
    "\uff0a\uff0b\uff0d-\uff19\uff1c-\uff1e\uff20-\uff5e\U0001d400-\U0001d7ff\U0001f130-\U0001f189]"
)
_CYRILLIC: Final = ("авсеѕіјӏһкмнорԛтухѵуԝԁգոսցʜ", "abcesijlhkmhopqtyxvywdqnugh")
_GREEK: Final = ("αβγεικνορτυχωη", "abyeikvoptuxwn")
_SMALL: Final = ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɡı", "abcdefghijklmnoprstuvwyzagi")
_MARKS: Final = ("‹〈⟨❮˂≺｟«›〉⟩❯˃≻»❘ǀ∣｜¦꞉ː˸∶︰﹕﹤﹥﹟", "<<<<<<<<>>>>>>>|||||::::::<>#")
_READ_AS: Final = {
    ord(alike): real
    for letters, reals in (_CYRILLIC, _GREEK, _SMALL, _MARKS)
    for alike, real in zip(letters, reals, strict=True)
}
_ALIKE: Final = re.compile(f"{_STYLED.pattern[:-1]}{''.join(map(re.escape, map(chr, _READ_AS)))}]")


def plain(text: str) -> str:
    """The text in small plain letters, every position kept.

    >>> plain("ＳＹＳＴЕМ")
    'system'
    """
    low = _lowered(text)
    if low.isascii() or not _ALIKE.search(low):
        return low
    return _STYLED.sub(_compatible, low).translate(_READ_AS)


def _compatible(match: re.Match[str]) -> str:
    alike = match.group()
    if "\U0001f130" <= alike <= "\U0001f189":
        # Squared and negative circled capitals have no compatibility form of their own.
        return "abcdefghijklmnopqrstuvwxyz"[(ord(alike) - 0x1F130) % 32 % 26]
    real = unicodedata.normalize("NFKC", alike).lower()
    return real if len(real) == 1 else alike


def _lowered(text: str) -> str:
    """Lower case of the same length."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)
