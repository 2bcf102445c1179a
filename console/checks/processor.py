"""Checks of the processors: instructions, number, and how they share memory."""

from console.catalog.profiles import Profile
from console.checks.check import Level, Verdict, check
from console.facts.lscpu import Lscpu
from console.facts.rooms import NumaNode
from console.facts.system import Limits
from console.text import say


@check(
    area="processor",
    title=say("CPU instructions"),
    why=say("vLLM computes with vector instructions: without the basic ones it stops, without bf16 it is slower."),
)
def cpu_instructions(arch: str, cpu_flags: frozenset[str], profile: Profile, lscpu: Lscpu | None = None) -> Verdict:
    needed, wished = profile.words_for("flags_needed", arch), profile.words_for("flags_wished", arch)
    model = lscpu.model if lscpu and lscpu.model else arch
    has = [flag for flag in (*needed, *wished) if flag in cpu_flags]
    seen = say("{model} with {flags}", model=model, flags=", ".join(has) or "-")
    wanted = say("{needed}; better also {wished}", needed=", ".join(needed) or "-", wished=", ".join(wished) or "-")
    missing = [flag for flag in needed if flag not in cpu_flags]
    if missing or not needed:
        fix = say(
            "This processor cannot run it ({flags} missing). Use another machine; in a virtual machine, let the "
            "host pass its CPU model through.",
            flags=", ".join(missing) or arch,
        )
        return Verdict(Level.FAIL, seen, wanted, fix)
    slower = [flag for flag in wished if flag not in cpu_flags]
    if slower:
        fix = say("Nothing has to be done: it works, but slower, since {flags} is missing.", flags=", ".join(slower))
        return Verdict(Level.WARN, seen, wanted, fix)
    return Verdict(Level.PASS, seen, wanted)


@check(
    area="processor",
    title=say("CPU cores"),
    why=say("The server, the engine and each tensor-parallel worker compute at the same time."),
)
def cpu_cores(usable_cpus: int, profile: Profile, limits: Limits | None = None) -> Verdict:
    least = int(profile.number("cores"))
    wanted = say("{count} or more", count=least)
    allowed = limits.cpus if limits and limits.cpus is not None and limits.cpus < usable_cpus else None
    seen = say("{count} usable", count=usable_cpus)
    if allowed is not None:
        seen = say("{count} usable, with a CPU quota of {limit} cores", count=usable_cpus, limit=round(allowed, 1))
    if (usable_cpus if allowed is None else allowed) >= least:
        return Verdict(Level.PASS, seen, wanted)
    fix = say(
        "Give the machine or container more cores. With fewer, everything works but answers come slowly, and "
        "tensor parallelism is refused."
    )
    return Verdict(Level.WARN, seen, wanted, fix)


@check(
    area="processor",
    title=say("NUMA nodes"),
    why=say("Memory of the own node is faster; with several nodes, one tensor-parallel worker for each is natural."),
)
def numa_layout(numa: tuple[NumaNode, ...]) -> Verdict:
    wanted = say("Any number; this line is for information")
    with_cpus = [node for node in numa if node.cpus]
    if len(with_cpus) <= 1:
        seen = say("One node: the console divides its cores between the workers")
        return Verdict(Level.PASS, seen, wanted)
    shown = "; ".join(f"{node.node}: CPU {node.cpus}" for node in with_cpus)
    seen = say("{count} nodes ({nodes})", count=len(with_cpus), nodes=shown)
    return Verdict(Level.PASS, seen, wanted, evidence=tuple(f"node {node.node}: {node.cpus}" for node in with_cpus))
