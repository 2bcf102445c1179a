"""`df`: the room on the scenario's disks. What is really written, and what installers claim to have written, counts."""
# ruff: noqa: PTH100, PTH110
# Without pathlib: see the module place.

from __future__ import annotations

import os
from types import SimpleNamespace

from pretend import place

GIB = 2**30
CLAIMS = "room"
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "B": 1}


class Mount(SimpleNamespace):
    """One file system, in bytes."""

    device: str
    kind: str
    at: str
    total: int
    used: int

    @property
    def free(self) -> int:
        return max(0, self.total - self.used)


def mounts() -> list[Mount]:
    kept = place.read(CLAIMS)
    found = []
    for one in place.scenario()["mounts"]:
        grown = max(0, _really_used(one["at"]) - int(kept.get("before", {}).get(one["at"], 0)))
        claimed = sum(size for where, size in kept.get("claims", {}).values() if where == one["at"])
        used = round(one["used_gib"] * GIB) + grown + claimed
        total = round(one["total_gib"] * GIB)
        found.append(Mount(device=one["device"], kind=one.get("type", "ext4"), at=one["at"], total=total, used=used))
    return found


def _really_used(path: str) -> int:
    try:
        state = os.statvfs(place.where(path))
    except OSError:
        return 0
    return (state.f_blocks - state.f_bfree) * state.f_frsize


def begin() -> None:
    """Remember how full the machine's own disks were, so that only what comes later counts."""
    with place.changing(CLAIMS) as kept:
        kept.setdefault("before", {one["at"]: _really_used(one["at"]) for one in place.scenario()["mounts"]})


def of(path: str) -> Mount:
    """The file system that a path is on."""
    own = os.path.abspath(path)
    return max((one for one in mounts() if _within(own, one.at)), key=lambda one: len(one.at))


def _within(path: str, folder: str) -> bool:
    return folder == "/" or path == folder or path.startswith(folder + "/")


def claim(name: str, path: str, size: int) -> None:
    """Count an installed package as so many bytes on the file system of `path`; 0 gives them back."""
    where = of(path).at
    with place.changing(CLAIMS) as kept:
        claims = kept.setdefault("claims", {})
        claims.pop(name, None)
        if size:
            claims[name] = [where, size]


def main(name: str, words: list[str]) -> int:
    asked, paths, unit, human, kind = [], [], 1024, 0, False
    for word in words:
        if word in ("-h", "--human-readable", "-H"):
            human = 1024
        elif word in ("-T", "--print-type"):
            kind = True
        elif word in ("-P", "-k", "-l", "-a", "--portability", "-Pk", "-PT", "-hT", "-Th", "-Ph", "-hP"):
            human, kind = human or 1024 * ("h" in word[1:] and word[1] != "-"), kind or "T" in word
        elif (size := word.removeprefix("-P").removeprefix("-")).startswith("B") or word.startswith("--block-size="):
            unit = _unit(size.removeprefix("B").removeprefix("-block-size="))
        elif word.startswith("--output="):
            asked = word.partition("=")[2].split(",")
        elif word.startswith("-"):
            return place.become(name, words)
        else:
            paths.append(word)
    return _print(paths, unit, human, asked or _columns(kind))


def _unit(word: str) -> int:
    return int(word) if word.isdigit() else UNITS.get(word[:1].upper(), 1024)


def _columns(kind: bool) -> list[str]:
    return ["source", *(["fstype"] if kind else []), "size", "used", "avail", "pcent", "target"]


def _print(paths: list[str], unit: int, human: int, columns: list[str]) -> int:
    missing = [path for path in paths if not os.path.exists(path)]
    for path in missing:
        print(f"df: {path}: No such file or directory", flush=True)
    found = [of(path) for path in paths if path not in missing] if paths else mounts()
    size = "Size" if human else {1: "1-blocks", 1024: "1024-blocks"}.get(unit, f"{unit}-blocks")
    titles = {"source": "Filesystem", "fstype": "Type", "size": size, "used": "Used", "avail": "Available",
              "pcent": "Capacity", "target": "Mounted on"}  # fmt: skip
    rows = [[titles.get(column, column) for column in columns]]
    rows += [[_cell(one, column, unit, human) for column in columns] for one in found]
    widths = [max(len(row[index]) for row in rows) for index in range(len(columns))]
    for row in rows:
        print(" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 1 if missing else 0


def _cell(one: Mount, column: str, unit: int, human: int) -> str:
    sizes = {"size": one.total, "used": min(one.used, one.total), "avail": one.free}
    if column in sizes:
        return _human(sizes[column]) if human else str(-(-sizes[column] // unit))
    pcent = f"{-(-100 * min(one.used, one.total) // one.total)}%"
    return {"source": one.device, "fstype": one.kind, "pcent": pcent, "target": one.at}.get(column, "-")


def _human(size: float) -> str:
    for sign in ("", "K", "M", "G"):
        if size < 1024:
            return f"{size:.1f}{sign}" if sign and size < 10 else f"{round(size)}{sign}"
        size /= 1024
    return f"{size:.1f}T"
