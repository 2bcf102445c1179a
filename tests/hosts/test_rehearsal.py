"""Rehearsal hosts, real ones: what lives in them, what stays outside, and that nothing is left of them."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from paramiko import SFTPClient

from console.errors import CommandTimeout, Conflict, HostError, InvalidInput, NotFound
from console.hosts import connection, inventory, known_hosts, rehearsal, rehearsal_life, rehearsal_needs, trial
from console.hosts.inventory import Host
from console.hosts.journal import Recorded
from console.hosts.process import Detached, Life
from console.hosts.rehearsal_life import State
from console.hosts.rehearsal_processes import children
from console.settings import settings

SCENARIO = "two-healthy-910b4"
PATIENCE_S = 90.0
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def possible(data: Path) -> None:
    try:
        rehearsal_needs.try_namespaces(rehearsal_needs.programs()["unshare"])
    except HostError as error:
        pytest.skip(str(error))


@pytest.fixture
def make(possible: None) -> Iterator[Callable[..., Host]]:
    """Makes rehearsal hosts that end with the test."""

    def one(name: str = "", scenario: str = SCENARIO) -> Host:
        return rehearsal.create(scenario, name, actor="test")

    yield one
    for host in inventory.hosts():
        if host.scenario is not None:
            inventory.remove_host(host.id, actor="test")


@pytest.fixture
def host(make: Callable[..., Host]) -> Host:
    return make()


def run(host: Host, script: str) -> str:
    outcome = inventory.runner(host).run(script)
    assert outcome.code == 0, outcome
    return outcome.out.strip()


def until(seen: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.1)


def up_again(host: Host, old_boot: str) -> None:
    """Wait until the host answers from another boot than `old_boot`."""

    def seen() -> bool:
        with suppress(HostError):
            return boot(host) != old_boot
        return False

    until(seen, "another boot")


def boot(host: Host) -> str:
    return run(host, "cat /proc/sys/kernel/random/boot_id")


def with_words(words: str) -> list[int]:
    """Processes of this machine with `words` in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if words.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
    return found


def keeper(host: Host) -> int:
    return int((rehearsal_life.folder(host.id) / "keeper.lock").read_text())


def first_process(host: Host) -> int:
    """The host's process 1, by its number outside."""
    return int((rehearsal_life.folder(host.id) / "init").read_text().split()[0])


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


def test_nothing_is_left_of_a_removed_one(host: Host) -> None:
    assert host.reach is not None
    mark, folder = f"sleep {secrets.randbelow(10**6) + 10**6}.5", rehearsal_life.folder(host.id)
    Detached(inventory.runner(host), f"{host.work_folder}/a").start(mark)
    run(host, "mkdir -p /opt/deep/er && chmod 000 /opt/deep")
    assert len(with_words(mark.replace(" ", "\0"))) == 1
    inventory.remove_host(host.id, actor="test")
    assert with_words(mark.replace(" ", "\0")) == []
    assert with_words(str(folder)) == []
    assert not folder.exists()
    assert known_hosts.accepted(host.reach.address, host.reach.port) == []
    assert rehearsal_life.leftovers([]) == []
    with socket.socket() as one:
        assert one.connect_ex((host.reach.address, host.reach.port)) != 0


def test_when_its_first_process_is_killed_it_comes_again_when_it_is_wanted(host: Host) -> None:
    before = boot(host)
    run(host, "echo kept > /opt/kept; echo lost > /tmp/lost")
    goes_on = Detached(inventory.runner(host), f"{host.work_folder}/a")
    goes_on.start("sleep 4321")
    os.kill(first_process(host), signal.SIGKILL)
    until(lambda: rehearsal_life.state(host.id) == State.DOWN, "its end")
    assert run(host, "cat /opt/kept; ls /tmp") == "kept"
    assert boot(host) != before
    assert Detached(inventory.runner(host), goes_on.folder).look().life == Life.GONE


def test_when_its_keeper_is_killed_what_that_left_is_ended_first(host: Host) -> None:
    before, server = boot(host), with_words(str(rehearsal_life.folder(host.id) / "sshd_config"))
    os.kill(keeper(host), signal.SIGKILL)
    until(lambda: rehearsal_life.state(host.id) == State.DOWN, "its end")
    assert boot(host) != before
    assert not set(server) & set(with_words(str(rehearsal_life.folder(host.id) / "sshd_config")))


def test_the_worker_brings_up_those_that_should_be_up_and_deletes_leftovers(make: Callable[..., Host]) -> None:
    fallen, stopped = make("fallen"), make("stopped")
    rehearsal.stop(stopped, actor="test")
    os.kill(first_process(fallen), signal.SIGKILL)
    until(lambda: rehearsal_life.state(fallen.id) == State.DOWN, "its end")
    rehearsal_life.folder(999).mkdir()
    rehearsal.bring_up()
    assert rehearsal_life.state(fallen.id) == State.UP
    assert rehearsal_life.state(stopped.id) == State.STOPPED
    assert not rehearsal_life.folder(999).exists()


