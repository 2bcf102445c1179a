"""The chips of the scenario with the figures of this moment."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace

from pretend import load, place, users


class Process(SimpleNamespace):
    """A line of the process table."""

    npu: int
    chip: int
    pid: int
    name: str
    mem_mb: int


class Chip(SimpleNamespace):
    """One chip as npu-smi tells it; power is null where another chip of the NPU carries it. Memory in MiB."""

    npu: int
    chip: int
    node: int
    name: str
    health: str
    code: str
    words: str
    power_w: float | None
    temp_c: int
    bus: str
    aicore_pct: int
    hbm_used_mb: int
    hbm_total_mb: int
    processes: tuple[Process, ...]

    @property
    def hbm_pct(self) -> int:
        return round(100 * self.hbm_used_mb / self.hbm_total_mb)


def driver() -> place.Data:
    """Installed versions and what of them the running kernel has loaded."""
    return place.read("driver")


def trouble() -> str:
    """What npu-smi prints instead of an answer; empty when the driver works and this user may use it."""
    found = driver()
    if not found.get("loaded"):
        return "dcmi module initialize failed. ret is -8005"
    me = users.current()
    if me.uid and not found.get("for_all") and "HwHiAiUser" not in me.groups:
        return "dcmi module initialize failed. ret is -8005"
    return ""


def now(played: place.Data, moment: float | None = None) -> list[Chip]:
    """With the load of this host at `moment` (Unix seconds; None = now)."""
    moment = time.time() if moment is None else moment
    return _chips(played, load.now(sum(len(card["chips"]) for card in played["cards"]), moment), moment)


def idle(played: place.Data, moment: float = 0.0) -> list[Chip]:
    """As if nothing ran: enough for what does not change."""
    return _chips(played, [], moment)


def _chips(played: place.Data, states: list[load.Chip], moment: float) -> list[Chip]:
    flat = [(card, index) for card in played["cards"] for index in range(len(card["chips"]))]
    states = states or [load.Chip(busy_pct=0, warmth=0.0, pull=0.0, held=[]) for _ in flat]
    return [_chip(played, card, index, node, states[node], moment) for node, (card, index) in enumerate(flat)]


def _chip(played: place.Data, card: place.Data, index: int, node: int, state: load.Chip, moment: float) -> Chip:
    kind, own = played["chip"], card["chips"][index]
    power = None
    if index == 0:
        wave = 0.4 * math.sin(moment / 7 + 2.1 * node)
        power = round(card["power"] + wave + state.pull * (kind["power_full"] - kind["power_idle"]), 1)
    processes = tuple(
        Process(npu=card["npu"], chip=index, pid=one.pid, name=one.name[:15], mem_mb=one.memory_mb)
        for one in state.held
    )
    used = own["hbm"] + sum(one.mem_mb for one in processes)
    return Chip(
        npu=card["npu"],
        chip=index,
        node=node,
        name=kind["name"],
        health=card.get("health", "OK"),
        code=card.get("code", "NA"),
        words=card.get("words", "NA"),
        power_w=power,
        temp_c=round(own["temp"] + state.warmth * kind["warms_by"]),
        bus=own["bus"],
        aicore_pct=state.busy_pct,
        hbm_used_mb=min(used, kind["hbm_mb"] - 128),
        hbm_total_mb=kind["hbm_mb"],
        processes=processes,
    )
