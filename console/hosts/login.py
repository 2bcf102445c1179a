"""Logging in on a host over every hop, with each host key judged before anything is sent."""

import logging
import socket
import threading
from collections.abc import Callable, Sequence

from paramiko import BadAuthenticationType, Channel, PKey, Transport

from console.errors import HostError
from console.hosts import keys, known_hosts, trouble
from console.hosts.keys import Password, Passwords
from console.hosts.reach import Jump, Reach
from console.text import Text, say

DIAL_S, GREET_S, LOG_IN_S = 10.0, 10.0, 20.0
"""Seconds for the TCP connection, for the handshake and for one try to log in."""
KEEPALIVE_S = 15
CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes192-ctr", "aes256-ctr")
"""Preferred first: GCM moves large files more than twice as fast."""

logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # what it would log is raised, translated, and told


def connect(reach: Reach, password: Password | Passwords | None = None) -> list[Transport]:
    """An authenticated connection for every hop, the host's own last. HostError says which hop failed and why.

    The password goes to the host itself, never to a jump host.
    """
    opened: list[Transport] = []
    hops = reach.hops
    try:
        for number, hop in enumerate(hops, start=1):
            last, blamed = number == len(hops), number
            try:
                if opened:
                    blamed = number - 1
                    sock: socket.socket | Channel = _through(opened[-1], hops[number - 2], hop)
                    blamed = number
                else:
                    sock = _dial(hop)
                opened.append(_greet(sock, hop))
                known_hosts.judge(known_hosts.shown(hop.address, hop.port, opened[-1].get_remote_server_key()))
                _log_in(opened[-1], hop, reach, password if last else None)
            except HostError as error:
                raise trouble.at_hop(reach, blamed, error) from error
    except BaseException:
        close(opened)
        raise
    return opened


def close(transports: Sequence[Transport]) -> None:
    """The host's own connection first, then those that carry it."""
    for transport in reversed(transports):
        transport.close()


def _dial(hop: Jump) -> socket.socket:
    try:
        sock = socket.create_connection((hop.address, hop.port), timeout=DIAL_S)
    except OSError as error:
        raise trouble.dialing(hop, error, DIAL_S) from error
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a second command waits 40 ms
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 20_000)):
        if hasattr(socket, option):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return sock


def _through(before: Transport, jump: Jump, hop: Jump) -> Channel:
    try:
        return before.open_channel("direct-tcpip", (hop.address, hop.port), ("127.0.0.1", 0), timeout=DIAL_S)
    except trouble.BROKEN as error:
        raise trouble.forwarding(jump, hop, error) from error


def _greet(sock: socket.socket | Channel, hop: Jump) -> Transport:
    """The handshake, whatever the server does or leaves undone. The socket is closed when it fails."""
    transport = Transport(sock)
    transport.banner_timeout = GREET_S * 2  # our own limit below comes first, and can tell silence from hanging up
    transport.auth_timeout = LOG_IN_S
    options = transport.get_security_options()
    options.ciphers = CIPHERS
    options.key_types = _key_types(known_hosts.algorithms(hop.address, hop.port), options.key_types)
    done = threading.Event()
    transport.start_client(event=done)
    in_time = done.wait(GREET_S)
    if in_time and transport.is_active():
        transport.set_keepalive(KEEPALIVE_S)
        return transport
    error = transport.get_exception()
    greeted = bool(transport.remote_version)
    transport.close()
    sock.close()
    if not in_time:
        raise trouble.silent(hop, GREET_S, greeted=greeted)
    raise trouble.greeting(hop, error or EOFError()) from error


def _key_types(known: Sequence[str], possible: Sequence[str]) -> list[str]:
    """The types in the order of preference: a server with several keys is asked for the one that was accepted."""
    wanted = [one for name in known for one in (("rsa-sha2-512", "rsa-sha2-256") if name == "ssh-rsa" else (name,))]
    return [one for one in wanted if one in possible] + [one for one in possible if one not in wanted]


def _log_in(transport: Transport, hop: Jump, reach: Reach, known: Password | Passwords | None) -> None:
    tried: list[Text] = []
    methods: list[str] = []
    with keys.offered(reach) as offered:
        for name, key in offered:
            tried.append(name)
            if _by_key(transport, hop, key, methods):
                return
            if not transport.is_active():
                break
    password = known if known is None or isinstance(known, Password) or not transport.is_active() else known.get()
    if isinstance(password, Password) and transport.is_active():
        tried.append(say("the password"))
        if _by_password(transport, hop, password, methods):
            return
        if transport.is_active() and not isinstance(known, Password | None):
            known.wrong()
    if transport.is_active() and not methods:
        _ask_methods(transport, hop, methods)
    raise trouble.refused(hop, tried, methods, cut=not transport.is_active())


def _by_key(transport: Transport, hop: Jump, key: PKey, methods: list[str]) -> bool:
    return _attempt(transport, hop, lambda: transport.auth_publickey(hop.user, key), methods)


def _by_password(transport: Transport, hop: Jump, password: Password, methods: list[str]) -> bool:
    return _attempt(transport, hop, lambda: transport.auth_password(hop.user, password.reveal()), methods)


def _attempt(transport: Transport, hop: Jump, one: Callable[[], list[str]], methods: list[str]) -> bool:
    """Whether it logged in. `methods` is filled where the server says what it accepts."""
    try:
        methods[:] = one() or methods
    except BadAuthenticationType as error:
        methods[:] = error.allowed_types
    except trouble.BROKEN as error:  # refused, or hung up: the caller looks which
        if "timeout" in str(error):
            raise trouble.undecided(hop, LOG_IN_S) from error
    return transport.is_active() and transport.is_authenticated()


def _ask_methods(transport: Transport, hop: Jump, methods: list[str]) -> None:
    try:
        transport.auth_none(hop.user)
    except BadAuthenticationType as error:
        methods[:] = error.allowed_types
    except trouble.BROKEN:
        return
