"""Checks of the NPUs of a host."""

from console.checks.check import Level, Verdict, check
from console.facts.npu_presence import NpuNodes, NpuTool, PciNpu
from console.text import Text, say


@check(
    area="npu",
    title=say("NPUs"),
    why=say("Here the engine computes on the CPU; an NPU that is there would stay unused."),
)
def npu_presence(npu_pci: tuple[PciNpu, ...], npu_nodes: NpuNodes, npu_tool: NpuTool | None = None) -> Verdict:
    wanted = say("None is needed")
    if not npu_pci and not npu_nodes.numbers and not (npu_tool and npu_tool.installed):
        return Verdict(Level.PASS, say("No NPU: the CPU is used"), wanted)
    fix = say("This machine has signs of NPUs, which this profile does not use. The engine will run on the CPU.")
    evidence = (
        *(f"PCI {npu.bus_id} {npu.device_id} {npu.chip or ''}".strip() for npu in npu_pci),
        *(f"/dev/davinci{number}" for number in npu_nodes.numbers),
    )
    return Verdict(Level.WARN, _seen(npu_pci, npu_nodes, npu_tool), wanted, fix, "npu-smi info", evidence)


def _seen(npu_pci: tuple[PciNpu, ...], npu_nodes: NpuNodes, npu_tool: NpuTool | None) -> Text:
    chips = len(npu_tool.info.devices) if npu_tool and npu_tool.info else None
    if chips:
        return say("Chips listed by npu-smi: {chips}", chips=chips)
    if npu_pci:
        return say(
            "On the PCI bus: {count}; device files: {nodes}; npu-smi gives no answer",
            count=len(npu_pci),
            nodes=len(npu_nodes.numbers),
        )
    if npu_nodes.numbers:
        return say("NPU device files: {nodes}", nodes=len(npu_nodes.numbers))
    return say("npu-smi is installed, but no NPU is visible")
