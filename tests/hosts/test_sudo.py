"""Becoming root with a password: nobody but sudo sees it, and a wrong one is tried once."""

import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from console.errors import DataError, HostError
from console.hosts import commands, inventory, secrets, sudo
from console.hosts.journal import JOURNAL
from console.hosts.keys import Password
from console.hosts.local import LocalRunner
from console.hosts.process import Detached, Life, Look
from console.hosts.reach import Reach, Sudo
from console.hosts.secrets import Held
from console.hosts.sudo import PRELUDE, Root
from console.settings import settings
from tests.hosts.pretended_sudo import PretendedSudo
from tests.running import until

SECRET = "p w\\n$'x\"密"
OPS = Reach("far", user="ops", sudo=Sudo.PASSWORD)
PASSWORD = Password(SECRET)


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PretendedSudo:
    monkeypatch.setenv("PATH", os.environ["PATH"])
    return PretendedSudo(tmp_path / "bin", SECRET)


def test_a_script_runs_as_root_with_its_code_and_output(asking: PretendedSudo) -> None:
    outcome = Root(LocalRunner(), OPS, PASSWORD).run("echo out $PRETENDED_ROOT; echo err >&2; cat; exit 3")
    assert (outcome.code, outcome.out, outcome.err) == (3, "out yes\n", "err\n")
    assert asking.tried == ["right"]


def test_a_wrong_password_is_tried_once(asking: PretendedSudo) -> None:
    with pytest.raises(HostError, match="refused the password of ops"):
        sudo.check(LocalRunner(), OPS, Password("wrong"))
    assert asking.tried == ["wrong"]
    sudo.check(LocalRunner(), OPS, PASSWORD)


def test_a_password_that_nobody_asked_for_reaches_no_script(asking: PretendedSudo) -> None:
    asking.free()
    outcome = Root(LocalRunner(), OPS, PASSWORD).run("cat; echo end")
    assert (outcome.code, outcome.out) == (0, "end\n")
    assert asking.tried == []


def test_without_a_password_sudo_asks_nobody(asking: PretendedSudo) -> None:
    free = Reach("far", user="ops", sudo=Sudo.NOPASSWD)
    with pytest.raises(HostError, match="a password is required"):
        Root(LocalRunner(), free).run("true")
    asking.free()
    assert Root(LocalRunner(), free).run("echo $PRETENDED_ROOT").out == "yes\n"
    with pytest.raises(HostError, match="may not use sudo"):
        Root(LocalRunner(), Reach("far", user="ops")).run("true")
    assert Root(LocalRunner(), Reach("far")).run("echo $PRETENDED_ROOT").out == "\n"


def test_what_is_written_down_of_it_has_no_password(asking: PretendedSudo, data: Path) -> None:
    host = inventory.this_machine()
    Root(inventory.runner(host), OPS, PASSWORD).run("id")
    JOURNAL.flush()
    (row,) = commands.commands()
    assert "exec sh -c id" in row.script
    assert SECRET not in row.script


def asks(detached: Detached) -> Look:
    until(lambda: detached.look().asks is not None or detached.look().life == Life.EXITED)
    return detached.look()


def test_a_detached_script_waits_for_its_password(asking: PretendedSudo, tmp_path: Path) -> None:
    detached = Detached(LocalRunner(), str(tmp_path / "job"))
    detached.start(f"{PRELUDE}\necho before; root sh -c 'echo root $PRETENDED_ROOT'; echo after")
    look = asks(detached)
    assert look.life == Life.RUNNING
    assert look.asks is not None
    assert stat.S_IMODE((tmp_path / "job/sudo-answer").stat().st_mode) == 0o600
    sudo.hand(LocalRunner(), detached.folder, look.asks, PASSWORD)
    until(lambda: detached.look().life == Life.EXITED)
    look = detached.look()
    assert (look.code, look.log, look.asks) == (0, b"before\nroot yes\nafter\n", None)
    found = subprocess.run(["grep", "-rlF", SECRET, str(tmp_path / "job")], capture_output=True, text=True, check=False)
    assert found.stdout == ""


def test_a_wrong_password_is_asked_for_again_by_the_same_sudo(asking: PretendedSudo, tmp_path: Path) -> None:
    detached = Detached(LocalRunner(), str(tmp_path / "job"))
    detached.start(f"{PRELUDE}\nroot true")
    first = asks(detached).asks
    assert first is not None
    sudo.hand(LocalRunner(), detached.folder, first, Password("wrong"))
    assert asks(detached).asks == first
    sudo.hand(LocalRunner(), detached.folder, first, PASSWORD)
    until(lambda: detached.look().life == Life.EXITED)
    assert detached.look().code == 0
    assert asking.tried == ["wrong", "right"]


def test_where_no_password_is_wanted_nobody_is_asked(asking: PretendedSudo, tmp_path: Path) -> None:
    asking.free()
    detached = Detached(LocalRunner(), str(tmp_path / "job"))
    detached.start(f"{PRELUDE}\nroot sh -c 'echo $PRETENDED_ROOT'")
    assert asks(detached).log == b"yes\n"
    assert not (tmp_path / "job/sudo-answer").exists()


def test_only_hosts_where_sudo_asks_get_the_prelude() -> None:
    others = (None, Reach("far"), Reach("far", user="ops"), Reach("far", user="ops", sudo=Sudo.NOPASSWD),
              Reach("far", sudo=Sudo.PASSWORD))  # fmt: skip
    assert [sudo.prelude(reach) for reach in others] == [""] * 5
    assert sudo.prelude(OPS) == PRELUDE


def test_the_worker_takes_keeps_and_forgets(served: Held) -> None:
    assert secrets.known() == frozenset()
    secrets.give(3, PASSWORD)
    secrets.give(9, Password("other"))
    assert secrets.known() == {3, 9}
    kept = served.get(3)
    assert kept is not None
    assert kept.reveal() == SECRET
    secrets.forget(3)
    assert secrets.known() == {9}
    assert served.get(3) is None


def test_the_socket_is_for_its_owner_alone(served: Held) -> None:
    mode = (settings().worker_folder / secrets.NAME).stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


def test_garbage_at_the_socket_ends_nothing(served: Held) -> None:
    for words in ({"do": "give"}, {"do": "give", "host": "x", "password": "y"}, {}):
        with pytest.raises(DataError):
            secrets._asked(words)
    secrets.give(1, PASSWORD)
    assert secrets.known() == {1}


def test_without_a_worker_it_says_so(data: Path) -> None:
    assert secrets.known() == frozenset()
    with pytest.raises(DataError, match="does not take passwords now"):
        secrets.give(1, PASSWORD)


def test_a_folder_with_a_very_long_path(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOT_DATA", str(tmp_path / ("long" * 30) / ("数据" * 20)))
    settings.cache_clear()
    held, stop = Held(), threading.Event()
    thread = threading.Thread(target=secrets.serve, args=(stop, held))
    thread.start()
    until(lambda: (settings().worker_folder / secrets.NAME).exists())
    secrets.give(5, PASSWORD)
    assert held.hosts() == [5]
    stop.set()
    thread.join()


def test_a_password_is_never_shown() -> None:
    assert SECRET not in f"{PASSWORD} {PASSWORD!r} {vars(Held())}"
