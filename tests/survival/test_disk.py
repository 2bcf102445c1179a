"""A disk that fills up during an installation: the step says so, nothing crashes, and with room the job goes on."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.hosts import inventory
from console.jobs import history, jobs
from console.plans.local_cpu import LocalCpuTarget, plan
from console.plans.step import Step
from console.serving import instances
from console.serving.state import State
from console.text import say, verbatim
from tests.pages import seed
from tests.running import RunningConsole, opened, until

pytestmark = [pytest.mark.e2e, pytest.mark.engine, pytest.mark.needs_root]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 24 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def grow(place: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(place)], check=True)


@pytest.fixture
def console(small: Path) -> Iterator[RunningConsole]:
    one = RunningConsole(small / "data")
    with opened(one.folder):
        one.start()
        yield one
        one.close()


def queue(*steps: Step) -> int:
    host = inventory.this_machine()
    return jobs.enqueue("test", f"host:{host.id}", host.id, say("Check"), steps, actor="me")


def ended(job_id: int) -> history.JobView:
    until(lambda: not history.job(job_id).active, what="the end of the job")
    return history.job(job_id)


def test_an_installation_without_room_says_how_much_it_needs(console: RunningConsole, small: Path) -> None:
    """The first step of the real plan, from its refusal to its end on a larger disk."""
    step = next(each for each in plan(LocalCpuTarget(str(console.folder))) if each.name == "venv")
    job_id = queue(step)
    failed = ended(job_id)
    assert failed.state == "failed"
    assert "Not enough room for the runtime: it needs 3500 MiB free" in failed.steps[0].log()
    grow(small, "5g")
    jobs.resume(job_id, actor="me")
    job = ended(job_id)
    assert (job.state, job.attempt, job.steps[0].attempt) == ("succeeded", 2, 2), job.steps[0].log()


def test_a_disk_that_is_full_to_the_last_byte(console: RunningConsole, small: Path) -> None:
    """Neither the log nor the database can be written any more; whatever happened is told once there is room."""
    fill = f"echo before; dd if=/dev/zero of='{small}/fill' bs=64k 2>/dev/null || exit 28"
    job_id = queue(Step("fill", verbatim("fill"), script=fill), Step("after", verbatim("after"), script="echo after"))
    until(lambda: (small / "fill").exists() and free(small) < 8192, what="the full disk")
    web, worker = console.process, console.worker
    assert web is not None
    until(lambda: "exited" if (exit_code(console, job_id)) else "", what="the end of the command")
    grow(small, "64m")
    job = ended(job_id)
    assert (job.state, [step.state for step in job.steps]) == ("failed", ["failed", "waiting"])
    assert job.steps[0].code == 28
    assert "before" in job.steps[0].log()
    assert (web.poll(), console.worker) == (None, worker)
    (small / "fill").unlink()
    jobs.skip(job_id, 1, "made room", actor="me")
    jobs.resume(job_id, actor="me")
    assert ended(job_id).state == "succeeded"


def test_an_instance_that_nobody_can_write_about_blames_the_disk(small: Path) -> None:
    """Not the worker, which runs: whoever starts that again has gained nothing."""
    with opened(small / "data"):
        number = seed.instance(inventory.this_machine(), "smol", State.ready, age_s=60)
        assert "worker does not run" in str(instances.instance(number).reason)
        subprocess.run(["dd", "if=/dev/zero", f"of={small}/fill", "bs=64k"], capture_output=True, check=False)
        assert free(small) < 65536
        seen = instances.instance(number)
        assert (seen.state, "is full" in str(seen.reason)) == (State.lost, True)
        (small / "fill").unlink()
        assert "worker does not run" in str(instances.instance(number).reason)


def exit_code(console: RunningConsole, job_id: int) -> str:
    """What the command left of itself on the full disk."""
    code = console.folder / "jobs" / str(job_id) / "01-fill.1" / "code"
    return code.read_text().strip() if code.exists() else ""


def free(place: Path) -> int:
    import os

    at = os.statvfs(place)
    return at.f_bavail * at.f_frsize
