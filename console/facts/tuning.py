"""How the kernel and the login are set up: governor, huge pages, limits, headers, tools."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from console.facts.lines import lines, whole
from console.facts.trouble import Trouble, trouble_in

_CHOICE = re.compile(r"\[(\w+)\]")


@dataclass(frozen=True)
class Governors:
    """CPUs by frequency governor; empty where the firmware, not the kernel, decides."""

    cpus: Mapping[str, int]


@dataclass(frozen=True)
class Ulimits:
    """Soft and hard limit of open files, and of locked memory in KiB; infinity is no limit."""

    files: float
    files_hard: float
    locked_kib: float
    locked_hard_kib: float


@dataclass(frozen=True)
class Headers:
    """Kernel headers: `folder` holds those of the running kernel, null when they are missing; `others` have theirs."""

    running: str
    folder: str | None
    others: tuple[str, ...]


@dataclass(frozen=True)
class NpuUser:
    """Who the login is, its groups, and whether the user of the NPU driver exists."""

    name: str
    uid: int
    groups: tuple[str, ...]
    driver_user: bool


def parse_governors(text: str) -> Governors | Trouble:
    rows = [row.split() for row in lines(text) if row.strip()]
    if not rows or rows[0] != ["begin"]:
        return trouble_in(text)
    return Governors({row[1]: int(row[0]) for row in rows[1:] if len(row) == 2 and row[0].isdigit()})


def parse_choice(text: str) -> str | Trouble:
    """The chosen word of a kernel setting such as "always [madvise] never"."""
    match = _CHOICE.search(text)
    return match.group(1) if match else trouble_in(text)


def parse_ulimits(text: str) -> Ulimits | Trouble:
    rows = {row.split()[0]: [_amount(word) for word in row.split()[1:]] for row in lines(text) if row.split()}
    values = [*rows.get("n", []), *rows.get("l", [])]
    known = [value for value in values if value is not None]
    return Ulimits(*known) if len(known) == 4 else trouble_in(text)


def _amount(word: str) -> float | None:
    return math.inf if word == "unlimited" else whole(word)


def parse_sysctls(text: str) -> dict[str, int] | Trouble:
    """Lines `vm/swappiness=60`; the line `end=0` tells an empty answer from a cut one."""
    found = {name: whole(value) for name, sign, value in (row.partition("=") for row in lines(text)) if sign}
    if found.pop("end", None) is None:
        return trouble_in(text)
    return {name: value for name, value in found.items() if value is not None}


def parse_headers(text: str) -> Headers | Trouble:
    rows = [row.split(maxsplit=1) for row in lines(text)]
    words = [(row[0], row[1]) for row in rows if len(row) == 2]
    running = next((value for name, value in words if name == "running"), None)
    if running is None:
        return trouble_in(text)
    folder = next((value for name, value in words if name == "headers"), None)
    return Headers(running, folder, tuple(value for name, value in words if name == "other" and value != running))


def parse_names(text: str) -> frozenset[str] | Trouble:
    """One name a line behind a line `begin`."""
    words = [row.strip() for row in lines(text) if row.strip()]
    return frozenset(words[1:]) if words[:1] == ["begin"] else trouble_in(text)


def parse_npu_user(text: str) -> NpuUser | Trouble:
    rows = [row.split() for row in lines(text)]
    words = {row[0]: row[1:] for row in rows if row}
    uid = whole(next(iter(words.get("uid", [])), None))
    if uid is None or not words.get("user"):
        return trouble_in(text)
    return NpuUser(words["user"][0], uid, tuple(words.get("groups", [])), "owner" in words)
