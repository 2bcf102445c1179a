"""Whether this machine can carry rehearsal hosts, and if not, what was seen and what to do about it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from console.errors import HostError
from console.text import Text, say

SEARCHED = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where servers are, which the PATH of an ordinary user often leaves out."""
SFTP_SERVERS = (
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
    "/usr/libexec/sftp-server",
    "/usr/lib64/misc/sftp-server",
)
LEAST_BYTES = 64 * 2**20
TRIAL_S = 20
KERNEL = Path("/proc/sys")
FORBIDDING = {
    "user/max_user_namespaces": ("0", "user.max_user_namespaces=15000"),
    "kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "kernel.apparmor_restrict_unprivileged_userns=0"),
}
"""Settings of the kernel with the value that forbids namespaces to ordinary users, and what allows them."""


def programs() -> Mapping[str, str]:
    """The programs of this machine by which a rehearsal host lives. HostError names the one that is missing."""
    if sys.platform != "linux":
        raise HostError(say("Rehearsal hosts need Linux on the machine that runs the console."))
    found = {name: _program(name, package) for name, package in PACKAGES.items()}
    return found | {"sftp": _sftp_server()}


PACKAGES = {"sshd": "openssh-server", "unshare": "util-linux", "nsenter": "util-linux", "setsid": "util-linux"}


def try_namespaces(unshare: str, kernel: Path = KERNEL) -> None:
    """Make the namespaces of a rehearsal host for a moment. HostError says what forbids them."""
    words = [unshare, "-Urm", "--pid", "--uts", "--fork", "--mount-proc", "--propagation", "private", "true"]
    try:
        tried = subprocess.run(words, capture_output=True, text=True, timeout=TRIAL_S, check=False)
        said = (tried.stderr or tried.stdout).strip() or f"exit code {tried.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(_forbidden(str(error), kernel)) from error
    if tried.returncode != 0:
        raise HostError(_forbidden(said, kernel))


def room(folder: Path, least: int = LEAST_BYTES) -> None:
    """HostError when the disk of `folder` is as good as full."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise unusable(folder, error) from error
    if free < least:
        raise HostError(
            say(
                "Only {free} MiB are free in {folder}; a rehearsal host needs {least} MiB to begin with. Make room, "
                "or choose another data folder with --data.",
                free=free // 2**20,
                folder=str(folder),
                least=least // 2**20,
            )
        )


def unusable(folder: Path, error: OSError) -> HostError:
    return HostError(
        say(
            "The folder {folder} of the rehearsal host cannot be used: {error}. Check that it belongs to you and that "
            "its disk has room.",
            folder=str(folder),
            error=error.strerror or str(error),
        )
    )


def explained(name: str, failure: str) -> Text:
    """Why a rehearsal host did not come up, with what helps where that is known."""
    if "mount overlay" in failure:
        return say(
            "The rehearsal host {name} did not come up, because its private folders could not be mounted: {error}. "
            "Either the kernel is older than 5.12, or the data folder is on a file system that cannot carry them, such "
            "as that of a container, or NFS. Choose a data folder on ext4, xfs or tmpfs with --data.",
            name=name,
            error=failure,
        )
    return say(
        "The rehearsal host {name} did not come up: {error}", name=name, error=failure or say("it left no reason")
    )


def _program(name: str, package: str) -> str:
    path = shutil.which(name, path=os.environ.get("PATH", os.defpath) + ":" + SEARCHED)
    if path is None:
        raise HostError(
            say(
                "There is no {program} on this machine, and a rehearsal host cannot live without it. Install the "
                "package {package}, then try again.",
                program=name,
                package=package,
            )
        )
    return str(Path(path).absolute())


def _sftp_server() -> str:
    found = [one for one in SFTP_SERVERS if os.access(one, os.X_OK)]
    if not found:
        raise HostError(
            say(
                "There is no sftp-server on this machine, and a rehearsal host cannot live without it. Install the "
                "package {package}, then try again.",
                package="openssh-server",
            )
        )
    return found[0]


def _forbidden(said: str, kernel: Path) -> Text:
    for name, (forbids, allows) in FORBIDDING.items():
        setting = kernel / name
        if setting.exists() and setting.read_text().strip() == forbids:
            return say(
                "This machine forbids namespaces to ordinary users ({setting} is {value}), so no rehearsal host can be "
                "kept apart from it. An administrator can allow them: sudo sysctl -w {allows}. What was tried said: "
                "{error}",
                setting=name.replace("/", "."),
                value=forbids,
                allows=allows,
                error=said,
            )
    return say(
        "Namespaces cannot be made on this machine, so no rehearsal host can be kept apart from it: {error}. Within a "
        "container its runtime has to allow user namespaces; run the console on the machine itself instead.",
        error=said,
    )
