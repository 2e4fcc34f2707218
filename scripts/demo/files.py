"""Looking for words in files, byte by byte, whatever the service says."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Looked:
    """How many files and bytes were looked through, and which files hold any of the words."""

    files: int
    size: int
    holding: tuple[Path, ...]


def look(folder: Path, words: Sequence[str]) -> Looked:
    """Read every file below a folder and look for words, as UTF-8, UTF-16 and JSON escapes."""
    wanted = [form for word in words for form in _forms(word)]
    files = size = 0
    holding = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # The service may remove files of its own meanwhile.
            continue
        files += 1
        size += len(content)
        if any(form in content for form in wanted):
            holding.append(path.relative_to(folder))
    return Looked(files, size, tuple(holding))


def _forms(word: str) -> tuple[bytes, ...]:
    escaped = json.dumps(word).strip('"')
    return word.encode(), word.encode("utf-16-le"), escaped.encode()
