"""Seals: what tells a document as it was written from one that was edited since.

A digest without a key. It finds edits and damage; whoever wants to forge one can, and an import
says what it is worth nevertheless (see `pipeline.transfer.deciding`).
"""

import re
from hashlib import blake2b
from typing import Final

OPENING: Final = "---\n"
MARK: Final = "deskpaw-memory"
"""The first field of every document that an export has written."""

_SEAL: Final = re.compile(r"^digest: ([0-9a-f]{32})\n(?=---\n)", re.MULTILINE)
_BYTE_ORDER_MARK: Final = "\ufeff"


def sealed(fields: str, body: str) -> str:
    r"""A document of front matter and body, with its seal as the last field.

    >>> is_sealed(sealed("a: 1\n", "\n好\n")), is_sealed(sealed("a: 1\n", "好\n") + "!")
    (True, False)
    """
    digest = _digest(plain(f"{OPENING}{fields}{OPENING}{body}"))
    return f"{OPENING}{fields}digest: {digest}\n{OPENING}{body}"


def is_sealed(text: str) -> bool:
    """Whether a document is as it was written, but for what `plain` takes away."""
    written = plain(text)
    found = _SEAL.search(written)
    if found is None:
        return False
    return found[1] == _digest(written[: found.start()] + written[found.end() :])


def is_ours(text: str) -> bool:
    """Whether an export has written this document, whoever has edited it since."""
    return plain(text[: len(OPENING) + len(MARK) + 4]).startswith(f"{OPENING}{MARK}:")


def plain(text: str) -> str:
    """The text as it is written here: editors change its line ends, its first mark and its end."""
    return text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").rstrip("\n") + "\n"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
