"""A whole replay: look at the files, send what is not yet durable, wait for its publication."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from socket_gateway.client import MemoryClient
from socket_gateway.protocol import PositionsResult
from socket_gateway.replaying.errors import Fault, ReplayError
from socket_gateway.replaying.publishing import PublicationWait
from socket_gateway.replaying.reading import digest
from socket_gateway.replaying.sending import Sender, Tally
from socket_gateway.replaying.standing import Standings, confirmed
from socket_gateway.replaying.survey import Line, Survey, Surveyor, good_lines

Told = Callable[[str, int, int], None]
"""Called with what is being done, how far it is, and how far it will go."""

READING: Final = "reading"
SENDING: Final = "sending"
PUBLISHING: Final = "publishing"


@dataclass(slots=True)
class FileReport:
    """What became of one file; `skipped` counts events that an earlier replay had sent."""

    survey: Survey
    skipped: int = 0
    tally: Tally = field(default_factory=Tally)

    def as_json(self) -> dict[str, Any]:
        """The report of this file for machines."""
        return {
            "file": str(self.survey.path),
            "events": self.survey.events,
            "accepted": self.tally.accepted,
            "duplicates": self.tally.duplicates,
            "skipped": self.skipped,
            "redactions": dict(sorted(self.tally.redactions.items())),
            "ignored_fields": dict(sorted(self.survey.ignored.items())),
            "bad_lines": len(self.survey.faults),
        }


@dataclass(slots=True)
class Report:
    """What became of a replay.

    Attributes:
        files: File by file.
        positions: Where each owner stands; empty when nobody waited for it.
        dead_before: Packages that were parked before, by owner.
        newly_dead: Packages that were parked meanwhile, by owner.
    """

    files: list[FileReport]
    positions: dict[str, PositionsResult] = field(default_factory=dict)
    dead_before: dict[str, int] = field(default_factory=dict)
    newly_dead: Counter[str] = field(default_factory=Counter)

    @property
    def heights(self) -> dict[str, int]:
        """Each owner's highest sequence number among the files' events."""
        found: dict[str, int] = {}
        for file in self.files:
            for owner, (_, seq) in file.tally.last.items():
                found[owner] = max(seq, found.get(owner, 0))
        return found

    @property
    def faults(self) -> list[Fault]:
        """The lines that were left out."""
        return [fault for file in self.files for fault in file.survey.faults]

    @property
    def failed(self) -> bool:
        """Whether something did not come through."""
        return bool(self.faults or self.newly_dead)

    def redactions(self) -> Counter[str]:
        """What was removed from the new events, by kind."""
        return sum((file.tally.redactions for file in self.files), Counter())


class Replay:
    """Replays files through a client.

    Args:
        client: Where to.
        sender: Sends requests.
        folder: Keeps where each file stands.
        owner: Whose memory instead of the lines' own.
        told: Told of the progress.
    """

    def __init__(
        self,
        client: MemoryClient,
        sender: Sender,
        folder: Path,
        *,
        owner: str | None = None,
        told: Told = lambda *_: None,
    ) -> None:
        self._client = client
        self._sender = sender
        self._standings = Standings(folder, owner)
        self._owner = owner
        self._told = told

    def survey(self, paths: Sequence[Path], *, skip_bad: bool) -> list[Survey]:
        """Read all files to their end before anything is sent.

        Raises:
            ReplayError: Lines are unfit and may not be skipped.
            OSError: A file can't be read.
        """
        count = 0

        def one_more(lines: int) -> None:
            nonlocal count
            count += lines
            self._told(READING, count, 0)

        surveyor = Surveyor(self._owner, one_more)
        surveys = [surveyor.survey(path) for path in paths]
        faults = [fault for survey in surveys for fault in survey.faults]
        if faults and not skip_bad:
            raise ReplayError(faults, "Nothing was sent, since these lines are no events:")
        return surveys

    def send(self, surveys: Sequence[Survey]) -> Report:
        """Send what the service hasn't acknowledged yet.

        Raises:
            ReplayError: The service refuses lines, or a file changed.
            MemoryServiceError: The service fails; a later replay goes on from there.
        """
        report = Report([FileReport(survey) for survey in surveys])
        owners = {owner for survey in surveys for owner in survey.owners}
        report.dead_before = {owner: self._client.positions(owner).dead for owner in owners}
        total = sum(survey.events for survey in surveys)
        done = 0
        for file in report.files:
            self._send_file(file, done, total)
            done += file.survey.events
        return report

    def wait(self, report: Report, wait: PublicationWait) -> None:
        """Wait until everything in the report is published.

        Raises:
            StalledError: Nothing moves.
        """
        total = 0

        def left(events: int) -> None:
            nonlocal total
            total = max(total, events)
            self._told(PUBLISHING, total - events, total)

        report.positions = wait.until(report.heights, left)
        for owner, found in report.positions.items():
            if found.dead > report.dead_before[owner]:
                report.newly_dead[owner] = found.dead - report.dead_before[owner]

    def _send_file(self, file: FileReport, done: int, total: int) -> None:
        survey = file.survey
        standing = confirmed(self._client, self._standings.load(survey))
        file.skipped = standing.events
        file.tally.last.update(standing.last)
        self._told(SENDING, done + standing.events, total)

        def keep(window: list[Line]) -> None:
            standing.line = window[-1].number
            standing.events += len(window)
            standing.last = dict(file.tally.last)
            self._standings.save(survey, standing)
            self._told(SENDING, done + standing.events, total)

        rest = good_lines(survey, self._owner, after=standing.line)
        self._sender.send(str(survey.path), rest, file.tally, keep)
        if digest(survey.path) != survey.sha256:
            fault = Fault(str(survey.path), standing.line, "", "other bytes than at the start")
            raise ReplayError([fault], "The file changed while it was replayed:")
