"""Another server at the port of ours: it is never taken for ours, and the page names it."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.hosts import inventory
from console.jobs import history, jobs, path
from console.serving import instances
from console.serving.state import State, Wish
from tests.pretended_machine import misfort
from tests.running import ROOT, RunningConsole, session_of, until
from tests.survival.conftest import engine_of, ready, started, stopped

pytestmark = [pytest.mark.e2e, pytest.mark.engine]
SERVER = ROOT / "scripts" / "fake" / "vllm_server.py"


@pytest.fixture
def strangers() -> Iterator[list["subprocess.Popen[bytes]"]]:
    made: list[subprocess.Popen[bytes]] = []
    yield made
    for one in made:
        one.kill()
        one.wait()


def stranger(port: int, name: str) -> "subprocess.Popen[bytes]":
    """A server of somebody else, with the very name of ours."""
    words = ["serve", "/nowhere", "--port", str(port), "--served-model-name", name]
    return subprocess.Popen([sys.executable, SERVER, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_server_that_took_the_port_first_is_not_ours(
    console: RunningConsole, folder: Path, strangers: list["subprocess.Popen[bytes]"]
) -> None:
    misfort(folder, "--slow-start 600")
    console.start()
    number = started()
    until(lambda: runs(number), what="the process")
    one = instances.instance(number)
    strangers.append(stranger(one.spec.port, one.spec.served_name))
    held = f"Port {one.spec.port} is held by process {strangers[0].pid} (python"
    until(lambda: held in str(instances.instance(number).reason), what="the name of the holder")
    assert instances.instance(number).state == State.starting
    strangers[0].kill()
    strangers[0].wait()
    until(lambda: "does not answer yet" in str(instances.instance(number).reason), what="its own state again")
    assert not [event for event in history.events(f"instance:{number}") if event.became == "ready"]


def test_a_server_that_becomes_another_one_is_asked_about_again(
    console: RunningConsole, folder: Path, strangers: list["subprocess.Popen[bytes]"]
) -> None:
    """Ours stops answering, somebody else takes its port: a sanity answer of ours says nothing about that one."""
    console.start()
    number = ready()
    one = instances.instance(number)
    leader = (attempt_folder(number) / "pid").read_text().split()[0]
    engine = engine_of(folder)
    hold = subprocess.run(["kill", "-STOP", leader], check=True)
    assert hold.returncode == 0
    subprocess.run(["kill", "-KILL", str(engine)], check=True)  # its shell is stopped and does not notice
    strangers.append(stranger(one.spec.port, one.spec.served_name))
    until(lambda: f"process {strangers[0].pid} " in str(instances.instance(number).reason), what="the holder")
    assert instances.instance(number).state == State.unwell
    strangers[0].kill()
    subprocess.run(["kill", "-CONT", leader], check=True)
    until(lambda: instances.instance(number).state == State.failed, what="its own end")


def test_stopping_the_pilot_while_the_engine_starts_ends_the_engine(console: RunningConsole, folder: Path) -> None:
    misfort(folder, "--slow-start 600")
    console.start()
    path.start_pilot(inventory.this_machine().id, actor="me")
    until(lambda: history.jobs(1)[0].kind == "start", what="the start")
    job = history.jobs(1)[0]
    number = int(job.subject.removeprefix("instance:"))
    until(lambda: runs(number), what="the process")
    jobs.cancel(job.id, actor="me")
    until(lambda: instances.instance(number).state == State.stopped, what="its end")
    assert history.job(job.id).state == "cancelled"
    assert instances.instance(number).wish == Wish.down
    assert session_of(attempt_folder(number)) == []
    moves = [(event.became, event.actor) for event in history.events(f"instance:{number}")]
    assert ("stopping", "me") in moves
    stopped(console, folder, number)


def attempt_folder(number: int) -> Path:
    return Path(instances.attempts(number)[0].folder)


def runs(number: int) -> bool:
    """Whether its first attempt has a process."""
    return bool(instances.attempts(number)) and (attempt_folder(number) / "pid").exists()
