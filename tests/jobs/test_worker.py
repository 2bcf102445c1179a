"""Jobs against a real worker: what is killed, cancelled, asked and resumed."""

import signal
import subprocess
import threading
from pathlib import Path

import pytest

from console.errors import Conflict, InvalidInput
from console.hosts.inventory import Host
from console.jobs import history, jobs, path
from console.jobs.supervise import end_worker, ensure_worker
from console.jobs.worker import beat, held
from console.plans.step import Step
from console.text import say, verbatim
from tests.jobs.conftest import WorkerProcess, ended
from tests.running import alive, until


def step(name: str, script: str, verify: str = "", timeout_s: float = 60) -> Step:
    return Step(name, verbatim(name), script=script, verify=verify, timeout_s=timeout_s)


def queue(host: Host, *steps: Step, subject: str = "") -> int:
    return jobs.enqueue("test", subject or f"host:{host.id}", host.id, say("Check"), steps, actor="me")


def test_steps_run_in_order_and_a_verified_one_is_not_run(host: Host, worker: WorkerProcess, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.touch()
    job_id = queue(
        host,
        step("one", f"echo first; echo 1 >> '{tmp_path}/order'"),
        step("two", f"echo 2 >> '{tmp_path}/order'", verify=f"test -e '{there}'"),
        step("three", f"echo 3 >> '{tmp_path}/order'", verify=f"grep -q 3 '{tmp_path}/order'"),
    )
    worker.start()
    job = ended(job_id)
    assert (job.state, [one.state for one in job.steps]) == ("succeeded", ["ok", "satisfied", "ok"])
    assert (tmp_path / "order").read_text() == "1\n3\n"
    assert job.steps[0].log() == "first\n"


def test_a_failed_step_stops_the_job_and_resume_keeps_what_is_done(
    host: Host, worker: WorkerProcess, tmp_path: Path
) -> None:
    mended = tmp_path / "mended"
    job_id = queue(
        host, step("one", f"echo x >> '{tmp_path}/ran'"), step("two", f"echo why; test -e '{mended}' || exit 7")
    )
    worker.start()
    job = ended(job_id)
    assert (job.state, job.steps[1].state, job.steps[1].code) == ("failed", "failed", 7)
    assert "7" in str(job.reason)
    mended.touch()
    jobs.resume(job_id, actor="me")
    job = ended(job_id)
    assert (job.state, job.attempt, job.steps[1].attempt) == ("succeeded", 2, 2)
    assert (tmp_path / "ran").read_text() == "x\n"
    assert job.steps[1].log(1) == "why\n"  # the log of the failed attempt stays


def test_a_step_whose_result_is_not_there_afterwards_failed(host: Host, worker: WorkerProcess) -> None:
    job_id = queue(host, step("one", "true", verify="false"))
    worker.start()
    assert ended(job_id).steps[0].state == "failed"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_next_worker_adopts_the_step_that_runs(
    host: Host, worker: WorkerProcess, tmp_path: Path, number: signal.Signals
) -> None:
    job_id = queue(
        host,
        step("done", f"echo done >> '{tmp_path}/ran'"),
        step(
            "long",
            f"echo begun; echo long >> '{tmp_path}/ran'; until test -e '{tmp_path}/go'; do sleep 0.1; done; echo over",
        ),
    )
    worker.start()
    until(lambda: "begun" in history.job(job_id).steps[1].log())
    worker.kill(number)
    (tmp_path / "go").touch()
    worker.start()
    job = ended(job_id)
    assert job.state == "succeeded"
    assert (tmp_path / "ran").read_text() == "done\nlong\n"
    assert job.steps[1].log() == "begun\nover\n"


def test_cancel_ends_the_whole_process_tree(host: Host, worker: WorkerProcess, tmp_path: Path) -> None:
    job_id = queue(host, step("long", f"sleep 1000 & echo $! > '{tmp_path}/pid'; wait"), step("never", "true"))
    worker.start()
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip() != "")
    jobs.cancel(job_id, actor="me")
    job = ended(job_id)
    assert (job.state, [one.state for one in job.steps]) == ("cancelled", ["cancelled", "waiting"])
    until(lambda: not alive(int((tmp_path / "pid").read_text())), what="the end of what was killed")


def test_a_queued_job_is_cancelled_without_a_worker(host: Host) -> None:
    job_id = queue(host, step("one", "true"))
    jobs.cancel(job_id, actor="me")
    assert history.job(job_id).state == "cancelled"


