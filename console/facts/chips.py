"""Every chip of a host as one value, put together from all that was asked; what is not known says why."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from console.facts.cards import Cards
from console.facts.holders import Containers, Holders
from console.facts.holding import Held, Use, held_by, use_of
from console.facts.npu_presence import NpuTool, PciNpu
from console.facts.npu_smi_info import NpuSmiInfo
from console.facts.npu_smi_lists import MappedChip, NpuList
from console.facts.npu_smi_lists import Mapping as ChipMap
from console.facts.npu_smi_reading import Device
from console.facts.probe import Facts
from console.facts.versions import VersionFile
from console.text import Text, say

MIB = 2**20
T = TypeVar("T")
NEEDED = (
    "npu_tool", "npu_list", "npu_map", "npu_board", "npu_common", "npu_health", "npu_power", "npu_holders", "npu_pci",
    "containers", "driver_version",
)  # fmt: skip
"""The facts that are put together here."""


@dataclass(frozen=True)
class Chip:
    """One chip. None = not known, and then `why` has the reason under the field's name.

    npu, chip   as npu-smi counts them; None for a card that only the PCI bus shows
    logic_id    as programs count it; phy_id is the number of its device file
    driver      version of the host's driver
    """

    npu: int | None = None
    chip: int | None = None
    logic_id: int | None = None
    phy_id: int | None = None
    name: str | None = None
    health: str | None = None
    hbm_used_bytes: int | None = None
    hbm_total_bytes: int | None = None
    aicore_pct: float | None = None
    temp_c: float | None = None
    power_w: float | None = None
    bus_id: str | None = None
    driver: str | None = None
    errors: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()
    use: Use = Use.UNKNOWN
    why: Mapping[str, Text] = field(default_factory=dict)


VALUES = tuple(one.name for one in fields(Chip) if one.name not in ("errors", "held", "use", "why"))


def chips_of(facts: Facts, idle_hbm_mb: float) -> tuple[Chip, ...]:
    """The chips npu-smi lists, then those that only the PCI bus shows."""
    tool = _value(facts, "npu_tool", NpuTool)
    info = tool.info if tool else None
    if info is not None and info.devices:
        listed = [_of_table(one, info, facts, idle_hbm_mb) for one in info.devices]
    else:
        listed = [_explained(one, facts, _silence(facts)) for one in _of_list(facts)]
    return (*listed, *(_explained(one, facts, _unlisted(facts, bool(listed))) for one in _bare(listed, facts)))


def without_chips(facts: Facts) -> Text:
    """Why a host shows no chip."""
    pci = facts.values.get("npu_pci")
    tool = _value(facts, "npu_tool", NpuTool)
    if tool is not None and tool.trouble is not None:
        return tool.trouble.message
    if isinstance(pci, tuple) and not pci:
        return say("No NPU is on its PCI bus.")
    return facts.reason("npu_pci") if pci is None else _silence(facts)


def _of_table(device: Device, info: NpuSmiInfo, facts: Facts, idle_hbm_mb: float) -> Chip:
    holders, containers = _value(facts, "npu_holders", Holders), _value(facts, "containers", Containers)
    held = held_by(device, info, holders, containers)
    mapped = _mapped(facts, device.npu, device.chip)
    several = sum(other.npu == device.npu for other in info.devices) > 1
    common, health = (_asked(facts, name, device, several=several) for name in ("npu_common", "npu_health"))
    board, power = (_asked(facts, name, device, several=several) for name in ("npu_board", "npu_power"))
    known = bool(device.hbm_total_mb)
    chip = Chip(
        npu=device.npu,
        chip=device.chip,
        logic_id=_first(device.logic_id, mapped.logic_id if mapped else None),
        phy_id=_first(device.phy_id, mapped.phy_id if mapped else None),
        name=device.name or (mapped.name if mapped else None),
        health=_first(None if device.health in ("NA", "-") else device.health, health.get("health")),
        hbm_used_bytes=device.hbm_used_mb * MIB if known and device.hbm_used_mb is not None else None,
        hbm_total_bytes=device.hbm_total_mb * MIB if known and device.hbm_total_mb is not None else None,
        aicore_pct=_first(device.aicore_pct, common.get("aicore_pct")),
        temp_c=_first(device.temp_c, common.get("temp_c")),
        power_w=_first(device.power_w, power.get("power_w"), common.get("power_w")),
        bus_id=_first(device.bus_id, board.get("bus_id")),
        errors=_codes(health.get("error_codes")),
        held=held,
        use=use_of(device, held, info, holders, idle_hbm_mb),
    )
    return _explained(chip, facts, _gap(device, info), _gaps(device, info))


def _gap(device: Device, info: NpuSmiInfo) -> Text:
    if device.npu in info.incomplete_npus:
        return say("The output of npu-smi was cut off here, or could not be read.")
    return say("npu-smi shows no value.")


def _gaps(device: Device, info: NpuSmiInfo) -> dict[str, Text]:
    """Reasons that are better than the usual one."""
    found = {}
    first = next(one for one in info.devices if one.npu == device.npu)
    if first is not device and first.power_w is not None:
        found["power_w"] = say("npu-smi gives the power of the whole NPU; it stands at its first chip.")
    if not device.hbm_total_mb and device.mem_total_mb:
        memory = say(
            "This chip has no HBM; of its own memory {used} of {total} MiB are used.",
            used=device.mem_used_mb,
            total=device.mem_total_mb,
        )
        found |= {"hbm_used_bytes": memory, "hbm_total_bytes": memory}
    return found


def _of_list(facts: Facts) -> list[Chip]:
    """From `npu-smi info -l` when its table does not come."""
    listed = _value(facts, "npu_list", NpuList)
    found = []
    for one in listed.npus if listed else ():
        for number in range(one.chips or 1):
            mapped = _mapped(facts, one.npu, number)
            found.append(
                Chip(
                    npu=one.npu,
                    chip=number if one.chips else None,
                    logic_id=mapped.logic_id if mapped else None,
                    phy_id=mapped.phy_id if mapped else None,
                    name=mapped.name if mapped else None,
                )
            )
    return found


def _bare(listed: Iterable[Chip], facts: Facts) -> list[Chip]:
    """Cards on the PCI bus that npu-smi does not list; none while it cannot be told which those are."""
    listed = list(listed)
    pci = facts.values.get("npu_pci")
    if not isinstance(pci, tuple) or any(one.bus_id is None for one in listed):
        return []
    known = {_bus(one.bus_id) for one in listed if one.bus_id}
    cards = [one for one in pci if isinstance(one, PciNpu) and _bus(one.bus_id) not in known]
    return [Chip(name=one.chip, bus_id=one.bus_id.upper()) for one in cards]


def _unlisted(facts: Facts, some_are_listed: bool) -> Text:
    if some_are_listed:
        return say("The card is on the PCI bus, but npu-smi does not list it: see “Cards in npu-smi” of the checklist.")
    return _silence(facts)


def _silence(facts: Facts) -> Text:
    tool = _value(facts, "npu_tool", NpuTool)
    if tool is None:
        return facts.reason("npu_tool")
    if not tool.installed:
        return say("npu-smi is not installed")
    return tool.trouble.message if tool.trouble else say("npu-smi lists no chip")


def _explained(chip: Chip, facts: Facts, usual: Text, better: Mapping[str, Text] | None = None) -> Chip:
    """With the driver's version, and a reason for every value that is missing."""
    values = {name: getattr(chip, name) for name in VALUES} | {"driver": _driver(facts)}
    why = {name: usual for name, value in values.items() if value is None}
    for name in ("logic_id", "phy_id"):
        if name in why and chip.npu is not None:
            why[name] = say("Neither the table of npu-smi nor `npu-smi info -m` gives this number.")
    if values["driver"] is None:
        why["driver"] = say("Neither npu-smi nor the driver's version file tells it.")
    if not chip.held and chip.use != Use.FREE:
        why["held"] = usual if chip.npu is None else _UNSEEN[chip.use]
    why |= {name: text for name, text in (better or {}).items() if name in why}
    return Chip(**values, errors=chip.errors, held=chip.held, use=chip.use, why=why)


