"""Recall: a question in, the right few pieces of memory out.

The order is the mission's (E2): permission and validity, object and binding constraints, keyword
and id, cues, fusion, a little evidence, the budget. Reads only, waits for nothing, may run in any
number of threads at once; the gateway holds the clock against it (E3).
"""

from dataclasses import dataclass, replace

from pipeline.recall import tail as tails
from pipeline.recall.assembling import evidence_of, is_unproven, pack, proven, told
from pipeline.recall.candidates import Weights, gather
from pipeline.recall.noting import noted
from pipeline.recall.ranking import Ranked, evidence_events, in_order, rank, to_hits
from pipeline.recall.resolving import is_past
from pipeline.recall.source import RecallSource
from pipeline.text.tokenise import Terms, Tokenizer
from storage.errors import UnavailableError
from storage.records.events import OWNER_OBJECT
from storage.records.knowledge import Record
from storage.records.recall import Hit, Reason, RecallQuery, RecallResult, RecallState
from storage.search_index import DamagedIndexError, SearchIndex

_DEPTHS = (64, 512)
"""How far down a channel is read: the second is for a memory whose best matches are all past."""


@dataclass(frozen=True, slots=True)
class _Reach:
    """What a recall can look through: the index up to `position`, and the tail above it.

    `unsearched` says that the tail is too long to be looked through whole.
    """

    position: int
    lag: int
    tail: tails.Tail
    unsearched: bool


