"""The demo does what the README shows, and says so only when it is true."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from scripts.demo import conflict, forgetting
from scripts.demo.service import running_service
from scripts.demo.story import scene
from socket_gateway.client import MemoryClient
from tests.docs.pages import ROOT, blocks

pytestmark = pytest.mark.integration

_CHANGING = re.compile(r"\d+\.\d (?:s|MB)|\d+ 个文件")
"""Times and sizes, which no two runs share."""


@pytest.fixture(scope="module")
def client() -> Iterator[MemoryClient]:
    """A client of a service as the demo starts it, with nothing told yet."""
    with Path(os.devnull).open("w") as nowhere, running_service(Console(file=nowhere)) as found:
        yield found


@pytest.fixture
def silent() -> Iterator[Console]:
    """A console that nobody reads."""
    with Path(os.devnull).open("w") as nowhere:
        yield Console(file=nowhere)


def _told(text: str) -> str:
    return " ".join(_CHANGING.sub("#", text).split())


@pytest.mark.timeout(300)
def test_the_demo_shows_what_the_readme_shows(tmp_path: Path) -> None:
    """The demo ends well, and the README's example shows lines of it, cut only where … stands."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.demo.play"],
        cwd=ROOT,
        env={"HOME": str(tmp_path), "PATH": os.defpath, "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (example,) = [block for block in blocks("README.md") if "❓" in block.text]
    lines = [_told(line) for line in done.stdout.splitlines()]
    for shown in filter(None, example.text.splitlines()):
        pieces = [re.escape(_told(piece)) for piece in shown.split("…")]
        assert any(re.fullmatch(".*".join(pieces), line) for line in lines), shown


@pytest.mark.timeout(120)
def test_a_conflict_that_is_none_is_not_claimed(
    client: MemoryClient, silent: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When nothing contradicts anything, the scene of the conflict says that it didn't happen."""
    part: dict[str, Any] = deepcopy(scene("conflict"))
    part["events"] = part["events"][:1]
    monkeypatch.setattr(conflict, "scene", lambda _: part)
    assert not conflict.play(client, silent)


@pytest.mark.timeout(120)
def test_a_word_that_is_left_is_told(client: MemoryClient, silent: Console) -> None:
    """When a file of the state folder still holds a forgotten word, the scene says that it failed."""
    stray = client.path.with_name("stray.txt")
    stray.write_text("体检报告出来了，尿酸偏高。以后点外卖别点海鲜。", encoding="utf-8")
    try:
        assert not forgetting.play(client, silent)
    finally:
        stray.unlink()
