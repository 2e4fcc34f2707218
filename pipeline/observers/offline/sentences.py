"""The sentences that a speaker says as their own, ready for the lexicons."""

import re
from collections.abc import Iterator
from functools import cached_property

from pipeline.observers.offline.masking import MASK
from pipeline.observers.offline.silence import asks, ironic, unmeant
from pipeline.rules.lexicon import slot_of
from pipeline.rules.periods import names_time
from pipeline.rules.phrasing import Phrase, lowered
from pipeline.rules.wording import content_words, sentences, simplified
from storage.records.events import Event

MAX_STATEMENT = 400
"""Longer sentences are pasted matter, not something said."""

FEW_WORDS = 3
"""With fewer content words, a sentence says little by itself."""

REDACTED = "[redacted:"
"""What is left of a removed secret is worth nothing."""

_OWN = re.compile(
    rf"(?:{MASK}{{9,400}}[{MASK}\s]{{0,400}}[，,；;]\s?)?(.{{0,400}}?)(?:[，,；;：:]\s?{MASK}{{9,400}}[{MASK}\s]{{0,400}}[。.！!]?)?",
    re.DOTALL,
)
_WINDOW = 500
_PASTED = 1_500


class Sentence(Phrase):
    """A stretch of an event's text: verbatim, and with what is not the speaker's own masked."""

    def __init__(self, event: Event, start: int, end: int, plain: str) -> None:
        super().__init__(plain)
        self.event = event
        self.start = start
        self.end = end

    @property
    def verbatim(self) -> str:
        """The words as they were said."""
        return self.event.text[self.start : self.end]

    @cached_property
    def slot(self) -> str | None:
        """The slot it fills."""
        return slot_of(self.plain)

    @cached_property
    def timed(self) -> bool:
        """Whether it may name a time."""
        return names_time(self.low)

    @cached_property
    def words(self) -> int:
        """How many content words it has."""
        return len(content_words(self.plain))

    def to(self, other: "Sentence", text: str) -> "Sentence":
        """From here to the end of a later sentence of the same text."""
        return Sentence(self.event, self.start, other.end, text[self.start : other.end])

    def own(self) -> "Sentence":
        """The sentence without the clauses at its ends that are not its speaker's own."""
        match = _OWN.fullmatch(self.plain)
        return self.part(match.start(1), match.end(1)) if match else self

    def part(self, start: int, end: int) -> "Sentence":
        """A stretch of it, outer spaces and commas left out; positions count within it."""
        text = self.plain[start:end]
        start += len(text) - len(text.lstrip(" ，,；;\n"))
        end -= len(text) - len(text.rstrip(" ，,；;\n"))
        return Sentence(self.event, self.start + start, self.start + end, self.plain[start:end])


def spoken(event: Event, text: str) -> Iterator[Sentence]:
    """The sentences of a text that may state something: no paste, nothing endless, no secret.

    `text` is an event's, simplified, position for position.
    """
    for start, end in sentences(text):
        pasted = len(text) > _PASTED and end > _WINDOW and start < len(text) - _WINDOW
        if pasted or end - start > MAX_STATEMENT:
            continue
        sentence = Sentence(event, start, end, text[start:end])
        if REDACTED not in sentence.verbatim:
            yield sentence


def meant(sentence: Sentence) -> bool:
    """Whether a sentence states what it says: no question, supposition, denial or irony."""
    return not asks(sentence.low) and not unmeant(sentence.low)


def all_ironic(text: str) -> bool:
    """Whether a whole text is told to be meant the other way round."""
    return ironic(lowered(text[-MAX_STATEMENT:]))


def asks_only(event: Event) -> bool:
    """Whether every sentence of an event is a question."""
    low = lowered(simplified(event.text))
    return all(asks(low[start:end]) for start, end in sentences(low))
