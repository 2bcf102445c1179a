"""Checks of which cards there are: on the bus, in npu-smi, of a kind that serves, with enough memory, and free."""

from console.catalog.ascend import Chip, chip
from console.catalog.profiles import Profile
from console.checks.card_words import chips, silent
from console.checks.check import Level, Verdict, check
from console.facts.npu_presence import NpuNodes, NpuTool, PciNpu
from console.facts.trouble import Trouble
from console.text import Text, say, verbatim

FIRST_GENERATION = "d801"
"""PCI device id of the first Ascend 910, whatever name npu-smi gives it."""


@check(
    area="npu",
    title=say("Cards on the PCIe bus"),
    why=say("A card that the bus does not show is off, badly seated or broken; no software can find it."),
)
def cards_on_bus(npu_pci: tuple[PciNpu, ...], profile: Profile, npu_tool: NpuTool | None = None) -> Verdict:
    least = int(profile.number("npus"))
    wanted = say("{count} or more NPU chips", count=least)
    listed = len(chips(npu_tool)) if npu_tool else 0
    evidence = tuple(f"PCI {npu.bus_id} {npu.device_id} {npu.chip or ''}".strip() for npu in npu_pci)
    seen = say("{count} on the PCIe bus", count=len(npu_pci))
    if len(npu_pci) < listed:
        seen = say("{count} in npu-smi; the PCIe bus of the host is not visible here", count=listed)
    if max(len(npu_pci), listed) >= least:
        return Verdict(Level.PASS, seen, wanted, evidence=evidence)
    fix = say(
        "If one is missing, switch the host off, reseat it, check its power cable and the PCIe settings of the BIOS; "
        "in a virtual machine, pass it through. If the host never had so many, add cards or choose another profile."
    )
    return Verdict(Level.FAIL, seen, wanted, fix, "lspci -d 19e5:", evidence)


@check(
    area="npu",
    title=say("Cards in npu-smi"),
    why=say("vLLM reaches a card only through its driver; a card that npu-smi does not list cannot be used."),
)
def cards_in_npu_smi(npu_pci: tuple[PciNpu, ...], npu_nodes: NpuNodes, npu_tool: NpuTool) -> Verdict:
    wanted = say("npu-smi lists every chip of the PCIe bus")
    found = chips(npu_tool)
    if not npu_tool.installed:
        return _no_tool(npu_pci, wanted)
    if not found:
        return _no_answer(npu_tool.trouble, wanted)
    if npu_tool.info and npu_tool.info.status != "ok":
        seen = say("The table of npu-smi is incomplete: {chips} chips could be read", chips=len(found))
        return Verdict(Level.WARN, seen, wanted, say("Check again, and look at the raw output."), "npu-smi info")
    buses = {one.bus_id.lower() for one in found if one.bus_id}
    missing = [one.bus_id for one in npu_pci if one.bus_id.lower() not in buses] if buses else []
    if not missing and len(found) >= len(npu_pci):
        nodes = len(npu_nodes.numbers)
        return Verdict(Level.PASS, say("{chips} chips, {nodes} device files", chips=len(found), nodes=nodes), wanted)
    seen = say("Missing in npu-smi: {names}", names=verbatim(", ".join(missing) or str(len(npu_pci) - len(found))))
    fix = say(
        "Restart the host. If a card stays missing, read the kernel log, then reseat the card; a card that fails again "
        "has to be replaced."
    )
    return Verdict(Level.FAIL, seen, wanted, fix, _KERNEL_LOG, tuple(f"PCI {bus}" for bus in missing))


_KERNEL_LOG = "dmesg | grep -iE 'davinci|devdrv|hdc|drv_' | tail -n 30"


def _no_tool(npu_pci: tuple[PciNpu, ...], wanted: Text) -> Verdict:
    seen = say("npu-smi is not installed")
    if npu_pci:
        seen = say("On the PCIe bus: {count}; npu-smi is not installed", count=len(npu_pci))
    fix = say("Install the driver and the firmware for this card, then restart the host.")
    return Verdict(Level.FAIL, seen, wanted, fix, evidence=tuple(f"PCI {one.bus_id}" for one in npu_pci))


