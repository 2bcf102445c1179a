"""Several files on their way to a host: the next one is sent while the one before is hashed, the last is named last."""

import os
from pathlib import Path

import pytest

from console.errors import HostError
from console.hosts import connection
from console.hosts.runner import Runner
from console.hosts.sending import SMALL, send_all
from console.hosts.ssh import SshRunner
from console.hosts.transfer import Parcel, look, parcel
from tests.hosts.conftest import MakeSshd
from tests.hosts.test_transfer import Stop, folder, runner

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]

__all__ = ["folder", "runner"]


@pytest.fixture
def several(tmp_path: Path) -> list[Parcel]:
    """Two that are hashed while the next one is on its way, and one that is not."""
    found = []
    for name, size in (("模型 1.bin", SMALL + 7), ("b/config.json", 5000), ("c.bin", SMALL + 1)):
        path = tmp_path / "several" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))
        found.append(parcel(path, name))
    return found


def bring(runner: Runner, folder: Path, several: list[Parcel]) -> tuple[int, list[tuple[str, int]]]:
    heard: list[tuple[str, int]] = []
    sent = send_all(
        runner,
        str(folder),
        several,
        look(runner, str(folder), several),
        told=lambda name, count: heard.append((name, count)),
    )
    return sent, heard


def arrived(folder: Path, several: list[Parcel]) -> list[bool]:
    return [(folder / one.name).is_file() for one in several]


def test_several_files_arrive_and_are_not_sent_twice(runner: Runner, several: list[Parcel], folder: Path) -> None:
    size = sum(one.size for one in several)
    sent, heard = bring(runner, folder, several)
    assert sent == size
    assert [count for _, count in heard] == sorted(count for _, count in heard)
    assert heard[-1][1] == size
    largest_first = [several[0].name, several[2].name, several[1].name]
    assert list(dict.fromkeys(name for name, _ in heard)) == largest_first
    assert all((folder / one.name).read_bytes() == one.source.read_bytes() for one in several)
    assert not list(folder.rglob("*.part"))
    assert bring(runner, folder, several)[0] == 0


def test_one_session_at_a_time_is_enough(sshd: MakeSshd, several: list[Parcel], folder: Path) -> None:
    runner = SshRunner(connection.connection(sshd("MaxSessions 1").reach()))
    bring(runner, folder, several)
    assert arrived(folder, several) == [True, True, True]


def test_the_last_file_gets_its_name_only_after_all_others(runner: Runner, several: list[Parcel], folder: Path) -> None:
    first = several[0]
    wrong = [Parcel(first.source, first.name, first.size, "0" * 64), *several[1:]]
    with pytest.raises(HostError, match="another content than its SHA-256"):
        bring(runner, folder, wrong)
    assert not arrived(folder, several)[0]
    assert not arrived(folder, several)[2]
    shorter, other = several[2], folder / "other"
    shorter.source.write_bytes(shorter.source.read_bytes()[:5000])
    with pytest.raises(HostError, match=f"5000 of {shorter.size} bytes"):
        bring(runner, other, several)
    assert arrived(other, several) == [True, True, False]


def test_what_arrived_before_a_stop_is_kept(runner: Runner, several: list[Parcel], folder: Path) -> None:
    first, last = several[0], several[2]

    def told(name: str, count: int) -> None:
        if name == last.name and count > first.size + last.size // 2:
            raise Stop

    big = [first, last]
    with pytest.raises(Stop):
        send_all(runner, str(folder), big, look(runner, str(folder), big), told=told)
    assert arrived(folder, big) == [True, False]
    sent, _ = bring(runner, folder, big)
    assert 0 < sent < last.size
    assert arrived(folder, big) == [True, True]
