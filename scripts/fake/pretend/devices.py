"""What is plugged in: `lspci`, `lsblk`, `ethtool`, `ibv_devinfo`, `dmidecode`, `mdadm`."""

from __future__ import annotations

import sys

from pretend import place, users


def main(name: str, words: list[str]) -> int:
    played = place.scenario()
    if name == "dmidecode":
        return _dmidecode(played, words)
    if name == "ethtool":
        return _ethtool(played, words)
    said = {"lspci": _lspci, "lsblk": _lsblk, "ibv_devinfo": _ibv_devinfo, "mdadm": _mdadm}[name](played, words)
    print(said)
    return 1 if said == "No IB devices found" else 0


def chips(played: place.Data) -> list[str]:
    """The PCI address of every chip, in the order of the bus."""
    return sorted(chip["bus"].lower() for card in played["cards"] for chip in card["chips"])


def _lspci(played: place.Data, words: list[str]) -> str:
    flags = "".join(word[1:] for word in words if word.startswith("-") and not word[1:].startswith("d"))
    only = next((words[index + 1] for index, word in enumerate(words[:-1]) if word == "-d"), "")
    rows = [] if only.startswith("19e5") or ("D" not in flags and only) else _bridges()
    rows += [(bus, "Processing accelerators", "1200", "19e5", played["chip"]["pci"]) for bus in chips(played)]
    return "\n".join(_pci_row(row, "n" in flags, "D" in flags) for row in sorted(rows))


def _bridges() -> list[tuple[str, str, str, str, str]]:
    return [
        ("0000:00:00.0", "PCI bridge", "0604", "19e5", "a120"),
        ("0000:7d:00.0", "Ethernet controller", "0200", "19e5", "a222"),
    ]


def _pci_row(row: tuple[str, str, str, str, str], numbers: bool, domain: bool) -> str:
    bus, kind, code, vendor, device = row
    at = bus if domain else bus.removeprefix("0000:")
    if numbers:
        return f"{at} {kind} [{code}]: Huawei Technologies Co., Ltd. Device [{vendor}:{device}] (rev 20)"
    return f"{at} {kind}: Huawei Technologies Co., Ltd. Device {device} (rev 20)"


