"""What lives in a rehearsal host, and that it stays there."""

import os
import secrets
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from paramiko import SFTPClient

from console.errors import CommandTimeout
from console.hosts import connection, inventory, trial
from console.hosts.inventory import Host
from console.hosts.journal import Recorded
from console.hosts.process import Detached, Life
from console.hosts.programs import machine_name
from console.settings import settings
from tests.hosts.rehearsed import (
    SCENARIO,
    host,
    make,
    possible,
    run,
    until,
)

__all__ = ["host", "make", "possible"]
pytestmark = pytest.mark.needs("sshd", "unshare", "nsenter")
ROOT = Path(__file__).resolve().parents[2]


def test_its_user_is_root_there_and_finds_the_simulated_tools_first(host: Host) -> None:
    assert run(host, "id -u; cat /proc/sys/kernel/hostname; command -v sudo").splitlines() == [
        "0",
        SCENARIO,
        "/opt/rehearsal/scripts/fake/bin/sudo",
    ]


def test_only_its_own_processes_are_seen(host: Host) -> None:
    commands = run(host, "ps -e -o comm=")
    assert "sshd" not in commands
    assert run(host, "ps -o comm= -p 1") == "sh"


def test_it_is_a_host_like_any_other_and_marked(host: Host) -> None:
    assert inventory.named(SCENARIO) == host
    assert str(host.title) == str(host.label) == f"{SCENARIO} (simulated)"
    assert trial.try_host(host).remarks == ()


def test_programs_for_its_cpu_are_those_of_this_machine_whatever_it_plays(host: Host) -> None:
    assert run(host, "uname -m").strip() == "aarch64"
    assert machine_name(host) == os.uname().machine


@pytest.mark.parametrize(
    "folder",
    ["/etc", "/opt", "/usr/bin", "/usr/local/bin", "/usr/lib/modules", "/var/lib", "/srv", "/home", "/root", "/tmp"],
)
def test_what_is_written_there_is_not_here(host: Host, folder: str) -> None:
    name = f"{folder}/rehearsed-{secrets.token_hex(4)}"
    run(host, f"mkdir -p {folder} && echo x > {name} && test -s {name}")
    assert not os.path.lexists(name)


def test_what_is_changed_or_deleted_there_is_as_before_here(host: Host) -> None:
    before = Path("/etc/passwd").read_bytes()
    run(
        host,
        "echo someone:x:4242:4242::/home/someone:/bin/sh >> /etc/passwd && rm /etc/hosts && grep -q 4242 /etc/passwd",
    )
    assert Path("/etc/passwd").read_bytes() == before
    assert Path("/etc/hosts").exists()


def test_the_rest_of_the_machine_can_be_read_only_and_the_console_s_data_not_at_all(host: Host) -> None:
    outcome = inventory.runner(host).run("touch /opt/rehearsal/x /boot/x /sys/x; echo 1 > /proc/sys/vm/drop_caches")
    assert outcome.err.count("Read-only file system") >= 3, outcome.err
    assert run(host, f"ls -A '{settings().data}' 2>/dev/null || true") == ""


def test_files_arrive(host: Host, tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(os.urandom(300_000))
    runner = inventory.runner(host)
    assert isinstance(runner, Recorded)
    runner.put(tmp_path / "weights", f"{host.work_folder}/one")
    assert host.reach is not None
    with SFTPClient.from_transport(connection.connection(host.reach).transport()) as transfer:  # type: ignore[union-attr]
        transfer.put(str(tmp_path / "weights"), "/opt/two")
    run(host, f"cmp {host.work_folder}/one /opt/two")
    assert not Path("/opt/two").exists()


def test_detached_commands_live_on_without_a_connection_and_can_be_stopped(host: Host) -> None:
    assert host.reach is not None
    ends = Detached(inventory.runner(host), f"{host.work_folder}/ends")
    ends.start("echo begun; sleep 0.5; exit 3")
    goes_on = Detached(inventory.runner(host), f"{host.work_folder}/goes-on")
    goes_on.start("sleep 4321")
    connection.forget(host.reach)
    ends = Detached(inventory.runner(host), ends.folder)
    until(lambda: ends.look().life == Life.EXITED, "the end")
    assert (ends.look().code, ends.look().log) == (3, b"begun\n")
    goes_on = Detached(inventory.runner(host), goes_on.folder)
    assert goes_on.look().life == Life.RUNNING
    goes_on.stop(grace_s=1)
    assert goes_on.look().life == Life.EXITED
    assert "sleep 4321" not in run(host, "ps -e -o args=")


def test_a_command_over_its_time_is_ended_and_no_other(host: Host) -> None:
    goes_on = Detached(inventory.runner(host), f"{host.work_folder}/goes-on")
    goes_on.start("sleep 4321")
    with ThreadPoolExecutor() as pool:
        beside = pool.submit(inventory.runner(host).run, "sleep 4; echo done")
        with pytest.raises(CommandTimeout) as raised:
            inventory.runner(host).run("sleep 7777", timeout_s=2)
        assert "was ended" in str(raised.value)
        assert beside.result().out == "done\n"
    assert goes_on.look().life == Life.RUNNING
    assert "sleep 7777" not in run(host, "ps -e -o args=")


@pytest.mark.needs_root
def test_folders_with_other_mounts_below_are_private_too(possible: None, data: Path, tmp_path: Path) -> None:
    """As on a machine with containers, where no overlay can stand on /var; tried in mounts of the test's own."""
    trial = tmp_path / "trial.py"
    trial.write_text(
        "from console.hosts import inventory, rehearsal\n"
        f"host = rehearsal.create({SCENARIO!r}, actor='test')\n"
        "script = 'set -e; for d in /var/lib /var/lib/dpkg /etc /opt /opt/below; do echo x > $d/own; done; '\n"
        "script += 'test -s /etc/passwd; test -s /etc/hosts; mount | grep -c overlay; ls /opt/below'\n"
        "print(inventory.runner(host).run(script))\n"
        "inventory.remove_host(host.id, actor='test')\n"
    )
    below = Path("/opt/below")
    below.mkdir()
    try:
        script = (
            "mount --bind /etc/hosts /etc/hosts && mount -t tmpfs below /opt/below && touch /opt/below/theirs && "
            'mount -t tmpfs below /var/lib/dpkg/info && exec "$0" "$1"'
        )
        words = ["unshare", "-m", "--propagation", "private", "sh", "-c", script, sys.executable, str(trial)]
        done = subprocess.run(
            words, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
        )
        assert "code=0" in done.stdout, done
        assert "theirs" not in done.stdout
        assert list(below.iterdir()) == []
    finally:
        below.rmdir()
