"""What a sentence states, of whatever kind; where it states several things, how it is cut.

Each kind has its own tables; here they are weighed against each other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipeline.observers.offline.corrections import correction, marked
from pipeline.observers.offline.cues import asked_cue
from pipeline.observers.offline.duties import duty
from pipeline.observers.offline.likings import liking
from pipeline.observers.offline.manners import manner
from pipeline.observers.offline.notes import meaning, noted
from pipeline.observers.offline.profile import profile
from pipeline.observers.offline.reminders import reminder
from pipeline.observers.offline.rules import bounded_rule, exception, rule
from pipeline.observers.offline.sentences import Sentence
from pipeline.observers.offline.things import thing
from pipeline.rules.lexicon import says_always
from storage.records.knowledge import FactClass, ProfileKind, RecordKind

_SPLIT = re.compile(r"[，,；;：:]|\s(?=(?:and|but|so)\b)")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a stretch of a sentence was read as; `at` is where it was told by."""

    kind: RecordKind
    at: int
    once: bool = False
    means: bool = False
    fact_class: FactClass | None = None
    profile_kind: ProfileKind | None = None

    @property
    def group(self) -> str:
        """Readings of one group in one sentence are one statement."""
        if self.kind is RecordKind.PREFERENCE or (self.kind is RecordKind.RULE and not self.once):
            return "wish"
        return f"{self.kind}{self.once}{self.fact_class}"


_NAMED = Reading(
    RecordKind.FACT, 0, fact_class=FactClass.PROFILE, profile_kind=ProfileKind.IDENTITY
)


def readings(sentence: Sentence, *, answered: bool) -> list[Reading]:
    """What a sentence holds, the kind that outweighs the others first.

    `answered` tells that somebody spoke or did something before it in its package.
    """
    cue = asked_cue(sentence)
    if cue is not None:
        return [Reading(RecordKind.CUE, cue)]
    told = meaning(sentence)
    if told is not None:
        return [Reading(RecordKind.FACT, told, fact_class=FactClass.PROJECT, means=True)]
    promised = reminder(sentence)
    kept = [] if promised is None else [Reading(RecordKind.COMMITMENT, promised)]
    if _names(sentence):
        return [_NAMED, *kept]
    right = correction(sentence, answered=answered)
    if right is not None:
        return [Reading(RecordKind.CORRECTION, right), *kept]
    excepted = exception(sentence)
    if excepted is not None:
        return [*_excepted(sentence, excepted), *kept]
    found = [*kept, *_wishes(sentence, kept)]
    return [*found, *_facts(sentence, found)]


def _names(sentence: Sentence) -> bool:
    """Whether it tells how the speaker is called, and not what to call them for."""
    named = manner(sentence) is not None and sentence.slot == "identity.name"
    return named and not sentence.timed and not marked(sentence)


def _excepted(sentence: Sentence, at: int) -> list[Reading]:
    """An exception, and the rule beside it where the sentence names one."""
    once = Reading(RecordKind.RULE, at, once=True)
    always = rule(sentence) if says_always(sentence.low) else None
    if always is None or not _apart(sentence, always, at):
        return [once]
    return [once, Reading(RecordKind.RULE, always)]


def _wishes(sentence: Sentence, kept: Sequence[Reading]) -> list[Reading]:
    """Rules and likings; or a duty, where what must be is to be by a day."""
    laid_down = rule(sentence)
    if laid_down is None or not says_always(sentence.low):
        due = None if kept else duty(sentence)
        if due is not None:
            return [Reading(RecordKind.COMMITMENT, due)]
        laid_down = None if kept else laid_down
    if laid_down is None and not kept and thing(sentence) is None:
        laid_down = bounded_rule(sentence)
    wishes = [] if laid_down is None else [Reading(RecordKind.RULE, laid_down)]
    liked = (at for at in (manner(sentence), liking(sentence)) if at is not None)
    return [*wishes, *(Reading(RecordKind.PREFERENCE, at) for at in liked)]


def _facts(sentence: Sentence, wishes: Sequence[Reading]) -> list[Reading]:
    own = profile(sentence)
    if own is not None:
        at, kind = own
        if at is None and wishes:
            return []
        at = at or 0
        return [Reading(RecordKind.FACT, at, fact_class=FactClass.PROFILE, profile_kind=kind)]
    if any(reading.kind is RecordKind.COMMITMENT for reading in wishes):
        return []
    at = thing(sentence)
    if at is None and not wishes:
        at = noted(sentence)
    if at is None or any(wish.at <= at or not _apart(sentence, wish.at, at) for wish in wishes):
        return []
    return [Reading(RecordKind.FACT, at, fact_class=FactClass.PROJECT)]


def _apart(sentence: Sentence, one: int, other: int) -> bool:
    return _cut(sentence.low, one, other) is not None


def _cut(low: str, one: int, other: int) -> int | None:
    """Where a sentence may be cut between two places: the last mark between them."""
    # A wording may begin with the very mark that parts it from what stands before.
    marks = list(_SPLIT.finditer(low, min(one, other), max(one, other) + 2))
    return marks[-1].end() if marks else None


def parts(sentence: Sentence, readings: Sequence[Reading]) -> list[tuple[Reading, Sentence]]:
    """Each reading with the stretch of the sentence that it is told by."""
    kept: list[Reading] = []
    for reading in readings:
        if any(before.group == reading.group for before in kept):
            continue
        if all(_apart(sentence, before.at, reading.at) for before in kept):
            kept.append(reading)
    if len(kept) <= 1:
        return [(reading, sentence) for reading in kept]
    kept.sort(key=lambda reading: reading.at)
    cuts = [0]
    for before, reading in pairwise(kept):
        cuts.append(_cut(sentence.low, before.at, reading.at) or reading.at)
    cuts.append(len(sentence.low))
    return [
        (reading, sentence.part(cuts[number], cuts[number + 1]))
        for number, reading in enumerate(kept)
    ]
