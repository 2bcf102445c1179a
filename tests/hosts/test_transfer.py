"""Files on their way to a host: cut at any byte, continued, verified, never half under their final name."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console.errors import ConsoleError, HostError, InvalidInput, Unreachable
from console.hosts import connection, transfer
from console.hosts.local import LocalRunner
from console.hosts.pace import BLOCK, Pace
from console.hosts.runner import Runner
from console.hosts.ssh import SshRunner
from console.hosts.transfer import Look, Parcel, Seen, There, look, parcel, require_room, send
from tests.hosts.conftest import MakeSshd

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]

SIZE = 6_000_003
NAME = "包 $(touch x) 'Ascend'.run"


@pytest.fixture(params=["local", "ssh"])
def runner(request: pytest.FixtureRequest, sshd: MakeSshd) -> Runner:
    return LocalRunner() if request.param == "local" else SshRunner(connection.connection(sshd().reach()))


@pytest.fixture
def one(tmp_path: Path) -> Parcel:
    path = tmp_path / NAME
    path.write_bytes(os.urandom(SIZE))
    return parcel(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "目标 folder"


class Stop(Exception):
    """Somebody cancelled."""


def stopping_at(limit: int) -> Callable[[int], None]:
    def told(count: int) -> None:
        if count >= limit:
            raise Stop

    return told


def whole(folder: Path, one: Parcel) -> bool:
    there = sorted(path.name for path in folder.iterdir())
    return (folder / one.name).read_bytes() == one.source.read_bytes() and there == sorted(
        [one.name, f".{one.name}.sha256"]
    )


def test_a_file_arrives_and_is_not_sent_twice(runner: Runner, one: Parcel, folder: Path) -> None:
    heard: list[int] = []
    assert send(runner, str(folder), one, told=heard.append).bytes == SIZE
    assert whole(folder, one)
    assert heard[0] == 0
    assert heard[-1] == SIZE
    assert heard == sorted(heard)
    assert send(runner, str(folder), one).bytes == 0
    assert look(runner, str(folder), [one]).seen == {one.name: Seen(There.WHOLE)}
    assert (folder / one.name).stat().st_mode & 0o777 == 0o600


def test_a_stop_is_passed_on_and_leaves_no_final_name(runner: Runner, one: Parcel, folder: Path) -> None:
    with pytest.raises(Stop):
        send(runner, str(folder), one, told=stopping_at(SIZE // 2))
    assert not (folder / one.name).exists()
    send(runner, str(folder), one)
    assert (folder / one.name).read_bytes() == one.source.read_bytes()


@pytest.mark.parametrize("length", [1, SIZE // 2 - 7, SIZE - 1, SIZE])
def test_it_goes_on_at_any_byte(runner: Runner, one: Parcel, folder: Path, length: int) -> None:
    folder.mkdir()
    (folder / one.part).write_bytes(one.source.read_bytes()[:length])
    sent = send(runner, str(folder), one)
    assert (sent.begun_at, sent.bytes) == (length, SIZE - length)
    assert whole(folder, one)


def test_a_connection_cut_at_half_goes_on_there(sshd: MakeSshd, tmp_path: Path, folder: Path) -> None:
    server = sshd()
    runner = SshRunner(connection.connection(server.reach()))
    path = tmp_path / "大.bin"
    path.write_bytes(os.urandom(40_000_000))
    one = parcel(path)
    cut: list[int] = []

    def told(count: int) -> None:
        if count >= one.size // 2 and not cut:
            cut.append(count)
            server.cut()

    with pytest.raises(Unreachable):
        send(runner, str(folder), one, told=told)
    assert not (folder / one.name).exists()
    there = (folder / one.part).stat().st_size
    sent = send(runner, str(folder), one)
    assert sent.begun_at == there > 0
    assert sent.bytes + there == one.size
    # what had left here but was still in buffers of the connection counts as sent again
    assert cut[0] - there < 8 * BLOCK
    assert whole(folder, one)


def test_a_part_of_other_content_is_not_trusted(runner: Runner, one: Parcel, folder: Path) -> None:
    folder.mkdir()
    (folder / one.part).write_bytes(b"x" * 1000)
    assert send(runner, str(folder), one).begun_at == 0
    assert whole(folder, one)


def test_a_part_longer_than_the_file_is_begun_anew(runner: Runner, one: Parcel, folder: Path) -> None:
    folder.mkdir()
    (folder / one.part).write_bytes(one.source.read_bytes() + b"more")
    send(runner, str(folder), one)
    assert whole(folder, one)


def test_a_file_of_the_same_size_and_another_content_is_replaced(runner: Runner, one: Parcel, folder: Path) -> None:
    folder.mkdir()
    (folder / one.name).write_bytes(b"x" * SIZE)
    assert look(runner, str(folder), [one]).seen[one.name].there == There.OTHER
    assert send(runner, str(folder), one).bytes == SIZE
    assert whole(folder, one)


def test_a_kept_hash_counts_only_for_the_file_it_was_made_of(runner: Runner, one: Parcel, folder: Path) -> None:
    send(runner, str(folder), one)
    with (folder / one.name).open("r+b") as file:
        file.write(b"changed")
    assert look(runner, str(folder), [one]).seen[one.name].there == There.OTHER


def test_what_arrives_with_another_content_is_thrown_away(runner: Runner, one: Parcel, folder: Path) -> None:
    wrong = Parcel(one.source, one.name, one.size, "0" * 64)
    with pytest.raises(HostError, match="another content than its SHA-256"):
        send(runner, str(folder), wrong)
    assert list(folder.iterdir()) == []


def test_a_source_that_is_shorter_now_is_told(runner: Runner, one: Parcel, folder: Path) -> None:
    one.source.write_bytes(one.source.read_bytes()[:5000])
    with pytest.raises(HostError, match="5000 of 6000003 bytes"):
        send(runner, str(folder), one)
    assert not (folder / one.name).exists()


def test_a_source_that_is_gone_is_told(runner: Runner, one: Parcel, folder: Path) -> None:
    one.source.unlink()
    with pytest.raises(InvalidInput, match="cannot be read"):
        send(runner, str(folder), one)


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "a\nb", ""])
def test_no_name_leads_out_of_the_folder(name: str, one: Parcel, folder: Path) -> None:
    with pytest.raises(InvalidInput, match="is no name"):
        look(LocalRunner(), str(folder), [Parcel(one.source, name, one.size, one.sha256)])


def test_no_room_is_told_before_anything_goes(one: Parcel) -> None:
    nothing = Look({one.name: Seen(There.NOTHING)}, room=transfer.MARGIN + SIZE)
    assert require_room(nothing, [one], "h") == SIZE
    with pytest.raises(HostError, match="h has no room: 70 MiB are needed, 69 MiB are free"):
        require_room(Look(nothing.seen, nothing.room - 1), [one], "h")
    assert require_room(Look({one.name: Seen(There.WHOLE)}, room=0), [one], "h") == 0
    assert require_room(Look({one.name: Seen(There.PART, SIZE - 1)}, room=transfer.MARGIN + 1), [one], "h") == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", place], check=False).returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_disk_that_fills_up_is_told_and_leaves_no_final_name(runner: Runner, one: Parcel, small_disk: Path) -> None:
    with pytest.raises(HostError, match="No space left on device"):
        send(runner, str(small_disk), one)
    assert [path.name for path in small_disk.iterdir()] == [one.part]


def test_the_same_file_sent_twice_at_once_is_whole(sshd: MakeSshd, one: Parcel, folder: Path) -> None:
    reach = sshd().reach()
    errors: list[ConsoleError] = []

    def go() -> None:
        try:
            send(SshRunner(connection.connection(reach)), str(folder), one)
        except ConsoleError as error:
            errors.append(error)

    threads = [threading.Thread(target=go) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert whole(folder, one)


def test_a_limit_is_kept_by_all_who_share_it() -> None:
    now, slept = 0.0, 0.0

    def sleep(seconds: float) -> None:
        nonlocal now, slept
        now += seconds
        slept += seconds

    pace = Pace(1_000_000, clock=lambda: now, sleep=sleep)
    for _ in range(50):
        pace.take(pace.block)
    assert pace.block == 100_000
    assert slept == pytest.approx((50 - 1) * 0.1)
    with pytest.raises(InvalidInput, match="more than 0"):
        Pace(0)
