"""Whether the user's own words ask for a record to hold, or to be set right.

A closed bilingual test: what is not plainly such a request is refused with its reason, and nothing
is changed. Only an event whose role is user gets here (mission F4, B5; spec: protocol, Records).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from pipeline.rules import request_lexicon as words
from pipeline.rules.asserting import is_pasted
from pipeline.rules.borrowing import DATA_ROLES
from pipeline.rules.lexicon import says_always, says_correction, says_once, slot_of
from pipeline.rules.negation import stance
from pipeline.rules.wording import content_words, sentences, simplified
from storage.records.events import Event, Role
from storage.records.knowledge import Record, RecordKind, Span

_MATTER = 1_500
_EDGE = 500
_MOST = 0.75
_STEM = 5
_FEW = 2
# These say what is wanted of a record, not which one.
_MARKS = content_words(
    "确认 启用 恢复 同意 批准 采纳 记住 保留 继续 有效 没错 可以 规则 流程 记录 这条 那条"
    " confirm enable activate restore approve accept adopt keep use apply remember yes ok right"
    " correct true rule procedure record go ahead"
)


class Refusal(StrEnum):
    """Why the user's words are no such request. Stable: callers tell cases apart by it."""

    NOT_OWN_WORDS = "not_own_words"
    QUESTION = "question"
    DENIAL = "denial"
    UNDECIDED = "undecided"
    TAKEN_BACK = "taken_back"
    ONCE = "once"
    NO_REQUEST = "no_request"
    UNRELATED = "unrelated"
    OLDER = "older"


TOLD = MappingProxyType(
    {
        Refusal.NOT_OWN_WORDS: "The user only cites these words: quotation, code, somebody's report"
        " or pasted text. Quote what the user says themself.",
        Refusal.QUESTION: "The user asks and does not say so. Answer, and quote what they reply.",
        Refusal.DENIAL: "The user's words deny it. Leave the record as it is, or correct it.",
        Refusal.UNDECIDED: "The user makes it depend on something, or puts it off. Quote what they"
        " say once it is decided.",
        Refusal.TAKEN_BACK: "The user takes it back, or says something else of it, in the same"
        " message. Quote the words that count in the end.",
        Refusal.ONCE: "The user speaks of one time only, and the record holds beyond it.",
        Refusal.NO_REQUEST: "The quote neither says yes, nor asks for the record, nor states it"
        " anew. Ask the user, and quote their answer.",
        Refusal.UNRELATED: "Nothing shows that the user means this record: quote words that name"
        " it, or an answer to a turn of yours that does (same stream, or named in `causes`).",
        Refusal.OLDER: "The user said this before the record came to say, or to be, what it is now."
        " Ask again, and quote what they say to that.",
    }
)
"""What a caller is told, and what to do instead. None of it repeats anything."""


@dataclass(frozen=True, slots=True)
class Request:
    """Words of the user and what is known around them.

    `own` is the event's text, folded, with what is not the user's own masked, every position kept.
    `before` are the newest events before it, oldest first, whoever spoke.
    """

    event: Event
    span: Span
    own: str
    before: tuple[Event, ...] = ()

    @property
    def said(self) -> str:
        """The sentences that the quote stands in: a part of one may say the opposite."""
        start, end = self._sentences()
        return self.own[start:end]

    @property
    def told(self) -> str:
        """The user's own part of the quote, with the names that they put between quotation marks."""
        start, end = self.span.start, self.span.end
        own, folded = list(self.own[start:end]), simplified(self.span.quote)
        for match in words.NAMED.finditer(folded):
            here = slice(*match.span("name"))
            if own[match.start()] == folded[match.start()]:
                own[here] = folded[here]
        return "".join(own)

    @property
    def others(self) -> Iterator[str]:
        """The sentences behind them."""
        _, end = self._sentences()
        rest = self.own[end:]
        return (rest[first:last] for first, last in sentences(rest))

    def _sentences(self) -> tuple[int, int]:
        met = [
            (start, end)
            for start, end in sentences(self.own)
            if start < self.span.end and end > self.span.start
        ]
        if not met:
            return self.span.start, self.span.end
        return min(met[0][0], self.span.start), max(met[-1][1], self.span.end)


def refuses_confirmation(record: Record, request: Request) -> Refusal | None:
    """Why the user's words do not confirm a record, or None where they do."""
    return (
        _not_said(record, request)
        or _denied(record, request)
        or _left_open(record, request)
        or _withdrawn(record, request)
        or _not_asked(record, request)
    )


def refuses_correction(record: Record, content: str, request: Request) -> Refusal | None:
    """Why the user's words do not set a record right to `content`, or None where they do."""
    return (
        _not_said(record, request)
        or _limited(record, request)
        or _withdrawn(record, request)
        or _not_theirs(record, content, request)
    )


# ---- what holds for both -----------------------------------------------------


def _not_said(record: Record, request: Request) -> Refusal | None:
    if request.span.seq < min((span.seq for span in record.evidence), default=0):
        return Refusal.OLDER
    quoted = request.own[request.span.start : request.span.end]
    if not any(char.isalnum() for char in quoted) or _is_matter(request) or _is_pasted(request):
        return Refusal.NOT_OWN_WORDS
    return Refusal.QUESTION if words.asks(request.said) else None


def _is_matter(request: Request) -> bool:
    """Whether it stands in the middle of a text so long that it is matter and not said."""
    span, length = request.span, len(request.event.text)
    return length > _MATTER and span.end > _EDGE and span.start < length - _EDGE


