"""Small values of facts, from which single checks are asked, and the question itself."""

import math
from typing import Any

from console.catalog.profiles import profile
from console.checks import CHECKS, Level
from console.checks.check import Verdict, judge_one
from console.facts.cards import parse_cards, parse_ports
from console.facts.disks import Disk, Raid
from console.facts.dmidecode import Dmi
from console.facts.lscpu import Lscpu
from console.facts.memory import Meminfo
from console.facts.nics import Ethtool, Hca, RdmaPort
from console.facts.npu_presence import NpuNodes, NpuTool, PciNpu
from console.facts.npu_smi_info import NpuSmiInfo
from console.facts.npu_smi_reading import Device, Process
from console.facts.npu_smi_topo import Topology
from console.facts.os_release import OsRelease
from console.facts.probe import Facts
from console.facts.rooms import NumaNode, Room
from console.facts.tuning import Ulimits
from console.facts.versions import VersionFile
from console.text import render

SMALL = profile("ascend-reference")
PASS, WARN, FAIL, UNKNOWN = Level.PASS, Level.WARN, Level.FAIL, Level.UNKNOWN
GIB = 2**30
Values = dict[str, Any]


def device(npu: int, **values: Any) -> Device:
    own = {"chip": 0, "name": "910B4", "health": "OK", "power_w": 88.0, "temp_c": 31.0, "aicore_pct": 0.0}
    bus = {"bus_id": f"0000:C{npu + 1}:00.0", "hbm_used_mb": 2000, "hbm_total_mb": 32768}
    return Device(npu, **{**own, **bus, **values})


def tool(*devices: Device, processes: tuple[Process, ...] = (), **values: Any) -> NpuTool:
    given = {"status": "ok", "tool_version": "25.5.1", "driver_version": "25.5.1", "idle_npus": (), **values}
    info = NpuSmiInfo(devices=devices, processes=processes, **{"process_table": "present", **given})
    return NpuTool(True, info)


def pci(*bus: str, device_id: str = "d802") -> tuple[PciNpu, ...]:
    return tuple(PciNpu(f"0000:{one}:00.0", device_id, None) for one in bus)


def room(name: str, gib: float) -> dict[str, Room]:
    return {name: Room(name, "/at", "/at", True, int(gib * GIB), 100 * GIB, "/dev/sda1", "/")}


def ecc(**counts: int) -> Any:
    words = {"single": "HBM Single Bit Error Count", "double": "HBM Double Bit Error Count"}
    total = {"total": "HBM Double Bit Aggregate Total Err Cnt"}
    rows = "\n".join(f"{label} : {counts.get(name, 0)}" for name, label in {**words, **total}.items())
    return parse_cards("ecc")(f"== card 0\nNPU ID : 0\n{rows}\nChip ID : 0\n")


def ports(*words: str) -> Any:
    return parse_ports("".join(f"== card {card}\n{text}\n" for card, text in enumerate(words)))


def numa(*totals: int) -> tuple[NumaNode, ...]:
    return tuple(NumaNode(node, f"{32 * node}-{32 * node + 31}", total, None) for node, total in enumerate(totals))


def dmi(**values: Any) -> Dmi:
    own = {"slots_declared": 16, "dimms": 2, "empty": 0, "total_gb": 32, "speed_mts": 2933, "type": "DDR4"}
    more = {"speeds": (2933,), "manufacturer": None, "product": None, "correction": "Multi-bit ECC"}
    return Dmi(**{**own, **more, **values})


ONE, TWO = device(0), device(1)
TOPO = Topology(2, (0, 1), {"PHB": 2}, {}, {"0": "0-31", "1": "32-63"})
CANN = VersionFile(version="9.1.0", arch="aarch64")
INSIDE = "0f3c" * 16
PACKAGES = "vllm==0.23.0\nvllm-ascend==0.23.0\ntorch==2.10.0\ntorch-npu==2.10.0.post4\n"
RAID = Raid("md0", "raid0", "3.7T", "/data", ("nvme0n1", "nvme1n1"))
NVME = (Disk("/dev/nvme0n1", None, "2T"), Disk("/dev/nvme1n1", None, "2T"))
NIC = Ethtool("eth0", 25000, "Full", True, True, "FIBRE")
HCA = Hca("hns_0", None, (RdmaPort(1, "PORT_ACTIVE", 1024, "Ethernet"),))
LIMITS = Ulimits(1024, 524288, math.inf, math.inf)
UBUNTU = OsRelease("ubuntu", "debian", "Ubuntu", "22.04", "22.04", "jammy", "Ubuntu 22.04.5 LTS", None)
KYLIN = OsRelease("kylin", None, "Kylin", "V10", "V10", None, "Kylin V10", None)
KUNPENG = Lscpu(sockets=1, cores_per_socket=64, threads_per_core=1, model="Kunpeng-920", max_mhz=2600.0)
MEM = Meminfo(512 * 2**20, None, None, None, None, 0, 0, 2048)
UP = "link status: UP"
NO_NPU_SMI = NpuTool(False)


USUAL: Values = {"npu_pci": (), "npu_nodes": NpuNodes((0, 1), True), "arch": "aarch64"}
"""Given to every check unless the case says otherwise."""


def verdict_of(name: str, values: Values, profile_id: str = SMALL.id) -> Verdict:
    return judge_one(CHECKS[name], Facts({**USUAL, **values}), profile(profile_id)).verdict


def assert_case(name: str, level: Level, values: Values, words: str) -> None:
    """The check ends at this level, says these words, has a fix unless it passes, and leaves no value open."""
    verdict = verdict_of(name, values)
    seen = render(verdict.seen, "en")
    assert (verdict.level, words in seen) == (level, True), seen
    assert (verdict.fix is None) == (level is Level.PASS)
    for text in (verdict.seen, verdict.wanted, verdict.fix):
        assert text is None or "{" not in render(text, "en")
