"""Which host keys a person has accepted, in OpenSSH's known_hosts format in the data folder."""

import base64
import fcntl
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from paramiko import HostKeys, PKey

from console.errors import ChangedHostKey, UnknownHostKey
from console.settings import settings
from console.text import Text, say


@dataclass(frozen=True)
class HostKey:
    """A public key that the SSH server at `address`:`port` showed; `blob` is base64 as in known_hosts."""

    address: str
    port: int
    algorithm: str
    blob: str

    @property
    def fingerprint(self) -> str:
        """As ssh-keygen -l prints it: SHA256:..."""
        digest = hashlib.sha256(base64.b64decode(self.blob)).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")

    @property
    def name(self) -> str:
        """As known_hosts names the server."""
        return named(self.address, self.port)


def shown(address: str, port: int, key: PKey) -> HostKey:
    return HostKey(address, port, key.get_name(), key.get_base64())


def named(address: str, port: int) -> str:
    return address if port == 22 else f"[{address}]:{port}"


def path() -> Path:
    return settings().data / "known_hosts"


def algorithms(address: str, port: int) -> list[str]:
    """Of the keys that are accepted for this server; [] when it was never accepted."""
    return [one.algorithm for one in accepted(address, port)]


def accepted(address: str, port: int) -> list[HostKey]:
    """The keys that are accepted for this server."""
    try:
        lines = path().read_text().splitlines()
    except FileNotFoundError:
        return []
    return _keys(lines, address, port)


def judge(offered: HostKey) -> None:
    """Returns when the key is accepted. UnknownHostKey: nobody has decided yet. ChangedHostKey: it is another one."""
    known = accepted(offered.address, offered.port)
    if offered in known:
        return
    if known:
        raise ChangedHostKey(_changed(offered, known), offered)
    raise UnknownHostKey(
        say(
            "The host key of {where} is not known yet: {algorithm} {fingerprint}. Compare the fingerprint with the one "
            "on the host (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub), then accept it on the Hosts page or with "
            "`pilot hosts test NAME --accept-key FINGERPRINT`.",
            where=offered.name,
            algorithm=offered.algorithm,
            fingerprint=offered.fingerprint,
        ),
        offered,
    )


def accept(offered: HostKey) -> None:
    """Write down that a person trusts this key. ChangedHostKey while another key of this server is accepted."""
    path().parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path(), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        known = accepted(offered.address, offered.port)
        if offered in known:
            return
        if known:
            raise ChangedHostKey(_changed(offered, known), offered)
        file.seek(0)
        before = file.read()
        file.write("" if not before or before.endswith("\n") else "\n")
        file.write(f"{offered.name} {offered.algorithm} {offered.blob}\n")


def forget(address: str, port: int) -> None:
    """Take back what was accepted for this server; the next connection asks again."""
    try:
        file = path().open("r+")
    except FileNotFoundError:
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kept = [line for line in file.read().splitlines() if not _keys([line], address, port)]
        file.seek(0)
        file.truncate()
        file.write("".join(f"{line}\n" for line in kept))


def _keys(lines: list[str], address: str, port: int) -> list[HostKey]:
    """The keys of the lines that are about this server; lines that nobody can read are about nobody."""
    found = []
    for line in lines:
        words = line.split()
        if len(words) >= 3 and not words[0].startswith(("#", "@")) and _about(words[0], named(address, port)):
            found.append(HostKey(address, port, words[1], words[2]))
    return found


def _about(names: str, name: str) -> bool:
    """Whether a list of names as in known_hosts, plain or hashed, holds `name`."""
    return any(
        one == name or (one.startswith("|1|") and one.count("|") == 3 and HostKeys.hash_host(name, one) == one)
        for one in names.split(",")
    )


def _changed(offered: HostKey, known: list[HostKey]) -> Text:
    return say(
        "THE HOST KEY OF {where} HAS CHANGED. Accepted was {old}; now it shows {algorithm} {new}. Either the host was "
        "installed anew, or somebody stands between you and it. Nothing is sent to it. Ask whoever runs the host; only "
        "if the change is explained, forget the old key on the Hosts page and accept the new one.",
        where=offered.name,
        old=", ".join(f"{one.algorithm} {one.fingerprint}" for one in known),
        algorithm=offered.algorithm,
        new=offered.fingerprint,
    )
