"""A plan carried out without the console: what is pasted back becomes a job, checked against the host itself."""

import subprocess
from pathlib import Path

import pytest

from console.errors import Conflict, InvalidInput, NotFound
from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.jobs import by_hand, history, installing, jobs, stacks
from console.jobs.stacks import Wish
from console.plans.refusals import Route
from console.plans.step import Step
from console.text import verbatim
from tests.jobs.ascend_wheels import packages
from tests.jobs.conftest import WorkerProcess, ended
from tests.jobs.npus import Make, make, run, send, states, told

__all__ = ["make"]
VENV = Wish(Route.VENV, "0.23.0")


def plan(folder: Path) -> list[Step]:
    made = folder / "made here"
    return [
        Step("one", verbatim("One"), f"touch '{made}'", verify=f"test -e '{made}'"),
        Step("two", verbatim("Two"), f"test -e '{folder}/go' || {{ echo No space left on device; exit 3; }}"),
        Step("three", verbatim("Three"), "true"),
    ]


def carried_out(host: Host, steps: list[Step], folder: Path) -> str:
    """What a person sees who runs the exported script."""
    (folder / "install.sh").write_text(by_hand.export(host, "install", verbatim("Install"), steps))
    return subprocess.run(["sh", "install.sh"], cwd=folder, capture_output=True, text=True, check=False).stdout


def test_a_failure_is_shown_with_its_log_and_a_second_paste_goes_on_with_the_same_job(
    host: Host, tmp_path: Path
) -> None:
    steps = plan(tmp_path)
    number = by_hand.record(host, carried_out(host, steps, tmp_path), actor="li")
    job = history.job(number)
    assert (job.state, job.actor, job.kind, job.subject) == ("failed", "li", "install", f"host:{host.id}")
    assert states(job) == {"one": "ok", "two": "failed", "three": "waiting"}
    assert "No space left on device" in job.steps[1].log()
    assert job.steps[1].code == 3
    assert [one.elapsed for one in job.steps] == [None] * 3, "no time of the host's clock is shown as ours"
    (tmp_path / "go").touch()
    assert by_hand.record(host, carried_out(host, steps, tmp_path), actor="wang") == number
    job = history.job(number)
    assert (job.state, states(job)) == ("succeeded", {"one": "ok", "two": "ok", "three": "ok"})
    noted = [(one.actor, str(one.reason)) for one in history.events(f"job:{number}") if one.became == by_hand.BY_HAND]
    assert noted == [("wang", "3 done, 0 failed, 0 not run."), ("li", "1 done, 1 failed, 1 not run.")]


def test_the_time_of_a_job_by_hand_is_what_its_results_tell(host: Host, tmp_path: Path) -> None:
    """That it was written down in no time is not how long it took."""
    (tmp_path / "go").touch()
    steps = [Step("one", verbatim("One"), "sleep 1.1"), Step("two", verbatim("Two"), "exit 3", "true")]
    job = history.job(by_hand.record(host, carried_out(host, steps, tmp_path), actor="li"))
    told = [one.told_s for one in job.steps]
    assert told[0] is not None
    assert told[0] >= 1
    assert told[1] is None, "it was done already"
    assert "It was done already on" in str(job.steps[1].reason)
    assert (job.by_hand, job.elapsed) == (True, told[0])
    unknown = by_hand.write_down(
        host, *by_hand.lines(host, carried_out(host, steps[1:], tmp_path), check=True), actor="li"
    )
    assert history.job(unknown).elapsed is None


