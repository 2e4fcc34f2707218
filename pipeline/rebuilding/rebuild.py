"""*Rebuild*: what is derived is made anew and compared; what differs is put right.

Records come from the journal and the recorded proposals, index entries from events and records,
snapshots from records (mission A2; spec: design, invariant 6). Everything is worked out beside what
is in use, and replaces it subject by subject, so that readers never see half of it.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pipeline.errors import LostRaceError
from pipeline.rebuilding import index_entries
from pipeline.rebuilding.replaying import replay
from pipeline.stages.publish import Publish
from pipeline.text.tokenise import Tokenizer
from storage.faults import faults
from storage.repositories import intake, journal, objects, scratch, snapshots, tombstones
from storage.writer import Writer

log = logging.getLogger(__name__)

RACE_TRIES = 20


class Part(StrEnum):
    """What can be made anew."""

    RECORDS = "records"
    INDEX = "index"
    SNAPSHOTS = "snapshots"


@dataclass(slots=True)
class Report:
    """How many of each kind were looked at, and what became of them."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, part: Part, found: dict[str, int]) -> None:
        """Count what was found of one part."""
        self.counts.setdefault(part.value, Counter()).update(found)

    def told(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return {part: dict(counts) for part, counts in self.counts.items()}


class Rebuild:
    """Makes what is derived anew.

    Args:
        writer: The process's writer.
        publish: Projects records into snapshots.
        tokenizer: The tokenizer of index and questions.
        rewrite_index: Builds the lexical index again from its rows.
    """

    def __init__(
        self,
        writer: Writer,
        publish: Publish,
        tokenizer: Tokenizer,
        rewrite_index: Callable[[str], None],
    ) -> None:
        self._writer = writer
        self._publish = publish
        self._tokenizer = tokenizer
        self._rewrite_index = rewrite_index

    def run(
        self,
        parts: Collection[Part],
        owner: str | None,
        *,
        dry_run: bool,
        told: Callable[[dict[str, Any]], None],
    ) -> dict[str, Any]:
        """Make these parts anew, of one owner or of all.

        Args:
            parts: Which; records come before what is made from them.
            owner: Whose, None for everybody's.
            dry_run: Only compare.
            told: Given the report so far after each piece of work.

        Returns:
            Counts by part: `same`, `changed`, `added`, `removed`; of records also how many objects
            `failed`.

        Raises:
            LostRaceError: A subject kept changing; ask again.
        """
        report = Report()
        if Part.RECORDS in parts:
            for whose, subject in journal.subjects(owner):
                report.add(Part.RECORDS, self._subject_or_fault(whose, subject, dry_run=dry_run))
                told(report.told())
        if Part.INDEX in parts:
            for whose in intake.owners() if owner is None else [owner]:
                report.add(Part.INDEX, self._index(whose, dry_run=dry_run))
                told(report.told())
            if not dry_run:
                self._rewrite_index("an operator asked for it")
        if Part.SNAPSHOTS in parts:
            for whose, subject in snapshots.subjects(owner):
                report.add(Part.SNAPSHOTS, self._snapshot(whose, subject, dry_run=dry_run))
            told(report.told())
        return report.told()

    def _subject_or_fault(self, owner: str, subject: str, *, dry_run: bool) -> dict[str, int]:
        """One subject's records; one that can't be replayed must not keep the others as they are."""
        try:
            return self._subject(owner, subject, dry_run=dry_run)
        except Exception as error:  # noqa: BLE001 - counted and told, whatever it is
            # Ids may say much about a person, so the log tells neither whose nor which.
            log.error("records of one object were not made anew: %s", type(error).__name__)  # noqa: TRY400 - a trace could hold text
            return {"failed": 1}

    def _subject(self, owner: str, subject: str, *, dry_run: bool) -> dict[str, int]:
        """One subject's records: replayed beside what is stored, then put in its place."""
        for _ in range(RACE_TRIES):
            with scratch.scratch(), scratch.reading():
                revision = objects.revision(owner, subject)
                replay(owner, subject)
                found = scratch.changed(owner, subject)
                rows = scratch.made(owner, subject)
            if dry_run or found["same"] == sum(found.values()):
                return found
            faults.fire("rebuild.before_subject")
            done = self._writer.call(
                "rebuild",
                lambda of=rows, at=revision: _replace(owner, subject, of, at),  # type: ignore[misc]
            )
            if done:
                return found
        raise LostRaceError(f"{subject} kept changing; ask again when less is under way.")

    def _index(self, owner: str, *, dry_run: bool) -> dict[str, int]:
        """An owner's index entries; from the start again when something was forgotten meanwhile."""
        for _ in range(RACE_TRIES):
            forgotten = tombstones.count(owner)
            counts: Counter[str] = Counter()
            for found in index_entries.differing(owner, self._tokenizer):
                counts.update(found.counts)
                if dry_run or not found.entries:
                    continue
                faults.fire("rebuild.before_entries")
                if not self._appended(owner, found, forgotten):
                    break
            else:
                return dict(counts)
        raise LostRaceError("Things are being forgotten; ask again when that has ended.")

    def _appended(self, owner: str, found: index_entries.Found, forgotten: int) -> bool:
        return self._writer.call(
            "rebuild",
            lambda: index_entries.append(
                owner, found, forgotten=forgotten, tokenizer=self._tokenizer
            ),
        )

    def _snapshot(self, owner: str, subject: str, *, dry_run: bool) -> dict[str, int]:
        new = self._publish.project(owner, subject)
        stored = snapshots.get(owner, subject)
        if stored.hash == new.snapshot.hash if stored else not new.snapshot.sections:
            return {"same": 1}
        if not dry_run:
            self._writer.call("rebuild", lambda: snapshots.publish(new))
        return {"changed": 1} if stored is not None else {"added": 1}


def _replace(owner: str, subject: str, rows: scratch.Rows, revision: int) -> bool:
    if not scratch.replace_stored(owner, subject, rows, expected_revision=revision):
        return False
    snapshots.count_settling(owner)
    return True
