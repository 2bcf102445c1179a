"""Room in folders, from `df`, and memory by NUMA node, from /sys."""

import re
from dataclasses import dataclass

from console.facts.lines import lines, whole
from console.facts.trouble import Trouble, trouble_in

_BLOCKS = re.compile(r"(\d+)(K|M)?B?-blocks", re.IGNORECASE)
_DF_ROW = re.compile(r"^(\S.*?)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(?:\d+%|-)\s+(/.*)$")
_CPULIST = re.compile(r"(?:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)?")


@dataclass(frozen=True)
class Room:
    """Room for one folder.

    name       what the folder is for: "work", "tmp" or "home"
    folder     as asked
    existing   the folder itself, or its nearest parent that exists
    writable   whether this user may write into `existing`
    bytes      free for this user, and in all
    """

    name: str
    folder: str
    existing: str
    writable: bool
    free_bytes: int
    total_bytes: int
    filesystem: str
    mount: str


@dataclass(frozen=True)
class NumaNode:
    """CPUs ("0-31") and memory of one node; memory in KiB, null where the kernel does not say."""

    node: int
    cpus: str
    mem_total_kb: int | None
    mem_free_kb: int | None


def parse_rooms(text: str) -> dict[str, Room] | Trouble:
    """Rooms by name, from blocks of `ask <name> <writable> <existing>`, `for <folder>` and the lines of `df -P`."""
    rooms: dict[str, Room] = {}
    names: set[str] = set()
    unit = 1024
    asked: tuple[str, str, str] | None = None
    folder = ""
    for row in lines(text):
        if row.startswith("ask "):
            _, name, writable, existing = row.split(" ", 3)
            asked = (name, writable, existing)
            names.add(name)
        elif row.startswith("for "):
            folder = row[4:]
        elif head := _BLOCKS.search(row):
            unit = int(head.group(1)) * {"K": 1024, "M": 1024**2}.get((head.group(2) or "").upper(), 1)
        elif (match := _DF_ROW.match(row)) and asked:
            name, writable, existing = asked
            rooms[name] = Room(
                name=name,
                folder=folder,
                existing=existing,
                writable=writable == "yes",
                free_bytes=max(0, int(match.group(4))) * unit,
                total_bytes=int(match.group(2)) * unit,
                filesystem=match.group(1),
                mount=match.group(5),
            )
            asked = None
    return rooms if rooms and names == set(rooms) else trouble_in(text)


def parse_numa(text: str) -> tuple[NumaNode, ...] | Trouble:
    """Lines `node <n> cpus <list>` each followed by the node's MemTotal and MemFree; empty without NUMA."""
    nodes: list[NumaNode] = []
    for row in lines(text):
        words = row.split()
        if len(words) >= 3 and words[0] == "node" and words[2] == "cpus":
            number, cpus = whole(words[1]), "".join(words[3:])
            if number is None or not _CPULIST.fullmatch(cpus):
                return trouble_in(text)
            nodes.append(NumaNode(number, cpus, None, None))
        elif nodes and (match := re.search(r"\b(MemTotal|MemFree):\s+(\d+)\s*kB", row)):
            last, value = nodes[-1], int(match.group(2))
            total = value if match.group(1) == "MemTotal" else last.mem_total_kb
            free = value if match.group(1) == "MemFree" else last.mem_free_kb
            nodes[-1] = NumaNode(last.node, last.cpus, total, free)
    return tuple(nodes)
