"""Every check of the machine around the NPUs at every level it knows, with small fact values."""

import math
from dataclasses import replace

import pytest

from console.catalog.profiles import PROFILES
from console.checks import Level
from console.facts.disks import Disks
from console.facts.hccn import HccnConf, HccnDevice
from console.facts.holders import Docker
from console.facts.nics import Hca, IbvDevinfo, Nics, RdmaPort
from console.facts.packages import parse_packages
from console.facts.surroundings import Guards, Resolvers, TimeSync
from console.facts.tuning import Governors, Ulimits
from console.facts.versions import VersionFile
from console.text import render
from tests.checks.small_facts import (
    CANN,
    FAIL,
    HCA,
    KUNPENG,
    KYLIN,
    LIMITS,
    MEM,
    NIC,
    NVME,
    PACKAGES,
    PASS,
    RAID,
    TOPO,
    UBUNTU,
    UNKNOWN,
    UP,
    WARN,
    Values,
    assert_case,
    dmi,
    numa,
    ports,
    room,
    verdict_of,
)  # fmt: skip
from tests.checks.test_card_checks import CASES as CARD_CASES

Case = tuple[str, Level, Values, str]

GOOD = "ipaddr:192.0.2.1\nlink status: UP\nnet health status: Success\ntls switch[0]"
OTHER = GOOD.replace("192.0.2.1", "192.0.2.2")
KEPT = HccnConf({"0": HccnDevice("192.0.2.1"), "1": HccnDevice("192.0.2.2")})
DRIVER = VersionFile(driver="25.5.1")
TOOLS = frozenset({"gcc", "g++", "make", "dkms", "numactl", "taskset", "jemalloc"})
ALL_CANN = {"cann_toolkit": CANN, "cann_operators": CANN, "cann_nnal": CANN}
NO_CANN = dict.fromkeys(ALL_CANN)


def cann(driver: str, version: str | None) -> Values:
    return {
        "driver_version": VersionFile(driver=driver),
        "cann_toolkit": None if version is None else VersionFile(version=version),
    }


