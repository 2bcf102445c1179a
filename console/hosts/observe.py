"""Asking a host about itself, keeping what it printed, and reading it again when it is wanted."""

import os
import secrets
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

from sqlalchemy import select

from console.catalog.profiles import Profile
from console.checks import CHECKS, Judged, judge
from console.errors import ConsoleError, HostError, NotFound
from console.facts import ascend
from console.facts.fact import Fact
from console.facts.local import FACTS
from console.facts.memory import Meminfo
from console.facts.probe import Facts, Raw, probe_script, read, split
from console.facts.system import Limits
from console.facts.words import ALL_TITLES, in_words
from console.hosts import inventory, kept, own_profiles, waivers
from console.hosts.inventory import Host
from console.hosts.kept import RUNTIME, Kept
from console.hosts.programs import machine_name
from console.plans import local_cpu
from console.records import reading
from console.serving.spec import Machine
from console.text import Text, say, verbatim
from db import models

LOCAL_PROFILE, REMOTE_PROFILE = "this-machine-cpu", "ascend-two-cards"
NO_RUNTIME = 44
"""Exit code of the look at a runtime that is not there at all."""
PROBE_LIMIT_S = 60.0
SIDE_BY_SIDE = 32
"""Hosts asked at the same time."""
PILOT_PORT = 8000
"""The port the check asks about: the first that an instance would take."""

ALLOWED = Fact("allowed_cpus", "sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status", str.strip)
MACHINE_FACTS = ("usable_cpus", "meminfo", "limits", "numa", "listeners", "arch")


@dataclass(frozen=True)
class Seen:
    """What one probe brought, with its time (Unix seconds).

    times   of the facts that were asked again since, for a single check, when that was
    """

    probe_id: int
    time: float
    raws: Mapping[str, Raw]
    facts: Facts
    times: Mapping[str, float] = field(default_factory=dict)

    def asked(self, fact: str) -> float:
        """When this fact was asked for."""
        return self.times.get(fact, self.time)

    def lines(self) -> list[tuple[Text, Text]]:
        """Title and value of every fact worth a line, or why there is no value."""
        values = self.facts.values
        return [
            (title, in_words(name, values[name]) if name in values else self.facts.reason(name))
            for name, title in ALL_TITLES.items()
            if name in self.raws
        ]


@dataclass(frozen=True)
class Checked:
    """The checklist over what a host said; `time` is that of its last whole probe."""

    seen: Seen
    profile: Profile
    judged: Sequence[Judged]

    @property
    def time(self) -> float:
        return self.seen.time

    @property
    def raws(self) -> Mapping[str, Raw]:
        return self.seen.raws


@dataclass(frozen=True)
class Runtime:
    """Whether vLLM is installed as planned, as last looked at."""

    time: float
    complete: bool
    words: Text


def facts_of(host: Host, profile: str | None = None, check: str | None = None) -> Sequence[Fact]:
    """What this host is asked: whatever is reached over SSH, or judged by a profile for NPUs, may have some.

    With `check` only what this check needs. NotFound for a check or profile that does not exist.
    """
    is_plain = host.reach is None and (profile is None or own_profiles.find(profile).origin == LOCAL_PROFILE)
    asked = FACTS if is_plain else ascend.FACTS
    if check is None:
        return asked
    if check not in CHECKS:
        names = ", ".join(CHECKS)
        raise NotFound(say("There is no check {name}. There are: {names}.", name=verbatim(check), names=names))
    wanted = {*CHECKS[check].facts, *CHECKS[check].optional}
    named = [fact for fact in asked if fact.name in wanted]
    return named + [fact for fact in ascend.FACTS if fact.name in wanted - {one.name for one in named}]


