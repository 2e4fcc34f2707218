"""What is wrong with a file that is replayed, and where."""

from collections.abc import Sequence
from dataclasses import dataclass

from storage.errors import BadRequestError, UnavailableError

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that can't be sent. The reason never repeats what stands there."""

    file: str
    line: int
    field: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        return f"{place}: {self.field}: {self.reason}" if self.field else f"{place}: {self.reason}"


class ReplayError(BadRequestError):
    """Lines can't be sent as they are; correct them and replay again."""

    def __init__(self, faults: Sequence[Fault], what: str) -> None:
        self.faults = tuple(faults)
        told = "\n".join(f"  {fault}" for fault in self.faults[:_SHOWN])
        more = len(self.faults) - _SHOWN
        rest = f"\n  and {more} more" if more > 0 else ""
        super().__init__(
            f"{what}\n{told}{rest}",
            details={
                "lines": [
                    {"file": f.file, "line": f.line, "field": f.field, "reason": f.reason}
                    for f in self.faults
                ]
            },
        )


class StalledError(UnavailableError):
    """Nothing moves on the way to publication; see `deskpaw-memory status`."""
