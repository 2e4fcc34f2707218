"""What asking a model costs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One answered call of a model, for one claim of a package. Holds no text.

    `at` is in epoch milliseconds; the four counts are tokens as the server tells them. A call as
    part of a message batch names the batch, and the fence that the package had when it was sent.
    """

    package_id: int
    fence: int
    attempt: int
    at: int
    model: str
    stop_reason: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    batch_id: str | None = None


@dataclass(frozen=True, slots=True)
class BatchEntry:
    """A package that a model reads as part of a message batch.

    `tokens` is what its answer may cost at most; `sent_at` is in epoch milliseconds.
    """

    package_id: int
    fence: int
    batch_id: str
    sent_at: int
    tokens: int
