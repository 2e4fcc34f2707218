"""Writes the documents that are made from code; with `--check` it only says what is out of date.

Run it as `python -m scripts.docs.generate` in the project's folder.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from scripts.docs import commands_page, protocol_page, settings_page

ROOT = Path(__file__).parents[2]

PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "docs/protocol.md": protocol_page.render,
        "docs/settings.md": settings_page.render_page,
        "docs/commands.md": commands_page.render,
        "deploy/config.toml": settings_page.render_sample,
    }
)
"""What is made, by path, and how."""


def outdated() -> list[str]:
    """The paths whose file is not what the code says."""
    return [path for path, render in PAGES.items() if _written(path) != render()]


def _written(path: str) -> str | None:
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.exists() else None


def main() -> int:
    """Write or check; exit status 1 when a check finds something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    if parser.parse_args().check:
        found = outdated()
        for path in found:
            print(f"{path} is out of date: run `python -m scripts.docs.generate`", file=sys.stderr)
        return 1 if found else 0
    for path in outdated():
        (ROOT / path).write_text(PAGES[path](), encoding="utf-8")
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
