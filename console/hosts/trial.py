"""Trying a host before relying on it: does it log in, how fast, and may the user do what the inventory says."""

import shlex
import time
from dataclasses import dataclass

from console.errors import HostError, InvalidInput
from console.hosts import keys, rehearsal, secrets
from console.hosts.connection import Connection
from console.hosts.inventory import Host
from console.hosts.journal import Recorded
from console.hosts.keys import Password
from console.hosts.reach import Reach, Sudo
from console.hosts.runner import Runner
from console.hosts.ssh import SshRunner
from console.text import Text, say

TRY_S = 20.0


@dataclass(frozen=True)
class Tried:
    """A host that logs in: seconds for login and for one command, and what is not as it should be."""

    login_s: float
    command_s: float
    remarks: tuple[Text, ...]


def try_host(host: Host) -> Tried:
    """Log in anew and run `true`. HostError tells why not and what to do; nothing on the host is changed."""
    host = rehearsal.awake(host)
    began = time.monotonic()
    reach = _reach(host)
    with Connection(reach, secrets.Login(reach)) as connection:
        connection.transport()
        login_s = time.monotonic() - began
        runner = _runner(connection, host)
        command_s = runner.run("true", timeout_s=TRY_S).seconds
        return Tried(login_s, command_s, _remarks(runner, host))


def install_key(host: Host, password: Password) -> None:
    """Put the console's public key on the host, logging in with the password this once; then log in with the key."""
    reach = _reach(host)
    line = shlex.quote(keys.public_line())
    script = (
        "umask 077; mkdir -p ~/.ssh && touch ~/.ssh/authorized_keys && "
        f"{{ grep -qxF {line} ~/.ssh/authorized_keys || printf '\\n%s\\n' {line} >> ~/.ssh/authorized_keys; }}"
    )
    with Connection(reach, password) as connection:
        outcome = _runner(connection, host).run(script, timeout_s=TRY_S)
    if outcome.code != 0:
        raise HostError(
            say(
                "The key could not be written to ~/.ssh/authorized_keys of {user} on {where}: {error}",
                user=reach.user,
                where=str(reach),
                error=outcome.err.strip() or f"exit code {outcome.code}",
            )
        )
    with Connection(reach) as connection:
        connection.transport()


def keep_password(host: Host, password: Password) -> None:
    """Log in with this password, then hand it to the worker, which knows it until it ends; nothing is installed."""
    reach = _reach(host)
    with Connection(reach, password) as connection:
        connection.transport()
    secrets.give_login(reach, password)


def _runner(connection: Connection, host: Host) -> Runner:
    return Recorded(SshRunner(connection), host.id, str(connection.reach))


def _reach(host: Host) -> Reach:
    if host.reach is None:
        raise InvalidInput(say("This machine is reached without SSH."))
    return host.reach


def _remarks(runner: Runner, host: Host) -> tuple[Text, ...]:
    folder = shlex.quote(host.work_folder)
    asked = runner.run(
        f'p={folder}; while [ ! -e "$p" ]; do p=$(dirname "$p"); done; [ -d "$p" ] && [ -w "$p" ] || echo "$p"',
        timeout_s=TRY_S,
    )
    found = []
    if refusing := asked.out.strip():
        found.append(
            say(
                "The user {user} cannot write in {place}, so the work folder {folder} cannot be made. Choose "
                "another one.",
                user=_reach(host).user,
                place=refusing,
                folder=host.work_folder,
            )
        )
    if (sudo := _sudo(runner, _reach(host))) is not None:
        found.append(sudo)
    return tuple(found)


def _sudo(runner: Runner, reach: Reach) -> Text | None:
    """What is wrong with sudo, where the inventory says that the user has it."""
    user, way = reach.user, reach.sudo
    if way == Sudo.NONE:
        return None
    outcome = runner.run("command -v sudo >/dev/null || exit 127; sudo -n true", timeout_s=TRY_S)
    if outcome.code == 127:
        return say("There is no sudo on the host. Install it, or log in as root.")
    if outcome.code != 0 and way == Sudo.NOPASSWD:
        return say(
            "sudo asks {user} for a password: {error}. Add “{user} ALL=(ALL) NOPASSWD: ALL” with visudo, or say that "
            "sudo needs a password.",
            user=user,
            error=outcome.err.strip() or "-",
        )
    return None
