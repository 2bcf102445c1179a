"""What may go wrong while hosts are installed: each step cut off, two at once, a wrong clock, a misfit package."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from console.checks import Level
from console.errors import Conflict
from console.hosts import observe
from console.hosts.inventory import Host
from console.jobs import history, installing, jobs
from console.jobs.history import JobView
from console.jobs.stacks import Wish
from console.plans.refusals import Route
from tests.jobs.ascend_wheels import packages, wheel
from tests.jobs.conftest import WorkerProcess
from tests.jobs.npus import Make, carried, make, run, send, states, told
from tests.jobs.test_installing import VENV, sessions

__all__ = ["make"]
LOST_YEAR = "#!/bin/sh\nexec /usr/bin/date -d '-1 year' \"$@\"\n"
PATIENCE_S = 600


def cut_each_step(host: Host, number: int) -> tuple[JobView, set[str]]:
    """Kill all connections to the host once in every step, as soon as it runs; the job at its end and the steps cut."""
    cut: set[str] = set()
    deadline = time.monotonic() + PATIENCE_S
    while (job := history.job(number)).active:
        assert time.monotonic() < deadline, told(job)
        if job.state == "waiting":
            with suppress(Conflict):  # it was taken up just now
                jobs.answer(number, "yes", actor="test")
        running = {one.step.name for one in job.steps if one.state == "running"} - cut
        if running and (open_now := sessions(host)):
            cut |= running
            for pid in open_now:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    return job, cut


def test_a_connection_cut_in_every_step_does_nothing_twice(make: Make, worker: WorkerProcess, tmp_path: Path) -> None:
    host = make("driver-missing")
    send(host, packages(tmp_path / "bundle"))
    worker.start()
    job, cut = cut_each_step(host, installing.start(host.id, VENV, actor="wang"))
    assert job.state == "succeeded", told(job)
    done = {name for name, state in states(job).items() if state == "ok"}
    assert done - cut <= {"restart", "model"}, "the host itself ends the connections; the other has no script there"
    assert {one.step.name for one in job.steps if one.attempt > 1} <= {"restart"}
    said = run(host, "cat /var/log/ascend_seclog/ascend_install.log")
    assert said.count("Driver package installed successfully!") == 1
    assert said.count("Firmware package installed successfully!") == 1


def test_two_hosts_at_once_one_of_them_a_year_behind(make: Make, worker: WorkerProcess) -> None:
    began = time.time()
    hosts = [make("two-healthy-910b4"), make("two-healthy-910b4")]
    run(hosts[0], f"cat >/usr/local/bin/date <<'EOF'\n{LOST_YEAR}EOF\nchmod +x /usr/local/bin/date")
    observe.probe(hosts[0], actor="test")
    checked = observe.judged(hosts[0])
    assert checked is not None
    (clock,) = [one.verdict for one in checked.judged if one.name == "clock_is_plausible"]
    assert clock.level == Level.WARN
    assert "behind this console" in str(clock.seen)
    numbers = [installing.start(host.id, Wish(Route.DOCKER), actor="wang") for host in hosts]
    worker.start()
    first, second = (carried(number) for number in numbers)
    for job in (first, second):
        assert job.state == "succeeded", told(job)
        times = [moment for one in job.steps for moment in (one.started, one.ended) if moment is not None]
        assert began <= min(times) <= max(times) <= time.time()
        assert times == sorted(times)
    spans = [[one.started for one in job.steps if one.started] for job in (first, second)]
    assert max(spans[0][0], spans[1][0]) < min(spans[0][-1], spans[1][-1]), "one waited for the other"


def test_packages_that_exclude_each_other_are_named_and_the_rest_is_not_done_again(
    make: Make, worker: WorkerProcess, tmp_path: Path
) -> None:
    host, bundle = make("two-healthy-910b4"), packages(tmp_path / "bundle")
    other = wheel(bundle / "wheels", "transformers", "4.57.0", "")
    send(host, bundle)
    worker.start()
    number = installing.start(host.id, VENV, actor="wang")
    job = carried(number)
    assert job.state == "failed"
    (failed,) = [one for one in job.steps if one.state == "failed"]
    assert "transformers: several versions lie in" in failed.log()
    assert "4.57.0, 5.5.4" in failed.log()
    done = {one.step.name: one.attempt for one in job.steps if one.state == "ok"}
    assert {"toolkit", "nnal", "venv"} <= done.keys()
    run(host, f"rm {host.work_folder}/packages/wheels/{other.name}")
    jobs.resume(number, actor="li")
    job = carried(number)
    assert job.state == "succeeded", told(job)
    assert {one.step.name: one.attempt for one in job.steps if one.step.name in done} == done
