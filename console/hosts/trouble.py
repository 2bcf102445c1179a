"""What can go wrong between the console and an SSH server, as sentences that say what to do."""

import errno
import socket
from collections.abc import Sequence

from paramiko import ChannelException, SSHException

from console.errors import ChangedHostKey, HostError, UnknownHostKey, Unreachable
from console.hosts.reach import Jump, Reach, spot
from console.text import Text, say


def at_hop(reach: Reach, number: int, error: HostError) -> HostError:
    """`error` with the hop it happened at, where there is more than one."""
    if len(reach.hops) == 1 or isinstance(error, UnknownHostKey | ChangedHostKey):
        return error
    if number == len(reach.hops):
        return type(error)(say("The way through the jump hosts is open, but: {why}", why=error.text))
    return type(error)(
        say(
            "The way to {where} breaks at jump host {number} of {count}: {why}",
            where=str(reach),
            number=number,
            count=len(reach.jumps),
            why=error.text,
        )
    )


def dialing(hop: Jump, error: OSError, limit_s: float) -> HostError:
    """No TCP connection came about."""
    where = spot(hop.address, hop.port)
    if isinstance(error, socket.gaierror):
        return Unreachable(
            say(
                "The name {address} cannot be resolved ({error}). Check its spelling and this machine's DNS, or use "
                "the IP address.",
                address=hop.address,
                error=error.strerror or str(error),
            )
        )
    if isinstance(error, ConnectionRefusedError):
        return Unreachable(
            say(
                "{where} refuses connections: the machine is there, but no SSH server listens on this port. Check the "
                "port, and on the host: systemctl status sshd",
                where=where,
            )
        )
    if isinstance(error, TimeoutError):
        return Unreachable(
            say(
                "{where} did not answer within {limit} s. Is the host switched on, is the address right, does a "
                "firewall drop the packets?",
                where=where,
                limit=round(limit_s),
            )
        )
    if error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
        return Unreachable(
            say(
                "There is no way to {where} ({error}). Check the network, the route and the VPN of this machine.",
                where=where,
                error=error.strerror or str(error),
            )
        )
    return Unreachable(say("{where} cannot be reached: {error}", where=where, error=error.strerror or str(error)))


def forwarding(before: Jump, hop: Jump, error: Exception) -> HostError:
    """A jump host did not open the way to the next hop."""
    if isinstance(error, ChannelException) and error.code == 1:
        why = say("it does not allow forwarding (AllowTcpForwarding in its sshd_config)")
    elif isinstance(error, ChannelException):
        why = say("it could not connect there; check address and port as seen from the jump host")
    else:
        why = say("it did not answer: {error}", error=str(error) or type(error).__name__)
    return Unreachable(
        say("{jump} does not reach {where}: {why}", jump=str(before), where=spot(hop.address, hop.port), why=why)
    )


def silent(hop: Jump, limit_s: float, *, greeted: bool) -> HostError:
    """The server took the connection and then said nothing more."""
    where = spot(hop.address, hop.port)
    if greeted:
        return Unreachable(
            say(
                "{where} greeted, then did not exchange keys within {limit} s. The host may be overloaded or hanging; "
                "a network that drops large packets (MTU) looks the same.",
                where=where,
                limit=round(limit_s),
            )
        )
    return Unreachable(
        say(
            "{where} accepts connections, but did not greet as an SSH server within {limit} s. The host may be "
            "hanging, or another program listens on this port.",
            where=where,
            limit=round(limit_s),
        )
    )


