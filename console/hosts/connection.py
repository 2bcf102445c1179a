"""One connection for each way to reach a host, shared by every thread of this process that acts on it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from paramiko import Channel, ChannelException, Transport

from console.errors import CommandTimeout, HostError
from console.hosts import login, trouble
from console.hosts.keys import Password, Passwords
from console.hosts.reach import Reach
from console.hosts.secrets import Login
from console.hosts.tunnel import Tunnel
from console.text import say

MOST_SESSIONS = 10
"""Commands at once on one connection until the server has said that it allows fewer (sshd's default is 10)."""
OPEN_S = 10.0
SLOT_S = 2.0
"""How long a server may need to notice that a command of ours has ended."""
IDLE_S = 300.0
"""A connection that nobody used for so long is closed when another one is asked for."""


class Connection:
    """One login on a host, opened when first used and once more when it was lost; safe for many threads."""

    def __init__(self, reach: Reach, password: Password | Passwords | None = None) -> None:
        self.reach, self.password = reach, password
        self.transports: list[Transport] = []
        self.tunnels: dict[int, Tunnel] = {}
        self.sessions, self.keepers = 0, 0
        self.most, self.used = MOST_SESSIONS, time.monotonic()
        self.changed = threading.Condition()
        self.connecting, self.opening = threading.Lock(), threading.Lock()

    @contextmanager
    def session(self, timeout_s: float) -> Iterator[Channel]:
        """A channel for one command, when the server has room for it. CommandTimeout when none came free in time."""
        channel = self._open(time.monotonic() + timeout_s)
        try:
            yield channel
        finally:
            channel.close()
            self._leave()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Meanwhile it is not closed for being idle."""
        with self.changed:
            self.keepers += 1
        try:
            yield
        finally:
            with self.changed:
                self.keepers -= 1

    def transport(self) -> Transport:
        """The live connection to the host itself; HostError when there is none and none can be made."""
        with self.connecting:
            self.used = time.monotonic()
            if not all(one.is_active() for one in self.transports) or not self.transports:
                login.close(self.transports)
                self.transports = []
                self.transports = login.connect(self.reach, self.password)
            return self.transports[-1]

    def tunnel(self, port: int) -> Tunnel:
        """The local port that leads to `port` of the host's loopback; opened once, connected when used."""
        with self.changed:
            if port not in self.tunnels:
                self.tunnels[port] = Tunnel(port, self._toward)
            return self.tunnels[port]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with self.connecting:
            login.close(self.transports)
            self.transports = []
        with self.changed:
            for one in self.tunnels.values():
                one.close()
            self.tunnels = {}

    @property
    def idle(self) -> bool:
        return not self.sessions and not self.keepers and not self.tunnels and time.monotonic() - self.used > IDLE_S

    def _toward(self, port: int) -> Channel:
        """A channel to `port` of the host's loopback; HostError, or what trouble.BROKEN names."""
        try:
            return self._channel_to(port, self.transport())
        except ChannelException:
            raise
        except trouble.BROKEN:  # lost while nobody looked: the next one is new
            return self._channel_to(port, self.transport())

    def _channel_to(self, port: int, transport: Transport) -> Channel:
        try:
            with self.opening:
                return transport.open_channel("direct-tcpip", ("127.0.0.1", port), ("127.0.0.1", 0), timeout=OPEN_S)
        except ChannelException:
            raise
        except trouble.BROKEN:
            self._drop(transport)
            raise

    def _open(self, until: float) -> Channel:
        patience, lost = 0.0, False
        while True:
            self._enter(until)
            transport = None
            try:
                transport = self.transport()
                with self.opening:  # paramiko keeps one refusal per connection: of two at once it loses one
                    return transport.open_session(timeout=OPEN_S)
            except ChannelException as error:
                alone = self._refused()
                patience = (patience or time.monotonic() + SLOT_S) if alone else 0.0
                if alone and time.monotonic() > patience:
                    raise trouble.no_session(str(self.reach), error) from error
                if alone:
                    time.sleep(0.1)
            except HostError:
                self._leave()
                raise
            except trouble.BROKEN as error:
                self._leave()
                if lost:
                    raise trouble.no_session(str(self.reach), error) from error
                lost = True
                self._drop(transport)

    def _enter(self, until: float) -> None:
        with self.changed:
            while self.sessions >= self.most:
                if not self.changed.wait(max(0.0, until - time.monotonic())):
                    raise CommandTimeout(
                        say(
                            "{where} allows {most} commands at once (MaxSessions), and none of them ended in time.",
                            where=str(self.reach),
                            most=self.most,
                        )
                    )
            self.sessions += 1

    def _leave(self) -> None:
        with self.changed:
            self.sessions -= 1
            self.changed.notify_all()

    def _refused(self) -> bool:
        """Learn the server's limit from its refusal; whether no command of ours is running at all."""
        with self.changed:
            self.sessions -= 1
            self.most = max(1, self.sessions)
            return self.sessions == 0

    def _drop(self, broken: Transport | None) -> None:
        """Close what broke, unless another thread has replaced it already."""
        with self.connecting:
            if self.transports and self.transports[-1] is broken:
                login.close(self.transports)


_connections: dict[Reach, Connection] = {}
_lock = threading.Lock()


def connection(reach: Reach) -> Connection:
    """The connection of this process to a host; those that nobody used for long are closed on the way."""
    with _lock:
        idle = [one for one, known in _connections.items() if one != reach and known.idle]
        closing = [_connections.pop(one) for one in idle]
        found = _connections.setdefault(reach, Connection(reach, Login(reach)))
    for one in closing:
        one.close()
    return found


def forget(reach: Reach) -> None:
    """Close this process's connection to a host, such as after its key or its way was changed."""
    with _lock:
        found = _connections.pop(reach, None)
    if found is not None:
        found.close()
