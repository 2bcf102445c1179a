"""Rehearsal hosts: real SSH servers on this machine whose cards are simulated, for staff who wait for the hardware.

Once made, such a host is in the inventory like any other, and nothing else in the product knows the difference; here
is what makes, starts and stops it, and where the machine's own restart is made good.
"""

import fcntl
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from console.catalog.scenarios import scenario
from console.errors import Conflict, ConsoleError, HostError, InvalidInput
from console.hosts import connection, inventory, rehearsal_life, rehearsal_needs
from console.hosts.inventory import Host
from console.hosts.reach import Sudo
from console.hosts.rehearsal_life import State
from console.records import note, writing
from console.settings import settings
from console.text import say, verbatim

WITHOUT_SUDO = ("no-sudo",)
"""Scenarios whose user may do nothing as root."""


def create(scenario_id: str, name: str = "", *, actor: str) -> Host:
    """Make a host that plays this scenario, named after it by default, and start it; takes about a second.

    The one of this name that plays it already is started if need be, and is the answer: many clicks make one host.
    NotFound, Conflict (the name), HostError (what this machine lacks, or why it did not come up; then there is none).
    """
    played, name = scenario(scenario_id), name.strip() or scenario_id
    rehearsal_needs.try_namespaces(rehearsal_needs.programs()["unshare"])
    with _Alone():
        host = next((one for one in inventory.hosts() if one.name == name), None)
        if host is not None and host.scenario != played.id:
            raise Conflict(
                say("There is a host named {name} already, which is another one. Choose another name.", name=name)
            )
        if host is not None:
            return start(host, actor=actor)
        root = os.geteuid() == 0 or played.id in WITHOUT_SUDO
        way = rehearsal_life.new_reach(_ports(), Sudo.NONE if root else Sudo.NOPASSWD)
        folder = f"{rehearsal_life.home().rstrip('/')}/ascend-pilot"
        host = inventory.add_host(name, way, work_folder=folder, scenario=played.id, actor=actor)
        try:
            return _started(host)
        except ConsoleError:
            inventory.remove_host(host.id, actor=actor)
            raise


def start(host: Host, *, actor: str) -> Host:
    """Start it if it is not up; returns once it can be logged in, with how it is reached then."""
    if rehearsal_life.state(_rehearsal(host).id) != State.UP:
        host = _started(host)
        _note(host, "started", actor)
    return host


def stop(host: Host, *, actor: str) -> None:
    """End it and everything that runs in it; what it keeps on its disk stays. It stays stopped until it is started."""
    _let_go(_rehearsal(host))
    rehearsal_life.stop(host.id)
    _note(host, "stopped", actor)


def destroy(host: Host) -> None:
    """End it and delete everything it kept; it is out of the inventory already."""
    _let_go(host)
    rehearsal_life.destroy(host.id, host.reach)


def awake(host: Host) -> Host:
    """The host, up if it is a rehearsal host that should be; any other as it is.

    HostError when a person stopped it, or when it cannot be brought up. One that reboots is left to it.
    """
    if host.scenario is None:
        return host
    match rehearsal_life.state(host.id):
        case State.STOPPED:
            raise HostError(
                say(
                    "The rehearsal host {name} is stopped. Start it on the Hosts page, or with: pilot hosts rehearse "
                    "--start {name}",
                    name=host.name,
                )
            )
        case State.DOWN | State.STARTING:
            return _started(host)
        case _:
            return host


def bring_up() -> None:
    """Start every rehearsal host that should be up, and delete what removed ones left; for the worker's start."""
    known = inventory.hosts()
    for host_id in rehearsal_life.leftovers([one.id for one in known]):
        _quietly(partial(rehearsal_life.destroy, host_id, None))
    for host in known:
        if host.scenario is not None and rehearsal_life.state(host.id) == State.DOWN:
            _quietly(partial(_started, host))


def _quietly(deed: Callable[[], object]) -> None:
    """What goes wrong is said in the log of the worker; whoever wants the host is told again."""
    try:
        deed()
    except ConsoleError as error:
        print(error.text, flush=True)


def _started(host: Host) -> Host:
    assert host.reach is not None
    assert host.scenario is not None
    way = rehearsal_life.start(host.id, host.name, host.scenario, host.reach, _ports())
    if way != host.reach:
        connection.forget(host.reach)
        inventory.relocate(host.id, way)
    return replace(host, reach=way)


def _rehearsal(host: Host) -> Host:
    if host.scenario is None:
        raise InvalidInput(
            say("{host} is no rehearsal host, so it can be neither started nor stopped here.", host=host.title)
        )
    return host


def _ports() -> set[int]:
    """Those of all rehearsal hosts, also of stopped ones."""
    return {one.reach.port for one in inventory.hosts() if one.reach is not None and one.scenario is not None}


def _let_go(host: Host) -> None:
    if host.reach is not None:
        connection.forget(host.reach)


def _note(host: Host, became: str, actor: str) -> None:
    with writing() as session:
        note(session, f"host:{host.id}", became, actor=actor, reason=verbatim(host.name))


class _Alone:
    """One creation at a time on this data folder."""

    def __enter__(self) -> None:
        path = settings().data / "rehearsal"
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.file = (path / "lock").open("a")
        except OSError as error:
            raise rehearsal_needs.unusable(path, error) from error
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self.file.close()
