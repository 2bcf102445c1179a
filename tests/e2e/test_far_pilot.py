"""The whole path with real vLLM on the CPU of a host that is reached over SSH, from the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.hosts import inventory
from console.serving import instances
from console.serving.state import State
from tests.hosts.sshd import Sshd
from tests.running import RunningConsole, opened, session_of

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.real_vllm, pytest.mark.needs("sshd", "ssh-keygen")]


@pytest.fixture
def far(built: Path, tmp_path: Path) -> Path:
    """A work folder on the other host, with the real runtime; the console's own data folder has none."""
    folder = tmp_path / "far"
    (folder / "models").mkdir(parents=True)
    (folder / "runtimes").symlink_to(built / "runtimes")
    for model in (built / "models").iterdir():
        (folder / "models" / model.name).symlink_to(model)
    return folder


@pytest.fixture
def console(tmp_path: Path, far: Path) -> Iterator[RunningConsole]:
    server = Sshd(tmp_path / "sshd").start()
    one = RunningConsole(tmp_path / "data")
    with opened(one.folder):
        server.trust()
        inventory.add_host("gpu1", server.reach(), work_folder=str(far), actor="me")
        yield one
        one.close()
    RunningConsole(far).close()
    server.stop()


def test_from_a_host_over_ssh_to_a_measured_answer(console: RunningConsole, far: Path) -> None:
    console.start()
    done = console.run("run", "--host", "gpu1", "--yes", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said["succeeded"]
    assert "Paris" in said["answer"]
    assert [run["concurrency"] for run in said["runs"]] == [1, 4]
    assert all(run["tokens_per_s"] > 0 and run["ttft_p50_s"] > 0 for run in said["runs"])
    (one,) = instances.instances()
    assert one.state == State.ready
    folder = Path(instances.attempts(one.id)[0].folder)
    assert folder.is_relative_to(far)
    assert session_of(folder)
    assert console.run("stop", "--all").returncode == 0
    assert session_of(folder) == []
