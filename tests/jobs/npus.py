"""Rehearsal hosts that were asked about themselves, and packages carried to them, for tests of installing."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console.errors import Conflict, HostError
from console.hosts import inventory, observe, rehearsal, rehearsal_needs
from console.hosts.inventory import Host
from console.jobs import history, jobs
from console.jobs.history import JobView

PATIENCE_S = 500
Make = Callable[[str], Host]


@pytest.fixture
def make(data: Path) -> Iterator[Make]:
    """Makes hosts by their scenario; they end with the test."""
    try:
        rehearsal_needs.try_namespaces(rehearsal_needs.programs()["unshare"])
    except HostError as error:
        pytest.skip(str(error))

    def one(scenario: str) -> Host:
        host = rehearsal.create(scenario, actor="test")
        observe.probe(host, actor="test")
        return host

    yield one
    for job in history.jobs(active_only=True):
        jobs.cancel(job.id, actor="test")
    for host in inventory.hosts():
        if host.scenario is not None:
            try:
                inventory.remove_host(host.id, actor="test")
            except Conflict:  # a test that failed left its job at work
                rehearsal.destroy(host)


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
