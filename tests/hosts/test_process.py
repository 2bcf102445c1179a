"""Commands that outlive everything: every life, every way to end, and folders and outputs of any kind."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console.errors import Conflict, HostError
from console.hosts.local import LocalRunner
from console.hosts.process import LOG_CHUNK, Detached, Life, Look
from tests.running import until

STARTED: list[Detached] = []


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Detached]]:
    """A command not started yet, in a new folder; ended when the test is over."""

    def one(name: str = "one") -> Detached:
        made = Detached(LocalRunner(), str(tmp_path / name))
        STARTED.append(made)
        return made

    yield one
    while STARTED:
        STARTED.pop().stop(grace_s=0)


def ended(one: Detached) -> Look:
    until(lambda: one.look().life != Life.RUNNING)
    return one.look()


def leader(one: Detached) -> int:
    return int((Path(one.folder) / "pid").read_text().split()[0])


def living(session: int) -> list[int]:
    """Processes of this session that are not zombies."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        words = rest.split()
        if int(words[3]) == session and words[0] not in "ZX":
            found.append(int(name.split()[0]))
    return found


def said(one: Detached, word: str) -> None:
    until(lambda: word.encode() in one.look().log)


def test_what_was_never_started_is_absent(make: Callable[..., Detached], tmp_path: Path) -> None:
    assert make().look() == Look(Life.ABSENT, None, b"", 0)
    (tmp_path / "one").mkdir()
    assert make().look().life == Life.ABSENT, "a folder alone starts nothing"
    make().stop()


@pytest.mark.parametrize("code", [0, 1, 7, 75, 137, 255])
def test_the_exit_code_is_kept(make: Callable[..., Detached], code: int) -> None:
    one = make()
    one.start(f"echo out; echo err >&2; exit {code}")
    assert ended(one) == Look(Life.EXITED, code, b"out\nerr\n", 8)
    one.stop()
    assert one.look().code == code, "stopping what has ended changes nothing"


def test_a_script_that_cannot_be_read_ends_with_a_code_and_says_why(make: Callable[..., Detached]) -> None:
    one = make()
    one.start("if then fi (")
    look = ended(one)
    assert look.life == Life.EXITED
    assert look.code not in (0, None)
    assert look.log


def test_running_then_stopped(make: Callable[..., Detached]) -> None:
    one = make()
    one.start("echo begun; sleep 1000")
    said(one, "begun")
    assert one.look().life == Life.RUNNING
    session = leader(one)
    assert len(living(session)) >= 2
    one.stop()
    assert living(session) == []
    assert (one.look().life, one.look().code) == (Life.EXITED, 143)


def test_just_being_started_is_not_gone(make: Callable[..., Detached], tmp_path: Path) -> None:
    folder = tmp_path / "one"
    (folder / "started").mkdir(parents=True)
    assert make().look().life == Life.RUNNING
    long_ago = time.time() - 3600
    os.utime(folder / "started", (long_ago, long_ago))
    assert make().look().life == Life.GONE, "its start was killed half-way"


def test_a_killed_child_leaves_its_code(make: Callable[..., Detached]) -> None:
    one = make()
    one.start("echo begun; kill -KILL $$")
    assert (ended(one).life, ended(one).code) == (Life.EXITED, 137)


def test_a_killed_leader_leaves_what_it_started_running(make: Callable[..., Detached], tmp_path: Path) -> None:
    one = make()
    one.start(f"echo begun; until [ -e '{tmp_path}/go' ]; do sleep 0.1; done; echo over")
    said(one, "begun")
    os.kill(leader(one), signal.SIGKILL)
    assert one.look().life == Life.RUNNING
    (tmp_path / "go").touch()
    assert ended(one) == Look(Life.GONE, None, b"begun\nover\n", 11), "nobody was there to keep its code"


def test_stop_ends_what_a_killed_leader_left(make: Callable[..., Detached]) -> None:
    one = make()
    one.start("echo begun; sleep 1000")
    said(one, "begun")
    session = leader(one)
    os.kill(session, signal.SIGKILL)
    one.stop()
    assert living(session) == []
    assert one.look().life == Life.EXITED


def test_all_killed_at_once_is_gone(make: Callable[..., Detached]) -> None:
    one = make()
    one.start("echo begun; sleep 1000")
    said(one, "begun")
    os.killpg(leader(one), signal.SIGKILL)
    assert (ended(one).life, ended(one).code) == (Life.GONE, None)


def test_a_process_that_took_over_the_number_is_left_alone(make: Callable[..., Detached], tmp_path: Path) -> None:
    one = make()
    one.start("exit 0")
    ended(one)
    born, boot = (tmp_path / "one" / "pid").read_text().split()[1:]
    (tmp_path / "one" / "code").unlink()
    (tmp_path / "one" / "pid").write_text(f"{os.getpid()} {born} {boot}\n")
    assert one.look().life == Life.GONE


