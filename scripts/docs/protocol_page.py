"""`docs/protocol.md`: the wire, from its models."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from pipeline.observers.schemas import ProposalModel
from pipeline.rules.validating import (
    MAX_CONTENT,
    MAX_CUE,
    MAX_ENTRIES,
    MAX_KEY,
    MAX_PROPOSALS,
)
from pipeline.text.neutralise import HIDDEN, MARKER
from pipeline.text.redaction import Kind
from scripts.docs.schema_text import field_table, model_name, plain, result_table
from socket_gateway.protocol import METHODS, Method
from storage import errors
from storage.errors import ErrorCode, MemoryServiceError
from storage.records.knowledge import RejectionCode

_INTRO: Final = Path(__file__).with_name("protocol_intro.md")

_GROUPS: Final = {
    "memory.events": "Intake",
    "memory.positions": "Intake",
    "memory.evidence": "Evidence",
    "memory.observation": "Observation by an outside worker",
    "memory.continuity": "Recall",
    "memory.record": "Records",
    "memory.object": "Objects",
    "memory.forget": "Forgetting",
    "snapshot": "Snapshots",
    "memory.export": "Export and import",
    "memory.import": "Export and import",
    "health": "Operators",
    "ops": "Operators",
}

_REJECTIONS: Final = {
    RejectionCode.NO_SOURCE: "It names no evidence, or none of this package.",
    RejectionCode.QUOTE_NOT_FOUND: "A quote does not stand in its event's text.",
    RejectionCode.UNTRUSTED_SOURCE: "Its evidence may not bear this kind: a web page makes no rule.",
    RejectionCode.SCOPE_WIDENED: "It would hold in more places than its evidence says.",
    RejectionCode.OVERRIDES_NEWER: "It would replace something that was said later.",
    RejectionCode.SENSITIVE: "It holds a secret or hidden reasoning.",
    RejectionCode.TOO_LONG: "A text is longer, or a list has more entries, than allowed.",
    RejectionCode.TOO_MANY: f"The package has its {MAX_PROPOSALS} proposals already.",
    RejectionCode.ECHO: "It repeats what the speaker had from memory.",
    RejectionCode.UNKNOWN_OBJECT: "It names an object that the owner does not have.",
    RejectionCode.DUPLICATE: "The package proposes it twice, or it is known from the same source.",
    RejectionCode.DEGENERATE: "It is empty, loops, or lacks what its kind needs.",
}


def render() -> str:
    """The whole page."""
    shared = _SharedModels()
    parts = [_INTRO.read_text(encoding="utf-8").rstrip(), _error_table(), *_methods(shared)]
    parts += ["## Models", *shared.sections(), _proposal_bounds(), _rejection_table()]
    parts.append(_redaction_list())
    return "\n\n".join(parts) + "\n"


def _error_table() -> str:
    rows = ["| code | may be sent again as it is | meaning |", "| --- | --- | --- |"]
    rows += [
        f"| `{code}` | {'yes' if code.retryable else 'no'} | {_meaning(code)} |"
        for code in ErrorCode
    ]
    return "## Error codes\n\nThe set is closed.\n\n" + "\n".join(rows)


def _meaning(code: ErrorCode) -> str:
    """What the error of that code says by default."""
    for _, found in inspect.getmembers(errors, inspect.isclass):
        if issubclass(found, MemoryServiceError) and found.code is code:
            return inspect.cleandoc(found.__doc__ or "")
    raise LookupError(f"no error class carries {code}")


def _methods(shared: "_SharedModels") -> Iterator[str]:
    yield "## Methods"
    yield _overview()
    group = ""
    for method in sorted(METHODS.values(), key=lambda found: _order(found.name)):
        if _group(method.name) != group:
            group = _group(method.name)
            yield f"### {group}"
        yield _method(method, shared)


def _overview() -> str:
    rows = ["| method | what it does |", "| --- | --- |"]
    for name in sorted(METHODS, key=_order):
        anchor = name.replace(".", "")
        rows.append(f"| [`{name}`](#{anchor}) | {METHODS[name].about} |")
    return "\n".join(rows)


def _group(name: str) -> str:
    for prefix, group in _GROUPS.items():
        if name == prefix or name.startswith(prefix + "."):
            return group
    raise LookupError(f"{name} belongs to no group of the page; add its prefix to _GROUPS")


def _order(name: str) -> int:
    return list(dict.fromkeys(_GROUPS.values())).index(_group(name))


def _method(method: Method, shared: "_SharedModels") -> str:
    params = shared.read(method.params, "validation")
    result = shared.read(method.result, "serialization")
    return "\n\n".join(
        (
            f"#### {method.name}",
            method.about,
            f"Params: {_about(method.params)}",
            field_table(params),
            f"Result: {_about(method.result)}",
            result_table(result),
        )
    )


def _about(model: type[BaseModel]) -> str:
    return plain(model.__doc__ or "")


class _SharedModels:
    """The models that methods' params and results refer to, each shown once."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, Any]] = {}
        self.read(ProposalModel, "validation")
        self._found["ProposalModel"] = ProposalModel.model_json_schema(by_alias=True)

    def read(self, model: type[BaseModel], mode: Any) -> dict[str, Any]:
        """A model's schema; what it refers to is kept for the page's end."""
        schema = model.model_json_schema(by_alias=True, mode=mode)
        for name, definition in schema.get("$defs", {}).items():
            self._found.setdefault(name, definition)
        return schema

    def sections(self) -> Iterator[str]:
        """A section a model, by name; plain word lists are shown as such."""
        for name in sorted(self._found, key=model_name):
            schema = self._found[name]
            about = plain(str(schema.get("description", "")))
            heading = f"### {model_name(name)}"
            if "enum" in schema:
                words = ", ".join(f"`{word}`" for word in schema["enum"])
                yield f"{heading}\n\n{about}\n\nOne of {words}."
            elif schema.get("properties"):
                yield f"{heading}\n\n{about}\n\n{field_table(schema)}"


