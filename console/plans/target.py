"""A host as far as it matters for choosing versions, and how much of that its facts tell."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from console.catalog.releases import Python
from console.facts.npu_presence import NpuTool, PciNpu
from console.facts.os_release import OsRelease
from console.facts.packages import Packages
from console.facts.probe import Facts
from console.facts.pythons import Python as Interpreter
from console.facts.system import Kernel, Libc
from console.facts.versions import VersionFile
from console.text import Text, say

CHIP_OF_DEVICE: Mapping[str, str] = {"d100": "310", "d500": "310P", "d801": "910A", "d802": "A2", "d803": "A3"}
"""What stands for a chip that only the PCI bus tells about (CANN 9.1.0 driver guide and public device plug-ins)."""
PACKAGES = {"vllm": "vllm", "vllm-ascend": "vllm_ascend", "torch": "torch", "torch-npu": "torch_npu",
            "triton-ascend": "triton_ascend"}  # fmt: skip
_ARCHS = {"arm64": "aarch64", "amd64": "x86_64", "x86-64": "x86_64"}


@dataclass(frozen=True)
class Target:
    """What is known of a host.

    chip      as npu-smi prints it, whole; "" when not known
    system    ID-VERSION_ID of /etc/os-release in lower case, "" when not known
    driver    None: not installed. firmware, cann: None: not installed, or not known
    glibc     None: that of the system counts
    pythons   versions on the PATH; empty: not known, any may be installed
    parts     other installed parts with their versions, by names such as "torch_npu"
    """

    chip: str
    arch: str
    system: str = ""
    driver: str | None = None
    firmware: str | None = None
    glibc: tuple[int, int] | None = None
    pythons: tuple[Python, ...] = ()
    cann: str | None = None
    kernel: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, object]:
        """For JSON."""
        return {
            "chip": self.chip,
            "arch": self.arch,
            "os": self.system,
            "driver": self.driver,
            "firmware": self.firmware,
            "glibc": None if self.glibc is None else dotted(self.glibc),
            "pythons": [dotted(one) for one in self.pythons],
            "cann": self.cann,
            "kernel": self.kernel,
            "installed": dict(self.parts),
        }


def of_facts(facts: Facts) -> Target:
    """The target a host's facts make; what was not observed stays unknown."""
    told = facts.values
    kernel, libc = told.get("kernel"), told.get("libc")
    firmware = told.get("firmware_version")
    interpreters = told.get("pythons")
    pythons = interpreters if isinstance(interpreters, tuple) else ()
    return Target(
        chip=_chip(told.get("npu_tool"), told.get("npu_pci")),
        arch=arch_name(str(told.get("arch", ""))),
        system=system_name(told.get("os_release")),
        driver=driver_of(told.get("driver_version"), told.get("npu_tool")),
        firmware=firmware.firmware if isinstance(firmware, VersionFile) else None,
        glibc=libc.version if isinstance(libc, Libc) else None,
        pythons=tuple(dict.fromkeys(one.version[:2] for one in pythons if isinstance(one, Interpreter))),
        cann=cann_of(told.get("cann_toolkit")),
        kernel=kernel.release if isinstance(kernel, Kernel) else "",
        parts=parts_of(told.get("packages")),
    )


def unseen(facts: Facts) -> dict[str, Text]:
    """The facts a choice rests on that were not observed, each with words for people; they count as absent."""
    wanted = ("npu_tool", "driver_version", "arch", "os_release", "libc", "pythons")
    return {
        name: say("Not known of this host: {fact}. {reason}", fact=name, reason=facts.reason(name))
        for name in wanted
        if name not in facts.values
    }


def driver_of(driver_version: object, npu_tool: object) -> str | None:
    """The version of the driver bundle, as npu-smi and the driver's own file write it."""
    if isinstance(npu_tool, NpuTool) and npu_tool.info and npu_tool.info.driver_version:
        return npu_tool.info.driver_version
    return (
        (driver_version.package_version or driver_version.driver) if isinstance(driver_version, VersionFile) else None
    )


def cann_of(toolkit: object) -> str | None:
    return (toolkit.version or toolkit.cann) if isinstance(toolkit, VersionFile) else None


def parts_of(packages: object) -> dict[str, str]:
    """The packages of the engine, by the names the catalog uses."""
    found = packages.packages if isinstance(packages, Packages) else {}
    return {part: found[name] for name, part in PACKAGES.items() if name in found}


def system_name(release: object) -> str:
    """ID-VERSION_ID in lower case ("openeuler-24.03", "kylin-v10")."""
    if not isinstance(release, OsRelease) or not release.id:
        return ""
    return "-".join(part for part in (release.id, release.version_id or "") if part).lower()


def arch_name(words: str) -> str:
    """As `uname -m` writes it; the names of container images count too."""
    return _ARCHS.get(words.strip().lower(), words.strip().lower())


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def same_version(one: str, other: str) -> bool:
    """Whether two versions are one release, whatever their local part and case ("2.10.0+cpu" and "2.10.0")."""
    return _public(one) == _public(other)


def _public(version: str) -> str:
    return re.sub(r"\+(?:cpu|empty|npu)\S*$", "", version.strip().lower().removeprefix("v"))


def _chip(npu_tool: object, npu_pci: object) -> str:
    if isinstance(npu_tool, NpuTool) and npu_tool.info:
        names = [one.name for one in npu_tool.info.devices if one.name]
        if names:
            return names[0]
    seen = [one.device_id for one in npu_pci if isinstance(one, PciNpu)] if isinstance(npu_pci, tuple) else []
    return next((CHIP_OF_DEVICE[one] for one in seen if one in CHIP_OF_DEVICE), "")
