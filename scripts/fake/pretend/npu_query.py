"""The answers of `npu-smi info -l`, `-m`, `-t ...` and `watch`, as lines."""

from __future__ import annotations

from pretend import place
from pretend.cards import Chip

LEGEND = """
Legend:

  X    = Self
  SYS  = Path traversing PCIe and NUMA nodes. Nodes are connected through SMP, such as QPI, UPI.
  PHB  = Path traversing PCIe and the PCIe host bridge of a CPU.
  PIX  = Path traversing a single PCIe switch
  PXB  = Path traversing multipul PCIe switches
  HCCS = Connection traversing HCCS.
  SIO  = Path traversing the SIO bus
  HCCS_SW = Connection traversing HCCS through a switch
  NA   = Unknown relationship."""

Pair = tuple[str, object]


def lines(pairs: list[Pair], width: int = 31) -> str:
    return "\n".join(f"\t{name:<{width}}: {value}" if name else "" for name, value in pairs)


def listing(chips: list[Chip]) -> str:
    npus = list(dict.fromkeys(one.npu for one in chips))
    pairs: list[Pair] = [("Total Count", len(npus))]
    for npu in npus:
        pairs += [("", ""), ("NPU ID", npu), ("Chip Count", sum(1 for one in chips if one.npu == npu))]
    return lines(pairs)


def mapping(chips: list[Chip], has_dies: bool) -> str:
    """Each NPU's management controller comes last, as a chip without a logic id."""
    titles = ["NPU ID", "Chip ID", "Chip Logic ID", *(["Chip Phy-ID"] if has_dies else []), "Chip Name"]
    rows = [titles]
    for npu in dict.fromkeys(one.npu for one in chips):
        own = [one for one in chips if one.npu == npu]
        for one in own:
            name = one.name if one.name.startswith("Ascend") else f"Ascend {one.name}"
            rows.append([str(npu), str(one.chip), str(one.node), *([str(one.node)] if has_dies else []), name])
        rows.append([str(npu), str(len(own)), "-", *(["-"] if has_dies else []), "Mcu"])
    return "\n".join("\t" + "".join(f"{cell:<31}" for cell in row[:-1]) + f"{row[-1]:<30}" for row in rows)


def topology(played: place.Data, chips: list[Chip]) -> str:
    """The links between chips, and on single-die cards the cores near each."""
    has_dies = played["chip"].get("dies", 1) > 1
    names = [f"Phy-ID{one.node}" if has_dies else f"NPU{one.npu}" for one in chips]
    near = ["" if has_dies else _near(played, one) for one in chips]
    rows = ["".join(f"{cell:<11}" for cell in ["", *names]) + ("" if has_dies else "CPU Affinity")]
    for one, name, cpus in zip(chips, names, near, strict=True):
        cells = [name, *(_link(played, one, other) for other in chips)]
        rows.append(("".join(f"{cell:<11}" for cell in cells) + cpus).rstrip())
    return "\n".join(rows) + "\n" + LEGEND


def _link(played: place.Data, one: Chip, other: Chip) -> str:
    if one.node == other.node:
        return "X"
    return "SIO" if one.npu == other.npu else str(played["chip"]["link"])


def _near(played: place.Data, one: Chip) -> str:
    cpu = played["cpu"]
    nodes, cores = cpu["numa_nodes"], cpu["sockets"] * cpu["cores_per_socket"]
    size = cores // nodes
    node = next(card["numa"] for card in played["cards"] if card["npu"] == one.npu)
    return f"{node * size}-{node * size + size - 1}"


def board(played: place.Data, versions: place.Data, one: Chip, count: int) -> list[Pair]:
    return [
        ("NPU ID", one.npu), ("Product Name", played["chip"].get("product", "NA")), ("Model", "NA"),
        ("Manufacturer", "Huawei"), ("Serial Number", f"SN{one.npu:014d}"),
        ("Software Version", versions["running"]), ("Firmware Version", versions["running_firmware"]),
        ("Compatibility", "OK"), ("Board ID", played["chip"]["board"]), ("PCB ID", "A"), ("BOM ID", 1),
        ("PCIe Bus Info", one.bus), ("Slot ID", one.npu), ("Class ID", "NA"), ("PCI Vendor ID", "0x19E5"),
        ("PCI Device ID", f"0x{played['chip']['pci'].upper()}"), ("Subsystem Vendor ID", "0x19E5"),
        ("Subsystem Device ID", "0x4000"), ("Chip Count", count),
    ]  # fmt: skip


