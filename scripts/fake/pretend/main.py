"""Starts the simulated program of the name it is given: `main.py NAME WORDS...`."""

import signal
import sys

PROGRAMS = {
    "npu-smi": "npu_smi",
    "hccn_tool": "hccn_tool",
    "df": "room",
    **dict.fromkeys(("uname", "nproc", "lscpu", "getconf", "ldd", "hostname"), "processor"),
    **dict.fromkeys(("lspci", "lsblk", "ethtool", "ibv_devinfo", "dmidecode", "mdadm"), "devices"),
    **dict.fromkeys(("id", "whoami", "groups"), "users"),
    **dict.fromkeys(("useradd", "groupadd", "usermod"), "accounts"),
    "sudo": "sudo",
    **dict.fromkeys(("apt-get", "apt", "apt-cache", "dpkg", "dpkg-query"), "apt"),
    **dict.fromkeys(("dnf", "yum", "rpm"), "dnf"),
    **dict.fromkeys(("systemctl", "timedatectl", "chronyc", "getenforce", "reboot", "shutdown"), "system"),
    **dict.fromkeys(("lsmod", "modinfo", "dkms", "numactl", "ldconfig"), "kernel"),
    "docker": "docker",
    "vllm": "engine",
    **dict.fromkeys(("ascend-install", "ascend-uninstall"), "installer"),
}
"""Program -> the module of this folder whose `main(name, words)` plays it."""


def module(name: str):  # type: ignore[no-untyped-def]
    """The module that plays a program. importlib would cost more than most programs take."""
    return getattr(__import__(f"pretend.{PROGRAMS[name]}"), PROGRAMS[name])


def main() -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.path.insert(0, __file__.rpartition("/pretend/")[0])
    name, words = sys.argv[1], sys.argv[2:]
    return int(module(name).main(name, words) or 0)


if __name__ == "__main__":
    sys.exit(main())
