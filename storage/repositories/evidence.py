"""Evidence, looked at again whenever it is to be shown: do the events still give the words?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storage.records.knowledge import Record
from storage.repositories import events


@dataclass(frozen=True, slots=True)
class Proven:
    """A record on the spans that stand; `missing` are the ids of events that no longer give theirs."""

    record: Record
    missing: tuple[str, ...] = ()


def proven(owner: str, found: Sequence[Record]) -> list[Proven]:
    """Records of one owner as they may be shown, each span held against its event's text now."""
    seqs = {span.seq for record in found for span in record.evidence}
    texts = {event.seq: event.text for event in events.by_seqs(owner, seqs)}
    answers = []
    for record in found:
        standing = tuple(
            span
            for span in record.evidence
            if span.seq in texts and span.stands_in(texts[span.seq])
        )
        if len(standing) == len(record.evidence):
            answers.append(Proven(record))
            continue
        lost = dict.fromkeys(span.event_id for span in record.evidence if span not in standing)
        answers.append(Proven(replace(record, evidence=standing), tuple(lost)))
    return answers
