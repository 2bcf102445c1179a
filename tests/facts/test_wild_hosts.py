"""Outputs of a host in forms that a collected sample does not show yet: other languages, older and newer tools."""

from typing import Any

import pytest

from console.facts.decoding import decoded
from console.facts.kinds import parse
from console.facts.listeners import Listener, parse_listeners
from console.facts.npu_presence import NpuNodes, PciNpu, parse_npu_nodes, parse_npu_pci, parse_npu_tool
from console.facts.pythons import Python, Uv, parse_pythons, parse_uv
from console.facts.rooms import NumaNode, Room, parse_numa, parse_rooms
from console.facts.system import (
    Clock,
    Kernel,
    Libc,
    Limits,
    User,
    Wish,
    parse_clock,
    parse_flags,
    parse_kernel,
    parse_libc,
    parse_limits,
    parse_user,
    parse_wish,
)
from console.facts.trouble import Trouble

CHINESE_LSCPU = """架构：                              aarch64
CPU 运行模式：                      64-bit
CPU:                                128
在线 CPU 列表：                     0-127
每个核的线程数：                    1
每个座的核数：                      64
座：                                2
NUMA 节点：                         4
厂商 ID：                           HiSilicon
型号名称：                          Kunpeng-920
CPU 最大 MHz：                      2600.0000
NUMA 节点0 CPU：                    0-31
NUMA 节点1 CPU：                    32-63
标记：                              fp asimd bf16
"""


def test_lscpu_in_chinese() -> None:
    found: Any = parse("lscpu", CHINESE_LSCPU)
    assert (found["arch"], found["cpus"], found["sockets"], found["cores_per_socket"]) == ("aarch64", 128, 2, 64)
    assert (found["threads_per_core"], found["numa_nodes"], found["vendor"]) == (1, 4, "HiSilicon")
    assert found["numa"] == {"0": "0-31", "1": "32-63"}
    assert (found["model"], found["max_mhz"], found["flags"]) == ("Kunpeng-920", 2600.0, ["fp", "asimd", "bf16"])


def test_lscpu_of_newer_tools_with_clusters_indents_and_json() -> None:
    rows = (
        "Architecture: aarch64\nCPU(s): 128\nVendor ID: HiSilicon\n  Model name: -\n  Socket(s): -\n  Cluster(s): 2\n"
    )
    found: Any = parse(
        "lscpu", rows + "  Core(s) per cluster: 64\nNUMA:\n  NUMA node(s): 2\n  NUMA node0 CPU(s): 0-63\n"
    )
    assert (found["sockets"], found["clusters"], found["cores_per_cluster"], found["model"]) == (None, 2, 64, None)
    assert (found["numa_nodes"], found["numa"]) == (2, {"0": "0-63"})
    text = """{"lscpu": [{"field": "Architecture:", "data": "x86_64", "children": [{"field": "CPU(s):", "data": "8"}]},
              {"field": "NUMA node0 CPU(s):", "data": "0-7"}]}"""
    found = parse("lscpu", text)
    assert (found["arch"], found["cpus"], found["numa"]) == ("x86_64", 8, {"0": "0-7"})


def test_free_in_chinese_and_of_old_tools() -> None:
    found = parse("free", "              总计         已用        空闲      共享    缓冲/缓存    可用\n"
                          "内存：       2.0Ti       389Gi       1.3Ti       5.0Mi       358Gi       1.6Ti\n"
                          "交换：       4.0Gi          0B       4.0Gi\n")  # fmt: skip
    assert (found["mem_total"], found["mem_available"], found["swap_free"]) == ("2.0Ti", "1.6Ti", "4.0Gi")
    found = parse("free", "             total       used       free     shared    buffers     cached\n"
                          "Mem:         16000       2000      14000          0        100        500\n")  # fmt: skip
    assert (found["mem_total"], found["mem_available"], found["swap_total"]) == ("16000", None, None)


def test_meminfo_cut_before_its_unit_is_not_believed() -> None:
    found: Any = parse("meminfo", "MemTotal:       16240544 KB\nMemAvailable:   1607")
    assert (found["mem_total_kb"], found["mem_available_kb"]) == (16240544, None)
    assert found["unread"] == ["MemAvailable: 1607"]


def test_names_of_operating_systems() -> None:
    found = parse("os_release", "NAME='Kylin'\r\nVERSION=\"V10 (Lance) SP3\"\r\nID=kylin # x\r\nVERSION_ID=V10\r\n")
    assert (found["id"], found["version_id"], found["codename"], found["sp"]) == ("kylin", "V10", "Lance", "SP3")
    assert parse("os_release", "cat: /etc/os-release: No such file or directory")["error_kind"] == "missing"


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        ("Package Version\n------- -------\nTorch   2.9.0+cpu\nvllm_ascend 0.18.0 /src/vllm-ascend\n",
         {"torch": "2.9.0+cpu", "vllm-ascend": "0.18.0"}),
        ("torch==2.9.0 ; python_version >= '3.11'\n-e git+https://x/y#egg=z\n", {"torch": "2.9.0"}),
        ('[{"name": "Torch_NPU", "version": "2.9.0"}]', {"torch-npu": "2.9.0"}),
        ("torch (2.1.0, /usr/lib)\n", {"torch": "2.1.0"}),
    ],
)  # fmt: skip
def test_lists_of_packages(text: str, packages: dict[str, str]) -> None:
    found = parse("pip_list", text)
    assert found["packages"] == packages
    assert found["mismatch"] is None


