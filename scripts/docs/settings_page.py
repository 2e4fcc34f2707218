"""`docs/settings.md` and `deploy/config.toml`: every setting, from the models that read them."""

import json
from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pipeline.settings import PREFIX, SEED_VARIABLES, STATE_VARIABLE, Settings
from scripts.docs.schema_text import plain, type_words

NOT_SET: Final = "(not set)"

_PATHS: Final = {
    "state": "~/.deskpaw/memory",
    "socket": "~/.deskpaw/runtime/memory.sock",
    "database": "~/.deskpaw/memory/data/memory.sqlite3",
    "bundles": "~/.deskpaw/memory/bundles",
}

_INTRO: Final = f"""# Settings

Made from `pipeline/settings.py` by `scripts/docs/generate.py`; a test keeps this page the same as
the code.

A value comes from its environment variable, else from `config.toml` in the state folder, else from
the default. `deskpaw-memory config show` lists every value with where it comes from. A name that
isn't here is an error that names the nearest one, in the file and in the environment alike.

The state folder itself can only be moved by `{STATE_VARIABLE}`. With it alone the socket is
`memory.sock` inside that folder; otherwise it is `~/.deskpaw/runtime/memory.sock`. A socket path has
at most 107 bytes.

`deploy/config.toml` is a sample with everything at its default."""

_SAMPLE_INTRO: Final = f"""# Settings of deskpaw-memory. Copy this to config.toml in the state folder (~/.deskpaw/memory
# unless {STATE_VARIABLE} names another) and take the # away before what is to be changed.
# The environment wins: {PREFIX}<SECTION>__<KEY>. Every line shows the default.
#
# Made by scripts/docs/generate.py."""


def render_page() -> str:
    """The page of all settings."""
    return "\n\n".join((_INTRO, *map(_section, _sections()))) + "\n"


def render_sample() -> str:
    """The commented sample of a configuration file."""
    return "\n\n".join((_SAMPLE_INTRO, *map(_sample, _sections()))) + "\n"


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in Settings.model_fields.items():
        model = field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield name, model


def _section(named: tuple[str, type[BaseModel]]) -> str:
    section, model = named
    rows = ["| key | type | default | meaning | variable |", "| --- | --- | --- | --- | --- |"]
    schema = model.model_json_schema()["properties"]
    for name, field in model.model_fields.items():
        kind = "path" if section == "paths" else type_words(schema[name])
        default = f"`{_default(section, name, field)}`"
        rows.append(
            f"| `{section}.{name}` | {kind} | {default} | {field.description} "
            f"| `{variable(section, name)}` |"
        )
    return f"## {section}\n\n{_about(model)}\n\n" + "\n".join(rows)


def _sample(named: tuple[str, type[BaseModel]]) -> str:
    section, model = named
    lines = [f"# {_about(model)}", f"[{section}]"]
    for name, field in model.model_fields.items():
        if (section, name) == ("paths", "state"):
            continue
        lines += [f"# {field.description}", f"# {name} = {_default(section, name, field)}"]
    return "\n".join(lines)


def variable(section: str, name: str) -> str:
    """The environment variable of a setting."""
    if (section, name) == ("paths", "state"):
        return STATE_VARIABLE
    for seed, key in SEED_VARIABLES.items():
        if key == (section, name):
            return seed
    return f"{PREFIX}{section}__{name}".upper()


def _default(section: str, name: str, field: FieldInfo) -> str:
    value: Any = _PATHS[name] if section == "paths" else field.default
    return NOT_SET if value is None else json.dumps(value)


def _about(model: type[BaseModel]) -> str:
    return plain(model.__doc__ or "")
