"""Checks of settings that cost speed or stop the engine under load."""

import math

from console.catalog.profiles import Profile
from console.checks.check import Level, Verdict, check
from console.checks.systems import is_debian
from console.facts.memory import Meminfo
from console.facts.os_release import OsRelease
from console.facts.rooms import Room
from console.facts.tuning import Governors, Ulimits
from console.text import Text, say, verbatim

GIB = 2**30


@check(
    area="tuning",
    title=say("CPU governor"),
    why=say("With a saving governor, cores wake slowly and the NPU waits for its next command."),
)
def cpu_governor(governors: Governors) -> Verdict:
    wanted = verbatim("performance")
    if not governors.cpus:
        return Verdict(Level.PASS, say("The firmware decides, not the kernel"), wanted)
    seen = verbatim(", ".join(f"{name}: {count} CPU" for name, count in governors.cpus.items()))
    if set(governors.cpus) == {"performance"}:
        return Verdict(Level.PASS, seen, wanted)
    command = (
        "for f in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do echo performance | sudo tee $f; done"
    )
    return Verdict(Level.WARN, seen, wanted, say("Set it to performance; it holds until the next restart."), command)


@check(
    area="tuning",
    title=say("Transparent huge pages"),
    why=say("Large buffers on the host are slower to move when every page of them is small."),
)
def huge_pages_allowed(transparent_hugepages: str | None) -> Verdict:
    wanted = verbatim("always / madvise")
    if transparent_hugepages in ("always", "madvise"):
        return Verdict(Level.PASS, verbatim(transparent_hugepages), wanted)
    seen = verbatim(transparent_hugepages) if transparent_hugepages else say("This kernel has none")
    fix = say("Allow them; it holds until the next restart.")
    command = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
    return Verdict(Level.WARN, seen, wanted, fix, command)


@check(
    area="tuning",
    title=say("Reserved huge pages"),
    why=say("Memory reserved for huge pages is lost to weights and page cache, unless a program asks for it."),
)
def huge_pages_reserved(meminfo: Meminfo) -> Verdict:
    wanted = say("None, or little of the memory")
    total, size = meminfo.hugepages_total, meminfo.hugepage_kb
    if total is None or size is None or not meminfo.mem_total_kb:
        return Verdict(Level.PASS, say("This kernel has none"), wanted)
    seen = say("{count} pages, {gib} GiB", count=total, gib=round(total * size / 2**20, 1))
    if total * size <= meminfo.mem_total_kb / 10:
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Give them back, unless another program on this host needs them.")
    return Verdict(Level.WARN, seen, wanted, fix, "sudo sysctl vm.nr_hugepages=0")


def _count(value: float) -> Text:
    return say("no limit") if math.isinf(value) else verbatim(f"{value:.0f}")


def _kib(value: float) -> Text:
    return _count(value) if math.isinf(value) else say("{kib} KiB", kib=_count(value))


def _soft_and_hard(soft: Text, hard: Text) -> Text:
    """What the user has now, and how far it may be raised without root."""
    if str(soft) == str(hard):
        return say("{limit}; the soft and the hard limit are the same", limit=soft)
    return say("soft limit {soft}, hard limit {hard}", soft=soft, hard=hard)


@check(
    area="tuning",
    title=say("Open files"),
    why=say("Each connection and each worker needs some; at the limit the server refuses new requests."),
)
def open_files(ulimits: Ulimits, profile: Profile) -> Verdict:
    wished = profile.number("open_files")
    wanted = say("a hard limit of {count} or more", count=int(wished))
    seen = _soft_and_hard(_count(ulimits.files), _count(ulimits.files_hard))
    if ulimits.files_hard >= wished:
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Raise the hard limit for this user, which only root can do, then log in again.")
    command = f"echo '* - nofile {int(wished)}' | sudo tee /etc/security/limits.d/90-vllm.conf"
    return Verdict(Level.WARN, seen, wanted, fix, command)


@check(
    area="tuning",
    title=say("Locked memory"),
    why=say("RDMA between nodes pins its buffers in memory; a small limit makes the first transfer fail."),
)
def locked_memory(ulimits: Ulimits) -> Verdict:
    wanted = say("no limit")
    seen = _soft_and_hard(_kib(ulimits.locked_kib), _kib(ulimits.locked_hard_kib))
    if math.isinf(ulimits.locked_kib):
        return Verdict(Level.PASS, wanted, wanted)
    fix = say("Raise the limit for this user, then log in again.")
    command = "echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/91-memlock.conf"
    return Verdict(Level.WARN, seen, wanted, fix, command)


@check(
    area="tuning",
    title=say("Shared memory"),
    why=say("The workers of one instance pass their data through /dev/shm; when it is full they crash."),
)
def shared_memory(rooms: dict[str, Room], profile: Profile) -> Verdict:
    least = profile.number("shm_gib")
    wanted = say("{wished} GiB free", wished=least)
    room = rooms["shm"]
    seen = say(
        "{free} GiB free on {mount} for {folder}",
        free=round(room.free_bytes / GIB, 1),
        mount=room.mount,
        folder="/dev/shm",
    )
    if room.free_bytes >= least * GIB:
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Make it larger; in a container, start it with a larger --shm-size.")
    return Verdict(Level.FAIL, seen, wanted, fix, f"sudo mount -o remount,size={math.ceil(least)}G /dev/shm")


@check(
    area="tuning",
    title=say("Kernel settings"),
    why=say("NUMA balancing moves memory away from processes that were bound on purpose; swapping stalls them."),
)
def kernel_settings(sysctls: dict[str, int], profile: Profile) -> Verdict:
    wishes = {str(name): int(str(value)) for name, value in profile.mapping("sysctls").items()}
    wanted = verbatim(
        ", ".join(f"{name.replace('/', '.')} {'≤' if value else '='} {value}" for name, value in wishes.items())
    )
    known = {name: sysctls[name] for name in wishes if name in sysctls}
    seen = verbatim(", ".join(f"{name.replace('/', '.')} = {value}" for name, value in known.items()) or "-")
    odd = [name for name, value in known.items() if value > wishes[name]]
    if not odd:
        return Verdict(Level.PASS, seen, wanted)
    command = "sudo sysctl -w " + " ".join(f"{name.replace('/', '.')}={wishes[name]}" for name in odd)
    return Verdict(
        Level.WARN, seen, wanted, say("Set them for a measurement; they hold until the next restart."), command
    )


@check(
    area="tuning",
    title=say("Tools"),
    why=say(
        "The driver is built with a compiler; vLLM Ascend binds cores with taskset and numactl and advises jemalloc."
    ),
)
def useful_tools(tools: frozenset[str], profile: Profile, os_release: OsRelease | None = None) -> Verdict:
    wished = profile.words("tools")
    wanted = verbatim(", ".join(wished))
    missing = [name for name in wished if name not in tools]
    if not missing:
        return Verdict(Level.PASS, wanted, wanted)
    names = _DEBIAN_NAMES if is_debian(os_release) else _EULER_NAMES
    install = "apt-get" if is_debian(os_release) else "dnf"
    packages = " ".join(dict.fromkeys(names.get(name, name) for name in missing))
    fix = say("Install what is missing.")
    return Verdict(
        Level.WARN,
        say("Missing: {names}", names=", ".join(missing)),
        wanted,
        fix,
        f"sudo {install} install -y {packages}",
    )


_DEBIAN_NAMES = {"taskset": "util-linux", "jemalloc": "libjemalloc2"}
_EULER_NAMES = {"taskset": "util-linux", "g++": "gcc-c++"}
