"""What a request to forget means: which records and events there are of it (spec: protocol, Forgetting)."""

from collections.abc import Container, Iterator, Sequence
from typing import Final

from storage.errors import BadRequestError
from storage.records.forgetting import ForgettingPart, Selection, Targets
from storage.repositories import events, forgettable, objects, records

PART: Final = 100
"""Records, and events, that one transaction takes away: some tens of milliseconds of the lock."""


def resolve(owner: str, wanted: Selection) -> Targets:
    """Make a selection out, as it stands now: what comes later is not part of it.

    Raises:
        BadRequestError: It names nothing, or something that this owner doesn't have; `details` says
            by its place what is unknown.
    """
    unknown: list[str] = []
    seqs = _named_events(owner, wanted, unknown)
    found = _named_records(owner, wanted, unknown)
    if wanted.object_id is not None:
        seqs += forgettable.events_of_object(owner, wanted.object_id)
        found += forgettable.records_of_object(owner, wanted.object_id)
        if not seqs and not found and not objects.known(owner, [wanted.object_id]):
            unknown.append("select.object")
    if wanted.before is not None:
        seqs += forgettable.events_before(owner, wanted.before)
        found += forgettable.sourceless_before(owner, wanted.before)
    if unknown:
        raise BadRequestError(
            f"{', '.join(unknown[:5])}: unknown for this owner, or forgotten already; nothing was"
            " changed.",
            details={"unknown": unknown},
        )
    if not seqs and not found and wanted.object_id is None:
        raise BadRequestError("select: it selects nothing; name what is to be forgotten.")
    return Targets(tuple(dict.fromkeys(found)), tuple(sorted(set(seqs))), wanted.object_id)


def _named_events(owner: str, wanted: Selection, unknown: list[str]) -> list[int]:
    known = events.identities(owner, wanted.event_ids)
    unknown += _missing("event_ids", wanted.event_ids, known)
    seqs = [known[event_id].seq for event_id in wanted.event_ids if event_id in known]
    if wanted.task_ids:
        of_tasks = forgettable.events_of_tasks(owner, set(wanted.task_ids))
        unknown += _missing("task_ids", wanted.task_ids, of_tasks)
        seqs += [seq for found in of_tasks.values() for seq in found]
    return seqs


def _named_records(owner: str, wanted: Selection, unknown: list[str]) -> list[str]:
    known = {record.id for record in records.by_ids(owner, set(wanted.record_ids))}
    unknown += _missing("record_ids", wanted.record_ids, known)
    found = [record_id for record_id in wanted.record_ids if record_id in known]
    if wanted.task_ids:
        found += forgettable.records_of_tasks(owner, set(wanted.task_ids))
    return found


def _missing(field: str, asked: Sequence[str], known: Container[str]) -> Iterator[str]:
    for place, name in enumerate(asked):
        if name not in known:
            yield f"select.{field}[{place}]"


def parts(targets: Targets) -> list[ForgettingPart]:
    """The targets cut into what one transaction takes away each; at least one."""
    number = max(1, -(-max(len(targets.records), len(targets.seqs)) // PART))
    return [
        ForgettingPart(
            place,
            targets.records[place * PART : (place + 1) * PART],
            targets.seqs[place * PART : (place + 1) * PART],
        )
        for place in range(number)
    ]
