"""What a fact says in one line for people; the raw output beside it has the rest."""

from collections.abc import Callable, Mapping

from console.facts.ascend_words import ASCEND_SPEAKERS, ASCEND_TITLES
from console.facts.listeners import Listener
from console.facts.lscpu import Lscpu
from console.facts.memory import Meminfo
from console.facts.npu_presence import NpuNodes, NpuTool, PciNpu
from console.facts.os_release import OsRelease
from console.facts.pythons import Python, Uv
from console.facts.rooms import NumaNode, Room
from console.facts.system import Clock, Kernel, Libc, Limits, User
from console.text import Text, say, verbatim

GIB_KB = 1024 * 1024
TELLING_FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "asimd", "asimdhp", "bf16", "i8mm", "sve")
"""CPU features that decide which kernels vLLM uses."""

TITLES: Mapping[str, Text] = {
    "os_release": say("Operating system"), "kernel": say("Kernel"), "arch": say("Architecture"),
    "libc": say("C library"), "user": say("User"), "locale": say("Language setting"), "clock": say("Clock"),
    "lscpu": say("Processor"), "cpu_flags": say("CPU features"), "usable_cpus": say("Usable CPUs"),
    "meminfo": say("Memory"), "limits": say("Container limits"), "numa": say("NUMA nodes"),
    "rooms": say("Disk room"), "pythons": say("Python"), "uv": say("uv (fast installer)"),
    "listeners": say("Ports in use"), "npu_pci": say("NPUs on the PCIe bus"), "npu_nodes": say("NPU device nodes"),
    "npu_tool": say("npu-smi"),
}  # fmt: skip
"""The facts worth a line, in their order on the page."""


ALL_TITLES: Mapping[str, Text] = {**TITLES, **ASCEND_TITLES}
"""The same for a host that has, or should have, NPUs."""


def in_words(name: str, value: object) -> Text:
    """One line for the value of the fact `name`."""
    speak = SPEAKERS.get(type(value))
    if name == "cpu_flags" and isinstance(value, frozenset):
        found = [flag for flag in TELLING_FLAGS if flag in value]
        return verbatim(", ".join(found)) if found else say("none of those that matter")
    if name == "rooms" and isinstance(value, dict) and value:
        return _rooms(list(value.values()))
    if isinstance(value, frozenset | Mapping):
        return _gathered(value)
    if isinstance(value, tuple):
        return _several(value)
    if speak is not None:
        return speak(value)
    return say("none") if value in (None, "", "absent", False) else verbatim(str(value))


def _several(values: tuple[object, ...]) -> Text:
    if not values:
        return say("none")
    if all(isinstance(one, Listener) for one in values):
        ports = sorted({one.port for one in values if isinstance(one, Listener)})
        return verbatim(", ".join(map(str, ports)))
    return verbatim("; ".join(str(SPEAKERS[type(one)](one)) if type(one) in SPEAKERS else str(one) for one in values))


def _gathered(values: frozenset[object] | Mapping[object, object]) -> Text:
    """Names, or names with their values."""
    if isinstance(values, Mapping):
        return verbatim("; ".join(f"{name}={value}" for name, value in values.items())) if values else say("none")
    return verbatim(", ".join(sorted(map(str, values)))) if values else say("none")


def _rooms(rooms: list[Room]) -> Text:
    first, *others = rooms
    told = say(
        "{folder}: {free} GiB free of {total} GiB",
        folder=verbatim(first.folder),
        free=f"{first.free_bytes / 2**30:.1f}",
        total=f"{first.total_bytes / 2**30:.1f}",
    )
    return say("{first}; {others}", first=told, others=_rooms(others)) if others else told


def _kib(amount: int | None) -> str:
    return "?" if amount is None else f"{amount / GIB_KB:.1f} GiB"


def _processor(value: Lscpu) -> Text:
    return say(
        "{model}: CPUs {cpus}, sockets {sockets}, NUMA nodes {nodes}",
        model=value.bios_model or value.model or "?",
        cpus=value.cpus,
        sockets=value.sockets or "?",
        nodes=value.numa_nodes or "?",
    )


def _memory(value: Meminfo) -> Text:
    return say(
        "{available} available of {total}", available=_kib(value.mem_available_kb), total=_kib(value.mem_total_kb)
    )


def _limits(value: Limits) -> Text:
    parts = [f"{value.memory_bytes / 2**30:.1f} GiB"] if value.memory_bytes is not None else []
    parts += [f"{value.cpus:g} CPU"] if value.cpus is not None else []
    return verbatim(", ".join(parts)) if parts else say("none")


def _libc(value: Libc) -> Text:
    return verbatim(value.name + (f" {value.version[0]}.{value.version[1]}" if value.version else ""))


def _clock(value: Clock) -> Text:
    from datetime import UTC, datetime

    return verbatim(datetime.fromtimestamp(value.seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC"))


def _npu_tool(value: NpuTool) -> Text:
    if not value.installed:
        return say("not there")
    if value.trouble is not None:
        return value.trouble.message
    return verbatim(", ".join(f"{one.npu}: {one.name}" for one in value.info.devices) if value.info else "?")


SPEAKERS: Mapping[type, Callable[..., Text]] = {
    OsRelease: lambda one: verbatim(one.pretty or f"{one.name} {one.version or ''}".strip()),
    Kernel: lambda one: verbatim(f"{one.system} {one.release}"),
    Libc: _libc,
    User: lambda one: verbatim(f"{one.name or '?'} ({one.uid})"),
    Clock: _clock,
    Lscpu: _processor,
    Meminfo: _memory,
    Limits: _limits,
    NumaNode: lambda one: verbatim(f"{one.node}: CPU {one.cpus}, {_kib(one.mem_total_kb)}"),
    Python: lambda one: verbatim(f"{one.path} {'.'.join(map(str, one.version))}"),
    Uv: lambda one: verbatim(one.version) if one.version else say("not there"),
    PciNpu: lambda one: verbatim(f"{one.bus_id} {one.chip or one.device_id}"),
    NpuNodes: lambda one: verbatim(", ".join(f"davinci{n}" for n in one.numbers)) if one.numbers else say("none"),
    NpuTool: _npu_tool,
    **ASCEND_SPEAKERS,
}