CASES: list[Case] = [
    ("driver_and_cann", PASS, cann("25.5.1", "9.1.0"), "Driver 25.5.1, CANN 9.1.0"),
    ("driver_and_cann", PASS, cann("26.0.rc1", None), "CANN 9.1.0 is to be installed"),
    ("driver_and_cann", WARN, cann("25.2.0", "9.1.0"), "Driver 25.2.0"),
    ("driver_and_cann", WARN, cann("27.0.0", "9.1.0"), "Driver 27.0.0"),
    ("driver_and_cann", WARN, cann("25.5.1", "8.3.RC1"), "CANN 8.3.RC1"),
    ("driver_and_cann", FAIL, cann("25.0.rc1.1", "9.1.0"), "Driver 25.0.rc1.1"),
    ("driver_and_cann", FAIL, cann("24.1.rc1", "8.5.0"), "Driver 24.1.rc1"),
    ("driver_and_cann", UNKNOWN, {"driver_version": None, "cann_toolkit": CANN}, "No driver"),
    ("cann_complete", PASS, ALL_CANN, "toolkit 9.1.0, ops 9.1.0, nnal 9.1.0"),
    ("cann_complete", WARN, NO_CANN, "not installed yet"),
    ("cann_complete", WARN, {name: VersionFile(version="8.5.0") for name in ALL_CANN}, "toolkit 8.5.0"),
    ("cann_complete", FAIL, {**ALL_CANN, "cann_nnal": None}, "missing: nnal"),
    ("cann_complete", FAIL, {**ALL_CANN, "cann_operators": VersionFile(kernels_installed=False)}, "missing: ops"),
    ("cann_complete", FAIL, {**ALL_CANN, "cann_nnal": VersionFile(version="8.5.0")}, "nnal 8.5.0"),
    ("cann_complete", FAIL, {**ALL_CANN, "arch": "x86_64"}, "built for aarch64"),
    ("engine_packages", PASS, {"packages": None}, "None is installed yet"),
    ("engine_packages", PASS, {"packages": parse_packages(PACKAGES)}, "vllm 0.23.0, vllm-ascend 0.23.0"),
    (
        "engine_packages",
        FAIL,
        {"packages": parse_packages(PACKAGES.replace("torch==2.10", "torch==2.9"))},
        "torch 2.9.0",
    ),
    ("engine_packages", FAIL, {"packages": parse_packages("vllm==0.23.0\ntorch==2.11.0")}, "missing: vllm-ascend"),
    (
        "engine_packages",
        WARN,
        {"packages": parse_packages(PACKAGES + "triton==3.6\ntriton-ascend==3.2.2")},
        "triton 3.6",
    ),
    ("container_engine", PASS, {"docker": Docker("26.1", "runc", ("runc", "ascend"))}, "with the Ascend runtime"),
    ("container_engine", PASS, {"docker": Docker("26.1", "runc", ("runc",))}, "default runtime runc"),
    ("container_engine", WARN, {"docker": None}, "not installed"),
    ("container_engine", WARN, {"docker": Docker(None, None, ())}, "not running"),
    ("system_on_list", PASS, {"os_release": UBUNTU}, "Ubuntu 22.04"),
    ("system_on_list", WARN, {"os_release": KYLIN}, "Kylin V10"),
    ("host_processor", PASS, {"lscpu": KUNPENG, "usable_cpus": 64}, "Kunpeng-920: 64 cores at up to 2.6 GHz"),
    ("host_processor", PASS, {"lscpu": replace(KUNPENG, max_mhz=None), "usable_cpus": 64}, "Kunpeng-920: 64 cores"),
    ("host_processor", WARN, {"lscpu": KUNPENG, "usable_cpus": 16}, "16 cores"),
    ("host_processor", WARN, {"lscpu": replace(KUNPENG, max_mhz=2000.0), "usable_cpus": 64}, "2.0 GHz"),
    ("host_processor", FAIL, {"lscpu": replace(KUNPENG, cores_per_socket=8), "usable_cpus": 64}, "8 cores"),
    ("host_memory", PASS, {"meminfo": replace(MEM, mem_total_kb=503 * 2**20)}, "503 GiB"),
    ("host_memory", WARN, {"meminfo": replace(MEM, mem_total_kb=256 * 2**20)}, "256 GiB"),
    ("host_memory", FAIL, {"meminfo": replace(MEM, mem_total_kb=64 * 2**20)}, "64 GiB"),
    ("host_memory", UNKNOWN, {"meminfo": replace(MEM, mem_total_kb=None)}, "does not say"),
    ("memory_correction", PASS, {"memory_modules": dmi(channels=(("0/0", 2), ("0/1", 2)))}, "Multi-bit ECC"),
    ("memory_correction", WARN, {"memory_modules": dmi(correction="None")}, "error correction: None"),
    ("memory_correction", WARN, {"memory_modules": dmi(channels=(("0/0", 2), ("0/1", 1)))}, "2 modules"),
    ("memory_correction", WARN, {"memory_modules": dmi(speeds=(2400, 2933))}, "2 modules"),
    ("memory_correction", UNKNOWN, {"memory_modules": dmi(correction=None)}, "error correction: ?"),
    ("memory_correction", UNKNOWN, {"memory_modules": dmi(dimms=0)}, "lists no memory module"),
    ("card_placement", PASS, {"npu_topo": TOPO, "numa": numa(9, 9)}, "NPU 1: CPU 32-63"),
    ("card_placement", WARN, {"npu_topo": TOPO, "numa": numa(9, 0)}, "NPU 1: CPU 32-63"),
    ("card_placement", UNKNOWN, {"npu_topo": None, "numa": numa(9)}, "near the cards"),
    ("room_for_cann", PASS, {"rooms": room("cann", 20)}, "20.0 GiB"),
    ("room_for_cann", FAIL, {"rooms": room("cann", 19.9)}, "19.9 GiB"),
    ("nvme_array", PASS, {"disks": Disks(NVME, (RAID,))}, "md0 raid0 3.7T: nvme0n1, nvme1n1"),
    ("nvme_array", WARN, {"disks": Disks(NVME, (replace(RAID, size="894G"),))}, "894G"),
    ("nvme_array", WARN, {"disks": Disks(NVME, (replace(RAID, level="raid1"),))}, "NVMe disks: 2; RAID 0 of them: -"),
    ("nvme_array", WARN, {"disks": Disks((), (replace(RAID, members=("sda", "sdb")),))}, "NVMe disks: 0"),
    ("cpu_governor", PASS, {"governors": Governors({"performance": 64})}, "performance: 64"),
    ("cpu_governor", PASS, {"governors": Governors({})}, "firmware decides"),
    ("cpu_governor", WARN, {"governors": Governors({"performance": 63, "powersave": 1})}, "powersave: 1"),
    ("huge_pages_allowed", PASS, {"transparent_hugepages": "madvise"}, "madvise"),
    ("huge_pages_allowed", WARN, {"transparent_hugepages": "never"}, "never"),
    ("huge_pages_allowed", WARN, {"transparent_hugepages": None}, "This kernel has none"),
    ("huge_pages_reserved", PASS, {"meminfo": MEM}, "0 pages"),
    ("huge_pages_reserved", PASS, {"meminfo": replace(MEM, hugepages_total=None)}, "This kernel has none"),
    ("huge_pages_reserved", WARN, {"meminfo": replace(MEM, hugepages_total=2**16)}, "128.0 GiB"),
    ("open_files", PASS, {"ulimits": LIMITS}, "soft limit 1024, hard limit 524288"),
    ("open_files", WARN, {"ulimits": replace(LIMITS, files_hard=4096)}, "hard limit 4096"),
    ("open_files", WARN, {"ulimits": replace(LIMITS, files=20000, files_hard=20000)}, "hard limit are the same"),
    ("locked_memory", PASS, {"ulimits": LIMITS}, "no limit"),
    ("locked_memory", WARN, {"ulimits": Ulimits(1, 1, 64, math.inf)}, "soft limit 64 KiB, hard limit no limit"),
    ("shared_memory", PASS, {"rooms": room("shm", 1)}, "1.0 GiB"),
    ("shared_memory", FAIL, {"rooms": room("shm", 0.1)}, "0.1 GiB"),
    ("kernel_settings", PASS, {"sysctls": {"kernel/numa_balancing": 0, "vm/swappiness": 10}}, "vm.swappiness = 10"),
    ("kernel_settings", PASS, {"sysctls": {}}, "-"),
    ("kernel_settings", WARN, {"sysctls": {"kernel/numa_balancing": 1}}, "kernel.numa_balancing = 1"),
    ("useful_tools", PASS, {"tools": TOOLS}, "numactl"),
    ("useful_tools", WARN, {"tools": TOOLS - {"numactl", "jemalloc"}}, "Missing: numactl, jemalloc"),
    ("time_follows", PASS, {"time_sync": TimeSync(True, 0.002)}, "follows a time server"),
    ("time_follows", WARN, {"time_sync": TimeSync(True, -7.5)}, "7.5 s off"),
    ("time_follows", WARN, {"time_sync": TimeSync(False, None)}, "follows no time server"),
    ("time_follows", UNKNOWN, {"time_sync": TimeSync(None, None)}, "Neither"),
    ("proxies_spare_own", PASS, {"proxies": {}}, "None is set"),
    ("proxies_spare_own", PASS, {"proxies": {"http_proxy": "x", "no_proxy": "localhost,127.0.0.1"}}, "http_proxy=x"),
    ("proxies_spare_own", WARN, {"proxies": {"http_proxy": "x", "no_proxy": "localhost"}}, "no_proxy=localhost"),
    ("name_servers", PASS, {"resolvers": Resolvers(("192.0.2.53",), ())}, "192.0.2.53"),
    ("name_servers", WARN, {"resolvers": None}, "None is set"),
    ("firewall_between_nodes", PASS, {"guards": Guards("Permissive", ())}, "SELinux: Permissive"),
    ("firewall_between_nodes", WARN, {"guards": Guards(None, ("firewalld",))}, "Active: firewalld"),
    ("network_speed", PASS, {"nics": Nics((NIC,))}, "eth0: 25 Gb/s"),
    ("network_speed", WARN, {"nics": Nics((replace(NIC, speed_mbps=1000),))}, "eth0: 1 Gb/s"),
    ("network_speed", UNKNOWN, {"nics": Nics((replace(NIC, link=False),))}, "No interface"),
    ("roce_ports", PASS, {"rdma": IbvDevinfo((HCA,))}, "hns_0 1: PORT_ACTIVE Ethernet"),
    ("roce_ports", WARN, {"rdma": IbvDevinfo((Hca("x", None, (RdmaPort(1, "PORT_DOWN", 1, "Ethernet"),)),))}, "DOWN"),
    ("roce_ports", WARN, {"rdma": None}, "no RDMA port"),
    ("npu_links", PASS, {"npu_ports": ports(GOOD, OTHER)}, "UP on 2 ports"),
    ("npu_links", FAIL, {"npu_ports": ports(GOOD, OTHER.replace("UP", "DOWN"))}, "NPU 1: DOWN"),
    ("npu_links", FAIL, {"npu_ports": ports(GOOD, "The query timed out.")}, "NPU 1: The query timed out."),
    ("npu_links", UNKNOWN, {"npu_ports": None}, "no answer"),
    ("npu_addresses", PASS, {"npu_ports": ports(GOOD, OTHER), "hccn_conf": KEPT}, "NPU 1: 192.0.2.2"),
    ("npu_addresses", WARN, {"npu_ports": ports(GOOD, OTHER), "hccn_conf": None}, "NPU 0: 192.0.2.1"),
    ("npu_addresses", FAIL, {"npu_ports": ports(GOOD, UP)}, "NPU 1: -"),
    ("npu_addresses", FAIL, {"npu_ports": ports(GOOD, GOOD)}, "NPU 1: 192.0.2.1"),
    ("npu_addresses", UNKNOWN, {"npu_ports": None}, "no answer"),
    ("npu_net_health", PASS, {"npu_ports": ports(GOOD, OTHER)}, "Success on 2 ports"),
    ("npu_net_health", WARN, {"npu_ports": ports(GOOD, OTHER.replace("Success", "Init"))}, "NPU 1: Init"),
    ("npu_net_health", FAIL, {"npu_ports": ports(GOOD.replace("Success", "Fail"), OTHER)}, "NPU 0: Fail"),
    ("npu_net_health", UNKNOWN, {"npu_ports": None}, "no answer"),
    ("npu_tls", PASS, {"npu_ports": ports(GOOD, OTHER)}, "TLS is off"),
    ("npu_tls", PASS, {"npu_ports": ports(GOOD.replace("[0]", "[1]"))}, "TLS is on"),
    ("npu_tls", FAIL, {"npu_ports": ports(GOOD, OTHER.replace("[0]", "[1]"))}, "NPU 1: TLS 1"),
    ("npu_tls", UNKNOWN, {"npu_ports": ports(GOOD, UP)}, "Not every port"),
    ("npu_tls", UNKNOWN, {"npu_ports": None}, "no answer"),
]


