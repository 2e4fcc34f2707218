"""All hand-written rules over one text, the costly groups behind a cheap look."""

import re
from collections.abc import Iterator

from pipeline.text.redaction.credentials import credential_spans
from pipeline.text.redaction.numbers import number_spans
from pipeline.text.redaction.prose_rules import prose_spans
from pipeline.text.redaction.reasoning import reasoning_spans
from pipeline.text.redaction.spans import Span

_TAG = re.compile(
    r"[<◁〈‹]|&lt;|\\u003c|[\[【][\s/]{0,8}(?:think|thought|reason|思考|推理)|assistantfinal"
)
_NUMBER = re.compile(r"\d(?:[ ()-]{0,2}\d){9}")


def rule_spans(text: str, low: str, *, by_model: bool, phones: bool) -> Iterator[Span]:
    """Find what the rules know in `text`; `low` is `text` in lower case.

    Args:
        text: Text without disguises.
        low: The same, lower-cased, of the same length.
        by_model: Whether a model wrote it, for tags of hidden reasoning.
        phones: Whether phone numbers count as secrets.
    """
    if _TAG.search(low):
        yield from reasoning_spans(low, by_model=by_model)
    yield from prose_spans(text, low)
    yield from credential_spans(text, low)
    if _NUMBER.search(low):
        yield from number_spans(low, phones=phones)
