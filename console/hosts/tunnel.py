"""A port of a host's loopback, brought to a free port of this machine's loopback over the SSH connection."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from paramiko import Channel

from console.errors import HostError
from console.hosts import trouble
from console.text import say

CHUNK = 65_536


class Tunnel:
    """Listens on 127.0.0.1; each connection goes to `port` on the host. Nothing is connected until it is used."""

    def __init__(self, port: int, toward: Callable[[int], Channel]) -> None:
        self.port, self.toward = port, toward
        try:
            self.listener = socket.create_server(("127.0.0.1", 0))
        except OSError as error:
            raise HostError(say("No local port could be opened for a tunnel: {error}", error=str(error))) from error
        threading.Thread(target=self._serve, name=f"tunnel to {port}", daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def close(self) -> None:
        """No new connections; those that flow end with the SSH connection."""
        with suppress(OSError):  # it may never have taken a connection
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        """Both directions of one connection; the client sees a closed connection where the host has none to offer."""
        with client:
            try:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                channel = self.toward(self.port)
            except (HostError, *trouble.BROKEN):
                return
            threading.Thread(target=_pour, args=(client, channel), daemon=True).start()
            _drain(channel, client)
            channel.close()
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)  # closing alone would leave the other thread waiting


def _pour(client: socket.socket, channel: Channel) -> None:
    """What the client sends, to the host; its end of sending becomes the host's."""
    try:
        while sent := client.recv(CHUNK):
            channel.sendall(sent)
        channel.shutdown_write()
    except trouble.BROKEN:
        channel.close()


def _drain(channel: Channel, client: socket.socket) -> None:
    """What the host sends, to the client, until the host has ended."""
    try:
        while came := channel.recv(CHUNK):
            client.sendall(came)
    except trouble.BROKEN:
        return
