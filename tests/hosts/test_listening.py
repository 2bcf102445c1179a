"""Which process has a port: ours, somebody else's, both at once, or nobody's."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from console.errors import HostError
from console.hosts.listening import Holder, listening
from console.hosts.local import LocalRunner
from console.hosts.process import Detached
from tests.jobs.conftest import until

SHARING = """
import socket, sys, time
one = socket.socket(); one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
one.bind(("127.0.0.1", int(sys.argv[1]))); one.listen(); time.sleep(600)
"""
ME = Holder(str(os.getpid()), Path("/proc/self/comm").read_text().strip())


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Detached]:
    """A command of ours that does not listen yet."""
    one = Detached(LocalRunner(), str(tmp_path / "it's ours"))
    yield one
    one.stop()


def server(**how: object) -> socket.socket:
    return socket.create_server(("127.0.0.1", 0), **how)  # type: ignore[arg-type]


def test_a_port_of_nobody(ours: Detached) -> None:
    with closing(server()) as one:
        port = one.getsockname()[1]
    ours.start("sleep 600")
    found = listening(ours, port)
    assert (found.ours, found.others) == (False, ())


def test_somebody_else_is_named(ours: Detached) -> None:
    ours.start("sleep 600")
    with closing(server()) as one:
        found = listening(ours, one.getsockname()[1])
    assert (found.ours, found.others) == (False, (ME,))


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0"])
def test_other_addresses_that_a_connection_to_loopback_reaches(ours: Detached, address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    ours.start("sleep 600")
    with closing(socket.create_server((address, 0), family=family, dualstack_ipv6=":" in address)) as one:
        found = listening(ours, one.getsockname()[1])
    assert found.others == (ME,)


def test_the_same_port_of_another_address_is_another_door(ours: Detached) -> None:
    ours.start("sleep 600")
    with closing(socket.create_server(("127.0.0.2", 0))) as one:
        assert listening(ours, one.getsockname()[1]).others == ()


def test_a_child_of_ours_is_ours(ours: Detached) -> None:
    with closing(server()) as one:
        port = one.getsockname()[1]
    ours.start(f"'{sys.executable}' -m http.server {port} --bind 127.0.0.1 & wait")
    until(lambda: listening(ours, port).ours)
    assert listening(ours, port).others == ()


def test_both_at_once_where_the_port_is_shared(ours: Detached, tmp_path: Path) -> None:
    """As two vLLM servers of one user would: the kernel gives every other connection to either."""
    with closing(server(reuse_port=True)) as one:
        port = one.getsockname()[1]
        (tmp_path / "sharing.py").write_text(SHARING)
        ours.start(f"exec '{sys.executable}' '{tmp_path}/sharing.py' {port}")
        until(lambda: listening(ours, port).ours)
        assert listening(ours, port).others == (ME,)


def test_a_command_that_never_started_listens_nowhere(ours: Detached) -> None:
    with closing(server()) as one:
        assert listening(ours, one.getsockname()[1]).ours is False


def test_a_host_without_the_list_is_an_error(tmp_path: Path) -> None:
    class Bare(LocalRunner):
        """A host whose shell ends before it has told everything."""

        def run(self, script: str, **how: object) -> object:  # type: ignore[override]
            return super().run("exit 0", **how)  # type: ignore[arg-type]

    with pytest.raises(HostError, match="could not be read"):
        listening(Detached(Bare(), str(tmp_path)), 8000)
