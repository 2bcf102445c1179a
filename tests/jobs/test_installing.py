"""The whole way from a bare rehearsal host to a server that answered, by the real worker, with real pip."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console.errors import HostError
from console.hosts import installed, inventory, observe, rehearsal, rehearsal_needs
from console.hosts.inventory import Host
from console.jobs import history, installing, jobs, path, stacks, ways
from console.jobs.history import JobView
from console.jobs.stacks import Wish
from console.plans.refusals import Route
from tests.jobs.ascend_wheels import packages
from tests.jobs.conftest import WorkerProcess

PATIENCE_S = 400
VENV = Wish(Route.VENV, "0.23.0")


@pytest.fixture
def make(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Host]]:
    """Makes rehearsal hosts that were asked about themselves, and that end with the test."""
    try:
        rehearsal_needs.try_namespaces(rehearsal_needs.programs()["unshare"])
    except HostError as error:
        pytest.skip(str(error))

    def one(scenario: str) -> Host:
        host = rehearsal.create(scenario, actor="test")
        observe.probe(host, actor="test")
        return host

    yield one
    for host in inventory.hosts():
        if host.scenario is not None:
            inventory.remove_host(host.id, actor="test")


def send(host: Host, folder: Path) -> None:
    """Carry a folder of packages to where the plan looks for it."""
    for file in folder.rglob("*"):
        if file.is_file():
            inventory.runner(host).put(file, f"{host.work_folder}/packages/{file.relative_to(folder)}")


def run(host: Host, script: str) -> str:
    outcome = inventory.runner(host).run(script, timeout_s=120)
    assert outcome.code == 0, outcome
    return outcome.out


def carried(job_id: int, answer: str = "yes") -> JobView:
    """The job once it has ended, with this answer to whatever it asks."""
    deadline = time.monotonic() + PATIENCE_S
    while (job := history.job(job_id)).active:
        assert time.monotonic() < deadline, told(job)
        if job.state == "waiting":
            jobs.answer(job_id, answer, actor="test")
        time.sleep(0.5)
    return job


def told(job: JobView) -> str:
    """Everything about a job, for a test that fails."""
    lines = [f"{job.state}: {job.reason}"]
    lines += [f"{one.number} {one.step.name} {one.state} {one.reason}" for one in job.steps]
    failed = [one for one in job.steps if one.state in ("failed", "running")]
    return "\n".join([*lines, *(one.log() for one in failed)])


def states(job: JobView) -> dict[str, str]:
    return {one.step.name: str(one.state) for one in job.steps}


def test_from_a_bare_host_to_a_server_that_answered(
    make: Callable[[str], Host], worker: WorkerProcess, tmp_path: Path
) -> None:
    host = make("driver-missing")
    send(host, packages(tmp_path / "bundle"))
    looked = {one.step.name: one.state for one in installing.dry_run(host, installing.steps(host, VENV))}
    assert (looked["driver"], looked["headers"], looked["venv"]) == ("waiting", "satisfied", "waiting")
    before = run(host, "cat /proc/sys/kernel/random/boot_id; id -u")
    worker.start()
    job = carried(installing.start(host.id, VENV, actor="wang"))
    assert job.state == "succeeded", told(job)
    assert set(states(job).values()) == {"ok", "satisfied"}
    assert {states(job)[name] for name in ("driver", "firmware", "restart", "nnal", "vllm", "level-server")} == {"ok"}
    assert run(host, "cat /proc/sys/kernel/random/boot_id; id -u") != before
    assert "25.5.1" in run(host, "npu-smi info | head -2")
    found = installed.runtime(host, "ascend_venv")
    assert found is not None
    assert found.complete
    assert "vllm-ascend 0.23.0, CANN 9.1.0, Python" in str(found.words)
    assert ways.way_of(host).backend == "ascend_venv"
    assert stacks.last_wish(host) == VENV
    again = carried(path.start("install", host.id, actor="wang"))
    assert again.state == "succeeded", told(again)
    assert {one.state for one in again.steps if one.step.script} == {"satisfied"}, told(again)
