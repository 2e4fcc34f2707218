"""Assembling: fused candidates into few hits with a little evidence, within a budget.

Pure: no store and no clock. Binding hits are not counted here; they apply whatever is found.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.text.budget import cut_to_tokens, estimate_tokens
from pipeline.text.neutralise import neutralised
from storage.records.events import Event, Role
from storage.records.knowledge import Record, Span
from storage.records.recall import Hit

MAX_SPANS = 3
"""Evidence told of one record; `memory.evidence.get` has the rest."""
_LEAST_EXCERPT = 16
_LEAD = 40
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Packed:
    """What fits; `truncated` says that something was left out or shortened."""

    hits: tuple[Hit, ...]
    tokens: int
    truncated: bool


def collapse(documents: Iterable[str], homes: Mapping[str, str]) -> list[str]:
    """Replace documents by what holds them, each named once at its best place.

    Args:
        documents: A ranking, best first.
        homes: Document to the document that answers for it; those without a home are left out.

    >>> collapse(["e:1", "r:a", "e:2", "e:9"], {"e:1": "r:a", "r:a": "r:a", "e:2": "e:2"})
    ['r:a', 'e:2']
    """
    return list(dict.fromkeys(homes[name] for name in documents if name in homes))


def proven(record: Record, events: Mapping[int, Event]) -> Record:
    """The record on those of its spans alone that their events still give."""
    standing = tuple(
        span
        for span in record.evidence
        if span.seq in events and span.stands_in(events[span.seq].text)
    )
    return record if standing == record.evidence else replace(record, evidence=standing)


def is_unproven(record: Record, held: Record) -> bool:
    """Whether no event of this memory gives its words any more.

    What was imported without its events can't be held against any: it is told without evidence.
    """
    return not held.evidence and any(span.seq > 0 for span in record.evidence)


def evidence_of(
    record: Record, events: Mapping[int, Event], matched: Collection[int]
) -> tuple[tuple[Span, Event], ...]:
    """A proven record's spans with their events, those that the question itself has met first."""
    spans = sorted(record.evidence, key=lambda span: span.seq not in matched)
    return tuple((span, events[span.seq]) for span in spans[:MAX_SPANS])


def told(hit: Hit) -> Hit:
    """The hit as it may go into a prompt: nothing in it opens a turn, or closes a frame, of its own.

    What a user said stays as it is, hidden characters aside: its reader is told the role.
    """
    record, event = hit.record, hit.event
    if record is not None:
        record = replace(record, content=neutralised(record.content, by_user=False).text)
    if event is not None:
        event = replace(event, text=_as_said(event.text, event))
    evidence = tuple(
        (replace(span, quote=_as_said(span.quote, of)), of) for span, of in hit.evidence
    )
    rivals = tuple(
        replace(rival, content=neutralised(rival.content, by_user=False).text)
        for rival in hit.rivals
    )
    changed = replace(hit, record=record, event=event, evidence=evidence, rivals=rivals)
    return hit if changed == hit else changed


def _as_said(text: str, event: Event) -> str:
    return neutralised(text, by_user=event.role is Role.USER).text


def cost(hit: Hit) -> int:
    """The tokens of what a hit tells: its text, its quotes, and what disputes it."""
    text = hit.record.content if hit.record else hit.event.text if hit.event else ""
    quotes = sum(estimate_tokens(span.quote) for span, _ in hit.evidence)
    return estimate_tokens(text) + quotes + sum(estimate_tokens(r.content) for r in hit.rivals)


def pack(hits: Sequence[Hit], *, items: int, tokens: int, terms: Collection[str] = ()) -> Packed:
    """Take the best hits that fit, in their order.

    A record is told whole or not at all, its quotes as far as they fit. An event longer than its
    share of what is left is cut to the passage where the question's terms stand.

    Args:
        hits: Best first.
        items: Hits at most.
        tokens: Tokens at most, of texts and quotes together.
        terms: The question's terms, to find an event's passage.
    """
    packed: list[Hit] = []
    left, shortened = tokens, False
    for hit in hits:
        if len(packed) == items:
            break
        fitted = _fit(hit, left, left // (items - len(packed)), terms)
        shortened = shortened or fitted is not hit
        if fitted is not None:
            packed.append(fitted)
            left -= cost(fitted)
    return Packed(tuple(packed), tokens - left, shortened or len(packed) < len(hits))


def excerpt(text: str, tokens: int, terms: Collection[str]) -> str:
    """At most so many tokens of a text, from a little before the first of the terms.

    >>> excerpt("一" * 100 + "报销模板在共享盘", 16, ["报销"]).strip("一…")
    '报销模板'
    >>> excerpt("short", 12, ["absent"])
    'short'
    """
    if estimate_tokens(text) <= tokens:
        return text
    lowered = text.lower()
    places = [at for term in terms if (at := lowered.find(term)) >= 0]
    budget = tokens - 2 * estimate_tokens(_ELLIPSIS)
    lead = min(_LEAD, budget // 4)
    start = max(0, min(places, default=0) - lead)
    piece = cut_to_tokens(text[start:], budget)
    before = _ELLIPSIS if start else ""
    return f"{before}{piece}{_ELLIPSIS if start + len(piece) < len(text) else ''}"


def _fit(hit: Hit, left: int, share: int, terms: Collection[str]) -> Hit | None:
    if hit.event is not None:
        return _fit_event(hit, hit.event, left, share, terms)
    while cost(hit) > left and hit.evidence:
        hit = replace(hit, evidence=hit.evidence[:-1])
    return hit if cost(hit) <= left else None


def _fit_event(hit: Hit, event: Event, left: int, share: int, terms: Collection[str]) -> Hit | None:
    room = min(left, max(share, _LEAST_EXCERPT))
    if cost(hit) <= room:
        return hit
    if room < _LEAST_EXCERPT:
        return None
    return replace(hit, event=replace(event, text=excerpt(event.text, room, terms)))
