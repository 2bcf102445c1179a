"""Checks of how large a host is: processor, memory, disks, and where cards sit."""

import re

from console.catalog.profiles import Profile
from console.checks.check import Level, Verdict, check
from console.facts.disks import Disks
from console.facts.dmidecode import Dmi
from console.facts.lscpu import Lscpu
from console.facts.memory import Meminfo
from console.facts.npu_smi_topo import Topology
from console.facts.os_release import OsRelease
from console.facts.rooms import NumaNode, Room
from console.text import say, verbatim

GIB = 2**30
_SIZE = re.compile(r"([\d.]+)([KMGTP])")
_POWER = {"K": 10, "M": 20, "G": 30, "T": 40, "P": 50}


@check(
    area="system",
    title=say("Tested operating system"),
    why=say("The vendor builds and tests driver and CANN for certain systems; on others, installers may refuse."),
)
def system_on_list(os_release: OsRelease, profile: Profile) -> Verdict:
    listed = profile.words("systems")
    wanted = verbatim(", ".join(listed))
    name = f"{os_release.id or os_release.name or '?'} {os_release.version_id or ''}".strip()
    seen = verbatim(os_release.pretty or name)
    if name.lower() in {one.lower() for one in listed}:
        return Verdict(Level.PASS, seen, wanted)
    fix = say(
        "Read the vendor's list of systems for your driver, or use the container image, which needs the driver only."
    )
    return Verdict(Level.WARN, seen, wanted, fix, evidence=(profile.limits["systems"].source,))


