"""Checks of memory and disk room."""

from console.catalog.profiles import Profile
from console.checks.check import Level, Verdict, check
from console.facts.memory import Meminfo
from console.facts.rooms import Room
from console.facts.system import Limits, ProbeNote
from console.text import Text, say, verbatim

GIB = 2**30


@check(
    area="memory",
    title=say("Memory"),
    why=say(
        "The server, the engine and its workers each hold Python and PyTorch, and the weights and the KV cache. "
        "When memory runs out, the kernel kills one of them."
    ),
    slack=0.25,
)
def memory_available(meminfo: Meminfo, profile: Profile, limits: Limits | None = None) -> Verdict:
    least, wished = profile.number("memory_least_gib"), profile.number("memory_wished_gib")
    wanted = say("{wished} GiB available; at least {least} GiB", wished=wished, least=least)
    if meminfo.mem_available_kb is None:
        return Verdict(
            Level.UNKNOWN,
            say("The kernel does not say how much is available."),
            wanted,
            say("Look at the raw output below."),
        )
    free = meminfo.mem_available_kb * 1024
    seen = say("{free} GiB available of {total} GiB", free=_gib(free), total=_gib((meminfo.mem_total_kb or 0) * 1024))
    if limits and limits.memory_bytes is not None and limits.memory_bytes - (limits.memory_used_bytes or 0) < free:
        free = max(0, limits.memory_bytes - (limits.memory_used_bytes or 0))
        seen = say(
            "{free} GiB left of this container's limit of {total} GiB", free=_gib(free), total=_gib(limits.memory_bytes)
        )
    if free >= wished * GIB:
        return Verdict(Level.PASS, seen, wanted)
    if free >= least * GIB:
        fix = say("One instance without tensor parallelism fits. For more, stop other programs or add memory.")
        return Verdict(Level.WARN, seen, wanted, fix, "ps aux --sort=-rss | head")
    fix = say("Stop programs that use much memory, raise the limit of the container, or use a larger machine.")
    return Verdict(Level.FAIL, seen, wanted, fix, "ps aux --sort=-rss | head")


@check(
    area="storage",
    title=say("Room in the work folder"),
    why=say("The runtime, the downloads and the models are kept there."),
    slack=0.1,
)
def room_in_work_folder(rooms: dict[str, Room], profile: Profile) -> Verdict:
    room = rooms["work"]
    least, wished = profile.number("room_least_gib"), profile.number("room_wished_gib")
    wanted = say("{wished} GiB free; at least {least} GiB", wished=wished, least=least)
    seen = _room_seen(room)
    if not room.writable:
        return Verdict(
            Level.FAIL,
            say("This user may not write into {folder}.", folder=room.existing),
            wanted,
            say("Choose another folder with --data, or make this one writable."),
            evidence=(room.existing,),
        )
    if room.free_bytes >= wished * GIB:
        return Verdict(Level.PASS, seen, wanted, evidence=(room.filesystem,))
    command = f"du -xh --max-depth=2 '{room.mount}' 2>/dev/null | sort -h | tail"
    if room.free_bytes >= least * GIB:
        fix = say("The runtime and the models just fit. Free some room, or choose a folder on a larger disk.")
        return Verdict(Level.WARN, seen, wanted, fix, command, (room.filesystem,))
    fix = say("Free some room, or choose a folder on a larger disk with --data. What is installed already counts.")
    return Verdict(Level.FAIL, seen, wanted, fix, command, (room.filesystem,))


@check(
    area="storage",
    title=say("Room for temporary files"),
    why=say("Packages are unpacked through the temporary folder; when it is full, installs end with odd errors."),
    slack=0.1,
)
def room_for_temporary_files(rooms: dict[str, Room], profile: Profile, probe: ProbeNote | None = None) -> Verdict:
    room = rooms["tmp"]
    wished = profile.number("tmp_wished_gib")
    wanted = say("{wished} GiB free", wished=wished)
    if not room.writable or (probe and room.folder in probe.full):
        fix = say("Free some room there, or set TMPDIR to a folder on another disk before starting the console.")
        return Verdict(
            Level.FAIL,
            say("Nothing can be written into {folder}.", folder=room.folder),
            wanted,
            fix,
            "export TMPDIR=/path/with/room",
        )
    if room.free_bytes >= wished * GIB:
        return Verdict(Level.PASS, _room_seen(room), wanted)
    fix = say("Free some room there, or set TMPDIR to a folder on a larger disk before starting the console.")
    return Verdict(Level.WARN, _room_seen(room), wanted, fix, "export TMPDIR=/path/with/room")


def _room_seen(room: Room) -> Text:
    return say(
        "{free} GiB free on {mount} for {folder}",
        free=_gib(room.free_bytes),
        mount=verbatim(room.mount),
        folder=verbatim(room.folder),
    )


def _gib(count: float) -> float:
    return round(count / GIB, 1)
