"""Disks of a host, from `lsblk` or `nvme list`."""

import re
from dataclasses import dataclass

from console.facts.lines import absent, lines
from console.facts.trouble import Trouble, trouble_in

_TREE = re.compile(r"^[\s|`│├└─-]*(?=[A-Za-z])")
_NVME = re.compile(r"^\s*(/dev/nvme\S+)\s+(.*)$")
_NVME_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTP]?i?B)\s*/\s*(\d+(?:\.\d+)?)\s*([KMGTP]?i?B)", re.IGNORECASE)
_BLOCK_SIZE = re.compile(r"\d+(?:\.\d+)?[BKMGTP]?i?B?", re.IGNORECASE)


@dataclass(frozen=True)
class Disk:
    """One disk; `size` as the tool rounds it."""

    node: str
    model: str | None
    size: str | None


@dataclass(frozen=True)
class Raid:
    """One software RAID, listed once however many members show it."""

    name: str
    level: str
    size: str | None
    mount: str | None
    members: tuple[str, ...]


@dataclass(frozen=True)
class Disks:
    """`free_disks` are those that lsblk shows with nothing on them: no partition, no RAID, no mount point.

    null where the tool does not say (nvme list knows no partitions).
    """

    disks: tuple[Disk, ...]
    raid: tuple[Raid, ...] | None = None
    free_disks: tuple[str, ...] | None = None
    unread: tuple[str, ...] = ()
    status: str = "ok"


@dataclass(frozen=True)
class _Block:
    name: str
    depth: int
    parent: str | None
    cells: dict[str, str]


def parse_disks(text: str) -> Disks | Trouble:
    """Disks in the output of `nvme list` or `lsblk` (ASCII or line-drawing tree)."""
    rows = lines(text)
    heads = [index for index, row in enumerate(rows) if {"NAME", "TYPE"} <= set(row.upper().split())]
    if heads:
        return _lsblk(rows[heads[0]].upper().split(), rows[heads[0] + 1 :])
    nvme = [match for row in rows if (match := _NVME.match(row))]
    return _nvme(rows, nvme) if nvme else trouble_in(text)


def _nvme(rows: list[str], found: list[re.Match[str]]) -> Disks:
    """Columns are Node, SN, Model, Namespace, Usage, ...: the model is what stands between SN and namespace."""
    has_generic = any("generic" in row.lower().split()[:2] for row in rows if "Node" in row)
    disks = []
    for match in found:
        words = match.group(2).split()[1 if has_generic else 0 :]
        size = _NVME_SIZE.search(match.group(2))
        model = None
        if size:
            before = match.group(2)[: size.start()].split()[1 if has_generic else 0 :]
            model = " ".join(before[1:-1]) or None
        elif len(words) > 2:
            model = words[1]
        disks.append(Disk(match.group(1), model, f"{size.group(3)} {size.group(4)}" if size else None))
    return Disks(tuple(disks))


def _lsblk(columns: list[str], rows: list[str]) -> Disks:
    blocks, unread = _blocks(columns, rows)
    disks = [block for block in blocks if block.cells.get("TYPE") == "disk"]
    with_children = {block.parent for block in blocks}
    bare = [block for block in disks if not _mount(block) and not block.cells.get("FSTYPE")]
    free = sorted(block.name for block in bare if block.name not in with_children)
    return Disks(
        tuple(Disk(f"/dev/{block.name}", block.cells.get("MODEL"), block.cells.get("SIZE")) for block in disks),
        _raids(blocks),
        tuple(free),
        tuple(unread),
    )


def _blocks(columns: list[str], rows: list[str]) -> tuple[list[_Block], list[str]]:
    blocks: list[_Block] = []
    unread: list[str] = []
    for row in rows:
        tree = _TREE.match(row)
        if row.strip().startswith("/") or row.strip() == "[SWAP]":
            continue  # a further mount point of the line above
        if not row.strip():
            continue
        cells = _cells(columns, row[tree.end() :].split()) if tree else None
        if tree is None or cells is None:
            unread.append(row.strip())
            continue
        depth = tree.end()
        parent = next((block.name for block in reversed(blocks) if block.depth < depth), None)
        blocks.append(_Block(cells["NAME"], depth, parent, cells))
    return blocks, unread


def _cells(columns: list[str], words: list[str]) -> dict[str, str] | None:
    """Words by column; columns behind TYPE may be empty, those before it are always filled."""
    ahead = columns.index("TYPE") + 1
    if len(words) < ahead or not re.fullmatch(r"[a-z]+\d*", words[ahead - 1]):
        return None
    cells = dict(zip(columns[:ahead], words[:ahead], strict=True))
    if "SIZE" in cells and not _BLOCK_SIZE.fullmatch(cells["SIZE"]):
        return None
    rest = words[ahead:]
    mount = next((column for column in columns[ahead:] if column.startswith("MOUNTPOINT")), None)
    if mount and rest and (rest[-1].startswith("/") or rest[-1] == "[SWAP]"):
        cells[mount] = rest.pop()
    others = [column for column in columns[ahead:] if column != mount]
    if len(rest) == len(others):
        cells.update(zip(others, rest, strict=True))
    elif rest and others == ["MODEL"]:
        cells["MODEL"] = " ".join(rest)
    return cells


def _mount(block: _Block) -> str | None:
    mount = block.cells.get("MOUNTPOINT") or block.cells.get("MOUNTPOINTS")
    return None if absent(mount) else mount


def _raids(blocks: list[_Block]) -> tuple[Raid, ...]:
    found: dict[str, list[_Block]] = {}
    for block in blocks:
        if block.cells["TYPE"].startswith("raid"):
            found.setdefault(block.name, []).append(block)
    return tuple(
        Raid(
            name=name,
            level=seen[0].cells["TYPE"],
            size=seen[0].cells.get("SIZE"),
            mount=_mount(seen[0]),
            members=tuple(sorted({block.parent for block in seen if block.parent})),
        )
        for name, seen in found.items()
    )
