"""What an export lists of records without reading them whole."""

from dataclasses import dataclass

from storage.records.knowledge import RecordKind, RecordStatus


@dataclass(frozen=True, slots=True)
class Listed:
    """A record as a line of a list. `observed_at` is epoch milliseconds."""

    id: str
    kind: RecordKind
    status: RecordStatus
    content: str
    observed_at: int
