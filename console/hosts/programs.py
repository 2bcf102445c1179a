"""Which programs run on a host: those of which machine."""

from console.hosts import inventory
from console.hosts.inventory import Host

PROGRAM_HEAD = "od -An -tu2 -j18 -N2 /proc/self/exe 2>/dev/null"
"""The field e_machine of the ELF header of the program that reads it, of itself."""
PROGRAMS = {"62": "x86_64", "183": "aarch64", "40": "arm", "3": "i686"}
"""Values of e_machine (System V ABI) and what `uname -m` would say."""


def machine_name(host: Host) -> str:
    """Which programs run there, in the words of `uname -m`: x86_64 or aarch64.

    Taken from the head of a program that runs there just then, not from what the host calls itself: a 32-bit system
    on a 64-bit kernel calls itself by the kernel's name, a rehearsal host by that of the machine it plays.
    """
    said = inventory.runner(host).run(f"{PROGRAM_HEAD} || uname -m").out.strip()
    return PROGRAMS.get(said, said)
