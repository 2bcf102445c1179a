"""Run a command in a network of its own, where nothing but this machine is: `own_network.py COMMAND [WORDS]`.

Two test runs, each with its own, may take the same ports at the same time. Needs root and util-linux.
"""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys

SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 0x1
ADDRESS, TOLD_AS = "192.0.2.7", "PILOT_TEST_ADDRESS"
"""One that is no loopback address, for tests of what is served beyond it; documentation addresses lead nowhere."""
INSIDE = "--inside"


def possible() -> bool:
    """Whether this user may have a network of its own here."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0


def raise_loopback() -> None:
    """A new network begins with its loopback down, and has no other device that could carry ADDRESS."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
        named = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(ADDRESS))
        fcntl.ioctl(any_socket, SIOCSIFADDR, named)


if __name__ == "__main__":
    if sys.argv[1:2] == [INSIDE]:
        raise_loopback()
        os.environ[TOLD_AS] = ADDRESS
        os.execvp(sys.argv[2], sys.argv[2:])
    os.execvp("unshare", ["unshare", "--net", sys.executable, __file__, INSIDE, *sys.argv[1:]])
