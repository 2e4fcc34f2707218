"""Redaction: no secret and no hidden reasoning gets past this room (mission B6)."""

from pipeline.text.redaction.json_tree import JsonValue
from pipeline.text.redaction.redactor import (
    REDACTOR_VERSION,
    Redacted,
    RedactedItem,
    RedactionItem,
    Redactor,
)
from pipeline.text.redaction.spans import Kind

__all__ = [
    "REDACTOR_VERSION",
    "JsonValue",
    "Kind",
    "Redacted",
    "RedactedItem",
    "RedactionItem",
    "Redactor",
]
