"""Where a replay stood: what of a file the service has already made durable.

Only a saving: without it a replay sends everything again and gets duplicates.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from socket_gateway.client import MemoryClient
from socket_gateway.replaying.survey import Survey


@dataclass(slots=True)
class Standing:
    """How far a file has been acknowledged.

    Attributes:
        line: Every line up to this number is durable.
        events: How many events those lines held.
        last: The last acknowledged event of each owner: its id and its sequence number.
    """

    line: int = 0
    events: int = 0
    last: dict[str, tuple[str, int]] = field(default_factory=dict)


class Standings:
    """A folder of small files, one for each replayed file and target owner.

    Args:
        folder: `STATE/cache/replay`.
        owner: The target owner, when it isn't the lines' own.
    """

    def __init__(self, folder: Path, owner: str | None) -> None:
        self._folder = folder
        self._owner = owner

    def load(self, survey: Survey) -> Standing:
        """Where the file stood; at its start when nothing, or nothing readable, is known."""
        try:
            found = orjson.loads(self._file(survey).read_bytes())
            return _standing(found) if found["size"] == survey.size else Standing()
        except (OSError, ValueError, KeyError, TypeError):
            return Standing()

    def save(self, survey: Survey, standing: Standing) -> None:
        """Keep where the file stands, replacing what was kept before at once.

        Raises:
            OSError: The folder can't be written.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._file(survey)
        partial = file.with_suffix(".new")
        kept = {
            "sha256": survey.sha256,
            "size": survey.size,
            "line": standing.line,
            "events": standing.events,
            "last": standing.last,
        }
        partial.touch(mode=0o600)
        partial.write_bytes(orjson.dumps(kept))
        partial.replace(file)

    def _file(self, survey: Survey) -> Path:
        target = hashlib.sha256(f"{survey.sha256} {self._owner or ''}".encode()).hexdigest()
        return self._folder / f"{target[:32]}.json"


def confirmed(client: MemoryClient, standing: Standing) -> Standing:
    """The standing if the service still has each owner's last event, else the start.

    The state folder may have been emptied since, or hold another database.
    """
    for owner, (event_id, _) in standing.last.items():
        if client.evidence(event_ids=[event_id], owner=owner, limit=1).missing:
            return Standing()
    return standing


def _standing(found: dict[str, Any]) -> Standing:
    last = {str(owner): (str(pair[0]), int(pair[1])) for owner, pair in found["last"].items()}
    return Standing(int(found["line"]), int(found["events"]), last)
