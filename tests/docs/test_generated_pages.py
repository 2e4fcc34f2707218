"""The pages that are made from code say what the code says."""

from pathlib import Path

import pytest

from pipeline.settings import STATE_VARIABLE, keys, load
from pipeline.text.redaction import Kind
from scripts.docs import commands_page, generate, settings_page
from socket_gateway.protocol import METHODS
from storage.errors import ErrorCode
from storage.records.knowledge import RejectionCode
from tests.docs.pages import anchors, read

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("page", generate.PAGES)
def test_a_generated_page_is_up_to_date(page: str) -> None:
    """A page made from code is what `python -m scripts.docs.generate` would write now."""
    assert read(page) == generate.PAGES[page]()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_documented(method: str) -> None:
    """Each method has a heading of its own, and each of its fields a row."""
    text = read("docs/protocol.md")
    section = text.split(f"#### {method}\n", 1)[1].split("\n#### ", 1)[0]
    for model in (METHODS[method].params, METHODS[method].result):
        for name, field in model.model_fields.items():
            assert f"| `{field.serialization_alias or name}` |" in section


@pytest.mark.parametrize("code", ErrorCode)
def test_every_error_code_is_documented(code: ErrorCode) -> None:
    """Each error code has a row that says whether the request may be sent again."""
    again = "yes" if code.retryable else "no"
    assert f"| `{code}` | {again} | " in read("docs/protocol.md")


@pytest.mark.parametrize("word", [*RejectionCode, *Kind])
def test_every_closed_word_of_an_answer_is_documented(word: str) -> None:
    """Each rejection code and each kind of redaction stands in the protocol."""
    assert f"`{word}`" in read("docs/protocol.md")


@pytest.mark.parametrize(("key", "section", "name"), list(keys()))
def test_every_setting_is_documented(key: str, section: str, name: str) -> None:
    """Each setting has a row with its key and its environment variable."""
    text = read("docs/settings.md")
    assert f"| `{key}` | " in text
    assert f"| `{settings_page.variable(section, name)}` |" in text


@pytest.mark.parametrize("verb", [name for name, _ in commands_page.leaves()])
def test_every_verb_is_documented(verb: str) -> None:
    """Each verb of the program has a section with an example that begins with it."""
    section = read("docs/commands.md").split(f"\n## {verb}\n", 1)[1].split("\n## ", 1)[0]
    assert f"```sh\ndeskpaw-memory {verb}" in section


def test_the_sample_holds_every_setting_and_no_other() -> None:
    """The sample's keys are the known ones, but for the state folder, which no file can move."""
    section = ""
    found = []
    for line in read("deploy/config.toml").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.startswith("# ") and " = " in line:
            found.append(f"{section}.{line[2:].split(' = ')[0]}")
    assert found == [key for key, *_ in keys() if key != "paths.state"]


def test_the_samples_values_are_the_defaults(tmp_path: Path) -> None:
    """The sample with every # taken away changes nothing but where a value comes from."""
    text = "\n".join(
        line.removeprefix("# ")
        for line in read("deploy/config.toml").splitlines()
        if line.startswith("[") or (" = " in line and settings_page.NOT_SET not in line)
    )
    tmp_path.joinpath("config.toml").write_text(text, encoding="utf-8")
    uncommented, sources = load({STATE_VARIABLE: str(tmp_path)})
    defaults, _ = load({STATE_VARIABLE: str(tmp_path / "nothing-here")})
    assert uncommented.model_dump(exclude={"paths"}) == defaults.model_dump(exclude={"paths"})
    assert str(tmp_path / "config.toml") in sources.values()


def test_headings_of_the_protocol_are_told_apart() -> None:
    """No two models share a heading, or links would lead to the wrong one."""
    headings = [line for line in read("docs/protocol.md").splitlines() if line.startswith("#")]
    assert len(headings) == len(set(headings)) == len(anchors("docs/protocol.md"))
