"""Whether the user's quotes state something: a question asks, and a pasted sentence is its page's.

Read in the sentence that a quote stands in, since a part of it may look like a statement. Careful on
purpose: what may be a request counts as a statement. Pure. Source: mission B5, C4.
"""

import re
from collections.abc import Iterable

from pipeline.rules.wording import content_words, normalised, sentences, simplified
from storage.records.events import Event
from storage.records.knowledge import Span

_ASKS = re.compile(r"[?？][\"'”’」』)）]*\s*$|[吗么][。！!~～]*\s*$")
_REQUESTS = re.compile(
    # A wish put politely, or one that only waits for a nod.
    r"能不能|能否|可否|可不可以|可以|麻烦|请(?!问)|帮我|给我|为什么不|要不|不如|(?<![可不])能|让我"
    r"|(?:好|行|成|可以|对|ok|okay)(?:吗|么|不好|不行|吧)?[?？。]*\s*$|[吧][?？]\s*$"
    r"|\b(?:could|can|would|will|won['’]t|couldn['’]t) (?:you|we|i)\b|\bplease\b|\bwhy (?:don['’]t|not)\b|\bhow about\b"
    r"|(?:^|[，,。；;！!])\s*(?:那|到时候?|[\d一二三四五六日天周下明后月号早晚上午点]{1,9})?(?:记得|别忘了?)?提醒我"
    r"|(?:^|[,.;:!]|\b(?:and|then|so))\s*(?:remind me|wake me|don['’]t (?:let me )?forget)\b"
    r"|\blet['’]?s\b|\b(?:ok(?:ay)?|all ?right|right|deal|will you)\s*[?？]\s*$",
    re.IGNORECASE,
)
_PASTED_WORDS = 4
"""Words that two speakers hardly use in one order by chance."""


def only_asks(spans: Iterable[Span], texts: dict[str, str]) -> bool:
    """Whether each of the quotes stands in a sentence that merely asks.

    Args:
        spans: The user's quotes.
        texts: The events' texts, by id.
    """
    said = [_sentence(span, texts[span.event_id]) for span in spans]
    return bool(said) and all(map(_is_question, said))


def is_pasted(spans: Iterable[Span], before: Iterable[Event]) -> bool:
    """Whether each of the quotes is, word for word, what one of the texts before it had said.

    Args:
        spans: The user's quotes.
        before: What pages and tools have said, with their sequence numbers.
    """
    told = [(event.seq, normalised(simplified(event.text))) for event in before]
    quotes = [(span.seq, normalised(simplified(span.quote))) for span in spans]
    return bool(quotes) and all(
        len(content_words(quote)) >= _PASTED_WORDS
        and any(seq < at and quote in text for seq, text in told)
        for at, quote in quotes
    )


def _sentence(span: Span, text: str) -> str:
    met = [(start, end) for start, end in sentences(text) if start < span.end and end > span.start]
    return text[met[0][0] : met[-1][1]] if met else span.quote


def _is_question(sentence: str) -> bool:
    plain = simplified(sentence)
    return _ASKS.search(plain) is not None and _REQUESTS.search(plain) is None
