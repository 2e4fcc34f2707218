"""Settling in any order, on what is read of the store: the same as on all there is."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.rules.forms import forms_of
from pipeline.rules.relating import LIVE
from pipeline.rules.settling import settle
from pipeline.stages import merge
from storage.clock import ManualClock
from storage.database import database, open_database
from storage.migrations.registry import migrate
from storage.records.events import Role
from storage.records.knowledge import (
    Authority,
    Change,
    FactClass,
    Origin,
    Record,
    RecordKind,
    RecordStatus,
    Scope,
    Span,
)
from storage.repositories import journal, records
from tests.observer_support import AT, DAY, record

pytestmark = pytest.mark.integration

CONTENTS: Final = (
    "我喜欢香菜", "我不喜欢香菜", "每天3点备份", "每天4点备份", "报销用新模板", "报销用旧模板",
    "I like tea", "I don't like tea", "更正：报销用蓝色模板",
)  # fmt: skip
KINDS: Final = (
    RecordKind.RULE, RecordKind.PREFERENCE, RecordKind.FACT, RecordKind.CORRECTION,
    RecordKind.EPISODE, RecordKind.COMMITMENT,
)  # fmt: skip


@st.composite
def arrivals(draw: st.DrawFn) -> list[list[Record]]:
    """Packages of up to three records each, about two objects, from few words, slots and days."""
    packages: list[list[Record]] = []
    for _ in range(draw(st.integers(1, 8))):
        first = sum(map(len, packages))
        packages.append([draw(_made(first + n)) for n in range(draw(st.integers(1, 3)))])
    return packages


@st.composite
def _made(draw: st.DrawFn, number: int) -> Record:
    kind = draw(st.sampled_from(KINDS))
    content = draw(st.sampled_from(CONTENTS))
    environment = kind is RecordKind.FACT
    at = AT + draw(st.integers(0, 4)) * DAY
    authority = draw(st.sampled_from([Authority.USER, Authority.OBSERVATION, Authority.EXTERNAL]))
    event = draw(st.sampled_from(["a", "b", str(number)]))
    chain = draw(st.sampled_from([(), ("q:1",)]))
    named = draw(st.lists(st.integers(0, max(0, number - 1)), max_size=1)) if number else []
    return record(
        f"r-{number:02}",
        content,
        subject_id=draw(st.sampled_from(["expense", "other"])),
        kind=kind,
        observed_at=at,
        authority=authority,
        status=RecordStatus.CANDIDATE if environment else RecordStatus.ACTIVE,
        fact_class=FactClass.ENVIRONMENT if environment else None,
        key=draw(st.sampled_from([None, None, "k1", "k2"])),
        value=draw(st.sampled_from([None, "v"])),
        scope=draw(st.sampled_from([Scope(), Scope(), Scope(task="t"), Scope(once=True)])),
        evidence=(Span(f"e-{event}", number + 1, 0, 2, content[:2]),),
        origins=(Origin(f"e-{event}", at, Role.OBSERVATION, chain),),
        supersedes=tuple(f"r-{name:02}" for name in named),
    )


@pytest.fixture
def _opened(tmp_path: Path) -> Iterator[None]:
    """A memory database; each example undoes what it wrote."""
    opened = open_database(tmp_path / "memory.sqlite3")
    migrate(ManualClock())
    yield
    opened.close()


def stored() -> list[Record]:
    """All records there are."""
    return records.listing("local", limit=1_000)


def written(packages: Sequence[Sequence[Record]]) -> None:
    """Settle package after package as *merge* does; each must see as much as if it saw all."""
    for number, new in enumerate(packages, 1):
        found = merge.settle("local", new)
        assert found == settle(new, stored())
        journal.write(
            "local",
            (*found.inserts, *found.updates),
            journal.Cause(Change.SETTLE, number, package_id=number),
            forms=forms_of,
        )


@pytest.mark.usefixtures("_opened")
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(packages=arrivals())
def test_what_is_read_is_all_that_settling_needs(packages: list[list[Record]]) -> None:
    """However records arrive, those found by their forms decide; and the links stay two-sided."""
    with database.atomic() as transaction:
        written(packages)
        board = {kept.id: kept for kept in stored()}
        for kept in board.values():
            assert kept.status in LIVE or kept.conflicts_with == ()
            for other in kept.conflicts_with:
                assert kept.id in board[other].conflicts_with
                assert board[other].status in LIVE
                assert board[other].subject_id == kept.subject_id
            assert replace(kept, evidence=()) == replace(
                records.history("local", kept.id)[-1], evidence=()
            )
        transaction.rollback()
