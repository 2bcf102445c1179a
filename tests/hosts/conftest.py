"""A data folder of its own for each test, and SSH servers that end with the test."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console import records
from console.hosts import connection, secrets
from console.hosts.journal import JOURNAL
from console.hosts.secrets import Held
from console.settings import settings
from tests.hosts.sshd import Sshd
from tests.jobs.conftest import worker
from tests.running import until

__all__ = ["worker"]

MakeSshd = Callable[..., Sshd]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty data folder that this process and its children use."""
    folder = tmp_path / "data 数据"
    monkeypatch.setenv("PILOT_DATA", str(folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    settings.cache_clear()
    records.engine.cache_clear()
    yield folder
    JOURNAL.flush()
    if records.engine.cache_info().currsize:
        records.engine().dispose()
    settings.cache_clear()
    records.engine.cache_clear()


@pytest.fixture
def sshd(data: Path, tmp_path: Path) -> Iterator[MakeSshd]:
    """Makes SSH servers: sshd("MaxSessions 1", address="127.0.0.2"); host keys are accepted unless trust=False."""
    made: list[Sshd] = []

    def one(*options: str, trust: bool = True, **named: object) -> Sshd:
        server = Sshd(tmp_path / f"sshd{len(made)}", *options, **named)  # type: ignore[arg-type]
        made.append(server)
        server.start()
        return server.trust() if trust else server

    yield one
    for reach in list(connection._connections):
        connection.forget(reach)
    for server in made:
        server.stop()


@pytest.fixture
def somebody() -> Iterator[str]:
    """A throw-away user with the password "right words"."""
    name = f"pilot-test-{os.getpid()}"
    hashed = subprocess.run(
        ["openssl", "passwd", "-6", "right words"], capture_output=True, text=True, check=True
    ).stdout.strip()
    home = f"/tmp/{name}"
    subprocess.run(["useradd", "-m", "-d", home, "-s", "/bin/sh", "-p", hashed, name], check=True)
    yield name
    subprocess.run(["pkill", "-KILL", "-u", name], check=False)  # what a cut connection left may be ending still
    until(lambda: subprocess.run(["pgrep", "-u", name], check=False, capture_output=True).returncode == 1)
    subprocess.run(["userdel", "-r", name], check=True, capture_output=True)


@pytest.fixture
def served(data: Path) -> Iterator[Held]:
    """A worker's part in it."""
    held, stop = Held(), threading.Event()
    thread = threading.Thread(target=secrets.serve, args=(stop, held))
    thread.start()
    until(lambda: (settings().worker_folder / secrets.NAME).exists())
    yield held
    stop.set()
    thread.join()
