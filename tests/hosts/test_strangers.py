"""Addresses that lead nowhere, and servers that are none or hang before they have let anybody in."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console.errors import HostError
from console.hosts import login
from console.hosts.connection import Connection
from console.hosts.reach import Reach

Answer = Callable[[socket.socket], None]


@pytest.fixture
def pretended() -> Iterator[Callable[[Answer], Reach]]:
    """A TCP server that treats each connection as told."""
    listeners: list[socket.socket] = []

    def one(answer: Answer) -> Reach:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=_treat, args=(client, answer), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        return Reach("127.0.0.1", listener.getsockname()[1], "me", agent=False)

    yield one
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _treat(client: socket.socket, answer: Answer) -> None:
    with client:
        try:
            answer(client)
        except OSError:
            return


def hang(client: socket.socket) -> None:
    client.recv(1_000_000)
    while client.recv(1_000_000):
        pass


def greet_and_hang(client: socket.socket) -> None:
    client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    hang(client)


def flood(client: socket.socket) -> None:
    while True:
        client.sendall(b"x" * 65536)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (hang, "accepts connections, but did not greet"),
        (greet_and_hang, "greeted, then did not exchange keys"),
        (flood, "did not greet as an SSH server"),
        (lambda client: client.sendall(b"HTTP/1.1 400 Bad Request\r\n" * 100), "no SSH server; it said: HTTP/1.1 400"),
        (lambda client: client.sendall(b"\xff\xfe\x00\n" * 100), "no SSH server"),
        (lambda client: client.sendall(b"SSH-1.5-old\n"), "no SSH server"),
        (lambda client: None, "closed the connection while greeting"),
        (lambda client: client.sendall(b"SSH-2.0-x\r\n"), "closed the connection while greeting"),
    ],
)  # fmt: skip
def test_servers_that_do_not_speak_ssh(
    data: Path, pretended: Callable[[Answer], Reach], monkeypatch: pytest.MonkeyPatch, answer: Answer, sentence: str
) -> None:
    monkeypatch.setattr(login, "GREET_S", 2.0)
    with pytest.raises(HostError, match=sentence):
        Connection(pretended(answer)).transport()


def test_addresses_that_lead_nowhere(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "DIAL_S", 1.0)
    with pytest.raises(HostError, match="cannot be resolved"):
        Connection(Reach("no-such-host.invalid")).transport()
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(HostError, match="refuses connections"):
        Connection(Reach("127.0.0.1", port)).transport()
    with socket.socket() as full:  # a queue that nobody serves answers nothing, like a firewall that drops
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        with pytest.raises(HostError, match="did not answer within 1 s"):
            Connection(Reach("127.0.0.1", full.getsockname()[1])).transport()
        for one in waiting:
            one.close()
