"""Lists of NPUs: `npu-smi info -l`, `-m` and `watch`."""

import re
from dataclasses import dataclass

from console.facts.lines import Fields, Number, absent, key_of, lines, number, pairs, whole
from console.facts.trouble import Trouble, trouble_in


@dataclass(frozen=True)
class ListedNpu:
    """One NPU of `npu-smi info -l`; its serial number is not kept."""

    npu: int
    product: str | None
    chips: int | None


@dataclass(frozen=True)
class NpuList:
    """`total` is what the tool says, which may be more than the NPUs a cut output lists."""

    total: int | None
    npus: tuple[ListedNpu, ...]
    status: str = "ok"


@dataclass(frozen=True)
class MappedChip:
    """One compute chip of `npu-smi info -m`."""

    npu: int
    chip: int | None
    slot: int | None
    logic_id: int | None
    phy_id: int | None
    name: str | None


@dataclass(frozen=True)
class Mapping:
    """Compute chips; rows of the management controller (Mcu) are left out."""

    chips: tuple[MappedChip, ...]
    unread: tuple[str, ...] = ()
    status: str = "ok"


@dataclass(frozen=True)
class WatchRow:
    """One line of `npu-smi info watch`."""

    npu: int | None
    chip: int | None
    power_w: Number | None
    temp_c: Number | None
    aicore_pct: Number | None
    aicpu_pct: Number | None
    ctrl_cpu_pct: Number | None
    mem_pct: Number | None
    mem_bandwidth_pct: Number | None
    npu_util_pct: Number | None
    aicube_pct: Number | None


@dataclass(frozen=True)
class Watch:
    """All complete lines; `samples` is their number."""

    samples: int
    first: WatchRow | None
    last: WatchRow | None
    rows: tuple[WatchRow, ...]
    unread: tuple[str, ...] = ()
    status: str = "ok"


def parse_npu_list(text: str) -> NpuList | Trouble:
    """NPUs of `npu-smi info -l`; each begins with its id."""
    total: int | None = None
    blocks: list[dict[str, tuple[str, str]]] = []
    for key, value, line in pairs(lines(text)):
        if key in ("totalcount", "cardcount"):
            total = whole(value)
        elif key in ("npuid", "cardid"):
            blocks.append({"npuid": (value, line)})
        elif blocks:
            blocks[-1].setdefault(key, (value, line))
    npus = []
    for block in map(Fields, blocks):
        npu = block.whole("NPU ID")
        if npu is not None:
            npus.append(ListedNpu(npu, block.words("Product Name"), block.whole("Chip Count")))
    if total is None and not npus:
        return trouble_in(text)
    return NpuList(total, tuple(npus), status="ok" if total in (None, len(npus)) else "partial")


_COLUMN = re.compile(
    r"NPU\s*ID|Slot\s*ID|Chip\s*Logic\s*ID|Chip\s*Phy-?\s*ID|Chip\s*ID|Logic\s*ID|Phy-?\s*ID|Chip\s*Name|\S+",
    re.IGNORECASE,
)


def parse_mapping(text: str) -> Mapping | Trouble:
    """Chips of `npu-smi info -m`; the last column, the name, may hold blanks."""
    columns: list[str] = []
    chips: list[MappedChip] = []
    unread: list[str] = []
    for row in lines(text):
        if "npuid" in key_of(row):
            columns = [key_of(label) for label in _COLUMN.findall(row)]
        elif columns and row.split() and whole(row.split()[0]) is not None:
            chip = _mapped(columns, row)
            unread.extend([row.strip()] if chip is None else [])
            chips.extend([chip] if chip else [])
    if not columns:
        return trouble_in(text)
    compute = tuple(chip for chip in chips if (chip.name or "").lower() != "mcu")
    return Mapping(compute, tuple(unread), status="ok" if compute and not unread else "partial")


def _mapped(columns: list[str], row: str) -> MappedChip | None:
    words = row.split(maxsplit=len(columns) - 1)
    by_column = dict(zip(columns, words, strict=False))
    npu = whole(by_column.get("npuid"))
    if npu is None or len(words) < len(columns):
        return None
    name = by_column.get("chipname")
    return MappedChip(
        npu=npu,
        chip=whole(by_column.get("chipid")),
        slot=whole(by_column.get("slotid")),
        logic_id=whole(by_column.get("chiplogicid") or by_column.get("logicid")),
        phy_id=whole(by_column.get("chipphyid") or by_column.get("phyid")),
        name=None if absent(name) else name,
    )


_WATCH_COLUMNS = {
    "npuid(idx)": "npu",
    "chipid(idx)": "chip",
    "pwr(w)": "power_w",
    "temp(c)": "temp_c",
    "aicore(%)": "aicore_pct",
    "aicpu(%)": "aicpu_pct",
    "ctrlcpu(%)": "ctrl_cpu_pct",
    "memory(%)": "mem_pct",
    "memorybw(%)": "mem_bandwidth_pct",
    "npuutil(%)": "npu_util_pct",
    "aicube(%)": "aicube_pct",
}
_WATCH_COLUMN = re.compile(r"[A-Za-z][A-Za-z ]*?\s*\([^)]*\)")


def parse_watch(text: str) -> Watch | Trouble:
    """Lines of `npu-smi info watch`, by the names in its header, which may come again every few lines."""
    columns: list[str] = []
    rows: list[WatchRow] = []
    unread: list[str] = []
    for line in lines(text):
        found = [key_of(label) for label in _WATCH_COLUMN.findall(line)]
        words = line.split()
        if "npuid(idx)" in found:
            columns = found
        elif columns and words and (number(words[0]) is not None):
            is_row = len(words) == len(columns) and all(absent(word) or number(word) is not None for word in words)
            rows.extend([_watched(columns, words)] if is_row else [])
            unread.extend([] if is_row else [line.strip()])
    if not columns:
        return trouble_in(text)
    first, last = (rows[0], rows[-1]) if rows else (None, None)
    return Watch(len(rows), first, last, tuple(rows), tuple(unread), status="ok" if rows else "partial")


def _watched(columns: list[str], words: list[str]) -> WatchRow:
    values: dict[str, Number | None] = dict.fromkeys(_WATCH_COLUMNS.values())
    for column, word in zip(columns, words, strict=True):
        if column in _WATCH_COLUMNS:
            values[_WATCH_COLUMNS[column]] = number(word)
    return WatchRow(**values)  # type: ignore[arg-type]
