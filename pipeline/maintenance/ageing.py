"""The ageing sweep: records end whose time is over, and readers are told.

Run by the ticker, once a minute unless set otherwise. It asks indexes that hold nothing that is over, so that a memory in
which nothing is due is only looked at; what is due is looked at again in the transaction that ends
it (mission D5, D7, F3).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from pipeline.rules import aging
from pipeline.rules.aging import Kept
from pipeline.rules.forms import forms_of
from pipeline.rules.relating import DISABLED
from pipeline.rules.reviewing import DAY_MS
from storage.records.knowledge import Change, Record
from storage.repositories import ageing, journal, packages, positions, records
from storage.repositories.ageing import Name
from storage.repositories.journal import Cause
from storage.writer import Writer

CHUNK: Final = 50
"""Records that one transaction ends."""

OWNERS: Final = 20
"""Owners whose candidates one run looks at; the next run goes on behind them."""

LOOK_BACK: Final = 20_000
"""Events of an owner that one run reads on its way to the newest one."""


@dataclass(slots=True)
class _Seen:
    """How far an owner's events have been looked through, and the newest observation among them."""

    upto: int = 0
    newest: int = 0


@dataclass(frozen=True, slots=True)
class _Due:
    """Records that are to end for one reason, and what that is judged by."""

    reason: str
    names: Sequence[Name]
    newest: int = 0
    kept: Kept | None = None


@dataclass(slots=True)
class Ageing:
    """Ends records.

    Args:
        writer: The process's writer.
        kept: How long records of each kind are kept.
        every_ms: How long it rests after a run that has ended all that was due.
    """

    writer: Writer
    kept: Sequence[Kept]
    every_ms: int
    _ran_at: int | None = None
    _behind: str = ""
    _seen: dict[str, _Seen] = field(default_factory=dict)

    def sweep(self, now: int) -> int:
        """End what is due, a chunk of each reason, when it is time; how many records were.

        Once a chunk was full the next call goes on at once. Writes only where something is due.
        """
        if self._ran_at is not None and self._ran_at <= now < self._ran_at + self.every_ms:
            return 0
        found = [
            _Due(aging.VALIDITY, ageing.past_validity(now, CHUNK)),
            *self._unborne(now),
            *self._untold(now),
        ]
        due = [part for part in found if part.names]
        done = sum(
            self.writer.call("age", partial(_end, part, now), rows=len(part.names)) for part in due
        )
        full = any(len(part.names) == CHUNK for part in due)
        self._ran_at = None if full else now
        return done

    def _unborne(self, now: int) -> list[_Due]:
        """Facts that have waited too long, of the next few owners who have any."""
        found: list[_Due] = []
        for _ in range(OWNERS):
            owner = ageing.next_owner(self._behind)
            if owner is None:
                self._behind = ""
                break
            self._behind = owner
            newest = min(self._newest(owner), now)
            names = ageing.waiting(owner, newest - aging.WAIT_MS, CHUNK)
            found.append(_Due(DISABLED, names, newest))
        return found

    def _newest(self, owner: str) -> int:
        """When the newest of what is organized was observed, as far as was looked.

        What is received but not organized may bear out what waits, so it ages nothing yet.
        """
        seen = self._seen.setdefault(owner, _Seen())
        organized = positions.heights(owner).organized
        if organized > seen.upto:
            newest, seen.upto = ageing.newest_at(owner, seen.upto, organized, LOOK_BACK)
            seen.newest = max(seen.newest, newest or 0)
        return seen.newest

    def _untold(self, now: int) -> list[_Due]:
        return [
            _Due(
                aging.RETENTION,
                ageing.untold_since(kept.kind, kept.fact_class, now - kept.days * DAY_MS, CHUNK),
                kept=kept,
            )
            for kept in self.kept
            if kept.days
        ]


def _end(due: _Due, now: int) -> int:
    """End these records, if they still stand as they were found; in one transaction."""
    owned: dict[str, list[str]] = defaultdict(list)
    for owner, record_id in due.names:
        owned[owner].append(record_id)
    return sum(_end_of(owner, ids, due, now) for owner, ids in owned.items())


def _end_of(owner: str, ids: Sequence[str], due: _Due, now: int) -> int:
    over = [
        record
        for record in records.by_ids(owner, ids)
        if aging.ends(record, due.reason, now_ms=now, newest_ms=due.newest, kept=due.kept)
    ]
    about: dict[str, list[Record]] = defaultdict(list)
    for record in over:
        about[record.subject_id].append(record)
    for subject, ending in sorted(about.items()):
        package_id = packages.open_act(owner, subject, now)
        changed: dict[str, None] = {}
        for record in ending:
            changed |= dict.fromkeys(_end_one(owner, record.id, due.reason, now, package_id))
        packages.settled_act(package_id, inserted=[], updated=list(changed), now=now)
    return len(over)


def _end_one(owner: str, record_id: str, reason: str, now: int, package_id: int) -> list[str]:
    change = aging.REASONS[reason]
    changed = ended(owner, record_id, change, reason)
    cause = Cause(change, now, package_id, record_id, {"reason": reason})
    journal.write(owner, changed, cause, forms=forms_of)
    return [record.id for record in changed]


def ended(owner: str, record_id: str, change: Change, reason: str) -> list[Record]:
    """What the end of a record changes, as records stand now: so for a replay too."""
    record = records.get(owner, record_id)
    disputed = records.by_ids(owner, record.conflicts_with) if record.conflicts_with else []
    return aging.ended(record, disputed, change, reason)
