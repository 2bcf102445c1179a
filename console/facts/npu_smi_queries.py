"""Answers of `npu-smi info -t ...` that are `key : value` lines: board, common, ecc, health, memory, power, usages."""

import re
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass

from console.facts.lines import Fields, absent, key_of, lines, pairs
from console.facts.trouble import Trouble, trouble_in

Reader = Callable[[Fields], dict[str, object]]
_COMMON_KEYS = frozenset({"npuid", "chipcount"})


@dataclass(frozen=True)
class Answer:
    """What one query said. `values` are those of the first chip, `chips` those of each chip the text lists."""

    kind: str
    values: dict[str, object]
    chips: tuple[dict[str, object], ...]
    unread: tuple[str, ...] = ()
    status: str = "ok"


def parse_query(kind: str, text: str) -> Answer | Trouble:
    """The answer of kind "board", "common", "ecc", "health", "memory", "power" or "usages" in `text`."""
    read, marks = _READERS[kind]
    blocks = [
        block for block in _blocks(pairs(lines(text)), {*marks, "chipid"}) if any(mark in block for mark in marks)
    ]
    if not blocks:
        return trouble_in(text)
    chips = tuple({"npu": block.whole("NPU ID"), "chip": block.whole("Chip ID"), **read(block)} for block in blocks)
    return Answer(kind, chips[0], chips, tuple(line for block in blocks for line in block.unread))


def _blocks(triples: Iterable[tuple[str, str, str]], marks: Set[str]) -> list[Fields]:
    """One block per chip: a mark that comes again begins the next; the NPU's id holds until another one comes.

    Some drivers print the chip's id last, some first.
    """
    shared: dict[str, tuple[str, str]] = {}
    blocks: list[dict[str, tuple[str, str]]] = [{}]
    for key, value, line in triples:
        if key == "npuid" and "npuid" in shared:
            shared = {}
            blocks.append({})
        elif key in marks and key in blocks[-1]:
            blocks.append(dict(shared))
        if key in _COMMON_KEYS:
            shared[key] = (value, line)
        blocks[-1].setdefault(key, (value, line))
    return [Fields(block) for block in blocks]


def _memory(block: Fields) -> dict[str, object]:
    return {
        "ddr_total_mb": block.whole("DDR Capacity(MB)"),
        "ddr_clock_mhz": block.whole("DDR Clock Speed(MHz)"),
        "hbm_total_mb": block.whole("HBM Capacity(MB)"),
        "hbm_clock_mhz": block.whole("HBM Clock Speed(MHz)"),
        "hbm_temp_c": block.number("HBM Temperature(C)"),
        "hbm_manufacturer": block.words("HBM Manufacturer ID"),
    }


def _usages(block: Fields) -> dict[str, object]:
    return {
        "ddr_total_mb": block.whole("DDR Capacity(MB)", "Memory Capacity(MB)"),
        "ddr_pct": block.number("DDR Usage Rate(%)", "Memory Usage Rate(%)"),
        "hugepages_total": block.whole("DDR Hugepages Total(page)"),
        "hugepages_pct": block.number("DDR Hugepages Usage Rate(%)"),
        "hbm_total_mb": block.whole("HBM Capacity(MB)"),
        "hbm_pct": block.number("HBM Usage Rate(%)"),
        "aicore_pct": block.number("Aicore Usage Rate(%)", "AI Core Usage Rate(%)", "NPU Utilization(%)"),
        "aivector_pct": block.number("Aivector Usage Rate(%)"),
        "aicpu_pct": block.number("Aicpu Usage Rate(%)"),
        "ctrlcpu_pct": block.number("Ctrlcpu Usage Rate(%)"),
        "ddr_bandwidth_pct": block.number("DDR Bandwidth Usage Rate(%)", "Memory Bandwidth Usage Rate(%)"),
        "hbm_bandwidth_pct": block.number("HBM Bandwidth Usage Rate(%)"),
    }


