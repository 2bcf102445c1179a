"""Who holds a chip, put together from npu-smi, the device files that processes have open, and the containers."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from console.facts.holders import Containers, Holders
from console.facts.npu_smi_info import NpuSmiInfo
from console.facts.npu_smi_reading import Device


class Use(StrEnum):
    HELD = "held"
    FREE = "free"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Held:
    """A process on a chip. `container` is its container's name, or the beginning of its id; `folder` where it runs."""

    pid: int
    name: str | None
    container: str | None
    folder: str | None = None
    memory_bytes: int | None = None


def held_by(
    device: Device, info: NpuSmiInfo, holders: Holders | None, containers: Containers | None
) -> tuple[Held, ...]:
    """The processes on this chip, each once."""
    seen = {one.pid: one for one in holders.holders} if holders else {}
    node = device.npu if device.phy_id is None else device.phy_id
    found: dict[int, tuple[str | None, int | None]] = {}
    for process in info.processes:
        if process.npu == device.npu and process.chip in (device.chip, None) and process.pid is not None:
            found[process.pid] = (process.name, process.mem_mb)
    for one in holders.holders if holders else ():
        if one.node == node:
            found.setdefault(one.pid, (one.name, None))
    return tuple(
        Held(
            pid,
            name or (seen[pid].name if pid in seen else None),
            _name(seen[pid].container, containers) if pid in seen else None,
            seen[pid].folder if pid in seen else None,
            None if mib is None else mib * 2**20,
        )
        for pid, (name, mib) in found.items()
    )


def use_of(
    device: Device, held: tuple[Held, ...], info: NpuSmiInfo, holders: Holders | None, idle_hbm_mb: float
) -> Use:
    """Free only where somebody who sees all processes saw none; held too where more memory is in use than when idle."""
    if held or (device.hbm_used_mb or 0) > idle_hbm_mb:
        return Use.HELD
    sees_all = info.process_table == "present" or (holders is not None and holders.all_seen)
    return Use.FREE if sees_all and device.npu not in info.incomplete_npus else Use.UNKNOWN


def _name(container: str | None, containers: Containers | None) -> str | None:
    names: Mapping[str, str] = containers.names if containers else {}
    return None if container is None else names.get(container) or container[:12]
