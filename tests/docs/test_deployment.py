"""The units and their starter do what their page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from huey.consumer_options import OptionParserHandler

from pipeline.settings import Worker
from socket_gateway.supervisor import consumer_command
from tests.docs.pages import ROOT

pytestmark = pytest.mark.unit

DEPLOY = ROOT / "deploy"
UNITS = ["deskpaw-memory.service", "deskpaw-memory-worker.service"]
HOME_OF_THE_UNITS = "%h/.deskpaw/deskpaw-memory"


def _exec_start(unit: str) -> list[str]:
    text = (DEPLOY / unit).read_text(encoding="utf-8")
    found = re.search(r"^ExecStart=(.+)$", text, re.MULTILINE)
    assert found is not None
    return found[1].split()


def _consumer_options(arguments: list[str]) -> dict[str, object]:
    parsed, positional = OptionParserHandler().get_option_parser().parse_args(arguments)
    return {**vars(parsed), "positional": positional}


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """`systemd-analyze verify` finds nothing to say about the units."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        if os.environ.get("CI") == "true":  # noqa: TID251 - a desk may lack it, CI may not
            pytest.fail("systemd-analyze is missing: .ci/run installs it")
        pytest.skip("no systemd-analyze here")
    for unit in UNITS:
        text = (DEPLOY / unit).read_text(encoding="utf-8")
        tmp_path.joinpath(unit).write_text(text.replace(HOME_OF_THE_UNITS, str(ROOT)))
    done = subprocess.run(
        [analyze, "verify", "--man=no", *(str(tmp_path / unit) for unit in UNITS)],
        capture_output=True,
        text=True,
        check=False,
    )
    complaints = [line for line in done.stderr.splitlines() if "deskpaw" in line]
    assert (done.returncode, complaints) == (0, [])


def test_the_gateways_unit_starts_no_consumer() -> None:
    """The gateway's unit leaves the consumer to the worker's unit."""
    program = f"{HOME_OF_THE_UNITS}/deploy/run-memory"
    assert _exec_start(UNITS[0]) == [program, "serve", "--no-worker"]


def test_the_workers_unit_runs_what_serve_would_run() -> None:
    """The worker's unit and `serve` give a stock consumer the same options."""
    program, *arguments = _exec_start(UNITS[1])
    assert program == f"{HOME_OF_THE_UNITS}/deploy/run-memory"
    assert arguments[:2] == ["-m", "huey.bin.huey_consumer"]
    defaults = Worker()
    by_serve = consumer_command(defaults.threads, defaults.drain_ms)
    place = by_serve.index("huey.bin.huey_consumer")
    assert _consumer_options(arguments[2:]) == _consumer_options(by_serve[place + 1 :])


@pytest.mark.parametrize("unit", UNITS)
def test_the_units_keep_what_was_redacted_off_the_disk(unit: str) -> None:
    """No unit may write a core dump, files for others, or to the network."""
    lines = (DEPLOY / unit).read_text(encoding="utf-8").splitlines()
    assert {"LimitCORE=0", "UMask=0077", "RestrictAddressFamilies=AF_UNIX"} <= set(lines)


# ---- run-memory ------------------------------------------------------------


def _run_memory(home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [DEPLOY / "run-memory", "-m", "this_module_is_not_there"],
        env={"HOME": str(home), "PATH": os.defpath, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def _python(folder: Path) -> Path:
    """A Python that tells that it was taken."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\n[ "$1" = -m ] && echo "taken: $0"\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return path


def _device_file(home: Path, text: str) -> None:
    home.joinpath(".deskpaw").mkdir(parents=True)
    home.joinpath(".deskpaw", "device.env").write_text(text)


def test_the_environment_names_the_python(tmp_path: Path) -> None:
    """DESKPAW_PYTHON_BIN of the environment comes before the device's file."""
    _device_file(tmp_path, "DESKPAW_PYTHON_BIN=/nowhere/python\n")
    python = _python(tmp_path)
    done = _run_memory(tmp_path, DESKPAW_PYTHON_BIN=str(python))
    assert done.stdout == f"taken: {python}\n"


@pytest.mark.parametrize(
    "form", ["{name}={python}", "export {name}='{python}'", '{name}="{python}"  ']
)
def test_the_devices_file_names_the_python(form: str, tmp_path: Path) -> None:
    """DESKPAW_PYTHON_BIN is read from the device's file, which is never run."""
    python = _python(tmp_path)
    mark = tmp_path / "was-run"
    line = form.format(name="DESKPAW_PYTHON_BIN", python=python)
    _device_file(tmp_path / "home", f"# device\nOTHER=$(touch {mark})\n{line}\n")
    done = _run_memory(tmp_path / "home")
    assert done.stdout == f"taken: {python}\n"
    assert not mark.exists()


def test_a_named_python_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A Python that is named but missing is not passed over; the message names it and its place."""
    _device_file(tmp_path, "DESKPAW_PYTHON_BIN=/nowhere/python\n")
    done = _run_memory(tmp_path)
    assert done.returncode == 1
    assert "/nowhere/python" in done.stderr
    assert "device.env" in done.stderr


def test_a_python_without_the_packages_is_an_error(tmp_path: Path) -> None:
    """A Python that lacks the packages is refused with what to do about it."""
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    done = _run_memory(tmp_path, DESKPAW_PYTHON_BIN=str(bare))
    assert done.returncode == 1
    assert "scripts/setup" in done.stderr
