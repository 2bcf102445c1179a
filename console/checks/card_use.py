"""Whether cards are free, and who holds those that are not."""

from collections.abc import Sequence

from console.catalog.profiles import Profile
from console.checks.card_words import chips, silent, title
from console.checks.check import Level, Verdict, check
from console.facts.holders import Containers, Holders
from console.facts.holding import Held, held_by
from console.facts.npu_presence import NpuTool
from console.facts.system import Wish
from console.text import Text, say, verbatim


@check(
    area="npu",
    title=say("Cards are free"),
    why=say("A card that another process or container holds has no memory left, or refuses to start."),
)
def cards_free(
    npu_tool: NpuTool,
    profile: Profile,
    npu_holders: Holders | None = None,
    containers: Containers | None = None,
    wish: Wish | None = None,
) -> Verdict:
    least = int(profile.number("npus"))
    wanted = say("{count} or more chips that nobody else uses", count=least)
    if verdict := silent(npu_tool, wanted):
        return verdict
    assert npu_tool.info is not None
    held = {one: held_by(one, npu_tool.info, npu_holders, containers) for one in chips(npu_tool)}
    own = {one: who for one, who in held.items() if who and all(_is_own(each, wish) for each in who)}
    idle_mb = profile.number("idle_hbm_mb")
    taken = {
        one: [_words(each) for each in who] or ["?"]
        for one, who in held.items()
        if one not in own and (who or (one.hbm_used_mb or 0) > idle_mb)
    }
    free = len(held) - len(taken) - len(own)
    ours = tuple(f"{title(one, held)}: {'; '.join(map(_words, who))}" for one, who in own.items())
    if not taken:
        return _not_taken(npu_tool, npu_holders, free, ours, least, wanted)
    evidence = tuple(f"{title(one, held)}: {'; '.join(who)}" for one, who in taken.items())
    seen = say(
        "{free} of {count} free. Taken: {names}", free=free, count=len(held), names=verbatim(", ".join(evidence))
    )
    if ours:
        seen = say("{seen}. Used by instances of this console: {own}", seen=seen, own=verbatim(", ".join(ours)))
    fix = say(
        "Stop what holds the card, or choose other cards. A “?” is a holder that cannot be seen: look as root, and "
        "into every container."
    )
    others = [each for one in taken for each in held[one]]
    level = Level.WARN if free + len(own) >= least else Level.FAIL
    return Verdict(level, seen, wanted, fix, _command(others), evidence)


def _not_taken(
    npu_tool: NpuTool, npu_holders: Holders | None, free: int, ours: tuple[str, ...], least: int, wanted: Text
) -> Verdict:
    """Every chip is free or in our own use, as far as can be seen."""
    if npu_tool.info and npu_tool.info.process_table != "present" and not (npu_holders and npu_holders.all_seen):
        seen = say("npu-smi shows no list of processes, and only root sees who has the device files open")
        return Verdict(Level.UNKNOWN, seen, wanted, say("Check again as root."), "sudo npu-smi info")
    seen = say("{count} free", count=free)
    if ours:
        names = verbatim(", ".join(ours))
        seen = say("{count} free; used by instances of this console: {own}", count=free, own=names)
    if free + len(ours) >= least:
        return Verdict(Level.PASS, seen, wanted, evidence=ours)
    return Verdict(Level.FAIL, seen, wanted, say("The host has too few cards for this profile."))


def _is_own(one: Held, wish: Wish | None) -> bool:
    """Whether the process runs in the folder of one of our instances, below the work folder."""
    return bool(wish and one.folder and one.folder.startswith(f"{wish.folder.rstrip('/')}/instances/"))


def _words(one: Held) -> str:
    where = f", Docker {one.container}" if one.container else ""
    return f"{one.name or '?'} (PID {one.pid}{where})"


def _command(holders: Sequence[Held]) -> str:
    if box := next((one.container for one in holders if one.container), None):
        return f"docker stop {box}"
    return f"ps -fp {holders[0].pid}" if holders else "npu-smi info"
