"""The documents as the tests read them: fenced blocks, inline code, links and headings."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from scripts.docs.generate import PAGES

ROOT: Final = Path(__file__).parents[2]

_NOT_RUN = re.compile(r"<!-- not run: .+ -->\s*")
_NO_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `marked` tells that a comment above it says why it is not run."""

    page: str
    line: int
    language: str
    text: str
    marked: bool


def pages() -> list[str]:
    """Every Markdown page, by its path in the project."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def written_pages() -> list[str]:
    """The pages that people write."""
    return [page for page in pages() if page not in PAGES]


def read(page: str) -> str:
    """A page's text."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    """A page's fenced blocks, in order."""
    found = []
    before: Token | None = None
    for token in _tokens(page):
        if token.type == "fence":
            comment = before.content if before is not None else ""
            line = token.map[0] + 1 if token.map else 0
            marked = _NOT_RUN.fullmatch(comment) is not None
            found.append(Block(page, line, token.info.strip(), token.content, marked))
        before = token
    return found


def inline_code(page: str) -> Iterator[str]:
    """What stands between backticks in a page's prose and tables."""
    for child in _inline(page):
        if child.type == "code_inline":
            yield child.content


def links(page: str) -> Iterator[str]:
    """Where a page's links and pictures point to."""
    for child in _inline(page):
        target = child.attrGet("href") or child.attrGet("src")
        if target is not None:
            yield str(target)


def anchors(page: str) -> set[str]:
    """What a link into a page can name, as GitHub makes it from the headings."""
    tokens = _tokens(page)
    headings = [
        after.content
        for before, after in itertools.pairwise(tokens)
        if before.type == "heading_open"
    ]
    return {_NO_SLUG.sub("", text.lower()).replace(" ", "-") for text in headings}


def _inline(page: str) -> Iterator[Token]:
    for token in _tokens(page):
        yield from token.children or ()


def _tokens(page: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(read(page))
