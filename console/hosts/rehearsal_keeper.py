"""Keeps one rehearsal host up: its namespaces, its SSH server, and what happens when it is told to reboot.

A process of its own, `python -m console.hosts.rehearsal_keeper FOLDER`, one for each host by a lock in its folder. It
ends when it is told to, or when the host's first process ended without a reboot; what wants the host next starts
another. It imports nothing but the standard library, so that twenty of them weigh little.

Folder: `spec.json` (what to play), `disk` (what the host keeps), `run` (its /run/rehearsal), `pids` (our processes),
`up` (there while one can log in), `rebooting`, `failure` (why it did not come up), `root.log` and `sshd.log`.
"""

import ctypes
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

from console.hosts.rehearsal_processes import born, children, descendants, lives

TICK_S = 0.25
COME_UP_S = 60.0
REBOOT_S = 4.0
"""For so long nothing listens during a reboot."""
PORT_TAKEN = "Address already in use"
"""What sshd says when another program listens on the port."""
LOCK, WANTED = "keeper.lock", "run/reboot-wanted"
NETWORK = ("http_proxy", "https_proxy", "no_proxy", "all_proxy", "ssl_cert_file", "ssl_cert_dir", "requests_ca_bundle")
NETWORK_OF = ("pip_", "uv_", "hf_endpoint", "modelscope_")
"""Variables by which this machine reaches package indexes; the host shares its network and so gets them too."""
PR_SET_CHILD_SUBREAPER = 36


class NotUp(Exception):
    """The host did not come up; the words say why."""


class Keeper:
    """One host from its start until it is told to end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spec: dict[str, Any] = json.loads((folder / "spec.json").read_text())
        self.told = False
        self.namespaces: subprocess.Popen[bytes] | None = None
        self.sshd: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Blocks; the exit code is 1 when the host did not come up."""
        signal.signal(signal.SIGTERM, self._end)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # whatever our children leave behind comes to us
        sweep(self.folder)
        (self.folder / "failure").unlink(missing_ok=True)
        try:
            while self._boot():
                time.sleep(REBOOT_S)
        except (NotUp, OSError) as error:
            with suppress(OSError):  # the folder may be what is gone, or full
                (self.folder / "failure").write_text(str(error))
            return 1
        finally:
            self._down()
            (self.folder / "rebooting").unlink(missing_ok=True)
        return 0

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self.told = True

    def _boot(self) -> bool:
        """From power on to power off; whether it shall come up again."""
        empty(self.folder / "run")
        empty(self.folder / "tmp")
        (self.folder / "run/boot_id").write_text(f"{uuid.uuid4()}\n")
        (self.folder / "run/environment").write_text(network() + f"export HOME={shlex.quote(self.spec['home'])}\n")
        self._start_namespaces()
        self._start_sshd()
        (self.folder / "up").touch()
        (self.folder / "rebooting").unlink(missing_ok=True)
        wanted = False
        while not wanted and self._goes_on():
            time.sleep(TICK_S)
            wanted = (self.folder / WANTED).exists()
            if self.sshd is not None and self.sshd.poll() is not None:
                self._start_sshd()
        if wanted:
            (self.folder / "rebooting").touch()
        self._down()
        return wanted and not self.told

    def _goes_on(self) -> bool:
        """Neither told to end, nor without its first process, nor deleted by hand."""
        lives = self.namespaces is not None and self.namespaces.poll() is None
        return lives and not self.told and (self.folder / "spec.json").exists()

    def _start_namespaces(self) -> None:
        words = [
            self.spec["unshare"], "-Urm", "--pid", "--uts", "--fork", "--kill-child", "--propagation", "private",
            sys.executable, "-m", "console.hosts.rehearsal_root", str(self.folder),
        ]  # fmt: skip
        with (self.folder / "root.log").open("wb") as log:
            self.namespaces = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.spec["checkout"]
            )
        until = time.monotonic() + COME_UP_S
        while not (self.folder / "run/ready").exists():
            if self.namespaces.poll() is not None:
                raise NotUp((self.folder / "root.log").read_text(errors="replace").strip())
            if self.told or time.monotonic() > until:
                raise NotUp(f"it took longer than {COME_UP_S:.0f} s")
            time.sleep(0.02)
        first = children(self.namespaces.pid)[0]
        # sshd's forced command enters by this; the name of the namespace tells a later process with the same number
        (self.folder / "init").write_text(f"{first} {Path('/proc', str(first), 'ns/mnt').readlink()}\n")
        self._note()

    def _start_sshd(self) -> None:
        empty(self.folder / "no-home")
        config = self.folder / "sshd_config"
        config.write_text(sshd_config(self.folder, self.spec))
        log = self.folder / "sshd.log"
        log.unlink(missing_ok=True)
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # a server that root runs insists on it
        words = [self.spec["sshd"], "-D", "-f", str(config), "-E", str(log)]
        self.sshd = subprocess.Popen(words, stdin=subprocess.DEVNULL, cwd="/")
        until = time.monotonic() + COME_UP_S
        said = ""
        while "Server listening" not in said:  # a connection would not tell whether it is ours that listens
            if self.sshd.poll() is not None or time.monotonic() > until:
                raise NotUp(f"sshd: {said.strip() or '-'}")
            time.sleep(0.02)
            said = log.read_text(errors="replace") if log.exists() else ""
        self._note()

    def _note(self) -> None:
        ours = [one.pid for one in (self.namespaces, self.sshd) if one is not None]
        ours += children(self.namespaces.pid) if self.namespaces is not None else []
        (self.folder / "pids").write_text("".join(f"{pid} {born(pid)}\n" for pid in ours))

    def _down(self) -> None:
        (self.folder / "up").unlink(missing_ok=True)
        for one in (self.sshd, self.namespaces):  # nobody shall be let in any more
            if one is not None and one.poll() is None:
                one.kill()
                one.wait()
        until = time.monotonic() + COME_UP_S
        while (left := children(os.getpid())) and time.monotonic() < until:
            for pid in (*(each for one in left for each in descendants(one)), *left):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for pid in left:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.02)
        self.sshd = self.namespaces = None
        (self.folder / "pids").unlink(missing_ok=True)


