"""Intake: events are redacted, given their sequence number and made durable.

The door hands requests in; the writer takes every request that waits as one group, so that one
redaction call, one id look-up and one fsync serve them all (mission B1, B2, B6; spec: design,
Group commit).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import orjson

from pipeline.text.redaction import RedactionItem, Redactor
from storage.clock import Clock
from storage.errors import BadRequestError, ConflictError
from storage.records.events import Event, Positions, Receipt
from storage.repositories import events, positions


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """One request: all of its events become durable, or none."""

    owner: str
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class IngestAnswer:
    """The receipts of a request's events, in order, and how far the owner's events have come."""

    receipts: tuple[Receipt, ...]
    position: Positions


@dataclass(slots=True)
class _Prepared:
    request: IngestRequest
    new: list[events.NewEvent]
    error: Exception | None = None


class Intake:
    """The writer's operation behind `memory.events.ingest`."""

    name = "ingest"

    def __init__(self, redactor: Redactor, clock: Clock) -> None:
        self._redactor = redactor
        self._clock = clock

    def prepare(self, items: Sequence[IngestRequest]) -> list[_Prepared]:
        """Redact and hash the events of all requests at once, before any transaction."""
        taken = [event for request in items for event in request.events]
        cleaned = iter(self._redact(taken, self._clock.now_ms()))
        prepared = []
        for request in items:
            work = _Prepared(request, [])
            for place, event in enumerate(request.events):
                clean, ids = next(cleaned)
                work.error = work.error or _refusal(place, event, ids)
                work.new.append(self._hashed(clean))
            prepared.append(work)
        return prepared

    def apply(self, prepared: Sequence[_Prepared]) -> list[IngestAnswer | Exception]:
        """Tell duplicates and conflicts from new events, and write the new ones."""
        known = self._look_up(prepared)
        next_seq = events.last_seq() + 1
        fresh: list[events.NewEvent] = []
        outcomes: list[list[Receipt] | Exception] = []
        for work in prepared:
            outcome = work.error or self._judge(work, known, next_seq)
            if isinstance(outcome, Exception):
                outcomes.append(outcome)
                continue
            receipts, added = outcome
            fresh += added
            next_seq += len(added)
            outcomes.append(receipts)
        if fresh:
            events.insert(fresh)
        return self._answers(prepared, outcomes)

    def _answers(
        self, prepared: Sequence[_Prepared], outcomes: Sequence[list[Receipt] | Exception]
    ) -> list[IngestAnswer | Exception]:
        at: dict[str, Positions] = {}
        answers: list[IngestAnswer | Exception] = []
        for work, outcome in zip(prepared, outcomes, strict=True):
            if isinstance(outcome, Exception):
                answers.append(outcome)
                continue
            owner = work.request.owner
            if owner not in at:
                at[owner] = positions.heights(owner)
            answers.append(IngestAnswer(tuple(outcome), at[owner]))
        return answers

    # ---- identity ----------------------------------------------------------

    def _look_up(
        self, prepared: Sequence[_Prepared]
    ) -> dict[tuple[str, str], events.StoredIdentity]:
        wanted: dict[str, dict[str, None]] = {}
        for work in prepared:
            for new in work.new:
                wanted.setdefault(new.event.owner, {})[new.event.id] = None
        return {
            (owner, event_id): identity
            for owner, ids in wanted.items()
            for event_id, identity in events.identities(owner, list(ids)).items()
        }

    def _judge(
        self,
        work: _Prepared,
        known: dict[tuple[str, str], events.StoredIdentity],
        next_seq: int,
    ) -> tuple[list[Receipt], list[events.NewEvent]] | Exception:
        receipts: list[Receipt] = []
        added: list[events.NewEvent] = []
        mine: dict[tuple[str, str], events.StoredIdentity] = {}
        conflicts: list[str] = []
        for new in work.new:
            key = (new.event.owner, new.event.id)
            stored = known.get(key) or mine.get(key)
            if stored is None:
                seq = next_seq + len(added)
                added.append(replace(new, event=replace(new.event, seq=seq)))
                mine[key] = events.StoredIdentity(seq, new.hash, new.redactor)
                receipts.append(_receipt(new.event, seq, duplicate=False))
            elif stored.hash == new.hash:
                receipts.append(_receipt(new.event, stored.seq, duplicate=True))
            elif self._differs_by_redactor(new, stored):
                known_again = _receipt(new.event, stored.seq, duplicate=True)
                receipts.append(replace(known_again, redactor_changed=True))
            else:
                conflicts.append(new.event.id)
        if conflicts:
            return ConflictError(
                "Known ids came with other content; nothing was stored. Send changed content"
                " under new ids.",
                details={"ids": sorted(set(conflicts))},
            )
        known.update(mine)
        return receipts, added

    def _differs_by_redactor(self, new: events.NewEvent, stored: events.StoredIdentity) -> bool:
        """Whether the stored event, cleaned by today's rules, equals the new one."""
        if stored.redactor == new.redactor:
            return False
        found = events.by_ids(new.event.owner, [new.event.id])
        again = self._redact(found, 0)
        return bool(again) and self._hashed(again[0][0]).hash == new.hash

    # ---- redaction ---------------------------------------------------------

    def _redact(self, taken: Sequence[Event], now: int) -> list[tuple[Event, Sequence[list[str]]]]:
        """Clean events, and their ids apart from them."""
        items: list[RedactionItem] = []
        for event in taken:
            by_model = event.role.by_model
            items.append(RedactionItem(event.text, by_model=by_model))
            items.append(RedactionItem(_loose(event), by_model=by_model))
        cleaned = self._redactor.redact_batch(items)
        made = []
        for place, event in enumerate(taken):
            text, loose = cleaned[2 * place], cleaned[2 * place + 1]
            counts = Counter(text.counts) + Counter(loose.counts)
            tree: Any = loose.value
            made.append((_cleaned(event, str(text.value), tree, counts, now), tree["ids"]))
        return made

    def _hashed(self, event: Event) -> events.NewEvent:
        digest = blake2b(_canonical(event), digest_size=16).digest()
        return events.NewEvent(event, digest, self._redactor.version)


