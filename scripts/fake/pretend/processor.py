"""What is said about the processor and the system on it: `uname`, `nproc`, `lscpu`, `getconf`, `ldd`, `hostname`."""

from __future__ import annotations

import json
import os

from pretend import place

FLAGS = (
    "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma dcpop asimddp asimdfhm "
    "ssbs"
)


def cores(played: place.Data) -> int:
    return int(played["cpu"]["sockets"] * played["cpu"]["cores_per_socket"])


def main(name: str, words: list[str]) -> int:
    played = place.scenario()
    answer = {"uname": _uname, "nproc": _nproc, "lscpu": _lscpu, "getconf": _getconf, "ldd": _ldd, "hostname": _name}
    said = answer[name](played, words)
    if said is None:
        return place.become(name, words)
    print(said)
    return 0


def _uname(played: place.Data, words: list[str]) -> str | None:
    """GNU uname's order, whatever the order of the letters."""
    kernel = played["kernel"]
    parts = {
        "s": "Linux", "n": played["hostname"], "r": kernel["release"], "v": kernel["version"], "m": "aarch64",
        "p": "aarch64", "i": "aarch64", "o": "GNU/Linux",
    }  # fmt: skip
    long = {"--kernel-name": "s", "--nodename": "n", "--kernel-release": "r", "--machine": "m", "--all": "a"}
    letters = "".join(long.get(word, word.removeprefix("-")) for word in words) or "s"
    if any(letter not in "snrvmpioa" for letter in letters):
        return None
    wanted = "snrvmo" if "a" in letters else letters
    return " ".join(value for letter, value in parts.items() if letter in wanted)


def _nproc(played: place.Data, words: list[str]) -> str | None:
    """The scenario's cores; bound by OMP_NUM_THREADS as the real one is."""
    if words not in ([], ["--all"]):
        return None
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return asked if asked.isdigit() and not words and int(asked) else str(cores(played))


def _getconf(played: place.Data, words: list[str]) -> str | None:
    known = {"GNU_LIBC_VERSION": f"glibc {played['system']['glibc']}", "_NPROCESSORS_ONLN": str(cores(played))}
    return known.get(words[0]) if len(words) == 1 else None


def _ldd(played: place.Data, words: list[str]) -> str | None:
    return f"ldd (GNU libc) {played['system']['glibc']}" if words == ["--version"] else None


def _name(played: place.Data, words: list[str]) -> str | None:
    return str(played["hostname"]) if words in ([], ["-s"], ["-f"]) else None


def _lscpu(played: place.Data, words: list[str]) -> str | None:
    """Asked for a table, the processors that exist: engines bind themselves to those.

    As JSON it is made here, because the real one fails on a machine whose folder of NUMA nodes is another's.
    """
    columns = next((word.partition("=")[2] for word in words if word.startswith("--extended=")), "")
    if "--json" in words and columns and set(columns.split(",")) <= {"CPU", "CORE", "NODE", "SOCKET"}:
        names = columns.lower().split(",")
        rows = [
            {name: cpu if name in ("cpu", "core") else 0 for name in names} for cpu in sorted(os.sched_getaffinity(0))
        ]
        return json.dumps({"cpus": rows}, indent=3)
    return None if words else lscpu(played)


def lscpu(played: place.Data) -> str:
    cpu, count = played["cpu"], cores(played)
    pairs = [
        ("Architecture", "aarch64"), ("CPU op-mode(s)", "64-bit"), ("Byte Order", "Little Endian"), ("CPU(s)", count),
        ("On-line CPU(s) list", f"0-{count - 1}"), ("Vendor ID", "HiSilicon"), ("BIOS Vendor ID", "HiSilicon"),
        ("Model name", "Kunpeng-920"), ("BIOS Model name", cpu["bios_model"]), ("BIOS CPU family", "280"),
        ("Model", "0"), ("Thread(s) per core", "1"), ("Core(s) per socket", cpu["cores_per_socket"]),
        ("Socket(s)", cpu["sockets"]), ("Stepping", "0x1"), ("Frequency boost", "disabled"),
        ("CPU max MHz", f"{cpu['max_mhz']:.4f}"), ("CPU min MHz", "200.0000"), ("BogoMIPS", "200.00"), ("Flags", FLAGS),
        ("L1d cache", f"{count // 16} MiB ({count} instances)"),
        ("L1i cache", f"{count // 16} MiB ({count} instances)"),
        ("L2 cache", f"{count // 2} MiB ({count} instances)"),
        ("L3 cache", f"{count} MiB ({cpu['numa_nodes']} instances)"), ("NUMA node(s)", cpu["numa_nodes"]),
        *((f"NUMA node{node} CPU(s)", cpus) for node, cpus in enumerate(node_cpus(played))),
        ("Vulnerability Spectre v1", "Mitigation; __user pointer sanitization"),
    ]  # fmt: skip
    return "\n".join(f"{f'{name}:':<33}{value}" for name, value in pairs)


def node_cpus(played: place.Data) -> list[str]:
    """The processors of each NUMA node, as "0-31"."""
    size = cores(played) // played["cpu"]["numa_nodes"]
    return [f"{node * size}-{node * size + size - 1}" for node in range(played["cpu"]["numa_nodes"])]


def cpuinfo(played: place.Data) -> str:
    """/proc/cpuinfo of such a processor."""
    blocks = [
        f"processor\t: {number}\nBogoMIPS\t: 200.00\nFeatures\t: {FLAGS}\nCPU implementer\t: 0x48\n"
        "CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd01\nCPU revision\t: 0\n"
        for number in range(cores(played))
    ]
    return "\n".join(blocks) + "\n"


def meminfo(played: place.Data) -> str:
    total, free = played["memory"]["total_kb"], played["memory"]["free_kb"]
    pairs = {
        "MemTotal": total, "MemFree": free, "MemAvailable": min(total, free + total // 10), "Buffers": 412300,
        "Cached": total // 9, "SwapCached": 0, "Active": total // 12, "Inactive": total // 14, "SwapTotal": 8388604,
        "SwapFree": 8388604, "Dirty": 140, "AnonPages": total // 40, "Mapped": 411776, "Shmem": 28412,
        "KReclaimable": 1893440, "Slab": 4102336, "CommitLimit": total // 2 + 8388604, "Committed_AS": total // 30,
        "VmallocTotal": 133143461888, "VmallocUsed": 409212, "AnonHugePages": 1048576,
    }  # fmt: skip
    rows = [f"{f'{name}:':<16}{value:>8} kB" for name, value in pairs.items()]
    rows += [f"HugePages_{name + ':':<6}{0:>8}" for name in ("Total", "Free", "Rsvd", "Surp")]
    return "\n".join([*rows, "Hugepagesize:       2048 kB", "Hugetlb:               0 kB"]) + "\n"
