"""A hundred hosts at once, some of them dead, hanging or dropping: every answer is kept, and nobody waits for those."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.hosts import connection, inventory, known_hosts, login, observe
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from tests.hosts.sshd import MOST_ADDRESSES, Sshd

pytestmark = [pytest.mark.e2e, pytest.mark.needs("sshd", "ssh-keygen")]
ANSWERING, DROPPING, HANGING, DEAD = 92, 3, 3, 2


@pytest.fixture
def servers(data: Path, tmp_path: Path) -> Iterator[list[Sshd]]:
    """Enough servers for those that answer, and a last one that hangs up in the middle of its answer."""
    addresses = [f"127.2.0.{number + 1}" for number in range(ANSWERING)]
    made: list[Sshd] = []
    for first in range(0, ANSWERING, MOST_ADDRESSES):
        server = Sshd(tmp_path / f"sshd{first}", "MaxStartups 500")
        made.append(server.under(addresses[first : first + MOST_ADDRESSES]))
    drops = Sshd(tmp_path / "drops", "ForceCommand echo half of it; kill -9 $PPID")
    made.append(drops.under([f"127.2.1.{number + 1}" for number in range(DROPPING)]))
    for server in made:
        server.start()
    yield made
    for reach in list(connection._connections):
        connection.forget(reach)
    for server in made:
        server.stop()


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def add(name: str, reach: Reach) -> Host:
    return inventory.add_host(name, reach, work_folder="/tmp/pilot-nowhere", actor="me")


def entered(server: Sshd) -> list[Host]:
    key, user_key = server.host_key(), str(server.folder / "user_key")
    found = []
    for address in server.addresses:
        known_hosts.accept(known_hosts.HostKey(address, server.port, key.algorithm, key.blob))
        found.append(add(f"h{address}", Reach(address, server.port, server.jump().user, user_key, agent=False)))
    return found


def test_a_hundred_hosts_of_which_some_are_dead_hang_or_drop(
    servers: list[Sshd], silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "GREET_S", 600.0)
    nobody = servers[0].port  # on another address, where none of them listens
    hanging = [add(f"hangs{n}", Reach("127.0.0.1", silent.getsockname()[1], f"u{n}", agent=False)) for n in range(3)]
    dead = [add(f"dead{n}", Reach(f"127.2.2.{n + 1}", nobody, agent=False)) for n in range(DEAD)]
    *good, dropping = [entered(server) for server in servers]
    answering = [host for hosts in good for host in hosts]
    assert (len(answering), len(dropping), len(hanging)) == (ANSWERING, DROPPING, HANGING)
    coming = observe.probe_all([*hanging, *dead, *dropping, *answering], actor="me")
    came = [next(coming) for _ in range(ANSWERING + DROPPING + DEAD)]  # all of them while the three still hang
    assert not {host.name for host, _ in came} & {host.name for host in hanging}
    silent.close()
    errors = {host.name: str(error) for host, error in [*came, *coming] if error is not None}
    assert errors.keys() == {host.name for host in (*hanging, *dead, *dropping)}
    assert all("refuses connections" in errors[host.name] for host in dead)
    assert all("dropped while a command ran" in errors[host.name] for host in dropping), errors
    asked = {fact.name for fact in observe.facts_of(answering[0])}
    for host in answering:
        seen = observe.latest(host)
        assert seen is not None
        assert asked <= seen.raws.keys()
    assert [observe.latest(host) for host in (*hanging, *dead, *dropping)] == [None] * (HANGING + DEAD + DROPPING)
