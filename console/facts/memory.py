"""Memory of a host: /proc/meminfo for numbers, `free` for what it shows."""

import re
from dataclasses import dataclass, replace

from console.facts.lines import Fields, absent, lines, pairs
from console.facts.trouble import Trouble, trouble_in

_MEM_ROW = re.compile(r"^\s*(?:Mem|内存)\s*[:：]\s*", re.IGNORECASE)
_SWAP_ROW = re.compile(r"^\s*(?:Swap|交换)\s*[:：]\s*", re.IGNORECASE)
_COLUMNS = {
    "total": "total",
    "used": "used",
    "free": "free",
    "available": "available",
    "总计": "total",
    "已用": "used",
    "空闲": "free",
    "可用": "available",
}


@dataclass(frozen=True)
class Meminfo:
    """/proc/meminfo; kB as the kernel prints them are KiB."""

    mem_total_kb: int | None
    mem_free_kb: int | None
    mem_available_kb: int | None
    swap_total_kb: int | None
    swap_free_kb: int | None
    hugepages_total: int | None
    hugepages_free: int | None
    hugepage_kb: int | None
    unread: tuple[str, ...] = ()
    status: str = "ok"


@dataclass(frozen=True)
class Free:
    """Output of `free`, as printed: with -h the values are rounded and carry their unit."""

    mem_total: str | None
    mem_used: str | None
    mem_free: str | None
    mem_available: str | None
    swap_total: str | None
    swap_used: str | None
    swap_free: str | None
    status: str = "ok"


def parse_meminfo(text: str) -> Meminfo | Trouble:
    """Values of /proc/meminfo. A size without its unit was cut and counts as not there."""
    fields = Fields.of(pairs(lines(text)))
    if not any(key in fields for key in ("MemTotal", "MemFree", "MemAvailable", "SwapTotal", "HugePages_Total")):
        return trouble_in(text)
    found = Meminfo(
        mem_total_kb=_kilobytes(fields, "MemTotal"),
        mem_free_kb=_kilobytes(fields, "MemFree"),
        mem_available_kb=_kilobytes(fields, "MemAvailable"),
        swap_total_kb=_kilobytes(fields, "SwapTotal"),
        swap_free_kb=_kilobytes(fields, "SwapFree"),
        hugepages_total=fields.whole("HugePages_Total"),
        hugepages_free=fields.whole("HugePages_Free"),
        hugepage_kb=_kilobytes(fields, "Hugepagesize"),
    )
    return replace(found, unread=tuple(fields.unread))


def _kilobytes(fields: Fields, key: str) -> int | None:
    words = fields.words(key)
    if words is None:
        return None
    match = re.fullmatch(r"(\d+)\s*kB", words, re.IGNORECASE)
    if match is None:
        fields.unread.append(f"{key}: {words}")
    return int(match.group(1)) if match else None


def parse_free(text: str) -> Free | Trouble:
    """Rows and columns of `free`, found by their names."""
    columns: list[str] = []
    mem: list[str] = []
    swap: list[str] = []
    for row in lines(text):
        words = row.split()
        if not columns and words and words[0] in ("total", "总计"):
            columns = words
        elif match := _MEM_ROW.match(row):
            mem = mem or row[match.end() :].split()
        elif match := _SWAP_ROW.match(row):
            swap = swap or row[match.end() :].split()
    if not columns or not (mem or swap):
        return trouble_in(text)
    memory, exchange = _by_column(columns, mem), _by_column(columns, swap)
    return Free(
        mem_total=memory.get("total"),
        mem_used=memory.get("used"),
        mem_free=memory.get("free"),
        mem_available=memory.get("available"),
        swap_total=exchange.get("total"),
        swap_used=exchange.get("used"),
        swap_free=exchange.get("free"),
    )


def _by_column(columns: list[str], words: list[str]) -> dict[str, str]:
    named = zip(columns, words, strict=False)
    return {_COLUMNS[column]: word for column, word in named if column in _COLUMNS and not absent(word)}
