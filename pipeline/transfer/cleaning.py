"""What a document brings goes through the same cleaning as any event (mission B6).

The words of an edit become events of their own: `record.edit`, said by the user, with `import` as
their reference. They are kept as evidence and go to audit, since their effect is there already.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from json import dumps
from typing import Any, Final

from pipeline.rules.cleaning import Cleaned, clean
from pipeline.rules.filtering import RECORD_EDIT
from pipeline.text.redaction import Redactor
from pipeline.transfer.deciding import WORDS
from storage.records.events import OWNER_OBJECT, Event, ObjectRef, Role
from storage.records.knowledge import Authority, MemoryObject, Record

IMPORT: Final = "import"
"""The reference of events that an import has made."""

_NOBODY: Final = "-"
_SPEAKERS: Final = {
    Authority.EXTERNAL: Role.EXTERNAL,
    Authority.INFERENCE: Role.SUPERVISOR,
    Authority.OBSERVATION: Role.OBSERVATION,
    Authority.VERIFICATION: Role.VERIFICATION,
    Authority.USER: Role.USER,
}
"""As whose text a record's own words are looked at: no rule is laxer than that of their source."""


@dataclass(frozen=True, slots=True)
class Words:
    """A text of a record: in which field, and at which place of a list."""

    field: str
    place: int | None
    text: str


class SecretNameError(Exception):
    """An id or a slot holds what looks like a secret: it can't be cleaned, only refused."""


def words_of(record: Record, names: tuple[str, ...]) -> Iterator[Words]:
    """The texts of these fields of a record, without empty ones."""
    for name in names:
        value = getattr(record, name)
        if isinstance(value, str):
            yield Words(name, None, value)
        elif value is not None:
            yield from (Words(name, place, text) for place, text in enumerate(value))


def with_words(record: Record, words: Iterable[Words]) -> Record:
    """The record with these texts in their places."""
    changed: dict[str, Any] = {}
    for item in words:
        if item.place is None:
            changed[item.field] = item.text
        else:
            entries = list(changed.get(item.field, getattr(record, item.field)))
            entries[item.place] = item.text
            changed[item.field] = tuple(entries)
    return replace(record, **changed)


# ---- edits -----------------------------------------------------------------


def cleaned_edit(
    record: Record, present: Record, redactor: Redactor
) -> tuple[Record, Mapping[str, int]]:
    """A known record's document with its new words as they may be kept, and what these have lost.

    First of all: neither a decision nor an id may hang on what is not kept.
    """
    new = [item for item in words_of(record, WORDS) if not _stood(present, item)]
    if not new:
        return record, {}
    made = clean([_said(record, item.text, Role.USER) for item in new], redactor)
    words = (replace(item, text=one.event.text) for item, one in zip(new, made, strict=True))
    return with_words(record, words), _counted(made)


def edit_events(record: Record, present: Record, edited: tuple[str, ...], now: int) -> list[Event]:
    """The events of an edit's new words, one for each text that was not there before."""
    return [
        _edit(record, item, now)
        for item in words_of(record, edited)
        if item.text.strip() and not _stood(present, item)
    ]


def _said(record: Record, text: str, role: Role) -> Event:
    """A text of a record as an event, to be looked at as one."""
    return Event(record.owner_scope, _NOBODY, RECORD_EDIT, 0, role, text=text)


def _counted(made: Iterable[Cleaned]) -> Mapping[str, int]:
    return sum((Counter(item.redactions) for item in made), Counter[str]())


def _stood(present: Record, item: Words) -> bool:
    before = getattr(present, item.field)
    return item.text == before if item.place is None else item.text in before


def _edit(record: Record, item: Words, now: int) -> Event:
    about = record.subject_id
    # The same edit of the same version is the same event: an import that comes again doubles none.
    told = [record.id, record.revision, item.field, item.place, item.text]
    return Event(
        owner=record.owner_scope,
        id="edit-" + blake2b(dumps(told).encode(), digest_size=12).hexdigest(),
        kind=RECORD_EDIT,
        at=now,
        role=Role.USER,
        text=item.text,
        ref=IMPORT,
        objects=() if about == OWNER_OBJECT else (ObjectRef(about),),
    )


# ---- what comes in whole ---------------------------------------------------


def cleaned_record(record: Record, redactor: Redactor) -> tuple[Record, Mapping[str, int]]:
    """A record as it may be kept, and what it has lost, by kind.

    Raises:
        SecretNameError: An id or the slot holds a secret.
    """
    role = _SPEAKERS[record.authority]
    own = list(words_of(record, WORDS))
    quotes = [span for span in record.evidence if span.seq < 0]
    named = "\n".join(filter(None, (record.key, record.reason)))
    texts = [_said(record, item.text, role) for item in own]
    # A quote is verbatim, whoever said it: nothing but secrets is taken out of it.
    texts += [_said(record, span.quote, Role.USER) for span in quotes]
    names = replace(_said(record, named, role), id=record.id, causes=_ids(record))
    *made, called = clean([*texts, names], redactor)
    if called.secret_id is not None or called.event.text != named:
        raise SecretNameError
    counts = _counted(made)
    if not counts:
        return record, counts
    said = (replace(w, text=c.event.text) for w, c in zip(own, made, strict=False))
    verbatim = iter(made[len(own) :])
    spans = [
        replace(span, quote=next(verbatim).event.text) if span.seq < 0 else span
        for span in record.evidence
    ]
    return replace(with_words(record, said), evidence=tuple(spans)), counts


def cleaned_object(
    found: MemoryObject, redactor: Redactor
) -> tuple[MemoryObject, Mapping[str, int]]:
    """An object as it may be kept, and what its title has lost, by kind.

    Raises:
        SecretNameError: Its id holds a secret.
    """
    # Nobody knows who has given the title, and it stands in prompts.
    event = Event(found.owner, found.id, RECORD_EDIT, 0, Role.EXTERNAL, text=found.title)
    (made,) = clean([event], redactor)
    if made.secret_id is not None:
        raise SecretNameError
    return replace(found, title=made.event.text or found.id), made.redactions


def _ids(record: Record) -> tuple[str, ...]:
    scope = (*record.scope.objects, *filter(None, (record.scope.task,)))
    told = (name for origin in record.origins for name in (*origin.chain, *origin.recalled))
    events = (span.event_id for span in record.evidence)
    linked = (*record.supersedes, *record.conflicts_with, *record.links)
    return (record.subject_id, *scope, *linked, *events, *told)