def _no_answer(trouble: Trouble | None, wanted: Text) -> Verdict:
    seen = trouble.message if trouble else say("npu-smi lists no chip")
    fix = say(
        "Restart the host if the driver was just installed. Otherwise read the kernel log, and install a driver and a "
        "firmware that fit each other and the running kernel."
    )
    if trouble and trouble.error_kind == "device_busy":
        fix = say("Stop the container or process that holds the card: see “Cards are free”.")
    return Verdict(Level.FAIL, seen, wanted, fix, _KERNEL_LOG, (trouble.line,) if trouble and trouble.line else ())


@check(
    area="npu",
    title=say("Kind of chip"),
    why=say("vLLM Ascend runs on certain chips only; a plain “910B” is the first generation and not a 910B1 to 910B4."),
)
def chip_supported(npu_tool: NpuTool, npu_pci: tuple[PciNpu, ...]) -> Verdict:
    wanted = say("910B1 to 910B4, A3, 310P or 950")
    if any(one.device_id == FIRST_GENERATION for one in npu_pci) and not chips(npu_tool):
        return _unsupported("Ascend 910", wanted)
    if verdict := silent(npu_tool, wanted):
        return verdict
    names = sorted({one.name or "?" for one in chips(npu_tool)})
    kinds: dict[str, Chip | None] = {name: chip(name) for name in names}
    shown = ", ".join(names)
    old = any(one.device_id == FIRST_GENERATION for one in npu_pci)
    if old or any(kind and not kind.supported for kind in kinds.values()):
        return _unsupported(shown, wanted)
    if unknown := [name for name, kind in kinds.items() if kind is None]:
        seen = say("{names}, which is not in the console's list of chips", names=", ".join(unknown))
        fix = say("Compare the name with the list of supported products of vLLM Ascend before you go on.")
        return Verdict(Level.UNKNOWN, seen, wanted, fix, "npu-smi info -m")
    families = sorted({kind.family for kind in kinds.values() if kind})
    seen = say("{names} ({family})", names=shown, family=", ".join(families))
    if all(kind and kind.wheels for kind in kinds.values()):
        return Verdict(Level.PASS, seen, wanted)
    fix = say("The packages of vLLM Ascend on PyPI are for A2 chips. Use the container image for this chip.")
    return Verdict(Level.WARN, seen, wanted, fix)


def _unsupported(names: str, wanted: Text) -> Verdict:
    seen = say("{names}: a chip that vLLM Ascend does not support", names=names)
    fix = say("No setting helps: the chip lacks bfloat16. Use a host with 910B1 to 910B4 or newer chips.")
    return Verdict(Level.FAIL, seen, wanted, fix, "npu-smi info -m")


@check(
    area="npu",
    title=say("Memory of each chip"),
    why=say("Weights and KV cache have to fit into it; cards of one name are sold with 32 and with 64 GiB."),
)
def card_memory(npu_tool: NpuTool, profile: Profile) -> Verdict:
    least = profile.number("hbm_gib")
    wanted = say("{gib} GiB or more on each chip", gib=least)
    if verdict := silent(npu_tool, wanted):
        return verdict
    totals = [one.hbm_total_mb or one.mem_total_mb for one in chips(npu_tool)]
    known = [total for total in totals if total]
    if len(known) < len(totals):
        fix = say("Check again, and look at the raw output.")
        return Verdict(Level.UNKNOWN, say("npu-smi does not tell the memory of every chip"), wanted, fix)
    seen = verbatim(", ".join(f"{known.count(total)} × {total / 1024:g} GiB" for total in sorted(set(known))))
    if min(known) >= least * 1024:
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Choose a smaller or quantized model, spread it over more chips, or use cards with more memory.")
    return Verdict(Level.FAIL, seen, wanted, fix)
