"""Readings as proposals: content, evidence, slot, validity, due day."""

from dataclasses import replace

from pipeline.observers.offline.cues import quoted_names
from pipeline.observers.offline.procedures import Procedure
from pipeline.observers.offline.readings import Reading
from pipeline.observers.offline.sentences import FEW_WORDS, MAX_STATEMENT, REDACTED, Sentence
from pipeline.rules.due import beijing_day, find_due
from pipeline.rules.lexicon import slot_cues
from pipeline.rules.slot_values import possessor, slot_value
from pipeline.rules.validity import find_validity
from pipeline.rules.wording import clip, sentences, simplified
from storage.records.events import OWNER_OBJECT, Event, Role
from storage.records.knowledge import FactClass, Proposal, Quote, RecordKind, Scope

MAX_CONTENT = 600
"""Code points of a content (spec: protocol, Proposals)."""

_MAX_NAME = 60
_NAMELESS = frozenset({"user", "用户", "me", "我", "owner", "主人"})
_OF_PEOPLE = ("identity.", "food.", "work.")
_PERSONAL = (*_OF_PEOPLE, "communication.")
_TIMED = frozenset({RecordKind.RULE, RecordKind.FACT, RecordKind.PREFERENCE, RecordKind.CORRECTION})
_UNSLOTTED = frozenset({RecordKind.COMMITMENT, RecordKind.PROCEDURE, RecordKind.CUE})


def proposed(reading: Reading, sentence: Sentence) -> Proposal:
    """What a sentence was read as, as a proposal."""
    if reading.kind is RecordKind.COMMITMENT:
        return commitment(sentence)
    proposal = replace(
        statement(sentence, reading.kind),
        fact_class=reading.fact_class,
        profile_kind=reading.profile_kind,
    )
    if reading.kind in _TIMED:
        proposal = _bounded(proposal, reading, sentence)
    if reading.kind is RecordKind.CUE or reading.means:
        proposal = replace(proposal, cues=(*proposal.cues, *quoted_names(sentence)))
    return replace(proposal, subject=OWNER_OBJECT) if _of_owner(reading, sentence) else proposal


def _bounded(proposal: Proposal, reading: Reading, sentence: Sentence) -> Proposal:
    validity = find_validity(sentence.low, sentence.event.at)
    proposal = replace(proposal, valid_from=validity.since, valid_to=validity.until)
    if reading.once or (reading.kind is RecordKind.RULE and validity.one_day):
        return replace(proposal, scope=Scope(task=sentence.event.task_id, once=True))
    return proposal


def _of_owner(reading: Reading, sentence: Sentence) -> bool:
    if reading.fact_class is FactClass.PROFILE:
        return True
    personal = (sentence.slot or "").startswith(_PERSONAL)
    return personal and reading.kind in {RecordKind.CORRECTION, RecordKind.PREFERENCE}


def commitment(sentence: Sentence) -> Proposal:
    """A promise, with its day where one is told: then it is looked at again, not over."""
    said_due = (sentence.event.data or {}).get("due_at")
    due = find_due(sentence.low, sentence.event.at)
    at_ms = due.at_ms if due else None
    if isinstance(said_due, int) and sentence.event.kind == "supervisor.commitment":
        at_ms = said_due
    day = beijing_day(at_ms).isoformat() if at_ms is not None else None
    return replace(statement(sentence, RecordKind.COMMITMENT), value=day, review_at=at_ms)


def way_of_doing(event: Event, text: str, taught: Procedure) -> Proposal:
    """What a user teaches, as a proposal; `text` is the event's, masked."""
    told = Sentence(event, taught.start, taught.end, text[taught.start : taught.end])
    return replace(
        statement(told, RecordKind.PROCEDURE),
        conditions=taught.conditions,
        steps=taught.steps,
        failure=taught.failure,
        verify=taught.verify,
    )


def surrounding(sentence: Sentence) -> Proposal:
    """An environment fact."""
    fact = statement(sentence, RecordKind.FACT)
    return replace(fact, fact_class=FactClass.ENVIRONMENT)


def statement(sentence: Sentence, kind: RecordKind) -> Proposal:
    """A sentence in its own words, with its slot."""
    event = sentence.event
    said = _with_context(sentence)
    slot = None if kind in _UNSLOTTED else sentence.slot
    speaker = _speaker(event)
    return Proposal(
        kind=kind,
        content=clip(f"{speaker}: {said}" if speaker else said, MAX_CONTENT),
        evidence=(Quote(event.id, said),),
        subject=event.subject_id,
        key=_key(slot, sentence, kind),
        value=slot_value(slot, simplified(said)),
        cues=slot_cues(slot),
    )


def _speaker(event: Event) -> str | None:
    """Who of several users speaks."""
    speaker = event.speaker if event.role is Role.USER else None
    return speaker if speaker and speaker.casefold() not in _NAMELESS else None


def _key(slot: str | None, sentence: Sentence, kind: RecordKind) -> str | None:
    """The slot, kept apart by whose it is: another speaker's, another person's thing.

    What is to be done about somebody's diet does not fill the slot of that diet.
    """
    if slot is None:
        return None
    event = sentence.event
    whose = possessor(sentence.plain) if kind is RecordKind.FACT and not event.objects else None
    done = "rule" if kind is RecordKind.RULE and slot.startswith(_OF_PEOPLE) else None
    names = [clip(name, _MAX_NAME) for name in (_speaker(event), whose, done) if name]
    return "@".join([slot, *names])


def _with_context(sentence: Sentence) -> str:
    """The sentence, with what stands before it when it says little by itself."""
    if sentence.words >= FEW_WORDS:
        return sentence.verbatim
    text = sentence.event.text
    window = max(sentence.end - MAX_STATEMENT, 0)
    before = [start for start, _ in sentences(text[window : sentence.start])]
    wider = text[window + before[-1] : sentence.end] if before else sentence.verbatim
    return wider if len(wider) <= MAX_STATEMENT and REDACTED not in wider else sentence.verbatim
