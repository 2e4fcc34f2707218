"""Whatever a proposal or a record holds, it is the same when it is read back."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.rules.forms import forms_of
from storage.clock import ManualClock
from storage.database import database, open_database
from storage.migrations.registry import migrate
from storage.records.knowledge import (
    Authority,
    FactClass,
    ProfileKind,
    Proposal,
    Quote,
    Record,
    RecordKind,
    RecordStatus,
    RejectionCode,
    Scope,
    Span,
)
from storage.records.runs import Verdict
from storage.repositories import proposals, records

pytestmark = pytest.mark.integration

_PACKAGE: Final = 7

# What the wire lets in: no NUL, no lone surrogates.
_texts = st.sampled_from(
    ["", " ", "0", "null", "以后报销都用新模板", "e\u0301", "𠮷👍🏽", '"\\\n[']
) | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
_numbers = st.sampled_from([0, 1, 2**53 + 1, 2**63 - 1]) | st.integers(0, 2**63 - 1)
_lists = st.lists(_texts, max_size=3).map(tuple)
_scopes = st.builds(Scope, objects=_lists, task=st.none() | _texts, once=st.booleans())
_shared = {
    "kind": st.sampled_from(RecordKind),
    "content": _texts,
    "key": st.none() | _texts,
    "value": st.none() | _texts,
    "fact_class": st.none() | st.sampled_from(FactClass),
    "profile_kind": st.none() | st.sampled_from(ProfileKind),
    "scope": _scopes,
    "valid_from": st.none() | _numbers,
    "valid_to": st.none() | _numbers,
    "review_at": st.none() | _numbers,
    "supersedes": _lists,
    "conditions": _lists,
    "steps": _lists,
    "failure": _lists,
    "verify": _lists,
    "cues": _lists,
}
_proposals = st.builds(
    Proposal,
    evidence=st.lists(st.builds(Quote, _texts, _texts), max_size=3).map(tuple),
    subject=st.none() | _texts,
    **_shared,
)


def _in_place(spans: list[Span]) -> tuple[Span, ...]:
    return tuple(sorted(spans, key=_place))


def _place(span: Span) -> tuple[int, int, int]:
    return span.seq, span.start, span.end


# Evidence is kept in order of place, and a place once.
_spans = st.lists(
    st.builds(Span, _texts, _numbers, _numbers, _numbers, _texts), max_size=3, unique_by=_place
).map(_in_place)
_records = st.builds(
    Record,
    id=_texts,
    owner_scope=_texts,
    subject_id=_texts,
    observed_at=_numbers,
    recorded_at=_numbers,
    status=st.sampled_from(RecordStatus),
    authority=st.sampled_from(Authority),
    evidence=_spans,
    revision=_numbers,
    object_revision=_numbers,
    conflicts_with=_lists,
    reason=st.none() | _texts,
    package_id=st.none() | _numbers,
    **_shared,
)
_verdicts = st.builds(
    Verdict,
    st.just(0),
    st.none() | _texts,
    st.none() | st.sampled_from(RejectionCode),
    st.none() | _texts,
)
_store = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def _opened(tmp_path: Path) -> Iterator[None]:
    """A memory database; each example undoes what it wrote."""
    opened = open_database(tmp_path / "memory.sqlite3")
    migrate(ManualClock())
    yield
    opened.close()


@pytest.mark.usefixtures("_opened")
@_store
@given(record=_records)
def test_a_record_is_read_as_it_was_written(record: Record) -> None:
    """By its id, in a listing and in its history, every field has its value."""
    owner = record.owner_scope
    with database.atomic() as transaction:
        records.write([record], forms=forms_of)
        assert records.get(owner, record.id) == record
        assert records.history(owner, record.id) == [record]
        found = records.of_subjects(owner, [record.subject_id], [record.status], limit=2)
        assert found == [record]
        transaction.rollback()


@pytest.mark.usefixtures("_opened")
@_store
@given(record=_records, later=_records)
def test_a_changed_record_keeps_nothing_of_what_it_was(record: Record, later: Record) -> None:
    """A later version replaces every field and all evidence; the history holds both as they were."""
    one = replace(record, revision=1)
    two = replace(later, id=one.id, owner_scope=one.owner_scope, revision=2)
    with database.atomic() as transaction:
        records.write([one], forms=forms_of)
        records.write([two], forms=forms_of)
        assert records.by_ids(one.owner_scope, [one.id]) == [two]
        assert records.history(one.owner_scope, one.id) == [one, two]
        transaction.rollback()


@pytest.mark.usefixtures("_opened")
@_store
@given(proposal=_proposals, record=st.none() | _records, verdict=_verdicts)
def test_a_judged_proposal_is_read_as_it_was_written(
    proposal: Proposal, record: Record | None, verdict: Verdict
) -> None:
    """The proposal, what was said of it and the record it would become are all unchanged."""
    with database.atomic() as transaction:
        proposals.write(_PACKAGE, [(proposal, record, verdict)])
        assert proposals.verdicts(_PACKAGE) == [(proposal, verdict)]
        assert proposals.accepted(_PACKAGE) == ([] if record is None else [record])
        transaction.rollback()
