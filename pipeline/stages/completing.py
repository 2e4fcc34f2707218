"""What a validated record still needs before it is kept: its package, its origins, its review time.

All of it is kept with the proposal, so that settling follows from what is stored alone, even when
the events are forgotten later.
"""

from dataclasses import replace

from pipeline.rules.reviewing import ReviewTimes, review_at
from pipeline.rules.sources import MAX_CHAIN, origin_of
from storage.records.events import Event
from storage.records.knowledge import Origin, Record
from storage.records.runs import WorkPackage
from storage.repositories import events


def completed(record: Record, work: WorkPackage, times: ReviewTimes) -> Record:
    """The record with what its package and the store know of it."""
    return replace(
        record,
        package_id=work.package.id,
        origins=_origins(record, work),
        review_at=review_at(record, times),
    )


def _origins(record: Record, work: WorkPackage) -> tuple[Origin, ...]:
    by_id = work.by_id
    quoted = [by_id[name] for name in dict.fromkeys(span.event_id for span in record.evidence)]
    known = _with_causes(work, quoted)
    linked = {record.id: record.links for record in work.known if record.links}
    return tuple(origin_of(event, known, linked) for event in quoted)


def _with_causes(work: WorkPackage, quoted: list[Event]) -> dict[str, Event]:
    """The package's events, and what led to the quoted ones as far as it is stored and near."""
    known = dict(work.by_id)
    seen: set[str] = set()
    ahead = {cause for event in quoted for cause in event.causes}
    while ahead and len(seen) < MAX_CHAIN:
        seen |= ahead
        missing = ahead - known.keys()
        found = events.by_ids(work.package.owner, missing) if missing else []
        known |= {event.id: event for event in found}
        ahead = {cause for name in ahead if name in known for cause in known[name].causes} - seen
    return known
