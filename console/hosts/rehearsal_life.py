"""The life of one rehearsal host on this machine: its folder, whether it is up, starting, stopping, deleting it."""

import os
import pwd
import random
import shlex
import signal
import socket
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from json import dumps
from pathlib import Path

from paramiko import Ed25519Key

import console
from console.errors import HostError
from console.file_lock import held, locked
from console.hosts import keys, known_hosts, rehearsal_needs
from console.hosts.local import LocalRunner
from console.hosts.reach import Reach, Sudo
from console.hosts.rehearsal_keeper import COME_UP_S, LOCK, PORT_TAKEN, remove, sweep
from console.hosts.rehearsal_root import CPU_PARTS
from console.settings import settings
from console.text import say

LOOPBACK = "127.0.0.1"
PORTS = range(22200, 23000)
"""Below those that the kernel gives to outgoing connections, so that a stopped host finds its own free again."""
PORTS_TRIED = 5
CHECKOUT = Path(console.__file__).resolve().parent.parent
BEGIN_S, END_S = 30.0, 20.0
"""Seconds for the keeper to appear, and to end what it keeps."""


class State(StrEnum):
    UP = "up"
    STARTING = "starting"
    REBOOTING = "rebooting"  # told so from within; it refuses connections for some seconds
    STOPPED = "stopped"  # by a person: it stays so until a person starts it
    DOWN = "down"  # it should be up: this machine rebooted, or its first process was killed


def folder(host_id: int) -> Path:
    return settings().data / "rehearsal" / str(host_id)


def state(host_id: int) -> State:
    """How it is now; costs a few microseconds."""
    place = folder(host_id)
    if not _kept(place):
        return State.STOPPED if (place / "stopped").exists() else State.DOWN
    if (place / "up").exists():
        return State.UP
    return State.REBOOTING if (place / "rebooting").exists() else State.STARTING


def new_reach(taken: Collection[int], sudo: Sudo) -> Reach:
    """How a new rehearsal host is reached: on a free loopback port, as the user of this machine, with our own key."""
    return Reach(LOOPBACK, free_port(taken), pwd.getpwuid(os.getuid()).pw_name, agent=False, sudo=sudo)


def free_port(taken: Collection[int]) -> int:
    """One that nothing listens on and that is not in `taken`."""
    for port in random.sample(PORTS, len(PORTS)):  # other consoles of this machine look for one too
        if port not in taken and _free(port):
            return port
    raise HostError(say("No port from {first} to {last} is free for a rehearsal host.", first=PORTS[0], last=PORTS[-1]))


def home() -> str:
    """Of the user, as its SSH server will set it; within the host it is private."""
    return pwd.getpwuid(os.getuid()).pw_dir


def start(host_id: int, name: str, scenario: str, way: Reach, taken: Collection[int]) -> Reach:
    """Returns once it can be logged in, with the way to it: another port than before when that one is in use.

    Starting what is up already is fine. HostError says what this machine lacks or why it did not come up.
    """
    place = folder(host_id)
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(place.with_name(f"{host_id}.lock")):
            (place / "stopped").unlink(missing_ok=True)
            if not _kept(place):
                sweep(place)
                way = _spawned(place, name, scenario, way, taken)
            else:
                _await_up(place, name)
    except OSError as error:
        raise rehearsal_needs.unusable(place, error) from error
    return way


def _spawned(place: Path, name: str, scenario: str, way: Reach, taken: Collection[int]) -> Reach:
    """Start the keeper; where another program was faster to take the port, with another one."""
    for _ in range(PORTS_TRIED):
        way = way if _free(way.port) else replace(way, port=free_port(taken))
        _prepare(place, scenario, way)
        _spawn(place)
        try:
            _await_up(place, name)
            return way
        except HostError as error:
            if PORT_TAKEN not in str(error):
                raise
    raise HostError(say("Other programs take every port that is tried for the rehearsal host {name}.", name=name))


