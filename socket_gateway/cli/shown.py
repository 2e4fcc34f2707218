"""What is kept in memory, made fit to be shown: harmless to a terminal, times and sizes in words."""

import re
from datetime import datetime
from typing import Final

from pipeline.rules.workdays import BEIJING

# Cc but newline and tab, surrogates, line and paragraph separators, and what turns the reading
# direction: text of others must neither drive a terminal nor look like what it is not.
_UNSAFE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_UNITS: Final = (("ms", 1, 1_000), ("s", 1_000, 120_000), ("min", 60_000, 7_200_000))
_TWO_DAYS: Final = 172_800_000
_STEP: Final = 1_000
_BREAKS: Final = re.compile(r"\s*[\n\t]\s*")


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}"


def safe(text: str) -> str:
    r"""Text with control characters and terminal escapes written out.

    >>> safe("a\x1b[2Jb 好")
    'a\\u001b[2Jb 好'
    """
    return _UNSAFE.sub(_escaped, text)


def safe_json(text: str) -> str:
    r"""JSON with the same characters as JSON escapes; they can only stand in its strings.

    >>> safe_json('"\u202e"')
    '"\\u202e"'
    """
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    r"""The same on one line, for a cell of a table.

    >>> one_line("first\nsecond")
    'first second'
    """
    return _BREAKS.sub(" ", safe(text)).strip()


def moment(milliseconds: int | None) -> str:
    """A time as people read it, in Beijing's zone like all workdays here.

    >>> moment(1772412720000)
    '2026-03-02 08:52'
    >>> moment(None)
    ''
    """
    if milliseconds is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1000, BEIJING):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return str(milliseconds)


def duration(milliseconds: int) -> str:
    """A length of time in its largest unit.

    >>> [duration(n) for n in (40, 61_000, 7_200_000, 200_000_000)]
    ['40 ms', '61 s', '2.0 h', '2.3 d']
    """
    for unit, size, limit in _UNITS:
        if milliseconds < limit:
            return f"{milliseconds // size} {unit}"
    hours = milliseconds / 3_600_000
    return f"{hours:.1f} h" if milliseconds < _TWO_DAYS else f"{hours / 24:.1f} d"


def size(count: int | None) -> str:
    """A number of bytes in its largest unit.

    >>> [size(n) for n in (None, 512, 3_000_000)]
    ['unknown', '512 B', '3.0 MB']
    """
    if count is None:
        return "unknown"
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < _STEP:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= _STEP
    return f"{amount:.1f} TB"
