"""Records, objects and their index as Markdown with front matter: for reading and export (D9).

Pure: values in, text out; `pipeline.transfer.reading` is the way back, and loses nothing. The front
matter is YAML in which every text of others is in double quotes on one line, and the body is a
fenced block, so that no content can be taken for structure or for a field.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final

from pipeline.rules.naming import file_name, link
from pipeline.rules.sealing import MARK, sealed
from pipeline.rules.workdays import BEIJING
from pipeline.text.neutralise import defused
from storage.records.knowledge import MemoryObject, Origin, Record, Scope, Span
from storage.records.transfer import Listed

RECORD: Final = "record 1"
OBJECT: Final = "object 1"
INDEX: Final = "index 1"
"""What kind of document it is, and the version of its form."""

INDEX_NAME: Final = "INDEX"
LAST_WRITTEN_TIME: Final = 4_102_444_799_999
"""Later times stand as plain milliseconds: calendars end, numbers don't."""

RECORD_LISTS: Final = (
    "supersedes", "conflicts_with", "links", "conditions", "steps", "failure", "verify", "cues",
)  # fmt: skip
ELSEWHERE: Final = (
    "The content stands in the field `content`: it holds characters that editors change."
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# What editors and file transfers rewrite, what no one can see, and what YAML refuses: controls,
# separators, marks of direction, byte order marks, tags, and code points that are no characters.
_FRAGILE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff0-\uffff"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)
_TRAILING: Final = re.compile(r"[^\S\n]+$", re.MULTILINE)
_FENCES: Final = re.compile("`{3,}")
_MARKUP: Final = re.compile(r"([\\`*_\[\]<>&~$|#])")
_BREAKS: Final = re.compile(r"\s+")
_HEAD: Final = 80


# ---- documents -------------------------------------------------------------


def record_text(record: Record) -> str:
    """A record as a document. What belongs to one database, sequences and packages, stays out."""
    content = record.content
    fragile = _FRAGILE.search(content) or _TRAILING.search(content)
    fields = [_field(MARK, RECORD), *_record_fields(record)]
    if fragile:
        fields.append(_field("content", quoted(content)))
    fields += [*_lists(record), *_evidence(record.evidence), *_origins(record.origins)]
    return sealed("".join(fields), f"\n{ELSEWHERE}\n" if fragile else f"\n{_fenced(content)}\n")


def object_text(found: MemoryObject, listed: Sequence[Listed]) -> str:
    """An object as a document, with the list of its records; it stands in the object's folder."""
    fields = [
        _field(MARK, OBJECT),
        _field("id", quoted(found.id)),
        _field("owner", quoted(found.owner)),
        _field("kind", found.kind.value),
        _field("title", quoted(found.title)),
        _field("state", found.state.value),
        _field("revision", str(found.revision)),
        _field("created_at", moment(found.created_at)),
        _field("updated_at", moment(found.updated_at)),
    ]
    return sealed("".join(fields), f"\n# {_shown(found.title)}\n{_record_list(listed)}")


def more_text(found: MemoryObject, listed: Sequence[Listed]) -> str:
    """The list of an object's further records."""
    return sealed(_field(MARK, INDEX), f"\n# {_shown(found.title)}\n{_record_list(listed)}")


def index_text(found: Iterable[tuple[MemoryObject, int]]) -> str:
    """The list of objects, each with how many records it has."""
    ordered = sorted(found, key=lambda item: (item[0].kind, item[0].id))
    parts = ["\n# Memory\n"]
    for kind, group in groupby(ordered, key=lambda item: item[0].kind):
        parts.append(f"\n## {kind.value}\n\n")
        parts += [_object_line(*item) for item in group]
    return sealed(_field(MARK, INDEX), "".join(parts))


def part_name(part: int) -> str:
    """The file name of an index's part, counted from 0.

    >>> part_name(0), part_name(1)
    ('INDEX.md', 'INDEX-2.md')
    """
    return f"{INDEX_NAME}.md" if part == 0 else f"{INDEX_NAME}-{part + 1}.md"


# ---- fields ----------------------------------------------------------------


def _record_fields(record: Record) -> Iterator[str]:
    yield _field("id", quoted(record.id))
    yield _field("owner", quoted(record.owner_scope))
    yield _field("subject", quoted(record.subject_id))
    yield _field("kind", record.kind.value)
    yield _field("status", record.status.value)
    yield _field("authority", record.authority.name.lower())
    yield _field("revision", str(record.revision))
    yield _field("object_revision", str(record.object_revision))
    yield _field("observed_at", moment(record.observed_at))
    yield _field("recorded_at", moment(record.recorded_at))
    for name in ("valid_from", "valid_to", "review_at"):
        value: int | None = getattr(record, name)
        if value is not None:
            yield _field(name, moment(value))
    if record.fact_class is not None:
        yield _field("class", record.fact_class.value)
    if record.profile_kind is not None:
        yield _field("profile_kind", record.profile_kind.value)
    for name in ("key", "value", "reason"):
        text: str | None = getattr(record, name)
        if text is not None:
            yield _field(name, quoted(text))
    if record.scope != Scope():
        yield _field("scope", _scope(record.scope))


def _scope(scope: Scope) -> str:
    parts = [f"objects: {_flow(scope.objects)}"] if scope.objects else []
    if scope.task is not None:
        parts.append(f"task: {quoted(scope.task)}")
    if scope.once:
        parts.append("once: true")
    return f"{{{', '.join(parts)}}}"


def _flow(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def _lists(record: Record) -> Iterator[str]:
    for name in RECORD_LISTS:
        entries: tuple[str, ...] = getattr(record, name)
        if entries:
            yield f"{name}:\n"
            yield from (f"  - {quoted(entry)}\n" for entry in entries)


def _evidence(spans: Sequence[Span]) -> Iterator[str]:
    if spans:
        yield "evidence:\n"
    for span in spans:
        place = f"event: {quoted(span.event_id)}, start: {span.start}, end: {span.end}"
        yield f"  - {{{place}, quote: {quoted(span.quote)}}}\n"


def _origins(origins: Sequence[Origin]) -> Iterator[str]:
    if origins:
        yield "origins:\n"
    for origin in origins:
        parts = [f"event: {quoted(origin.event_id)}", f"at: {moment(origin.at)}"]
        parts.append(f"role: {origin.role.value}")
        if origin.chain:
            parts.append(f"chain: {_flow(origin.chain)}")
        if origin.recalled:
            parts.append(f"recalled: {_flow(origin.recalled)}")
        yield f"  - {{{', '.join(parts)}}}\n"


def _field(name: str, value: str) -> str:
    return f"{name}: {value}\n"


def quoted(text: str) -> str:
    r"""A text in double quotes, on one line, with nothing in it that can't be seen.

    >>> print(quoted('a "b"\n\u202e好'))
    "a \"b\"\n\u202e好"
    """
    return _FRAGILE.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def moment(milliseconds: int) -> str:
    """A time in Beijing's zone, to the millisecond.

    >>> moment(1772412720000)
    '2026-03-02T08:52:00.000+08:00'
    """
    if milliseconds > LAST_WRITTEN_TIME:
        return str(milliseconds)
    at = _EPOCH + timedelta(milliseconds=milliseconds)
    return at.astimezone(BEIJING).isoformat(timespec="milliseconds")


# ---- bodies ----------------------------------------------------------------


def _fenced(content: str) -> str:
    """The content between two lines of more backticks than it holds in a row."""
    longest = max(map(len, _FENCES.findall(content)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{content}\n{fence}"


def _record_list(listed: Sequence[Listed]) -> str:
    parts = []
    for kind, group in groupby(listed, key=lambda item: item.kind):
        parts.append(f"\n## {kind.value}\n\n")
        parts += [_record_line(item) for item in group]
    return "".join(parts)


def _record_line(item: Listed) -> str:
    day = moment(item.observed_at)[:10]
    head = _shown(item.content) or _shown(item.id)
    return f"- [{head}]({link(file_name(item.id) + '.md')}), {item.status.value}, {day}\n"


def _object_line(found: MemoryObject, records: int) -> str:
    way = link(file_name(found.id), part_name(0))
    counted = "1 record" if records == 1 else f"{records} records"
    return f"- [{_shown(found.title)}]({way}), {found.state.value}, {counted}\n"


def _shown(text: str) -> str:
    r"""The first words of a text of others, as plain words of a line.

    >>> print(_shown("# [x](y)\n<b>"))
    \# \[x\](y) \<b\>
    """
    line = _BREAKS.sub(" ", _FRAGILE.sub("", defused(text)[0])).strip()
    head = line if len(line) <= _HEAD else f"{line[: _HEAD - 1]}…"
    return _MARKUP.sub(r"\\\1", head)