def test_a_step_may_ask_and_gets_its_answer(host: Host, worker: WorkerProcess) -> None:
    script = """
if [ -z "${PILOT_ANSWER:-}" ]; then
  printf '{"sentence": "Take {size}?", "values": {"size": "3 GB"}}' > ask; exit 75
fi
[ "$PILOT_ANSWER" = yes ] && echo taken
"""
    job_id = queue(host, step("ask", script))
    worker.start()
    until(lambda: history.job(job_id).state == "waiting")
    assert str(history.job(job_id).question) == "Take 3 GB?"
    worker.kill()  # the question outlives the worker
    worker.start()
    jobs.answer(job_id, "yes", actor="me")
    job = ended(job_id)
    assert (job.state, job.steps[0].log()) == ("succeeded", "taken\n")
    assert job.question is None
    with pytest.raises(Conflict):
        jobs.answer(job_id, "yes", actor="me")


def test_an_answer_is_never_executed(host: Host, worker: WorkerProcess, tmp_path: Path) -> None:
    evil = f"$(touch '{tmp_path}/evil')`touch '{tmp_path}/evil'`'; touch '{tmp_path}/evil'\n"
    job_id = queue(host, step("ask", 'echo {} > ask; [ -n "${PILOT_ANSWER:-}" ] || exit 75; printf %s "$PILOT_ANSWER"'))
    worker.start()
    until(lambda: history.job(job_id).state == "waiting")
    jobs.answer(job_id, evil, actor="me")
    assert ended(job_id).steps[0].log() == evil
    assert not (tmp_path / "evil").exists()


def test_a_time_limit_ends_the_step(host: Host, worker: WorkerProcess) -> None:
    job_id = queue(host, step("long", "sleep 1000", timeout_s=1))
    worker.start()
    job = ended(job_id)
    assert job.state == "failed"
    assert "limit of 1 s" in str(job.steps[0].reason)


def test_a_command_killed_from_outside_with_its_leader_fails_without_a_made_up_code(
    host: Host, worker: WorkerProcess, data: Path
) -> None:
    job_id = queue(host, step("long", "echo begun; sleep 1000"))
    worker.start()
    until(lambda: "begun" in history.job(job_id).steps[0].log())
    leader = (data / "jobs" / str(job_id) / "01-long.1" / "pid").read_text().split()[0]
    subprocess.run(["pkill", "-KILL", "-s", leader], check=True)
    job = ended(job_id)
    assert (job.steps[0].state, job.steps[0].code) == ("failed", None)


def test_many_at_once_get_one_job(host: Host) -> None:
    found: list[int] = []
    barrier = threading.Barrier(8)

    def click() -> None:
        barrier.wait()
        found.append(queue(host, step("one", "true")))

    threads = [threading.Thread(target=click) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert len(history.jobs()) == 1


def test_skipping_wants_a_reason_and_a_stopped_job(host: Host, worker: WorkerProcess) -> None:
    job_id = queue(host, step("bad", "exit 3"), step("good", "echo good"))
    with pytest.raises(Conflict):
        jobs.skip(job_id, 1, "no need", actor="me")
    worker.start()
    ended(job_id)
    with pytest.raises(InvalidInput):
        jobs.skip(job_id, 1, "  ", actor="me")
    jobs.skip(job_id, 1, "done by hand 已手动完成", actor="me")
    jobs.resume(job_id, actor="me")
    job = ended(job_id)
    assert [one.state for one in job.steps] == ["skipped", "ok"]
    assert str(job.steps[0].reason) == "done by hand 已手动完成"


def test_logs_keep_no_secret_and_survive_odd_bytes(host: Host, worker: WorkerProcess) -> None:
    job_id = queue(host, step("one", "echo password=hunter2secret; printf '\\377\\000中文\\n'; printf 'no newline'"))
    worker.start()
    log = ended(job_id).steps[0].log()
    assert "hunter2secret" not in log
    assert "中文" in log
    assert log.endswith("no newline")


def test_one_worker_a_data_folder_and_a_dead_one_is_replaced(host: Host) -> None:
    try:
        ensure_worker()
        first = beat()
        assert first is not None
        ensure_worker()
        assert beat() is not None
        assert beat().pid == first.pid  # type: ignore[union-attr]
        subprocess.run(["kill", "-KILL", str(first.pid)], check=True)
        until(lambda: not held())
        ensure_worker()
        second = beat()
        assert second is not None
        assert second.pid != first.pid
    finally:
        end_worker()
    assert not held()


def test_every_move_is_written_down(host: Host, worker: WorkerProcess) -> None:
    job_id = queue(host, step("one", "true"))
    worker.start()
    ended(job_id)
    moves = [(one.was, one.became, one.actor) for one in reversed(history.events(f"job:{job_id}"))]
    assert moves == [(None, "queued", "me"), ("queued", "running", "console"), ("running", "succeeded", "console")]


def test_the_pilot_goes_on_from_a_check_that_was_asked_for_alone(host: Host) -> None:
    alone = path.start("check", host.id, actor="me")
    assert history.job(alone).then == ()
    assert path.start_pilot(host.id, actor="me") == alone
    assert history.job(alone).then == path.PILOT[1:]
    assert path.start_pilot(host.id, actor="you") == alone
    assert len(history.jobs()) == 1
