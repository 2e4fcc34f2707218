"""JSON schemas as Markdown: tables of fields, with their types in words."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

_UNBOUNDED: Final = 2**63 - 1
_REFERENCE: Final = "#/$defs/"
_ANY_JSON: Final = "#/$defs/JsonValue"
_OWN_HEADINGS: Final = {"HealthResult": "HealthReport", "ScopeModel": "ProposedScope"}


def field_table(schema: Schema) -> str:
    """One row a field: name, type, default or whether it is required, and what it means."""
    fields = schema.get("properties", {})
    if not fields:
        return "None."
    required = set(schema.get("required", ()))
    rows = ["| field | type | default | meaning |", "| --- | --- | --- | --- |"]
    for name, field in fields.items():
        default = "required" if name in required else f"`{_json(field.get('default'))}`"
        rows.append(f"| `{name}` | {type_words(field)} | {default} | {field_meaning(field)} |")
    return "\n".join(rows)


def result_table(schema: Schema) -> str:
    """One row a field of an answer: name, type, meaning."""
    rows = ["| field | type | meaning |", "| --- | --- | --- |"]
    for name, field in schema.get("properties", {}).items():
        rows.append(f"| `{name}` | {type_words(field)} | {field_meaning(field)} |")
    return "\n".join(rows)


def field_meaning(field: Schema) -> str:
    """What the model says about a field."""
    return plain(str(field.get("description", ""))).replace("|", "\\|")


def plain(said: str) -> str:
    """A docstring on one line, without the pointers to where a rule comes from.

    >>> plain("Limits of the socket (spec: protocol, Transport).")
    'Limits of the socket.'
    """
    return re.sub(r"\s*\((?:spec|mission)[: ][^)]*\)", "", " ".join(said.split()))


def type_words(field: Schema) -> str:
    """A field's type, its bounds included.

    >>> type_words({"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2})
    'list of string (at most 3 characters), at most 2'
    """
    if "anyOf" in field:
        return " or ".join(type_words(option) for option in field["anyOf"])
    if "allOf" in field:
        return type_words(field["allOf"][0])
    if "$ref" in field:
        return _link(field["$ref"])
    if "const" in field:
        return f"`{_json(field['const'])}`"
    if "enum" in field:
        return " \\| ".join(f"`{value}`" for value in field["enum"])
    return _plain_words(field)


def _plain_words(field: Schema) -> str:
    kind = field.get("type", "any")
    if kind == "array":
        inner = type_words(field.get("items", {}))
        bounds = _range(field.get("minItems"), field.get("maxItems"))
        return f"list of {inner}" + (f", {bounds}" if bounds else "")
    if kind == "object":
        inner_schema = field.get("additionalProperties")
        if not isinstance(inner_schema, Mapping) or inner_schema.get("$ref") == _ANY_JSON:
            return "object"
        return f"map of {type_words(inner_schema)}"
    bounds = ", ".join(_bounds(field))
    return f"{kind} ({bounds})" if bounds else str(kind)


def _bounds(field: Schema) -> Iterator[str]:
    length = _range(field.get("minLength"), field.get("maxLength"))
    if length:
        yield f"{length} characters"
    least, most = field.get("minimum"), field.get("maximum")
    if most == _UNBOUNDED:
        most = None
    if least == 0 and most is None:
        return
    size = _range(least, most)
    if size:
        yield size


def _range(least: int | None, most: int | None) -> str:
    if least is None and most is None:
        return ""
    if most is None:
        return f"at least {least:,}"
    if least is None:
        return f"at most {most:,}"
    return f"{least:,} to {most:,}"


def _link(reference: str) -> str:
    name = model_name(reference)
    return f"[{name}](#{name.lower()})"


def model_name(reference: str) -> str:
    """The heading of a model: its class name without what tells its room.

    >>> model_name("#/$defs/RecordResult"), model_name("#/$defs/ProposalModel")
    ('Record', 'Proposal')
    """
    name = reference.removeprefix(_REFERENCE)
    if name in _OWN_HEADINGS:
        return _OWN_HEADINGS[name]
    for suffix in ("Result", "Model"):
        name = name.removesuffix(suffix)
    return name


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