def board_of_chip(played: place.Data, versions: place.Data, one: Chip) -> list[Pair]:
    kind = played["chip"]
    return [
        ("NPU ID", one.npu), ("Chip ID", one.chip), ("Chip Type", kind.get("type", "Ascend")),
        ("Chip Name", kind["name"]), ("Chip Version", "V1"),
        *([("NPU Name", kind["npu_name"])] if "npu_name" in kind else []),
        ("Board ID", kind["board"]), ("PCB ID", "NA"), ("BOM ID", 1),
        ("VDie ID", f"{one.node:08X} 20B03704 4A10C8D4 14CC040A D2102003"), ("NDie ID", "NA"),
        ("Chip Position ID", one.chip), ("PCIe Bus Info", one.bus), ("Firmware Version", versions["running_firmware"]),
    ]  # fmt: skip


def common(played: place.Data, one: Chip) -> list[Pair]:
    full = played["chip"]["mhz"]
    return [
        ("Memory Usage Rate(%)", 0), ("HBM Usage Rate(%)", one.hbm_pct), ("Aicore Usage Rate(%)", one.aicore_pct),
        ("Aicore Freq(MHZ)", full), ("Aicore curFreq(MHZ)", full if one.aicore_pct else played["chip"]["mhz_idle"]),
        ("Aicore Count", played["chip"]["aicores"]), ("Temperature(C)", one.temp_c),
    ]  # fmt: skip


def ecc(one: Chip, counts: place.Data) -> list[Pair]:
    pairs: list[Pair] = []
    for memory in ("DDR", "HBM"):
        for name in ("Bit Error Count", "Bit Aggregate Total Err Cnt", "Bit Isolated Pages Count"):
            for bits in ("Single", "Double"):
                label = f"{memory} {bits} {name}"
                pairs.append((label, counts.get(label, 0)))
    return [*pairs, ("Chip ID", one.chip)]


def health(one: Chip) -> list[Pair]:
    return [("Health", one.health), ("Error Code", one.code), ("Error Information", one.words)]


def memory(one: Chip, played: place.Data) -> list[Pair]:
    return [
        ("DDR Capacity(MB)", 0), ("DDR Clock Speed(MHz)", 0), ("HBM Capacity(MB)", one.hbm_total_mb),
        ("HBM Clock Speed(MHz)", played["chip"]["hbm_mhz"]), ("HBM Temperature(C)", one.temp_c + 2),
        ("HBM Manufacturer ID", "0x57"),
    ]  # fmt: skip


def power(one: Chip) -> list[Pair]:
    return [("NPU Real-time Power(W)", "NA" if one.power_w is None else one.power_w)]


def usages(one: Chip) -> list[Pair]:
    return [
        ("DDR Capacity(MB)", 0), ("DDR Usage Rate(%)", 0), ("DDR Hugepages Total(page)", 0),
        ("DDR Hugepages Usage Rate(%)", 0), ("HBM Capacity(MB)", one.hbm_total_mb), ("HBM Usage Rate(%)", one.hbm_pct),
        ("Aicore Usage Rate(%)", one.aicore_pct), ("Aivector Usage Rate(%)", one.aicore_pct * 2 // 3),
        ("Aicpu Usage Rate(%)", 0), ("Ctrlcpu Usage Rate(%)", 1), ("DDR Bandwidth Usage Rate(%)", 0),
        ("HBM Bandwidth Usage Rate(%)", one.aicore_pct // 2), ("Chip ID", one.chip),
    ]  # fmt: skip


def watch_head() -> str:
    names = ("NpuID(Idx)", "ChipId(Idx)", "Pwr(W)", "Temp(C)", "AI Core(%)", "AI Cpu(%)", "Ctrl Cpu(%)", "Memory(%)")
    return "".join(f"{name:<12}" for name in names) + "Memory BW(%)"


def watch_row(one: Chip) -> str:
    power_w = "NA" if one.power_w is None else f"{one.power_w:.1f}"
    figures = (one.npu, one.chip, power_w, one.temp_c, one.aicore_pct, 0, 1, one.hbm_pct, one.aicore_pct // 2)
    return "".join(f"{figure!s:<12}" for figure in figures)