def test_a_reboot_ends_everything_refuses_for_a_while_and_keeps_the_disk(host: Host) -> None:
    before = boot(host)
    run(host, "echo kept > /opt/kept")
    Detached(inventory.runner(host), f"{host.work_folder}/a").start("sleep 4321")
    run(host, "touch /run/rehearsal/reboot-wanted")
    until(lambda: rehearsal_life.state(host.id) == State.REBOOTING, "the reboot")
    with pytest.raises(HostError):
        run(host, "true")
    up_again(host, before)
    assert run(host, "cat /opt/kept") == "kept"
    assert "sleep 4321" not in run(host, "ps -e -o args=")


def test_two_at_once_know_nothing_of_each_other(make: Callable[..., Host]) -> None:
    one, other = make("one"), make("other")
    assert one.reach is not None
    assert other.reach is not None
    assert one.reach.port != other.reach.port
    run(one, "echo one > /etc/who")
    assert run(other, "cat /etc/who 2>/dev/null || echo nobody") == "nobody"
    inventory.remove_host(other.id, actor="test")
    assert run(one, "cat /etc/who") == "one"


def test_four_rapid_clicks_make_one(make: Callable[..., Host]) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = {each.result().id for each in [pool.submit(make) for _ in range(4)]}
    assert len(made) == 1
    assert [one.name for one in inventory.hosts()] == ["local", SCENARIO]
    assert len([pid for pid in with_words("rehearsal_keeper") if children(pid)]) >= 1


def test_a_stopped_one_stays_stopped_until_it_is_started(host: Host) -> None:
    run(host, "echo kept > /opt/kept")
    rehearsal.stop(host, actor="test")
    with pytest.raises(HostError, match="is stopped"):
        inventory.runner(host)
    with pytest.raises(HostError, match="is stopped"):
        trial.try_host(host)
    rehearsal.start(host, actor="test")
    assert run(host, "cat /opt/kept") == "kept"


def test_it_moves_to_another_port_when_its_own_is_taken_meanwhile(host: Host) -> None:
    assert host.reach is not None
    rehearsal.stop(host, actor="test")
    with ExitStack() as taking:
        with suppress(OSError):  # or something else was as quick
            taking.enter_context(socket.create_server((host.reach.address, host.reach.port)))
        moved = rehearsal.start(host, actor="test")
        assert moved.reach is not None
        assert moved.reach.port != host.reach.port
        assert inventory.host(host.id) == moved
        assert run(moved, "id -u") == "0"


def test_a_name_of_another_host_and_an_unknown_scenario_are_refused(make: Callable[..., Host]) -> None:
    with pytest.raises(NotFound, match=SCENARIO):
        make("one", "no-such-scenario")
    make("one")
    with pytest.raises(Conflict, match="another one"):
        make("one", "no-sudo")


def test_the_console_alone_decides_how_it_is_reached(host: Host) -> None:
    from dataclasses import replace

    assert host.reach is not None
    with pytest.raises(InvalidInput):
        inventory.edit_host(host.id, host.name, replace(host.reach, port=22), actor="test")
    assert inventory.edit_host(host.id, "renamed", host.reach, actor="test").scenario == SCENARIO
    with pytest.raises(InvalidInput):
        rehearsal.stop(inventory.this_machine(), actor="test")


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


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts a shell script in front of the program of that name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def put(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    return put


def test_a_missing_program_is_named_with_its_package(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match=r"no \w+ on this machine.*util-linux"):
        rehearsal.create(SCENARIO, actor="test")
    assert inventory.hosts() == []


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
        ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"),
        ("user/max_user_namespaces", "9000", "run the console on the machine itself"),
    ],
)
def test_what_forbids_namespaces_is_named(
    tmp_path: Path, program: Callable[[str, str], None], setting: str, value: str, says: str
) -> None:
    program("unshare", "echo 'unshare failed: Operation not permitted' >&2; exit 1")
    (tmp_path / setting).parent.mkdir()
    (tmp_path / setting).write_text(f"{value}\n")
    with pytest.raises(HostError) as raised:
        rehearsal_needs.try_namespaces(rehearsal_needs.programs()["unshare"], tmp_path)
    assert says in str(raised.value)
    assert "Operation not permitted" in str(raised.value)


def test_one_that_does_not_come_up_says_why_and_leaves_nothing(data: Path, program: Callable[[str, str], None]) -> None:
    program("unshare", 'case "$*" in *rehearsal_root*) echo "mount overlay at /usr: no" >&2; exit 1 ;; esac')
    with pytest.raises(HostError, match=r"mount overlay at /usr: no.*ext4"):
        rehearsal.create(SCENARIO, actor="test")
    assert [one.name for one in inventory.hosts()] == ["local"]
    assert rehearsal_life.leftovers([]) == []


def test_a_disk_without_room_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal_needs, "LEAST_BYTES", 2**62)
    with pytest.raises(HostError, match="MiB are free"):
        rehearsal_needs.room(tmp_path)
