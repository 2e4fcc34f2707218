"""The look at a whole file before any of it is sent."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from socket_gateway.replaying.errors import Fault, ReplayError
from socket_gateway.replaying.forms import ReadEvent, UnfitLineError, read_event
from socket_gateway.replaying.reading import digest, lines


@dataclass(frozen=True, slots=True)
class Line:
    """An event and the number of its line."""

    number: int
    read: ReadEvent


@dataclass(slots=True)
class Survey:
    """What a file holds.

    Attributes:
        path: The file.
        sha256: Of its bytes, so that a changed file isn't taken for the old one.
        size: In bytes.
        events: Lines that can be sent.
        owners: Events for each owner.
        ignored: Fields that an event has no place for, with how many lines had them.
        faults: Lines that can't be sent.
    """

    path: Path
    sha256: str
    size: int
    events: int = 0
    owners: Counter[str] = field(default_factory=Counter)
    ignored: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    @property
    def bad_lines(self) -> frozenset[int]:
        """The numbers of the lines that can't be sent."""
        return frozenset(fault.line for fault in self.faults)


class Surveyor:
    """Reads whole files; one surveyor for all files of a replay, since ids must agree in all.

    Args:
        owner: Whose memory instead of the lines' own.
        progress: Told of each line that was read.
    """

    def __init__(self, owner: str | None, progress: Callable[[int], None]) -> None:
        self._owner = owner
        self._progress = progress
        self._known: dict[bytes, tuple[bytes, str]] = {}

    def survey(self, path: Path) -> Survey:
        """Read a file to its end.

        Raises:
            ReplayError: Its lines can't be told apart.
            OSError: It can't be read.
        """
        found = Survey(path, digest(path), path.stat().st_size)
        for number, line in lines(path):
            try:
                read = read_event(line, self._owner)
                self._check_id(read, f"{path}:{number}")
            except UnfitLineError as error:
                found.faults.append(Fault(str(path), number, error.field, error.reason))
            else:
                found.events += 1
                found.owners[read.owner] += 1
                found.ignored.update(read.ignored)
            self._progress(1)
        return found

    def _check_id(self, read: ReadEvent, place: str) -> None:
        key = _short(f"{read.owner}\0{read.event['id']}".encode())
        content = _short(read.canonical)
        known, where = self._known.setdefault(key, (content, place))
        if known != content:
            raise UnfitLineError("id", f"is the same as at {where}, but the content is another")


def good_lines(survey: Survey, owner: str | None, *, after: int) -> Iterator[Line]:
    """The lines behind number `after` that the survey found fit."""
    bad = survey.bad_lines
    for number, line in lines(survey.path):
        if number > after and number not in bad:
            yield Line(number, _again(survey, number, line, owner))


def _again(survey: Survey, number: int, line: bytes, owner: str | None) -> ReadEvent:
    try:
        return read_event(line, owner)
    except UnfitLineError as error:
        fault = Fault(str(survey.path), number, error.field, error.reason)
        raise ReplayError([fault], "The file changed while it was replayed:") from None


def _short(content: bytes) -> bytes:
    return blake2b(content, digest_size=12).digest()
