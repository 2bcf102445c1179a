"""Whether a host has Ascend NPUs: on the PCI bus, as device files, and for npu-smi."""

import re
from dataclasses import dataclass

from console.facts.lines import clean, lines
from console.facts.npu_smi_info import NpuSmiInfo, parse_npu_smi_info
from console.facts.trouble import Trouble

VENDOR = "19e5"
_SYSFS = re.compile(r"^([0-9a-f:.]+)\s+0x([0-9a-f]{4})\s+0x([0-9a-f]{4})\s+0x([0-9a-f]{4})[0-9a-f]{2}$", re.IGNORECASE)
_LSPCI = re.compile(r"^([0-9a-f:.]+)\s.*\[([0-9a-f]{4})\]:.*\[([0-9a-f]{4}):([0-9a-f]{4})\]", re.IGNORECASE)
_NODE = re.compile(r"^(?:/dev/)?davinci(\d+)$")
_ACCELERATOR = "1200"
_CHIPS = {
    "d100": "Ascend 310",
    "d500": "Ascend 310P",
    "d801": "Ascend 910",
    "d802": "Ascend 910B (A2)",
    "d803": "Ascend 910C (A3)",
}
"""PCI device ids as the CANN 9.1.0 driver guide and public device plug-ins list them."""


@dataclass(frozen=True)
class PciNpu:
    """One processing accelerator of vendor 19e5; `chip` is null for a device id that is not known here."""

    bus_id: str
    device_id: str
    chip: str | None


@dataclass(frozen=True)
class NpuNodes:
    """Device files under /dev: numbers of davinci<N>, and whether the manager's file is there."""

    numbers: tuple[int, ...]
    manager: bool


@dataclass(frozen=True)
class NpuTool:
    """npu-smi: not installed, or what it said, or its trouble."""

    installed: bool
    info: NpuSmiInfo | None = None
    trouble: Trouble | None = None


def parse_npu_pci(text: str) -> tuple[PciNpu, ...]:
    """From /sys (`<bus> <vendor> <device> <class>`) or `lspci -Dnn`; none is an answer too."""
    found = []
    for row in lines(text):
        if match := _SYSFS.match(row.strip()):
            bus, vendor, device, kind = match.groups()
        elif match := _LSPCI.match(row.strip()):
            bus, kind, vendor, device = match.groups()
        else:
            continue
        if vendor.lower() == VENDOR and (kind == _ACCELERATOR or device.lower() in _CHIPS):
            found.append(PciNpu(bus, device.lower(), _CHIPS.get(device.lower())))
    return tuple(found)


def parse_npu_nodes(text: str) -> NpuNodes:
    """From a list of names below /dev."""
    words = clean(text).split()
    numbers = sorted({int(match.group(1)) for word in words if (match := _NODE.match(word))})
    return NpuNodes(tuple(numbers), any(word.endswith("davinci_manager") for word in words))


def parse_npu_tool(text: str) -> NpuTool:
    if clean(text).strip() == "absent":
        return NpuTool(installed=False)
    found = parse_npu_smi_info(text)
    return NpuTool(True, trouble=found) if isinstance(found, Trouble) else NpuTool(True, info=found)