def _proposal_bounds() -> str:
    return (
        "### Bounds of proposals\n\n"
        f"A package takes {MAX_PROPOSALS} proposals. Beyond these bounds a proposal is rejected alone; "
        "the others are judged as if it weren't there.\n\n"
        "| what | at most |\n| --- | --- |\n"
        f"| `content`, `value`, each of `conditions`, `steps`, `failure`, `verify` | {MAX_CONTENT} "
        "code points |\n"
        f"| each of `cues` | {MAX_CUE} code points |\n"
        f"| `key` | {MAX_KEY} code points |\n"
        f"| each list | {MAX_ENTRIES} entries |"
    )


def _rejection_table() -> str:
    rows = ["| code | meaning |", "| --- | --- |"]
    rows += [f"| `{code}` | {_REJECTIONS[code]} |" for code in RejectionCode]
    head = (
        "### Rejection codes\n\nWhy a proposal did not take effect. The reason is kept beside it."
    )
    return head + "\n\n" + "\n".join(rows)


def _redaction_list() -> str:
    words = ", ".join(f"`{kind}`" for kind in Kind)
    return (
        "### Redactions\n\nWhat can be removed from an event before it is stored. In its place stands "
        f"a mark such as `{Kind.PASSWORD.marker}`.\n\nOne of {words}.\n\n"
        "Two more kinds are counted, which leave no such mark:\n\n"
        "| kind | what it counts | what is done |\n| --- | --- | --- |\n"
        f"| `{HIDDEN}` | places with characters that nobody sees: tag characters, zero-width characters, "
        "directional overrides, stray variation selectors | They are taken out, of whatever role the event "
        "is. Joiners and selectors stay where emoji, Indic, Arabic and other scripts need them. |\n"
        f"| `{MARKER}` | forged marks in what the user has not written: `System:` or `用户：` at the start of a "
        "line, `<system>`, `<\\|im_start\\|>`, `[INST]`, `</tool_result>` and the like, in any width, case or "
        "look-alike letters | A middle dot breaks them: `System·:`, `<·system>`. |\n\n"
        "In snapshots, and in the texts of a recall's hits, both are done again, and in snapshots headings, "
        "rules, fences and comments of Markdown are escaped. A user's own words stay to the letter in "
        "events, evidence and hits."
    )
