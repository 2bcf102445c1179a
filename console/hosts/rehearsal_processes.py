"""Which processes descend from which, as /proc says; for those who end what they started."""

from collections.abc import Iterator
from pathlib import Path


def born(pid: int) -> str:
    """When a process began, in ticks since the machine did; "" when there is none."""
    return fields(pid)[19] if fields(pid) else ""


def lives(pid: int, when: str) -> bool:
    """Whether the process that began then still does something; a zombie does not."""
    said = fields(pid)
    return bool(said) and said[19] == when and said[0] not in "ZX"


def children(pid: int) -> list[int]:
    return [one for one, parent in parents() if parent == pid]


def descendants(pid: int) -> list[int]:
    """Of every generation, the youngest last."""
    known, found = list(parents()), [pid]
    for one in found:
        found += [child for child, parent in known if parent == one]
    return found[1:]


def parents() -> Iterator[tuple[int, int]]:
    """Each process with its parent."""
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and (said := fields(int(path.name))):
            yield int(path.name), int(said[1])


def fields(pid: int) -> list[str]:
    """Of /proc/PID/stat from the state on; [] when there is no such process."""
    try:
        return Path("/proc", str(pid), "stat").read_text(errors="replace").rpartition(") ")[2].split()
    except OSError:
        return []
