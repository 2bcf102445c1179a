"""A console over the pretended engine for each test, and a browser for those that look at its pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from console.hosts import inventory
from console.jobs import path
from console.serving import instances, launch
from console.serving.state import State
from tests.browser import browser, page
from tests.pretended_machine import pretend
from tests.running import RunningConsole, opened, processes, session_of, until

__all__ = ["browser", "page"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A data folder where the installation is done; the test's own process works on it too."""
    made = tmp_path / "data"
    pretend(made)
    with opened(made):
        yield made


@pytest.fixture
def console(folder: Path) -> Iterator[RunningConsole]:
    """Not started yet."""
    one = RunningConsole(folder)
    yield one
    one.close()


def started() -> int:
    """Begin to start the instance of the pilot; its number."""
    host = inventory.this_machine()
    number = launch.pilot_instance(host)
    path.queue(path.start_instance(number), "start", host.id, actor="me")
    return number


def ready() -> int:
    """The instance of the pilot once it is ready."""
    number = started()
    until(lambda: instances.instance(number).state == State.ready, what="a ready instance")
    return number


def engine_of(folder: Path) -> int:
    """Process id of the one engine that runs."""
    (found,) = [pid for pid in processes(folder) if b"vllm_server.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return found


def stopped(console: RunningConsole, folder: Path, number: int) -> None:
    """`pilot stop --all` leaves no process of the engine."""
    ended = console.run("stop", "--all")
    assert ended.returncode == 0, ended.stderr
    assert instances.instance(number).state == State.stopped
    assert session_of(Path(instances.attempts(number)[0].folder)) == []