def greeting(hop: Jump, error: Exception) -> HostError:
    """The handshake broke off."""
    where, words = spot(hop.address, hop.port), str(error)
    garbage = ("Indecipherable", "Invalid SSH banner", "codec", "Incompatible version")
    if any(one in words for one in garbage):
        return HostError(
            say(
                "What answers at {where} is no SSH server; it said: {words}. Check the port.",
                where=where,
                words=words.partition('"')[2][:80].rstrip('"') or words[:80],
            )
        )
    if isinstance(error, EOFError | ConnectionError) or "banner" in words:
        return Unreachable(
            say(
                "{where} closed the connection while greeting. Too many connections at once (MaxStartups), a firewall, "
                "or hosts.deny does that; the log of sshd on the host says which.",
                where=where,
            )
        )
    return HostError(
        say(
            "{where} and the console could not agree on how to encrypt: {error}. The SSH server may be very old; "
            "update it, or look at its sshd_config (KexAlgorithms, Ciphers, HostKeyAlgorithms).",
            where=where,
            error=words or type(error).__name__,
        )
    )


def undecided(hop: Jump, limit_s: float) -> HostError:
    """The server neither let in nor refused."""
    return Unreachable(
        say(
            "{where} did not decide within {limit} s whether to let {user} in. A directory service (LDAP, SSSD) or a "
            "DNS server that the host asks may be away; its log says more.",
            where=spot(hop.address, hop.port),
            limit=round(limit_s),
            user=hop.user,
        )
    )


def refused(hop: Jump, tried: Sequence[Text], methods: Sequence[str], *, cut: bool) -> HostError:
    """Nothing that was tried logs in. `cut`: the server hung up before everything was tried."""
    names = Text(", ".join(f"{{k{n}}}" for n in range(len(tried))), {f"k{n}": one for n, one in enumerate(tried)})
    where = spot(hop.address, hop.port)
    if cut:
        return Unreachable(
            say(
                "{where} ended the connection while {user} was logging in. Tried: {tried}. Too many keys in the agent "
                "do that (MaxAuthTries): name one key file and leave the agent out.",
                where=where,
                user=hop.user,
                tried=names if tried else say("nothing"),
            )
        )
    if any(one in methods for one in ("password", "keyboard-interactive")):
        return Unreachable(
            say(
                "{where} does not let {user} in. Tried: {tried}. The server accepts: {methods}. Give the password on "
                "the Hosts page (“Log in with a password”) or with `pilot hosts password`, which keep it in memory "
                "only; or put the console's public key (`pilot hosts key`) into ~/.ssh/authorized_keys of {user}.",
                where=where,
                user=hop.user,
                tried=names if tried else say("nothing"),
                methods=", ".join(methods),
            )
        )
    return Unreachable(
        say(
            "{where} does not let {user} in. Tried: {tried}. The server accepts: {methods}. Put the console's public "
            "key (it is shown on the Hosts page and by `pilot hosts key`) into ~/.ssh/authorized_keys of {user}, or "
            "name another key file.",
            where=where,
            user=hop.user,
            tried=names if tried else say("nothing"),
            methods=", ".join(methods) or "?",
        )
    )


def dropped(where: str, got: int) -> HostError:
    return Unreachable(
        say(
            "The connection to {where} dropped while a command ran, after {got} bytes of output. Whether the command "
            "went on is not known. Check the network and the host, then try again.",
            where=where,
            got=got,
        )
    )


def no_session(where: str, error: Exception) -> HostError:
    """The connection stands, but no command can be started on it."""
    if isinstance(error, ChannelException):
        return Unreachable(
            say(
                "{where} lets the user in but starts no command ({error}). Its limit of sessions may be reached "
                "(MaxSessions in sshd_config), or this account may not run commands.",
                where=where,
                error=error.text,
            )
        )
    return Unreachable(say("{where} stopped answering: {error}", where=where, error=str(error) or type(error).__name__))


def no_shell(where: str, printed: str) -> HostError:
    return HostError(
        say(
            "{where} lets the user in, but runs no shell for it; it printed: {printed}. Give the user a login shell "
            "such as /bin/sh (usermod -s), and look for a ForceCommand or a command= in authorized_keys.",
            where=where,
            printed=" ".join(printed.split())[:200] or "-",
        )
    )


BROKEN = (SSHException, EOFError, OSError)
"""What paramiko raises when a connection is no more."""
