"""What a person says of rules, likes, themselves and their things; what a supervisor promises."""

from collections.abc import Iterator
from dataclasses import replace

from pipeline.observers import offline_lexicon as words
from pipeline.observers.offline_sentences import (
    FEW_WORDS,
    Sentence,
    may_promise,
    reported,
    spoken,
    whole,
    with_context,
)
from pipeline.rules.due import beijing_day, find_due
from pipeline.rules.lexicon import (
    says_always,
    says_correction,
    says_once,
    slot_cues,
    slot_of,
)
from pipeline.rules.wording import clip, content_words, sentences, simplified
from storage.records.events import OWNER_OBJECT, Event, Role
from storage.records.knowledge import (
    FactClass,
    ProfileKind,
    Proposal,
    Quote,
    RecordKind,
    Scope,
)

_MAX_STEPS = 20
_MAX_CONTENT = 600
_NAMELESS = frozenset({"user", "用户", "me", "我", "owner", "主人"})
_PERSONAL = {"identity": ProfileKind.IDENTITY, "food": ProfileKind.IDENTITY}
_CORRECTABLE = frozenset({RecordKind.RULE, RecordKind.FACT, RecordKind.PREFERENCE})
_SURROUNDINGS = (".version", ".location", ".address", ".branch")


def user_statements(event: Event) -> Iterator[Proposal]:
    """What one event of the user states explicitly, in the order of its sentences."""
    steps = _procedure(event)
    if steps is not None:
        return iter([steps])
    stated: list[Proposal] = []
    for proposal in filter(None, map(_user_statement, spoken(event))):
        _join_slot(stated, proposal)
    if event.kind == "user.correction":
        _make_correction(stated, event)
    return iter(stated)


def _join_slot(stated: list[Proposal], proposal: Proposal) -> None:
    """Two sentences of one breath about one slot are one statement, not rivals."""
    for at, before in enumerate(stated):
        same = (before.subject, before.key, before.scope) == (
            proposal.subject,
            proposal.key,
            proposal.scope,
        )
        content = f"{before.content} {proposal.evidence[0].quote}"
        if before.key is not None and same and len(content) <= _MAX_CONTENT:
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
        stated.append(_proposal(said, RecordKind.CORRECTION))


def supervisor_promises(event: Event) -> Iterator[Proposal]:
    """What the supervisor has committed itself to in one event."""
    if event.kind == "supervisor.commitment":
        said = whole(event)
        yield from () if said is None else (_commitment(said),)
        return
    if not may_promise(event.text):
        return
    for sentence in spoken(event):
        promised = words.PROMISE.search(sentence.plain) and find_due(sentence.plain, event.at)
        if promised or words.VOW.search(sentence.plain):
            yield _commitment(sentence)


def surroundings(event: Event) -> Iterator[Proposal]:
    """Environment facts that an observation states of an object: candidates, nothing more."""
    for sentence in spoken(event):
        slot = sentence.slot
        if slot and slot.endswith(_SURROUNDINGS) and words.ASSERTS.search(sentence.plain):
            fact = _proposal(sentence, RecordKind.FACT)
            yield replace(fact, fact_class=FactClass.ENVIRONMENT)


def _user_statement(sentence: Sentence) -> Proposal | None:
    for read in (_correction, _exception, _reminder, _rule, _profile, _preference, _fact):
        proposal = read(sentence)
        if proposal is not None:
            return proposal
    return None


def _correction(sentence: Sentence) -> Proposal | None:
    rethought = words.RETHINKS.search(sentence.plain)
    if rethought is None or slot_of(rethought.group()) is None:
        if not says_correction(sentence.plain):
            return None
        if not _placed(sentence) or len(content_words(sentence.plain)) < FEW_WORDS:
            return None
    personal = (sentence.slot or "").partition(".")[0] in _PERSONAL
    correction = _proposal(sentence, RecordKind.CORRECTION)
    return replace(correction, subject=OWNER_OBJECT) if personal else correction


def _placed(sentence: Sentence) -> bool:
    """Whether it is plain what a sentence is about: talk by itself sets nothing right."""
    event = sentence.event
    told = bool(event.objects) or event.task_id is not None or event.kind == "user.correction"
    return told or sentence.slot is not None


def _exception(sentence: Sentence) -> Proposal | None:
    event = sentence.event
    if not _placed(sentence) or not says_once(sentence.plain) or says_always(sentence.plain):
        return None
    if words.DIRECTS_ONCE.search(sentence.plain) is None:
        return None
    rule = _proposal(sentence, RecordKind.RULE)
    return replace(rule, scope=Scope(task=event.task_id, once=True))