def test_what_ran_before_the_host_restarted_is_gone_and_stopping_it_kills_nobody(
    make: Callable[..., Detached], tmp_path: Path
) -> None:
    one, other = make(), make("other")
    other.start("echo begun; sleep 1000")
    said(other, "begun")
    one.start("exit 0")
    ended(one)
    number, born, _ = (tmp_path / "other" / "pid").read_text().split()
    (tmp_path / "one" / "code").unlink()
    (tmp_path / "one" / "pid").write_text(f"{number} {born} another-boot\n")
    assert one.look().life == Life.GONE
    one.stop()
    assert other.look().life == Life.RUNNING


@pytest.mark.parametrize(
    "script",
    [
        "trap '' TERM; echo begun; while :; do sleep 1; done",
        "sh -c 'trap \"\" TERM; echo begun; while :; do sleep 1; done' & wait",
        "set -m; sleep 1000 & set +m; echo begun; wait",
        "(sleep 1000 &) ; (sleep 1000 &); echo begun; exec sleep 1000",
    ],
    ids=["ignores TERM", "a child ignores TERM", "a child in a group of its own", "orphans"],
)
def test_stop_leaves_nobody(make: Callable[..., Detached], script: str) -> None:
    one = make()
    one.start(script)
    said(one, "begun")
    session = leader(one)
    one.stop(grace_s=1)
    assert living(session) == []
    assert one.look().life == Life.EXITED
    one.stop()


def test_a_leader_that_ended_with_a_child_left_behind_is_stopped_whole(make: Callable[..., Detached]) -> None:
    one = make()
    one.start("sleep 1000 & exit 0")
    assert ended(one).code == 0
    session = leader(one)
    assert len(living(session)) == 1
    one.stop()
    assert living(session) == []
    assert one.look().code == 0


def test_of_many_starts_one_wins(make: Callable[..., Detached], tmp_path: Path) -> None:
    one, won, refused = make(), [], []
    barrier = threading.Barrier(5)

    def start() -> None:
        barrier.wait()
        try:
            one.start(f"echo x >> '{tmp_path}/ran'")
            won.append(1)
        except Conflict as conflict:
            refused.append(str(conflict))

    threads = [threading.Thread(target=start) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(refused)) == (1, 4)
    assert one.folder in refused[0]
    ended(one)
    assert (tmp_path / "ran").read_text() == "x\n"


@pytest.mark.parametrize(
    "name", ["two words", "it's", 'say "hi"', "数据 文件夹", "$(touch evil)", "-n", "a;b&c|d", "line\nbreak"]
)
def test_any_folder_will_do(make: Callable[..., Detached], name: str) -> None:
    one = make(name)
    one.start("pwd; printf '%s' \"$0\"")
    look = ended(one)
    assert look.life == Life.EXITED
    assert look.code == 0
    assert look.log.decode().startswith(f"{one.folder}\n")


def test_bytes_come_as_they_are(make: Callable[..., Detached]) -> None:
    one = make()
    one.start("printf '\\000\\377\\200\\r\\n\\033[1m'; printf '中文'")
    assert ended(one).log == b"\x00\xff\x80\r\n\x1b[1m" + "中文".encode()


def test_a_huge_log_comes_piece_by_piece(make: Callable[..., Detached]) -> None:
    one = make()
    lines = 100_000
    one.start(f"seq {lines}")
    ended(one)
    whole, looks = b"", 0
    while (look := one.look(len(whole))).log:
        assert len(look.log) <= LOG_CHUNK
        whole, looks = whole + look.log, looks + 1
    assert whole == "".join(f"{number}\n" for number in range(1, lines + 1)).encode()
    assert look.log_size == len(whole)
    assert looks > 2
    assert one.look(len(whole) + 1000).log == b""


def test_a_script_sees_no_input_and_its_own_environment(make: Callable[..., Detached]) -> None:
    one = make()
    one.start("cat; echo end")
    assert ended(one).log == b"end\n"


def test_a_script_of_a_megabyte_runs(make: Callable[..., Detached]) -> None:
    one = make()
    one.start("# " + "x" * 1_000_000 + "\necho done")
    assert ended(one).log == b"done\n"


def test_what_others_may_not_read_they_cannot(make: Callable[..., Detached], tmp_path: Path) -> None:
    one = make()
    one.start("echo secret")
    ended(one)
    for path in (tmp_path / "one").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("folder", ["/proc/nowhere", "/dev/null/below"])
def test_a_folder_that_cannot_be_made_is_named(folder: str) -> None:
    one = Detached(LocalRunner(), folder)
    with pytest.raises(HostError, match=folder):
        one.start("true")
    assert one.look().life == Life.ABSENT
    one.stop()


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(HostError, match="can be written"):
        Detached(LocalRunner(), str(tmp_path / "one")).start("true")
