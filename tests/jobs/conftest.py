"""A data folder of its own and a real worker process for each test that asks for one."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from console import records
from console.hosts import inventory
from console.hosts.journal import JOURNAL
from console.jobs import history
from console.jobs.history import JobView
from console.settings import settings
from tests.running import until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty data folder that this process and its children use."""
    folder = tmp_path / "data 数据"
    monkeypatch.setenv("PILOT_DATA", str(folder))
    settings.cache_clear()
    records.engine.cache_clear()
    yield folder
    JOURNAL.flush()
    if records.engine.cache_info().currsize:
        records.engine().dispose()
    settings.cache_clear()
    records.engine.cache_clear()


@pytest.fixture
def host(data: Path) -> inventory.Host:
    return inventory.this_machine()


class WorkerProcess:
    """A real `pilot worker`."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (settings().data / "test-worker.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "console", "worker"], cwd=ROOT, stdout=log, stderr=log, env=os.environ.copy()
        )
        log.close()

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(timeout=20)
            self.process = None


@pytest.fixture
def worker(data: Path) -> Iterator[WorkerProcess]:
    one = WorkerProcess()
    yield one
    if one.process is not None:
        one.kill(signal.SIGTERM)


def ended(job_id: int, limit_s: float = 60) -> JobView:
    """The job once it has ended."""
    until(lambda: not history.job(job_id).active, limit_s)
    return history.job(job_id)