@check(
    area="processor",
    title=say("Processor of the host"),
    why=say("Each NPU is fed by processes on the CPU; vLLM Ascend binds at least five cores for each."),
)
def host_processor(lscpu: Lscpu, usable_cpus: int, profile: Profile) -> Verdict:
    cores, mhz = int(profile.number("cores")), profile.number("cpu_mhz")
    least = int(profile.number("cores_for_npu") * profile.number("npus"))
    wanted = say("{cores} cores at {ghz} GHz; at least {least} cores", cores=cores, ghz=mhz / 1000, least=least)
    threads = lscpu.threads_per_core or 1
    own = min(usable_cpus, (lscpu.sockets or 0) * (lscpu.cores_per_socket or 0) or usable_cpus // threads)
    model = verbatim(lscpu.bios_model or lscpu.model or "?")
    seen = say("{model}: {cores} cores", model=model, cores=own)
    if lscpu.max_mhz:
        seen = say(
            "{model}: {cores} cores at up to {ghz} GHz", model=model, cores=own, ghz=round(lscpu.max_mhz / 1000, 2)
        )
    if own < least:
        fix = say("Use a host, or a virtual machine, with more cores.")
        return Verdict(Level.FAIL, seen, wanted, fix)
    if own < cores or (lscpu.max_mhz and lscpu.max_mhz < mhz):
        fix = say("It works. Expect more time between tokens under load than on the host this profile describes.")
        return Verdict(Level.WARN, seen, wanted, fix)
    return Verdict(Level.PASS, seen, wanted)


@check(
    area="memory",
    title=say("Memory of the host"),
    why=say("Weights pass through it on their way to the cards, and stay in its page cache for the next start."),
)
def host_memory(meminfo: Meminfo, profile: Profile) -> Verdict:
    least, wished = profile.number("memory_least_gib"), profile.number("memory_wished_gib")
    wanted = say("{wished} GiB; at least {least} GiB", wished=wished, least=least)
    if meminfo.mem_total_kb is None:
        fix = say("Look at the raw output below.")
        return Verdict(Level.UNKNOWN, say("The kernel does not say how much memory there is."), wanted, fix)
    total = meminfo.mem_total_kb / 2**20
    seen = verbatim(f"{total:.0f} GiB")
    usable = profile.number("memory_usable_part")
    if total >= wished * usable:
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Add memory modules, or keep to models whose weights take no more than half of the memory.")
    return Verdict(Level.WARN if total >= least * usable else Level.FAIL, seen, wanted, fix)


@check(
    area="memory",
    title=say("Memory modules"),
    why=say("A server that runs for weeks needs error correction; and unevenly filled channels cost bandwidth."),
)
def memory_correction(memory_modules: Dmi) -> Verdict:
    wanted = say("Error correction on, the same number of modules in every channel, one speed")
    if not memory_modules.dimms:
        fix = say("In a virtual machine or container, look at the host instead.")
        return Verdict(Level.UNKNOWN, say("The firmware lists no memory module"), wanted, fix)
    kind = memory_modules.correction
    seen = say(
        "{dimms} modules, {total} GiB, error correction: {kind}",
        dimms=memory_modules.dimms,
        total=memory_modules.total_gb or "?",
        kind=verbatim(kind or "?"),
    )
    counts = {count for _, count in memory_modules.channels}
    if kind and kind.lower() == "none":
        fix = say("Switch error correction on in the BIOS; modules without it (64 bits wide) have to be exchanged.")
        return Verdict(Level.WARN, seen, wanted, fix, "sudo dmidecode -t memory")
    if len(counts) > 1 or len(memory_modules.speeds) > 1:
        evidence = tuple(f"socket/channel {name}: {count}" for name, count in memory_modules.channels)
        fix = say("Spread modules of one kind evenly over all channels, as the manual of the board shows.")
        return Verdict(Level.WARN, seen, wanted, fix, "sudo dmidecode -t memory", evidence)
    if kind is None:
        fix = say("Look into the BIOS or the BMC.")
        return Verdict(Level.UNKNOWN, seen, wanted, fix)
    return Verdict(Level.PASS, seen, wanted)


@check(
    area="processor",
    title=say("Cards and NUMA nodes"),
    why=say("A process far from its card crosses the link between sockets with every transfer."),
)
def card_placement(npu_topo: Topology | None, numa: tuple[NumaNode, ...]) -> Verdict:
    wanted = say("The cores near each card are known, and their NUMA node has memory")
    if npu_topo is None or not npu_topo.affinity:
        fix = say("vLLM Ascend then binds by order. Nothing has to be done on a host with one NUMA node.")
        return Verdict(Level.UNKNOWN, say("npu-smi does not tell which cores are near the cards"), wanted, fix)
    evidence = tuple(f"NPU {card}: CPU {cpus}" for card, cpus in npu_topo.affinity.items())
    seen = verbatim("; ".join(evidence))
    bare = [node for node in numa if node.cpus and node.mem_total_kb == 0]
    far = [node.node for node in bare if any(_meet(node.cpus, cpus) for cpus in npu_topo.affinity.values())]
    if far:
        fix = say("Put memory modules at these NUMA nodes too: {nodes}.", nodes=", ".join(map(str, far)))
        return Verdict(Level.WARN, seen, wanted, fix, "numactl --hardware", evidence)
    return Verdict(Level.PASS, seen, wanted, evidence=evidence)


def _meet(one: str, other: str) -> bool:
    return bool(_cpus(one) & _cpus(other))


def _cpus(words: str) -> set[int]:
    found: set[int] = set()
    for part in words.split(","):
        low, _, high = part.partition("-")
        found.update(range(int(low), int(high or low) + 1))
    return found


@check(
    area="storage",
    title=say("Room for CANN"),
    why=say("Toolkit, operators and NNAL are unpacked below /usr/local/Ascend; a full disk leaves half of them."),
    slack=0.1,
)
def room_for_cann(rooms: dict[str, Room], profile: Profile) -> Verdict:
    room, least = rooms["cann"], profile.number("cann_room_gib")
    wanted = say("{wished} GiB free", wished=least)
    free = round(room.free_bytes / GIB, 1)
    seen = say("{free} GiB free on {mount} for {folder}", free=free, mount=room.mount, folder=room.folder)
    if room.free_bytes >= least * GIB:
        return Verdict(Level.PASS, seen, wanted)
    fix = say("Free some room there, or mount a larger disk at /usr/local/Ascend.")
    return Verdict(Level.FAIL, seen, wanted, fix, f"du -xh --max-depth=2 '{room.mount}' 2>/dev/null | sort -h | tail")


@check(
    area="storage",
    title=say("Fast disks for weights"),
    why=say("Each start reads all weights; an array of NVMe disks reads them several times as fast as one disk."),
)
def nvme_array(disks: Disks, profile: Profile) -> Verdict:
    wished = profile.number("array_tb")
    wanted = say("{size} TB of NVMe disks in a RAID 0", size=wished)
    arrays = [
        one
        for one in disks.raid or ()
        if one.level == "raid0" and one.members and all(name.startswith("nvme") for name in one.members)
    ]
    nvme = [one.node for one in disks.disks if one.node.startswith("/dev/nvme")]
    evidence = tuple(f"{one.name} {one.level} {one.size or ''}: {', '.join(one.members)}" for one in arrays)
    seen = say(
        "NVMe disks: {disks}; RAID 0 of them: {arrays}", disks=len(nvme), arrays=verbatim("; ".join(evidence) or "-")
    )
    if any(_bytes(one.size) >= wished * 0.9e12 for one in arrays):
        return Verdict(Level.PASS, seen, wanted, evidence=evidence)
    fix = say(
        "It works from any disk. For faster starts put the weights on an array of NVMe disks, and nothing there that "
        "exists only once: RAID 0 keeps no copy. An array made by a RAID card is not visible here."
    )
    return Verdict(Level.WARN, seen, wanted, fix, "lsblk -o NAME,SIZE,TYPE,MODEL,MOUNTPOINT", evidence)


def _bytes(size: str | None) -> float:
    match = _SIZE.match(size or "")
    return float(match.group(1)) * 2 ** _POWER[match.group(2)] if match else 0.0
