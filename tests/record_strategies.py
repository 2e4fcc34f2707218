"""Any record, as a memory can hold it: what hypothesis draws for exports and imports."""

import unicodedata
from typing import Any

from hypothesis import strategies as st

from pipeline.projections.markdown import LAST_WRITTEN_TIME
from storage.records.events import ObjectKind, Role
from storage.records.knowledge import (
    Authority,
    FactClass,
    MemoryObject,
    ObjectState,
    Origin,
    ProfileKind,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)

NOW = 1_767_225_600_000

ODD = [
    "", " ", "\n", "\n\n", "a\n", "\na", " a ", "a \nb\t\n", "a\r\nb", "a\rb", "---", "---\n---\n", "```",
    "```text\n```", "`" * 9, "~~~", "# x", "- x", "> x", "yes", "no", "null", "~", "1e3", "2026-01-01", "=",
    "a: b", "a #b", "{}", "[x", '"q"', "'q'", "\\", "\\u0041", "\0", "\x1b[31m", "\x7f", "\x85", "\u2028",
    "\u2029", "\ufeff", "\u202e", "\ufffe", "\uffff", "e\u0301", "한글", "ガ", "\u1112\u1161", "👩\u200d💻",
    "𠮷", "\U000e0041", "\U0010ffff", "\u3000", "以后\u3000", "x" * 600, "digest: " + "0" * 32 + "\n---\n",
    "deskpaw-memory: record 1", "<b>&amp;</b>", "![x](http://x/y.png)", "&x *y !z", "%YAML 1.1",
]  # fmt: skip
TEXTS = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def _composed(text: str) -> str:
    """What the wire makes of an id: composed, without controls."""
    kept = "".join(char for char in text if unicodedata.category(char) != "Cc")
    return unicodedata.normalize("NFC", kept)[:200] or "x"


IDS = (st.sampled_from(ODD) | st.text(max_size=20)).map(
    lambda text: _composed(text.encode(errors="ignore").decode())
)
TIMES = st.sampled_from([0, 1, NOW, LAST_WRITTEN_TIME, 2**63 - 1]) | st.integers(0, 2**63 - 1)
_numbers = st.sampled_from([0, 1, 2**63 - 1]) | st.integers(0, 2**63 - 1)
_revisions = st.sampled_from([0, 1, 2**53]) | st.integers(0, 2**53)
_lists = st.lists(TEXTS, max_size=3).map(tuple)
_id_lists = st.lists(IDS, max_size=3).map(tuple)
_spans = st.lists(st.tuples(IDS, _numbers, _numbers, TEXTS), max_size=3).map(
    lambda found: tuple(
        Span(event, place - len(found), start, end, quote)
        for place, (event, start, end, quote) in enumerate(found)
    )
)
_origins = st.lists(
    st.builds(Origin, IDS, TIMES, st.sampled_from(Role), _lists, _lists), max_size=3
).map(tuple)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": IDS,
    "owner_scope": IDS,
    "subject_id": IDS,
    "kind": st.sampled_from(RecordKind),
    "content": TEXTS,
    "observed_at": TIMES,
    "recorded_at": TIMES,
    "status": st.sampled_from(RecordStatus),
    "authority": st.sampled_from(Authority),
    "evidence": _spans,
    "revision": _revisions,
    "object_revision": _revisions,
    "key": st.none() | TEXTS,
    "value": st.none() | TEXTS,
    "fact_class": st.none() | st.sampled_from(FactClass),
    "profile_kind": st.none() | st.sampled_from(ProfileKind),
    "scope": st.builds(Scope, _id_lists, st.none() | IDS, st.booleans()),
    "valid_from": st.none() | TIMES,
    "valid_to": st.none() | TIMES,
    "review_at": st.none() | TIMES,
    "supersedes": _id_lists,
    "conflicts_with": _id_lists,
    "conditions": _lists,
    "steps": _lists,
    "failure": _lists,
    "verify": _lists,
    "cues": _lists.map(lambda found: tuple(text[:40] for text in found)),
    "links": _id_lists,
    "origins": _origins,
    "reason": st.none() | TEXTS,
}
RECORDS = st.builds(Record, **VALUES)
OBJECTS = st.builds(
    MemoryObject,
    owner=IDS,
    id=IDS,
    kind=st.sampled_from(ObjectKind),
    title=TEXTS,
    state=st.sampled_from(ObjectState),
    revision=_revisions,
    created_at=TIMES,
    updated_at=TIMES,
)
