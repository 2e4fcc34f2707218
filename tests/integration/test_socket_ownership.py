"""Who owns the socket's path: a living server is never robbed, a dead one is replaced."""

import asyncio
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from socket_gateway import ownership
from socket_gateway.framing import Request
from socket_gateway.ownership import SocketOwnedError, SocketOwnership
from socket_gateway.server import SocketServer
from socket_gateway.socket_path import MAX_PATH_BYTES, SocketPathError
from tests.socket_support import Client, RunningServer, loop_thread, running_server

pytestmark = pytest.mark.integration


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where this test's socket stands."""
    return tmp_path / "memory.sock"


def echo(request: Request) -> object:
    """Answer with the method's name."""
    return request.method


def start_second(running: RunningServer, path: Path) -> None:
    """Try to start another server on the same path."""
    running.run(SocketServer(path, echo).start())


def listener_at(path: Path) -> socket.socket:
    """A foreign server that holds no lock."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    return listener


def test_a_second_server_is_refused(path: Path) -> None:
    """The second is told which path is owned and what to do; the first goes on."""
    with running_server(path, echo) as running:
        with pytest.raises(SocketOwnedError) as caught:
            start_second(running, path)
        assert str(path) in caught.value.message
        assert "DESKPAW_MEMORY_SOCKET" in caught.value.message
        with Client(path) as client:
            assert client.ask(1)["ok"]


def test_a_server_whose_lock_file_is_gone_is_still_found(path: Path) -> None:
    """Without the lock file, the ping finds the living server."""
    with running_server(path, echo) as running:
        Path(f"{path}.lock").unlink()
        identity = path.stat().st_ino
        with pytest.raises(SocketOwnedError, match="answers"):
            start_second(running, path)
        assert path.stat().st_ino == identity
        with Client(path) as client:
            assert client.ask(1)["ok"]


def test_a_listener_that_never_answers_is_alive(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A foreign server that only accepts keeps its socket."""
    monkeypatch.setattr(ownership, "_PING_SECONDS", 0.02)
    with listener_at(path) as listener:
        listener.listen()
        with pytest.raises(SocketOwnedError, match="accepts"):
            SocketOwnership.take(path)
        assert path.exists()


def test_a_listener_with_a_full_queue_is_alive(path: Path) -> None:
    """A server too busy to accept isn't taken for a dead one."""
    with listener_at(path) as listener, socket.socket(socket.AF_UNIX) as waiting:
        listener.listen(0)
        waiting.connect(str(path))
        with pytest.raises(SocketOwnedError, match="may be listening"):
            SocketOwnership.take(path)
        assert path.exists()


def test_a_refused_start_leaves_the_lock_free(path: Path) -> None:
    """A start that failed holds nothing: once the cause is gone, the path can be taken."""
    path.touch()
    with pytest.raises(SocketPathError):
        SocketOwnership.take(path)
    path.unlink()
    SocketOwnership.take(path).release()


def test_a_dead_servers_socket_is_replaced(path: Path) -> None:
    """A socket on which nobody listens makes way."""
    listener_at(path).close()
    assert path.exists()
    with running_server(path, echo), Client(path) as client:
        assert client.ask(1)["ok"]


def test_a_killed_owner_leaves_the_path_free(path: Path) -> None:
    """The lock and the socket of a process killed with SIGKILL stand in nobody's way."""
    script = (
        "import sys, pathlib; from socket_gateway.ownership import SocketOwnership as S;"
        "owner = S.take(pathlib.Path(sys.argv[1])); listener = owner.bind();"
        "print('bound', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"bound\n"
        with pytest.raises(SocketOwnedError, match="lock"):
            SocketOwnership.take(path)
        owner.kill()
    with running_server(path, echo), Client(path) as client:
        assert client.ask(1)["ok"]


def test_a_server_may_restart_alone(path: Path) -> None:
    """After a drain the socket is gone and the next server starts on the same path."""
    for number in range(3):
        with running_server(path, echo), Client(path) as client:
            assert client.ask(number)["ok"]
        assert not path.exists()


def test_what_is_no_socket_is_never_removed(path: Path) -> None:
    """A file, a folder and a link at the path stay, and the start fails."""
    target = path.with_name("target")
    with listener_at(target):
        makers: list[Callable[[], None]] = [
            path.touch,
            path.mkdir,
            lambda: path.symlink_to(target),
        ]
        for make in makers:
            make()
            with pytest.raises(SocketPathError, match="DESKPAW_MEMORY_SOCKET"):
                SocketOwnership.take(path)
            assert path.is_symlink() or path.exists()
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()
    SocketOwnership.take(path).release()


def test_a_lock_file_that_is_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    """A planted link beside the socket makes nobody open another file."""
    other = tmp_path / "other"
    Path(f"{path}.lock").symlink_to(other)
    with pytest.raises(OSError, match="symbolic link"):
        SocketOwnership.take(path)
    assert not other.exists()


@pytest.mark.parametrize("name", ["x", "记"])
def test_a_path_too_long_is_refused_by_name(tmp_path: Path, name: str) -> None:
    """The message names the setting; the limit counts bytes, not characters."""
    room = MAX_PATH_BYTES - len(os.fsencode(tmp_path)) - 1
    longest = room // len(name.encode())
    with (
        running_server(tmp_path / (name * longest), echo),
        Client(tmp_path / (name * longest)) as client,
    ):
        assert client.ask(1)["ok"]
    with pytest.raises(SocketPathError, match="DESKPAW_MEMORY_SOCKET"):
        SocketOwnership.take(tmp_path / (name * (longest + 1)))


def test_a_drain_leaves_another_servers_socket(path: Path) -> None:
    """A socket that has taken the path meanwhile isn't ours to remove."""
    with running_server(path, echo):
        path.unlink()
        listener = listener_at(path)
    assert path.exists()
    listener.close()


def test_an_open_folder_of_ours_is_closed(tmp_path: Path) -> None:
    """A folder made with wider rights becomes 0700; missing ones are made so."""
    wide = tmp_path / "wide"
    wide.mkdir(mode=0o755)
    for path in (wide / "memory.sock", tmp_path / "a" / "b" / "memory.sock"):
        with running_server(path, echo):
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_shared_folder_is_left_as_it_is(tmp_path: Path) -> None:
    """A folder that others use, such as /tmp, is refused and keeps its mode."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(SocketPathError, match="DESKPAW_MEMORY_SOCKET"):
        SocketOwnership.take(shared / "memory.sock")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777


def test_binding_leaves_the_umask(path: Path) -> None:
    """The process's umask is as before once the socket stands."""
    before = os.umask(0o022)
    try:
        owner = SocketOwnership.take(path)
        owner.bind().close()
        owner.release()
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def test_a_server_that_never_started_may_be_drained(path: Path) -> None:
    """Draining is safe before a start, and twice."""
    with loop_thread() as loop:
        server = SocketServer(path, echo)
        for _ in range(2):
            asyncio.run_coroutine_threadsafe(server.drain(0.1), loop).result(5)
    with running_server(path, echo) as running:
        running.run(running.server.drain(0.1))
    assert not path.exists()
