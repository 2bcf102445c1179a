"""What `lscpu` says of the processors, in English, in Chinese, or as JSON."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from console.facts.lines import Fields, absent, clean, key_of, lines, pairs
from console.facts.trouble import Trouble, trouble_in

_NUMA_NODE = re.compile(r"^(?:numanode|numa节点)(\d+)cpu(?:\(s\))?$")
_LABELS = {
    "arch": ("Architecture", "架构", "体系结构"),
    "cpus": ("CPU(s)", "CPU"),
    "sockets": ("Socket(s)", "座", "插槽", "CPU 插槽", "Socket"),
    "cores_per_socket": ("Core(s) per socket", "每个座的核数", "每座核数", "每个插槽的核数"),
    "threads_per_core": ("Thread(s) per core", "每个核的线程数", "每核线程数"),
    "clusters": ("Cluster(s)", "簇"),
    "cores_per_cluster": ("Core(s) per cluster", "每个簇的核数"),
    "numa_nodes": ("NUMA node(s)", "NUMA 节点"),
    "model": ("Model name", "型号名称"),
    "bios_model": ("BIOS Model name", "BIOS 型号名称"),
    "vendor": ("Vendor ID", "厂商 ID", "厂商_ID", "制造商 ID"),
    "max_mhz": ("CPU max MHz", "CPU 最大 MHz", "最大 CPU MHz"),
    "min_mhz": ("CPU min MHz", "CPU 最小 MHz", "最小 CPU MHz"),
    "flags": ("Flags", "标记", "Features"),
    "online": ("On-line CPU(s) list", "在线 CPU 列表"),
    "virtual": ("Hypervisor vendor", "超管理器厂商", "虚拟机管理程序厂商"),
}


@dataclass(frozen=True)
class Lscpu:
    """Processors of a host. `numa` maps a node's number to its CPUs as lscpu writes them ("0-31,64-95")."""

    arch: str | None = None
    cpus: int | None = None
    online: str | None = None
    sockets: int | None = None
    cores_per_socket: int | None = None
    threads_per_core: int | None = None
    clusters: int | None = None
    cores_per_cluster: int | None = None
    numa_nodes: int | None = None
    numa: dict[str, str] | None = None
    model: str | None = None
    bios_model: str | None = None
    vendor: str | None = None
    max_mhz: float | None = None
    min_mhz: float | None = None
    hypervisor: str | None = None
    flags: tuple[str, ...] | None = None
    unread: tuple[str, ...] = ()
    status: str = "ok"


def parse_lscpu(text: str) -> Lscpu | Trouble:
    """Processors from the output of `lscpu` or `lscpu -J`."""
    triples = list(_json_pairs(text) or pairs(lines(text)))
    fields = Fields.of(triples)
    known = {key_of(label) for labels in _LABELS.values() for label in labels}
    if not known & set(fields.values) - {key_of("Model")}:
        return trouble_in(text)
    numa = {
        match.group(1): "" if absent(value) else value for key, value, _ in triples if (match := _NUMA_NODE.match(key))
    }
    flags = fields.words(*_LABELS["flags"])
    return Lscpu(
        arch=fields.words(*_LABELS["arch"]),
        cpus=fields.whole(*_LABELS["cpus"]),
        online=fields.words(*_LABELS["online"]),
        sockets=fields.whole(*_LABELS["sockets"]),
        cores_per_socket=fields.whole(*_LABELS["cores_per_socket"]),
        threads_per_core=fields.whole(*_LABELS["threads_per_core"]),
        clusters=fields.whole(*_LABELS["clusters"]),
        cores_per_cluster=fields.whole(*_LABELS["cores_per_cluster"]),
        numa_nodes=fields.whole(*_LABELS["numa_nodes"]),
        numa=numa or None,
        model=fields.words(*_LABELS["model"]),
        bios_model=fields.words(*_LABELS["bios_model"]),
        vendor=fields.words(*_LABELS["vendor"]),
        max_mhz=fields.number(*_LABELS["max_mhz"]),
        min_mhz=fields.number(*_LABELS["min_mhz"]),
        hypervisor=fields.words(*_LABELS["virtual"]),
        flags=tuple(flags.split()) if flags else None,
        unread=tuple(fields.unread),
    )


def _json_pairs(text: str) -> list[tuple[str, str, str]]:
    start = clean(text).find("{")
    if start < 0 or '"lscpu"' not in text:
        return []
    try:
        tree = json.JSONDecoder().raw_decode(clean(text)[start:])[0]
    except ValueError:
        return []
    return list(_walk(tree.get("lscpu", []))) if isinstance(tree, dict) else []


def _walk(entries: object) -> Iterator[tuple[str, str, str]]:
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            label, value = str(entry.get("field", "")).rstrip(":"), str(entry.get("data") or "")
            yield key_of(label), value, f"{label}: {value}"
            yield from _walk(entry.get("children", []))