def _reminder(sentence: Sentence) -> Proposal | None:
    plain = sentence.plain
    if words.REMIND.search(plain) and not words.RULE.search(plain):
        return _commitment(sentence)
    if words.SHOULD.search(plain) or words.PROMISE.search(plain):
        due = find_due(plain, sentence.event.at)
        return _commitment(sentence) if due else None
    return None


def _rule(sentence: Sentence) -> Proposal | None:
    plain = sentence.plain
    of_thing = sentence.event.objects and words.RULE_OF_THING.search(plain)
    if not of_thing and words.RULE.search(plain) is None:
        return None
    name = sentence.slot == "identity.name"
    return None if name else _proposal(sentence, RecordKind.RULE)


def _profile(sentence: Sentence) -> Proposal | None:
    kind = _PERSONAL.get((sentence.slot or "").partition(".")[0])
    own = any(
        mark in sentence.plain.lower().replace("’", "'")
        for mark in ("我", "i ", "i'm", "my ", "me ")
    )
    if kind is None or not own or words.SUPPOSED.search(sentence.plain):
        return None
    fact = _proposal(sentence, RecordKind.FACT)
    return replace(fact, subject=OWNER_OBJECT, fact_class=FactClass.PROFILE, profile_kind=kind)


def _preference(sentence: Sentence) -> Proposal | None:
    if words.PREFERENCE.search(sentence.plain) is None or words.SUPPOSED.search(sentence.plain):
        return None
    preference = _proposal(sentence, RecordKind.PREFERENCE)
    general = (sentence.slot or "").startswith("communication.")
    return replace(preference, subject=OWNER_OBJECT) if general else preference


def _fact(sentence: Sentence) -> Proposal | None:
    asked = words.REMEMBER.search(sentence.plain)
    if not asked and not _stated(sentence):
        return None
    if len(content_words(sentence.plain)) < FEW_WORDS:
        return None
    return replace(_proposal(sentence, RecordKind.FACT), fact_class=FactClass.PROJECT)


def _stated(sentence: Sentence) -> bool:
    """Whether a plain sentence fills a slot of the object it was said about."""
    if not sentence.event.objects or words.SUPPOSED.search(sentence.plain):
        return False
    filled = sentence.slot is not None and words.ASSERTS.search(sentence.plain)
    return bool(filled or words.NOTE_OF_THING.search(sentence.plain))


def _proposal(sentence: Sentence, kind: RecordKind) -> Proposal:
    event = sentence.event
    said = with_context(sentence)
    slot = sentence.slot if kind is not RecordKind.COMMITMENT else None
    speaker = event.speaker if event.speaker and event.speaker.casefold() not in _NAMELESS else None
    named = speaker is not None and event.role is Role.USER
    return Proposal(
        kind=kind,
        content=clip(f"{speaker}: {said}" if named else said, _MAX_CONTENT),
        evidence=(Quote(event.id, said),),
        subject=event.subject_id,
        key=f"{slot}@{clip(speaker, 100)}" if named and slot and speaker else slot,
        cues=slot_cues(slot),
    )


def _commitment(sentence: Sentence) -> Proposal:
    """A promise, with its day where one is told: then it is looked at again, not over."""
    said_due = (sentence.event.data or {}).get("due_at")
    due = find_due(sentence.plain, sentence.event.at)
    at_ms = due.at_ms if due else None
    if isinstance(said_due, int) and sentence.event.kind == "supervisor.commitment":
        at_ms = said_due
    day = beijing_day(at_ms).isoformat() if at_ms is not None else None
    return replace(_proposal(sentence, RecordKind.COMMITMENT), value=day, review_at=at_ms)


def _procedure(event: Event) -> Proposal | None:
    """A way of doing that the user sets out: a candidate, never a skill by itself (mission D6)."""
    plain = simplified(event.text)
    head = words.STEPS.search(plain)
    if head is None or len(plain) > _MAX_CONTENT or words.REDACTED in plain or reported(plain):
        return None
    steps, failure = _steps(event.text, head.end())
    if len(steps) <= 1:
        return None
    said = event.text.strip()
    start = event.text.index(said)
    told = Sentence(event, start, start + len(said), said, simplified(said), None)
    return replace(
        _proposal(told, RecordKind.PROCEDURE),
        key=None,
        steps=steps,
        failure=failure,
        verify=tuple(step for step in steps if words.CHECK.search(simplified(step))),
    )


def _steps(text: str, start: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The steps that a text lists from `start` on, and what it says of their going wrong."""
    spoken = [text[start:][here:there] for here, there in sentences(text[start:])]
    failure = [said for said in spoken if words.CONDITION.search(simplified(said))]
    listed = "\n".join(said for said in spoken if said not in failure)
    steps = [part.strip(" ，,。.;；").removeprefix("先") for part in words.STEP_BREAK.split(listed)]
    return tuple(filter(None, steps))[:_MAX_STEPS], tuple(failure[:_MAX_STEPS])
