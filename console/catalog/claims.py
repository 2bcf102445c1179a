"""Claims in circulation with what is true of them, and traps with the stacks they belong to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.catalog.ascend import order
from console.catalog.entries import Tree
from console.catalog.profiles import Words

FLAGS = re.IGNORECASE | re.ASCII
"""ASCII: a Chinese character beside a word ends it."""
_BOUND = re.compile(r"(<=|>=|==|<|>)(.+)")


@dataclass(frozen=True)
class Match:
    """One way to ask about something: patterns that all occur, and bounds that the versions named all keep."""

    words: tuple[str, ...]
    versions: Mapping[str, str]

    def fits(self, text: str, versions: Mapping[str, str]) -> bool:
        """Whether `text` asks about it; `versions` are the parts named in it ("cann": "6.3.0")."""
        return all(re.search(pattern, text, FLAGS) for pattern in self.words) and all(
            part in versions and within(versions[part], bound) for part, bound in self.versions.items()
        )


@dataclass(frozen=True)
class Claim:
    """What is said, the verdict on it, what was found, and what to take instead."""

    id: str
    claim: Words
    verdict: str
    finding: Words
    instead: Words
    source: str
    verified: bool
    match: tuple[Match, ...]

    def fits(self, text: str, versions: Mapping[str, str]) -> bool:
        return any(one.fits(text, versions) for one in self.match)


@dataclass(frozen=True)
class Trap:
    """What goes wrong although versions fit. `when`: which stacks it belongs to, by name of the condition."""

    id: str
    when: Mapping[str, Any]
    text: Words
    source: str
    verified: bool
    match: tuple[Match, ...]

    def fits(self, text: str, versions: Mapping[str, str]) -> bool:
        return any(one.fits(text, versions) for one in self.match)

    def belongs(self, stack: Mapping[str, str]) -> bool:
        """Whether a stack has it; `stack` has route, arch, chip, system, driver, release and cann."""
        lists = {"routes": "route", "archs": "arch", "chips": "chip", "systems": "system", "releases": "release"}
        named = all(stack[one] in self.when[name] for name, one in lists.items() if name in self.when)
        states = stack["driver"].split()
        return (
            named
            and ("driver" not in self.when or any(state in self.when["driver"] for state in states))
            and ("cann_since" not in self.when or order(stack["cann"]) >= order(self.when["cann_since"]))
            and ("cann_before" not in self.when or order(stack["cann"]) < order(self.when["cann_before"]))
        )


def within(version: str, bound: str) -> bool:
    """Whether `version` keeps a bound such as "<8" or ">=8.5"."""
    match = _BOUND.fullmatch(bound)
    assert match is not None
    one, other = order(version), order(match.group(2))
    return {
        "<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other, "==": one == other,
    }[match.group(1)]  # fmt: skip


def claims_of(tree: Tree) -> tuple[Claim, ...]:
    names = ("id", "claim", "verdict", "finding", "instead", "source", "verified")
    return tuple(
        Claim(**{name: entry[name] for name in names}, match=_matches(entry["match"])) for entry in tree.of("claims")
    )


def traps_of(tree: Tree) -> tuple[Trap, ...]:
    names = ("id", "when", "text", "source", "verified")
    return tuple(
        Trap(**{name: entry[name] for name in names}, match=_matches(entry["match"])) for entry in tree.of("traps")
    )


def _matches(entries: list[Mapping[str, Any]]) -> tuple[Match, ...]:
    return tuple(Match(tuple(entry.get("words", ())), entry.get("versions", {})) for entry in entries)
