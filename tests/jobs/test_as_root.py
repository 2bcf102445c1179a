"""A job that needs sudo waits for its password, and after a restart of the worker asks for it again."""

import os
import signal
from pathlib import Path

import pytest

from console.hosts import secrets
from console.hosts.inventory import Host
from console.hosts.keys import Password
from console.hosts.sudo import PRELUDE
from console.jobs import as_root, history, jobs
from console.jobs.jobs import enqueue
from console.plans.step import Step
from console.settings import settings
from console.text import verbatim
from tests.hosts.pretended_sudo import PretendedSudo
from tests.jobs.conftest import WorkerProcess, ended
from tests.running import until

SECRET = "hunter2 密"


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PretendedSudo:
    monkeypatch.setenv("PATH", os.environ["PATH"])
    return PretendedSudo(tmp_path / "bin", SECRET)


def job(host: Host, *commands: str) -> int:
    script = "\n".join([PRELUDE, *commands])
    return enqueue("test", "subject:1", host.id, verbatim("x"), [Step("root", verbatim("x"), script)], actor="ann")


def waits(job_id: int, host: Host) -> None:
    until(lambda: history.job(job_id).state == "waiting")
    assert as_root.is_asked(history.job(job_id).question, host)


def give(job_id: int, host: Host, words: str) -> None:
    until(lambda: (settings().worker_folder / secrets.NAME).exists())
    secrets.give(host.id, Password(words))
    jobs.answer(job_id, as_root.GIVEN, actor="ann")


def test_it_waits_goes_on_and_knows_the_password_next_time(
    host: Host, worker: WorkerProcess, asking: PretendedSudo
) -> None:
    worker.start()
    job_id = job(host, "root sh -c 'echo root $PRETENDED_ROOT'", "root true")
    waits(job_id, host)
    give(job_id, host, SECRET)
    done = ended(job_id)
    assert (done.state, done.steps[0].attempt) == ("succeeded", 1)
    assert done.steps[0].log() == "root yes\n"
    again = job(host, "root true")
    assert ended(again).state == "succeeded"
    assert [one.became for one in history.events(f"job:{again}")] == ["succeeded", "running", "queued"]
    assert asking.tried == ["right"] * 3


def test_a_worker_that_was_killed_knows_nothing_and_asks_again(
    host: Host, worker: WorkerProcess, asking: PretendedSudo, tmp_path: Path
) -> None:
    worker.start()
    go = tmp_path / "go"
    job_id = job(host, "root true", f"until [ -e '{go}' ]; do sleep 0.1; done", "root true")
    waits(job_id, host)
    give(job_id, host, SECRET)
    until(lambda: asking.tried == ["right"])
    worker.kill(signal.SIGKILL)
    go.touch()
    worker.start()
    waits(job_id, host)
    give(job_id, host, SECRET)
    assert ended(job_id).state == "succeeded"


def test_a_wrong_password_is_asked_for_again(host: Host, worker: WorkerProcess, asking: PretendedSudo) -> None:
    worker.start()
    job_id = job(host, "root true")
    waits(job_id, host)
    give(job_id, host, "wrong")
    until(lambda: asking.tried == ["wrong"])
    waits(job_id, host)
    give(job_id, host, SECRET)
    assert ended(job_id).state == "succeeded"
    assert asking.tried == ["wrong", "right"]


def test_a_password_that_expires_between_two_steps_is_asked_for_again(
    host: Host, worker: WorkerProcess, asking: PretendedSudo, tmp_path: Path
) -> None:
    done, go_on = tmp_path / "done", tmp_path / "go on"
    first = f"{PRELUDE}\nroot sh -c 'echo x >>{done}'"
    second = f"{PRELUDE}\nwhile [ ! -e '{go_on}' ]; do sleep 0.1; done\nroot true"
    steps = [Step("first", verbatim("x"), first), Step("second", verbatim("x"), second)]
    job_id = enqueue("test", "subject:1", host.id, verbatim("x"), steps, actor="ann")
    worker.start()
    waits(job_id, host)
    give(job_id, host, SECRET)
    until(lambda: [step.state for step in history.job(job_id).steps] == ["ok", "running"])
    asking.wants("another 口令")
    go_on.touch()
    waits(job_id, host)
    assert asking.tried == ["right", "wrong"]
    give(job_id, host, "another 口令")
    assert ended(job_id).state == "succeeded"
    assert asking.tried == ["right", "wrong", "right"]
    assert done.read_text() == "x\n"


def test_nothing_of_it_is_on_disk(host: Host, worker: WorkerProcess, asking: PretendedSudo) -> None:
    worker.start()
    job_id = job(host, "root true")
    waits(job_id, host)
    give(job_id, host, SECRET)
    assert ended(job_id).state == "succeeded"
    worker.kill(signal.SIGTERM)
    files = [path for path in settings().data.rglob("*") if path.is_file()]
    assert any(path.name == "console.sqlite" for path in files)
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("way", ["no", "cancel"])
def test_a_person_who_does_not_give_it_ends_the_command(
    host: Host, worker: WorkerProcess, asking: PretendedSudo, way: str
) -> None:
    worker.start()
    job_id = job(host, "root true")
    waits(job_id, host)
    if way == "no":
        jobs.answer(job_id, "no", actor="ann")
    else:
        jobs.cancel(job_id, actor="ann")
    done = ended(job_id)
    assert done.state == ("failed" if way == "no" else "cancelled")
    assert way != "no" or "nobody gave it" in str(done.reason)
    assert asking.tried == []
