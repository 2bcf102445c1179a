"""Files on their way to a host by two processes: both are at work, whatever ends one ends both, nobody is left."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from console.errors import HostError, InvalidInput, Unreachable
from console.hosts import apart, commands, connection, inventory, known_hosts, secrets
from console.hosts.journal import JOURNAL, Recorded
from console.hosts.keys import Password
from console.hosts.pace import Pace
from console.hosts.reach import Reach
from console.hosts.runner import Outcome, Runner
from console.hosts.secrets import Held
from console.hosts.sending import WORTH, send_all
from console.hosts.ssh import SshRunner
from console.hosts.transfer import Parcel, look, parcel
from console.hosts.transfer_scripts import CONFIRM
from tests.hosts.conftest import MakeSshd
from tests.hosts.sshd import Sshd
from tests.hosts.test_transfer import Stop, folder
from tests.running import alive, until

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]

__all__ = ["folder"]

SIZE = WORTH // 2 + 1
LARGE = 6 * SIZE
"""Of what must not be whole before a test has looked."""


@pytest.fixture
def server(sshd: MakeSshd) -> Sshd:
    return sshd()


@pytest.fixture
def runner(server: Sshd) -> Runner:
    return SshRunner(connection.connection(server.reach()))


@pytest.fixture
def several(tmp_path: Path) -> list[Parcel]:
    """Two large ones, then a small one that says that all are there."""
    return made(tmp_path / "from", SIZE)


@pytest.fixture
def long(tmp_path: Path) -> list[Parcel]:
    """The same, and what must be ended in the middle takes long enough."""
    return made(tmp_path / "long", LARGE)


def made(place: Path, size: int) -> list[Parcel]:
    place.mkdir()
    found, block = [], os.urandom(1_000_003)
    for name, count in (("模型 1.bin", size + 1), ("模型 2.bin", size), ("config.json", 5000)):
        (place / name).write_bytes((block * (count // len(block) + 1))[:count])
        found.append(parcel(place / name))
    return found


def bring(
    runner: Runner,
    folder: Path,
    several: list[Parcel],
    told: Callable[[str, int], None] = lambda name, count: None,
    pace: Pace | None = None,
) -> int:
    return send_all(runner, str(folder), several, look(runner, str(folder), several), told=told, pace=pace)


def arrived(folder: Path, several: list[Parcel]) -> list[bool]:
    return [(folder / one.name).is_file() for one in several]


def carriers() -> list[int]:
    """The sending processes that this one has started."""
    children = [int(pid) for task in Path("/proc/self/task").iterdir() for pid in read(task / "children").split()]
    return [pid for pid in children if alive(pid) and b"console.hosts.carrier" in read(Path(f"/proc/{pid}/cmdline"))]


def read(path: Path) -> bytes:
    """What a file of /proc says; nothing of a thread or a process that is gone meanwhile."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


class Both:
    """Waits, in the middle of the first file, until the second process sends too, then does something."""

    def __init__(self, folder: Path, parcels: list[Parcel], act: Callable[[], object]) -> None:
        self.began = [folder / parcels[1].part, folder / parcels[1].name]  # a fast one has ended when it is looked at
        self.act, self.done = act, False

    def __call__(self, name: str, count: int) -> None:
        if count > 3_000_000 and not self.done:
            self.done = True
            until(lambda: carriers() and any(one.exists() for one in self.began))
            self.act()


def test_two_processes_send_at_a_time(server: Sshd, runner: Runner, several: list[Parcel], folder: Path) -> None:
    seen: list[int] = []
    heard: list[int] = []
    both = Both(folder, several, lambda: seen.append(len(server.connections())))

    def told(name: str, count: int) -> None:
        heard.append(count)
        both(name, count)

    size = sum(one.size for one in several)
    assert bring(runner, folder, several, told) == size
    assert seen == [2]
    assert all((folder / one.name).read_bytes() == one.source.read_bytes() for one in several)
    assert not list(folder.rglob("*.part"))
    assert heard == sorted(heard)
    assert heard[-1] == size
    assert carriers() == []
    assert bring(runner, folder, several) == 0


def test_what_the_other_process_sends_is_written_down_too(runner: Runner, several: list[Parcel], folder: Path) -> None:
    host = inventory.this_machine()
    bring(Recorded(runner, host.id, "there", "王工"), folder, several, Both(folder, several, carriers))
    JOURNAL.flush()
    scripts = [one.script for one in commands.commands(host_id=host.id, actor="王工")]
    for one in several:
        assert [script for script in scripts if one.part in script and "oflag=seek_bytes" in script], one.name


def test_with_a_limit_there_is_one(server: Sshd, runner: Runner, several: list[Parcel], folder: Path) -> None:
    seen: set[int] = set()
    bring(runner, folder, several, lambda name, count: seen.add(len(carriers())), Pace(2e9))
    assert seen == {0}


def test_a_stop_ends_both_and_what_arrived_is_kept(runner: Runner, long: list[Parcel], folder: Path) -> None:
    def stop() -> None:
        raise Stop

    with pytest.raises(Stop):
        bring(runner, folder, long, Both(folder, long, stop))
    assert carriers() == []
    assert arrived(folder, long) == [False, False, False]
    assert 0 < bring(runner, folder, long) < sum(one.size for one in long)
    assert arrived(folder, long) == [True, True, True]


