"""Records as the wire has them: plain dicts, without what is absent."""

from collections.abc import Mapping
from typing import Any

from storage.records.events import Event, Priority
from storage.records.knowledge import MemoryObject, Record, Scope, Snapshot, Span
from storage.records.recall import Hit, RecallResult
from storage.records.runs import DeadLetter, Package, WorkPackage
from storage.repositories.evidence import Proven

Json = dict[str, Any]


def _present(found: Mapping[str, Any]) -> Json:
    return {name: value for name, value in found.items() if value not in (None, (), [], {})}


def span(record_id: str, of: Span) -> Json:
    """The exact words that a record rests on."""
    return {
        "record_id": record_id,
        "event": of.event_id,
        "start": of.start,
        "end": of.end,
        "quote": of.quote,
    }


def proven(found: Proven) -> Json:
    """A unit of memory with the evidence that stands, and which events no longer give theirs."""
    return record(found.record) | _present({"missing_evidence": list(found.missing)})


def record(found: Record) -> Json:
    """A unit of memory."""
    shaped = {
        "id": found.id,
        "owner_scope": found.owner_scope,
        "subject_id": found.subject_id,
        "kind": found.kind.value,
        "content": found.content,
        "status": found.status.value,
        "authority": found.authority.name.lower(),
        "revision": found.revision,
        "object_revision": found.object_revision,
        "observed_at": found.observed_at,
        "recorded_at": found.recorded_at,
        "source_refs": [span(found.id, part) for part in found.evidence],
    }
    return shaped | _present(
        {
            "key": found.key,
            "value": found.value,
            "class": found.fact_class,
            "profile_kind": found.profile_kind,
            "scope": _scope(found.scope),
            "valid_from": found.valid_from,
            "valid_to": found.valid_to,
            "review_at": found.review_at,
            "supersedes": found.supersedes,
            "conflicts_with": found.conflicts_with,
            "conditions": found.conditions,
            "steps": found.steps,
            "failure": found.failure,
            "verify": found.verify,
            "cues": found.cues,
            "links": found.links,
            "reason": found.reason,
        }
    )


def _scope(scope: Scope) -> Json | None:
    if scope == Scope():
        return None
    return {"objects": list(scope.objects), "task": scope.task, "once": scope.once}


def memory_object(found: MemoryObject) -> Json:
    """What memory is about."""
    return {
        "id": found.id,
        "kind": found.kind.value,
        "title": found.title,
        "state": found.state.value,
        "revision": found.revision,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }


def snapshot(found: Snapshot | None) -> Json:
    """A published view; version 0 while there is none."""
    if found is None:
        return {"version": 0, "published_at": None, "hash": None, "tokens": 0, "sections": []}
    return {
        "version": found.version,
        "published_at": found.published_at,
        "hash": found.hash,
        "tokens": found.tokens,
        "sections": list(found.sections),
    }


def package(found: Package) -> Json:
    """A package's row in the ledger."""
    return {
        "id": found.id,
        "owner": found.owner,
        "lane": found.lane,
        "object": found.object_id,
        "task": found.task_id,
        "stage": found.stage.value,
        "state": found.state.value,
        "attempt": found.attempt,
        "token": found.fence,
        "priority": _priority(found.priority),
        "events": found.events,
        "first_seq": found.first_seq,
        "last_seq": found.last_seq,
        "opened_at": found.opened_at,
        "lease_until": found.lease_until,
        "next_attempt_at": found.next_attempt_at,
        "error": found.error,
        "nothing": found.nothing,
        "closed_by": found.closed_by,
        "work": found.work.value,
    }


def _priority(priority: Priority) -> str:
    return priority.name.lower()


def dead_letter(found: DeadLetter) -> Json:
    """A parked package and why."""
    return {
        "package": package(found.package),
        "error": found.error,
        "parked_at": found.parked_at,
        "event_ids": list(found.event_ids),
    }


def work_package(work: WorkPackage) -> Json:
    """A leased package as its worker sees it."""
    return {
        "id": work.package.id,
        "owner": work.package.owner,
        "token": work.package.fence,
        "attempt": work.package.attempt,
        "lease_until": work.package.lease_until,
        "object": work.package.object_id,
        "task": work.package.task_id,
        "priority": _priority(work.package.priority),
        "events": [
            {
                "seq": item.event.seq,
                "id": item.event.id,
                "kind": item.event.kind,
                "at": item.event.at,
                "role": item.event.role.value,
                "text": item.event.text,
                "count": item.count,
                "first_at": item.first_at,
                "last_at": item.last_at,
            }
            | _present(
                {
                    "data": item.event.data,
                    "speaker": item.event.speaker,
                    "recalled": list(item.event.recalled),
                    "unanswered": item.unanswered or None,
                }
            )
            for item in work.events
        ],
        "known": [record(known) for known in work.known],
        "budget": work.budget,
    }


def event(found: Event) -> Json:
    """An event as a hit shows it."""
    return {
        "id": found.id,
        "seq": found.seq,
        "kind": found.kind,
        "role": found.role.value,
        "at": found.at,
        "text": found.text,
    }


def hit(found: Hit) -> Json:
    """A record or an event, with why it was found."""
    shaped: Json = {
        "score": round(found.score, 6),
        "reasons": [reason.value for reason in found.reasons],
        "evidence": [
            {"event": of.id, "quote": part.quote, "at": of.at, "role": of.role.value}
            for part, of in found.evidence
        ],
    }
    if found.record is not None:
        shaped["record"] = record(found.record)
    if found.event is not None:
        shaped["event"] = event(found.event)
    if found.rivals:
        shaped["conflicts"] = [rival(other) for other in found.rivals]
    shaped |= {name: True for name in ("recheck", "overdue") if getattr(found, name)}
    return shaped


def rival(found: Record) -> Json:
    """The other side of a conflict."""
    return {
        "record_id": found.id,
        "content": found.content,
        "status": found.status.value,
        "authority": found.authority.name.lower(),
        "observed_at": found.observed_at,
    }


def recall(request_id: str, result: RecallResult) -> Json:
    """An answer to a question."""
    shaped: Json = {
        "request_id": request_id,
        "state": result.state.value,
        "memory_version": result.memory_version,
        "index_lag": result.index_lag,
        "binding": [hit(found) for found in result.binding],
        "hits": [hit(found) for found in result.hits],
        "gaps": list(result.gaps),
        "truncated": result.truncated,
    }
    if result.expired is not None:
        shaped["expired"] = result.expired
    return shaped
