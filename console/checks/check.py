"""A check: a pure function that asks for facts by the names of its parameters and returns a verdict."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from console.catalog.profiles import Profile
from console.facts.probe import Facts
from console.text import Text, say, verbatim

Judgement = TypeVar("Judgement", bound=Callable[..., "Verdict"])


class Level(StrEnum):
    """How a check ended. UNKNOWN: a fact it needs was not observed."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


AREAS: dict[str, Text] = {
    "system": say("Operating system"),
    "processor": say("Processor"),
    "memory": say("Memory"),
    "storage": say("Disk room"),
    "python": say("Python"),
    "network": say("Network"),
    "npu": say("NPU"),
    "driver": say("Driver and CANN"),
    "links": say("NPU network"),
    "tuning": say("Settings for speed"),
}


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    seen, wanted   what the host has and what the profile asks for
    fix            what to do, for every level that is not a pass; fix_command is shell to copy
    evidence       lines of output or names that show it
    """

    level: Level
    seen: Text
    wanted: Text
    fix: Text | None = None
    fix_command: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """A registered check. `facts` are needed, `optional` are given where observed.

    slack   part by which figures in what is seen move by themselves: no news from one look to the next
    """

    name: str
    area: str
    title: Text
    why: Text
    facts: tuple[str, ...]
    optional: tuple[str, ...]
    asks_profile: bool
    function: Callable[..., Verdict]
    slack: float = 0.0


WAIVED = "waived"
"""Stands for the level of a check that did not pass, and that a person waived."""


@dataclass(frozen=True)
class Waived:
    """Why a check need not pass on a host: who said so, and when (Unix seconds)."""

    reason: str
    name: str
    made: float


@dataclass(frozen=True)
class Judged:
    """A check and its verdict for one host; `facts` name the raw outputs that are its evidence."""

    name: str
    area: str
    title: Text
    why: Text
    verdict: Verdict
    facts: tuple[str, ...]
    waiver: Waived | None = None

    @property
    def area_title(self) -> Text:
        return AREAS[self.area]

    @property
    def passed(self) -> bool:
        return self.verdict.level == Level.PASS

    @property
    def standing(self) -> str:
        """The level, or WAIVED: what is waived counts neither as a pass nor against the host."""
        return WAIVED if self.waiver is not None and not self.passed else str(self.verdict.level)

    @property
    def failed(self) -> bool:
        return self.standing == Level.FAIL


CHECKS: dict[str, Check] = {}


def check(*, area: str, title: Text, why: Text, slack: float = 0.0) -> Callable[[Judgement], Judgement]:
    """Register a function as a check named like it.

    Its parameters are names of facts; one with a default is optional, one named `profile` gets the profile.
    """

    def register(function: Judgement) -> Judgement:
        given = inspect.signature(function).parameters
        names = [name for name in given if name != "profile"]
        optional = tuple(name for name in names if given[name].default is not inspect.Parameter.empty)
        needed = tuple(name for name in names if name not in optional)
        name = function.__name__
        CHECKS[name] = Check(name, area, title, why, needed, optional, "profile" in given, function, slack)
        return function

    return register


def judge(facts: Facts, wanted: Profile, waivers: Mapping[str, Waived] | None = None) -> list[Judged]:
    """A verdict of every check of the profile, in its order; `waivers` by name of the check."""
    return [judge_one(CHECKS[name], facts, wanted, (waivers or {}).get(name)) for name in wanted.checks]


def judge_one(one: Check, facts: Facts, wanted: Profile, waiver: Waived | None = None) -> Judged:
    """The verdict of one check; a missing fact or a crash gives UNKNOWN, never an exception."""
    names = (*one.facts, *one.optional)
    return Judged(one.name, one.area, one.title, one.why, _verdict(one, facts, wanted), names, waiver)


def _verdict(one: Check, facts: Facts, wanted: Profile) -> Verdict:
    missing = [name for name in one.facts if name not in facts.values]
    if missing:
        reason = facts.reason(missing[0])
        return _unknown(say("The fact “{fact}” was not observed. {reason}", fact=missing[0], reason=reason))
    given = {name: facts.values[name] for name in (*one.facts, *one.optional) if name in facts.values}
    try:
        return one.function(**given, **({"profile": wanted} if one.asks_profile else {}))
    except Exception as error:
        name = verbatim(f"{type(error).__name__}: {error}")
        return _unknown(say("The check itself failed: {error}", error=name))


def _unknown(seen: Text) -> Verdict:
    return Verdict(
        Level.UNKNOWN,
        seen,
        say("An answer of the host that can be judged."),
        say("Check again. If it stays so, look at the raw output below: it shows what the host printed instead."),
    )
