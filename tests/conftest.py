"""What many tests begin with: the service, and a state folder that is nobody's home."""

import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from pipeline.text.redaction import Redactor
    from tests.service_support import Service

StartService = Callable[..., "Service"]

_nobodys_home = ""

LONG = "long"
"""`--hypothesis-profile=long`: stateful tests go on for a quarter of an hour and more."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep what reads the settings on import away from the developer's own memory."""
    if config.getoption("--hypothesis-profile") == LONG:
        from hypothesis import settings  # noqa: PLC0415 - other runs shall not wait for it

        settings.register_profile(LONG, max_examples=500, stateful_step_count=60)
    global _nobodys_home  # noqa: PLW0603 - pytest gives its hooks nothing to keep this in
    _nobodys_home = tempfile.mkdtemp(prefix="memory-tests-")
    os.environ["DESKPAW_STATE_DIR"] = _nobodys_home  # noqa: TID251 - written, for children too


def pytest_unconfigure() -> None:
    """Remove what `pytest_configure` made."""
    shutil.rmtree(_nobodys_home, ignore_errors=True)


@pytest.fixture(scope="session")
def rules_folder(pytestconfig: pytest.Config) -> Path:
    """Where the redactor's rules are kept compiled from one run of tests to the next."""
    assert pytestconfig.cache is not None
    folder = Path(pytestconfig.cache.mkdir("redaction-rules"))
    folder.chmod(0o700)
    return folder


@pytest.fixture(scope="session")
def _compiled_once(rules_folder: Path) -> Iterator[None]:
    """One redactor for all services of a process: its rules take longest to load."""
    from pipeline.text.redaction import Redactor  # noqa: PLC0415 - unit tests shall not wait for it
    from socket_gateway import assembly  # noqa: PLC0415 - the same

    @functools.cache
    def load(phones: Literal["keep", "redact"]) -> "Redactor":
        return Redactor(cache_dir=rules_folder, phones=phones)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "make_redactor", lambda settings: load(settings.redaction.phones))
        yield


@pytest.fixture
def start_service(tmp_path: Path, _compiled_once: None) -> Iterator[StartService]:
    """Starts a service with settings of one's own, as environment variables without prefix."""
    from tests.service_support import Service  # noqa: PLC0415 - unit tests shall not wait for it

    started: list[Service] = []

    def start(**settings: str) -> Service:
        environ = {f"DESKPAW_MEMORY_{name.upper()}": value for name, value in settings.items()}
        made = Service(tmp_path / "state", environ)
        made.start()
        started.append(made)
        return made

    yield start
    for made in started:
        made.stop()


@pytest.fixture
def service(start_service: StartService) -> "Service":
    """A service as it comes."""
    return start_service()