def _is_pasted(request: Request) -> bool:
    """Whether a page, a screen or a tool has just said the same, word for word."""
    return is_pasted([request.span], (turn for turn in request.before if turn.role in DATA_ROLES))


def _limited(record: Record, request: Request) -> Refusal | None:
    """An exception is no rule (mission D5)."""
    said = request.said
    once = says_once(said) and not says_always(said)
    return Refusal.ONCE if once and not record.scope.once else None


def _withdrawn(record: Record, request: Request) -> Refusal | None:
    """What the user goes on to say may undo it, or fill the same slot otherwise."""
    for other in request.others:
        if words.takes_back(other) or says_correction(other):
            return Refusal.TAKEN_BACK
        if record.key is not None and slot_of(other) == record.key and not words.asks(other):
            return Refusal.TAKEN_BACK
    return None


# ---- confirming --------------------------------------------------------------


def _denied(record: Record, request: Request) -> Refusal | None:
    if words.undoes(request.said) and not words.undoes(simplified(record.content)):
        return Refusal.DENIAL
    theirs = _clauses(record.content)
    for clause in _clauses(words.without_assent(request.said)):
        said = content_words(clause)
        near = max(theirs, key=lambda found: len(content_words(found) & said), default="")
        shared = content_words(near) & said
        if _disagree(clause, near) if shared else stance(clause).negated and words.wills(clause):
            return Refusal.DENIAL
    # What forbids something is confirmed by forbidding it once more.
    forbids = any(stance(clause).negated for clause in theirs)
    return Refusal.DENIAL if words.refuses(request.said) and not forbids else None


def _left_open(record: Record, request: Request) -> Refusal | None:
    if words.supposes(request.said) and not words.supposes(record.content):
        return Refusal.UNDECIDED
    return _limited(record, request)


def _not_asked(record: Record, request: Request) -> Refusal | None:
    own = request.own[request.span.start : request.span.end]
    asked = words.requests(own) or words.agrees(own)
    if not asked:
        return None if _states_anew(record, request, own) else Refusal.NO_REQUEST
    named = _telling(request.span.quote) & _told(record)
    if named or words.names_kind(own, record.kind) or _answers(record, request):
        return None
    return Refusal.UNRELATED


def _states_anew(record: Record, request: Request, own: str) -> bool:
    """The whole of it again and nothing else, in an event that it does not rest on yet.

    A way of doing that is told again has still not been approved (mission F4).
    """
    known = any(span.seq == request.span.seq for span in record.evidence)
    if known or record.kind is RecordKind.PROCEDURE:
        return False
    said, wanted = content_words(own), content_words(record.content)
    return bool(wanted) and wanted <= said and not any(map(str.isascii, said - wanted))


def _answers(record: Record, request: Request) -> bool:
    """Whether the user had the record before them, or answers a turn that speaks of it."""
    if record.id in request.event.recalled:
        return True
    turns = [turn for turn in request.before if turn.role is Role.SUPERVISOR]
    named = [turn for turn in turns if turn.id in request.event.causes]
    wanted = _told(record)
    needed = min(_FEW, len(wanted))
    return bool(wanted) and any(
        len(_telling(turn.text) & wanted) >= needed for turn in named or turns[-1:]
    )


def _told(record: Record) -> frozenset[str]:
    return _telling("\n".join((record.content, record.value or "", *record.cues)))


def _telling(text: str) -> frozenset[str]:
    """The words of a text that can tell one record from another."""
    return frozenset(word for word in content_words(text) - _MARKS if len(word) > 1)


# ---- correcting --------------------------------------------------------------


def _not_theirs(record: Record, content: str, request: Request) -> Refusal | None:
    """What is new in the content must be what the user said, and said in that sense."""
    said = request.told
    told, known, wanted = _parts(said), _parts(record.content), _parts(content)
    fresh = wanted - known
    # Where nothing is new, something was left out: the user must have spoken of that.
    if len(fresh & told) < len(fresh) * _MOST or not told & (fresh or known):
        return Refusal.UNRELATED
    return None if _in_that_sense(content, said, fresh) else Refusal.DENIAL


def _in_that_sense(content: str, said: str, fresh: frozenset[str]) -> bool:
    """Not "use the old one" out of "never use the old one", nor the other way round."""
    for clause in _clauses(content):
        wanted = _parts(clause) & fresh or _parts(clause)
        met = [other for other in _clauses(said) if _parts(other) & wanted]
        if met and all(_disagree(clause, other) for other in met):
            return False
    return True


def _parts(text: str) -> frozenset[str]:
    """A text's Han characters and the stems of its Latin words, those that carry no meaning left out.

    Pairs of characters would not do: each word that is replaced makes new ones with its neighbours.
    """
    found: set[str] = set()
    for word in content_words(text):
        found.update({word[:_STEM]} if word.isascii() else word)
    return frozenset(found)


def _clauses(text: str) -> list[str]:
    return [clause for clause in words.CLAUSE.split(simplified(text)) if clause.strip()]


def _disagree(clause: str, other: str) -> bool:
    """Whether one of them denies what the other says, or takes the other side."""
    first, second = stance(clause), stance(other)
    sides, others = dict(first.sides), dict(second.sides)
    turned = any(sides[group] != others[group] for group in sides.keys() & others.keys())
    excepted = words.excepts(clause) is not words.excepts(other)
    return turned or excepted or first.negated is not second.negated
