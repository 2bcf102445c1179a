"""How a host is reached over SSH: address, port, user, key, and the jump hosts on the way."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from console.errors import InvalidInput
from console.text import say

DEFAULT_PORT = 22
MOST_JUMPS = 5
ADDRESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:%-]*|::[0-9A-Fa-f:.%]*")
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+-]*\$?")


class Sudo(StrEnum):
    """What the user may do as root on the host."""

    NONE = "none"
    NOPASSWD = "nopasswd"
    PASSWORD = "password"


@dataclass(frozen=True)
class Jump:
    """One SSH server on the way to a host."""

    address: str
    port: int
    user: str

    def __post_init__(self) -> None:
        _check(self.address, self.port, self.user)

    def __str__(self) -> str:
        return f"{self.user}@{spot(self.address, self.port)}"


@dataclass(frozen=True)
class Reach:
    """How to log in on a host.

    key_file   private key of its own, an absolute path on the console's machine; "" for none
    agent      whether the keys of the user's SSH agent are tried
    jumps      the servers to go through, the nearest first
    """

    address: str
    port: int = DEFAULT_PORT
    user: str = "root"
    key_file: str = ""
    agent: bool = True
    jumps: tuple[Jump, ...] = ()
    sudo: Sudo = Sudo.NONE

    def __post_init__(self) -> None:
        _check(self.address, self.port, self.user)
        if self.key_file and not self.key_file.startswith("/"):
            raise InvalidInput(
                say(
                    "The key file must be an absolute path such as /home/you/.ssh/id_ed25519, not {path}.",
                    path=self.key_file,
                )
            )
        if len(self.jumps) > MOST_JUMPS:
            raise InvalidInput(say("At most {most} jump hosts can stand on the way.", most=MOST_JUMPS))

    @property
    def hops(self) -> tuple[Jump, ...]:
        """Every server on the way, the host itself last."""
        return (*self.jumps, Jump(self.address, self.port, self.user))

    def __str__(self) -> str:
        return str(self.hops[-1])

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def from_json(stored: str) -> Reach:
    """The inverse of `Reach.to_json`. InvalidInput when it is no reach."""
    try:
        plain = json.loads(stored)
        return Reach(
            address=str(plain["address"]),
            port=int(plain.get("port", DEFAULT_PORT)),
            user=str(plain.get("user", "root")),
            key_file=str(plain.get("key_file", "")),
            agent=bool(plain.get("agent", True)),
            jumps=tuple(_jump(one) for one in plain.get("jumps", ())),
            sudo=Sudo(plain.get("sudo", Sudo.NONE)),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(say("This is no description of how to reach a host: {error}", error=str(error))) from error


def key_path(typed: str) -> str:
    """A path as people type it, with ~ filled in; "" stays ""."""
    return str(Path(typed.strip()).expanduser()) if typed.strip() else ""


def jumps(typed: Iterable[str], user: str) -> tuple[Jump, ...]:
    """Jump hosts as people type them: "user@host:port", nearest first; `user` where none is named."""
    return tuple(_typed(one.strip(), user) for words in typed for one in words.split(",") if one.strip())


def way(jumps: Iterable[Jump]) -> str:
    """Jump hosts as `jumps` reads them."""
    return ", ".join(str(one) for one in jumps)


def spot(address: str, port: int) -> str:
    """`host:port` in words, an IPv6 address in brackets."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _typed(words: str, user: str) -> Jump:
    who, _, where = words.rpartition("@")
    found = re.fullmatch(r"\[([^]]+)\](?::(\d+))?|([^:]+)(?::(\d+))?", where)
    if found is None:
        raise InvalidInput(say("{words} is no jump host. Write it as user@host:port.", words=words))
    port = found[2] or found[4]
    return Jump(found[1] or found[3], int(port) if port else DEFAULT_PORT, who or user)


def _jump(plain: Mapping[str, object]) -> Jump:
    return Jump(str(plain["address"]), int(str(plain["port"])), str(plain["user"]))


def _check(address: str, port: int, user: str) -> None:
    if not ADDRESS.fullmatch(address):
        raise InvalidInput(
            say(
                "“{address}” is no address. Write a host name or an IP address, without user, port or spaces.",
                address=address,
            )
        )
    if not 1 <= port <= 65535:
        raise InvalidInput(say("{port} is no port; ports go from 1 to 65535.", port=str(port)))
    if not USER.fullmatch(user):
        raise InvalidInput(say("“{user}” is no user name. Write the login name on the host, such as root.", user=user))