def profiles_of(host: Host) -> list[str]:
    """The profiles this host can be judged by, the usual one first."""
    known = own_profiles.profiles().values()
    if host.reach is None:
        return [one.id for one in sorted(known, key=lambda one: one.id != LOCAL_PROFILE) if one.origin == LOCAL_PROFILE]
    ordered = sorted(known, key=lambda one: (one.id != REMOTE_PROFILE, one.origin == LOCAL_PROFILE))
    return [one.id for one in ordered]  # the last: its CPU, for a host that has no NPU


def probe(host: Host, *, actor: str, profile: str | None = None, check: str | None = None) -> dict[str, Raw]:
    """Ask in one round trip and keep the raw output. HostError when the host gave no usable answer.

    Every fact, or with `check` those of this check: they are then laid over the last whole probe.
    """
    began, facts = time.time(), facts_of(host, profile, check)
    raws = _ask(host, facts)
    if not raws.keys() & {fact.name for fact in facts}:
        raise HostError(say("{host} answered with nothing that could be read.", host=host.title))
    mark = [] if check is None else [Raw(kept.ONLY_FOR, check, 0, 0.0)]
    kept.keep(host.id, [*raws.values(), *mark], began, actor=actor)
    return raws


def latest(host: Host) -> Seen | None:
    """The last whole probe of this host with what was asked again since; None when it was never asked."""
    found = kept.last(host.id)
    return None if found is None else _seen(found)


def before(host: Host, probe_id: int) -> Seen | None:
    """The whole probe before another one, as it was then."""
    found = kept.before(host.id, probe_id)
    return None if found is None else _seen(found)


def _seen(found: Kept) -> Seen:
    return Seen(found.probe_id, found.time, found.raws, read(found.raws, ascend.FACTS), found.times)


def judged(host: Host, profile: str | None = None) -> Checked | None:
    """The checklist over what the host said last; verdicts are derived now, so a better check judges old output anew.

    `profile` None = the usual one of this host.
    """
    seen = latest(host)
    return None if seen is None else judged_of(host, seen, profile)


def judged_of(host: Host, seen: Seen, profile: str | None = None) -> Checked:
    """The checklist over one probe, with the waivers that hold now."""
    wanted = own_profiles.find(profile or (LOCAL_PROFILE if host.reach is None else REMOTE_PROFILE))
    return Checked(seen, wanted, judge(seen.facts, wanted, waivers.held(host.id)))


def probe_all(
    hosts: Sequence[Host], *, actor: str, profile: str | None = None, check: str | None = None
) -> Iterator[tuple[Host, ConsoleError | None]]:
    """Ask many hosts side by side; each comes as soon as it has answered, or with why it did not.

    What a host said is kept at once, so that one dead or hanging host costs the others nothing.
    """
    with ThreadPoolExecutor(max(1, min(len(hosts), SIDE_BY_SIDE))) as pool:
        asked = {pool.submit(probe, host, actor=actor, profile=profile, check=check): host for host in hosts}
        for done in as_completed(asked):
            error = done.exception()
            if error is not None and not isinstance(error, ConsoleError):
                raise error
            yield asked[done], error


def machine(host: Host) -> Machine:
    """What is free on the host at this moment."""
    return machine_of(now(host, [*(fact for fact in FACTS if fact.name in MACHINE_FACTS), ALLOWED]))


def now(host: Host, facts: Sequence[Fact]) -> Facts:
    """What the host says to these questions at this moment; it is not kept."""
    return read(_ask(host, facts), facts)


def machine_of(facts: Facts) -> Machine:
    """The figures that decide about a launch. HostError names what could not be read: nothing is guessed."""
    for name in ("usable_cpus", "meminfo", "listeners"):
        if name not in facts.values:
            raise HostError(say("What is free on the host could not be read: {why}", why=facts.reason(name)))
    available = _available_bytes(facts)
    ports: dict[int, str] = {}
    for one in facts.values["listeners"]:  # type: ignore[attr-defined]
        who = f"{one.process} ({one.pid})" if one.process else "?"
        ports[one.port] = who if ports.get(one.port, "?") == "?" else ports[one.port]
    numa = facts.values.get("numa")
    return Machine(
        cores=int(str(facts.values["usable_cpus"])),
        memory_available_bytes=available,
        numa_nodes=max(1, len(numa)) if isinstance(numa, tuple) else 1,
        ports_in_use=ports,
        arch=str(facts.values.get("arch", "")),
        core_ids=cpu_ids(str(facts.values.get("allowed_cpus", ""))),
    )


