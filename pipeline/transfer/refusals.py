"""Why a document is not taken in."""

from enum import StrEnum


class Refusal(StrEnum):
    """A stable word for each reason. Closed: a new one is a protocol change."""

    NOT_A_RECORD = "not_a_record"
    UNREADABLE = "unreadable"
    FOREIGN_OWNER = "foreign_owner"
    DUPLICATE = "duplicate"
    EDITED = "edited"
    NOT_EDITABLE = "not_editable"
    UNTRUSTED_SOURCE = "untrusted_source"
    TOO_LONG = "too_long"
    DEGENERATE = "degenerate"
    SENSITIVE = "sensitive"


class Unreadable(Exception):  # noqa: N818 - a judgement of a document, no fault
    """A document can't be taken for what it says it is.

    Attributes:
        code: Why.
        reason: What is wrong, without a word of what stands there.
        field: In which field, where it is one.
        line: In which line of the document, counted from 1.
    """

    def __init__(
        self, code: Refusal, reason: str, *, field: str | None = None, line: int | None = None
    ) -> None:
        self.code = code
        self.reason = reason
        self.field = field
        self.line = line
        super().__init__(reason)
