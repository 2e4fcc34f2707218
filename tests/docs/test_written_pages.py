"""What people wrote names only what there is."""

import json
import re
import tomllib

import pytest

from pipeline.settings import PREFIX, SEED_VARIABLES, STATE_VARIABLE, Settings, keys
from scripts.docs import commands_page, settings_page
from socket_gateway.protocol import METHODS
from storage.records.events import Fate
from storage.records.knowledge import RecordStatus
from storage.records.recall import RecallState
from storage.records.runs import PackageState, Stage
from tests.docs.pages import ROOT, anchors, blocks, inline_code, links, pages, read, written_pages

pytestmark = pytest.mark.unit

LANGUAGES = {"sh", "python", "json", "toml", "ini", "text"}
OUTSIDE_SETTINGS = {"DESKPAW_PYTHON_BIN", "DESKPAW_NODE_BIN", "DESKPAW_SETUP_PYTHON"}

_PATH = re.compile(r"(?:pipeline|storage|socket_gateway|scripts|docs|deploy|tests)/[\w./-]*")
_METHOD = re.compile(r"(?:memory|snapshot|ops)\.[a-z_.]+")
_VERB = re.compile(r"\bdeskpaw-memory ([a-z]+)(?: ([a-z]+))?")


@pytest.mark.parametrize("page", pages())
def test_every_link_leads_somewhere(page: str) -> None:
    """A link to a file of the project finds the file, and the heading in it."""
    for link in links(page):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent.joinpath(path).resolve() if path else ROOT / page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(str(target.relative_to(ROOT))), link


@pytest.mark.parametrize("page", pages())
def test_every_block_says_its_language(page: str) -> None:
    """A fenced block has a language that the tests know what to do with."""
    assert {block.language for block in blocks(page)} <= LANGUAGES


@pytest.mark.parametrize("page", pages())
def test_data_in_blocks_can_be_read(page: str) -> None:
    """JSON and TOML in the documents are JSON and TOML."""
    for block in blocks(page):
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)


@pytest.mark.parametrize("page", written_pages())
def test_paths_in_prose_exist(page: str) -> None:
    """A path of the project between backticks is there."""
    for code in inline_code(page):
        if _PATH.fullmatch(code):
            assert (ROOT / code).exists(), code


@pytest.mark.parametrize("page", written_pages())
def test_variables_in_prose_are_known(page: str) -> None:
    """An environment variable that a page names is read by something."""
    known = {settings_page.variable(section, name) for _, section, name in keys()}
    known |= OUTSIDE_SETTINGS | set(SEED_VARIABLES) | {STATE_VARIABLE, PREFIX}
    assert set(re.findall(r"DESKPAW_[A-Z_]+", read(page))) <= known


@pytest.mark.parametrize("page", written_pages())
def test_settings_in_prose_are_known(page: str) -> None:
    """A key such as `log.level` between backticks is a setting."""
    known = {key for key, *_ in keys()}
    sections = "|".join(Settings.model_fields)
    for code in inline_code(page):
        module = ROOT / code.replace(".", "/")
        if re.fullmatch(rf"(?:{sections})\.[a-z_]+", code) and not module.exists():
            assert code in known or module.with_suffix(".py").exists(), code


@pytest.mark.parametrize("page", written_pages())
def test_verbs_in_prose_are_known(page: str) -> None:
    """Whatever stands behind the program's name is one of its verbs."""
    leaves = {name for name, _ in commands_page.leaves()}
    for text in [*inline_code(page), *(block.text for block in blocks(page))]:
        for first, second in _VERB.findall(text):
            assert first in leaves or f"{first} {second}" in leaves, f"{first} {second}"


@pytest.mark.parametrize("page", [page for page in written_pages() if page != "CHANGELOG.md"])
def test_methods_in_prose_are_known(page: str) -> None:
    """A method that a page names between backticks is served."""
    for code in inline_code(page):
        if _METHOD.fullmatch(code) and not hasattr(_client(), code.removeprefix("memory.")):
            assert code in METHODS, code


def _client() -> type:
    from socket_gateway.client import MemoryClient  # noqa: PLC0415 - one test needs it

    return MemoryClient


@pytest.mark.parametrize(
    "word", sorted({*PackageState, *Fate, *RecordStatus, *RecallState, *Stage})
)
def test_every_state_is_explained(word: str) -> None:
    """The page of states knows every state there is."""
    assert word in set(inline_code("docs/state-machine.md"))


def test_every_decision_is_listed() -> None:
    """The list of decisions leads to each of them."""
    written = {path.name for path in (ROOT / "docs/adr").glob("[0-9]*.md")}
    assert written == set(links("docs/adr/README.md")) - {"../benchmarks.md"}


def test_the_changelog_knows_this_version() -> None:
    """The version that is built has its section in the changelog."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert f"## [{project['version']}]" in read("CHANGELOG.md")