def _lsblk(played: place.Data, words: list[str]) -> str:
    """The columns asked for with -o, as a tree of ASCII signs."""
    asked = next((words[index + 1] for index, word in enumerate(words[:-1]) if word in ("-o", "--output")), "")
    columns = asked.upper().split(",") if asked else ["NAME", "SIZE", "TYPE", "MOUNTPOINT"]
    table = [columns if column_known(columns) else ["NAME", "SIZE", "TYPE", "MOUNTPOINT"]]
    columns = table[0]
    for disk in played["disks"]:
        table.append([_block(disk, column, "") for column in columns])
        parts = disk.get("parts", [])
        branches = ["|-"] * (len(parts) - 1) + ["`-"]
        table += [
            [_block(part, column, branch) for column in columns] for part, branch in zip(parts, branches, strict=False)
        ]
    widths = [max(len(row[index]) for row in table) for index in range(len(columns))]
    show = [
        " ".join(
            cell.rjust(width) if column in ("SIZE",) else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in table
    ]
    return "\n".join(show)


def column_known(columns: list[str]) -> bool:
    return set(columns) <= {"NAME", "SIZE", "TYPE", "FSTYPE", "MOUNTPOINT", "MOUNTPOINTS", "MODEL", "ROTA", "TRAN"}


def _block(one: place.Data, column: str, branch: str) -> str:
    if column == "NAME":
        return branch + str(one["name"])
    if column.startswith("MOUNTPOINT"):
        return str(one.get("mount", ""))
    return str(one.get(column.lower(), ""))


def _ethtool(played: place.Data, words: list[str]) -> int:
    nic = next((one for one in played["nics"] if words[-1:] == [one["name"]]), None)
    if nic is None:
        print("Cannot get device settings: No such device\nNo data available", file=sys.stderr)
        return 75
    if words[:1] == ["-i"]:
        print(f"driver: {nic['driver']}\nversion: {played['kernel']['release']}\nbus-info: 0000:7d:00.0")
        return 0
    up = nic["link"]
    rows = [
        ("Supported ports", "[ FIBRE ]"), ("Supported link modes", f"{nic['speed']}baseCR/Full"),
        ("Supported pause frame use", "Symmetric"), ("Supports auto-negotiation", "Yes"),
        ("Supported FEC modes", "None BaseR RS"), ("Speed", f"{nic['speed']}Mb/s" if up else "Unknown!"),
        ("Duplex", "Full" if up else "Unknown! (255)"), ("Auto-negotiation", "on"), ("Port", "FIBRE"), ("PHYAD", "0"),
        ("Transceiver", "internal"), ("Supports Wake-on", "d"), ("Wake-on", "d"),
        ("Link detected", "yes" if up else "no"),
    ]  # fmt: skip
    print(f"Settings for {nic['name']}:")
    print("\n".join(f"\t{name}: {value}" for name, value in rows))
    return 0


def _ibv_devinfo(played: place.Data, words: list[str]) -> str:
    blocks = []
    for one in played.get("rdma", []):
        state = "PORT_ACTIVE (4)" if one["active"] else "PORT_DOWN (1)"
        blocks.append(
            f"hca_id:\t{one['name']}\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t\t{one['firmware']}\n"
            "\tvendor_id:\t\t\t0x02c9\n\tvendor_part_id:\t\t\t4117\n\thw_ver:\t\t\t\t0x0\n\tphys_port_cnt:\t\t\t1\n"
            f"\t\tport:\t1\n\t\t\tstate:\t\t\t{state}\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t1024 (3)\n"
            "\t\t\tsm_lid:\t\t\t0\n\t\t\tport_lid:\t\t0\n\t\t\tport_lmc:\t\t0x00\n\t\t\tlink_layer:\t\tEthernet\n"
        )
    return "\n".join(blocks) or "No IB devices found"


def _dmidecode(played: place.Data, words: list[str]) -> int:
    if users.current().uid:
        print("# dmidecode 3.3\n/sys/firmware/dmi/tables/smbios_entry_point: Permission denied")
        print("Scanning /dev/mem for entry point.\n/dev/mem: Permission denied")
        return 1
    print("# dmidecode 3.3\nGetting SMBIOS data from sysfs.\nSMBIOS 3.2.0 present.\n")
    if not words or words[-1] in ("memory", "16", "17"):
        print(memory(played))
    elif words[-1] in ("system", "1"):
        product = played["product"]
        print(
            "Handle 0x0001, DMI type 1, 27 bytes\nSystem Information\n\tManufacturer: Huawei\n"
            f"\tProduct Name: {product}\n"
        )
    return 0


def memory(played: place.Data) -> str:
    """One module in the first place of each channel, eight channels a socket."""
    one, sockets = played["memory"]["module"], played["cpu"]["sockets"]
    places = [(socket, channel) for socket in range(sockets) for channel in range(8)]
    filled = places[: one["count"]]
    blocks = [
        "Handle 0x0010, DMI type 16, 23 bytes\nPhysical Memory Array\n\tLocation: System Board Or Motherboard\n"
        f"\tUse: System Memory\n\tError Correction Type: {one['ecc']}\n\tMaximum Capacity: 4 TB\n"
        f"\tError Information Handle: Not Provided\n\tNumber Of Devices: {len(places)}\n"
    ]
    for number, (socket, channel) in enumerate(places):
        has = (socket, channel) in filled
        width = ("72 bits", "64 bits") if one["ecc"] != "None" else ("64 bits", "64 bits")
        blocks.append(_module(number, socket, channel, one if has else None, width))
    return "\n".join(blocks)


def _module(number: int, socket: int, channel: int, one: place.Data | None, width: tuple[str, str]) -> str:
    pairs = {
        "Array Handle": "0x0010",
        "Error Information Handle": "Not Provided",
        "Total Width": width[0] if one else "Unknown",
        "Data Width": width[1] if one else "Unknown",
        "Size": f"{one['size_gb']} GB" if one else "No Module Installed",
        "Form Factor": "DIMM",
        "Set": "None",
        "Locator": f"DIMM{socket}{channel}0",
        "Bank Locator": f"SOCKET {socket} CHANNEL {channel} DIMM 0",
        "Type": "DDR4" if one else "Unknown",
        "Type Detail": "Synchronous Registered (Buffered)" if one else "Unknown Synchronous",
        "Speed": f"{one['mts']} MT/s" if one else "Unknown",
        "Manufacturer": "Samsung" if one else "NO DIMM",
        "Serial Number": f"0x{number + 1:08X}" if one else "NO DIMM",
        "Rank": "2" if one else "Unknown",
        "Configured Memory Speed": f"{one['mts']} MT/s" if one else "Unknown",
    }
    head = f"Handle 0x{17 + number:04X}, DMI type 17, 92 bytes\nMemory Device\n"
    return head + "".join(f"\t{name}: {value}\n" for name, value in pairs.items())


def _mdadm(played: place.Data, words: list[str]) -> str:
    arrays = {
        part["name"]: part for disk in played["disks"] for part in disk.get("parts", []) if part["type"] == "raid0"
    }
    if words[:1] in (["--detail"], ["-D"]) and words[-1].removeprefix("/dev/") in arrays:
        name = words[-1].removeprefix("/dev/")
        count = sum(1 for disk in played["disks"] for part in disk.get("parts", []) if part["name"] == name)
        return f"/dev/{name}:\n        Raid Level : raid0\n      Raid Devices : {count}\n             State : clean"
    return "\n".join(f"ARRAY /dev/{name} metadata=1.2" for name in arrays)
