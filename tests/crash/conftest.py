"""Fixtures of the crash tests: warm caches, and a state folder whose processes end with the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.harness import QUICK, Place


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled rules and dictionaries, made once by a real start."""
    place = Place(tmp_path_factory.mktemp("warm"), None, {})
    place.serve("--no-worker")
    try:
        place.wait_gateway()
    finally:
        place.kill_all()
    return place.state / "cache"


@pytest.fixture
def place(tmp_path: Path, warm_cache: Path) -> Iterator[Place]:
    """A state folder; whatever still works on it at the end is killed."""
    made = Place(tmp_path / "place", warm_cache, QUICK)
    yield made
    made.kill_all()
