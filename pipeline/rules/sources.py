"""Who bears a record out: evidence counted by where it comes from, not by how often it is told.

Pure. One event told twice is one source, and so are the events that one request or one cause led
to. The assistant's restatement, a page's, and text written with the record in view bear nothing
out on their own (mission A4, C5, F3; spec: protocol, Events).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pipeline.rules.workdays import workday
from storage.records.events import Event, Role
from storage.records.knowledge import Authority, Origin, Record, Span

MAX_EVIDENCE: Final = 32
"""Spans that a record keeps. Each version holds them all, so that without a bound a statement
repeated for years would cost the square of its repeats."""

MAX_CHAIN: Final = 64
"""Events that are looked at on the way to what first led to an event."""

_MUTE: Final = frozenset({Role.SUPERVISOR, Role.EXTERNAL})
"""A restatement proves nothing, and a page is no witness."""

_LEAST_DAYS: Final = 2


def origin_of(
    event: Event, known: Mapping[str, Event], linked: Mapping[str, Sequence[str]]
) -> Origin:
    """Where an event comes from.

    Args:
        event: The event.
        known: Events by id, among them those that causes lead to as far as they are known.
        linked: What a record tells of others, by its id: who has seen it has seen those.
    """
    recalled = dict.fromkeys(event.recalled)
    for record_id in event.recalled:
        recalled |= dict.fromkeys(linked.get(record_id, ()))
    return Origin(event.id, event.at, event.role, _chain(event, known), tuple(recalled))


def _chain(event: Event, known: Mapping[str, Event]) -> tuple[str, ...]:
    """The requests that an event belongs to, and the events that nothing known has led to."""
    found: dict[str, None] = {}
    seen = {event.id}
    ahead = [event]
    while ahead:
        here = ahead.pop(0)
        if here.request_id is not None:
            found[f"q:{here.request_id}"] = None
        if not here.causes:
            found[f"e:{here.id}"] = None
        for cause in here.causes:
            before = known.get(cause)
            if before is None or len(seen) >= MAX_CHAIN:
                found[f"e:{cause}"] = None
            elif cause not in seen:
                seen.add(cause)
                ahead.append(before)
    return () if found.keys() == {f"e:{event.id}"} else tuple(sorted(found))


def origins_of(record: Record) -> tuple[Origin, ...]:
    """One origin for each event that a record quotes, the earliest first."""
    told = {origin.event_id: origin for origin in record.origins}
    for span in record.evidence:
        if span.event_id not in told:
            told[span.event_id] = Origin(span.event_id, record.observed_at, _role(record))
    return tuple(sorted(told.values(), key=_moment))


def _moment(origin: Origin) -> tuple[int, str]:
    return origin.at, origin.event_id


def _role(record: Record) -> Role:
    return {Authority.EXTERNAL: Role.EXTERNAL, Authority.INFERENCE: Role.SUPERVISOR}.get(
        record.authority, Role.OBSERVATION
    )


def independent(new: Record, standing: Record) -> tuple[Origin, ...]:
    """The origins of `new` that bear `standing` out on their own: what it did not rest on before."""
    before = origins_of(standing)
    told = {origin.event_id for origin in before}
    taken = set().union(*map(_tokens, before))
    return tuple(
        origin
        for origin in origins_of(new)
        if origin.role not in _MUTE
        and origin.event_id not in told
        and standing.id not in origin.recalled
        and taken.isdisjoint(_tokens(origin))
    )


def witnesses(record: Record) -> list[list[Origin]]:
    """The sources that a record rests on, each with all the events that came of it, in time."""
    groups: list[tuple[set[str], list[Origin]]] = []
    for origin in origins_of(record):
        if origin.role in _MUTE or record.id in origin.recalled:
            continue
        tokens, members = set(_tokens(origin)), [origin]
        apart = []
        for group in groups:
            if group[0].isdisjoint(tokens):
                apart.append(group)
            else:
                tokens |= group[0]
                members = group[1] + members
        groups = [*apart, (tokens, members)]
    return [sorted(members, key=_moment) for _, members in groups]


def borne_out_twice(record: Record) -> bool:
    """Whether two sources of different workdays tell it (mission F3).

    A source counts on the day it began: what a request finds after half past three is no second
    day's word.
    """
    days = {workday(group[0].at) for group in witnesses(record)}
    return len(days) >= _LEAST_DAYS


def _tokens(origin: Origin) -> Collection[str]:
    return (f"e:{origin.event_id}", *origin.chain)


# ---- keeping ----------------------------------------------------------------


def joined(standing: Record, new: Record) -> Record:
    """The standing record with the other's evidence too, in sequence and within its bound."""
    told = {origin.event_id: origin for origin in (*origins_of(new), *origins_of(standing))}
    spans = ordered(dict.fromkeys((*standing.evidence, *new.evidence)))
    made = replace(standing, evidence=spans, origins=tuple(told.values()))
    kept = _bounded(made)
    ids = dict.fromkeys(span.event_id for span in kept)
    return replace(made, evidence=kept, origins=tuple(told[event_id] for event_id in ids))


def ordered(evidence: Iterable[Span]) -> tuple[Span, ...]:
    """Spans as they stand in the store: in sequence, then by place."""
    return tuple(sorted(evidence, key=lambda span: (span.seq, span.start, span.end)))


def _bounded(record: Record) -> tuple[Span, ...]:
    """What was said a thousand times rests on the first time and the newest ones.

    What bears nothing out on its own goes first.
    """
    spans = record.evidence
    over = len(spans) - MAX_EVIDENCE
    if over <= 0:
        return spans
    firsts = {group[0].event_id for group in witnesses(record)}
    echoes = [at for at, span in enumerate(spans) if span.event_id not in firsts]
    own = [at for at, span in enumerate(spans) if span.event_id in firsts]
    dropped = frozenset((*echoes, *own[1:])[:over])
    return tuple(span for at, span in enumerate(spans) if at not in dropped)
