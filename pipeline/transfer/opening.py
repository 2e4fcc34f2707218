"""Documents of one call, read: whose they are, and that no two are about the same thing."""

from collections.abc import Sequence

from pipeline.transfer.deciding import Decision, Outcome
from pipeline.transfer.reading import ReadIndex, ReadObject, ReadRecord, read
from pipeline.transfer.refusals import Refusal, Unreadable

Opened = ReadRecord | ReadObject | Decision


def opened(owner: str, texts: Sequence[str]) -> list[Opened]:
    """What each document says, or why it is refused whatever memory holds."""
    told: set[tuple[str | None, str]] = set()
    return [_opened(owner, text, told) for text in texts]


def _opened(owner: str, text: str, told: set[tuple[str | None, str]]) -> Opened:
    try:
        found = read(text)
    except Unreadable as unreadable:
        return Decision(
            Outcome.REFUSED,
            code=unreadable.code,
            reason=unreadable.reason,
            field=unreadable.field,
            line=unreadable.line,
        )
    if isinstance(found, ReadIndex):
        return Decision(Outcome.IGNORED, "index")
    if isinstance(found, ReadRecord):
        whose, base = (
            found.record.owner_scope,
            Decision(Outcome.UNCHANGED, "record", found.record.id),
        )
    else:
        whose, base = found.object.owner, Decision(Outcome.UNCHANGED, "object", found.object.id)
    if whose != owner:
        return base.refused(Refusal.FOREIGN_OWNER, "it is another owner's", "owner")
    if (base.form, base.id or "") in told:
        return base.refused(
            Refusal.DUPLICATE, "another document of this call is about it too", "id"
        )
    told.add((base.form, base.id or ""))
    return found
