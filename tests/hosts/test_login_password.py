"""A host that is used with a password and no key: in the worker's memory, in no file, and gone with the worker."""

import pwd
import signal
from pathlib import Path

import pytest

from console.errors import DataError, HostError
from console.hosts import connection, inventory, observe, secrets, trial
from console.hosts.inventory import Host
from console.hosts.journal import JOURNAL
from console.hosts.keys import Password
from console.hosts.reach import Jump, Reach
from console.hosts.secrets import Held, Login
from console.jobs import path
from console.settings import settings
from tests.hosts.conftest import MakeSshd
from tests.hosts.sshd import Sshd
from tests.jobs.conftest import WorkerProcess, ended
from tests.running import until

RIGHT = "right words"
"""The password of the throw-away user."""
WITH_PASSWORD = ("PasswordAuthentication yes", "AuthorizedKeysFile .ssh/authorized_keys")


def enter(server: Sshd, user: str) -> Host:
    return inventory.add_host(
        "gpu1", Reach(server.address, server.port, user, agent=False), work_folder="/tmp/pilot-nowhere", actor="me"
    )


def files_with(data: Path, secret: str) -> list[Path]:
    JOURNAL.flush()
    return [one for one in data.rglob("*") if one.is_file() and secret.encode() in one.read_bytes()]


def test_the_worker_keeps_a_login_for_one_way_only(served: Held) -> None:
    way = Reach("gpu1", 22, "ops")
    secrets.give_login(way, Password(RIGHT))
    secrets.give(3, Password("for sudo"))
    assert (secrets.logins(), secrets.known()) == ({"ops@gpu1:22"}, {3})
    known = Login(way).get()
    assert known is not None
    assert known.reveal() == RIGHT
    others = [
        Reach("gpu1", 2222, "ops"),
        Reach("gpu1", 22, "root"),
        Reach("gpu2", 22, "ops"),
        Reach("gpu1", 22, "ops", jumps=(Jump("gate", 22, "ops"),)),
    ]
    assert [Login(one).get() for one in others] == [None] * 4
    secrets.forget_login(way)
    assert Login(way).get() is None


def test_the_password_for_sudo_never_leaves_the_worker(served: Held) -> None:
    secrets.give(3, Password("for sudo"))
    for words in ({"do": "take", "host": 3}, {"do": "take", "login": 3}, {"do": "take", "login": "3"}, {"do": "known"}):
        try:
            answer = secrets._asked(words)
        except DataError:
            continue
        assert "password" not in answer


def test_without_a_worker_no_password_is_known(data: Path) -> None:
    assert Login(Reach("gpu1")).get() is None
    assert secrets.logins() == frozenset()
    with pytest.raises(DataError, match="does not take passwords now"):
        secrets.give_login(Reach("gpu1"), Password(RIGHT))


@pytest.mark.e2e
@pytest.mark.needs_root
@pytest.mark.needs("sshd", "useradd", "openssl")
def test_a_host_is_used_with_a_password_and_no_key(
    somebody: str, sshd: MakeSshd, data: Path, worker: WorkerProcess
) -> None:
    host = enter(sshd(*WITH_PASSWORD), somebody)
    with pytest.raises(HostError, match="Log in with a password"):
        trial.try_host(host)
    worker.start()
    until(lambda: (settings().worker_folder / secrets.NAME).exists())
    with pytest.raises(HostError, match=r"Tried: .*the password"):
        trial.keep_password(host, Password("wrong words"))
    assert secrets.logins() == frozenset()
    trial.keep_password(host, Password(RIGHT))
    assert trial.try_host(host).login_s > 0
    assert observe.probe(host, actor="me")  # this process asks the worker
    job = ended(path.start("check", host.id, actor="me"), 120)
    assert job.steps[0].state == "ok"
    home = Path(pwd.getpwnam(somebody).pw_dir)
    assert not (home / ".ssh").exists()
    assert files_with(data, RIGHT) == []
    worker.kill(signal.SIGTERM)
    assert secrets.logins() == frozenset()


@pytest.mark.e2e
@pytest.mark.needs_root
@pytest.mark.needs("sshd", "useradd", "openssl")
def test_a_password_that_was_changed_is_tried_once_and_forgotten(somebody: str, sshd: MakeSshd, served: Held) -> None:
    server = sshd(*WITH_PASSWORD)
    host = enter(server, somebody)
    assert host.reach is not None
    secrets.give_login(host.reach, Password("of last year"))
    for _ in range(2):
        with pytest.raises(HostError, match="Give the password on the Hosts page"):
            connection.connection(host.reach).transport()
    assert secrets.logins() == frozenset()
    assert server.log.count("Failed password") == 1