_UNSEEN = {
    Use.HELD: say("Its memory is in use, but who uses it cannot be seen: look as root, and into containers."),
    Use.UNKNOWN: say(
        "Whether somebody uses it cannot be seen: npu-smi shows no list of processes here, and only root sees who has "
        "the device file open."
    ),
}


def _driver(facts: Facts) -> str | None:
    file, tool = _value(facts, "driver_version", VersionFile), _value(facts, "npu_tool", NpuTool)
    return (file.driver if file else None) or (tool.info.driver_version if tool and tool.info else None)


def _mapped(facts: Facts, npu: int, chip: int | None) -> MappedChip | None:
    chips = _value(facts, "npu_map", ChipMap)
    return next((one for one in chips.chips if (one.npu, one.chip) == (npu, chip)), None) if chips else None


def _asked(facts: Facts, name: str, device: Device, *, several: bool) -> Mapping[str, object]:
    """What a query about this card said of this chip; {} when that cannot be told."""
    cards = _value(facts, name, Cards)
    answer = cards.answers.get(device.npu) if cards else None
    if answer is None:
        return {}
    chips = [one for one in answer.chips if one.get("chip") == device.chip]
    return chips[0] if chips else {} if several else answer.values


def _codes(found: object) -> tuple[str, ...]:
    return tuple(str(one) for one in found) if isinstance(found, list) else ()


def _first(*values: object) -> Any:
    return next((one for one in values if one is not None), None)


def _value(facts: Facts, name: str, kind: type[T]) -> T | None:
    found = facts.values.get(name)
    return found if isinstance(found, kind) else None


def _bus(words: str) -> str:
    """The same address in one spelling: the domain may have four or eight digits."""
    *domain, bus, rest = words.lower().split(":")
    return f"{int(domain[0], 16) if domain else 0}:{bus}:{rest}"