def network() -> str:
    """Shell lines that set what the console's own environment says of the way to package indexes."""
    found = sorted(
        (name, value)
        for name, value in os.environ.items()
        if name.lower() in NETWORK or name.lower().startswith(NETWORK_OF)
    )
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in found if name.isidentifier())


def sshd_config(folder: Path, spec: dict[str, Any]) -> str:
    """Only the console's key, only this user, only into the namespaces."""
    quoted = str(folder).replace("\\", "\\\\").replace('"', '\\"')
    enter = folder / "enter"
    enter.write_text(
        f"read -r pid namespace < {shlex.quote(str(folder / 'init'))} &&\n"
        '[ "$(readlink "/proc/$pid/ns/mnt")" = "$namespace" ] ||\n'
        "{ echo 'this rehearsal host is down' >&2; exit 255; }\n"
        f'exec {shlex.quote(spec["nsenter"])} -t "$pid" -U -m -p -u --preserve-credentials '
        "/bin/sh /opt/rehearsal/console/hosts/rehearsal_session.sh\n"
    )
    lines = (
        f"ListenAddress 127.0.0.1:{spec['port']}",
        f'HostKey "{quoted}/host_key"',
        f'AuthorizedKeysFile "{quoted.replace("%", "%%")}/authorized_keys"',
        f"AllowUsers {spec['user']}",
        f"Subsystem sftp {spec['sftp']}",
        f'SetEnv "HOME={quoted}/no-home"',  # the user's shell comes first, and shall find no start files of the machine
        f"ForceCommand /bin/sh {shlex.quote(str(enter))}",
        "PidFile none",
        "UsePAM no",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "StrictModes no",
        "PermitRootLogin prohibit-password",
        "PermitUserRC no",
        "PermitUserEnvironment no",
        "AllowAgentForwarding no",
        "X11Forwarding no",
        "PrintMotd no",
        "PrintLastLog no",
        "MaxStartups 100",
        "ClientAliveInterval 15",
        *(() if os.geteuid() == 0 else ("PermitTTY no",)),  # it would hang up: it cannot write down who logged in
    )
    return "".join(f"{line}\n" for line in lines)


def sweep(folder: Path) -> None:
    """End what a keeper that was killed left running, and wait until it has ended."""
    noted = folder / "pids"
    words = [line.split() for line in noted.read_text().splitlines()] if noted.exists() else []
    left = [(int(pid), when) for pid, when in words if lives(int(pid), when)]
    left += [(one, born(one)) for pid, _ in left for one in descendants(pid)]
    until = time.monotonic() + COME_UP_S
    while (left := [each for each in left if lives(*each)]) and time.monotonic() < until:
        for pid, _ in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    for stale in (noted, folder / "up", folder / "rebooting"):
        stale.unlink(missing_ok=True)


def empty(folder: Path) -> None:
    """Make it an empty folder, whatever was in it."""
    if folder.exists():
        remove(folder)
    folder.mkdir(mode=0o755)


def remove(folder: Path) -> None:
    """Delete a tree of ours in which some folders deny even us, as the work folders of overlays do."""
    for where, names, _ in os.walk(folder):
        for name in names:
            with suppress(OSError):
                if not (path := Path(where, name)).is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(folder)


def alone(folder: Path) -> IO[str] | None:
    """The lock of this folder with our process number in it; None when another keeper has it."""
    file = (folder / LOCK).open("a+")
    for patience in range(10, -1, -1):  # who looks whether it is held has it for a moment
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if not patience:
                file.close()
                return None
            time.sleep(0.02)
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def main(folder: Path) -> int:
    os.umask(0o077)
    with suppress(FileNotFoundError):
        if (lock := alone(folder)) is not None:
            with lock:
                return Keeper(folder).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