def test_packages_from_elsewhere_tell_their_version_or_are_named() -> None:
    found = parse(
        "pip_list",
        "-e git+https://host/vllm@0a1b2c#egg=vllm\n# Editable install with no version control (modelscope==1.30.0)\n"
        "-e /src/modelscope\nvllm-ascend @ file:///x/vllm_ascend-0.23.0-cp311-cp311-manylinux_2_34_aarch64.whl\n"
        "torch_npu @ https://host/archive/main.zip\n",
    )
    assert found["packages"] == {"modelscope": "1.30.0", "vllm-ascend": "0.23.0"}
    assert [line.split()[0] for line in found["unread"]] == ["-e", "torch_npu"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_text_in_the_encoding_of_where_it_was_saved(encoding: str) -> None:
    text = "架构：   aarch64\nCPU:   96\n厂商 ID：   HiSilicon\n"
    assert decoded(text.encode(encoding)).removeprefix("\ufeff") == text


def test_a_character_cut_at_the_end_does_not_change_the_encoding() -> None:
    assert decoded("架构：aarch64 架构".encode()[:-1]).startswith("架构：aarch64 架")
    assert decoded(b"CPU(s): 8\xff\x00\xfe\xff CPU\n").startswith("CPU(s): 8")


def test_packages_that_do_not_go_together() -> None:
    found = parse("pip_list", "torch==2.9.0+cpu\ntorch-npu==2.9.0.post1\nvllm==0.18.0\nvllm-ascend==0.17.0rc1\n")
    assert found["mismatch"] == ["vllm-ascend 0.17.0rc1 vs vllm 0.18.0"]


def test_lsblk_with_line_drawing_and_many_mount_points() -> None:
    text = """NAME        MAJ:MIN RM  SIZE RO TYPE MOUNTPOINTS
sda           8:0    0  1.8T  0 disk
├─sda1        8:1    0    1G  0 part /boot
└─sda2        8:2    0  1.8T  0 part /
                                     /home
nvme0n1     259:0    0  2.9T  0 disk
sr0          11:0    1 1024M  0 rom
"""
    found: Any = parse("disks", text)
    assert [disk["node"] for disk in found["disks"]] == ["/dev/sda", "/dev/nvme0n1"]
    assert (found["free_disks"], found["raid"], found["unread"]) == (["nvme0n1"], [], [])


def test_network_cards_without_a_link() -> None:
    found = parse("ethtool", "Settings for eth0:\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n\tLink detected: no\n")
    assert (found["iface"], found["speed_mbps"], found["duplex"], found["link"]) == ("eth0", None, None, False)
    assert parse("ibv_devinfo", "No IB devices found\n") == {"hcas": [], "status": "ok"}


def test_version_files_of_the_firmware_and_of_cann() -> None:
    found = parse("version_file", "Version=7.7.0.1.231\nfirmware_version=1.0\npackage_version=25.0.rc1.1\n")
    assert (found["firmware"], found["package_version"], found["driver"]) == ("7.7.0.1.231", "25.0.rc1.1", None)
    found = parse("version_file", "Version=8.2.0.0.201\nversion_dir=8.2.RC1\ntimestamp=1\n")
    assert (found["cann"], found["toolkit_internal"]) == ("8.2.RC1", "8.2.0.0.201")
    found = parse("version_file", "toolkit_running_version=[7.6.0.1:8.0.0]\nopp_running_version=[7.6.0.1:8.0.0]\n")
    assert (found["cann"], found["kernels_installed"]) == ("8.0.0", False)
    cut = parse("version_file", "toolkit_running_version=[7.6.0.1:8.0.0]\nopp_running_version=[7.6")
    assert (cut["cann"], cut["kernels_installed"]) == ("8.0.0", None)
    assert parse("version_file", "UserName=x\nDriver_Install_For_All=yes\n")["complete"] is None


def test_small_facts_of_a_system() -> None:
    assert parse_kernel("Linux 5.10.0-216.aarch64 aarch64\n") == Kernel("Linux", "5.10.0-216.aarch64", "aarch64")
    assert parse_libc("glibc 2.34\n") == Libc("glibc", (2, 34))
    assert parse_libc("ldd (Ubuntu GLIBC 2.35-0ubuntu3.8) 2.35\nCopyright (C) 2022\n") == Libc("glibc", (2, 35))
    assert parse_libc("ldd (GNU libc) 2.28\n") == Libc("glibc", (2, 28))
    assert parse_libc("musl libc (x86_64)\nVersion 1.2.4\n") == Libc("musl", None)
    assert isinstance(parse_libc("sh: getconf: not found"), Trouble)
    assert parse_flags("Features\t: fp asimd\n") == {"fp", "asimd"}
    assert parse_user("1000\nme\n") == User(1000, "me")
    assert parse_clock("1796083200\n+0800\n") == Clock(1796083200, "+0800")
    assert parse_clock("1796083200\n+0800\n1796083190\n").ahead == 10
    assert parse_clock("1796083200\n+0800\nsoon\n").ahead is None
    assert parse_wish("folder=/a b=c\nport=8000\n") == Wish("/a b=c", 8000)


def test_limits_take_the_strictest_and_know_both_versions() -> None:
    text = "memory.max max\nmemory.current 5\ncpu.max 150000 100000\nmemory.max 4294967296\ncpu.max max 100000\n"
    assert parse_limits(text) == Limits(4294967296, 5, 1.5)
    assert parse_limits("memory.limit_in_bytes 9223372036854771712\ncpu.max -1 100000\n") == Limits(None, None, None)


def test_rooms_in_bytes_and_in_kilobytes_with_odd_names() -> None:
    text = """ask work yes /mnt/my data
for /mnt/my data/pilot
Filesystem        1-blocks        Used   Available Capacity Mounted on
//nas/a share  1000000000 400000000 600000000      40% /mnt/my data
ask tmp no /tmp
for /tmp
Filesystem     1024-blocks    Used Available Capacity Mounted on
overlay               2000    1000      1000      50% /
"""
    assert parse_rooms(text) == {
        "work": Room("work", "/mnt/my data/pilot", "/mnt/my data", True, 600000000, 1000000000, "//nas/a share",
                     "/mnt/my data"),
        "tmp": Room("tmp", "/tmp", "/tmp", False, 1024000, 2048000, "overlay", "/"),
    }  # fmt: skip


def test_a_room_that_df_does_not_know_is_trouble() -> None:
    found = parse_rooms("ask work no /x\nfor /x\ndf: /x: Permission denied\n")
    assert isinstance(found, Trouble)
    assert found.error_kind == "permission_denied"


def test_numa_nodes_with_and_without_cpus() -> None:
    text = "node 0 cpus 0-31\nNode 0 MemTotal:  100 kB\nNode 0 MemFree:  40 kB\nnode 1 cpus \n"
    assert parse_numa(text) == (NumaNode(0, "0-31", 100, 40), NumaNode(1, "", None, None))
    assert parse_numa("") == ()


def test_interpreters() -> None:
    text = (
        "python /usr/bin/python3.12 3.12.4 venv=yes pip=no\npython /usr/bin/python3.12 3.12.4 venv=yes pip=no\nnoise\n"
    )
    assert parse_pythons(text) == (Python("/usr/bin/python3.12", (3, 12, 4), True, False),)
    assert not parse_pythons(text)[0].makes_venvs
    assert (parse_uv("absent\n"), parse_uv("uv 0.13.9 (abc)\n")) == (Uv(None), Uv("0.13.9"))


def test_listening_ports_from_both_sources() -> None:
    text = """LISTEN 0 4096 127.0.0.1:8000 0.0.0.0:* users:(("vllm",pid=77,fd=9))
LISTEN 0 128 [::]:22 [::]:*
source ss
"""
    assert parse_listeners(text) == (Listener("::", 22), Listener("127.0.0.1", 8000, "vllm", 77))
    proc = """source proc
   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 0
"""
    assert parse_listeners(proc) == (Listener("::", 22), Listener("127.0.0.1", 8000))
    assert parse_listeners("source proc\n") == ()
    assert isinstance(parse_listeners("sh: ss: not found"), Trouble)


def test_npus_on_the_bus_and_under_dev() -> None:
    network_card = "0000:05:00.0 0x19e5 0xa222 0x020000\n"
    sysfs = f"0000:c1:00.0 0x19e5 0xd802 0x120000\n{network_card}0000:81:00.0 0x19e5 0xd900 0x120000\n"
    a2, unknown = PciNpu("0000:c1:00.0", "d802", "Ascend 910B (A2)"), PciNpu("0000:81:00.0", "d900", None)
    assert parse_npu_pci(sysfs) == (a2, unknown)
    lspci = "0000:c1:00.0 Processing accelerators [1200]: Huawei Technologies Co., Ltd. Device [19e5:d802] (rev 20)\n"
    assert parse_npu_pci(lspci) == (a2,)
    assert parse_npu_nodes("davinci0\ndavinci10\ndavinci2\ndavinci_manager\nnull\n") == NpuNodes((0, 2, 10), True)
    assert not parse_npu_tool("absent\n").installed
