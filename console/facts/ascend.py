"""The facts asked of a host that has, or should have, Ascend NPUs."""

from console.facts import ascend_shell as npu_side
from console.facts import host_shell as host_side
from console.facts.ascend_shell import npu_smi, of_each_card
from console.facts.cards import parse_cards, parse_ports
from console.facts.disks import parse_disks
from console.facts.dmidecode import parse_dmidecode
from console.facts.fact import Fact, optional
from console.facts.hccn import parse_hccn_conf
from console.facts.holders import parse_containers, parse_docker, parse_holders
from console.facts.local import FACTS as LOCAL
from console.facts.nics import parse_ibv_devinfo, parse_nics
from console.facts.npu_presence import parse_npu_tool
from console.facts.npu_smi_lists import parse_mapping, parse_npu_list
from console.facts.npu_smi_topo import parse_topo
from console.facts.packages import parse_packages
from console.facts.rooms import parse_rooms
from console.facts.surroundings import parse_guards, parse_proxies, parse_resolvers, parse_time_sync
from console.facts.tuning import (
    parse_choice,
    parse_governors,
    parse_headers,
    parse_names,
    parse_npu_user,
    parse_sysctls,
    parse_ulimits,
)
from console.facts.versions import parse_version_file

CARD_LIMIT_S = 20
"""For a loop over the cards of a host: at most sixteen, and a call takes some tenths of a second."""

_LOCAL = (
    "wish", "kernel", "arch", "os_release", "libc", "user", "locale", "clock", "lscpu", "cpu_flags", "usable_cpus",
    "meminfo", "limits", "numa", "pythons", "uv", "listeners", "npu_pci", "npu_nodes",
)  # fmt: skip

_CARDS = [
    Fact("npu_tool", npu_side.TOOL, parse_npu_tool, 15),
    Fact("npu_list", npu_smi("info -l"), optional(parse_npu_list), 10, False),
    Fact("npu_map", npu_smi("info -m"), optional(parse_mapping), 10, False),
    Fact("npu_topo", npu_smi("info -t topo"), optional(parse_topo), 10, False),
    Fact("npu_board", of_each_card("board"), optional(parse_cards("board")), CARD_LIMIT_S, False),
    Fact("npu_chips", of_each_card("board", "-c 0"), optional(parse_cards("board")), CARD_LIMIT_S, False),
    Fact("npu_common", of_each_card("common"), optional(parse_cards("common")), CARD_LIMIT_S, False),
    Fact("npu_ecc", of_each_card("ecc"), optional(parse_cards("ecc")), CARD_LIMIT_S, False),
    Fact("npu_health", of_each_card("health"), optional(parse_cards("health")), CARD_LIMIT_S, False),
    Fact("npu_memory", of_each_card("memory"), optional(parse_cards("memory")), CARD_LIMIT_S, False),
    Fact("npu_power", of_each_card("power"), optional(parse_cards("power")), CARD_LIMIT_S, False),
    Fact("npu_usages", of_each_card("usages"), optional(parse_cards("usages")), CARD_LIMIT_S, False),
    Fact("npu_holders", npu_side.HOLDERS, parse_holders, 15, False),
]

_SOFTWARE = [
    Fact("install_info", npu_side.INSTALL_INFO, optional(parse_version_file), without_npu=False),
    Fact("driver_version", npu_side.DRIVER, optional(parse_version_file), without_npu=False),
    Fact("firmware_version", npu_side.FIRMWARE, optional(parse_version_file), without_npu=False),
    Fact("cann_toolkit", npu_side.TOOLKIT, optional(parse_version_file), without_npu=False),
    Fact("cann_operators", npu_side.OPERATORS, optional(parse_version_file), without_npu=False),
    Fact("cann_nnal", npu_side.NNAL, optional(parse_version_file), without_npu=False),
    Fact("packages", npu_side.PACKAGES, optional(parse_packages), 10, False),
    Fact("npu_user", host_side.NPU_USER, parse_npu_user, without_npu=False),
    Fact("kernel_headers", host_side.HEADERS, parse_headers, without_npu=False),
    Fact("tools", host_side.TOOLS, parse_names, without_npu=False),
    Fact("docker", host_side.DOCKER, optional(parse_docker), 8),
    Fact("containers", host_side.CONTAINERS, optional(parse_containers), 8),
]

_MACHINE = [
    Fact("rooms", host_side.ROOMS_TOO, parse_rooms),
    Fact("memory_modules", "dmidecode -t memory", parse_dmidecode),
    Fact("disks", host_side.DISKS, parse_disks),
    Fact("nics", host_side.NICS, parse_nics),
    Fact("rdma", host_side.RDMA, optional(parse_ibv_devinfo)),
    Fact("governors", host_side.GOVERNORS, parse_governors),
    Fact("transparent_hugepages", host_side.HUGE, optional(parse_choice)),
    Fact("ulimits", host_side.ULIMITS, parse_ulimits),
    Fact("sysctls", host_side.SYSCTLS, parse_sysctls),
    Fact("time_sync", host_side.TIME_SYNC, parse_time_sync, 8),
    Fact("proxies", host_side.PROXIES, parse_proxies),
    Fact("resolvers", host_side.RESOLVERS, optional(parse_resolvers)),
    Fact("guards", host_side.GUARDS, parse_guards, 8),
    Fact("hccn_conf", npu_side.HCCN_CONF, optional(parse_hccn_conf), without_npu=False),
    Fact("npu_ports", npu_side.HCCN, optional(parse_ports), CARD_LIMIT_S, False),
]

FACTS: list[Fact] = [*(fact for fact in LOCAL if fact.name in _LOCAL), *_CARDS, *_SOFTWARE, *_MACHINE]
"""In the order in which they are shown. The question carries $PILOT_FOLDER, $PILOT_PORT and, where the engine has a
Python of its own elsewhere, $PILOT_PYTHON. Without root the memory modules, NPU ports and processes of others stay
unknown, with the reason.
"""
