"""Bringing a bundle to a host as a job of a real worker, over a real SSH server that breaks off."""

import os
from pathlib import Path

import pytest

from console.bundles import manifest
from console.bundles.manifest import Entry, Manifest, Order
from console.errors import InvalidInput
from console.hosts import inventory
from console.hosts.transfer import sha256_of
from console.jobs import bundling, history, jobs
from console.jobs.logs import step_log
from tests.hosts.conftest import MakeSshd, data, sshd
from tests.jobs.conftest import WorkerProcess, worker
from tests.running import until

__all__ = ["data", "sshd", "worker"]
pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]
NAME = "Ascend-cann-toolkit_9.1.0_linux-aarch64.run"
SIZE = 30_000_000


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "包"
    folder.mkdir()
    (folder / NAME).write_bytes(os.urandom(SIZE))
    order = Order("0.23.0", "0.23.0", "9.1.0", "A2", "ubuntu-22.04", "aarch64", "3.11", "2.35", "venv")
    manifest.write(folder, Manifest("", order, (Entry(NAME, SIZE, sha256_of(folder / NAME), "cann", "test"),), ()))
    return folder


def test_a_job_brings_it_rides_out_a_cut_and_can_be_cancelled(
    sshd: MakeSshd, worker: WorkerProcess, bundle: Path, tmp_path: Path
) -> None:
    server = sshd()
    host = inventory.add_host("eins", server.reach(), work_folder=str(tmp_path / "work"), actor="t")
    worker.start()
    there = tmp_path / "work" / "packages"

    def parts() -> int:
        return sum(one.stat().st_size for one in there.glob("*.part")) if there.is_dir() else 0

    [number] = bundling.start(bundle, [host.id], limit_mb=6, actor="t")
    assert bundling.start(bundle, [host.id], actor="t") == [number]
    until(lambda: parts() > SIZE // 4)
    server.cut()
    until(lambda: parts() > SIZE // 2)
    jobs.cancel(number, actor="t")
    until(lambda: not history.job(number).active)
    assert history.job(number).state == "cancelled"
    assert not (there / NAME).exists()
    kept = parts()
    jobs.resume(number, actor="t")
    until(lambda: history.job(number).state == "succeeded")
    assert sha256_of(there / NAME) == sha256_of(bundle / NAME)
    said = step_log(number, 1, history.job(number).steps[0].attempt).tail()
    assert "1 files sent" in said
    assert kept > SIZE // 2


def test_what_cannot_be_brought_is_told(data: Path, tmp_path: Path, bundle: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no bundle"):
        bundling.start(tmp_path, [1], actor="t")
    with pytest.raises(InvalidInput, match="at least one host"):
        bundling.start(bundle, [], actor="t")
    with pytest.raises(InvalidInput, match="more than 0"):
        bundling.start(bundle, [1], limit_mb=-1, actor="t")
