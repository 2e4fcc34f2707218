"""The deed: one transaction that takes away a part of what is to be forgotten.

Afterwards nothing that is asked finds it: rows are gone or overwritten, index hits are masked,
snapshots and recall results that held it are gone, and whoever was at work on the owner's packages
writes nothing of what he has made of them (spec: protocol, Forgetting).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pipeline.forgetting.planning import Plan
from pipeline.projections import snapshot
from pipeline.rules import indexing
from pipeline.rules.forgetting import Why
from pipeline.rules.forms import forms_of
from pipeline.text.budget import estimate_tokens
from storage.records.events import OWNER_OBJECT, Event
from storage.records.knowledge import RecordStatus
from storage.records.recall import IndexEntry
from storage.repositories import (
    erasure,
    forgettable,
    index,
    packages,
    records,
    snapshots,
    tombstones,
    trimming,
)
from storage.repositories.snapshots import NewSnapshot


def apply(
    plan: Plan,
    *,
    now: int,
    tokenizer: int,
    recalls: Callable[[], Sequence[str]],
    object_id: str | None = None,
) -> dict[str, int]:
    """Carry a plan out.

    Args:
        plan: Worked out in this very transaction.
        now: Epoch milliseconds.
        tokenizer: The version that index entries are written under.
        recalls: Tells which of the owner's stored recall requests touch what goes.
        object_id: An object whose own row goes, too.

    Returns:
        How many of each kind went or changed.
    """
    owner = plan.owner
    gone = [record.id for record, _ in plan.records]
    names = {*gone, *(event.id for event in plan.events)}
    tombstones.add_to_count(owner)
    trimming.give_back_leases(owner)
    touched = recalls()
    erasure.take_recalls(owner, touched)
    _trim(plan, gone)
    erasure.take_records(owner, gone)
    erasure.take_versions(owner, plan.stale)
    erasure.take_events(owner, plan.events)
    for item in plan.covered:
        erasure.cover_event(owner, item.event, item.text, item.rest)
    erasure.take_titles(owner, plan.titles)
    trimming.count_again(plan.counted)
    erasure.change_records(owner, plan.changed, plan.subjects, gone=names, now=now, forms=forms_of)
    based_on = snapshots.count_settling(owner)
    _mask(plan, gone, tokenizer)
    scrubbed = _scrub_snapshots(plan, gone, based_on, now)
    _follow_up(plan, now, scrubbed=bool(scrubbed))
    if object_id is not None and object_id != OWNER_OBJECT:
        erasure.take_object(owner, object_id)
    return counts(plan, recalls=len(touched), object_id=object_id)


def _trim(plan: Plan, gone: Collection[str]) -> None:
    """Proposals and packages, without what goes."""
    places = {(stored.package_id, stored.place) for stored in plan.proposals}
    trimming.take_proposals(places)
    trimming.blank_proposals(
        [(stored.package_id, stored.place, stored.proposal) for stored in plan.blanked],
        {event.id for event in plan.events},
    )
    for item in plan.stripped:
        trimming.strip_proposal(
            item.stored.package_id, item.stored.place, item.supersedes, item.record
        )
    tokens = {event.seq: estimate_tokens(event.text) for event in plan.events}
    trimming.trim_packages(plan.owner, plan.packages, tokens.keys(), tokens)
    trimming.read_again(plan.packages)
    trimming.forget_signatures(item.event.seq for item in plan.covered)
    trimming.scrub_outputs(plan.mentioning, gone, places)


def _mask(plan: Plan, gone: Collection[str], tokenizer: int) -> None:
    """Take out of the index what went and what was found by its words; the rest is made anew later."""
    events = (*plan.events, *(item.event for item in plan.covered))
    seqs = {event.seq for event in events} | _found_by_words_of(events)
    documents = [indexing.event_document(seq) for seq in sorted(seqs)]
    changed = (record.id for record in plan.changed)
    documents += [indexing.record_document(name) for name in (*gone, *changed)]
    present = index.newest(plan.owner, documents)
    index.append(
        [IndexEntry(0, plan.owner, name, 0, gone=True) for name in present],
        tokenizer=tokenizer,
    )


def _found_by_words_of(events: Iterable[Event]) -> set[int]:
    """The next events of their streams, which are found by the words of those before them."""
    found: set[int] = set()
    for event in events:
        if event.stream is not None:
            found.update(forgettable.next_in_stream(event, indexing.NEIGHBOURS, indexing.NEARBY))
    return found


def _scrub_snapshots(plan: Plan, gone: Collection[str], based_on: int, now: int) -> list[str]:
    """Take out of published views what went and what has changed; publishing fills the gaps.

    Returns:
        The objects whose views have changed.
    """
    changing = {record.id for record in plan.changed}
    changed = []
    for subject, published in erasure.sections(plan.owner, {*plan.subjects, OWNER_OBJECT}):
        sections = tuple(_without(part, gone, changing) for part in published)
        if sections != published:
            made = snapshot.make(
                plan.owner,
                subject,
                tuple(section for section in sections if section["items"] or section["left_out"]),
                now=now,
                tokens=estimate_tokens,
            )
            snapshots.publish(NewSnapshot(made, based_on))
            changed.append(subject)
    return changed


def _without(
    section: Mapping[str, Any], gone: Collection[str], changing: Collection[str]
) -> dict[str, Any]:
    items = []
    for item in section["items"]:
        if item["record_id"] in gone or item["record_id"] in changing:
            continue
        disputed = [name for name in item.get("conflicts_with", ()) if name not in gone]
        kept = {name: value for name, value in item.items() if name != "conflicts_with"}
        items.append(kept | ({"conflicts_with": disputed} if disputed else {}))
    return dict(section) | {"items": items}


def _follow_up(plan: Plan, now: int, *, scrubbed: bool) -> None:
    """Let what has changed be indexed and published, and rolled-up records be rolled up anew."""
    changed: dict[str, list[str]] = {}
    for record in plan.changed:
        changed.setdefault(record.subject_id, []).append(record.id)
    for subject in plan.subjects:
        ids = changed.get(subject) or _any_active(plan.owner, [subject])
        if ids:
            _republish(plan.owner, subject, ids, now)
            scrubbed = False
    if scrubbed and (ids := _any_active(plan.owner, [OWNER_OBJECT])):
        _republish(plan.owner, OWNER_OBJECT, ids, now)
    for subject in {record.subject_id for record, why in plan.records if why is Why.ROLL_UP}:
        packages.open_compaction(plan.owner, subject, now)


def _republish(owner: str, subject: str, ids: Sequence[str], now: int) -> None:
    package_id = packages.open_act(owner, subject, now)
    packages.settled_act(package_id, inserted=[], updated=list(ids), now=now)


def _any_active(owner: str, subjects: Sequence[str]) -> list[str]:
    found = records.of_subjects(owner, subjects, [RecordStatus.ACTIVE], limit=1)
    return [record.id for record in found]


def counts(plan: Plan, *, recalls: int, object_id: str | None) -> dict[str, int]:
    """How much of each kind a plan takes away or changes."""
    return {
        "events": len(plan.events),
        "spans": sum(len(item.places) for item in plan.covered),
        "records": len(plan.records),
        "changed": len(plan.changed),
        "proposals": len(plan.proposals),
        "recalls": recalls,
        "objects": int(object_id is not None and object_id != OWNER_OBJECT),
    }
