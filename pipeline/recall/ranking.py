"""Ranking: several channels' documents into one order of what may be told, with the reasons."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pipeline.recall.assembling import collapse, evidence_of, is_unproven, proven
from pipeline.recall.candidates import Channel, Weights
from pipeline.recall.fusion import fuse
from pipeline.recall.resolving import Resolved, resolve
from pipeline.recall.source import RecallSource
from storage.records.events import Event
from storage.records.knowledge import Record
from storage.records.recall import Hit, Reason, RecallQuery


@dataclass(frozen=True, slots=True)
class Ranked:
    """Documents that may be told, best first, with the channels that found each."""

    resolved: Resolved
    scores: Sequence[tuple[str, float]]
    rankings: Mapping[Reason, Sequence[str]]

    def reasons(self, name: str) -> frozenset[Reason]:
        """Why a document was found."""
        return frozenset(reason for reason, names in self.rankings.items() if name in names)


def rank(
    source: RecallSource,
    query: RecallQuery,
    channels: Mapping[Reason, Channel],
    weights: Weights,
    now_ms: int,
) -> Ranked:
    """Read what the channels found, leave out what may not be told, and fuse the rest.

    The object channel holds what was found and concerns the question's objects or task, then what
    else is known of these objects.
    """
    about = source.about(query.owner, query.objects, query.items) if query.objects else ()
    named = [f"r:{record.id}" for record in about]
    found = list(dict.fromkeys(chain(*(channel.documents for channel in channels.values()))))
    resolved = resolve(
        source, query.owner, found, named=named, now_ms=now_ms, past=query.include_past
    )
    rankings = {
        reason: collapse(channel.documents, resolved.homes) for reason, channel in channels.items()
    }
    met = list(dict.fromkeys(chain(*rankings.values())))
    concerned = [name for name in met if _concerns(_behind(resolved, name), query)]
    rankings[Reason.OBJECT] = concerned + collapse(named, resolved.homes)
    return Ranked(resolved, fuse(_weighted(rankings, weights)), rankings)


def to_hits(
    source: RecallSource, owner: str, ranked: Ranked, *, limit: int, binding: Collection[str]
) -> tuple[list[Hit], list[Record]]:
    """The best documents as hits, records with the evidence that they rest on.

    Args:
        source: The store.
        owner: Whose memory.
        ranked: What was found.
        limit: Hits at most.
        binding: Ids of records that bind: such a hit tells that, too.

    Returns:
        The hits, and the records that are none since no event gives their words any more.
    """
    best = ranked.scores[:limit]
    records = [_record(ranked.resolved, name) for name, _ in best]
    events = evidence_events(source, owner, [r for r in records if r], ranked.resolved.events)
    matched = ranked.resolved.events.keys()
    hits: list[Hit] = []
    unproven: list[Record] = []
    for (name, score), record in zip(best, records, strict=True):
        reasons = ranked.reasons(name)
        if record is None:
            event = ranked.resolved.events[int(name[2:])]
            hits.append(Hit(score, in_order(reasons), event=event))
            continue
        if record.id in binding:
            reasons |= {Reason.BINDING}
        held = proven(record, events)
        if is_unproven(record, held):
            unproven.append(record)
            continue
        evidence = evidence_of(held, events, matched)
        hits.append(Hit(score, in_order(reasons), record=held, evidence=evidence))
    return hits, unproven


def evidence_events(
    source: RecallSource,
    owner: str,
    records: Sequence[Record],
    known: Mapping[int, Event] | None = None,
) -> dict[int, Event]:
    """The owner's events that these records quote, by sequence, reading only those not known."""
    seqs = {span.seq for record in records for span in record.evidence}
    events = {seq: event for seq, event in (known or {}).items() if seq in seqs}
    if missing := seqs - events.keys():
        read = source.events(owner, missing)
        events |= {event.seq: event for event in read if event.owner == owner}
    return events


def in_order(reasons: Collection[Reason]) -> tuple[Reason, ...]:
    """Reasons in the protocol's order.

    >>> [str(reason) for reason in in_order({Reason.RECENT, Reason.ID})]
    ['id', 'recent']
    """
    return tuple(reason for reason in Reason if reason in reasons)


def _weighted(
    rankings: Mapping[Reason, Sequence[str]], weights: Weights
) -> list[tuple[Sequence[str], float]]:
    shares = {
        Reason.ID: weights.by_id,
        Reason.CUE: weights.by_cue,
        Reason.OBJECT: weights.by_object,
    }
    return [(names, shares.get(reason, 1.0)) for reason, names in rankings.items()]


def _record(resolved: Resolved, name: str) -> Record | None:
    return resolved.records[name[2:]] if name.startswith("r:") else None


def _behind(resolved: Resolved, name: str) -> Record | Event:
    return _record(resolved, name) or resolved.events[int(name[2:])]


def _concerns(found: Record | Event, query: RecallQuery) -> bool:
    if isinstance(found, Record):
        objects: set[str] = {found.subject_id, *found.scope.objects}
        task = found.scope.task
    else:
        objects = {ref.id for ref in found.objects}
        task = found.task_id
    return not objects.isdisjoint(query.objects) or (task is not None and task == query.task)
