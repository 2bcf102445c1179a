"""Who listens on a port of this machine, as far as /proc lets this user read it."""

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
LISTENING = "0A"


@dataclass(frozen=True)
class Owner:
    """A process that listens. Fields this user may not read are empty; pid 0: no process could be named."""

    pid: int
    command: tuple[str, ...]
    folder: str
    data: str

    def is_console(self) -> bool:
        return self.command[1:4] == ("-m", "console", "up")


NOBODY = Owner(0, (), "", "")


def owner_of(port: int, proc: Path = PROC) -> Owner:
    """The process that listens on `port` over TCP."""
    inodes = _listening(port, proc)
    return next((_owner(process) for process in _processes(proc) if inodes and _holds(process, inodes)), NOBODY)


def console_for(port: int, proc: Path = PROC) -> Owner:
    """A console started for `port`, be it that it listens or that it will in a few seconds."""
    words = ("-m", "console", "up", "--port", str(port))
    return next((_owner(process) for process in _processes(proc) if _command(process)[1:6] == words), NOBODY)


def _processes(proc: Path) -> list[Path]:
    return [process for process in proc.iterdir() if process.name.isdecimal()]


def _owner(process: Path) -> Owner:
    command = _command(process)
    return Owner(int(process.name), command, _target(process / "cwd"), _data(command, process))


def _command(process: Path) -> tuple[str, ...]:
    return tuple(part.decode(errors="replace") for part in _read(process / "cmdline").split(b"\0")[:-1])


def _listening(port: int, proc: Path) -> set[str]:
    found = set()
    for table in ("tcp", "tcp6"):
        for line in _read(proc / "net" / table).decode().splitlines()[1:]:
            cells = line.split()
            if cells[3] == LISTENING and int(cells[1].rpartition(":")[2], 16) == port:
                found.add(f"socket:[{cells[9]}]")
    return found


def _holds(process: Path, inodes: set[str]) -> bool:
    try:
        return any(_target(descriptor) in inodes for descriptor in (process / "fd").iterdir())
    except OSError:
        return False  # another user's process, or it has just ended


def _data(command: tuple[str, ...], process: Path) -> str:
    """The data folder a console was started with; empty for its default."""
    for place, word in enumerate(command):
        if word == "--data" and place + 1 < len(command):
            return command[place + 1]
    for entry in _read(process / "environ").split(b"\0"):
        name, _, value = entry.partition(b"=")
        if name == b"PILOT_DATA":
            return os.fsdecode(value)
    return ""


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
