"""What a user states in one event, as proposals; what a supervisor promises (mission C3)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.observers.offline.corrections import only_marks
from pipeline.observers.offline.masking import own_words
from pipeline.observers.offline.procedures import may_teach, procedure
from pipeline.observers.offline.promises import promises
from pipeline.observers.offline.proposals import (
    MAX_CONTENT,
    commitment,
    proposed,
    statement,
    way_of_doing,
)
from pipeline.observers.offline.readings import Reading, parts, readings
from pipeline.observers.offline.sentences import (
    MAX_STATEMENT,
    REDACTED,
    Sentence,
    all_ironic,
    meant,
    spoken,
)
from pipeline.rules.due import find_due
from pipeline.rules.wording import clip, content_words, simplified
from storage.records.events import Event
from storage.records.knowledge import Proposal, RecordKind

_CORRECTABLE = frozenset({RecordKind.RULE, RecordKind.FACT, RecordKind.PREFERENCE})
_LISTS = re.compile(r"提醒(?:一下)?我[^，,。]{0,6}[：:]|\bremind me(?: about)?:")


def user_statements(event: Event, *, answered: bool = False) -> list[Proposal]:
    """What one event of the user states explicitly, in the order of its sentences.

    `answered` tells that somebody spoke or did something before it in its package.
    """
    plain = simplified(event.text)
    stated: list[Proposal] = []
    # Few events say anything that is worth taking their quotations out for.
    if _promising(event, plain, answered=answered) and not all_ironic(plain):
        stated = _stated(event, own_words(plain, event.speaker), answered=answered)
    if event.kind == "user.correction":
        _make_correction(stated, event)
    return stated


def _promising(event: Event, plain: str, *, answered: bool) -> bool:
    return may_teach(plain) or any(
        (answered and only_marks(sentence)) or readings(sentence, answered=answered)
        for sentence in spoken(event, plain)
    )


def _stated(event: Event, text: str, *, answered: bool) -> list[Proposal]:
    stated: list[Proposal] = []
    taught = procedure(event, text)
    if taught is not None:
        stated.append(way_of_doing(event, text, taught))
    listed = False
    pending: Sentence | None = None
    for found in spoken(event, text):
        if taught is not None and taught.start <= found.start < taught.end:
            continue
        if answered and only_marks(found):
            pending = found
            continue
        sentence = found if pending is None else pending.to(found, text)
        pending = None
        for proposal in _read(sentence, answered=answered, listed=listed):
            _join_slot(stated, proposal)
        listed = listed or _LISTS.search(sentence.low) is not None
    return stated


def _read(sentence: Sentence, *, answered: bool, listed: bool) -> Iterator[Proposal]:
    found = readings(sentence, answered=answered)
    if not found and listed and find_due(sentence.low, sentence.event.at):
        found = [Reading(RecordKind.COMMITMENT, 0)]
    if found and meant(sentence):
        for reading, part in parts(sentence, found):
            yield proposed(reading, part.own())


def _join_slot(stated: list[Proposal], proposal: Proposal) -> None:
    """Two sentences of one breath about one slot are one statement, not rivals."""
    for at, before in enumerate(stated):
        same = (before.subject, before.key, before.scope) == (
            proposal.subject,
            proposal.key,
            proposal.scope,
        )
        content = f"{before.content} {proposal.evidence[0].quote}"
        if before.key is not None and same and len(content) <= MAX_CONTENT:
            corrects = RecordKind.CORRECTION in {before.kind, proposal.kind}
            stated[at] = replace(
                before,
                kind=RecordKind.CORRECTION if corrects else before.kind,
                fact_class=None if corrects else before.fact_class,
                profile_kind=None if corrects else before.profile_kind,
                content=content,
                evidence=before.evidence + proposal.evidence,
            )
            return
    stated.append(proposal)


def _make_correction(stated: list[Proposal], event: Event) -> None:
    """An event that was sent as a correction holds one, whatever words it uses."""
    if any(proposal.kind is RecordKind.CORRECTION for proposal in stated):
        return
    for at, proposal in enumerate(stated):
        if proposal.kind in _CORRECTABLE and not proposal.scope.once:
            stated[at] = replace(
                proposal, kind=RecordKind.CORRECTION, fact_class=None, profile_kind=None
            )
            return
    said = whole(event)
    if said is not None:
        stated.append(statement(said, RecordKind.CORRECTION))


def whole(event: Event) -> Sentence | None:
    """An event's text as one sentence, cut where it is long; None where it says nothing."""
    said = clip(event.text, MAX_STATEMENT)
    if not content_words(said) or REDACTED in said:
        return None
    start = event.text.index(said)
    return Sentence(event, start, start + len(said), simplified(said))


def supervisor_promises(event: Event, asked: Sequence[Proposal]) -> list[Proposal]:
    """What the supervisor has committed itself to in one event.

    `asked` is what the user has just asked to be thought of: to say yes to that is no promise of
    its own.
    """
    if event.kind == "supervisor.commitment":
        said = whole(event)
        return [] if said is None else [commitment(said)]
    plain = simplified(event.text)
    if not any(map(promises, spoken(event, plain))):
        return []
    promised = [
        commitment(sentence)
        for sentence in spoken(event, own_words(plain))
        if promises(sentence) and meant(sentence)
    ]
    days = {proposal.value for proposal in asked}
    return [
        one for one in promised if not asked or (one.value is not None and one.value not in days)
    ]
