"""Kingfisher: the formats of some hundred vendors' keys and tokens, found in process.

Nothing is checked with a vendor: only scanning is used, and scanning needs no network.
"""

import fcntl
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

import kingfisher_sdk

from pipeline.text.redaction.spans import Kind, Span

SCANNER_VERSION = version("kingfisher-secret-scanner")

# Parts that Kingfisher reports only as context of a secret: host names, account names and ids.
_NO_SECRET = re.compile(
    r"(?<!key)-(?:id|url|host|domain|name|username|address|repository)(?:\.\d+)?$|client-id|public-key"
)
_PASSWORD_RULE = re.compile(r"password|passphrase|credential-uri|auth-user|basic-auth")
_COMPILED = "*.vscdb"
_KEY_RULE = re.compile(r"key|secret|connection-string")


class SecretScanner:
    """Kingfisher's built-in rules over text of any script."""

    def __init__(self, cache_dir: Path | None) -> None:
        """Load the rules; with `cache_dir` (owner-only) their compiled form is kept there."""
        self._scanner = kingfisher_sdk.Scanner(_rules(cache_dir))

    def scan(self, text: str) -> list[Span]:
        """Find secrets; the spans are code points of `text`."""
        return [
            Span(
                finding.location["start_offset"],
                finding.location["end_offset"],
                _kind(finding.rule_id),
            )
            for finding in self._scanner.scan(_blanked(text))
            if finding.visible or not _NO_SECRET.search(finding.rule_id)
        ]


@cache
def _rules(cache_dir: Path | None) -> kingfisher_sdk.Rules:
    if cache_dir is None:
        return kingfisher_sdk.Rules(cache=False)
    cache_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(cache_dir.glob(_COMPILED)):
        return kingfisher_sdk.Rules(cache=True, cache_dir=cache_dir)
    with (cache_dir / ".compiling").open("w") as lock:
        # Gateway and consumer start together: compiling takes seconds, the second one loads.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return kingfisher_sdk.Rules(cache=True, cache_dir=cache_dir)


def _blanked(text: str) -> bytes:
    """ASCII of the same length, blanks for the rest: byte offsets are code points.

    ASCII word boundaries fail beside hanzi, so that they must go in any case. The real
    question marks step aside while the codec writes its own.
    """
    if text.isascii():
        return text.encode("ascii")
    ascii_only = text.replace("?", "\x01").encode("ascii", "replace")
    return ascii_only.replace(b"?", b" ").replace(b"\x01", b"?")


def _kind(rule_id: str) -> Kind:
    if _PASSWORD_RULE.search(rule_id):
        return Kind.PASSWORD
    return Kind.KEY if _KEY_RULE.search(rule_id) else Kind.TOKEN
