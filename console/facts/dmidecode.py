"""Memory modules and the machine's name, from `dmidecode`."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from console.facts.lines import Fields, Number, lines, pairs
from console.facts.trouble import Trouble, trouble_in

_SIZE = re.compile(r"(\d+)\s*([MGT])i?B", re.IGNORECASE)
_SPEED = re.compile(r"(\d+)\s*(?:MT/s|MHz)", re.IGNORECASE)
_CHANNEL = re.compile(r"SOCKET\s*(\d+)\s*CHANNEL\s*(\d+)", re.IGNORECASE)
_GB_OF = {"M": 1 / 1024, "G": 1, "T": 1024}
_TITLES = ("Physical Memory Array", "Memory Device", "System Information")


@dataclass(frozen=True)
class Dmi:
    """Modules seen.

    slots_declared   slots the board says it has, which may be more than the output lists
    dimms, empty     slots listed with a module, and without
    total_gb         sum of the modules, GB as dmidecode writes them (GiB)
    speed_mts, type  of the modules; null when they differ (see `speeds`)
    correction       error correction as the board says it ("None", "Multi-bit ECC"); null when it does not say
    wide_dimms       modules with more bits than data bits, which error correction needs; null where widths are missing
    channels         modules by socket and channel as the locators name them; empty where they do not
    """

    slots_declared: int | None
    dimms: int
    empty: int
    total_gb: Number | None
    speed_mts: int | None
    type: str | None
    speeds: tuple[int, ...]
    manufacturer: str | None
    product: str | None
    correction: str | None = None
    wide_dimms: int | None = None
    channels: tuple[tuple[str, int], ...] = ()
    unread: tuple[str, ...] = ()
    status: str = "ok"


def parse_dmidecode(text: str) -> Dmi | Trouble:
    """What `dmidecode` (`-t memory`, `-t system`, or all) lists; serial numbers are not kept."""
    sections = list(_sections(text))
    if not sections:
        return trouble_in(text)
    slots = [fields.whole("Number Of Devices") for title, fields in sections if title == "Physical Memory Array"]
    devices = [fields for title, fields in sections if title == "Memory Device" and "Size" in fields]
    modules = [fields for fields in devices if _SIZE.fullmatch(fields.words("Size") or "")]
    empty = [fields for fields in devices if "no module" in (fields.words("Size") or "").lower()]
    speeds = sorted({speed for fields in modules if (speed := _speed(fields)) is not None})
    types = {kind for fields in modules if (kind := fields.words("Type")) is not None}
    system = next((fields for title, fields in sections if title == "System Information"), Fields({}))
    odd = [fields for fields in devices if fields not in modules and fields not in empty]
    return Dmi(
        slots_declared=sum(slot for slot in slots if slot is not None) if any(slots) else None,
        dimms=len(modules),
        empty=len(empty),
        total_gb=_total(modules),
        speed_mts=speeds[0] if len(speeds) == 1 else None,
        type=types.pop() if len(types) == 1 else None,
        speeds=tuple(speeds),
        manufacturer=system.words("Manufacturer"),
        product=system.words("Product Name"),
        correction=_correction(sections),
        wide_dimms=_wide(modules),
        channels=_channels(modules),
        unread=tuple(fields.values["size"][1] for fields in odd),
    )


def _correction(sections: list[tuple[str, Fields]]) -> str | None:
    """The board's word; "None" is an answer here, so it is not read like a missing value."""
    found = {fields.values.get("errorcorrectiontype", ("", ""))[0] for title, fields in sections if title == _TITLES[0]}
    return found.pop() or None if len(found) == 1 else None


def _wide(modules: list[Fields]) -> int | None:
    widths = [(_bits(fields.words("Total Width")), _bits(fields.words("Data Width"))) for fields in modules]
    known = [total > data for total, data in widths if total is not None and data is not None]
    return sum(known) if known else None


def _bits(words: str | None) -> int | None:
    match = re.fullmatch(r"(\d+) bits", words or "")
    return int(match.group(1)) if match else None


def _channels(modules: list[Fields]) -> tuple[tuple[str, int], ...]:
    """As Kunpeng boards write it: "SOCKET 0 CHANNEL 1 DIMM 0"."""
    names = [_CHANNEL.search(f"{fields.words('Bank Locator')} {fields.words('Locator')}") for fields in modules]
    if not names or not all(names):
        return ()
    found = Counter(f"{match.group(1)}/{match.group(2)}" for match in names if match)
    return tuple(sorted(found.items()))


def _sections(text: str) -> Iterator[tuple[str, Fields]]:
    """(title, fields) of each handle whose title is known, in order."""
    title, rows = "", list[str]()
    for row in [*lines(text), "Handle end"]:
        stripped = row.strip()
        if stripped in _TITLES or stripped.startswith("Handle "):
            if title:
                yield title, Fields.of(pairs(rows))
            title, rows = stripped if stripped in _TITLES else "", []
        else:
            rows.append(row)


def _speed(fields: Fields) -> int | None:
    words = fields.words("Configured Memory Speed", "Configured Clock Speed", "Speed")
    match = _SPEED.fullmatch(words or "")
    return int(match.group(1)) if match else None


def _total(modules: list[Fields]) -> Number | None:
    sizes = [match for fields in modules if (match := _SIZE.fullmatch(fields.words("Size") or ""))]
    total = sum(int(size.group(1)) * _GB_OF[size.group(2).upper()] for size in sizes)
    return (int(total) if float(total).is_integer() else total) if sizes else None