class Recaller:
    """Answers recall requests from the lexical index, its tail and the store.

    Args:
        source: The store, read only.
        index: The lexical index.
        tokenizer: The one that made the index's terms.
        weights: How much each field and channel counts.
    """

    def __init__(
        self,
        source: RecallSource,
        index: SearchIndex,
        tokenizer: Tokenizer,
        weights: Weights | None = None,
    ) -> None:
        self._source = source
        self._index = index
        self._tokenizer = tokenizer
        self._weights = weights or Weights()

    def recall(self, query: RecallQuery, now_ms: int) -> RecallResult:
        """Answer a request; never `pending`, which is the gateway's to say.

        Any text is a valid question. What can't be read now gives `unavailable`, not an error.
        """
        try:
            base = RecallResult(
                RecallState.NOT_FOUND, memory_version=self._source.memory_version(query.owner)
            )
            if expired := self._expired(query, now_ms):
                return replace(base, state=RecallState.EXPIRED, expired=expired)
            return self._look(query, base, now_ms)
        except UnavailableError:
            return RecallResult(RecallState.UNAVAILABLE, gaps=("The store can't be read now.",))

    def _expired(self, query: RecallQuery, now_ms: int) -> str | None:
        if query.expires_at is not None and query.expires_at <= now_ms:
            return "request"
        if query.intent_version is not None:
            newest = self._source.intent_version(query.owner)
            if newest is not None and newest > query.intent_version:
                return "intent"
        return None

    def _look(self, query: RecallQuery, base: RecallResult, now_ms: int) -> RecallResult:
        reach = self._reach(query.owner)
        binding, unproven = self._binding(query, now_ms)
        gaps = tuple(map(_unproven, unproven))
        base = replace(base, index_lag=reach.lag, binding=binding, gaps=gaps)
        if reach.unsearched and not self._index.whole:
            gap = f"The index is being built; {reach.lag} entries are to come."
            return replace(base, state=RecallState.UNAVAILABLE, gaps=(*base.gaps, gap))
        terms = self._tokenizer.query(_encodable(query.query), now_ms=now_ms)
        try:
            ranked = self._rank(query, terms, reach, now_ms)
        except DamagedIndexError:
            gap = "The index can't be read; it is built anew."
            return replace(base, state=RecallState.UNAVAILABLE, gaps=(*base.gaps, gap))
        if self._index.position < reach.position:
            # Made anew in between: what the old one held was neither in it nor in the tail read.
            return self._look(query, base, now_ms)
        if ranked.scores:
            asked = _Asked(query, terms, now_ms)
            return self._complete(asked, base, ranked, reach)
        if ranked.resolved.lapsed:
            gaps = base.gaps + tuple(map(_lapse, ranked.resolved.lapsed))
            return replace(base, state=RecallState.EXPIRED, expired="records", gaps=gaps)
        return replace(base, gaps=base.gaps + _searched(terms, reach))

    def _reach(self, owner: str) -> _Reach:
        # The position comes first: what is followed meanwhile is then found twice, never missed.
        position = self._index.position
        lag = max(0, self._source.last_index_seq() - position)
        entries = self._source.tail(owner, position, tails.CAP + 1) if lag else ()
        kept = entries[-tails.CAP :]
        return _Reach(position, lag, tails.Tail(kept), len(kept) < len(entries))

    def _binding(self, query: RecallQuery, now_ms: int) -> tuple[tuple[Hit, ...], list[Record]]:
        """What binds, and what would but is not borne out any more."""
        read = self._source.binding(query.owner, query.objects, query.task, now_ms)
        records = [r for r in read if r.owner_scope == query.owner and not is_past(r, now_ms)]
        events = evidence_events(self._source, query.owner, records)
        hits: list[Hit] = []
        unproven: list[Record] = []
        for record in records:
            held = proven(record, events)
            if is_unproven(record, held):
                unproven.append(record)
                continue
            evidence = evidence_of(held, events, ())
            hits.append(Hit(0.0, _binds(held, query), record=held, evidence=evidence))
        return tuple(map(told, noted(self._source, query.owner, hits, now_ms))), unproven

    def _rank(self, query: RecallQuery, terms: Terms, reach: _Reach, now_ms: int) -> Ranked:
        first, deeper = _DEPTHS
        ranked, cut = self._rank_to(first, query, terms, reach, now_ms)
        if cut and len(ranked.scores) < query.items:
            ranked, _ = self._rank_to(deeper, query, terms, reach, now_ms)
        return ranked

    def _rank_to(
        self, depth: int, query: RecallQuery, terms: Terms, reach: _Reach, now_ms: int
    ) -> tuple[Ranked, bool]:
        channels = gather(self._index, reach.tail, query.owner, terms, self._weights, depth)
        ranked = rank(self._source, query, channels, self._weights, now_ms)
        return ranked, any(channel.cut for channel in channels.values())

    def _complete(
        self, asked: "_Asked", base: RecallResult, ranked: Ranked, reach: _Reach
    ) -> RecallResult:
        query, terms = asked.query, asked.terms
        bound = {hit.record.id for hit in base.binding if hit.record is not None}
        # More than asked for, since some may not fit the budget.
        limit = 2 * query.items
        hits, lost = to_hits(self._source, query.owner, ranked, limit=limit, binding=bound)
        gaps = tuple(dict.fromkeys((*base.gaps, *map(_unproven, lost))))
        if not hits:
            return replace(base, gaps=gaps + _searched(terms, reach))
        shown = [told(hit) for hit in noted(self._source, query.owner, hits, asked.now_ms)]
        packed = pack(shown, items=query.items, tokens=query.tokens, terms=terms.words)
        return replace(
            base,
            state=RecallState.COMPLETE,
            hits=packed.hits,
            truncated=packed.truncated,
            gaps=gaps + _unmet(terms, ranked) + _unsearched(reach),
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its terms, and when it was asked, epoch milliseconds."""

    query: RecallQuery
    terms: Terms
    now_ms: int


def _searched(terms: Terms, reach: _Reach) -> tuple[str, ...]:
    if not (terms.words or terms.ids):
        return ("The question holds no term to search for.",)
    searched = (
        "Nothing matches in the events and records, searched by keyword, identifier and cue; "
        f"{reach.lag} index entries are still to be followed."
    )
    return (searched, *_unsearched(reach))


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _binds(record: Record, query: RecallQuery) -> tuple[Reason, ...]:
    named = {record.subject_id, *record.scope.objects} - {OWNER_OBJECT}
    reasons = (
        {Reason.BINDING} if named.isdisjoint(query.objects) else {Reason.BINDING, Reason.OBJECT}
    )
    return in_order(reasons)


def _lapse(record: Record) -> str:
    until = "" if record.valid_to is None else f", valid_to {record.valid_to}"
    return f"Record {record.id} matched but holds no longer: {record.status}{until}."


def _unproven(record: Record) -> str:
    return f"Record {record.id} is not told: no event gives the words any more that it rests on."


def _unmet(terms: Terms, ranked: Ranked) -> tuple[str, ...]:
    if terms.ids and not ranked.rankings[Reason.ID]:
        return ("No memory holds the identifier of the question; the hits match other words.",)
    return ()


def _unsearched(reach: _Reach) -> tuple[str, ...]:
    if not reach.unsearched:
        return ()
    return (f"Some of the {reach.lag} entries not indexed yet were not looked through.",)
