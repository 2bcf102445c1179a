"""Becoming root by the real sudo, as a throw-away user over real SSH: with its password, without one, not at all."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from console.errors import HostError
from console.hosts import sudo
from console.hosts.connection import Connection
from console.hosts.keys import Password
from console.hosts.process import Detached, Life
from console.hosts.reach import Reach, Sudo
from console.hosts.ssh import SshRunner
from console.hosts.sudo import PRELUDE, Root
from tests.hosts.conftest import MakeSshd
from tests.running import until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.needs_root,
    pytest.mark.needs("sshd", "sudo", "useradd", "openssl"),
]
RIGHT = Password("right words")
Allow = Callable[[str], None]


@pytest.fixture
def far(somebody: str, sshd: MakeSshd) -> Iterator[SshRunner]:
    """Commands of the throw-away user, who logs in with a password."""
    server = sshd("PasswordAuthentication yes", "AuthorizedKeysFile none")
    reach = Reach(server.address, server.port, somebody, agent=False, sudo=Sudo.PASSWORD)
    with Connection(reach, RIGHT) as connection:
        yield SshRunner(connection)


@pytest.fixture
def allow(somebody: str) -> Iterator[Allow]:
    """Writes what sudo lets the user do, such as "ALL"."""
    place = Path(f"/etc/sudoers.d/{somebody}")

    def rule(words: str) -> None:
        place.unlink(missing_ok=True)
        place.touch(mode=0o440)
        place.write_text(f"{somebody} ALL=(ALL) {words}\n")
        subprocess.run(["sudo", "-n", "-l", "-U", somebody], check=True, capture_output=True)

    yield rule
    place.unlink(missing_ok=True)


def test_with_the_password_a_script_is_root(far: SshRunner, allow: Allow) -> None:
    allow("ALL")
    outcome = Root(far, far.reach, RIGHT).run("id -u; cat; echo err >&2; exit 3")
    assert (outcome.code, outcome.out, outcome.err) == (3, "0\n", "err\n")
    assert far.run("id -u").out.strip() != "0"


def test_a_wrong_password_is_refused_with_sudos_words(far: SshRunner, allow: Allow) -> None:
    allow("ALL")
    with pytest.raises(HostError, match="refused the password"):
        sudo.check(far, far.reach, Password("wrong words"))
    sudo.check(far, far.reach, RIGHT)


def test_where_sudo_asks_nobody_no_password_is_needed(far: SshRunner, allow: Allow) -> None:
    allow("NOPASSWD: ALL")
    free = replace(far.reach, sudo=Sudo.NOPASSWD)
    assert Root(far, free).run("id -u").out == "0\n"
    assert Root(far, far.reach, RIGHT).run("cat; id -u").out == "0\n"  # nobody asked, so nobody gets it


def test_who_may_not_is_told_so(far: SshRunner) -> None:
    with pytest.raises(HostError, match=r"not in the sudoers file|may not run sudo|does not make"):
        Root(far, far.reach, RIGHT).run("true")
    with pytest.raises(HostError, match="a password is required"):
        Root(far, replace(far.reach, sudo=Sudo.NOPASSWD)).run("true")


def test_a_detached_script_gets_its_password_through_the_pipe(far: SshRunner, allow: Allow) -> None:
    allow("ALL")
    detached = Detached(far, f"/tmp/{far.reach.user}/job")
    detached.start(f"{PRELUDE}\nid -u; root id -u; root sh -c 'echo again'")
    until(lambda: detached.look().asks is not None)
    first = detached.look().asks
    assert first is not None
    sudo.hand(far, detached.folder, first, Password("wrong words"))
    until(lambda: detached.look().asks is not None)
    while detached.look().life == Life.RUNNING:  # where sudo remembers nothing without a terminal it asks each time
        asked = detached.look().asks
        if asked is not None:
            sudo.hand(far, detached.folder, asked, RIGHT)
    look = detached.look()
    mine = far.run("id -u").out.strip()
    said = look.log.decode().splitlines()
    assert (look.code, [line for line in said if line in (mine, "0", "again")]) == (0, [mine, "0", "again"]), said
    kept = far.run(f"grep -rlF 'right words' /tmp/{far.reach.user}/job").out
    assert kept == ""
    assert "right words" not in " ".join(os.environ.values())
