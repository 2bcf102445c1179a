"""The whole way from a bare rehearsal host to a server that answered, by the real worker, with real pip."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from console.errors import Conflict
from console.hosts import installed, inventory, rehearsal_life
from console.hosts.inventory import Host
from console.hosts.rehearsal_life import State, state
from console.jobs import history, installing, jobs, path, stacks, ways
from console.jobs.stacks import Wish
from console.plans.refusals import Route
from console.plans.step import Step
from console.text import verbatim
from tests.jobs.ascend_wheels import packages
from tests.jobs.conftest import WorkerProcess, ended
from tests.jobs.npus import Make, carried, make, run, send, states, told
from tests.running import living, until

__all__ = ["make"]
VENV = Wish(Route.VENV, "0.23.0")
BOOT = "cat /proc/sys/kernel/random/boot_id"


def test_from_a_bare_host_to_a_server_that_answered(make: Make, worker: WorkerProcess, tmp_path: Path) -> None:
    host = make("driver-missing")
    send(host, packages(tmp_path / "bundle"))
    looked = {one.step.name: one.state for one in installing.dry_run(host, installing.steps(host, VENV))}
    assert (looked["driver"], looked["headers"], looked["venv"]) == ("waiting", "satisfied", "waiting")
    before = run(host, BOOT)
    worker.start()
    job = carried(installing.start(host.id, VENV, actor="wang"))
    assert job.state == "succeeded", told(job)
    assert set(states(job).values()) == {"ok", "satisfied"}
    assert {states(job)[name] for name in ("driver", "firmware", "restart", "nnal", "vllm", "level-server")} == {"ok"}
    assert run(host, BOOT) != before
    assert "25.5.1" in run(host, "npu-smi info | head -2")
    found = installed.runtime(host, "ascend_venv")
    assert found is not None
    assert found.complete
    assert "vllm-ascend 0.23.0, CANN 9.1.0, Python" in str(found.words)
    assert ways.way_of(host).backend == "ascend_venv"
    assert stacks.last_wish(host) == VENV
    *_, last = path.planned("install", host).steps
    assert last.name == "model", "the pilot then sees that there is something to serve"
    again = carried(installing.start(host.id, VENV, actor="wang"))
    assert again.state == "succeeded", told(again)
    assert {one.state for one in again.steps if one.step.script} == {"satisfied"}, told(again)
    removed = carried(installing.start_removal(host.id, VENV, actor="wang"))
    assert removed.state == "succeeded", told(removed)
    assert run(host, f"ls {host.work_folder}/runtimes; ls -d /usr/local/Ascend/cann* 2>/dev/null || true") == ""
    assert "25.5.1" in run(host, "npu-smi info | head -2")
    found = installed.runtime(host, "ascend_venv")
    assert found is not None
    assert str(found.words) == "vLLM is not installed", "what was seen before the removal is not told any more"
    assert stacks.target(host).driver == "25.5.1", "the host was asked again after its driver was installed"


def test_a_restart_survives_a_killed_worker_and_a_no(make: Make, worker: WorkerProcess) -> None:
    """On a host whose driver works already, a changed driver is pretended by its note."""
    host = make("two-healthy-910b4")
    run(host, f"mkdir -p {host.work_folder}/installs && {BOOT} > {host.work_folder}/installs/restart")
    before = run(host, BOOT)
    steps = [one for one in installing.steps(host, VENV) if one.name in ("restart", "level-driver")]
    number = jobs.enqueue("install", f"host:{host.id}", host.id, verbatim("restart"), steps, actor="wang")
    worker.start()
    job = carried(number, "no")
    assert states(job)["restart"] == "failed", told(job)
    assert "was not restarted" in job.steps[0].log()
    assert run(host, BOOT) == before
    jobs.resume(number, actor="wang")
    until(lambda: history.job(number).state == "waiting")
    assert history.job(number).question is not None
    worker.kill(signal.SIGKILL)
    jobs.answer(number, "yes", actor="wang")
    worker.start()
    until(lambda: state(host.id) != State.UP)
    worker.kill(signal.SIGKILL)
    worker.start()
    job = ended(number, 300)
    assert job.state == "succeeded", told(job)
    assert run(host, BOOT) != before


def test_a_second_operator_is_told_whose_job_works_on_the_host(make: Make) -> None:
    host = make("two-healthy-910b4")
    number = installing.start(host.id, VENV, actor="wang")
    assert installing.start(host.id, VENV, actor="wang") == number, "a double click"
    for begin in (installing.start, installing.start_removal):
        with pytest.raises(Conflict, match=f"Job #{number} of wang works on"):
            begin(host.id, VENV, actor="li")
    with pytest.raises(Conflict, match="Nothing was queued"):
        installing.start(host.id, Wish(Route.DOCKER), actor="wang")
    assert [one.id for one in history.jobs() if one.kind in ("install", "remove")] == [number]


def test_what_was_there_before_an_upgrade_is_removed_too(make: Make) -> None:
    host = make("two-healthy-910b4")
    for release in ("0.13.0", "0.18.0", "0.23.0"):
        jobs.cancel(installing.start(host.id, Wish(Route.VENV, release), actor="wang"), actor="wang")
    found = [one.name for one in installing.removal(host, VENV) if "toolkit" in one.name]
    assert found == ["remove-toolkit", "remove-toolkit-9.0.0", "remove-toolkit-8.5.0"]


def test_the_driver_goes_only_if_that_was_asked_for(make: Make, worker: WorkerProcess) -> None:
    """It was installed by the console, as its notes say; afterwards the host is known to be without one."""
    host = make("two-healthy-910b4")
    notes = f"{host.work_folder}/installs"
    run(host, f"mkdir -p {notes} && cd {notes} && echo 25.5.1 >driver && echo 7.8.0.6.201 >firmware")
    before = run(host, BOOT)
    worker.start()
    job = carried(installing.start_removal(host.id, VENV, actor="wang", with_driver=True))
    assert job.state == "succeeded", told(job)
    assert str(job.title).endswith(", the driver too")
    assert states(job)["cards-free"] == "satisfied", "nobody uses a card"
    assert {states(job)[name] for name in ("remove-firmware", "remove-driver", "restart-after", "look")} == {"ok"}
    assert run(host, BOOT) != before
    assert stacks.target(host).driver is None


def test_one_step_is_done_again(data: Path, worker: WorkerProcess) -> None:
    host = inventory.this_machine()
    counted = data / "count"
    script = f"echo x >> '{counted}'"
    steps = [Step("one", verbatim("one"), script), Step("two", verbatim("two"), "exit 3")]
    number = jobs.enqueue("install", f"host:{host.id}", host.id, verbatim("job"), steps, actor="wang")
    worker.start()
    assert ended(number).state == "failed"
    jobs.retry(number, 1, actor="li")
    until(lambda: not history.job(number).active)
    job = history.job(number)
    assert (states(job), job.attempt) == ({"one": "ok", "two": "failed"}, 2)
    assert counted.read_text().split() == ["x", "x"]
    jobs.skip(number, 2, "not needed here", actor="li")
    assert [one.actor for one in history.events(f"job:{number}") if one.became == "skipped"] == ["li"]


def sessions(host: Host) -> list[int]:
    """The processes of the host's SSH server that serve a connection."""
    noted: list[int] = []
    with suppress(
        OSError
    ):  # it is down; hosts of other tests have this number too, so a name would not tell them apart
        noted = [int(pid) for pid in (rehearsal_life.folder(host.id) / "pids").read_text().split()[::2]]
    servers = [pid for pid in noted if "sshd" in " ".join(words_of(pid))]
    return [pid for pid in living() if parent(pid) in servers]


def words_of(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    return []


def parent(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def test_a_cut_connection_and_a_killed_worker_do_nothing_twice(
    make: Make, worker: WorkerProcess, tmp_path: Path
) -> None:
    host = make("driver-missing")
    send(host, packages(tmp_path / "bundle"))
    wanted = ("user", "driver", "firmware")
    steps = [one for one in installing.steps(host, VENV) if one.name in wanted]
    number = jobs.enqueue("install", f"host:{host.id}", host.id, verbatim("driver"), steps, actor="wang")
    worker.start()
    until(lambda: states(history.job(number))["driver"] == "running")
    cut = sessions(host)
    assert cut
    for pid in cut:
        os.kill(pid, signal.SIGKILL)
    until(lambda: states(history.job(number))["firmware"] == "running" or not history.job(number).active)
    worker.kill(signal.SIGKILL)
    worker.start()
    job = ended(number, 200)
    assert job.state == "succeeded", told(job)
    said = run(host, "cat /var/log/ascend_seclog/ascend_install.log")
    assert said.count("Driver package installed successfully!") == 1
    assert said.count("Firmware package installed successfully!") == 1
