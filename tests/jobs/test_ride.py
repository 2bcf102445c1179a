"""A connection that is lost in the middle of a step, against a real SSH server that is killed and comes back."""

from pathlib import Path

import pytest

from console.hosts import inventory
from console.hosts.inventory import Host
from console.jobs import history, jobs, path
from console.jobs.history import JobView
from console.plans.step import Step
from console.text import say, verbatim
from tests.hosts.conftest import MakeSshd, data, sshd
from tests.hosts.sshd import Sshd
from tests.jobs.conftest import WorkerProcess, ended, until, worker
from tests.running import alive

__all__ = ["data", "sshd", "worker"]
pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]


@pytest.fixture
def server(sshd: MakeSshd) -> Sshd:
    return sshd()


@pytest.fixture
def remote(server: Sshd, tmp_path: Path) -> Host:
    return inventory.add_host("gpu1", server.reach(), work_folder=str(tmp_path / "far"), actor="me")


def queue(host: Host, *steps: Step) -> int:
    return jobs.enqueue("test", f"host:{host.id}", host.id, say("Check"), steps, actor="me")


def long_step(tmp_path: Path) -> Step:
    """Says something, waits for the file `go`, says something more; notes every time it runs and its process."""
    script = (
        f"echo x >> '{tmp_path}/ran'; echo $$ > '{tmp_path}/pid'; echo begun\n"
        f"while ! test -e '{tmp_path}/go'; do sleep 0.1; done; echo over"
    )
    return Step("long", verbatim("long"), script=script, verify=f"test -e '{tmp_path}/go'")


def begun(job_id: int) -> JobView:
    until(lambda: any("begun" in step.log() for step in history.job(job_id).steps if step.attempt))
    return history.job(job_id)


def told(job_id: int) -> str:
    """What the job says that holds it up, once it says something."""
    until(lambda: history.job(job_id).reason is not None)
    return str(history.job(job_id).reason)


def test_a_step_goes_on_where_it_was_when_the_host_is_back(
    remote: Host, server: Sshd, worker: WorkerProcess, tmp_path: Path
) -> None:
    job_id = queue(remote, long_step(tmp_path), Step("after", verbatim("after"), script="echo after"))
    worker.start()
    begun(job_id)
    server.stop()
    assert "There has been no connection to gpu1 for" in told(job_id)
    assert history.job(job_id).state == "running"
    (tmp_path / "go").touch()  # it ends while nobody can see it
    server.start()
    job = ended(job_id)
    assert (job.state, job.reason, [step.attempt for step in job.steps]) == ("succeeded", None, [1, 1])
    assert job.steps[0].log() == "begun\nover\n"
    assert (tmp_path / "ran").read_text() == "x\n"


def test_a_step_is_begun_and_verified_over_gaps_too(
    remote: Host, server: Sshd, worker: WorkerProcess, tmp_path: Path
) -> None:
    """The host is away exactly between two steps, where the console verifies and starts."""
    gate = f"while ! test -e '{tmp_path}/go'; do sleep 0.1; done"
    job_id = queue(
        remote,
        Step("one", verbatim("one"), script=f"echo begun; {gate}"),
        Step("two", verbatim("two"), script=f"touch '{tmp_path}/two'; echo two", verify=f"test -e '{tmp_path}/two'"),
    )
    worker.start()
    begun(job_id)
    server.options = ("MaxSessions 0",)  # it takes logins and refuses every command
    server.stop()
    server.start()
    told(job_id)
    (tmp_path / "go").touch()
    server.stop()
    server.options = ()
    server.start()
    job = ended(job_id)
    assert (job.state, [step.log() for step in job.steps]) == ("succeeded", ["begun\n", "two\n"])


def test_a_worker_that_is_killed_in_the_gap_changes_nothing(
    remote: Host, server: Sshd, worker: WorkerProcess, tmp_path: Path
) -> None:
    job_id = queue(remote, long_step(tmp_path))
    worker.start()
    begun(job_id)
    server.stop()
    told(job_id)
    worker.kill()
    worker.start()
    (tmp_path / "go").touch()
    server.start()
    assert (ended(job_id).state, (tmp_path / "ran").read_text()) == ("succeeded", "x\n")


def test_whoever_cancels_in_the_gap_is_told_what_may_still_run(
    remote: Host, server: Sshd, worker: WorkerProcess, tmp_path: Path
) -> None:
    job_id = queue(remote, long_step(tmp_path))
    worker.start()
    begun(job_id)
    server.stop()
    told(job_id)
    jobs.cancel(job_id, actor="me")
    job = ended(job_id)
    assert (job.state, job.steps[0].state) == ("cancelled", "cancelled")
    assert "it may still run there" in str(job.reason)
    old = int((tmp_path / "pid").read_text())
    assert alive(old)
    server.start()
    jobs.resume(job_id, actor="me")
    until(lambda: (tmp_path / "ran").read_text() == "x\nx\n")
    assert not alive(old), "two of one step never run at once"
    (tmp_path / "go").touch()
    assert ended(job_id).state == "succeeded"


def test_a_host_that_was_never_there_is_told_at_once(remote: Host, server: Sshd, worker: WorkerProcess) -> None:
    server.stop()
    job_id = path.start("check", remote.id, actor="me")
    worker.start()
    job = ended(job_id)
    assert job.state == "failed"
    assert "refuses connections" in str(job.reason)


def test_another_host_key_is_not_ridden_out(remote: Host, server: Sshd, worker: WorkerProcess, tmp_path: Path) -> None:
    job_id = queue(remote, long_step(tmp_path))
    worker.start()
    begun(job_id)
    server.stop()
    server.new_host_key()
    server.start()
    job = ended(job_id)
    assert job.state == "failed"
    assert "HAS CHANGED" in str(job.reason)
    (tmp_path / "go").touch()
