"""What a worker has said in words of something that goes, whatever it has quoted for it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline.forgetting.covering import strings
from pipeline.rules import forgetting
from pipeline.rules.forgetting import Place
from pipeline.rules.wording import content_words
from storage.records.events import Event
from storage.records.knowledge import Record
from storage.repositories import events, forgettable, records


@dataclass(frozen=True, slots=True)
class LostWords:
    """What goes of events: `whole`, `places` of others; `going` are all that are no source any more."""

    whole: Sequence[Event]
    places: Mapping[int, Sequence[Place]]
    going: Collection[int]


class Borrowing:
    """Tells what was made of packages in words that go from them.

    Args:
        owner: Whose.
        lost: What goes.
        packages: The packages that lose it: their workers have seen it.
    """

    def __init__(self, owner: str, lost: LostWords, packages: Collection[int]) -> None:
        self._owner = owner
        self._lost = lost
        self._packages = packages

    @cached_property
    def _words(self) -> frozenset[str]:
        losing = events.by_seqs(self._owner, self._lost.places)
        said = [event.text[a:b] for event in losing for a, b in self._lost.places[event.seq]]
        for event in self._lost.whole:
            said += [event.text, *strings(event.data)]
        return content_words("\n".join(said))

    def borrows(self, said: Record) -> bool:
        """Whether a record says words of what goes that its standing quotes don't hold."""
        left = (
            span.quote
            for span in said.evidence
            if span.seq not in self._lost.going
            and not forgetting.overlap((span.start, span.end), self._lost.places.get(span.seq, ()))
        )
        return forgetting.borrows(said, self._words, left)

    def records(self) -> set[str]:
        """The ids of records that do."""
        stored = forgettable.proposals_of(self._packages)
        made = {found.record_id for found in stored if found.record_id}
        made |= set(forgettable.settled_by(self._packages))
        return {record.id for record in records.by_ids(self._owner, made) if self.borrows(record)}
