"""Sending a model folder to a host as a job of a real worker, over a real SSH server that breaks off."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from console.errors import InvalidInput
from console.hosts import inventory
from console.jobs import history, weights_pushing
from console.jobs.logs import step_log
from tests.hosts.conftest import MakeSshd, data, sshd
from tests.jobs.conftest import WorkerProcess, ended, worker
from tests.running import until
from tests.serving.test_weights import folder, safetensors

__all__ = ["data", "folder", "sshd", "worker"]
pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]


def test_a_model_is_sent_once_and_the_rest_after_a_cut(
    sshd: MakeSshd, worker: WorkerProcess, folder: Path, tmp_path: Path
) -> None:
    (folder / "model.safetensors").write_bytes(safetensors("a", "b", numbers=2_000_000))
    (folder / "old.part").write_text("no part of it")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "x").write_text("nor this")
    blob = tmp_path / "blob"
    (folder / "tokenizer.json").rename(blob)
    (folder / "tokenizer.json").symlink_to(blob)
    server = sshd()
    hosts = [
        inventory.add_host(f"h{n}", server.reach(), work_folder=str(tmp_path / f"far{n}"), actor="t") for n in "12"
    ]
    worker.start()
    there = [tmp_path / f"far{n}" / "models" / "model" for n in "12"]
    numbers = weights_pushing.start(folder, [one.id for one in hosts], limit_mb=4, actor="t")
    until(lambda: any(sum(part.stat().st_size for part in one.glob("*.part")) > 1_000_000 for one in there))
    on_its_way = [one for one in there if list(one.glob("*.part"))]
    assert not any((one / "config.json").exists() for one in on_its_way), "it is no model yet"
    server.cut()
    for number, target in zip(numbers, there, strict=True):
        job = ended(number)
        assert job.state == "succeeded", job.reason
        names = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
        assert {one.name for one in target.iterdir() if not one.name.startswith(".")} == names
        assert (target / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
        assert not (target / "tokenizer.json").is_symlink()
    [again] = weights_pushing.start(folder, [hosts[0].id], actor="t")
    assert ended(again).state == "succeeded"
    assert "0 files sent (0 MB), 4 were there already" in step_log(again, 1, history.job(again).steps[0].attempt).tail()
    assert blob.exists()


def test_what_cannot_be_sent(data: Path, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no folder"):
        weights_pushing.start(tmp_path / "nothing", [1], actor="t")
    with pytest.raises(InvalidInput, match="at least one host"):
        weights_pushing.start(folder, [], actor="t")
    with pytest.raises(InvalidInput, match="more than 0"):
        weights_pushing.start(folder, [1], limit_mb=0, actor="t")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InvalidInput, match="No weights"):
        weights_pushing.start(folder, [1], actor="t")


def test_two_jobs_write_down_what_they_hashed_at_once(data: Path, tmp_path: Path) -> None:
    data.mkdir()
    files = [tmp_path / f"{number}.bin" for number in range(24)]
    for file in files:
        file.write_bytes(file.name.encode())
    known = [weights_pushing.Hashes() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: known[at % 8].sha256(files[at]), range(24)))
    assert all(weights_pushing.Hashes().known(file) for file in files)
