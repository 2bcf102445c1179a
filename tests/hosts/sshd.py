"""A real OpenSSH server on a loopback port, run by whoever runs the tests, with keys of its own."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from console.hosts import known_hosts
from console.hosts.known_hosts import HostKey
from console.hosts.reach import Jump, Reach
from tests.running import free_port

SYSTEM = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/usr/local/sbin"


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    """A private key at `path`, its public half beside it."""
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", path], check=True)
    return path


MOST_ADDRESSES = 14
"""sshd takes sixteen at most, two of which it may need otherwise."""


class Sshd:
    """Runs from `start` to `stop`. `options` are further lines of its configuration and win over the usual ones.

    addresses   those it is to be reached at; see `under`
    """

    def __init__(self, folder: Path, *options: str, address: str = "127.0.0.1", port: int = 0) -> None:
        self.folder, self.options, self.address = folder, options, address
        self.port = port or free_port(address)
        self.addresses = [address]
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True)
        make_key(folder / "host_key")
        make_key(folder / "user_key")
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def start(self) -> "Sshd":
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        config = self.folder / "config"
        config.write_text("\n".join([*self.options, *self._usual(), ""]))
        program = shutil.which("sshd", path=SYSTEM)
        assert program
        self.process = subprocess.Popen([program, "-D", "-f", config, "-E", self.folder / "log"])
        deadline = time.monotonic() + 20
        while not self._listens():
            assert self.process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.05)
        return self

    def under(self, addresses: list[str]) -> "Sshd":
        """Reached at each of these too from the next start on, so that one server is many hosts."""
        assert len(addresses) <= MOST_ADDRESSES
        self.options = (*self.options, *(f"ListenAddress {one}:{self.port}" for one in addresses))
        self.addresses = addresses
        return self

    def _usual(self) -> list[str]:
        return [
            f"ListenAddress {self.address}:{self.port}",
            f"HostKey {self.folder}/host_key",
            f"AuthorizedKeysFile {self.folder}/authorized_keys",
            f"PidFile {self.folder}/pid",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "StrictModes no",
            "PermitRootLogin yes",
            "MaxStartups 200",
            "SetEnv SHLVL=1",  # else bash reads the start file of whoever runs the tests before every command
        ]

    def _listens(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex((self.address, self.port)) == 0

    def connections(self) -> list[int]:
        """The processes that serve a connection."""
        assert self.process
        listed = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(word) for word in listed.stdout.split()]

    def cut(self) -> None:
        """End every connection, as a broken network would; the server itself goes on."""
        for pid in self.connections():
            for child in (*_children(pid), pid):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)

    def stop(self) -> None:
        if self.process is not None:
            self.cut()
            self.process.kill()
            self.process.wait(timeout=20)
            self.process = None

    def new_host_key(self) -> None:
        """As after a new installation; takes effect at the next start."""
        for name in ("host_key", "host_key.pub"):
            (self.folder / name).unlink()
        make_key(self.folder / "host_key")

    def host_key(self) -> HostKey:
        algorithm, blob, *_ = (self.folder / "host_key.pub").read_text().split()
        return HostKey(self.address, self.port, algorithm, blob)

    def trust(self) -> "Sshd":
        known_hosts.accept(self.host_key())
        return self

    def reach(self, *, key_file: str | None = None, agent: bool = False, jumps: tuple[Jump, ...] = ()) -> Reach:
        key = str(self.folder / "user_key") if key_file is None else key_file
        return Reach(self.address, self.port, getpass.getuser(), key, agent, jumps)

    def jump(self) -> Jump:
        return Jump(self.address, self.port, getpass.getuser())


def _children(pid: int) -> list[int]:
    """The unprivileged half that sshd makes for each connection; what it runs for the user stays."""
    listed = subprocess.run(["pgrep", "-x", "-P", str(pid), "sshd.*"], capture_output=True, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]
