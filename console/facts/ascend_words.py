"""What the facts of a host with NPUs say in one line for people."""

import math
from collections.abc import Callable, Mapping

from console.facts.cards import Cards, Ports
from console.facts.disks import Disks
from console.facts.dmidecode import Dmi
from console.facts.hccn import HccnConf
from console.facts.holders import Containers, Docker, Holders
from console.facts.nics import IbvDevinfo, Nics
from console.facts.npu_smi_lists import Mapping as ChipMap
from console.facts.npu_smi_lists import NpuList
from console.facts.npu_smi_queries import Answer
from console.facts.npu_smi_topo import Topology
from console.facts.packages import Packages
from console.facts.surroundings import Guards, Resolvers, TimeSync
from console.facts.tuning import Governors, Headers, NpuUser, Ulimits
from console.facts.versions import VersionFile
from console.text import Text, say, verbatim

ASCEND_TITLES: Mapping[str, Text] = {
    "npu_list": say("Cards of npu-smi"), "npu_map": say("Numbers of the chips"), "npu_topo": say("Links between cards"),
    "npu_board": say("Boards"), "npu_chips": say("Chips"), "npu_common": say("State of the cards"),
    "npu_ecc": say("Memory errors of the cards"), "npu_health": say("Health"), "npu_memory": say("Memory of the cards"),
    "npu_power": say("Power"), "npu_usages": say("Use of the cards"), "npu_holders": say("Processes on cards"),
    "install_info": say("Installation of the driver"), "driver_version": say("Driver"),
    "firmware_version": say("Firmware"), "cann_toolkit": say("CANN toolkit"), "cann_operators": say("CANN operators"),
    "cann_nnal": say("NNAL"), "packages": say("Engine packages"), "npu_user": say("User and groups"),
    "kernel_headers": say("Kernel headers"), "tools": say("Tools"), "docker": say("Container engine"),
    "containers": say("Containers"), "memory_modules": say("Memory modules"), "disks": say("Disks"),
    "nics": say("Network cards"), "rdma": say("RDMA cards"), "governors": say("CPU governor"),
    "transparent_hugepages": say("Transparent huge pages"), "ulimits": say("Limits of the login"),
    "sysctls": say("Kernel settings"), "time_sync": say("Time server"), "proxies": say("Proxies"),
    "resolvers": say("Name servers"), "guards": say("Firewall"), "hccn_conf": say("Kept addresses of the NPU ports"),
    "npu_ports": say("NPU ports"),
}  # fmt: skip
"""The facts worth a line beside those of every host, in their order on the page."""


def _list(words: list[str]) -> Text:
    return verbatim("; ".join(words)) if words else say("none")


def _pairs(values: Mapping[str, object]) -> str:
    """The values of one chip that are known and not zero."""
    return ", ".join(f"{name} {value}" for name, value in values.items() if value and name not in ("npu", "chip"))


def _answer(card: int, answer: Answer) -> str:
    return f"NPU {card}: " + (" | ".join(_pairs(chip) for chip in answer.chips) or "-")


def _cards(value: Cards) -> Text:
    said = [_answer(card, answer) for card, answer in value.answers.items()]
    return _list(said + [f"NPU {card}: {trouble.line}" for card, trouble in value.troubles.items()])


def _holders(value: Holders) -> Text:
    found = [
        f"{one.name or '?'} ({one.pid})" + (f" davinci{one.node}" if one.node is not None else "")
        for one in value.holders
    ]
    if not found and not value.all_seen:
        return say("none that this user may see")
    return _list(found)


def _version(value: VersionFile) -> Text:
    told = value.package_version or value.driver or value.firmware or value.version or value.cann
    if told:
        return verbatim(" ".join(filter(None, (value.package, told, value.arch))))
    return verbatim(" ".join(filter(None, (value.driver_path, value.user, value.group))) or "?")


def _headers(value: Headers) -> Text:
    return verbatim(value.folder) if value.folder else say("not there")


def _docker(value: Docker) -> Text:
    if value.version is None:
        return say("Docker is installed, but not running")
    return verbatim(f"{value.version} ({', '.join(value.runtimes)})")


def _modules(value: Dmi) -> Text:
    return say(
        "{dimms} modules, {total} GiB, error correction: {kind}",
        dimms=value.dimms,
        total=value.total_gb or "?",
        kind=verbatim(value.correction or "?"),
    )


def _disks(value: Disks) -> Text:
    arrays = [f"{one.name} ({one.level} {one.size or ''}: {', '.join(one.members)})" for one in value.raid or ()]
    return _list([f"{one.node} {one.size or ''}".strip() for one in value.disks] + arrays)


def _nics(value: Nics) -> Text:
    speeds = [(one.iface, one.speed_mbps, one.link) for one in value.nics]
    return _list([f"{name} {speed / 1000:g} Gb/s" if speed and link else f"{name} -" for name, speed, link in speeds])


def _rdma(value: IbvDevinfo) -> Text:
    return _list(
        [f"{card.name} {port.port} {port.state} {port.link_layer}" for card in value.hcas for port in card.ports]
    )


def _ulimits(value: Ulimits) -> Text:
    def shown(amount: float) -> str:
        return "∞" if math.isinf(amount) else f"{amount:.0f}"

    files, locked = f"{shown(value.files)}/{shown(value.files_hard)}", shown(value.locked_kib)
    return verbatim(f"nofile {files}, memlock {locked}")


def _time(value: TimeSync) -> Text:
    if value.synchronized is None:
        return say("Neither timedatectl nor chronyc answers")
    return say("The clock follows a time server") if value.synchronized else say("The clock follows no time server")


def _ports(value: Ports) -> Text:
    said = [f"NPU {card}: {port.link or '?'} {port.ip or ''}".strip() for card, port in value.ports.items()]
    return _list(said + [f"NPU {card}: {trouble.line}" for card, trouble in value.troubles.items()])


ASCEND_SPEAKERS: Mapping[type, Callable[..., Text]] = {
    NpuList: lambda one: _list([f"{card.npu}: {card.product or '?'} × {card.chips or '?'}" for card in one.npus]),
    ChipMap: lambda one: _list([f"{chip.npu}/{chip.chip}: {chip.name} ({chip.logic_id})" for chip in one.chips]),
    Topology: lambda one: _list([f"{kind} {count // 2}" for kind, count in one.links.items() if count]),
    Cards: _cards,
    Holders: _holders,
    VersionFile: _version,
    Packages: lambda one: _list([f"{name} {version}" for name, version in one.packages.items()]),
    NpuUser: lambda one: verbatim(f"{one.name} ({', '.join(one.groups)})"),
    Headers: _headers,
    Docker: _docker,
    Containers: lambda one: _list(list(one.names.values())),
    Dmi: _modules,
    Disks: _disks,
    Nics: _nics,
    IbvDevinfo: _rdma,
    Governors: lambda one: _list([f"{name}: {count} CPU" for name, count in one.cpus.items()]),
    Ulimits: _ulimits,
    TimeSync: _time,
    Resolvers: lambda one: _list(list(one.servers)),
    Guards: lambda one: _list([*one.firewalls, *(["SELinux " + one.selinux] if one.selinux else [])]),
    HccnConf: lambda one: _list([f"NPU {card}: {device.ip or '-'}" for card, device in one.devices.items()]),
    Ports: _ports,
}
