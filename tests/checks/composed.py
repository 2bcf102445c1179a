"""Whole hosts, composed of what real tools printed; each scenario changes only what it is about."""

from pathlib import Path

from console.facts.ascend import FACTS
from console.facts.probe import Facts, Raw, read

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "host"


def sample(name: str, *changes: tuple[str, str]) -> str:
    """The text of one sample, with words replaced; a word that is not there is an error of the test."""
    text = (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text, (name, before)
        text = text.replace(before, after)
    return text


def each(text: str, cards: int = 2) -> str:
    """The answer for several cards: `text` with its NPU ID counted up."""
    parts = [
        f"== card {card}\n" + text.replace("NPU ID" + " " * 25 + ": 0", f"NPU ID : {card}") for card in range(cards)
    ]
    return "\n".join(parts) + "\n"


TITLE = "| npu-smi 25.5.1                   Version: 25.5.1                                               |\n"
IDLE = "| No running processes found in NPU 0                                                            |"
BUSY = [
    "| 0       0                 | 1406630       | mindie_llm_back          | 21835                   |",
    "| 0       0                 | 60575         | python                   | 2122                    |\n",
]
HELD = TITLE + sample("npu_smi_info_910b4_24.1.1_mindie_two_cards")
FREE = TITLE + sample(
    "npu_smi_info_910b4_24.1.1_mindie_two_cards", (BUSY[0], IDLE), (BUSY[1], ""), ("26838/ 32768", "2000 / 32768")
)
NO_ERRORS = sample("npu_smi_t_ecc_910")
HEALTHY = sample("npu_smi_t_health_950")
PORT = (
    "ipaddr:192.0.2.{n}\nnetmask:255.255.255.0\n"
    + sample("hccn_link_up")
    + "net health status: Success\n"
    + sample("hccn_tls_switch")
)
PORTS = "".join(f"== card {card}\n" + PORT.replace("{n}", str(10 + card)) + "\n" for card in range(2))
ROOM = """ask {name} yes {at}
for {at}
Filesystem 1-blocks Used Available Capacity Mounted on
/dev/md1 4000000000000 1000000 {free} 1% {at}
"""


def rooms(**free_gib: int) -> str:
    at = {"work": "/data", "tmp": "/tmp", "home": "/root", "cann": "/usr/local/Ascend", "shm": "/dev/shm", "root": "/"}
    free = {name: free_gib.get(name, 900) * 2**30 for name in at}
    return "".join(ROOM.format(name=name, at=at[name], free=free[name]) for name in at)


ECC = sample("dmidecode_memory_kunpeng916", ("Error Correction Type: None", "Error Correction Type: Multi-bit ECC"))

HOST: dict[str, str] = {
    "wish": "folder=/data\nport=8000\n",
    "kernel": "Linux 6.6.0-72.0.0.76.oe2403sp1.aarch64 aarch64\n",
    "arch": "aarch64\n",
    "os_release": sample("os_release_openeuler_24.03"),
    "libc": "glibc 2.38\n",
    "user": "0\nroot\n",
    "locale": "C.UTF-8\n",
    "clock": "1796083200\n+0800\n",
    "lscpu": sample("lscpu_kunpeng920_128c_4numa_kylin") + "CPU max MHz:          2600.0000\n",
    "cpu_flags": "Features : fp asimd asimdhp\n",
    "usable_cpus": "128\n",
    "meminfo": "MemTotal: 527433728 kB\nMemAvailable: 500000000 kB\nHugePages_Total: 0\nHugepagesize: 2048 kB\n",
    "limits": "",
    "numa": "".join(
        f"node {node} cpus {32 * node}-{32 * node + 31}\nNode {node} MemTotal: 131000000 kB\n" for node in range(4)
    ),
    "pythons": "python /usr/bin/python3.11 3.11.6 venv=yes pip=yes\n",
    "uv": "absent\n",
    "listeners": "source ss\n",
    "npu_pci": "0000:c1:00.0 0x19e5 0xd802 0x120000\n0000:c2:00.0 0x19e5 0xd802 0x120000\n",
    "npu_nodes": "davinci0\ndavinci1\ndavinci_manager\n",
    "npu_tool": FREE,
    "npu_topo": "       NPU0  NPU1  CPU Affinity\nNPU0   X     PHB   64-95\nNPU1   PHB   X     64-95\n",
    "npu_ecc": each(NO_ERRORS),
    "npu_health": each(HEALTHY),
    "npu_holders": "all yes\n",
    "install_info": sample("ascend_install_info_complete", ("Driver_Install_For_All=no", "Driver_Install_For_All=yes")),
    "driver_version": sample("driver_version_info_24.1.rc1", ("24.1.rc1", "25.5.1"), ("7.0.0,7.2.99", "7.7.0,7.9.99")),
    "firmware_version": "Version=7.8.0.5.216\nfirmware_version=1.0\npackage_version=25.5.1\n",
    "cann_toolkit": sample("cann_toolkit_install_info_8.5.0_aarch64", ("8.5.0", "9.1.0")),
    "cann_operators": "package_name=Ascend-cann-910b-ops\nversion=9.1.0\narch=aarch64\n",
    "cann_nnal": sample("nnal_atb_version_info_8.0.0", ("8.0.0", "9.1.0")),
    "packages": "absent\n",
    "npu_user": "user root\nuid 0\ngroups root\nowner HwHiAiUser\n",
    "kernel_headers": "running 6.6.0-72.aarch64\nheaders /lib/modules/6.6.0-72.aarch64/build\n",
    "tools": "begin\ngcc\ng++\nmake\ndkms\nnumactl\ntaskset\njemalloc\n",
    "docker": "server 26.1.3\ndefault runc\nruntimes ascend runc \n",
    "containers": "begin\n",
    "rooms": rooms(),
    "memory_modules": ECC,
    "disks": sample("lsblk_nvme_raid0_ascii", ("  894G", "  3.7T")),
    "nics": sample("ethtool_25g_ice") + "end\n",
    "rdma": sample("ibv_devinfo_roce_two_ports"),
    "governors": "begin\n    128 performance\n",
    "transparent_hugepages": "always [madvise] never\n",
    "ulimits": "n 1024 524288\nl unlimited unlimited\n",
    "sysctls": "vm/swappiness=0\nkernel/numa_balancing=0\nend=0\n",
    "time_sync": "begin\nNTP=yes\nNTPSynchronized=yes\n",
    "proxies": "begin\n",
    "resolvers": "nameserver 192.0.2.53\n",
    "guards": "selinux Disabled\n",
    "hccn_conf": "address_0=192.0.2.10\nnetmask_0=255.255.255.0\naddress_1=192.0.2.11\nnetmask_1=255.255.255.0\n",
    "npu_ports": PORTS,
}
"""What a host like the reference host of the pilot prints."""


def host(**changes: str) -> Facts:
    """The host with other answers; an answer that begins with `timeout` is one that never came."""
    texts = {**HOST, **changes}
    raws = {
        name: Raw(name, "", None, None, True, limit_s=20) if text == "timeout" else Raw(name, text, 0, 0.1)
        for name, text in texts.items()
    }
    return read(raws, FACTS)
