"""The cards of all hosts, from what each host said last, with who holds them."""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from console.catalog.profiles import PROFILES
from console.facts import ascend
from console.facts.chips import NEEDED as NAMES
from console.facts.chips import Chip, chips_of, without_chips
from console.facts.holding import Held
from console.facts.probe import read
from console.hosts import kept, observe
from console.hosts.inventory import Host
from console.serving import instances
from console.text import Text, say

NEEDED = [fact for fact in ascend.FACTS if fact.name in NAMES]
"""What is read of a host's answers; the rest would take most of the time."""


@dataclass(frozen=True)
class Card:
    """One chip of one host as it was at `time` (Unix seconds). `instances`: by pid, our server that holds it."""

    host: Host
    time: float
    chip: Chip
    several: bool
    instances: Mapping[int, str]

    @property
    def title(self) -> str:
        """ "NPU 1", or "NPU 1 Chip 0" where an NPU has several chips; "–" for a card that npu-smi does not list."""
        if self.chip.npu is None:
            return "–"
        return f"NPU {self.chip.npu}" + (f" Chip {self.chip.chip}" if self.several else "")

    @property
    def health(self) -> str | None:
        """The word of npu-smi, and its error codes."""
        return None if self.chip.health is None else " ".join((self.chip.health, *self.chip.errors))

    def holder(self, one: Held) -> Text:
        """A process in words: our instance, or its name and container."""
        name, pid = one.name or "?", str(one.pid)
        if one.pid in self.instances:
            return say("instance {name} (PID {pid})", name=self.instances[one.pid], pid=pid)
        if one.container:
            return say("{name} (PID {pid}, container {container})", name=name, pid=pid, container=one.container)
        return say("{name} (PID {pid})", name=name, pid=pid)


@dataclass(frozen=True)
class Bare:
    """A host that shows no card, and why. `time` is None when it was never asked."""

    host: Host
    time: float | None
    why: Text


def cards(hosts: Iterable[Host]) -> tuple[list[Card], list[Bare]]:
    """The cards of these hosts, host by host, and the hosts without any."""
    found: list[Card] = []
    bare: list[Bare] = []
    names = {one.id: one.name for one in instances.instances()}
    for host in hosts:
        said = kept.last(host.id)
        if said is None:
            bare.append(Bare(host, None, say("This host was not asked yet.")))
            continue
        facts, asked = read(said.raws, NEEDED), said.times.get("npu_tool", said.time)
        chips = chips_of(facts, idle_hbm_mb())
        found += [_card(host, asked, chip, chips, names) for chip in chips]
        if not chips:
            bare.append(Bare(host, asked, without_chips(facts)))
    return found, bare


def cards_now(host: Host) -> list[Card]:
    """The cards of one host as it answers at this moment. HostError when it cannot be asked."""
    facts, asked = observe.now(host, NEEDED), time.time()
    names = {one.id: one.name for one in instances.instances()}
    chips = chips_of(facts, idle_hbm_mb())
    return [_card(host, asked, chip, chips, names) for chip in chips]


def idle_hbm_mb() -> float:
    """MiB of HBM that an idle card may have in use."""
    return PROFILES[observe.REMOTE_PROFILE].number("idle_hbm_mb")


def _card(host: Host, time: float, chip: Chip, chips: Sequence[Chip], names: Mapping[int, str]) -> Card:
    several = sum(one.npu == chip.npu for one in chips) > 1
    ours = {one.pid: name for one in chip.held if (name := _instance(host, one, names)) is not None}
    return Card(host, time, chip, several, ours)


def _instance(host: Host, one: Held, names: Mapping[int, str]) -> str | None:
    """Our server whose folder the process runs in."""
    inside = re.match(re.escape(f"{host.work_folder}/instances/") + r"(\d+)/\d+(?:/|$)", one.folder or "")
    return names.get(int(inside[1])) if inside else None
