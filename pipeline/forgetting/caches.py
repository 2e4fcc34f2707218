"""Stored recall requests: which of them told of what goes, or asked in its words."""

from collections.abc import Collection
from functools import cached_property

import orjson

from pipeline.errors import LostRaceError
from pipeline.text.needles import Finder, pieces
from storage.repositories import erasure


class StoredRecalls:
    """An owner's stored recall requests, looked through before a transaction and once more in it.

    A request goes if its result names a record or an event that goes, or if it holds words of what
    goes, as a question may.

    Args:
        owner: Whose.
        names: Ids of records and events that go, or lose words.
        texts: What goes, in words.
    """

    def __init__(self, owner: str, names: Collection[str], texts: Collection[str]) -> None:
        self._owner = owner
        self._names = names
        self._words = texts
        self._seen: set[tuple[str, str]] = set()
        self.texts: list[str] = []
        """Params of those that go: what they asked is gone then, too."""
        self._touched = self._look()

    @cached_property
    def _finder(self) -> Finder:
        wanted = {orjson.dumps(name) for name in self._names}
        wanted.update(piece for text in self._words for piece in pieces(text))
        return Finder(sorted(wanted))

    def touched(self) -> list[str]:
        """The ids of those that go, as they stand now.

        Raises:
            LostRaceError: Another one does by now, which nobody has looked through before.
        """
        if self._look():
            raise LostRaceError
        return self._touched

    def _look(self) -> list[str]:
        """Look through those that were not looked through yet."""
        fresh = [key for key in erasure.recall_keys(self._owner) if key not in self._seen]
        self._seen.update(fresh)
        found = []
        stored = erasure.recall_texts(self._owner, [request_id for request_id, _ in fresh])
        for request_id, params, result in stored:
            if self._finder.found(params.encode()) or self._finder.found(result.encode()):
                found.append(request_id)
                self.texts.append(params)
        return found