def cpu_ids(words: str) -> tuple[int, ...]:
    """ "0-3,8" -> (0, 1, 2, 3, 8); () for anything else."""
    ids: list[int] = []
    for part in words.split(","):
        first, dash, last = part.strip().partition("-")
        last = last if dash else first
        if not first.isdecimal() or not last.isdecimal():
            return ()
        ids += range(int(first), int(last) + 1)
    return tuple(ids)


def _available_bytes(facts: Facts) -> int:
    """What the kernel would still give, within the limit of a container."""
    meminfo, limits = facts.values["meminfo"], facts.values.get("limits")
    assert isinstance(meminfo, Meminfo)
    if meminfo.mem_available_kb is None:
        raise HostError(say("The memory that is free could not be read from /proc/meminfo."))
    available = meminfo.mem_available_kb * 1024
    if isinstance(limits, Limits) and limits.memory_bytes is not None:
        available = min(available, limits.memory_bytes - (limits.memory_used_bytes or 0))
    return available


def look_at_runtime(host: Host, *, actor: str = "console") -> Runtime:
    """Compare the installed runtime with its list now, and keep the result."""
    target = local_cpu.LocalCpuTarget(host.work_folder, machine=machine_name(host))
    there = f"[ -d {shlex.quote(local_cpu.runtime_folder(target))} ] || exit {NO_RUNTIME}\n"
    script = there + local_cpu.verify_script(target)
    began = time.time()
    outcome = inventory.runner(host).run(script, timeout_s=PROBE_LIMIT_S)
    raw = Raw(RUNTIME, (outcome.out + outcome.err)[-4000:], outcome.code, outcome.seconds)
    kept.keep(host.id, [raw], began, actor=actor)
    return _runtime(raw, time.time())


def runtime(host: Host, *, look: bool = False) -> Runtime | None:
    """The last look at the runtime; with `look` a new one."""
    if look:
        return look_at_runtime(host)
    query = (
        select(models.Observation, models.Probe.ended)
        .join(models.Probe, models.Observation.probe_id == models.Probe.id)
        .where(models.Probe.host_id == host.id, models.Observation.name == RUNTIME)
    )
    with reading() as session:
        row = session.execute(query.order_by(models.Observation.id.desc()).limit(1)).first()
    if row is None:
        return None
    one, ended = row
    return _runtime(Raw(one.name, one.text, one.code, one.seconds, one.timed_out), ended)


def _runtime(raw: Raw, seen: float) -> Runtime:
    if raw.code == 0:
        pinned = local_cpu.catalog()["engine"]
        return Runtime(seen, True, say("vLLM {version} for CPUs, every package as pinned", version=pinned["version"]))
    if raw.code == NO_RUNTIME:
        return Runtime(seen, False, say("vLLM is not installed"))
    last = (raw.text.strip().splitlines() or [""])[-1]
    return Runtime(seen, False, say("vLLM is not installed completely: {why}", why=last or "-"))


def _ask(host: Host, facts: Sequence[Fact]) -> dict[str, Raw]:
    token = secrets.token_hex(16)
    now = str(round(time.time()))
    asked = {"PILOT_FOLDER": host.work_folder, "PILOT_PORT": str(PILOT_PORT), "PILOT_NOW": now}
    if host.reach is None:  # elsewhere the host's own setting counts
        asked["PILOT_LANG"] = os.environ.get("LC_ALL") or os.environ.get("LANG") or ""
    script = probe_script(facts, token, asked)
    return split(inventory.runner(host).run(script, timeout_s=PROBE_LIMIT_S).out, token)
