"""File names out of ids: two ids never share one, on no file system (spec: quality, Safety).

A name reads like its id where that is safe: small Latin letters, digits, `.`, `_`, `-`, and Han
characters, which have neither case nor a second form that a file system could fold them into.
Everything else stands as percent-encoded UTF-8.
"""

import re
from hashlib import blake2b
from typing import Final
from urllib.parse import quote

MAX_NAME: Final = 120
"""Bytes of a name without its ending; file systems take 255, some encrypting ones 143."""

_KEPT_OF_LONG: Final = 80
_UNSAFE: Final = re.compile(r"[^a-z0-9._\-\u3400-\u4dbf\u4e00-\u9fff]")
_UNITS: Final = re.compile(r"%[0-9A-F]{2}|.")
_FIRST: Final = re.compile(r"[a-z0-9%\u3400-\u4dbf\u4e00-\u9fff]")
# Devices of Windows, with whatever ending, and the names that an export keeps for itself.
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|index|export")


def file_name(name: str) -> str:
    """The name of a file or folder for an id, without an ending.

    No two ids have names that are the same, be it without regard to case or after any Unicode
    normalisation. A long one is cut and carries a digest of the whole id behind a `~`.

    >>> file_name("报销"), file_name("expense.2024-01")
    ('报销', 'expense.2024-01')
    >>> file_name("Expense"), file_name("@owner"), file_name("../x"), file_name("nul")
    ('%45xpense', '%40owner', '%2E.%2Fx', '%6Eul')
    """
    made = _UNSAFE.sub(lambda found: _encoded(found[0]), name)
    if not _FIRST.match(made) or _RESERVED.match(made):
        made = _encoded(made[:1]) + made[1:]
    if made.endswith("."):
        made = made[:-1] + _encoded(".")
    return made if len(made.encode()) <= MAX_NAME else _cut(made, name)


def _encoded(char: str) -> str:
    """Every byte of a character as `%` and two hexadecimal digits, safe or not."""
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def _cut(made: str, name: str) -> str:
    kept, size = [], 0
    for unit in _UNITS.findall(made):
        size += len(unit.encode())
        if size > _KEPT_OF_LONG:
            break
        kept.append(unit)
    whole = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{''.join(kept)}~{whole}"


def link(*names: str) -> str:
    """The way to a file from where it is named in Markdown.

    >>> link("%40owner", "a b.md")
    '%2540owner/a%20b.md'
    """
    return "/".join(quote(name, safe="") for name in names)
