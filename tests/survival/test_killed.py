"""What is killed with SIGKILL loses nothing: the web server, the worker, both, while steps and an engine run."""

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from console.hosts import inventory
from console.jobs import history, jobs
from console.plans.step import Step
from console.serving import instances
from console.serving.state import State
from console.text import say, verbatim
from tests.running import RunningConsole, alive, processes, until
from tests.survival.conftest import engine_of, ready, stopped

pytestmark = [pytest.mark.e2e, pytest.mark.engine]


def queue(folder: Path) -> int:
    """A job whose second step lasts until somebody makes the file `go`."""
    mark = f"echo %s >> '{folder}/ran'"
    wait = f"echo begun; {mark % 'long'}; while ! test -e '{folder}/go'; do sleep 0.2; done; echo over"
    scripts = {"before": mark % "before", "long": wait, "after": mark % "after"}
    steps = [Step(name, verbatim(name), script=script) for name, script in scripts.items()]
    host = inventory.this_machine()
    job_id = jobs.enqueue("test", f"host:{host.id}", host.id, say("Check"), steps, actor="me")
    until(lambda: "begun" in history.job(job_id).steps[1].log(), what="the second step")
    return job_id


def let_go(folder: Path, job_id: int) -> None:
    (folder / "go").touch()
    until(lambda: not history.job(job_id).active, what="the end of the job")
    job = history.job(job_id)
    assert (job.state, [step.attempt for step in job.steps]) == ("succeeded", [1, 1, 1])
    assert (folder / "ran").read_text() == "before\nlong\nafter\n"
    assert job.steps[1].log() == "begun\nover\n"


@pytest.mark.needs("chromium")
def test_a_killed_web_server_leaves_the_job_at_work(console: RunningConsole, folder: Path, page: Page) -> None:
    console.start()
    job_id = queue(folder)
    page.goto(console.link)
    page.goto(f"{console.address}/job?job={job_id}")
    expect(page.get_by_text("begun", exact=True)).to_be_visible()
    worker = console.worker
    console.kill_web()
    assert console.worker == worker
    console.start()
    page.goto(f"{console.address}/job?job={job_id}")
    head = page.locator(f".st-key-job-head-{job_id}")
    expect(head).to_contain_text("running")
    expect(page.get_by_text("begun", exact=True)).to_be_visible()
    assert console.worker == worker
    let_go(folder, job_id)
    expect(head).to_contain_text("succeeded")
    expect(head).to_contain_text("3 of 3 steps")


def test_the_next_worker_adopts_the_step_and_the_engine(console: RunningConsole, folder: Path) -> None:
    console.start()
    number = ready()
    engine = engine_of(folder)
    job_id = queue(folder)
    worker = console.worker
    os.kill(worker, signal.SIGKILL)
    until(lambda: console.worker not in (0, worker), what="the next worker")
    let_go(folder, job_id)
    until(lambda: (instances.instance(number).observed or 0) > (history.job(job_id).ended or 0), what="a look")
    assert instances.instance(number).state == State.ready
    assert engine_of(folder) == engine
    assert len(instances.attempts(number)) == 1
    moves = [event.became for event in history.events(f"instance:{number}")]
    assert moves == ["ready", "starting", "created"]
    stopped(console, folder, number)


def test_web_server_and_worker_killed_together(console: RunningConsole, folder: Path) -> None:
    console.start()
    number = ready()
    engine = engine_of(folder)
    job_id = queue(folder)
    console.kill_web()
    os.kill(console.worker, signal.SIGKILL)
    until(lambda: not console.worker, what="the end of the worker")
    assert alive(engine)
    console.start()
    let_go(folder, job_id)
    until(lambda: instances.instance(number).state == State.ready, what="a look at the engine")
    assert engine_of(folder) == engine
    stopped(console, folder, number)


def test_an_engine_is_stopped_without_a_worker(console: RunningConsole, folder: Path) -> None:
    console.start()
    number = ready()
    console.kill_web()
    os.kill(console.worker, signal.SIGKILL)
    until(lambda: not console.worker, what="the end of the worker")
    stopped(console, folder, number)
    assert processes(folder) == []
