"""Bundles on their way to hosts over real SSH servers: two at once, through cuts, within a limit."""

import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from console.__main__ import main
from console.bundles import manifest
from console.bundles.delivery import Delivered, Progress, deliver, push
from console.bundles.manifest import Entry, Manifest
from console.errors import HostError, InvalidInput
from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.local import LocalRunner
from console.hosts.pace import Pace
from console.hosts.transfer import MARGIN, sha256_of
from tests.bundles.test_build import ORDER
from tests.bundles.web import below
from tests.hosts.conftest import MakeSshd

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]

BIG = "Ascend-cann-toolkit_9.1.0_linux-aarch64.run"
FILES = {BIG: 12_000_000, "wheels/a-1-py3-none-any.whl": 3000, "weights/模型/config.json": 20}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "包 bundle"
    for name, size in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))
    files = [Entry(name, size, sha256_of(folder / name), "cann", "test") for name, size in FILES.items()]
    manifest.write(folder, Manifest("2026-12-02T00:00:00Z", ORDER, tuple(files), ()))
    return folder


@pytest.fixture
def host(sshd: MakeSshd, tmp_path: Path) -> Callable[[str], Host]:
    def one(name: str) -> Host:
        server = sshd()
        added = inventory.add_host(name, server.reach(), work_folder=str(tmp_path / f"主机 {name}"), actor="t")
        servers[name] = server
        return added

    servers = one.servers = {}  # type: ignore[attr-defined]
    return one


def arrived(host: Host, bundle: Path) -> bool:
    work = Path(host.work_folder)
    return (
        [one for one in below(work / "packages") if not Path(one).name.startswith(".")]
        == [BIG, "manifest.json", "wheels/a-1-py3-none-any.whl"]
        and [one for one in below(work / "models") if not Path(one).name.startswith(".")] == ["模型/config.json"]
        and all(
            sha256_of(work / ("models/模型/config.json" if name.startswith("weights") else f"packages/{name}"))
            == sha256_of(bundle / name)
            for name in FILES
        )
    )


def test_two_hosts_at_once_and_a_second_time_nothing(host: Callable[[str], Host], bundle: Path) -> None:
    hosts = [host("eins"), host("二")]
    ended = push(bundle, hosts)
    assert [one.delivered for one in ended] == [Delivered(sum(FILES.values()), 3, 0)] * 2
    assert all(arrived(one, bundle) for one in hosts)
    assert [one.delivered for one in push(bundle, hosts)] == [Delivered(0, 0, 3)] * 2
    Path(hosts[0].work_folder, "packages", BIG).write_bytes(b"x" * FILES[BIG])
    assert [one.delivered for one in push(bundle, hosts)] == [Delivered(FILES[BIG], 1, 2), Delivered(0, 0, 3)]
    assert arrived(hosts[0], bundle)


def test_a_cut_in_the_middle_is_mended_and_little_is_sent_again(host: Callable[[str], Host], bundle: Path) -> None:
    one, cuts = host("eins"), []
    server = host.servers["eins"]  # type: ignore[attr-defined]
    lock = threading.Lock()
    went: list[int] = []

    def told(progress: Progress) -> None:
        with lock:
            went.append(progress.done)
            if progress.done >= FILES[BIG] // 2 and not cuts:
                cuts.append(progress.done)
                server.cut()

    ended = push(bundle, [one], told=told, rest=lambda seconds: None)[0]
    assert ended.error is None
    assert ended.delivered is not None
    assert cuts
    assert arrived(one, bundle)
    # the second time only what had not reached the disk went over
    assert ended.delivered.sent < FILES[BIG] - FILES[BIG] // 2 + 8 * 1_048_576
    assert ended.delivered.sent < FILES[BIG]


def test_a_host_that_is_not_there_does_not_keep_the_others(host: Callable[[str], Host], bundle: Path) -> None:
    here, away = host("eins"), host("zwei")
    host.servers["zwei"].stop()  # type: ignore[attr-defined]
    ended = push(bundle, [away, here], rest=lambda seconds: None)
    assert ended[0].unreached
    assert "refuses connections" in str(ended[0].error)
    assert arrived(here, bundle)


def test_the_limit_is_for_all_hosts_together(bundle: Path, tmp_path: Path) -> None:
    now, lock = 0.0, threading.Lock()

    def sleep(seconds: float) -> None:
        nonlocal now
        with lock:
            now += seconds

    pace = Pace(1_000_000, clock=lambda: now, sleep=sleep)
    for name in ("a", "b"):
        target = Host(1, name, inventory.SSH, str(tmp_path / name))
        assert deliver(LocalRunner(), target, bundle, pace=pace).sent == sum(FILES.values())
    assert now == pytest.approx(2 * sum(FILES.values()) / 1_000_000, rel=0.02)


def test_no_room_on_the_host_is_told_before_anything_goes(bundle: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run([*["mount", "-t", "tmpfs", "-o", "size=4m", "none"], small], check=False).returncode != 0
    ):
        pytest.skip("only root can mount a small disk")
    try:
        with pytest.raises(HostError, match="has no room: 76 MiB are needed"):
            deliver(LocalRunner(), Host(1, "klein", inventory.SSH, str(small / "work")), bundle)
        assert below(small) == []
    finally:
        subprocess.run(["umount", "-l", small], check=True)
    assert MARGIN + FILES[BIG] < 77 * 1_048_576


def test_push_as_a_script_runs_it(
    host: Callable[[str], Host], bundle: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one = host("eins")
    assert main(["bundle", "push", str(bundle), "eins", "--limit", "500", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "ok": True,
        "hosts": [
            {"host": "eins", "delivered": {"sent": sum(FILES.values()), "files": 3, "there": 0}, "error": None},
        ],
    }
    assert arrived(one, bundle)
    assert main(["bundle", "push", str(bundle), "nobody"]) == 2
    assert main(["bundle", "push", str(tmp_path), "eins"]) == 2
    assert main(["bundle", "push", str(bundle), "eins", "--limit", "0"]) == 2
    (bundle / BIG).write_bytes(b"y" * FILES[BIG])
    Path(one.work_folder, "packages", BIG).unlink()
    assert main(["bundle", "push", str(bundle), "eins"]) == 1
    assert "another content than its SHA-256" in capsys.readouterr().err
    host.servers["eins"].stop()  # type: ignore[attr-defined]
    assert main(["bundle", "push", str(bundle), "eins"]) == 3


def test_nobody_to_bring_it_to_is_told(bundle: Path) -> None:
    with pytest.raises(InvalidInput, match="at least one host"):
        push(bundle, [])
