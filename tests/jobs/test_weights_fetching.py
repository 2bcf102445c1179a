"""Getting a model onto a host as a job of a real worker, over a real SSH server that breaks off in the middle."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from console.errors import InvalidInput
from console.hosts import inventory
from console.hosts.inventory import Host
from console.jobs import jobs
from console.jobs import weights_fetching as fetching
from console.jobs.history import JobView
from console.jobs.logs import step_log
from console.plans.weights_hub import Remote, remote
from console.serving import launch
from tests.hosts.conftest import MakeSshd, data, sshd
from tests.hosts.sshd import Sshd
from tests.jobs.conftest import WorkerProcess, ended, worker
from tests.jobs.hub import PretendedHub, hub
from tests.running import until
from tests.serving.test_weights import folder, safetensors

__all__ = ["data", "folder", "sshd", "worker"]
pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]


@pytest.fixture
def here(folder: Path) -> Iterator[PretendedHub]:
    files = {one.name: one.read_bytes() for one in folder.iterdir()}
    files["model.safetensors"] = safetensors("a", "b", numbers=500_000)
    with hub(files) as one:
        yield one


@pytest.fixture
def server(sshd: MakeSshd) -> Sshd:
    return sshd()


@pytest.fixture
def host(server: Sshd, tmp_path: Path) -> Host:
    return inventory.add_host("eins", server.reach(), work_folder=str(tmp_path / "far"), actor="t")


def asked(here: PretendedHub, **more: str) -> Remote:
    return remote("huggingface", "lab/Tiny", endpoint=here.address, **more)


def log_of(job: JobView, step: int) -> str:
    return step_log(job.id, step, job.steps[step - 1].attempt).tail()


def test_a_download_survives_a_cancel_and_a_cut_of_both_connections(
    here: PretendedHub, host: Host, server: Sshd, worker: WorkerProcess, tmp_path: Path
) -> None:
    worker.start()
    target = tmp_path / "far" / "models" / "Tiny"
    here.cut = [900_000, 500_000]
    here.gate.clear()  # the hub holds the line open after these bytes
    number = fetching.start(host, asked(here), actor="t")
    assert fetching.start(host, asked(here), actor="t") == number
    part = target / "model.safetensors.part"
    until(lambda: part.exists() and part.stat().st_size > 800_000)  # curl keeps a last bit in memory
    assert not (target / "config.json").exists(), "it is no model yet"
    jobs.cancel(number, actor="t")
    assert ended(number).state == "cancelled"
    kept = part.stat().st_size
    jobs.resume(number, actor="t")
    until(lambda: part.stat().st_size > kept + 400_000)
    server.cut()
    here.gate.set()
    job = ended(number)
    assert job.state == "succeeded", job.reason
    resumed = [range_ for path, range_ in here.asked if path == "/store/model.safetensors"]
    assert resumed == ["", f"bytes={kept}-", f"bytes={kept + 500_000}-"]
    assert {one.name for one in target.iterdir() if not one.name.startswith(".")} == set(here.files)
    assert "100 %" in log_of(job, 2)
    assert [one.folder for one in launch.models_on(host) if one.usable] == [str(target)]
    assert "parameters" in log_of(job, 3)


@pytest.mark.parametrize(
    ("model", "gated", "words"),
    [("lab/Other", False, "has no model lab/Other"), ("lab/Tiny", True, "gated or private")],
)
def test_what_the_hub_does_not_give(
    here: PretendedHub, host: Host, worker: WorkerProcess, model: str, gated: bool, words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    worker.start()
    here.gated = gated
    job = ended(fetching.start(host, remote("huggingface", model, endpoint=here.address), actor="t"))
    assert job.state == "failed"
    assert words in str(job.reason)


def test_no_hub_and_no_room_elsewhere(here: PretendedHub, host: Host, worker: WorkerProcess, tmp_path: Path) -> None:
    worker.start()
    nowhere = remote("modelscope", "lab/Tiny", endpoint="http://127.0.0.1:9")
    job = ended(fetching.start(host, nowhere, into=str(tmp_path / "disk"), actor="t"))
    assert "gets no answer from http://127.0.0.1:9" in str(job.reason)
    job = ended(fetching.start(host, asked(here), into=str(tmp_path / "disk"), actor="t"))
    assert job.state == "succeeded", job.reason
    assert [one.folder for one in launch.models_on(host)] == [str(tmp_path / "disk" / "Tiny")], "it is on the list now"


def test_a_model_that_is_broken_at_the_hub(here: PretendedHub, host: Host, worker: WorkerProcess) -> None:
    worker.start()
    del here.files["tokenizer.json"]
    job = ended(fetching.start(host, asked(here), actor="t"))
    assert (job.state, job.current and job.current.step.name) == ("failed", "look")
    assert "No tokenizer" in str(job.reason)


def test_folders_that_cannot_be(data: Path) -> None:
    with pytest.raises(InvalidInput, match="whole path"):
        fetching.start(inventory.this_machine(), remote("modelscope", "a/b"), into="models", actor="t")


def test_the_room_is_counted_before() -> None:
    with pytest.raises(Exception, match="has no room"):
        fetching._require_room("/m", 10**12, 10**9, 0)
    fetching._require_room("/m", 10**12, 10**9, 10**12)
