"""What the checks of cards have in common: chips by name, and the verdict when npu-smi gives no answer."""

from collections.abc import Iterable
from statistics import median

from console.checks.check import Level, Verdict
from console.facts.npu_presence import NpuTool
from console.facts.npu_smi_reading import Device
from console.text import Text, say

DRIVER_FIRST = say("Repair the driver first: see “Cards in npu-smi” and “Driver”. Then check again.")


def chips(npu_tool: NpuTool) -> tuple[Device, ...]:
    return npu_tool.info.devices if npu_tool.info else ()


def title(device: Device, among: Iterable[Device]) -> str:
    """ "NPU 1", or "NPU 1 Chip 0" where cards have several chips."""
    several = sum(1 for other in among if other.npu == device.npu) > 1
    return f"NPU {device.npu} Chip {device.chip}" if several else f"NPU {device.npu}"


def silent(npu_tool: NpuTool, wanted: Text) -> Verdict | None:
    """UNKNOWN when npu-smi lists no chip, None when it does; the check of npu-smi itself tells what is wrong."""
    if chips(npu_tool):
        return None
    if not npu_tool.installed:
        seen = say("npu-smi is not installed")
    else:
        seen = npu_tool.trouble.message if npu_tool.trouble else say("npu-smi lists no chip")
    return Verdict(Level.UNKNOWN, seen, wanted, DRIVER_FIRST)


def idle(npu_tool: NpuTool) -> tuple[Device, ...]:
    """Chips on which nothing computes, as far as npu-smi says."""
    processes = npu_tool.info.processes if npu_tool.info else ()
    busy = {(process.npu, process.chip) for process in processes}
    return tuple(
        one for one in chips(npu_tool) if not one.aicore_pct and not busy & {(one.npu, one.chip), (one.npu, None)}
    )


def median_of_others(values: list[float], index: int) -> float | None:
    others = values[:index] + values[index + 1 :]
    return median(others) if others else None
