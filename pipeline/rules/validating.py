"""The program's judgement on proposals: what can't be traced, or reaches too far, has no effect.

Pure. Source: mission C4, D5, F3; protocol, Observation and Proposals.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.rules.borrowing import Surroundings
from pipeline.rules.cases import Case
from pipeline.rules.judging import Rejected, judge
from pipeline.rules.locating import locate
from pipeline.rules.wording import degenerate, normalised
from pipeline.text.neutralise import neutralised
from storage.records.events import OWNER_OBJECT
from storage.records.knowledge import (
    FactClass,
    Proposal,
    Record,
    RecordKind,
    RejectionCode,
    Span,
)
from storage.records.runs import WorkPackage

MAX_PROPOSALS = 12
"""Proposals a package (spec: protocol, Proposals)."""

MAX_CONTENT = 600
"""Code points of a content, and of each condition, step and check."""

MAX_QUOTE = 2_000
"""Code points of each quote: who needs more words than that quotes in parts. A record can rest on
32 of them, and has to fit into one document of an export."""

MAX_CUE = 40
"""Code points of a cue."""

MAX_ENTRIES = 20
"""Entries of each list of a proposal."""

MAX_KEY = 200
"""Code points of a key."""

_LISTS = ("conditions", "steps", "failure", "verify", "cues")
_REDACTED = re.compile(r"\[redacted:[a-z_]{1,32}\]")


@dataclass(frozen=True, slots=True)
class Validated:
    """What became of the proposal at `index`: a record, or a code and a reason without user text."""

    index: int
    record: Record | None = None
    code: RejectionCode | None = None
    reason: str | None = None


def validate(
    proposals: Sequence[Proposal],
    work: WorkPackage,
    *,
    objects: frozenset[str],
    has_secret: Callable[[str], bool],
    now_ms: int,
) -> tuple[Validated, ...]:
    """Judge each proposal; the answers stand in the proposals' order.

    `objects` are the ids of the owner's objects. `now_ms` becomes `recorded_at`. The same events
    and proposals always give the same record ids.
    """
    seen: dict[tuple[object, ...], str] = {}
    around = Surroundings(work)
    answers = []
    for index, proposal in enumerate(proposals):
        try:
            _check_count(index)
            case = _opened(proposal, work, around, objects, has_secret)
            judge(case)
            _check_new(case, seen)
        except Rejected as rejected:
            answers.append(Validated(index, code=rejected.code, reason=rejected.reason))
        else:
            answers.append(Validated(index, record=_record(case, now_ms)))
    return tuple(answers)


def _check_count(index: int) -> None:
    if index >= MAX_PROPOSALS:
        raise Rejected(RejectionCode.TOO_MANY, f"at most {MAX_PROPOSALS} a package")


def _opened(
    proposal: Proposal,
    work: WorkPackage,
    around: Surroundings,
    objects: frozenset[str],
    has_secret: Callable[[str], bool],
) -> Case:
    proposal = _unforged(proposal)
    _check_shape(proposal)
    ordered = tuple(sorted(set(proposal.scope.objects)))
    proposal = replace(proposal, scope=replace(proposal.scope, objects=ordered))
    if any(has_secret(text) for text in _texts(proposal)):
        raise Rejected(RejectionCode.SENSITIVE, "it holds a secret or hidden reasoning")
    spans = tuple(dict.fromkeys(_located(proposal, work)))
    by_id = work.by_id
    events = tuple(by_id[event_id] for event_id in dict.fromkeys(s.event_id for s in spans))
    known = objects | {OWNER_OBJECT, work.package.object_id}
    return Case(proposal, work, around, known, spans, events)


def _unforged(proposal: Proposal) -> Proposal:
    """The proposal without hidden characters and forged marks, in whatever words it was put."""

    def entries(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(neutralised(text, by_user=False).text for text in given)

    (content,) = entries((proposal.content,))
    named: dict[str, Any] = {name: entries(getattr(proposal, name)) for name in _LISTS}
    for name in ("key", "value"):
        given = getattr(proposal, name)
        named[name] = given and entries((given,))[0]
    return replace(proposal, content=content, **named)


def _texts(proposal: Proposal) -> Iterator[str]:
    yield proposal.content
    yield from filter(None, (proposal.key, proposal.value))
    for entries in _lists(proposal):
        yield from entries


def _lists(proposal: Proposal) -> tuple[tuple[str, ...], ...]:
    return tuple(getattr(proposal, name) for name in _LISTS)


def _check_shape(proposal: Proposal) -> None:
    sizes = [(proposal.content, MAX_CONTENT), (proposal.key or "", MAX_KEY)]
    sizes += [(proposal.value or "", MAX_CONTENT)]
    sizes += [(entry, MAX_CONTENT) for entries in _lists(proposal)[:-1] for entry in entries]
    sizes += [(cue, MAX_CUE) for cue in proposal.cues]
    sizes += [(part.quote, MAX_QUOTE) for part in proposal.evidence]
    if any(len(text) > limit for text, limit in sizes):
        raise Rejected(RejectionCode.TOO_LONG, "a text is longer than its limit")
    if any(len(entries) > MAX_ENTRIES for entries in _lists(proposal)):
        raise Rejected(RejectionCode.TOO_LONG, f"a list has more than {MAX_ENTRIES} entries")
    if any(map(degenerate, (proposal.content, *(e for some in _lists(proposal) for e in some)))):
        raise Rejected(RejectionCode.DEGENERATE, "it is empty, or repeats itself")
    if proposal.kind is RecordKind.FACT and proposal.fact_class is None:
        raise Rejected(RejectionCode.DEGENERATE, "a fact names its class")
    if proposal.fact_class is FactClass.PROFILE and proposal.profile_kind is None:
        raise Rejected(RejectionCode.DEGENERATE, "a profile fact names its profile_kind")
    start, end = proposal.valid_from, proposal.valid_to
    if start is not None and end is not None and end < start:
        raise Rejected(RejectionCode.DEGENERATE, "its validity ends before it starts")


def _located(proposal: Proposal, work: WorkPackage) -> Iterator[Span]:
    if not proposal.evidence:
        raise Rejected(RejectionCode.NO_SOURCE, "it names no evidence")
    by_id = work.by_id
    for quote in proposal.evidence:
        event = by_id.get(quote.event_id)
        if event is None:
            raise Rejected(RejectionCode.NO_SOURCE, "its evidence is not in the package")
        if not any(char.isalnum() for char in _REDACTED.sub("", quote.quote)):
            raise Rejected(RejectionCode.NO_SOURCE, "a quote holds no word")
        found = locate(quote.quote, event.text)
        if found is None:
            raise Rejected(RejectionCode.QUOTE_NOT_FOUND, "a quote is not in its event's text")
        start, end = found
        yield Span(event.id, event.seq, start, end, event.text[start:end])


def _check_new(case: Case, seen: dict[tuple[object, ...], str]) -> None:
    content = normalised(case.proposal.content)
    said = (case.proposal.kind, case.subject, case.proposal.scope, content)
    if said in seen or case.record_id in seen.values():
        raise Rejected(RejectionCode.DUPLICATE, "the package proposes it twice")
    for record in case.work.known:
        known = (record.kind, record.subject_id, record.scope, normalised(record.content))
        if known == said and set(case.spans) <= set(record.evidence):
            raise Rejected(RejectionCode.DUPLICATE, "it is known from the same source")
    seen[said] = case.record_id


def _record(case: Case, now_ms: int) -> Record:
    proposal = case.proposal
    profile = proposal.fact_class is FactClass.PROFILE
    return Record(
        id=case.record_id,
        owner_scope=case.work.package.owner,
        subject_id=case.subject,
        kind=proposal.kind,
        content=proposal.content,
        observed_at=case.observed_at,
        recorded_at=now_ms,
        status=case.first_status,
        authority=case.authority,
        evidence=case.spans,
        key=case.key,
        value=case.value,
        fact_class=proposal.fact_class if proposal.kind is RecordKind.FACT else None,
        profile_kind=proposal.profile_kind if profile else None,
        scope=proposal.scope,
        valid_from=proposal.valid_from,
        valid_to=case.valid_to,
        review_at=proposal.review_at,
        supersedes=case.supersedes,
        conditions=proposal.conditions,
        steps=proposal.steps,
        failure=proposal.failure,
        verify=proposal.verify,
        cues=proposal.cues,
        package_id=case.work.package.id,
    )
