"""Files on their way to a host by two processes: both are at work, whatever ends one ends both, nobody is left."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from console.errors import HostError, InvalidInput, Unreachable
from console.hosts import commands, connection, inventory, known_hosts
from console.hosts.connection import Connection
from console.hosts.journal import JOURNAL, Recorded
from console.hosts.keys import Password
from console.hosts.pace import Pace
from console.hosts.runner import Runner
from console.hosts.sending import WORTH, send_all
from console.hosts.ssh import SshRunner
from console.hosts.transfer import Parcel, look, parcel
from tests.hosts.conftest import MakeSshd
from tests.hosts.sshd import Sshd
from tests.hosts.test_transfer import Stop, folder
from tests.running import alive, until

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]

__all__ = ["folder"]

SIZE = WORTH // 2 + 1


@pytest.fixture
def server(sshd: MakeSshd) -> Sshd:
    return sshd()


@pytest.fixture
def runner(server: Sshd) -> Runner:
    return SshRunner(connection.connection(server.reach()))


@pytest.fixture
def several(tmp_path: Path) -> list[Parcel]:
    """Two large ones, then a small one that says that all are there."""
    (tmp_path / "from").mkdir()
    found = []
    for name, size in (("模型 1.bin", SIZE), ("模型 2.bin", SIZE), ("config.json", 5000)):
        path = tmp_path / "from" / name
        path.write_bytes(os.urandom(size))
        found.append(parcel(path))
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
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    for task in Path("/proc/self/task").iterdir():
        children += (task / "children").read_text().split()
    words = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in set(children) if alive(int(pid))}
    return [pid for pid, said in words.items() if b"console.hosts.carrier" in said]


class Both:
    """Waits, in the middle of the first file, until the second process is at work too, then does something."""

    def __init__(self, folder: Path, several: list[Parcel], act: Callable[[], object]) -> None:
        self.folder, self.part, self.act, self.done = folder, several[1].part, act, False

    def __call__(self, name: str, count: int) -> None:
        if count > SIZE // 4 and not self.done:
            self.done = True
            until(lambda: (self.folder / self.part).exists() and carriers())
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


def test_a_password_that_only_this_process_knows_goes_nowhere(server: Sshd) -> None:
    with (
        Connection(server.reach(), Password("right words")) as own,
        SshRunner(own).apart() as feeder,
    ):
        assert feeder is None


def test_a_stop_ends_both_and_what_arrived_is_kept(runner: Runner, several: list[Parcel], folder: Path) -> None:
    def stop() -> None:
        raise Stop

    with pytest.raises(Stop):
        bring(runner, folder, several, Both(folder, several, stop))
    assert carriers() == []
    assert arrived(folder, several) == [False, False, False]
    assert 0 < bring(runner, folder, several) < sum(one.size for one in several)
    assert arrived(folder, several) == [True, True, True]


def test_a_cut_connection_is_unreachable_and_goes_on(
    server: Sshd, runner: Runner, several: list[Parcel], folder: Path
) -> None:
    with pytest.raises(Unreachable):
        bring(runner, folder, several, Both(folder, several, server.cut))
    assert carriers() == []
    assert 0 < bring(runner, folder, several) < sum(one.size for one in several)
    assert arrived(folder, several) == [True, True, True]


def test_a_killed_process_is_told_and_goes_on(runner: Runner, several: list[Parcel], folder: Path) -> None:
    def kill() -> None:
        (pid,) = carriers()
        os.kill(pid, signal.SIGKILL)
        until(lambda: not carriers())

    with pytest.raises(Unreachable, match=r"ended unexpectedly \(exit code -9\)"):
        bring(runner, folder, several, Both(folder, several, kill))
    bring(runner, folder, several)
    assert arrived(folder, several) == [True, True, True]


def test_an_error_of_the_other_process_is_the_error(runner: Runner, several: list[Parcel], folder: Path) -> None:
    """It takes the second file, for the first one is on its way here."""
    second = several[1]
    second.source.unlink()
    with pytest.raises(InvalidInput, match=r"模型 2\.bin cannot be read"):
        bring(runner, folder, several)
    assert arrived(folder, several)[1:] == [False, False]


def test_one_that_arrives_wrong_ends_all(runner: Runner, several: list[Parcel], folder: Path) -> None:
    first = several[0]
    wrong = Parcel(first.source, first.name, first.size, "0" * 64)
    with pytest.raises(HostError, match="another content than its SHA-256"):
        bring(runner, folder, [wrong, *several[1:]])
    assert not arrived(folder, several)[0]
    assert not arrived(folder, several)[2]


def test_a_host_that_lets_nobody_log_in_twice_gets_all_from_here(
    server: Sshd, runner: Runner, several: list[Parcel], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    looked = look(runner, str(folder), several)  # logged in
    known_hosts.forget("127.0.0.1", server.port)
    assert send_all(runner, str(folder), several, looked, told=Slow(caplog)) == sum(one.size for one in several)
    assert "Files go one at a time" in caplog.text
    assert arrived(folder, several) == [True, True, True]


class Slow:
    """Waits, in the middle of the first file, until the second process has been refused."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.caplog = caplog

    def __call__(self, name: str, count: int) -> None:
        if count > SIZE // 4:
            until(lambda: self.caplog.records)


def test_it_does_not_outlive_whoever_ordered_it(server: Sshd, several: list[Parcel], folder: Path) -> None:
    """Its input ends when that one is killed: also in the middle of a file, of which nobody takes more there."""
    with subprocess.Popen(
        [sys.executable, "-m", "console.hosts.carrier"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stdin is not None
        assert one.stdout is not None
        print(server.reach().to_json(), file=one.stdin, flush=True)
        assert json.loads(one.stdout.readline()) == {"ready": True}
        order = {"script": f"cat >'{folder}.got'", "source": str(several[0].source), "at": 0, "timeout_s": 60}
        print(json.dumps(order), file=one.stdin, flush=True)
        until(lambda: "code" in json.loads(one.stdout.readline()) if one.stdout else False)
        order = {"script": "sleep 1000", "source": str(several[0].source), "at": 0, "timeout_s": 1000}
        print(json.dumps(order), file=one.stdin, flush=True)
        until(lambda: len(server.connections()) == 1)
        one.stdin.close()
        assert one.wait(20) == 0
    until(lambda: server.connections() == [])
