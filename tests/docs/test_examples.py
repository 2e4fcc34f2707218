"""Every example of the documents is run, as it stands, against a real service."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from socket_gateway.client import MemoryClient, RetryPolicy
from tests.docs.pages import ROOT, Block, blocks, written_pages

pytestmark = pytest.mark.integration

PATIENT = RetryPolicy(attempts=400, longest_wait_s=0.25, total_s=90.0)
SETTINGS = {
    "docs/how-to/write-an-outside-observer.md": {"DESKPAW_MEMORY_OBSERVER__KIND": "external"}
}


def _examples(page: str) -> list[Block]:
    return [b for b in blocks(page) if b.language in {"sh", "python"} and not b.marked]


RUN = [page for page in written_pages() if _examples(page)]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where one page's service leaves its compiled rules for the next one's."""
    return tmp_path_factory.mktemp("compiled")


def _environment(home: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """A reader's environment: a home of their own and the program on the path."""
    return {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": f"{home / 'bin'}:{os.defpath}",
        "PYTHONPATH": str(ROOT),
        **settings,
    }


@contextmanager
def _service(home: Path, settings: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Gateway and consumer as `serve` starts them; the environment that reaches them."""
    program = home / "bin" / "deskpaw-memory"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m socket_gateway.cli "$@"\n')
    program.chmod(0o755)
    environment = _environment(home, settings)
    with (home / "log").open("wb") as log:
        serving = subprocess.Popen(
            [program, "serve"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
    try:
        socket = home / ".deskpaw" / "runtime" / "memory.sock"
        with MemoryClient(socket, policy=PATIENT) as client:
            client.positions()
        yield environment
    finally:
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(30) == 0, (home / "log").read_text()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", RUN)
def test_the_examples_of_a_page_work(page: str, tmp_path: Path, compiled: Path) -> None:
    """A reader who does what the page says, in its order, gets no error."""
    cache = tmp_path / ".deskpaw" / "memory" / "cache"
    cache.parent.mkdir(mode=0o700, parents=True)
    shutil.copytree(compiled, cache)
    with _service(tmp_path, SETTINGS.get(page, {})) as environment:
        for block in _examples(page):
            _run(block, environment)
    for rules in cache.glob("*.vscdb"):
        shutil.copy(rules, compiled)


def _run(block: Block, environment: Mapping[str, str]) -> None:
    command = [sys.executable, "-"] if block.language == "python" else ["bash", "-euo", "pipefail"]
    done = subprocess.run(
        command,
        input=block.text,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    told = f"{block.page}:{block.line}\n{block.text}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, told