def test_the_same_paste_twice_is_one_job_and_one_end(host: Host, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    out = carried_out(host, plan(tmp_path), tmp_path)
    assert by_hand.record(host, out, actor="li") == by_hand.record(host, out, actor="li")
    (job,) = history.jobs()
    assert len([one for one in history.events(f"job:{job.id}") if one.became == "succeeded"]) == 1


def test_the_check_on_the_host_counts_more_than_what_was_told(host: Host, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    steps = plan(tmp_path)
    out = carried_out(host, steps, tmp_path)
    (tmp_path / "made here").unlink()
    rows = by_hand.lines(host, out, check=True)[1]
    assert [str(one.state) for one in rows] == ["failed", "ok", "ok"]
    assert "its check does not find it" in str(rows[0].words)
    assert [str(one.state) for one in by_hand.lines(host, out, check=False)[1]] == ["ok", "ok", "ok"]
    assert by_hand.described(rows[0])["told"] == "ok"


def test_a_step_nobody_told_of_is_done_if_its_check_says_so(host: Host, tmp_path: Path) -> None:
    out = carried_out(host, plan(tmp_path), tmp_path)
    only_second = out[out.index("pilot-end") :].partition("\n")[2]
    rows = by_hand.lines(host, only_second, check=True)[1]
    assert [str(one.state) for one in rows] == ["satisfied", "failed", "waiting"]


def test_a_step_of_the_console_itself_is_left_to_it(host: Host, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    steps = [*plan(tmp_path), Step("look", verbatim("Look"), action="probe")]
    number = by_hand.record(host, carried_out(host, steps, tmp_path), actor="li")
    job = history.job(number)
    assert (job.state, states(job)["look"]) == ("queued", "waiting")


def test_what_is_foreign_is_refused_and_nothing_recorded(host: Host, tmp_path: Path) -> None:
    steps = plan(tmp_path)
    out = carried_out(host, steps, tmp_path)
    other = inventory.add_host("node-2", Reach("192.0.2.9"), actor="test")
    with pytest.raises(InvalidInput, match="not for node-2"):
        by_hand.record(other, out, actor="li")
    made = by_hand.read(host, out)[1][0].token
    (tmp_path / "data 数据" / by_hand.FOLDER / f"{made}.json").rename(tmp_path / "kept")
    with pytest.raises(NotFound, match="did not write"):
        by_hand.record(host, out, actor="li")
    (tmp_path / "kept").rename(tmp_path / "data 数据" / by_hand.FOLDER / f"{made}.json")
    with pytest.raises(InvalidInput, match="is cut"):
        by_hand.record(host, out[: out.rindex("pilot-end")], actor="li")
    assert history.jobs() == []


def test_another_machine_than_the_host_is_told(host: Host, tmp_path: Path) -> None:
    script = by_hand.export(host, "install", verbatim("Install"), plan(tmp_path)).replace("uname -n", "echo elsewhere")
    (tmp_path / "install.sh").write_text(script)
    out = subprocess.run(["sh", "install.sh"], cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    with pytest.raises(InvalidInput, match="was run on elsewhere"):
        by_hand.record(host, out, actor="li")
    assert history.jobs() == []


def test_while_a_job_works_on_the_host_nothing_is_recorded(host: Host, tmp_path: Path) -> None:
    out = carried_out(host, plan(tmp_path), tmp_path)
    number = jobs.enqueue("install", f"host:{host.id}", host.id, verbatim("x"), plan(tmp_path), actor="zhao")
    with pytest.raises(Conflict, match=f"Job #{number} of zhao works on"):
        by_hand.record(host, out, actor="li")
    assert len(history.jobs()) == 1


def test_the_whole_plan_by_hand_on_a_host_and_back(make: Make, worker: WorkerProcess, tmp_path: Path) -> None:
    """The exported script runs over SSH as a person would run it; then the console goes on with what is its own."""
    host = make("two-healthy-910b4")
    send(host, packages(tmp_path / "bundle"))
    _, title, steps = installing.made(host, VENV)
    script = tmp_path / "install.sh"
    script.write_text(by_hand.export(host, "install", title, steps))
    inventory.runner(host).put(script, f"{host.work_folder}/install.sh")
    out = inventory.runner(host).run(f"cd {host.work_folder} && sh install.sh 2>&1", timeout_s=300).out
    assert "pilot-end" in out
    number = by_hand.record(host, out, actor="li")
    seen = states(history.job(number))
    assert set(seen.values()) - {"waiting"} <= {"ok", "satisfied"}, told(history.job(number))
    assert seen["level-server"] == "ok"
    assert run(host, f"cat {host.work_folder}/pilot-results-*.txt | grep -c ^pilot-end").strip() == str(len(steps) - 1)
    worker.start()
    job = ended(number, 120)
    assert job.state == "succeeded", told(job)
    assert states(job)["look"] == "ok"
    assert stacks.last_wish(host) == VENV
