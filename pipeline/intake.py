"""Intake: events are cleaned, given their sequence number and made durable.

The door hands requests in; the writer takes every request that waits as one group, so that one
look at all texts, one id look-up and one fsync serve them all (mission B1, B2, B6; spec: design,
Group commit).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import orjson

from pipeline.rules.cleaning import Cleaned, clean, rules_version
from pipeline.text.redaction import Redactor
from storage.clock import Clock
from storage.errors import BadRequestError, ConflictError
from storage.records.events import Event, Positions, Receipt
from storage.repositories import events, positions, tombstones


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
        self._version = rules_version(redactor)
        self._clock = clock

    def prepare(self, items: Sequence[IngestRequest]) -> list[_Prepared]:
        """Clean and hash the events of all requests at once, before any transaction."""
        cleaned = iter(
            clean([event for request in items for event in request.events], self._redactor)
        )
        now = self._clock.now_ms()
        prepared = []
        for request in items:
            work = _Prepared(request, [])
            for place in range(len(request.events)):
                found = next(cleaned)
                if found.secret_id is not None and work.error is None:
                    work.error = _refusal(place, found.secret_id)
                work.new.append(self._hashed(found, now))
            prepared.append(work)
        return prepared

    def apply(self, prepared: Sequence[_Prepared]) -> list[IngestAnswer | Exception]:
        """Tell duplicates and conflicts from new events, and write the new ones."""
        known = self._look_up(prepared)
        first_seq = events.last_seq() + 1
        fresh: list[events.NewEvent] = []
        outcomes: list[list[Receipt] | Exception] = []
        for work in prepared:
            outcome = work.error or self._judge(work, known, first_seq + len(fresh))
            if isinstance(outcome, Exception):
                outcomes.append(outcome)
                continue
            receipts, added = outcome
            fresh += added
            outcomes.append(receipts)
        if fresh:
            events.insert(fresh, first_seq)
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
        known = {
            (owner, event_id): identity
            for owner, ids in wanted.items()
            for event_id, identity in events.identities(owner, list(ids)).items()
        }
        for owner, ids in wanted.items():
            if tombstones.any_of(owner):
                known |= {
                    (owner, event_id): events.StoredIdentity(seq, b"", "", forgotten=True)
                    for event_id, seq in tombstones.forgotten_events(owner, ids).items()
                }
        return known

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
                added.append(new)
                mine[key] = events.StoredIdentity(seq, new.hash, new.redactor)
                receipts.append(_receipt(new, seq, duplicate=False))
            elif stored.forgotten:
                again = Receipt(new.event.id, stored.seq, duplicate=True, forgotten=True)
                receipts.append(again)
            elif stored.hash == new.hash:
                receipts.append(_receipt(new, stored.seq, duplicate=True))
            elif self._differs_by_redactor(new, stored):
                known_again = _receipt(new, stored.seq, duplicate=True)
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
        again = clean(found, self._redactor)
        return bool(again) and self._hashed(again[0], 0).hash == new.hash

    def _hashed(self, cleaned: Cleaned, now: int) -> events.NewEvent:
        digest = blake2b(_canonical(cleaned.event), digest_size=16).digest()
        return events.NewEvent(cleaned.event, digest, self._version, now, cleaned.redactions)


def _receipt(new: events.NewEvent, seq: int, *, duplicate: bool) -> Receipt:
    return Receipt(new.event.id, seq, duplicate=duplicate, redactions=new.redactions)


def _refusal(place: int, field: str) -> BadRequestError:
    named = field if field == "owner" else f"events[{place}].{field}"
    return BadRequestError(f"{named} holds what looks like a secret; name it otherwise.")


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
