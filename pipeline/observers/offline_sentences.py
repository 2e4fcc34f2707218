"""The sentences that a speaker says as their own, ready for the lexicons."""

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.observers import offline_lexicon as words
from pipeline.rules.lexicon import slot_of
from pipeline.rules.wording import clip, content_words, has_han, sentences, simplified
from storage.records.events import Event

MAX_STATEMENT = 400
"""Longer sentences are pasted matter, not something said."""

FEW_WORDS = 3
"""With fewer content words, a sentence says little by itself."""

_WINDOW = 500
_PASTED = 1_500


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an event: verbatim, and folded for the lexicons."""

    event: Event
    start: int
    end: int
    verbatim: str
    plain: str
    slot: str | None


def whole(event: Event) -> Sentence | None:
    """An event's text as one sentence, cut where it is long; None where it says nothing."""
    said = clip(event.text, MAX_STATEMENT)
    if not content_words(said) or words.REDACTED in said:
        return None
    start = event.text.index(said)
    plain = simplified(said)
    return Sentence(event, start, start + len(said), said, plain, slot_of(plain))


def asks_only(event: Event) -> bool:
    """Whether every sentence of an event is a question."""
    plain = simplified(event.text)
    return all(words.QUESTION.search(plain[start:end]) for start, end in sentences(plain))


def spoken(event: Event) -> Iterator[Sentence]:
    """The sentences that a speaker says as their own: no question, code, paste or report."""
    folded = simplified(event.text)
    if not event.objects and not _worth_reading(folded):
        return
    plain = words.CODE.sub(lambda match: "\n" * len(match.group()), folded)
    for start, end in sentences(plain):
        pasted = len(plain) > _PASTED and end > _WINDOW and start < len(plain) - _WINDOW
        if pasted or end - start > MAX_STATEMENT:
            continue
        said = plain[start:end]
        verbatim = event.text[start:end]
        if not event.objects and not _worth_reading(said):
            continue
        if words.REDACTED not in verbatim and not reported(said) and not _only_asks(said):
            said = _unquoted(said)
            yield Sentence(event, start, end, verbatim, said, slot_of(said))


def _worth_reading(said: str) -> bool:
    low = said.lower()
    if _holds(low, words.STEMS):
        return True
    return not low.isascii() and words.HAN_STEMS.search(low) is not None


def _holds(text: str, stems: tuple[str, ...]) -> bool:
    # A plain loop: this runs for each sentence there is, and a generator costs four times as much.
    for stem in stems:  # noqa: SIM110
        if stem in text:
            return True
    return False


def _only_asks(said: str) -> bool:
    if words.QUESTION.search(said) is None:
        return False
    wish = words.RULE.search(said) or words.REMIND.search(said)
    return not (wish and words.POLITE.search(said))


def reported(said: str) -> bool:
    """Whether somebody else's words are told: a page's, a message's, a third person's."""
    return words.REPORTED.search(said) is not None


def _unquoted(said: str) -> str:
    """Quoted words blanked out where they are a sentence of somebody else's."""
    return words.QUOTED.sub(
        lambda match: " " * len(match.group()) if _commands(match.group()) else match.group(), said
    )


def _commands(quoted: str) -> bool:
    return any(pattern.search(quoted) for pattern in (words.RULE, words.PREFERENCE, words.REMEMBER))


def may_promise(text: str) -> bool:
    """Whether a supervisor's text can hold a promise at all."""
    low = text.lower()
    return has_han(low) or _holds(low, words.PROMISE_STEMS)


def with_context(sentence: Sentence) -> str:
    """The sentence, with what stands before it when it says little by itself."""
    if len(content_words(sentence.plain)) >= FEW_WORDS:
        return sentence.verbatim
    text = sentence.event.text
    window = max(sentence.end - MAX_STATEMENT, 0)
    before = [start for start, _ in sentences(text[window : sentence.start])]
    wider = text[window + before[-1] : sentence.end] if before else sentence.verbatim
    return (
        wider if len(wider) <= MAX_STATEMENT and words.REDACTED not in wider else sentence.verbatim
    )
