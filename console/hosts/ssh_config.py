"""Hosts from a file in the format of ~/.ssh/config. Nothing that stands in it is run, and no name is looked up.

What is understood: Host with wildcards and negation, Match by host and user, Include, HostName, User, Port,
IdentityFile, IdentitiesOnly, ProxyJump over several hops. What is not (ProxyCommand, Match exec, canonical names) is
told.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paramiko import SSHConfig

from console.errors import InvalidInput
from console.hosts.importing import Left, Read, Wanted
from console.hosts.reach import DEFAULT_PORT, MOST_JUMPS, Jump, key_path
from console.hosts.ssh_config_text import WAY, gathered, split
from console.settings import actor
from console.text import Text, say

_HOP = re.compile(r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?:\[(?P<six>[^]]+)\]|(?P<name>[^:/\[\]]+))(?::(?P<port>\d+))?/?")
_TOKEN = re.compile(r"%[%hnprud]")


def read_ssh_config(path: Path) -> Read:
    """Every host that the file names, as `ssh NAME` would reach it, and what was left out with its line."""
    text = gathered(path)
    config = text.config(path)
    found: list[Wanted | Left] = [_host(name, place, config) for name, place in text.names.items()]
    return Read([*found, *text.left], text.remarks)


def _host(name: str, place: str, config: SSHConfig) -> Wanted | Left:
    try:
        return _wanted(name, place, config)
    except InvalidInput as error:
        return Left(place, name, error.text)


def _wanted(name: str, place: str, config: SSHConfig) -> Wanted:
    said = dict(config.lookup(name))
    address, port, user = _spot(name, said)
    jumps, about_jumps = _jumps(name, said, config, (name,))
    key, about_key = _key(name, said)
    only = str(said.get("identitiesonly", "no")).lower() == "yes"
    return Wanted(
        place=place,
        name=name,
        address=address,
        port=port,
        user=user,
        key_file=key,
        agent=False if key and only else None,
        jumps=jumps,
        remarks=(*about_key, *about_jumps),
    )


def _spot(name: str, said: Mapping[str, Any]) -> tuple[str, int, str]:
    """Address, port and user as ssh would take them."""
    port = str(said.get("port", DEFAULT_PORT))
    if not port.isdecimal():
        raise InvalidInput(say("{port} is no port; ports go from 1 to 65535.", port=port))
    address = str(said.get("hostname", name)).replace("%h", name).replace("%n", name).replace("%%", "%")
    return address, int(port), str(said.get("user", "")) or actor()


def _key(name: str, said: Mapping[str, Any]) -> tuple[str | None, list[Text]]:
    """The key file to name, the first that is there; None when the file names none."""
    named = [one for one in said.get("identityfile", ()) if one.lower() != "none"]
    files = [key_path(_filled(one, name, said)) for one in named]
    private = [one for one in files if not one.endswith(".pub")]
    remarks = []
    if len(private) < len(files):
        remarks.append(say("A public key only picks one of the agent's keys; here the agent offers all of them."))
    if not private:
        return None, remarks
    chosen = next((one for one in private if Path(one).is_file()), private[0])
    if not Path(chosen).is_file():
        remarks.append(say("The key file {path} is not there.", path=chosen))
    elif len(private) > 1:
        remarks.append(say("It names {count} key files; {path} is taken.", count=len(private), path=chosen))
    return chosen, remarks


def _filled(words: str, name: str, said: Mapping[str, Any]) -> str:
    """`words` with ssh's tokens filled in."""
    address, port, user = _spot(name, said)
    values = {"%%": "%", "%h": address, "%n": name, "%p": str(port), "%r": user, "%u": actor(), "%d": str(Path.home())}
    return _TOKEN.sub(lambda found: values[found[0]], words)


def _jumps(
    name: str, said: Mapping[str, Any], config: SSHConfig, seen: tuple[str, ...]
) -> tuple[tuple[Jump, ...], list[Text]]:
    """The jump hosts on the way to `name`, the nearest first; the first one named may have jump hosts of its own."""
    kind, _, words = str(said.get(WAY, "")).partition(" ")
    if not words or words.strip().lower() == "none":
        return (), []
    if kind == "proxycommand":
        raise InvalidInput(
            say(
                "It is reached by a ProxyCommand, which is not run here: {command}. If that leads through a jump host, "
                "write ProxyJump instead.",
                command=words,
            )
        )
    hops: list[Jump] = []
    remarks: list[Text] = []
    for number, one in enumerate(_filled("".join(split(words) or []), name, said).split(",")):
        found = _HOP.fullmatch(one)
        if found is None:
            raise InvalidInput(say("{words} is no jump host. Write it as user@host:port.", words=one))
        alias = found["six"] or found["name"]
        if alias in seen or len(seen) > MOST_JUMPS:
            raise InvalidInput(say("Its jump hosts lead in a circle: {names}.", names=" → ".join((*seen, alias))))
        of_hop = dict(config.lookup(alias))
        if number == 0:
            hops, remarks = (list(each) for each in _jumps(alias, of_hop, config, (*seen, alias)))  # type: ignore[assignment]
        address, port, user = _spot(alias, of_hop)
        hops.append(Jump(address, int(found["port"] or port), found["user"] or user))
        if of_hop.get("identityfile", said.get("identityfile")) != said.get("identityfile"):
            remarks.append(
                say(
                    "Jump host {jump} has a key file of its own in this file; here the key of the host, the console's "
                    "own and the agent's are tried at every hop.",
                    jump=alias,
                )
            )
    return tuple(hops), remarks