def _power(block: Fields) -> dict[str, object]:
    return {"power_w": block.number("NPU Real-time Power(W)", "Power Dissipation(W)", "Power(W)")}


def _common(block: Fields) -> dict[str, object]:
    return {
        "mem_pct": block.number("Memory Usage Rate(%)", "DDR Usage Rate(%)"),
        "hbm_pct": block.number("HBM Usage Rate(%)"),
        "aicore_pct": block.number("Aicore Usage Rate(%)", "AI Core Usage Rate(%)"),
        "aicore_freq_mhz": block.number("Aicore Freq(MHZ)", "AI Core Freq(MHZ)"),
        "aicore_cur_freq_mhz": block.number("Aicore curFreq(MHZ)"),
        "aicore_count": block.whole("Aicore Count"),
        "temp_c": block.number("Temperature(C)", "NPU Temperature(C)"),
        **_power(block),
    }


def _health(block: Fields) -> dict[str, object]:
    codes = block.values["errorcode"][0].strip(" []") if "Error Code" in block else None
    return {
        "health": block.words("Health", "Health Status"),
        "error_codes": None if codes is None else [] if absent(codes) else re.split(r"[\s,;]+", codes),
        "error_information": block.words("Error Information"),
    }


def _ecc(block: Fields) -> dict[str, object]:
    found: dict[str, object] = {}
    for memory in ("DDR", "HBM"):
        for bits in ("Single", "Double"):
            name = f"{memory}_{bits}_bit".lower()
            found[name] = block.whole(f"{memory} {bits} Bit Error Count")
            found[f"{name}_total"] = block.whole(f"{memory} {bits} Bit Aggregate Total Err Cnt")
            found[f"{name}_isolated_pages"] = block.whole(f"{memory} {bits} Bit Isolated Pages Count")
    return found


def _board(block: Fields) -> dict[str, object]:
    return {
        "product": block.words("Product Name"),
        "npu_name": block.words("NPU Name"),
        "chip_type": block.words("Chip Type"),
        "chip_name": block.words("Chip Name"),
        "software": block.words("Software Version"),
        "firmware": block.words("Firmware Version"),
        "compatibility": block.words("Compatibility"),
        "board_id": block.words("Board ID"),
        "bus_id": block.words("PCIe Bus Info"),
        "slot": block.whole("Slot ID"),
        "pci_vendor_id": block.words("PCI Vendor ID"),
        "pci_device_id": block.words("PCI Device ID"),
        "chip_count": block.whole("Chip Count"),
    }


def _marks(*labels: str) -> tuple[str, ...]:
    return tuple(key_of(label) for label in labels)


_READERS: dict[str, tuple[Reader, tuple[str, ...]]] = {
    "board": (_board, _marks("Software Version", "Firmware Version", "Chip Name", "Board ID", "PCIe Bus Info")),
    "common": (_common, _marks("Aicore Usage Rate(%)", "HBM Usage Rate(%)", "Temperature(C)", "Memory Usage Rate(%)")),
    "ecc": (
        _ecc,
        _marks(
            "HBM Double Bit Error Count",
            "HBM Single Bit Error Count",
            "DDR Double Bit Error Count",
            "DDR Single Bit Error Count",
        ),
    ),
    "health": (_health, _marks("Health", "Health Status", "Error Code")),
    "memory": (_memory, _marks("DDR Capacity(MB)", "HBM Capacity(MB)", "HBM Temperature(C)")),
    "power": (_power, _marks("NPU Real-time Power(W)", "Power Dissipation(W)", "Power(W)")),
    "usages": (
        _usages,
        _marks(
            "HBM Usage Rate(%)",
            "DDR Usage Rate(%)",
            "Memory Usage Rate(%)",
            "HBM Capacity(MB)",
            "DDR Capacity(MB)",
            "Aicore Usage Rate(%)",
        ),
    ),
}
