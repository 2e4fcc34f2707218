"""Fixtures of the contract tests: a model's server on loopback, and what an observer is made of."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.observers.port import Observer
from pipeline.observers.registry import Parts, make_observer
from storage.clock import ManualClock
from storage.database import open_database
from storage.migrations.registry import migrate
from storage.writer import Writer
from tests.model_server import ModelServer, model_server
from tests.model_support import explicit_rules, settings_for


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server whose model notices explicit rules."""
    with model_server(explicit_rules) as serving:
        yield serving


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Callable[..., Parts]]:
    """Makes what an observer is made of, with settings of one's own and a real database."""
    clock = ManualClock()
    database = open_database(tmp_path / "memory.sqlite3")
    migrate(clock)
    with Writer(database, tmp_path / "lock") as writer:
        yield lambda server, **more: Parts(settings_for(server, **more), clock, writer)
    database.close()


@pytest.fixture
def observer(server: ModelServer, parts: Callable[..., Parts]) -> Observer:
    """The observer as it comes, but for retries, which would take their time."""
    return make_observer(parts(server))
