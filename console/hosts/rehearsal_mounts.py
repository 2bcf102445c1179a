"""Mounting, as a rehearsal host needs it: by system call, so that an error has its number and paths need no quotes."""

import ctypes
import os
from pathlib import Path

BIND, RECURSIVE, DETACH = 4096, 16384, 2
READ_ONLY, NO_SUID, NO_DEV, NO_EXEC = 1, 2, 4, 8
"""Flags of mount(2) and umount2(2)."""
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MOUNT_SETATTR = 442
"""Number of the system call on every machine; not every C library has a function for it. Linux 5.12 and later."""

libc = ctypes.CDLL(None, use_errno=True)


class MountAttributes(ctypes.Structure):
    """struct mount_attr of <linux/mount.h>."""

    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def mount_points() -> list[str]:
    """Where something is mounted now."""
    with open("/proc/self/mountinfo") as lines:
        return [line.split()[4].encode().decode("unicode_escape") for line in lines]


def bind(source: str | Path, target: Path) -> None:
    """A folder with all that is mounted below it."""
    target.mkdir(parents=True, exist_ok=True)
    mount(source, target, flags=BIND | RECURSIVE)


def expose(source: str | Path, target: Path) -> None:
    """The same, to be read only."""
    bind(source, target)
    read_only(target)


def expose_python(python: Path, root: Path) -> None:
    """The installation a Python belongs to, below `root` at its own place, if it cannot be seen there.

    An empty folder there does not count: it is what an earlier start of the host mounted on.
    """
    program = python.resolve()
    if python.exists() and not (root / program.relative_to("/")).exists():
        expose(program.parent.parent, root / program.parent.parent.relative_to("/"))


def read_only(place: Path) -> None:
    """Also everything that is mounted below it."""
    wish = MountAttributes(READ_ONLY, 0, 0, 0)
    answer = libc.syscall(
        MOUNT_SETATTR, AT_FDCWD, os.fsencode(place), AT_RECURSIVE, ctypes.byref(wish), ctypes.sizeof(wish)
    )
    _done(answer, "protect", str(place))


def mount(source: str | Path, target: Path, kind: str = "", flags: int = 0, data: str = "") -> None:
    """As mount(2). SystemExit says what failed where."""
    words = [os.fsencode(one) if one else None for one in (source, target, kind)]
    answer = libc.mount(*words, ctypes.c_ulong(flags), os.fsencode(data) if data else None)
    _done(answer, f"mount {kind or source}", str(target))


def _done(answer: int, what: str, where: str) -> None:
    if answer != 0:
        number = ctypes.get_errno()
        raise SystemExit(f"{what} at {where}: {os.strerror(number)} ({number})")


def enter(root: Path) -> None:
    """Make `root` the root folder of everything here, and let go of the machine's."""
    os.chdir(root)
    _done(libc.pivot_root(b".", b"."), "pivot_root", str(root))
    _done(libc.umount2(b".", DETACH), "umount", "the machine's root")
    os.chdir("/")
