"""Seeing that a host over SSH has a model to serve: found, sent after a yes, named after a no, and a killed worker."""

import json
import os
import signal
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.hosts import connection, inventory
from console.hosts.inventory import Host
from console.jobs import history, jobs
from console.jobs.history import JobView
from console.plans import local_cpu
from console.plans.step import Step
from console.serving.launch import PILOT_MODEL
from console.text import verbatim
from tests.hosts.sshd import Sshd
from tests.jobs.conftest import WorkerProcess, ended
from tests.running import until
from tests.survival.npu_models import model

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]
LARGE = 192 * 2**20
"""Bytes of weights that take a moment, so that a worker can be killed while they are on their way."""


@pytest.fixture
def far(data: Path, tmp_path: Path) -> Iterator[Host]:
    server = Sshd(tmp_path / "sshd").start()
    server.trust()
    yield inventory.add_host("npu1", server.reach(), work_folder=str(tmp_path / "far 主机"), actor="me")
    for reach in list(connection._connections):
        connection.forget(reach)
    server.stop()


def own(data: Path, size: int = 12) -> Path:
    """The console's own small model."""
    folder = model(Path(local_cpu.model_folder(local_cpu.LocalCpuTarget(str(data)), PILOT_MODEL)))
    header = json.dumps({"a": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    block = os.urandom(1 << 16)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for _ in range(size >> 16):
            file.write(block)
        file.write(block[: size & 0xFFFF])
    return folder


def queued(host: Host) -> int:
    step = Step("model", verbatim("model"), action="see_model", timeout_s=600)
    return jobs.enqueue("install", f"host:{host.id}", host.id, verbatim("see"), [step], actor="me")


def asked(number: int) -> JobView:
    until(lambda: (job := history.job(number)).state == "waiting" or not job.active, what="the question")
    job = history.job(number)
    assert job.state == "waiting", (job.reason, job.steps[0].log())
    return job


def same(one: Path, other: Path) -> bool:
    """Every file of `one`; beside them hashes are kept."""
    return all(file.read_bytes() == (other / file.name).read_bytes() for file in one.iterdir())


def test_a_model_that_is_there_is_found_without_a_question(data: Path, far: Host, worker: WorkerProcess) -> None:
    own(data)
    model(Path(far.work_folder) / "models" / "mine")
    worker.start()
    job = ended(queued(far))
    assert job.state == "succeeded"
    assert "models/mine: can be served" in job.steps[0].log()


def test_the_small_model_is_sent_after_a_yes(data: Path, far: Host, worker: WorkerProcess) -> None:
    small = own(data)
    worker.start()
    number = queued(far)
    question = str(asked(number).question)
    assert small.name in question
    assert f"{far.work_folder}/models" in question
    assert not (Path(far.work_folder) / "models").exists(), "nothing goes over before the answer"
    jobs.answer(number, "yes", actor="me")
    job = ended(number)
    assert job.state == "succeeded", job.steps[0].log()
    assert same(small, Path(far.work_folder) / "models" / small.name)
    sent = [line.partition(":")[0] for line in job.steps[0].log().splitlines() if line.endswith(" bytes")]
    assert sent[-1] == "config.json", "until it is there the folder is no model"


@pytest.mark.parametrize("has_own", [True, False])
def test_without_a_model_it_fails_with_the_folder_and_goes_on_with_one(
    has_own: bool, data: Path, far: Host, worker: WorkerProcess
) -> None:
    if has_own:
        own(data)
    worker.start()
    number = queued(far)
    asked(number)
    jobs.answer(number, "no" if has_own else "yes", actor="me")
    job = ended(number)
    assert job.state == "failed"
    assert f"{far.work_folder}/models" in str(job.reason)
    model(Path(far.work_folder) / "models" / "mine")
    jobs.resume(number, actor="me")
    assert ended(number).state == "succeeded"


def test_a_damaged_model_is_named_and_does_not_count(data: Path, far: Host, worker: WorkerProcess) -> None:
    broken = model(Path(far.work_folder) / "models" / "broken")
    (broken / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    worker.start()
    number = queued(far)
    asked(number)
    jobs.answer(number, "yes", actor="me")
    job = ended(number)
    assert job.state == "failed"
    assert "models/broken: can be served" not in job.steps[0].log()
    assert "models/broken: " in job.steps[0].log()


def test_a_worker_killed_in_the_middle_is_followed_by_one_that_goes_on(
    data: Path, far: Host, worker: WorkerProcess
) -> None:
    small = own(data, LARGE)
    there = Path(far.work_folder) / "models" / small.name
    worker.start()
    number = queued(far)
    asked(number)
    jobs.answer(number, "yes", actor="me")
    until(lambda: any(part.stat().st_size for part in there.glob("model.safetensors.*.part")), what="a part")
    assert worker.process is not None
    worker.process.send_signal(signal.SIGSTOP)
    assert not (there / "model.safetensors").exists(), "it was to be stopped in the middle"
    worker.kill(signal.SIGKILL)
    assert not (there / "config.json").exists()
    worker.start()
    job = ended(number, 120)
    assert job.state == "succeeded", job.steps[0].log()
    assert same(small, there)
    assert "going on with what was begun" in job.steps[0].log(), "yes was said once"
    assert [one.became for one in history.events(f"job:{number}")].count("waiting") == 1
