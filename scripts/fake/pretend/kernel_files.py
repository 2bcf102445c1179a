"""Files of the kernel as the scenario has them, and where they have to be bound over the machine's own."""

import subprocess
from pathlib import Path

from pretend import devices, place, processor

PROC = f"{place.RUN}/proc"
SYS = f"{place.RUN}/kernel"
FILES = ("meminfo", "cpuinfo", "version")
"""Of /proc; whoever keeps the host binds them, or --bind does."""
CACHED = ("Active(file)", "Inactive(file)", "SReclaimable")
"""What engines count as available besides."""
FOLDERS = ("bus/pci/devices", "class/net", "devices/system/node")
"""Of /sys; one that this kernel does not have is left out, and programs answer in its place."""


def write(played: place.Data) -> None:
    place.put(f"{PROC}/meminfo", processor.meminfo(played))
    place.put(f"{PROC}/cpuinfo", processor.cpuinfo(played))
    kernel = played["kernel"]
    place.put(f"{PROC}/version", f"Linux version {kernel['release']} (buildd@bos03-arm64) (gcc) {kernel['version']}\n")
    for bus in devices.chips(played):
        _sys(
            f"bus/pci/devices/{bus}", {"vendor": "0x19e5", "device": f"0x{played['chip']['pci']}", "class": "0x120000"}
        )
    _sys("class/net/lo", {"carrier": "1"})
    for nic in played["nics"]:
        speed = str(nic["speed"]) if nic["link"] else "-1"
        _sys(f"class/net/{nic['name']}", {"speed": speed, "carrier": str(int(nic["link"])), "device/vendor": "0x19e5"})
    _nodes(played)


def _nodes(played: place.Data) -> None:
    nodes = processor.node_cpus(played)
    total, free = played["memory"]["total_kb"] // len(nodes), played["memory"]["free_kb"] // len(nodes)
    last = len(nodes) - 1
    spread = f"0-{last}" if last else "0"
    _sys("devices/system/node", dict.fromkeys(("online", "possible", "has_cpu", "has_memory"), spread))
    for number, cpus in enumerate(nodes):
        sizes = {"MemTotal": total, "MemFree": free, "MemUsed": total - free, **dict.fromkeys(CACHED, 0)}
        text = "\n".join(f"Node {number} {f'{name}:':<16}{size:>8} kB" for name, size in sizes.items())
        distance = " ".join("10" if other == number else "20" for other in range(len(nodes)))
        _sys(f"devices/system/node/node{number}", {"cpulist": cpus, "meminfo": text, "distance": distance})


def _sys(folder: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        place.put(f"{SYS}/{folder}/{name}", text + "\n")


def bind_folders() -> None:
    for name in FOLDERS:
        _bind(f"{SYS}/{name}", f"/sys/{name}")


def bind_files() -> None:
    for name in FILES:
        _bind(f"{PROC}/{name}", f"/proc/{name}")


def _bind(source: str, target: str) -> None:
    """Over the machine's own; what is bound already stays."""
    mounted = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    if target not in mounted and Path(target).exists():
        subprocess.run(["mount", "--bind", source, target], check=True)