def _receipt(event: Event, seq: int, *, duplicate: bool) -> Receipt:
    return Receipt(event.id, seq, duplicate=duplicate, redactions=event.redactions)


def _ids(event: Event) -> dict[str, list[str]]:
    """Every id that an event carries, by field."""
    found: dict[str, list[str]] = {"id": [event.id]}
    if event.task_id is not None:
        found["task.id"] = [event.task_id]
    if event.request_id is not None:
        found["request_id"] = [event.request_id]
    if event.objects:
        found["objects.id"] = [ref.id for ref in event.objects]
    if event.causes:
        found["causes"] = list(event.causes)
    if event.recalled:
        found["recalled"] = list(event.recalled)
    return found


def _refusal(place: int, event: Event, cleaned_ids: Sequence[list[str]]) -> Exception | None:
    """Ids are looked up and shown: one that holds a secret can't be cleaned, only refused."""
    for (field, ids), after in zip(_ids(event).items(), cleaned_ids, strict=True):
        if ids != after:
            return BadRequestError(
                f"events[{place}].{field} holds what looks like a secret; send an id without one."
            )
    return None


def _loose(event: Event) -> dict[str, Any]:
    """What may hold a secret beside the text, as one tree."""
    tree = {
        "data": event.data,
        "stream": event.stream,
        "speaker": event.speaker,
        "ref": event.ref,
        "titles": [ref.title for ref in event.objects],
    }
    return {"ids": list(_ids(event).values())} | {
        name: value for name, value in tree.items() if value
    }


def _cleaned(event: Event, text: str, loose: Any, counts: dict[str, int], now: int) -> Event:
    titles = loose.get("titles") or [None] * len(event.objects)
    return replace(
        event,
        text=text,
        data=loose.get("data", event.data),
        stream=loose.get("stream", event.stream),
        speaker=loose.get("speaker", event.speaker),
        ref=loose.get("ref", event.ref),
        objects=tuple(
            replace(ref, title=title) for ref, title in zip(event.objects, titles, strict=True)
        ),
        redactions=counts,
        received_at=now,
    )


def _canonical(event: Event) -> bytes:
    """What "same content" means: the redacted event after defaults, keys sorted."""
    return orjson.dumps(
        [
            event.kind, event.at, event.role.value, event.stream, event.speaker, event.ref,
            event.text, event.data, event.task_id, event.task_version, event.request_id,
            event.causes, int(event.priority), event.recalled, event.expires_at,
            [(ref.id, ref.kind, ref.title) for ref in event.objects],
        ],
        option=orjson.OPT_SORT_KEYS,
    )  # fmt: skip