def stop(host_id: int) -> None:
    """End it and everything that runs in it; its folders stay. It stays stopped until it is started."""
    place = folder(host_id)
    if place.exists():
        try:
            (place / "stopped").touch()
            _end(place)
        except OSError as error:
            raise rehearsal_needs.unusable(place, error) from error


def destroy(host_id: int, way: Reach | None) -> None:
    """End it and delete all it kept. Nothing there is fine."""
    place = folder(host_id)
    gone = place.with_name(f"{host_id}.gone")
    try:
        if place.exists():
            _end(place)
            place.rename(gone)
        if gone.exists():
            remove(gone)
        place.with_name(f"{host_id}.lock").unlink(missing_ok=True)
    except OSError as error:
        raise rehearsal_needs.unusable(gone if gone.exists() else place, error) from error
    if way is not None:
        known_hosts.forget(way.address, way.port)


def leftovers(present: Collection[int]) -> list[int]:
    """Numbers of hosts that have a folder and are no longer in the inventory."""
    folders = settings().data.glob("rehearsal/*")
    found = {int(number) for one in folders if (number := one.name.partition(".")[0]).isdecimal()}
    return sorted(found - set(present))


def _prepare(place: Path, scenario: str, way: Reach) -> None:
    """Everything the keeper needs, and that we know the host's key, for we made it."""
    programs = rehearsal_needs.programs()
    rehearsal_needs.try_namespaces(programs["unshare"])
    rehearsal_needs.room(place)
    for part in CPU_PARTS:  # what is installed there later is seen in the host at once
        (settings().data / part).mkdir(exist_ok=True)
    spec = {
        "scenario": scenario,
        "hostname": scenario,
        "port": way.port,
        "user": way.user,
        "home": home(),
        "checkout": str(CHECKOUT),
        "hide": str(settings().data),
        **programs,
    }
    (place / "spec.json").write_text(dumps(spec))
    (place / "authorized_keys").write_text(keys.public_line() + "\n")
    key_file = place / "host_key"
    if not key_file.exists():
        keys.make_pair(key_file)
    shown = known_hosts.shown(way.address, way.port, Ed25519Key.from_private_key_file(str(key_file)))
    if shown not in known_hosts.accepted(way.address, way.port):
        known_hosts.forget(way.address, way.port)
        known_hosts.accept(shown)


def _spawn(place: Path) -> None:
    """The keeper, in a session of its own: it outlives whoever started it."""
    (place / "failure").unlink(missing_ok=True)
    words = [sys.executable, "-m", "console.hosts.rehearsal_keeper", str(place)]
    LocalRunner().run(
        f"cd {shlex.quote(str(CHECKOUT))} && setsid nohup {shlex.join(words)} "
        f"> {shlex.quote(str(place / 'keeper.log'))} 2>&1 < /dev/null &"
    )


def _await_up(place: Path, name: str) -> None:
    began, appeared = time.monotonic(), False
    while not (place / "up").exists():
        kept = _kept(place)
        appeared = appeared or kept
        failure = place / "failure"
        waited = time.monotonic() - began
        if failure.exists() or (appeared and not kept) or waited > (2 * COME_UP_S if appeared else BEGIN_S):
            said = failure.read_text() if failure.exists() else (place / "keeper.log").read_text(errors="replace")
            raise HostError(rehearsal_needs.explained(name, said.strip()[-1500:]))
        time.sleep(0.03)


def _end(place: Path) -> None:
    """TERM for the keeper, which ends the rest; then whatever is left all the same."""
    until = time.monotonic() + END_S
    while _kept(place):
        with suppress(ProcessLookupError, ValueError, FileNotFoundError):
            pid = int((place / LOCK).read_text())
            os.kill(pid, signal.SIGTERM if time.monotonic() < until else signal.SIGKILL)
        time.sleep(0.05)
    sweep(place)


def _kept(place: Path) -> bool:
    """Whether a keeper holds the folder."""
    return held(place / LOCK)


def _free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((LOOPBACK, port))
        except OSError:
            return False
        return True
