"""What a forgetting takes along, and what stays on other sources.

Pure (mission D8; spec: protocol, Forgetting). A record goes when it is selected, when its words
come from what goes, or when it rolls up what goes. A statement that somebody else has made, too,
stays on that source alone, in the words of that source: not a word of it may come from what is
gone, since nobody could take it out again. Where that can't be shown, it goes.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from pipeline.rules import negation
from pipeline.rules.sources import borne_out_twice
from pipeline.rules.trusting import authority_of, distrust
from pipeline.rules.wording import content_words, normalised
from storage.records.events import Event, Role
from storage.records.knowledge import FactClass, Proposal, Record, RecordKind, RecordStatus

FILLER: Final = "•"
"""Stands for each forgotten code point, so that other spans of the text stay where they are.

Punctuation: it makes no word of the index, nothing that could be quoted, and no gap that would
join the words beside it."""

COMPOSED: Final = frozenset({RecordKind.EPISODE, RecordKind.PROCEDURE, RecordKind.CUE})
"""Kinds whose words come from all of their sources at once: they go with any one of them."""

Place = tuple[int, int]
"""Code points of a text, the end exclusive."""


class Why(StrEnum):
    """Why a record goes."""

    SELECTED = "selected"
    SOURCE = "source"
    ROLL_UP = "roll_up"


# ---- places in texts ---------------------------------------------------------


def covered(text: str, places: Iterable[Place]) -> str:
    """The text with these places overwritten.

    >>> covered("以后用新模板", [(3, 6)])
    '以后用•••'
    """
    made = list(text)
    for start, end in places:
        made[start:end] = FILLER * len(made[start:end])
    return "".join(made)


def uncovered(places: Iterable[Place], kept: Iterable[Place]) -> tuple[Place, ...]:
    """The places without the code points that have to stay, joined where they touch.

    >>> uncovered([(0, 10), (8, 12)], [(3, 5), (11, 20)])
    ((0, 3), (5, 11))
    """
    points = {at for start, end in places for at in range(start, end)}
    points -= {at for start, end in kept for at in range(start, end)}
    return tuple(_runs(sorted(points)))


def _runs(points: Sequence[int]) -> Iterator[Place]:
    start = before = -1
    for at in points:
        if at != before + 1 or start < 0:
            if start >= 0:
                yield start, before + 1
            start = at
        before = at
    if start >= 0:
        yield start, before + 1


def overlap(one: Place, others: Iterable[Place]) -> bool:
    """Whether a place shares a code point with any of the others.

    >>> overlap((0, 3), [(3, 5)]), overlap((0, 4), [(3, 5)])
    (False, True)
    """
    return any(one[0] < end and start < one[1] for start, end in others)


# ---- records -----------------------------------------------------------------


def texts_of(said: Record | Proposal) -> tuple[str, ...]:
    """Everything that a record or a proposal says, its quotes apart."""
    single = (said.content, said.value, said.key)
    lists = (said.conditions, said.steps, said.failure, said.verify, said.cues)
    return (*(text for text in single if text), *(text for texts in lists for text in texts))


def statements_of(said: Record | Proposal) -> frozenset[tuple[str, ...]]:
    """What a record or a proposal shares with all that say the same.

    One in the same words shares the first, one with the same value in the same slot the second.
    """
    words = ("words", normalised(said.content))
    if said.key is None or said.value is None:
        return frozenset({words})
    return frozenset({words, ("value", said.kind, said.key, said.value)})


def same_words(one: Record | Proposal, other: Record | Proposal) -> bool:
    """Whether two say the same, in the same words or with the same value in the same slot."""
    return not statements_of(one).isdisjoint(statements_of(other))


def borrows(said: Record | Proposal, gone: frozenset[str], own: Iterable[str]) -> bool:
    """Whether a worker has said something in words of what goes that its own quotes don't hold.

    Args:
        said: What it made of a package; a slot's name is a code and tells nothing.
        gone: Content words of what goes from the package.
        own: The quotes that stay.
    """
    told = content_words("\n".join(texts_of(replace(said, key=None))))
    return not (told & gone) <= content_words("\n".join(own))


def on_other_sources(
    record: Record, standing: Mapping[str, Event], told: Sequence[Record]
) -> Record | None:
    """The record on what is left of its sources; None where it has to go.

    Args:
        record: It quotes something that goes.
        standing: By id, those of the events it quotes that stay.
        told: What was proposed from events that stay, accepted.
    """
    left = tuple(span for span in record.evidence if span.event_id in standing)
    if record.kind in COMPOSED or not left:
        return None
    sources = [standing[event_id] for event_id in dict.fromkeys(span.event_id for span in left)]
    worded = _reworded(record, standing, told) or _covered_by(
        record, "\n".join(span.quote for span in left)
    )
    roles = frozenset(event.role for event in sources)
    if worded is None or distrust(_claim(worded), roles) is not None:
        return None
    ids = {event.id for event in sources}
    made = replace(
        worded,
        evidence=left,
        origins=tuple(origin for origin in record.origins if origin.event_id in ids),
        observed_at=max(event.at for event in sources),
        authority=authority_of(record.kind, roles),
    )
    return replace(made, status=_status(made, roles))


def _reworded(
    record: Record, standing: Mapping[str, Event], told: Sequence[Record]
) -> Record | None:
    """The record in the words of the newest of the standing sources that said it on its own."""
    own = [
        said
        for said in told
        if (said.kind, said.subject_id, said.scope)
        == (record.kind, record.subject_id, record.scope)
        and same_words(said, record)
        and not negation.differ(said.content, record.content)
        and all(span.event_id in standing for span in said.evidence)
    ]
    if not own:
        return None
    newest = max(own, key=lambda said: (said.observed_at, said.id))
    return replace(
        record,
        content=newest.content,
        value=newest.value,
        key=newest.key,
        conditions=newest.conditions,
        failure=newest.failure,
        verify=newest.verify,
        steps=newest.steps,
        cues=newest.cues,
        valid_from=newest.valid_from,
        valid_to=newest.valid_to,
        review_at=newest.review_at,
    )


def _covered_by(record: Record, quoted: str) -> Record | None:
    """The record as it is, if what stays says each word of it; cues that say more are left out."""
    told = content_words(quoted)
    cues = tuple(cue for cue in record.cues if _is_told(cue, told, quoted))
    slotless = replace(record, key=None, cues=())
    if all(_is_told(text, told, quoted) for text in texts_of(slotless)):
        return replace(record, cues=cues)
    return None


def _is_told(text: str, told: frozenset[str], quoted: str) -> bool:
    words = content_words(text)
    return words <= told if words else text in quoted


def _claim(record: Record) -> Proposal:
    return Proposal(record.kind, record.content, (), fact_class=record.fact_class)


def _status(record: Record, roles: Container[Role]) -> RecordStatus:
    """What surrounds us holds once two days have borne it out, or the user has (mission F3)."""
    seen = record.fact_class is FactClass.ENVIRONMENT and Role.USER not in roles
    if seen and record.status is RecordStatus.ACTIVE and not borne_out_twice(record):
        return RecordStatus.CANDIDATE
    return record.status


def released(record: Record, gone: Collection[str]) -> Record:
    """The record without a mention of records that go; the same where it makes none.

    What a gone record had superseded stays superseded: forgetting brings nothing back.
    """
    return replace(
        record,
        supersedes=_without(record.supersedes, gone),
        conflicts_with=_without(record.conflicts_with, gone),
        links=_without(record.links, gone),
    )


def names(version: Record, gone: Collection[str]) -> bool:
    """Whether a version of a record mentions any of these records."""
    named = (*version.supersedes, *version.conflicts_with, *version.links)
    return any(name in gone for name in named)


def quotes(
    version: Record, gone: Container[int], overwritten: Mapping[int, Sequence[Place]]
) -> bool:
    """Whether a version of a record quotes an event that goes, or words that are overwritten."""
    return any(
        span.seq in gone or overlap((span.start, span.end), overwritten.get(span.seq, ()))
        for span in version.evidence
    )


def _without(ids: tuple[str, ...], gone: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in ids if name not in gone)