class SlowHost(SshRunner):
    """Takes its time to hash what has arrived."""

    def run(self, script: str, *, timeout_s: float = 30, stdin: bytes = b"") -> Outcome:
        if script.endswith(CONFIRM):
            time.sleep(1)
        return super().run(script, timeout_s=timeout_s, stdin=stdin)


def test_a_stop_is_heard_while_the_host_hashes(server: Sshd, several: list[Parcel], folder: Path) -> None:
    size, heard = sum(one.size for one in several), list[int]()
    runner = SlowHost(connection.connection(server.reach()))

    def told(name: str, count: int) -> None:
        heard.append(count)
        if heard.count(size) == 3:  # whoever sent the last byte has told it
            raise Stop

    with pytest.raises(Stop):
        bring(runner, folder, several, told)
    assert not arrived(folder, several)[2]
    assert bring(runner, folder, several) == 0, "all of it is there"
    assert arrived(folder, several) == [True, True, True]


def test_a_cut_connection_is_unreachable_and_goes_on(
    server: Sshd, runner: Runner, long: list[Parcel], folder: Path
) -> None:
    with pytest.raises(Unreachable):
        bring(runner, folder, long, Both(folder, long, server.cut))
    assert carriers() == []
    assert 0 < bring(runner, folder, long) < sum(one.size for one in long)
    assert arrived(folder, long) == [True, True, True]


def test_what_a_killed_process_leaves_goes_from_here(runner: Runner, long: list[Parcel], folder: Path) -> None:
    notes: list[str] = []

    def kill() -> None:
        (pid,) = carriers()
        os.kill(pid, signal.SIGKILL)
        until(lambda: not carriers())

    looked = look(runner, str(folder), long)
    told = Both(folder, long, kill)
    send_all(runner, str(folder), long, looked, told=told, noted=lambda text: notes.append(str(text)))
    assert arrived(folder, long) == [True, True, True]
    assert all((folder / one.name).read_bytes() == one.source.read_bytes() for one in long)
    (note,) = notes
    assert "ended unexpectedly (exit code -9)" in note


def test_an_error_of_the_other_process_is_the_error(runner: Runner, long: list[Parcel], folder: Path) -> None:
    """It takes the second file, for the first one is slow."""
    long[1].source.unlink()
    with pytest.raises(InvalidInput, match=r"模型 2\.bin cannot be read"):
        bring(runner, folder, long, lambda name, count: time.sleep(0.05))
    assert (folder / long[0].part).stat().st_size < long[0].size
    assert arrived(folder, long) == [False, False, False]


def test_one_that_arrives_wrong_ends_all(runner: Runner, several: list[Parcel], folder: Path) -> None:
    first = several[0]
    wrong = Parcel(first.source, first.name, first.size, "0" * 64)
    with pytest.raises(HostError, match="another content than its SHA-256"):
        bring(runner, folder, [wrong, *several[1:]])
    assert not arrived(folder, several)[0]
    assert not arrived(folder, several)[2]


def test_a_host_that_lets_nobody_log_in_twice_gets_all_from_here(
    server: Sshd, runner: Runner, several: list[Parcel], folder: Path
) -> None:
    looked, size = look(runner, str(folder), several), sum(one.size for one in several)  # logged in
    known_hosts.forget("127.0.0.1", server.port)
    notes: list[str] = []
    refused = Refused(server.reach(), several)
    assert send_all(runner, str(folder), several, looked, told=refused, noted=lambda it: notes.append(str(it))) == size
    (note,) = notes
    assert note.startswith("From now on one process sends, not two: ")
    assert arrived(folder, several) == [True, True, True]
    with runner.apart() as second:
        assert second is None, "it is not tried again"


class Refused:
    """Waits, in the middle of the first file, until the second process has been refused."""

    def __init__(self, reach: Reach, parcels: list[Parcel]) -> None:
        self.reach, self.size = reach, parcels[0].size

    def __call__(self, name: str, count: int) -> None:
        if count > self.size // 4:
            until(lambda: self.reach in apart.REFUSED)


@pytest.mark.needs_root
@pytest.mark.needs("useradd", "openssl")
def test_a_password_that_works_only_once_is_not_forgotten(
    sshd: MakeSshd, somebody: str, served: Held, several: list[Parcel]
) -> None:
    server = sshd("PasswordAuthentication yes", "AuthorizedKeysFile .ssh/authorized_keys")
    reach = Reach(server.address, server.port, somebody, agent=False)
    secrets.give_login(reach, Password("right words"))
    runner = SshRunner(connection.connection(reach))
    there = Path(f"/tmp/{somebody}/there")
    looked = look(runner, str(there), several)
    subprocess.run(["chpasswd"], input=f"{somebody}:another", text=True, check=True)
    send_all(runner, str(there), several, looked, told=Refused(reach, several))
    assert secrets.logins() == {secrets.way_of(reach)}
    assert arrived(there, several) == [True, True, True]
