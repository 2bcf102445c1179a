"""Whether cards are free, and who holds those that are not."""

from console.catalog.profiles import Profile
from console.checks.card_words import chips, silent, title
from console.checks.check import Level, Verdict, check
from console.facts.holders import Containers, Holders
from console.facts.npu_presence import NpuTool
from console.facts.npu_smi_reading import Device
from console.text import say, verbatim


@check(
    area="npu",
    title=say("Cards are free"),
    why=say("A card that another process or container holds has no memory left, or refuses to start."),
)
def cards_free(
    npu_tool: NpuTool, profile: Profile, npu_holders: Holders | None = None, containers: Containers | None = None
) -> Verdict:
    least = int(profile.number("npus"))
    wanted = say("{count} or more chips that nobody uses", count=least)
    if verdict := silent(npu_tool, wanted):
        return verdict
    use = {one: _holders(one, npu_tool, npu_holders, containers) for one in chips(npu_tool)}
    idle_mb = profile.number("idle_hbm_mb")
    taken = {
        one: who or (["?"] if (one.hbm_used_mb or 0) > idle_mb else [])
        for one, who in use.items()
        if who or (one.hbm_used_mb or 0) > idle_mb
    }
    free = len(use) - len(taken)
    if not taken:
        return _all_free(npu_tool, npu_holders, free, profile)
    evidence = tuple(f"{title(one, use)}: {'; '.join(who)}" for one, who in taken.items())
    seen = say("{free} of {count} free. Taken: {names}", free=free, count=len(use), names=verbatim(", ".join(evidence)))
    fix = say(
        "Stop what holds the card, or choose other cards; nothing has to be done if it is an instance of this console. "
        "A “?” is a holder that cannot be seen: look as root, and into every container."
    )
    return Verdict(
        Level.WARN if free >= least else Level.FAIL, seen, wanted, fix, _command(npu_holders, containers), evidence
    )


def _all_free(npu_tool: NpuTool, npu_holders: Holders | None, free: int, profile: Profile) -> Verdict:
    least = int(profile.number("npus"))
    wanted = say("{count} or more chips that nobody uses", count=least)
    if npu_tool.info and npu_tool.info.process_table != "present" and not (npu_holders and npu_holders.all_seen):
        seen = say("npu-smi shows no list of processes, and only root sees who has the device files open")
        return Verdict(Level.UNKNOWN, seen, wanted, say("Check again as root."), "sudo npu-smi info")
    seen = say("{count} free", count=free)
    if free >= least:
        return Verdict(Level.PASS, seen, wanted)
    return Verdict(Level.FAIL, seen, wanted, say("The host has too few cards for this profile."))


def _holders(
    device: Device, npu_tool: NpuTool, npu_holders: Holders | None, containers: Containers | None
) -> list[str]:
    """Each holder of a chip: name, process, container."""
    node = device.npu if device.phy_id is None else device.phy_id
    named = {one.pid: one for one in npu_holders.holders} if npu_holders else {}
    pids: dict[int, str | None] = {}
    for process in npu_tool.info.processes if npu_tool.info else ():
        if process.npu == device.npu and process.chip in (device.chip, None) and process.pid is not None:
            pids[process.pid] = process.name
    for one in npu_holders.holders if npu_holders else ():
        if one.node == node:
            pids.setdefault(one.pid, one.name)
    found = []
    for pid, name in pids.items():
        box = named[pid].container if pid in named else None
        where = f", Docker {_name(box, containers)}" if box else ""
        found.append(f"{name or (named[pid].name if pid in named else None) or '?'} (PID {pid}{where})")
    return found


def _name(container: str, containers: Containers | None) -> str:
    return (containers.names.get(container) if containers else None) or container[:12]


def _command(npu_holders: Holders | None, containers: Containers | None) -> str:
    held = next((one for one in npu_holders.holders if one.container), None) if npu_holders else None
    if held and held.container:
        return f"docker stop {_name(held.container, containers)}"
    return f"ps -fp {npu_holders.holders[0].pid}" if npu_holders and npu_holders.holders else "npu-smi info"