@pytest.mark.parametrize(("name", "level", "values", "words"), CASES)
def test_check_judges(name: str, level: Level, values: Values, words: str) -> None:
    assert_case(name, level, values, words)


def test_every_new_check_has_its_cases() -> None:
    seen = {case[0] for case in (*CASES, *CARD_CASES)}
    known = {name for one in PROFILES.values() if one.id.startswith("ascend") for name in one.checks}
    elsewhere = {"installed_parts_fit"}  # tests/checks/test_stack_check.py
    assert known - seen == elsewhere | set(PROFILES["this-machine-cpu"].checks) & known
    for name in {case[0] for case in CASES}:
        assert {level for case, level, _, _ in CASES if case == name} > {PASS}, name


def test_fix_commands_fit_the_system() -> None:
    missing = {"tools": TOOLS - {"g++", "taskset", "jemalloc"}}
    debian = verdict_of("useful_tools", {**missing, "os_release": UBUNTU}).fix_command
    euler = verdict_of("useful_tools", missing).fix_command
    assert debian == "sudo apt-get install -y g++ util-linux libjemalloc2"
    assert euler == "sudo dnf install -y gcc-c++ util-linux jemalloc"


def test_the_driver_wished_for_is_named_with_its_version() -> None:
    fix = verdict_of("driver_and_cann", cann("25.2.0", "9.1.0")).fix
    assert fix
    assert "25.5.1" in render(fix, "en")


def test_a_proxy_list_is_quoted_for_the_shell() -> None:
    odd = {"proxies": {"http_proxy": "x", "no_proxy": "a b;$(id)"}}
    assert verdict_of("proxies_spare_own", odd).fix_command == "export no_proxy='a b;$(id),127.0.0.1,localhost'"
